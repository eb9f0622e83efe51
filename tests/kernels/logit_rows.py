"""Rows of logits of many kinds, in every format, and an independent reference in extended precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mindeval.kernels import TokenStats
from mindeval.kernels.rows import Rows

FORMATS = ("float32", "bfloat16", "float16")


def to_format(x: np.ndarray, name: str) -> np.ndarray:
    """float32 logits rounded to a format; bfloat16 is uint16, what float16 cannot hold becomes its largest number."""
    if name == "bfloat16":
        bits = x.view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    if name == "float16":
        return np.where(np.isinf(x), x, np.clip(x, -65504, 65504)).astype(np.float16)
    return x


def values_of(stored: np.ndarray) -> np.ndarray:
    """What the stored logits are, in extended precision."""
    if stored.dtype == np.uint16:
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.longdouble)


def rows(stored: np.ndarray, labels: np.ndarray) -> Rows:
    """[N, V] stored logits as what a back end takes."""
    name = "bfloat16" if stored.dtype == np.uint16 else stored.dtype.name
    return Rows(stored, name, np.arange(len(stored)), labels.astype(np.int64), stored)


def reference(stored: np.ndarray, labels: np.ndarray) -> TokenStats:
    """Statistics by the definitions, in extended precision, for finite labels' logits and a finite maximum."""
    x = values_of(stored)
    at = np.arange(len(x))
    best = x.argmax(axis=1)
    below = x - x[at, best][:, None]
    weights = np.exp(below)
    others = weights.copy()
    others[at, best] = 0  # the largest is exactly 1: log1p of the rest loses nothing
    log_sum = np.log1p(others.sum(axis=1))
    own = x[at, labels]
    nll = log_sum + (x[at, best] - own)
    finite = np.where(np.isfinite(below), below, 0)
    entropy = log_sum - (weights * finite).sum(axis=1) / weights.sum(axis=1)
    before = np.arange(x.shape[1]) < labels[:, None]
    rank = ((x > own[:, None]) | ((x == own[:, None]) & before)).sum(axis=1)
    return TokenStats(nll.astype(np.float64), rank, entropy.astype(np.float64))


def kinds(size: int, n: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """float32 logits [n, size] of the kinds that models, masks and mistakes produce; each row has a finite logit."""
    rng = np.random.default_rng(seed)

    def normal(scale: float = 1.0) -> np.ndarray:
        return rng.standard_normal((n, size), np.float32) * np.float32(scale)

    def level() -> np.ndarray:
        return np.repeat(rng.standard_normal((n, 1), np.float32) * 5, size, axis=1)

    at = np.arange(n)
    yield "normal", normal(3)
    x = normal(2) - 4
    for row in x:
        row[rng.integers(0, size, 6)] += rng.gamma(2, 6, 6).astype(np.float32)
    yield "a few likely tokens", x
    yield "heavy tails", np.clip(rng.standard_t(3, (n, size)) * 2, -200, 200).astype(np.float32)
    yield "around -100 (as GPT-2)", normal(3) - 100
    yield "all equal", level()
    x = level()
    x[at, rng.integers(0, size, n)] += np.float32(11.7)
    yield "two values", x
    yield "offset 1e4", normal(3) + np.float32(1e4)
    yield "offset -1e4", normal(3) - np.float32(1e4)
    x = normal(3)
    x[rng.random((n, size), np.float32) < 0.5] = -np.inf
    x[:, :5] = normal()[:, :5]
    yield "half masked by -inf", x
    x = normal(3)
    x[:, : size // 3] = -np.inf
    yield "first third masked by -inf", x
    x = normal(3)
    x[:, size // 3], x[:, size // 2] = -363409.0, -1e4
    yield "masked by -1e4", x
    x = normal(3)
    x[:, size // 2] = 60
    yield "one logit of 60", x
    yield "peaked", normal(30)
    yield "tiny", normal(1e-6)
    x = np.sort(normal(8), axis=1)
    yield "rising", x
    yield "falling", x[:, ::-1].copy()
    x = normal(3)
    x[:, size // 2 :] += np.float32(100)
    yield "above the window after the first half", x
    x = normal(3) + np.float32(43)
    x[:, size // 2] = -np.float32(3)
    yield "at the window's edge", x
    yield "near the shift's limit", normal(3) + np.float32(127)
    yield "near its other side", normal(3) - np.float32(160)


def labels_for(stored: np.ndarray, seed: int) -> np.ndarray:
    """Random labels, every third the most likely one, never one whose logit is -inf."""
    x = values_of(stored)
    best = x.argmax(axis=1)
    labels = np.random.default_rng(seed).integers(0, x.shape[1], len(x))
    labels[::3] = best[::3]
    return np.where(np.isfinite(x[np.arange(len(x)), labels]), labels, best)


def strange(size: int, n: int, name: str, seed: int) -> np.ndarray:
    """Stored logits made of random bits: NaNs, infinities, subnormals and huge values among small ones."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**32, (n, size), np.uint32)
    exponent, mantissa = {"float32": (8, 23), "bfloat16": (8, 7), "float16": (5, 10)}[name]
    bias = 2 ** (exponent - 1) - 1
    spans = [(0, 2**exponent), (0, 2**exponent - 1), (0, 2), (bias - 3, bias + 5), (bias - 12, bias + 7)]
    low, high = spans[seed % len(spans)]
    field = rng.integers(low, high, (n, size), np.uint32)
    total = 1 + exponent + mantissa
    word = (bits & ((1 << mantissa) - 1)) | (field << mantissa) | ((bits >> 31) << (total - 1))
    if name == "float32":
        return word.astype(np.uint32).view(np.float32)
    stored = word.astype(np.uint16)
    return stored if name == "bfloat16" else stored.view(np.float16)
