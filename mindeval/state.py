"""The states a metric is made of: what they hold, how they are merged, and the int64 words that travel between cards.

Every state is exact and its merge is associative and commutative, so no batch size, order or number of cards can
change a value. Nothing here knows a metric, MindSpore or a communicator.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Union

import numpy as np

Key = Union[str, int]

_INT64_LIMIT = 2**63


class State:
    """What every state offers.

    ``add`` takes a contribution, ``merge`` another state of the same layout. ``pack`` gives the int64 words whose
    element-wise sum over the ranks ``unpack`` turns into the merged state. A state is *dynamic* when its number of
    words is not known beforehand (rows, groups that are discovered): its ranks first exchange ``announce()`` and
    ``absorb`` what all announced.
    """

    dynamic = False

    def zero(self) -> State:
        """An empty state of the same layout."""
        raise TypeError(f"{type(self).__name__} must define zero()")

    @property
    def layout(self) -> str:
        """The kind and shape of the state: ranks whose layouts differ cannot be summed."""
        return type(self).__name__

    def add(self, contribution: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define add()")

    def merge(self, other: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define merge()")

    def pack(self, world: int) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define pack()")

    def unpack(self, words: np.ndarray) -> None:
        raise TypeError(f"{type(self).__name__} must define unpack()")

    @property
    def size(self) -> int:
        """The number of int64 words of ``pack``."""
        raise TypeError(f"{type(self).__name__} must define size")

    def announce(self) -> bytes:
        raise TypeError(f"{type(self).__name__} has nothing to announce")

    def absorb(self, announced: list[bytes]) -> None:
        raise TypeError(f"{type(self).__name__} has nothing to absorb")

    def state(self) -> Any:
        """The content as JSON-ready data."""
        raise TypeError(f"{type(self).__name__} must define state()")

    def load(self, saved: Any) -> None:
        """Replace the content by what ``state()`` gave."""
        raise TypeError(f"{type(self).__name__} must define load()")


class Count(State):
    """A non-negative integer of any size.

    >>> count = Count()
    >>> count.add(3)
    >>> count.value
    3
    """

    def __init__(self) -> None:
        self.value = 0

    def zero(self) -> Count:
        return Count()

    def add(self, contribution: Any) -> None:
        number = int(contribution)
        if number != contribution or number < 0:
            raise ValueError(f"a Count takes whole numbers >= 0, but got {contribution!r}")
        self.value += number

    def merge(self, other: Count) -> None:
        self.value += other.value

    @property
    def size(self) -> int:
        return 1

    def pack(self, world: int) -> np.ndarray:
        _check_fits(self.value, world)
        return np.array([self.value], np.int64)

    def unpack(self, words: np.ndarray) -> None:
        self.value = int(words[0])

    def state(self) -> int:
        return self.value

    def load(self, saved: int) -> None:
        self.value = int(saved)


class Counts(State):
    """An int64 array of counts of a shape that is known at construction.

    >>> counts = Counts((2,))
    >>> counts.add(np.array([1, 2]))
    >>> counts.value
    array([1, 2])
    """

    def __init__(self, shape: int | tuple[int, ...]) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)
        self.value = np.zeros(self.shape, np.int64)

    def zero(self) -> Counts:
        return Counts(self.shape)

    @property
    def layout(self) -> str:
        return f"Counts{list(self.shape)}"

    def add(self, contribution: Any) -> None:
        array = np.asarray(contribution)
        if array.shape != self.shape or array.dtype.kind not in "iub":
            raise ValueError(
                f"Counts takes integers of shape {list(self.shape)}, but got {array.dtype} {list(array.shape)}"
            )
        self.value = self.value + array.astype(np.int64)

    def merge(self, other: Counts) -> None:
        self.value = self.value + other.value

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def pack(self, world: int) -> np.ndarray:
        if self.size:
            _check_fits(max(int(self.value.max()), -int(self.value.min())), world)
        return self.value.reshape(-1)

    def unpack(self, words: np.ndarray) -> None:
        self.value = np.array(words, np.int64).reshape(self.shape)

    def state(self) -> list:
        return self.value.tolist()

    def load(self, saved: Any) -> None:
        self.value = np.asarray(saved, np.int64).reshape(self.shape)


class ExactSum(State):
    """The exact sum of finite float64 values as one integer in units of 2^-1074, with counts of NaN and the infinities.

    2^-1074 is the smallest positive float64, so every finite float64 is a whole number of units and no addition
    rounds. The value is rounded once, at the end, and equals ``math.fsum``.

    >>> total = ExactSum()
    >>> total.add([1e16, 1.0, -1e16])
    >>> total.over(1)
    1.0
    """

    UNIT_EXPONENT = 1074
    _WORD_BITS = 32
    _WORDS = 67  # 2,098 bits for the largest float64, and 46 bits for the number of addends

    def __init__(self) -> None:
        self.units = 0
        self.nan = self.pinf = self.ninf = 0

    def zero(self) -> ExactSum:
        return ExactSum()

    def add(self, contribution: Any) -> None:
        """Add real numbers: an array, a list, a number, or ``(numbers, times)``: each of them that many times."""
        if isinstance(contribution, tuple):
            numbers, times = contribution
            part = ExactSum()
            part.add(numbers)
            part._scale(int(times))
            self.merge(part)
            return
        values = np.asarray(contribution).reshape(-1)
        if values.dtype.kind in "iub":
            self.units += sum(values.tolist()) << self.UNIT_EXPONENT
            return
        if values.dtype.kind != "f" or values.dtype.itemsize > 8:
            raise TypeError(f"ExactSum takes float16, float32, float64 or integers, but got {values.dtype}")
        values = values.astype(np.float64)
        finite = np.isfinite(values)
        if not finite.all():
            self.nan += int(np.isnan(values).sum())
            self.pinf += int((values == np.inf).sum())
            self.ninf += int((values == -np.inf).sum())
            values = values[finite]
        for start in range(0, values.size, _CHUNK):
            self.units += _sum_of_units(values[start : start + _CHUNK])

    def _scale(self, times: int) -> None:
        if times < 0:
            raise ValueError(f"an ExactSum takes numbers a whole number of times >= 0, but got {times} times")
        self.units, self.nan, self.pinf, self.ninf = (n * times for n in (self.units, self.nan, self.pinf, self.ninf))

    def merge(self, other: ExactSum) -> None:
        self.units += other.units
        self.nan += other.nan
        self.pinf += other.pinf
        self.ninf += other.ninf

    @property
    def non_finite(self) -> float | None:
        """What the sum is worth when not all addends were finite: nan, inf or -inf; None when they were."""
        if self.nan or (self.pinf and self.ninf):
            return math.nan
        if self.pinf or self.ninf:
            return math.inf if self.pinf else -math.inf
        return None

    def fraction(self, divisor: int = 1) -> Fraction:
        """The exact sum of the finite addends over ``divisor``."""
        return Fraction(self.units, int(divisor) << self.UNIT_EXPONENT)

    def over(self, divisor: int = 1) -> float:
        """The sum over ``divisor``, correctly rounded."""
        if self.non_finite is not None:
            return self.non_finite
        try:
            return self.units / (int(divisor) << self.UNIT_EXPONENT)
        except OverflowError:
            return math.inf if self.units > 0 else -math.inf

    @property
    def size(self) -> int:
        return self._WORDS + 3

    def pack(self, world: int) -> np.ndarray:
        bits = self._WORD_BITS
        magnitude, sign = abs(self.units), -1 if self.units < 0 else 1
        if magnitude >> (bits * self._WORDS):
            raise OverflowError("an ExactSum holds more than 2^46 times the largest float64")
        digits = np.frombuffer(magnitude.to_bytes(self._WORDS * bits // 8, "little"), "<u4").astype(np.int64)
        return np.concatenate([sign * digits, np.array([self.nan, self.pinf, self.ninf], np.int64)])

    def unpack(self, words: np.ndarray) -> None:
        *digits, self.nan, self.pinf, self.ninf = (int(word) for word in words)
        self.units = sum(digit << (self._WORD_BITS * place) for place, digit in enumerate(digits))

    def state(self) -> dict:
        return {"units": hex(self.units), "nan": self.nan, "pinf": self.pinf, "ninf": self.ninf}

    def load(self, saved: Mapping) -> None:
        self.units = int(saved["units"], 16)
        self.nan, self.pinf, self.ninf = (int(saved[name]) for name in ("nan", "pinf", "ninf"))


class Grouped(State):
    """One state for each key (a subject, a class, a domain).

    With ``keys`` the groups are declared: others are refused and the layout is fixed. Without, they are discovered.

    >>> by_subject = Grouped(Count())
    >>> by_subject.add({"law": 2, "physics": 1})
    >>> {key: count.value for key, count in by_subject.value.items()}
    {'law': 2, 'physics': 1}
    """

    def __init__(self, template: State, keys: Iterable[Key] | None = None) -> None:
        if template.dynamic:
            raise ValueError(f"a Grouped state needs members of fixed size, but got {template.layout}")
        self.template = template.zero()
        self.keys = None if keys is None else sorted(set(keys), key=_key_order)
        self._members: dict[Key, Any] = {key: template.zero() for key in self.keys or ()}
        self._absorbed = False

    def zero(self) -> Grouped:
        return Grouped(self.template, self.keys)

    @property
    def dynamic(self) -> bool:  # type: ignore[override]
        return self.keys is None and not self._absorbed

    @property
    def layout(self) -> str:
        return f"Grouped({self.template.layout}; {'discovered' if self.keys is None else json.dumps(self.keys)})"

    @property
    def value(self) -> dict[Key, Any]:
        """The states by key, in the order of the keys."""
        return {key: self._members[key] for key in sorted(self._members, key=_key_order)}

    def add(self, contribution: Any) -> None:
        for key, part in contribution.items():
            self._member(key.item() if isinstance(key, np.generic) else key).add(part)

    def _member(self, key: Key) -> State:
        if key not in self._members:
            if self.keys is not None:
                raise ValueError(f"group {key!r} is not one of the declared groups {self.keys}")
            if not isinstance(key, (str, int)) or isinstance(key, bool):
                raise TypeError(f"a group is named by a str or an int, but got {key!r}")
            self._members[key] = self.template.zero()
        return self._members[key]

    def merge(self, other: Grouped) -> None:
        for key, member in other._members.items():
            self._member(key).merge(member)

    @property
    def size(self) -> int:
        return len(self._members) * self.template.size

    def pack(self, world: int) -> np.ndarray:
        return np.concatenate([np.zeros(0, np.int64)] + [member.pack(world) for member in self.value.values()])

    def unpack(self, words: np.ndarray) -> None:
        step = self.template.size
        for place, member in enumerate(self.value.values()):
            member.unpack(words[place * step : (place + 1) * step])

    def announce(self) -> bytes:
        return json.dumps(list(self.value)).encode()

    def absorb(self, announced: list[bytes]) -> None:
        for names in announced:
            for key in json.loads(names):
                self._member(key)
        self._absorbed = True

    def state(self) -> list:
        return [[key, member.state()] for key, member in self.value.items()]

    def load(self, saved: Any) -> None:
        self._members = {key: self.template.zero() for key in self.keys or ()}
        for key, content in saved:
            self._member(key).load(content)


class Rows(State):
    """Rows of int64 columns, for the few metrics that cannot be a sum (exact curves, records of single samples).

    Rows given with sample ids are kept once for each id: a sample that padding repeated counts once. The same id with
    another content is an error. ``value`` is in sorted order, so the order of arrival cannot matter.

    >>> rows = Rows(2)
    >>> rows.add((np.array([[5, 1], [3, 0], [5, 1]]), np.array([7, 8, 7])))
    >>> rows.value
    array([[5, 1],
           [3, 0]])
    """

    def __init__(self, columns: int) -> None:
        self.columns = int(columns)
        self._parts: list[np.ndarray] = []  # matrices [n, 1 + columns], the id first; or [n, columns] without ids
        self._absorbed = False

    @property
    def dynamic(self) -> bool:  # type: ignore[override]
        return not self._absorbed

    def zero(self) -> Rows:
        return Rows(self.columns)

    @property
    def layout(self) -> str:
        return f"Rows({self.columns})"

    def add(self, contribution: Any) -> None:
        rows, ids = contribution if isinstance(contribution, tuple) else (contribution, None)
        matrix = np.asarray(rows)
        if matrix.ndim != 2 or matrix.shape[1] != self.columns or matrix.dtype.kind != "i":
            raise ValueError(
                f"Rows takes int64 of shape [n, {self.columns}], but got {matrix.dtype} {list(matrix.shape)}"
            )
        matrix = matrix.astype(np.int64)
        if ids is not None:
            names = np.asarray(ids)
            if names.shape != matrix.shape[:1] or names.dtype.kind not in "iu":
                raise ValueError(
                    f"sample ids must be {len(matrix)} integers, but got {names.dtype} {list(names.shape)}"
                )
            matrix = np.concatenate([names.astype(np.int64)[:, None], matrix], axis=1)
        if len(matrix):
            self._append(matrix)
            self._compact()

    def _append(self, matrix: np.ndarray) -> None:
        if self._parts and self._parts[0].shape[1] != matrix.shape[1]:
            raise ValueError("some rows came with sample ids and others without: give ids for all or for none")
        self._parts.append(matrix)

    def _compact(self) -> np.ndarray:
        """One sorted matrix without repeated ids."""
        if not self._parts:
            return np.zeros((0, self.columns), np.int64)
        matrix = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        matrix = matrix[np.lexsort(matrix.T[::-1])]
        if matrix.shape[1] > self.columns:
            same_id = matrix[1:, 0] == matrix[:-1, 0]
            differs = same_id & (matrix[1:] != matrix[:-1]).any(axis=1)
            if differs.any():
                raise ValueError(f"sample id {int(matrix[1:][differs][0, 0])} was given twice with different contents")
            matrix = matrix[np.concatenate([[True], ~same_id])]
        self._parts = [matrix]
        return matrix

    @property
    def value(self) -> np.ndarray:
        """int64 [n, columns], sorted (by id where there are ids)."""
        matrix = self._compact()
        return matrix[:, matrix.shape[1] - self.columns :]

    def merge(self, other: Rows) -> None:
        for matrix in other._parts:
            self._append(matrix)

    @property
    def size(self) -> int:
        return 0

    def pack(self, world: int) -> np.ndarray:
        return np.zeros(0, np.int64)

    def unpack(self, words: np.ndarray) -> None:
        """Nothing to do: ``absorb`` took all rows."""

    def announce(self) -> bytes:
        matrix = self._compact()
        return bytes([matrix.shape[1] - self.columns if len(matrix) else 2]) + matrix.astype("<i8").tobytes()

    def absorb(self, announced: list[bytes]) -> None:
        self._parts = []
        for content in announced:
            if content[0] != 2:
                self._append(np.frombuffer(content[1:], "<i8").astype(np.int64).reshape(-1, self.columns + content[0]))
        self._compact()
        self._absorbed = True

    def state(self) -> dict:
        matrix = self._compact()
        return {"ids": matrix.shape[1] > self.columns, "rows": matrix.tolist()}

    def load(self, saved: Mapping) -> None:
        width = self.columns + bool(saved["ids"])
        matrix = np.asarray(saved["rows"], np.int64).reshape(-1, width)
        self._parts = [matrix] if len(matrix) else []


_CHUNK = 1 << 25  # so that the float64 sums of _sum_of_units stay below 2^53
_HALF_BITS = 27


def _sum_of_units(values: np.ndarray) -> int:
    """The exact sum of finite float64 values in units of 2^-1074.

    A value is a whole mantissa of 53 bits times a power of two. The mantissas are cut into two halves and each half is
    summed for each power by a float64 bincount, which is exact: fewer than 2^26 addends below 2^27 stay below 2^53.
    """
    mantissas, exponents = np.frexp(values)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    places = exponents.astype(np.int64) - 53 + ExactSum.UNIT_EXPONENT
    subnormal = places < 0  # their mantissas end in as many zero bits
    if subnormal.any():
        whole = np.where(subnormal, whole >> np.where(subnormal, -places, 0), whole)
        places = np.where(subnormal, 0, places)
    lowest = int(places.min()) if places.size else 0
    high, low = whole >> _HALF_BITS, whole & ((1 << _HALF_BITS) - 1)
    high_sums = np.bincount(places - lowest, weights=high)
    low_sums = np.bincount(places - lowest, weights=low)
    total = 0
    for place in np.flatnonzero((high_sums != 0) | (low_sums != 0)).tolist():
        total += ((int(high_sums[place]) << _HALF_BITS) + int(low_sums[place])) << (place + lowest)
    return total


def _key_order(key: Key) -> tuple:
    return (isinstance(key, str), key)


def _check_fits(magnitude: int, world: int) -> None:
    if magnitude * world >= _INT64_LIMIT:
        raise OverflowError(f"a count of {magnitude} does not fit an int64 sum over {world} ranks")
