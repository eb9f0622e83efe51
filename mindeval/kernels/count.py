"""How often each decision met each label: integers, by the native loop or by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dispatch, native

_POSITIONS_PER_THREAD = 1 << 18  # fewer are not worth a thread
_BLOCK = 1 << 15  # positions that are converted at a time: a few int64 blocks of this size stay in the cache


def count_pairs(
    decisions: np.ndarray, labels: np.ndarray, size: int, ignored: int, counted: np.ndarray | None = None
) -> np.ndarray | None:
    """How often each decision met each label.

    Args:
        decisions: class ids, flat, integers or bool.
        labels: class ids, flat.
        size: the number of classes.
        ignored: the label of positions that do not count.
        counted: bool, flat: which positions count, in place of ``ignored``.

    Returns:
        int64 ``[size, size]``, row = label; None if a class that counts is outside of ``[0, size)``.

    >>> count_pairs(np.array([2, 1, 0, 1]), np.array([2, 1, 0, -1]), 3, ignored=-1).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    return _count(decisions, labels, size, ignored, counted, True)


def count_classes(
    decisions: np.ndarray, labels: np.ndarray, size: int, ignored: int, counted: np.ndarray | None = None
) -> np.ndarray | None:
    """How often each class was decided rightly, decided, and the label: int64 ``[size, 3]``; see ``count_pairs``.

    >>> count_classes(np.array([2, 1, 0, 1]), np.array([2, 1, 0, 0]), 3, ignored=-1).tolist()
    [[1, 1, 2], [1, 2, 1], [1, 1, 1]]
    """
    return _count(decisions, labels, size, ignored, counted, False)


def _count(
    decisions: np.ndarray, labels: np.ndarray, size: int, ignored: int, counted: np.ndarray | None, pairs: bool
) -> np.ndarray | None:
    shapes = [ids.shape for ids in (decisions, labels, counted) if ids is not None]
    if len(set(shapes)) > 1 or labels.ndim != 1:  # the native loop would read past the shorter one
        raise ValueError(f"decisions, labels and counted must be flat and of one length, but got {shapes}")
    result = np.zeros((size, size if pairs else 3), np.int64)
    add = _add_native if dispatch.on_host() == "native" else _add_numpy
    direct = add is _add_native and _readable(decisions) and _readable(labels)
    step = max(1, labels.size) if direct else _BLOCK
    for start in range(0, labels.size, step):
        part = slice(start, start + step)
        given = [ids[part] if direct else _signed(ids[part]) for ids in (decisions, labels)]
        if not add(given[0], given[1], ignored, None if counted is None else counted[part], pairs, result):
            return None
    return result


def _signed(ids: np.ndarray) -> np.ndarray:
    """As int64 that the native loop can read; what is above stays above, and does not wrap to ``ignored``."""
    if ids.dtype == np.uint64:
        ids = np.minimum(ids, np.uint64(np.iinfo(np.int64).max))
    return np.require(ids, np.int64, ["C", "A"])


def _readable(ids: np.ndarray) -> bool:
    """Whether the native loop can read the array where it is."""
    plain = ids.flags.c_contiguous and ids.flags.aligned and ids.dtype.isnative
    return plain and ids.dtype in (np.int32, np.int64)


def _add_native(
    decisions: np.ndarray, labels: np.ndarray, ignored: int, counted: np.ndarray | None, pairs: bool, result: np.ndarray
) -> bool:
    flags = None if counted is None else np.ascontiguousarray(counted)
    library: Any = native.library()
    failed = library.mindeval_count(
        decisions.ctypes.data, decisions.itemsize, labels.ctypes.data, labels.itemsize,
        None if flags is None else flags.ctypes.data, ignored, labels.size, len(result), pairs,
        native.workers(labels.size, _POSITIONS_PER_THREAD), result.ctypes.data,
    )  # fmt: skip
    return not failed


def _add_numpy(
    decisions: np.ndarray, labels: np.ndarray, ignored: int, counted: np.ndarray | None, pairs: bool, result: np.ndarray
) -> bool:
    size = len(result)
    keep = labels != ignored if counted is None else counted
    if not keep.all():
        decisions, labels = decisions[keep], labels[keep]
    if not labels.size:
        return True
    if min(labels.min(), decisions.min()) < 0 or max(labels.max(), decisions.max()) >= size:
        return False
    if pairs:
        result += np.bincount(labels * size + decisions, minlength=size * size).reshape(size, size)
    else:
        columns = (labels[labels == decisions], decisions, labels)
        result += np.stack([np.bincount(ids, minlength=size) for ids in columns], axis=1)
    return True
