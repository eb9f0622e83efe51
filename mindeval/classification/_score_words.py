"""Scores as integers that order as the scores do, so ties are exact and sorting is that of integers."""

from __future__ import annotations

import numpy as np

from mindeval.exact import two_sum

BINS = 1 << 16  # the top 16 bits of a float32: sign, exponent and 7 bits of the mantissa
_LOWEST = np.int64(-(2**63))
_MAGNITUDE = np.int64(2**63 - 1)
_HALF = BINS // 2
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


def pack(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Score and label in one int64 each, key << 1 | label; and the places of the scores for which that is not possible.

    A bit is free because magnitudes below 2^-511 (but 0) and from 2^512 are left out: the places of these few are
    told, and what stands for them in the first array means nothing.

    >>> packed, left_out = pack(np.array([0.5, 1e-200, -2.0]), np.array([1, 0, 0]))
    >>> unpack(packed[[0, 2]]), left_out.tolist()
    ((array([ 0.5, -2. ]), array([1, 0])), [1])
    """
    packed, left_out = np.empty(len(scores), np.int64), []
    may_be_small = scores.dtype == np.float64  # float32 ends at 2^-149
    for start in range(0, len(scores), _BLOCK):
        part = slice(start, start + _BLOCK)
        bits = np.ascontiguousarray(scores[part], np.float64).view(np.int64)
        magnitudes = bits & _MAGNITUDE
        smallest = int((magnitudes - 1).view(np.uint64).min()) if may_be_small else _SMALLEST
        if magnitudes.max() >= _LARGEST or smallest < _SMALLEST - 1:
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
