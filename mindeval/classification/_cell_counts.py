"""Counts of many cells, of which a small batch adds few."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval.state import Counts
from mindeval.state.counts import check_fits

_FEW = 16  # cells for each position of a batch from which on the batch's own cells are added alone


def is_few(positions: int, cells: int) -> bool:
    """Whether a batch of so many positions is small beside the cells."""
    return _FEW * positions < cells


def counted_places(parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What ``CellCounts.add`` takes of a small batch: the flat places that occur, and how often each does.

    >>> [part.tolist() for part in counted_places([np.array([7, 2]), np.array([7])])]
    [[2, 7], [1, 2]]
    """
    places, counts = np.unique(np.concatenate([np.zeros(0, np.int64), *parts]), return_counts=True)
    return places, counts.astype(np.int64, copy=False)


def summed_places(places: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of whole numbers that are to be added at places: each place that occurs, and the sum of its numbers.

    >>> [part.tolist() for part in summed_places(np.array([7, 2, 7]), np.array([1, 5, 2]))]
    [[2, 7], [5, 3]]
    """
    distinct, groups = np.unique(places, return_inverse=True)
    sums = np.zeros(distinct.size, np.int64)
    np.add.at(sums, groups, numbers)
    return distinct, sums


class CellCounts(Counts):
    """``Counts`` that take the places of a small batch alone, so that an update costs what its batch does.

    >>> cells = CellCounts((2, 2))
    >>> cells.add(counted_places([np.array([3, 3, 1])]))
    >>> cells.value.tolist()
    [[0, 1], [0, 2]]
    """

    def __init__(self, shape: int | tuple[int, ...]) -> None:
        super().__init__(shape)
        self._few: tuple[np.ndarray, np.ndarray] | None = None  # all that was added, if that is so little
        self._empty = True

    def zero(self) -> CellCounts:
        return CellCounts(self.shape)

    def add(self, contribution: Any) -> None:
        few = contribution if isinstance(contribution, tuple) else None
        if few is None:
            super().add(contribution)
        else:
            self._add_few(few)
        self._few, self._empty = few if self._empty else None, False

    def _add_few(self, few: tuple[np.ndarray, np.ndarray]) -> None:
        places, counts = few
        self.value.reshape(-1)[places] += counts

    def check_merge(self, other: Any) -> None:
        if other._few is None:
            super().check_merge(other)
        elif other._few[0].size:
            places, counts = other._few
            check_fits(int(self.value.reshape(-1)[places].max()) + int(counts.max()), 1)

    def merge(self, other: Any) -> None:
        if other._few is None:
            super().merge(other)
        else:
            self._add_few(other._few)
        self._few, self._empty = None, False

    def unpack(self, words: np.ndarray) -> None:
        super().unpack(words)
        self._few, self._empty = None, False

    def load(self, saved: Any) -> None:
        super().load(saved)
        self._few, self._empty = None, False
