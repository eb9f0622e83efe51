"""Sorts integers: natively, at one speed on every processor, or by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dispatch, native

_FEWEST = 1 << 12  # fewer are sorted by NumPy in less time than a call takes
_WORDS_PER_THREAD = 1 << 17


def sorted_words(words: np.ndarray) -> np.ndarray:
    """A sorted copy of int64 words, flat.

    >>> sorted_words(np.array([3, -1, 2])).tolist()
    [-1, 2, 3]
    """
    if words.size < _FEWEST or dispatch.on_host() == "numpy":
        return np.sort(words, axis=None)
    result = np.array(words, np.int64, order="C").reshape(-1)
    spare = np.empty_like(result)
    library: Any = native.library()
    workers = native.workers(result.size, _WORDS_PER_THREAD)
    library.mindeval_sort(result.ctypes.data, spare.ctypes.data, result.size, workers)
    return result
