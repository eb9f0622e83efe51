"""Sorting integers: native and NumPy agree with Python's own order."""

from __future__ import annotations

import numpy as np
import pytest

from mindeval.kernels import native
from mindeval.kernels.sort import sorted_words

LIMITS = np.iinfo(np.int64)
N = 70_001  # more than the kernel sorts in one piece


@pytest.fixture(params=["numpy"] + (["native"] if native.available() else []), autouse=True)
def back_end(request, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", request.param)


def words_of(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    words = rng.integers(LIMITS.min, LIMITS.max, n, endpoint=True)
    if kind == "of few values":
        return words % 3
    if kind == "of scores":
        return rng.normal(size=n).view(np.int64)
    if kind == "close to one another":
        return words % 100_003 - 50_000
    if kind == "close but for the limits":  # one bucket holds all others, at each digit but the last
        return np.concatenate([words[2:] % 1000, [LIMITS.max, LIMITS.min]])[-n:]
    if kind == "of high digits":
        return words >> 40 << 40
    if kind == "sorted backwards":
        return np.sort(words)[::-1]
    return words


KINDS = ("of all sizes", "of few values", "of scores", "close to one another", "close but for the limits")


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("n", [0, 1, 2, 4095, 4096, 32_768, 32_769, N])
@pytest.mark.parametrize("kind", [*KINDS, "of high digits", "sorted backwards"])
def test_equals_the_order_of_python(kind, n, threads, monkeypatch):
    monkeypatch.setenv("MINDEVAL_NUM_THREADS", threads)
    monkeypatch.setattr("mindeval.kernels.sort._WORDS_PER_THREAD", 1000)
    words = words_of(kind, n)
    before = words.copy()
    assert sorted_words(words).tolist() == sorted(words.tolist())
    assert (words == before).all()


def test_columns_and_strides_are_flattened():
    matrix = np.random.default_rng(0).integers(-100, 100, (N, 2))
    assert sorted_words(matrix[:, :1]).tolist() == sorted(matrix[:, 0].tolist())
    assert sorted_words(matrix[::2, 1]).tolist() == sorted(matrix[::2, 1].tolist())
