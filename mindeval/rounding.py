"""Elementary functions of exact fractions, computed in decimal with 60 digits and rounded to a float once.

The C library's exp and log may differ between hosts in the last bit; these cannot.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Union

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
Exact = Union[Fraction, int]


def _decimal(value: Exact) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp(value: Exact) -> float:
    """e^value; inf above the range of float64.

    >>> exp(Fraction(1)), exp(1000)
    (2.718281828459045, inf)
    """
    return float(_CONTEXT.exp(_decimal(value)))


def log(value: Exact, base: Exact | None = None) -> float:
    """The logarithm, natural unless a base is given; -inf for 0, nan below.

    >>> log(8, base=2), log(0)
    (3.0, -inf)
    """
    result = _CONTEXT.ln(_decimal(value))
    if base is not None:
        result = _CONTEXT.divide(result, _CONTEXT.ln(_decimal(base)))
    return float(result)


def sqrt(value: Exact) -> float:
    """The square root of a value >= 0.

    >>> sqrt(Fraction(1, 4))
    0.5
    """
    return float(_CONTEXT.sqrt(_decimal(value)))


def root(value: Exact, degree: int) -> float:
    """The ``degree``-th root of a value >= 0.

    >>> root(16, 4)
    2.0
    """
    if value == 0:
        return 0.0
    return float(_CONTEXT.exp(_CONTEXT.divide(_CONTEXT.ln(_decimal(value)), Decimal(degree))))


def bits(nats: Exact) -> float:
    """Nats in bits: value / ln 2.

    >>> bits(Fraction(0))
    0.0
    """
    return float(_CONTEXT.divide(_decimal(nats), _CONTEXT.ln(Decimal(2))))
