"""Statistics of a vocabulary in parts: each part's own, and how they are combined. Pure functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from . import dispatch, float64, native, numpy_twin
from .numpy_math import log_of_one_plus
from .rows import Rows, TokenStats

_ON_CPU = {"native": native.token_nll, "numpy": numpy_twin.token_nll, "float64": float64.token_nll}


class Part(NamedTuple):
    """What one part of the vocabulary knows of each row, ``[N]`` each.

    ``log_mass``: log of the sum of exp(x) over the part, less the anchor (see ``anchors``); -inf where all of it is
    masked, NaN where it holds NaN or +inf. ``rank``: the part's logits above the label's, and equal ones at lower ids.
    ``entropy``: of the part's own softmax.
    """

    log_mass: np.ndarray
    rank: np.ndarray | None = None
    entropy: np.ndarray | None = None


def rows_statistics(rows: Rows, rank: bool, entropy: bool) -> TokenStats:
    """Statistics of rows in the CPU's memory, by the back end that is in use."""
    return _ON_CPU[dispatch.choose("CPU", rows.format).name](rows, rank, entropy)


def anchors(targets: np.ndarray) -> np.ndarray:
    """What log masses are relative to: the label's logit, so that a likely label loses nothing; 0 if not finite."""
    return np.where(np.isfinite(targets), targets, 0).astype(np.float64)


def part_statistics(rows: Rows, rank: bool, entropy: bool) -> Part:
    """Statistics of a part of the vocabulary, whose rows have ``targets``."""
    assert rows.targets is not None
    nll, ranks, entropies = rows_statistics(rows, rank, entropy)
    unusable = ~np.isfinite(rows.targets)
    if unusable.any():  # the mass relative to -inf says nothing
        again = replace(
            rows,
            index=rows.index[unusable],
            labels=rows.labels[unusable],
            targets=np.zeros_like(rows.targets[unusable]),
        )
        nll[unusable] = rows_statistics(again, False, False).nll
    return Part(nll, ranks, entropies)


def combine(parts: Sequence[Part], targets: np.ndarray) -> TokenStats:
    """The statistics of the whole vocabulary, as `token_nll` gives them, from those of its parts in their order."""
    masses = np.stack([part.log_mass for part in parts])
    with np.errstate(all="ignore"):
        largest, which = masses.max(axis=0), masses.argmax(axis=0)  # NaN, if any part has it
        good = np.isfinite(largest) & ~np.isnan(targets)
        below = np.where(good, masses - np.where(good, largest, 0), -np.inf)
        others = np.zeros(len(targets))
        for k in range(len(parts)):
            others = others + np.where(which == k, 0.0, float64.exp_of(below[k]))
        relative = log_of_one_plus(others)
        nll = np.where(good, relative + largest, np.nan)
        nll = np.where(good & np.isneginf(targets), np.inf, nll)

        entropy: np.ndarray | None = None
        if all(part.entropy is not None for part in parts):
            entropy = np.zeros(len(targets))
            for k, part in enumerate(parts):
                share = float64.exp_of(below[k] - relative)
                entropy += np.where(share > 0, share * (part.entropy - (below[k] - relative)), 0.0)
            entropy = np.where(good, np.where(entropy > 0, entropy, 0.0), np.nan)

    rank: np.ndarray | None = None
    if all(part.rank is not None for part in parts):
        rank = np.where(good, sum(part.rank for part in parts if part.rank is not None), -1)
    return TokenStats(nll, rank, entropy)
