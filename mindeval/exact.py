"""Products of float64 numbers whose sums are exact, at any magnitude."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mindeval.state import Count, ExactSum, Grouped

_WINDOW = 1920  # binary orders of magnitude of one sum: float64 has 2,098, and 53 are left for the lowest bits
_SPLITTER = float(2**27 + 1)
_EXACT_IN_FLOAT = 2**53
_NO_OVERFLOW = 2.0**1022
_POWERS = 1 << 12  # more than the powers of two of float64
_LOW = 2047  # the low bits of an integer; the rest of 64 bits fits the 53 of a float64


class Terms(NamedTuple):
    """Real numbers ``mantissas * 2**exponents``, beyond the range of float64 if need be."""

    mantissas: np.ndarray
    exponents: np.ndarray


def product_sums(factors: int) -> Grouped:
    """The state of an exact sum of products of so many float64 numbers: one sum for each window of magnitudes."""
    reach = -((_WINDOW // 2 - 1074 * factors) // _WINDOW)
    return Grouped(ExactSum(), range(-reach, reach + 1))


def products(*factors: np.ndarray) -> dict[int, np.ndarray]:
    """What the products of finite float64 arrays, element by element, add to ``product_sums``, without rounding.

    >>> state = product_sums(2)
    >>> state.add(products(np.array([1 + 2.0**-30, 1e-300]), np.array([1 + 2.0**-30, 1e-300])))
    >>> total(state) == Fraction(1 + 2.0**-30) ** 2 + Fraction(1e-300) ** 2
    True
    """
    if len(factors) == 2 and all(_moderate(factor) for factor in factors):
        rounded, lost = _product(factors[0], np.resize(factors[1], factors[0].size))
        return {0: np.concatenate([rounded, lost]) if lost.any() else rounded}
    terms = _terms(factors[0])
    for factor in factors[1:]:
        terms = _times(terms, _terms(np.resize(factor, terms.mantissas.size)))
    return _by_window(terms)


def joined(*parts: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Several contributions as one."""
    keys = {key for part in parts for key in part}
    return {key: np.concatenate([part[key] for part in parts if key in part]) for key in keys}


def total(state: Any) -> int | Fraction:
    """The exact sum that a Count, an ExactSum or ``product_sums`` holds."""
    if isinstance(state, (Count, ExactSum)):
        return state.value if isinstance(state, Count) else state.fraction()
    return sum((member.fraction() * Fraction(2) ** (_WINDOW * key) for key, member in state.value.items()), Fraction(0))


def units_by_group(places: np.ndarray, values: np.ndarray, groups: int) -> list[int]:
    """The exact sum of the finite float64 values of each group, in units of an ``ExactSum``.

    Mantissas of 53 bits are cut into halves, and each half is summed for each group and power of two in int64.

    >>> sums = units_by_group(np.array([0, 2, 0]), np.array([0.5, 5e-324, 1.0]), 3)
    >>> sums == [3 << 1073, 0, 1]
    True
    """
    mantissas, exponents = np.frexp(values)
    whole, powers = np.ldexp(mantissas, 53).astype(np.int64), exponents.astype(np.int64) - 53 + ExactSum.UNIT_EXPONENT
    whole >>= np.maximum(-powers, 0)  # subnormal numbers end in as many zero bits
    keys = places.astype(np.int64) * _POWERS + np.maximum(powers, 0)
    order = np.argsort(keys, kind="stable")
    keys, whole = keys[order], whole[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else np.zeros(0, np.int64)
    sums = [0] * groups
    halves = (
        np.add.reduceat(part, starts).tolist() if keys.size else [] for part in (whole >> 27, whole & (2**27 - 1))
    )
    for key, high, low in zip(keys[starts].tolist(), *halves):
        place, power = divmod(key, _POWERS)
        sums[place] += ((high << 27) + low) << power
    return sums


def non_finite(state: Any) -> float | None:
    """nan or an infinity if such was added to ``product_sums`` or to an ExactSum."""
    return state.non_finite if isinstance(state, ExactSum) else state.value[0].non_finite


def number(value: int | Fraction) -> float:
    """A float, rounded once; inf beyond the range of float64.

    >>> number(Fraction(1, 3)), number(Fraction(10) ** 400)
    (0.3333333333333333, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_parts(values: np.ndarray) -> list[np.ndarray]:
    """float64 arrays whose sum is the given numbers: two for integers that float64 cannot hold, else one.

    >>> [part.tolist() for part in float_parts(np.array([2**62 + 1, -1]))]
    [[4.611686018427388e+18, -2048.0], [1.0, 2047.0]]
    """
    if not beyond_float(values):
        return [values.astype(np.float64)]
    low = values & values.dtype.type(_LOW)
    return [(values - low).astype(np.float64), low.astype(np.float64)]


def whole_parts(number: int) -> list[float]:
    """Floats whose sum is a whole number, which may be beyond 64 bits.

    >>> whole_parts(2**70 + 1)
    [1.1805916207174113e+21, 1.0]
    """
    parts = []
    while number:
        parts.append(float(number))
        number -= int(parts[-1])
    return parts


def differences(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """float64 arrays whose sum is x - y: what rounding leaves of it, and where that is all, nothing more.

    >>> [part.tolist() for part in differences(np.array([1.0, 3.0]), np.array([2.0**-60, 1.0]))]
    [[1.0, 2.0], [-8.673617379884035e-19, 0.0]]
    """
    parts = [*float_parts(x), *(-part for part in float_parts(y))]
    if len(parts) > 2 or max(np.abs(part).max(initial=0) for part in parts) > _NO_OVERFLOW:
        return parts
    high, low = two_sum(*parts)
    return [high, low] if low.any() else [high]


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The float64 sum, and exactly what its rounding lost, by the algorithm of Dekker; for sums in the range."""
    swap = np.abs(a) < np.abs(b)
    larger, smaller = np.where(swap, b, a), np.where(swap, a, b)
    rounded = larger + smaller
    return rounded, smaller - (rounded - larger)


def beyond_float(values: np.ndarray) -> bool:
    """Whether these are integers that float64 cannot tell apart."""
    if values.dtype.kind not in "iu" or not values.size:
        return False
    return max(int(values.max()), -int(values.min())) > _EXACT_IN_FLOAT


def signs_of_differences(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The sign of x - y, float64: 1, 0 or -1."""
    if beyond_float(x) or beyond_float(y):
        return np.array([float((a > b) - (a < b)) for a, b in zip(x.tolist(), y.tolist())])  # Python's are exact
    x, y = x.astype(np.float64), y.astype(np.float64)
    return (x > y).astype(np.float64) - (x < y)


def _terms(values: np.ndarray) -> Terms:
    mantissas, exponents = np.frexp(values)
    return Terms(mantissas, exponents.astype(np.int64))


def _times(a: Terms, b: Terms) -> Terms:
    rounded, lost = _product(a.mantissas, b.mantissas)
    exponents = a.exponents + b.exponents
    if lost.any():
        rounded, exponents = np.concatenate([rounded, lost]), np.concatenate([exponents, exponents])
    mantissas, shifts = np.frexp(rounded)
    return Terms(mantissas, exponents + shifts)


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The float64 products, and exactly what their rounding lost, by the algorithm of Dekker (Numer. Math. 18, 1971);
    for numbers whose products keep all their bits."""
    rounded = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return rounded, ((a_high * b_high - rounded) + a_high * b_low + a_low * b_high) + a_low * b_low


def _moderate(values: np.ndarray) -> bool:
    """Whether products of two such arrays neither overflow nor lose bits below the smallest float64."""
    magnitudes = np.abs(values)
    return bool(magnitudes.max(initial=0) < 2.0**450 and magnitudes.min(initial=1, where=magnitudes > 0) > 2.0**-450)


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    return high, values - high


def _by_window(terms: Terms) -> dict[int, np.ndarray]:
    mantissas, exponents = terms
    windows = -((_WINDOW // 2 - exponents) // _WINDOW)
    if not exponents.size or (windows.min() == 0 and windows.max() == 0):
        return {0: np.ldexp(mantissas, exponents)}
    return {
        int(key): np.ldexp(mantissas[windows == key], exponents[windows == key] - _WINDOW * int(key))
        for key in np.unique(windows)
    }
