"""float64 logits in NumPy: the same bits on every machine, error below 1e-12 nat, memory of one block."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np

from .numpy_math import log_of, log_of_one_plus
from .numpy_twin import LANES, add_lanes
from .rows import Rows, TokenStats

COLUMNS, GROUP = 2048, 8  # logits and rows worked on together

# exp(x) = 2^(n/32) exp(r), n = round(32x / ln2), |r| <= 0.0109
_DIGITS = Context(prec=60)
_STEP = _DIGITS.divide(_DIGITS.ln(Decimal(2)), Decimal(32))
PER_STEP = float(_DIGITS.divide(Decimal(1), _STEP))
STEP_HIGH = float(np.float32(float(_STEP)))  # 24 bits: its product with n is exact
STEP_LOW = float(_DIGITS.subtract(_STEP, Decimal(STEP_HIGH)))
POWERS = np.array([float(_DIGITS.exp(_DIGITS.multiply(_STEP, Decimal(j)))) for j in range(32)])
LOG_OF_2_TO_1074 = float(_DIGITS.multiply(_DIGITS.ln(Decimal(2)), Decimal(1074)))
ROUNDER = 1.5 * 2.0**52
LOWEST = -700.0  # exp of less is 0: what it adds to a sum of at least 1 is below 1e-304


def exp_of(x: np.ndarray) -> np.ndarray:
    """exp(x) for x <= 0, within 3 units in the last place, by a fixed sequence of IEEE operations."""
    y = np.where(x > LOWEST, x, LOWEST)
    n = (y * PER_STEP + ROUNDER) - ROUNDER
    r = (y - n * STEP_HIGH) - n * STEP_LOW
    series = np.full_like(r, 1 / 720)
    for divisor in (120.0, 24.0, 6.0, 2.0):
        series = series * r + 1 / divisor
    s = POWERS[n.astype(np.int64) & 31]
    exponent = (n.astype(np.int64) >> 5).astype(np.int64)
    power = ((exponent + 1023) << 52).view(np.float64)
    return np.where(x > LOWEST, (s + s * ((r * r) * series + r)) * power, 0.0)


def log(x: np.ndarray | float) -> np.ndarray:
    """The natural logarithm of each element, within 2 units in the last place; the same bits on every processor.

    ``np.log`` has other last bits on other processors. As there, log(0) is -inf and that of a negative number NaN, but
    without a warning.

    Args:
        x: float array of any shape and dtype; it is computed in float64.

    >>> log(np.array([0.0, 1.0, 0.5, np.inf]))
    array([       -inf,  0.        , -0.69314718,         inf])
    """
    values = np.array(x, np.float64, order="C", ndmin=1)
    bits = values.view(np.int64)
    magnitude = bits & 0x7FFFFFFFFFFFFFFF
    subnormal = magnitude < 1 << 52  # by its bits, for the processor may take it for zero: 2^-1074 times an integer
    with np.errstate(all="ignore"):
        result = log_of(np.where(subnormal, magnitude.astype(np.float64), values))
        result = result - np.where(subnormal, LOG_OF_2_TO_1074, 0.0)
    result = np.where(magnitude == 0, -np.inf, np.where(bits < 0, np.nan, result))
    result = np.where(np.isfinite(values), result, np.where(values == np.inf, np.inf, np.nan))
    return result.reshape(np.shape(x))


def add_columns(values: np.ndarray) -> np.ndarray:
    """Sums of rows: columns to 16 lanes, then the lanes, in order."""
    padded = np.concatenate([values, np.zeros((len(values), -values.shape[1] % LANES))], axis=1)
    lanes = padded.reshape(len(values), -1, LANES)
    sums = np.zeros((len(values), LANES))
    for k in range(lanes.shape[1]):
        sums += lanes[:, k]
    return add_lanes(sums)


def score_group(rows: Rows, members: slice, stats: TokenStats) -> None:
    """Fills in the statistics of a group of rows, in two passes: maximum, then sums relative to it."""
    labels = rows.labels[members]
    targets = rows.take_labels(members) if rows.targets is None else rows.targets[members]
    n, size = len(labels), rows.vocab_size
    blocks = [(start, min(size, start + COLUMNS)) for start in range(0, size, COLUMNS)]

    maximum, where = np.full(n, -np.inf), np.zeros(n, np.int64)
    for start, stop in blocks:
        x = rows.take(members, start, stop)
        best = x.argmax(axis=1)  # the first NaN, if there is one
        value = x[np.arange(n), best]
        larger = (value > maximum) | np.isnan(value)
        maximum, where = np.where(larger, value, maximum), np.where(larger, start + best, where)
    good = np.isfinite(maximum)

    others, weighted, rank = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)  # all but the largest: no cancellation
    for start, stop in blocks:
        x = rows.take(members, start, stop)
        columns = np.arange(start, stop)
        if stats.rank is not None:
            equal_before = (x == targets[:, None]) & (columns < labels[:, None])
            rank += np.count_nonzero((x > targets[:, None]) | equal_before, axis=1)
        below = np.where(good[:, None], x - maximum[:, None], -np.inf)
        below = np.where(columns == where[:, None], -np.inf, below)
        exps = exp_of(below)
        others += add_columns(exps)
        if stats.entropy is not None:
            weighted += add_columns(exps * np.where(exps > 0, below, 0.0))

    log_sum = log_of_one_plus(others)
    masked = (maximum == -np.inf) & (rows.targets is not None)  # a part of the vocabulary with nothing but -inf
    stats.nll[members] = np.where(good, log_sum + (maximum - targets), np.where(masked, -np.inf, np.nan))
    if stats.rank is not None:
        stats.rank[members] = np.where(good | masked, rank, -1)
    if stats.entropy is not None:
        stats.entropy[members] = np.where(good, log_sum - weighted / (1.0 + others), np.nan)


def token_nll(rows: Rows, rank: bool, entropy: bool) -> TokenStats:
    """Statistics of rows of float64 logits."""
    n = len(rows.labels)
    stats = TokenStats(np.empty(n), np.empty(n, np.int64) if rank else None, np.empty(n) if entropy else None)
    with np.errstate(all="ignore"):
        for start in range(0, n, GROUP):
            score_group(rows, slice(start, min(n, start + GROUP)), stats)
    return stats
