"""ExactSum: the sum of real numbers without rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.state.base import State, check_names
from mindeval.state.counts import loaded_count


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
        check_names(saved, ("units", "nan", "pinf", "ninf"), "a saved sum must have")
        units, counts = int(saved["units"], 16), [loaded_count(saved[name]) for name in ("nan", "pinf", "ninf")]
        self.units, (self.nan, self.pinf, self.ninf) = units, counts


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
