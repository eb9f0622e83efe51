"""Turns the logits and labels of a caller into checked rows that every CPU back end reads in place."""

from __future__ import annotations

import ctypes
import operator
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

SHORT = ("float32", "float16", "bfloat16")  # of 32 bits and less
FORMATS = ("float32", "bfloat16", "float16", "float64")


class TokenStats(NamedTuple):
    """Per-token statistics, each of the labels' shape.

    ``nll``: float64, in nats; 0 where the label is ``ignore_index``. ``rank``: int64, the number of logits above the
    label's plus that of equal ones at lower ids; -1 where ignored and where the row has NaN, +inf or nothing but -inf;
    None unless asked for. ``entropy``: float64, in nats; 0 where ignored; None unless asked for.
    """

    nll: np.ndarray
    rank: np.ndarray | None = None
    entropy: np.ndarray | None = None


@dataclass(frozen=True)
class Rows:
    """Rows of logits that count, with their labels. No logit has been copied."""

    logits: np.ndarray  # [..., V], any strides; bfloat16 as uint16
    format: str  # one of FORMATS
    index: np.ndarray  # int64 [n]: which rows count, in C order of the leading axes
    labels: np.ndarray  # int64 [n]: their labels, all in [0, V)
    owner: Any  # keeps the memory of the logits alive
    targets: np.ndarray | None = None  # float32 [n] (float64 for float64 logits): the labels' logits, for a part of
    # the vocabulary; then labels may lie outside of [0, V), and nll is relative to the targets

    @property
    def vocab_size(self) -> int:
        return self.logits.shape[-1]

    def take(self, rows: slice | np.ndarray, start: int = 0, stop: int | None = None) -> np.ndarray:
        """A copy of the logits [start, stop) of some of the rows, contiguous and in native byte order."""
        return self._native(self._matrix()[..., start:stop][self._places(rows)])

    def take_floats(self, rows: slice | np.ndarray) -> np.ndarray:
        """A copy of some of the rows as floats; bfloat16 as float32."""
        return self._floats(self.take(rows))

    def take_labels(self, rows: slice | np.ndarray) -> np.ndarray:
        """A copy of the labels' logits of some of the rows."""
        return self._native(self._matrix()[self._places(rows) + (self.labels[rows],)])

    def label_values(self) -> np.ndarray:
        """The labels' logits of all rows, as floats."""
        return self._floats(self.take_labels(slice(None)))

    def _floats(self, stored: np.ndarray) -> np.ndarray:
        if self.format == "bfloat16":
            return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return stored

    def _matrix(self) -> np.ndarray:
        return self.logits[None] if self.logits.ndim == 1 else self.logits

    def _places(self, rows: slice | np.ndarray) -> tuple[np.ndarray, ...]:
        return np.unravel_index(self.index[rows], self._matrix().shape[:-1])

    def _native(self, block: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(block, dtype=self.logits.dtype.newbyteorder("="))


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a MindSpore Tensor (MindSpore is not imported to find out)."""
    mindspore = sys.modules.get("mindspore")
    return mindspore is not None and isinstance(value, mindspore.Tensor)


def format_of(logits: Any, what: str = "logits", formats: tuple[str, ...] = (*SHORT, "float64")) -> str:
    """The format of a Tensor or array of logits, one of FORMATS."""
    if not is_tensor(logits) and not isinstance(logits, np.ndarray):
        raise TypeError(f"{what} must be a Tensor or a NumPy array, but got {type(logits).__name__}")
    refuse_masked(logits, what)
    name = str(logits.dtype).lower() if is_tensor(logits) else logits.dtype.name
    if name not in formats:
        expected = f"{', '.join(formats[:-1])} or {formats[-1]}"
        raise TypeError(f"{what} must be {expected}, but got {name}")
    return name


def refuse_masked(value: Any, what: str) -> None:
    """Raise a TypeError for an array with a mask, which nothing here would see."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{what} must not be a masked array: fill it, masked logits with -inf and masked labels with ignore_index"
        )


def logits_array(logits: Any) -> tuple[np.ndarray, str]:
    """Logits as an array that shares their memory (bfloat16 as uint16), and their format.

    The one place where memory of a caller becomes an array of logits. An array of the other byte order is copied.
    """
    name = format_of(logits)
    if is_tensor(logits):
        return tensor_memory(logits, np.dtype("uint16" if name == "bfloat16" else name)), name
    array = np.asarray(logits)
    if name == "bfloat16":
        return array.view(np.uint16), name
    return array.astype(array.dtype.newbyteorder("="), copy=False), name


def tensor_memory(tensor: Any, dtype: np.dtype) -> np.ndarray:
    """A read-only view of a CPU Tensor's memory; waits for a pending result."""
    if 0 in tensor.shape:
        return np.empty(tensor.shape, dtype)
    if sys.modules["mindspore"].__version__.startswith("2.7.0"):  # whose addresses of slices and results are others'
        return initialised(tensor).asnumpy().view(dtype)
    address = initialised(tensor).data_ptr()
    strides = [step * dtype.itemsize for step in tensor.stride()]
    extent = dtype.itemsize + sum((size - 1) * step for size, step in zip(tensor.shape, strides))
    view: np.ndarray = np.ndarray(tensor.shape, dtype, (ctypes.c_char * extent).from_address(address), strides=strides)
    view.flags.writeable = False
    return view


def initialised(value: Any) -> Any:
    """A Tensor whose values exist: those of ``initializer`` are made at first use, until then it is any memory."""
    if is_tensor(value) and value.has_init:
        value.init_data()
    return value


def labels_array(labels: Any) -> np.ndarray:
    """Labels as an int64 array."""
    refuse_masked(labels, "labels")
    array = labels.asnumpy() if is_tensor(labels) else np.asarray(labels)
    if array.size == 0 and not isinstance(labels, np.ndarray) and not is_tensor(labels):
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"labels must be integers, but got {array.dtype}")
    if array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max:
        raise ValueError(f"labels must lie in the vocabulary or be ignore_index, but got {array.max()}")
    return array.astype(np.int64, copy=False)


def whole_number(value: Any, what: str) -> int:
    """An int of 64 bits, from an int or a NumPy integer."""
    if isinstance(value, (bool, np.bool_, np.ndarray)) or is_tensor(value):
        raise TypeError(f"{what} must be an integer, but got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, but got {value!r}") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{what} must fit into 64 bits, but got {number}")
    return number


def effective_vocab_size(vocab_size: int | None, width: int) -> int:
    """The number of columns that are classes: the others pad the vocabulary."""
    if width == 0:
        raise ValueError("logits must have at least one class, but their last axis has length 0")
    if vocab_size is None:
        return width
    size = whole_number(vocab_size, "vocab_size")
    if not 1 <= size <= width:
        raise ValueError(f"vocab_size must be between 1 and the {width} columns of the logits, but got {size}")
    return size


def check_shapes(logits_shape: tuple[int, ...], labels_shape: tuple[int, ...]) -> None:
    if len(logits_shape) == 0:
        raise ValueError("logits must have the classes on their last axis, but got a scalar")
    if tuple(logits_shape[:-1]) != tuple(labels_shape):
        raise ValueError(
            "labels must have the shape of the logits without their last axis, "
            f"but got {list(labels_shape)} against {list(logits_shape)}"
        )


def kept_rows(labels: np.ndarray, ignore_index: int, vocab_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and labels of the rows that are not ignored; their labels are in [0, vocab_size)."""
    flat = labels.reshape(-1)
    index = np.flatnonzero(flat != ignore_index)
    kept = flat[index]
    if kept.size and (kept.min() < 0 or kept.max() >= vocab_size):
        wrong = kept[(kept < 0) | (kept >= vocab_size)][0]
        raise ValueError(
            f"labels must lie in [0, {vocab_size}), the vocabulary, or be ignore_index {ignore_index}, but got {wrong}"
        )
    return index, kept


def rows_of(logits: Any, labels: Any, ignore_index: int, vocab_size: int | None) -> tuple[Rows, tuple[int, ...]]:
    """The checked rows of a call, and the labels' shape."""
    array, name = logits_array(logits)
    classes = labels_array(labels)
    check_shapes(array.shape, classes.shape)
    size = effective_vocab_size(vocab_size, array.shape[-1])
    index, kept = kept_rows(classes, ignore_index, size)
    return Rows(array[..., :size], name, index, kept, logits), classes.shape


def scatter(shape: tuple[int, ...], index: np.ndarray, stats: TokenStats) -> TokenStats:
    """The statistics of the rows that count, put back among the ignored ones."""

    def full(values: np.ndarray | None, ignored: float) -> np.ndarray | None:
        if values is None:
            return None
        result = np.full(int(np.prod(shape, dtype=np.int64)), ignored, values.dtype)
        result[index] = values
        return result.reshape(shape)

    nll = full(stats.nll, 0)
    assert nll is not None
    return TokenStats(nll, full(stats.rank, -1), full(stats.entropy, 0))
