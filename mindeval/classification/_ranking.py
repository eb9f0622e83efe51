"""Rankings of scores, exact or in bins: the pure functions behind ROC and precision-recall curves and their areas.

Scores are kept as int64 keys that order as the scores do, so ties are exact and sorting is that of integers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Callable, NamedTuple

import numpy as np

from mindeval.classification._exact import two_sum

BINS = 1 << 16  # the top 16 bits of a float32: sign, exponent and 7 bits of the mantissa
_LOWEST = np.int64(-(2**63))
_MAGNITUDE = np.int64(2**63 - 1)
_HALF = BINS // 2
_ROOM = 1 << 62  # keys below this, either side of 0, leave the lowest bit of an int64 free
_SMALLEST, _LARGEST, _INFINITE = (int(np.float64(x).view(np.int64)) for x in (2.0**-511, 2.0**512, np.inf))
_BLOCK = 1 << 14


def keys_of(scores: np.ndarray) -> np.ndarray:
    """int64 keys that order as float64 scores do: +0 and -0 are one key, x and -x are opposite ones.

    >>> keys_of(np.array([-1.0, -0.0, 0.0, 1.0])).argsort(kind="stable").tolist(), int(keys_of(np.array([-0.0]))[0])
    ([0, 1, 2, 3], 0)
    """
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    negative = bits >> 63
    return (bits ^ (negative & _MAGNITUDE)) - negative


def scores_of(keys: np.ndarray) -> np.ndarray:
    """The float64 scores of keys.

    >>> scores_of(keys_of(np.array([-2.5, 0.0, 1e-300])))
    array([-2.5e+000,  0.0e+000,  1.0e-300])
    """
    return np.where(keys < 0, _LOWEST - keys, keys).astype(np.int64).view(np.float64)


def bins_of(scores: np.ndarray) -> np.ndarray:
    """The bin in [0, 65536) of each score: the top 16 bits of its float32, in the order of the scores.

    >>> bins_of(np.array([-np.inf, 0.0, 1.0, 1.001, 1.01])).tolist()
    [128, 32768, 49024, 49024, 49025]
    """
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(scores, np.float32).view(np.int32)
    negative = bits >> 31
    keys = (bits ^ (negative & np.int32(2**31 - 1))) - negative
    return (keys >> 16).astype(np.int64) + _HALF


def lower_edges(bins: np.ndarray) -> np.ndarray:
    """The lowest score of each bin, float64.

    >>> lower_edges(np.array([32768, 49024])).tolist()
    [0.0, 1.0]
    """
    keys = (np.asarray(bins, np.int64) - _HALF) << 16
    bits = np.where(keys < 0, -(2**31) - keys, keys).astype(np.int32)
    return bits.view(np.float32).astype(np.float64)


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


def column_differences(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The second column minus the first of [n, 2], exactly: float64 [n], and what rounding lost, if it lost anything.

    >>> column_differences(np.float32([[1, 1e-20], [1, 1e-25], [0.5, 1]]))[0].tolist()
    [-1.0, -1.0, 0.5]
    """
    low, high = columns[:, 0].astype(np.float64), columns[:, 1].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        rounded, lost = two_sum(high, -low)
    if not np.isfinite(rounded).all():
        endless = ~np.isfinite(rounded)
        if np.isnan(rounded).any():
            raise ValueError("of two columns of scores one at least must be finite, or their difference is undefined")
        if (np.isfinite(low) & np.isfinite(high) & endless).any():
            raise ValueError("two columns of scores must not differ by more than float64 can hold: give one score")
        lost = np.where(endless, 0.0, lost)
    return rounded, lost if lost.any() else None


def numbered(keys: np.ndarray, lost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two words, numbered in their order from 0 without gaps; and the first word of each number.

    >>> numbered(np.array([7, 5, 7, 7]), np.array([1, 0, 0, 1]))
    (array([2, 0, 1, 2]), array([5, 7, 7]))
    """
    order = np.lexsort((lost, keys))
    first, second = keys[order], lost[order]
    new = np.concatenate([[False], (first[1:] != first[:-1]) | (second[1:] != second[:-1])])
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers, np.concatenate([first[:1], first[new]])


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


def pack(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Score and label in one int64 each, key << 1 | label; and the places of the scores for which that is not possible.

    A bit is free because magnitudes below 2^-511 (but 0) and from 2^512 are left out: the places of these few are
    told, and what stands for them in the first array means nothing.

    >>> packed, left_out = pack(np.array([0.5, 1e-200, -2.0]), np.array([1, 0, 0]))
    >>> unpack(packed[[0, 2]]), left_out.tolist()
    ((array([ 0.5, -2. ]), array([1, 0])), [1])
    """
    packed, left_out = np.empty(len(scores), np.int64), []
    for start in range(0, len(scores), _BLOCK):
        part = slice(start, start + _BLOCK)
        bits = np.ascontiguousarray(scores[part], np.float64).view(np.int64)
        magnitudes = bits & _MAGNITUDE
        if magnitudes.max() >= _LARGEST or int((magnitudes - 1).view(np.uint64).min()) < _SMALLEST - 1:
            if magnitudes.max() > _INFINITE:
                raise ValueError("scores must not be NaN where a label counts")
            outside = (magnitudes >= _LARGEST) | ((magnitudes > 0) & (magnitudes < _SMALLEST))
            left_out.append(start + np.flatnonzero(outside))
        magnitudes -= _SMALLEST - 1
        np.maximum(magnitudes, 0, out=magnitudes)
        negative = bits >> 63
        magnitudes ^= negative
        magnitudes -= negative
        magnitudes <<= 1
        np.bitwise_or(magnitudes, labels[part], out=packed[part])
    return packed, np.concatenate([np.zeros(0, np.int64), *left_out])


def unpack(packed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float64 scores and int64 labels of ``pack``."""
    keys = packed >> 1
    return scores_of(keys + np.sign(keys) * (_SMALLEST - 1)), packed & 1


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
    packed.sort()
    return area_of_packed(packed)[0]


def area_of_steps(steps: Steps) -> float:
    """``area`` from the steps of a ranking: trapezoids under the ROC curve."""
    positives, negatives = _last(steps.true_positives), _last(steps.false_positives)
    if not positives or not negatives:
        return math.nan
    gained = np.diff(steps.true_positives, prepend=0)
    passed = np.diff(steps.false_positives, prepend=0)
    pairs = gained * (2 * (negatives - steps.false_positives) + passed)
    return _total(pairs) / (2 * positives * negatives)


def area_error_bound(steps: Steps) -> float:
    """How far the area of binned scores can be from that of the scores: half the pairs that share a bin."""
    positives, negatives = _last(steps.true_positives), _last(steps.false_positives)
    if not positives or not negatives:
        return math.nan
    shared = np.diff(steps.true_positives, prepend=0) * np.diff(steps.false_positives, prepend=0)
    return _total(shared) / (2 * positives * negatives)


def average_precision(steps: Steps) -> float:
    """sum over thresholds of (gain of recall) x precision; nan without positives."""
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
    packed.sort()
    packed = packed[::-1]
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


def _last(counts: np.ndarray) -> int | float:
    return counts[-1].item() if counts.size else 0


def _total(products: np.ndarray) -> int | float:
    """The sum of products: of integers exactly (they may exceed int64 together), of floats without rounding."""
    if products.dtype.kind == "f":
        return math.fsum(products.tolist())
    high, low = products >> 31, products & (2**31 - 1)
    return (int(high.sum()) << 31) + int(low.sum())
