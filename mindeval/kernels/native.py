"""The C++ back end, loaded with ctypes: no copy of the logits, threads over rows, the interpreter lock released."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from pathlib import Path

import numpy as np

from .rows import Rows, TokenStats

LIBRARY = Path(__file__).resolve().parent.parent / "_native.so"
_FORMATS = {"float32": 0, "bfloat16": 1, "float16": 2}
_INSTRUCTIONS = {4: "SSE2 or NEON", 8: "AVX2", 16: "AVX-512"}
_LOGITS_PER_THREAD = 1 << 17  # fewer are not worth a thread
_COPIED_BYTES = 1 << 20  # rows whose logits are not adjacent in memory are copied in blocks of this size


class Missing(RuntimeError):
    """The native kernel was asked for and is not there."""


@functools.cache
def library() -> ctypes.CDLL | str:
    """The loaded library, or the reason why there is none."""
    if not LIBRARY.exists():
        return "not built: there was no C++ compiler when mindeval was installed"
    pointer, size, number = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        token_nll, count, sort = loaded.mindeval_token_nll, loaded.mindeval_count, loaded.mindeval_sort
    except (OSError, AttributeError) as error:  # AttributeError: built from older sources
        return f"not loadable: {error}"
    token_nll.argtypes, token_nll.restype = (pointer, number, size, size, *[pointer] * 6, number, number), number
    count.argtypes = (pointer, number, pointer, number, pointer, size, size, size, number, number, pointer)
    count.restype = number
    sort.argtypes, sort.restype = (pointer, pointer, size, number), None
    return loaded


def available() -> bool:
    return not isinstance(library(), str)


def describe() -> str:
    """What the library uses on this processor, or why it cannot be used."""
    loaded = library()
    if isinstance(loaded, str):
        return loaded
    return f"{_INSTRUCTIONS[loaded.mindeval_width()]}, {threads()} threads"


def threads() -> int:
    """``MINDEVAL_NUM_THREADS`` (below a billion), or the number of processors that this process may use."""
    wanted = os.environ.get("MINDEVAL_NUM_THREADS")
    if not wanted:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not re.fullmatch("0*[1-9][0-9]{0,8}", wanted):
        raise ValueError(f"MINDEVAL_NUM_THREADS must be a positive integer, but got '{wanted}'")
    return int(wanted)


def workers(size: int, least: int) -> int:
    """How many threads work on ``size`` items, of which fewer than ``least`` are not worth one."""
    return 1 if size < 2 * least else min(threads(), size // least)


def token_nll(rows: Rows, rank: bool, entropy: bool, width: int = 0) -> TokenStats:
    """Statistics of the rows. ``width``: floats in a register (4, 8, 16), for tests; 0 is the widest."""
    n = len(rows.labels)
    stats = TokenStats(np.empty(n), np.empty(n, np.int64) if rank else None, np.empty(n) if entropy else None)
    if _in_place(rows.logits):
        _call(rows.logits, _offsets(rows), rows, slice(0, n), stats, width)
        return stats
    step = max(1, _COPIED_BYTES // (rows.vocab_size * rows.logits.itemsize))
    for start in range(0, n, step):
        part = slice(start, min(n, start + step))
        block = rows.take(part)
        offsets = np.arange(len(block), dtype=np.int64) * rows.vocab_size
        _call(block, offsets, rows, part, stats, width)
    return stats


def _in_place(logits: np.ndarray) -> bool:
    """Whether each row's logits are adjacent, aligned and in native byte order."""
    item = logits.itemsize
    adjacent = logits.shape[-1] == 1 or logits.strides[-1] == item
    return adjacent and logits.flags.aligned and logits.dtype.isnative and all(s % item == 0 for s in logits.strides)


def _offsets(rows: Rows) -> np.ndarray:
    """Where each row starts, in elements from the first one."""
    offsets = np.zeros(len(rows.index), np.int64)
    if rows.logits.ndim > 1:
        for place, stride in zip(np.unravel_index(rows.index, rows.logits.shape[:-1]), rows.logits.strides):
            offsets += place * (stride // rows.logits.itemsize)
    return offsets


def _call(logits: np.ndarray, offsets: np.ndarray, rows: Rows, part: slice, stats: TokenStats, width: int) -> None:
    loaded = library()
    if isinstance(loaded, str):
        raise Missing(f"the native kernel is {loaded}")
    labels = rows.labels[part]
    targets = None if rows.targets is None else rows.targets[part].ctypes.data
    outputs = [None if values is None else values[part].ctypes.data for values in stats]
    n, vocab_size = len(labels), rows.vocab_size
    failed = loaded.mindeval_token_nll(
        logits.ctypes.data, _FORMATS[rows.format], n, vocab_size, offsets.ctypes.data, labels.ctypes.data,
        targets, *outputs, min(n, workers(n * vocab_size, _LOGITS_PER_THREAD)), width,
    )  # fmt: skip
    if failed:
        raise ValueError(f"this processor has no registers of {width} floats")
