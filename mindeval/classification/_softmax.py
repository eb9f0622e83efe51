"""exp, log, softmax and sigmoid whose bits are those of any host."""

from __future__ import annotations

import numpy as np

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the product of the first with an exponent is exact
_LOWEST = -745.2  # exp of less is 0
_COLUMNS = 1 << 14  # worked on together: a few float64 blocks of this size stay in the second-level cache


def exp(values: np.ndarray) -> np.ndarray:
    """exp of values <= 0, by a fixed sequence of IEEE operations, within 2 units in the last place.

    >>> exp(np.array([0.0, -1.0, -800.0])).tolist()
    [1.0, 0.36787944117144233, 0.0]
    """
    inside = np.maximum(values, _LOWEST)
    exponents = np.rint(inside * 1.4426950408889634)
    rest = (inside - exponents * _LN2_HIGH) - exponents * _LN2_LOW
    series = np.ones_like(rest)
    for order in range(13, 0, -1):
        series = series * rest / order + 1
    return np.where(values < _LOWEST, 0.0, np.ldexp(series, exponents.astype(np.int64)))


def log(values: np.ndarray) -> np.ndarray:
    """Natural logarithm of values >= 0, by a fixed sequence of IEEE operations; -inf at 0.

    >>> log(np.array([1.0, 0.5, 0.0])).tolist()
    [0.0, -0.6931471805599453, -inf]
    """
    mantissas, exponents = np.frexp(np.where(values > 0, values, 1.0))
    small = mantissas < 0.7071067811865476
    mantissas, exponents = np.where(small, 2 * mantissas, mantissas), exponents - small
    ratio = (mantissas - 1) / (mantissas + 1)
    square = ratio * ratio
    series = np.zeros_like(ratio)
    for order in range(23, 1, -2):
        series = (series + 1 / order) * square
    logs = exponents * _LN2_HIGH + (2 * ratio + (2 * ratio * series + exponents * _LN2_LOW))
    return np.where(values > 0, logs, -np.inf)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over the last axis of logits, float64, one at least finite: the same bits on any host and in any batch.

    >>> softmax(np.array([[0.0, 0.0], [1000.0, -np.inf]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    powers = _powers(logits)
    return powers / tree_sum(powers)[..., None]


def highest_of_softmax(logits: np.ndarray) -> np.ndarray:
    """The highest of each ``softmax``: exactly 1 / C, rounded once, of C equal logits.

    >>> highest_of_softmax(np.array([[0.3, 0.3, 0.3, 0.3], [0.0, -np.inf, -1e308, 0.0]])).tolist()
    [0.25, 0.5]
    """
    return 1 / tree_sum(_powers(logits))


def _powers(logits: np.ndarray) -> np.ndarray:
    """exp(logits - the highest of the row), float64."""
    highest, powers = logits.max(axis=-1, keepdims=True).astype(np.float64), np.empty(logits.shape)
    with np.errstate(over="ignore"):  # -inf then, whose power is 0 as it would be anyway
        for start in range(0, logits.shape[-1], _COLUMNS):
            part = np.s_[..., start : start + _COLUMNS]
            powers[part] = exp(logits[part] - highest)
    return powers


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """The probability of class 1: 1 / (1 + exp(-x)).

    >>> sigmoid(np.array([0.0, -800.0, 800.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    power = exp(-np.abs(logits))
    return np.where(logits >= 0, 1 / (1 + power), power / (1 + power))


def tree_sum(values: np.ndarray) -> np.ndarray:
    """Sums over the last axis in an order that depends on its length alone."""
    while values.shape[-1] > 1:
        if values.shape[-1] % 2:
            values = np.concatenate([values, np.zeros((*values.shape[:-1], 1))], axis=-1)
        half = values.shape[-1] // 2
        values = values[..., :half] + values[..., half:]
    return values[..., 0]
