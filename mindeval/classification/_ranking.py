"""Rankings of scores, exact or in bins: the pure functions behind ROC and precision-recall curves and their areas.

Scores are kept as int64 keys that order as the scores do, so ties are exact and sorting is that of integers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Callable, NamedTuple

import numpy as np

from mindeval.classification._score_words import lower_edges, scores_of, unpack
from mindeval.kernels.sort import sorted_words

_ROOM = 1 << 62  # keys below this, either side of 0, leave the lowest bit of an int64 free
_BLOCK = 1 << 14


class Problem(NamedTuple):
    """One class against the rest: the keys of its positives and negatives, and their weights if there are any.

    ``scores``: the score of each key where keys are numbers of scores and not ``keys_of`` them.
    """

    positives: np.ndarray
    negatives: np.ndarray
    weights: tuple[np.ndarray, np.ndarray] | None = None
    scores: np.ndarray | None = None


class Steps(NamedTuple):
    """A ranking from the highest score down, one step for each distinct score: thresholds, and how many positives and
    negatives reach them (int64; or sums of weights, each over a power of two: weights of negatives over one that is
    2^balance times that of positives)."""

    thresholds: np.ndarray
    true_positives: np.ndarray
    false_positives: np.ndarray
    balance: int = 0

    @property
    def reached(self) -> np.ndarray:
        """How many reach each threshold, in the measure of ``true_positives``."""
        if not self.balance:
            return self.true_positives + self.false_positives
        with np.errstate(over="ignore"):  # then the positives are nothing beside them
            return self.true_positives + np.ldexp(self.false_positives, self.balance)


def steps_of(problem: Problem) -> Steps:
    """The ranking of all distinct scores."""
    problem, balance = _scaled(problem)
    keys, labels, weights = _ranked(problem)
    last = np.flatnonzero(np.concatenate([keys[1:] != keys[:-1], [True]])) if keys.size else np.zeros(0, np.int64)
    thresholds = scores_of(keys[last]) if problem.scores is None else problem.scores[keys[last]]
    if weights is None:
        positives = np.cumsum(labels, dtype=np.int64)[last]
        return Steps(thresholds, positives, last + 1 - positives)
    positives, negatives = np.cumsum(weights * labels)[last], np.cumsum(weights * (1 - labels))[last]
    return Steps(thresholds, positives, negatives, balance)


def _scaled(problem: Problem) -> tuple[Problem, int]:
    """The problem with weights of at most 1, so that no sum or product of them overflows or vanishes; a power of two
    changes no bit. And by how many more of them the weights of negatives were divided."""
    if problem.weights is None:
        return problem, 0
    powers = [int(np.frexp(part.max(initial=0))[1]) for part in problem.weights]
    positives, negatives = (np.ldexp(part, -power) for part, power in zip(problem.weights, powers))
    return problem._replace(weights=(positives, negatives)), powers[1] - powers[0]


def steps_of_packed(packed: np.ndarray) -> Steps:
    """The ranking of sorted scores and labels of ``pack``."""
    scores, labels = unpack(packed[::-1])
    last = np.flatnonzero(np.concatenate([scores[1:] != scores[:-1], [True]]))
    positives = np.cumsum(labels)[last]
    return Steps(scores[last], positives, last + 1 - positives)


def histogram_steps(counts: np.ndarray) -> Steps:
    """The ranking of the bins that are not empty. ``counts``: int64 [2, bins], negatives first."""
    used = np.flatnonzero(counts.any(axis=0))[::-1]
    return Steps(lower_edges(used), np.cumsum(counts[1, used]), np.cumsum(counts[0, used]))


def area_of_packed(packed: np.ndarray) -> tuple[float, int]:
    """``area`` of sorted scores and labels of ``pack``, and the number of positives."""
    positives, positions = 0, 0
    tied = []
    places = np.arange(_BLOCK, dtype=np.float64)
    for start in range(0, len(packed), _BLOCK):
        block = packed[start : start + _BLOCK]
        labels = (block & 1).astype(np.float64)  # counts and places of a block are small: float64 adds them exactly
        count = int(labels.sum())
        positives += count
        positions += start * count + int(labels @ places[: len(labels)])
        following = packed[start + 1 : start + _BLOCK + 1]
        mixed = (block[: len(following)] ^ following) == 1  # a negative, then a positive of the same score
        if mixed.any():
            tied.append(start + np.flatnonzero(mixed))
    negatives = len(packed) - positives
    if not positives or not negatives:
        return math.nan, positives
    below = positions - positives * (positives - 1) // 2  # a tied negative sorts before its positives
    pairs_tied = _tied_pairs(packed, np.concatenate(tied)) if tied else 0
    return (2 * below - pairs_tied) / (2 * positives * negatives), positives


def _tied_pairs(packed: np.ndarray, places: np.ndarray) -> int:
    """Pairs of a positive and a negative of one score, for the scores whose last negatives are at ``places``."""
    keys, last = packed[places], len(packed) - 1
    starts, ends = places.copy(), places + 2  # most scores that tie at all are those of one pair
    more = (packed[np.maximum(places - 1, 0)] == keys) & (places > 0)
    starts[more] = np.searchsorted(packed, keys[more], "left")
    more = (packed[np.minimum(ends, last)] == keys + 1) & (ends <= last)
    ends[more] = np.searchsorted(packed, keys[more] + 1, "right")
    return int(((places + 1 - starts) * (ends - places - 1)).sum())


def area(problem: Problem) -> float:
    """The share of pairs of a positive and a negative that are ordered rightly, ties counting half; nan if none."""
    if problem.weights is not None:
        return area_of_steps(steps_of(problem))
    packed, _ = _pack_keys(problem)
    return area_of_packed(sorted_words(packed))[0]


def area_of_steps(steps: Steps) -> float:
    """``area`` from the steps of a ranking: trapezoids under the ROC curve."""
    steps = _of_any_size(steps)
    positives, negatives = _last(steps.true_positives), _last(steps.false_positives)
    if not positives or not negatives:
        return math.nan
    gained = np.diff(steps.true_positives, prepend=0)
    passed = np.diff(steps.false_positives, prepend=0)
    pairs = gained * (2 * (negatives - steps.false_positives) + passed)
    return _total(pairs) / (2 * positives * negatives)


def area_error_bound(steps: Steps) -> float:
    """How far the area of binned scores can be from that of the scores: half the pairs that share a bin."""
    steps = _of_any_size(steps)
    positives, negatives = _last(steps.true_positives), _last(steps.false_positives)
    if not positives or not negatives:
        return math.nan
    shared = np.diff(steps.true_positives, prepend=0) * np.diff(steps.false_positives, prepend=0)
    return _total(shared) / (2 * positives * negatives)


def average_precision(steps: Steps) -> float:
    """sum over thresholds of (gain of recall) x precision; nan without positives."""
    steps = _of_any_size(steps)
    positives = _last(steps.true_positives)
    if not positives:
        return math.nan
    gained = np.diff(steps.true_positives, prepend=0)
    counts = gained > 0
    terms = gained[counts] * steps.true_positives[counts] / steps.reached[counts]
    return math.fsum(terms.tolist()) / positives


def average_precision_error_bound(steps: Steps) -> float:
    """How far the average precision of binned scores can be from that of the scores.

    Inside a bin each positive's precision lies between that of the first positive after all of the bin's negatives and
    that of the last one before all of them.
    """
    steps = _of_any_size(steps)
    positives = _last(steps.true_positives)
    if not positives:
        return math.nan
    gained = np.diff(steps.true_positives, prepend=0)
    counts = gained > 0
    gained, reached = gained[counts], steps.true_positives[counts]
    passed = steps.false_positives[counts]
    before = np.concatenate([[0], steps.false_positives[:-1]])[counts]
    highest = gained * reached / (reached + before)
    lowest = gained * (reached - gained + 1) / (reached - gained + 1 + passed)
    value = average_precision(steps)
    above = math.fsum(highest.tolist()) / positives - value
    return max(above, value - math.fsum(lowest.tolist()) / positives)


def _ranked(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Keys from the highest down, with labels 0 or 1, and weights."""
    keys = np.concatenate([problem.positives, problem.negatives])
    labels = np.repeat(np.array([1, 0]), [problem.positives.size, problem.negatives.size])
    if problem.weights is not None:
        weights = np.concatenate(problem.weights)
        order = np.lexsort((weights, labels, keys))[::-1]
        return keys[order], labels[order], weights[order]
    packed, restore = _pack_keys(problem)
    packed = sorted_words(packed)[::-1]
    return restore(packed >> 1), packed & 1, None


def _pack_keys(problem: Problem) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """key << 1 | label in one int64 each, to be sorted as one; and what turns the shifted keys back into keys.

    Keys of scores beyond +-2 do not leave a bit free, but no real scores use all magnitudes between: the unused keys
    around 0 are taken out first. Scores that do use them are numbered.
    """
    keys = np.concatenate([problem.positives, problem.negatives])
    gap = 0
    if not _leaves_room(keys):
        gap = int((np.abs(keys) - 1).view(np.uint64).min())  # |key| - 1 of the least but 0, which wraps to the greatest
        keys = keys - np.sign(keys) * gap
    if _leaves_room(keys):
        restore = partial(_put_back, gap=gap)
    else:
        distinct, keys = np.unique(_put_back(keys, gap), return_inverse=True)
        restore = distinct.__getitem__
    packed = keys << 1
    packed[: problem.positives.size] |= 1
    return packed, restore


def _leaves_room(keys: np.ndarray) -> bool:
    return not keys.size or bool(keys.min() >= -_ROOM and keys.max() < _ROOM)


def _put_back(keys: np.ndarray, gap: int) -> np.ndarray:
    return keys + np.sign(keys) * gap if gap else keys


def _of_any_size(steps: Steps) -> Steps:
    """With Python's integers for counts where products of two of them would leave int64."""
    most = _last(steps.true_positives) + _last(steps.false_positives)
    if not isinstance(most, int) or 2 * most * most < 2**63:
        return steps
    counts = steps.true_positives.astype(object), steps.false_positives.astype(object)
    return steps._replace(true_positives=counts[0], false_positives=counts[1])


def _last(counts: np.ndarray) -> int | float:
    return counts[-1:].tolist()[0] if counts.size else 0


def _total(products: np.ndarray) -> int | float:
    """The sum of products: of integers exactly (they may exceed int64 together), of floats without rounding."""
    if products.dtype.kind == "f":
        return math.fsum(products.tolist())
    if products.dtype.kind == "O":
        return sum(products.tolist())
    high, low = products >> 31, products & (2**31 - 1)
    return (int(high.sum()) << 31) + int(low.sum())
