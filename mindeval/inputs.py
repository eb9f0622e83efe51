"""The only place where Tensor, ndarray, list and str inputs are converted and checked.

Messages start in lower case: the metric's ``update`` puts its own name before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore as ms
import numpy as np


class Prepared:
    """What an evaluation network has made ready for several metrics, in place of logits (see ``training.EvalCell``).

    ``Metric.update`` asks it for what the metric takes. ``is_global``: the numbers cover all ranks already.
    """

    is_global = False

    def inputs_for(self, metric: Any) -> tuple | None:
        """The positional inputs of a metric; None if another rank hands the same numbers over.

        Raises:
            ValueError: if there is nothing that fits the metric, or what was given to the network was wrong.
        """
        raise TypeError(f"{type(self).__name__} must define inputs_for()")


def to_numpy(value: Any, what: str) -> np.ndarray:
    """A Tensor, array, number or list of numbers as a NumPy array that must not be written to.

    bfloat16 becomes float32 (exactly), because MindSpore's NumPy bfloat16 breaks most NumPy functions. Floats wider
    than float64 are refused: nothing here could keep their digits.

    Args:
        value: what the caller gave.
        what: its name in the message.

    Raises:
        TypeError: for text, None, floats wider than 8 bytes and other objects.
        ValueError: for a list with rows of different lengths.

    >>> to_numpy(ms.Tensor([1.0, 2.0], ms.bfloat16), "logits").dtype
    dtype('float32')
    """
    if is_text_tensor(value):
        raise TypeError(f"{what} must be numbers, but got {describe(value)}")
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{what} must not be a NumPy masked array: give its data, and the places that count as a mask")
    if isinstance(value, ms.Tensor):
        array = (value.astype(ms.float32) if value.dtype == ms.bfloat16 else value).asnumpy()
        if array.dtype.kind not in "fiub":
            raise TypeError(f"{what} must be real numbers, but got {describe(value)}")
        return array
    if not isinstance(value, (np.ndarray, np.generic, int, float, list)):
        raise TypeError(f"{what} must be a Tensor, an array or a list of numbers, but got {type(value).__name__}")
    if isinstance(value, list) and any(isinstance(item, (list, ms.Tensor)) for item in value):
        value = [to_numpy(item, what) if isinstance(item, (list, ms.Tensor)) else item for item in value]
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{what} must have rows of one length, but got a list with rows of different lengths"
        ) from error
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be numbers, but got {describe(value)}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        raise TypeError(f"{what} must be float64 or narrower, but got {array.dtype}: say {what}.astype(np.float64)")
    return array


def whole_number(value: Any, what: str, at_least: int | None = None) -> int:
    """A Python or NumPy integer, of a least value if one is given, as an int; bool, floats and text are refused.

    >>> whole_number(np.int32(5), "top_k")
    5
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{what} must be an int, but got {value!r}")
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{what} must fit 64 bits, but got {value}")
    if at_least is not None and value < at_least:
        raise ValueError(f"{what} must be at least {at_least}, but got {value}")
    return int(value)


def tensor_or_array(value: Any, what: str) -> Any:
    """A Tensor or an array as it is (nothing is copied to the host), anything else as ``to_numpy`` makes it."""
    if isinstance(value, (ms.Tensor, np.ndarray)) and not isinstance(value, np.ma.MaskedArray):
        return value
    return to_numpy(value, what)


def describe(value: Any) -> str:
    """What was given, in a few words, for messages.

    >>> describe(np.zeros((2, 3), np.float32)), describe(["a"]), describe("a")
    ('float32 [2, 3]', 'a list of 1 str', "the str 'a'")
    """
    if isinstance(value, (ms.Tensor, np.ndarray)):
        return f"{str(value.dtype).lower()} {list(value.shape)}"
    if isinstance(value, (list, tuple)):
        kinds = sorted({type(item).__name__ for item in value})
        return f"a {type(value).__name__} of {len(value)} {' and '.join(kinds)}"
    if isinstance(value, str):
        return f"the str {value[:40]!r}"
    return type(value).__name__


_STRING = type(ms.string)
# From here on different whole numbers become one float of the dtype.
_EXACT_IDS = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53}


def class_ids(value: Any, what: str, kind: str = "class ids") -> np.ndarray:
    """Class or token ids (or other whole numbers, named by ``kind``) as int64.

    Floats are taken if they are whole numbers that their dtype can tell apart.

    >>> class_ids([1.0, 2.0], "labels")
    array([1, 2])
    """
    array = to_numpy(value, what)
    if array.dtype.kind == "f":
        dtype = str(getattr(value, "dtype", array.dtype)).lower()
        broken = array[~np.isfinite(array) | (array != np.trunc(array))]
        if broken.size:
            raise ValueError(
                f"{what} must be {kind}, but got {dtype} values that are not whole numbers, such as {broken[0]}"
            )
        check_ids_apart(array, dtype, what)
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"{what} must fit int64, but got {int(array.max())}")
    return array.astype(np.int64, copy=False)


def check_ids_apart(values: np.ndarray, dtype: str, what: str) -> None:
    """Raise a ValueError if ids came as floats of a dtype that cannot tell them from their neighbours."""
    largest, limit = np.abs(values).max(initial=0), _EXACT_IDS.get(dtype, 2**53)
    if largest >= limit:
        raise ValueError(f"{what} must be integers: {dtype} merges numbers from {limit} on, but got {largest}")


def boolean_mask(value: Any, shape: Sequence[int], what: str = "mask") -> np.ndarray:
    """A boolean mask of a shape (True: counts). An integer mask is refused: 0/1 flags and lengths look alike."""
    array = to_numpy(value, what)
    if array.dtype.kind != "b":
        raise TypeError(
            f"{what} must be boolean (True where a position counts), but got {array.dtype}: write {what} != 0"
        )
    if array.shape != tuple(shape):
        raise ValueError(f"{what} must have shape {list(shape)}, but got {list(array.shape)}")
    return array


def texts(value: Any, what: str) -> list[str]:
    """Texts as a list of str, from a list, a tuple, a NumPy string array or a string Tensor.

    ``Model.eval`` delivers arrays; up to MindSpore 2.7 it delivers string Tensors, which a compiled network ruins.

    Raises:
        TypeError: for anything else, and for a string Tensor that has passed through a compiled network.

    >>> texts(np.array(["a", "b"]), "predictions")
    ['a', 'b']
    """
    if is_text_tensor(value):
        value = value.asnumpy()
        if value.dtype.kind != "U":
            raise TypeError(
                f"{what} must be texts, but got a string Tensor whose characters were lost in a compiled network: with "
                "this version of MindSpore texts must not pass through it, or need PYNATIVE mode"
            )
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        value = value.reshape(-1).tolist() if value.ndim <= 1 else value.tolist()
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise TypeError(f"{what} must be a list of str, but got {describe(value)}")
    return list(value)


def is_text_tensor(value: Any) -> bool:
    """Whether the value is a Tensor of strings, whose NumPy array may hold anything."""
    return isinstance(value, ms.Tensor) and isinstance(value.dtype, _STRING)  # 40 times faster than ==


def sample_ids(value: Any | None, rows: int) -> np.ndarray | None:
    """Sample ids as int64 [rows], or None where none were given."""
    if value is None:
        return None
    ids = class_ids(value, "sample_ids", "whole numbers")
    if ids.shape != (rows,):
        raise ValueError(f"sample_ids must have shape [{rows}], but got {list(ids.shape)}")
    return ids


def refuse_sample_ids(value: Any | None) -> None:
    """Raise a ValueError if sample ids were given to a metric of counts or sums, where a sample leaves no trace."""
    if value is not None:
        raise ValueError(
            "sample_ids were given, but counts and sums cannot tell that a sample came twice: leave repeated samples "
            "out by a mask, which distributed.valid_mask makes; only exact curves take sample_ids. If none were meant: "
            "tuples are taken apart, as a network's outputs are, so give predictions and labels as lists or arrays"
        )


def flatten(inputs: Sequence[Any]) -> list[Any]:
    """Nested tuples as one list: an eval network may return ``(loss, (logits, mask), labels)``.

    Tuples of texts stay whole.

    >>> flatten((1, (2, (3, 4)), ("a", "b")))
    [1, 2, 3, 4, ('a', 'b')]
    >>> flatten((([], ["a"]),))
    [([], ['a'])]
    """
    flat: list[Any] = []
    for item in inputs:
        if isinstance(item, tuple) and not _only_text(item):
            flat.extend(flatten(item))
        else:
            flat.append(item)
    return flat


def _only_text(item: Any) -> bool:
    leaves = _leaves(item)
    return len(leaves) > 0 and all(isinstance(leaf, str) for leaf in leaves)


def _leaves(item: Any) -> list[Any]:
    return [leaf for part in item for leaf in _leaves(part)] if isinstance(item, (tuple, list)) else [item]
