"""The bins of calibration errors: how many positions, how many right ones, and the exact sum of their confidence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mindeval.classification._cell_counts import CellCounts, is_few, summed_places
from mindeval.state import ExactSum, State

MOST_BINS = 1 << 16
_LIMB_BITS, _LIMBS = 24, 3  # float64 above 2^-16, the first of so many edges, are multiples of 2^-68
_BLOCK = 1 << 16
_COLUMNS = 2 + _LIMBS  # positions, right ones, and the limbs of their confidence


class Bin(NamedTuple):
    positions: int
    right: int
    confidence: Fraction  # the sum


def states_of(bins: int) -> dict[str, State]:
    """Counts for all bins; and the confidence of the first, whose numbers may be of any magnitude, by itself."""
    return {"bins": CellCounts((bins, _COLUMNS)), "lowest": ExactSum()}


def binned(confidence: np.ndarray, right: np.ndarray, places: np.ndarray, bins: int) -> dict[str, Any]:
    """What confidence in [0, 1], with whether it was right, adds to ``states_of`` in the bins ``places``.

    >>> added = binned(np.array([0.125, 0.75]), np.array([False, True]), np.array([0, 1]), 2)
    >>> added["bins"].tolist(), added["lowest"].tolist()
    ([[1, 0, 0, 0, 0], [1, 1, 12582912, 0, 0]], [0.125])
    """
    lowest = confidence[places == 0]
    if is_few(len(places), _COLUMNS * bins):
        cells = np.concatenate([_COLUMNS * places + column for column in range(_COLUMNS)])
        return {"bins": summed_places(cells, np.concatenate(_columns(confidence, right, places))), "lowest": lowest}
    table = np.zeros((bins, _COLUMNS), np.int64)
    for start in range(0, len(places), _BLOCK):
        part = slice(start, start + _BLOCK)
        for column, numbers in enumerate(_columns(confidence[part], right[part], places[part])):
            table[:, column] += np.bincount(places[part], numbers, bins).astype(np.int64)  # below 2^53, so exact
    return {"bins": table, "lowest": lowest}


def _columns(confidence: np.ndarray, right: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
    return [np.ones_like(places), right.astype(np.int64), *_limbs(np.where(places > 0, confidence, 0.0))]


def read_bins(states: Any) -> list[Bin]:
    """What each bin holds."""
    bins = [Bin(positions, right, _joined(limbs)) for positions, right, *limbs in states["bins"].value.tolist()]
    return [bins[0]._replace(confidence=states["lowest"].fraction()), *bins[1:]]


def _limbs(values: np.ndarray) -> list[np.ndarray]:
    """Whole numbers that are the digits of the values in base 2^24, int64: sums of them do not round."""
    limbs = []
    for _ in range(_LIMBS):
        shifted = values * 2.0**_LIMB_BITS
        whole = np.floor(shifted)
        values = shifted - whole
        limbs.append(whole.astype(np.int64))
    return limbs


def _joined(limbs: list[int]) -> Fraction:
    number = 0
    for limb in limbs:
        number = (number << _LIMB_BITS) + limb
    return Fraction(number, 1 << (_LIMB_BITS * _LIMBS))
