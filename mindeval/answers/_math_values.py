"""Values of mathematical expressions: rational numbers exactly, everything else at a few points to 1,300 bits.

Two expressions are the same if their values are, for numbers put in place of the letters. Rational numbers are compared
exactly. Others are compared at three complex points to 2^-1300, far finer than a text of 300 characters can tell two
numbers apart, so that nothing has to be expanded or simplified and the work is bounded (Schwartz, 1980, "Fast
Probabilistic Algorithms for Verification of Polynomial Identities").
"""

from __future__ import annotations

import functools
import math
import random
from fractions import Fraction
from typing import Any, Union

_PRECISION = 4_000  # bits of the arithmetic
_LARGEST = 1_100  # bits of a number that is not rational: its binary logarithm is at most that, up and down
_MAX_BITS = 20_000  # of a rational number
_NOISE = -_PRECISION // 2  # what is smaller came from a cancellation, and is 0
_TOLERANCE = -1_300
_MAX_EXPONENT = 1_000_000
_MAX_FACTORIAL = 1_000
_POINTS = 3
_FUNCTIONS = {"ln": "log", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "abs": "fabs"}

Value = Union[Fraction, tuple]  # exact; or a real or complex number of the context, or one for each point


class Unreadable(ValueError):
    """The text is not in the notation that is understood, or asks for too much work."""


class TooLarge(Unreadable):
    """Its numbers are beyond the bounds."""


@functools.lru_cache(maxsize=1)
def context() -> Any:
    """mpmath's arithmetic with a precision of its own: the user's stays as it is."""
    try:
        from mpmath.ctx_mp import MPContext
    except ImportError as error:
        raise ImportError("match='math' needs mpmath, which comes with: pip install 'mindeval[math]'") from error
    found = MPContext()
    found.prec = _PRECISION
    return found


def literal(text: str) -> Fraction:
    """``12``, ``0.5``, ``1.5e-3``."""
    digits, _, exponent = text.lower().partition("e")
    if len(exponent) > 5:
        raise TooLarge("a power of ten out of bounds")
    return _sized(Fraction(digits) * Fraction(10) ** int(exponent or 0))


@functools.lru_cache(maxsize=3)
def constant(name: str) -> Value:
    """``pi``, ``e`` or ``i``."""
    ctx = context()
    return ({"pi": +ctx.pi, "e": +ctx.e, "i": ctx.mpc(1j)}[name],)


@functools.lru_cache(maxsize=100)
def letter(name: str) -> Value:
    """A variable: at each point a number of its own, near the unit circle so that its powers stay of a size."""
    ctx, drawn = context(), random.Random(f"variable {name}")
    return tuple(
        ctx.mpf(1 + drawn.randrange(100, 1000) / 2**15) * ctx.expjpi(ctx.mpf(drawn.randrange(1, 2**30)) / 2**29)
        for _ in range(_POINTS)
    )


def add(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return _sized(one + other)
    return tuple(a + b for a, b in _pairs(one, other))


def negative(one: Value) -> Value:
    return -one if isinstance(one, Fraction) else tuple(-a for a in one)


def multiply(one: Value, other: Value) -> Value:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return _sized(one * other)
    return _in_bounds(a * b for a, b in _pairs(one, other))


def divide(one: Value, other: Value) -> Value:
    return multiply(one, power(other, Fraction(-1)))


def power(base: Value, exponent: Value) -> Value:
    if isinstance(exponent, Fraction) and abs(exponent) > _MAX_EXPONENT and base not in (0, 1, -1):
        raise TooLarge("a power out of bounds")
    if _is_zero(base):
        if not isinstance(exponent, Fraction) or exponent <= 0:
            raise Unreadable("a division by zero")
        return Fraction(0)
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(abs(base.numerator), base.denominator).bit_length() - 1
        if bits * abs(exponent) > _MAX_BITS:
            raise TooLarge("a power out of bounds")
        return _sized(base ** int(exponent))
    ctx = context()
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return _in_bounds(ctx.power(a, int(exponent)) for a in _numbers(base))
    logs = tuple(ctx.log(a) for a in _numbers(base))
    return _in_bounds(ctx.exp(a) for a in _numbers(multiply(logs, exponent)))


def root(value: Value, degree: Value) -> Value:
    """The real root where there is one: of a negative number an odd one."""
    if isinstance(degree, Fraction) and degree.denominator == 1 and degree % 2 and _is_negative(value):
        return negative(power(negative(value), divide(Fraction(1), degree)))
    return power(value, divide(Fraction(1), degree))


def factorial(value: Value) -> Value:
    if not isinstance(value, Fraction):
        return unknown("!", value)
    if value.denominator != 1 or value < 0:
        raise Unreadable("a factorial of something else than a whole number")
    if value > _MAX_FACTORIAL:
        raise TooLarge("a factorial out of bounds")
    return Fraction(math.factorial(int(value)))


def binomial(n: Value, k: Value) -> Value:
    if not isinstance(n, Fraction) or not isinstance(k, Fraction) or n.denominator != 1 or k.denominator != 1 or n < 0:
        raise Unreadable("a binomial coefficient of something else than whole numbers")
    if n > _MAX_FACTORIAL:
        raise TooLarge("a binomial coefficient out of bounds")
    return Fraction(math.comb(int(n), int(k)) if k >= 0 else 0)


def rounded(name: str, value: Value) -> Value:
    """``floor`` or ``ceil``."""
    if not isinstance(value, Fraction):
        ctx, number = context(), value[0]
        if len(value) > 1 or ctx.im(number) != 0:
            return unknown(name, value)
        nearest = ctx.nint(ctx.re(number))
        value = Fraction(int(nearest if _noise(number - nearest) else getattr(ctx, name)(ctx.re(number))))
    return Fraction(math.floor(value) if name == "floor" else math.ceil(value))


def unknown(name: str, value: Value) -> Value:
    """A function that is not known, or not evaluated: one with numbers of its own, a z + b / (z + c)."""
    a, b, c = _numbers(letter(f"function {name}"))
    return _in_bounds(a * z + b / (z + c) for z in _numbers(value))


def logarithm(value: Value, base: Value) -> Value:
    return divide(apply("ln", value), apply("ln", base))


def apply(name: str, value: Value) -> Value:
    """A function by its name in LaTeX: ``sin``, ``arctan``, ``ln``, ``abs``, ..."""
    if name == "abs" and isinstance(value, Fraction):
        return abs(value)
    if name == "exp":
        return power(constant("e"), value)
    if name == "lg":
        return logarithm(value, Fraction(10))
    if name == "log":  # its base is 10, e or 2: what is equal here is equal for each of them
        return multiply(apply("ln", value), letter("one over the logarithm of the base"))
    function = getattr(context(), _FUNCTIONS.get(name, name))
    try:
        return _in_bounds(function(a) for a in _numbers(value))
    except (ValueError, ZeroDivisionError, OverflowError) as error:  # a pole
        raise Unreadable(f"no value of {name}: {error}") from error


def same_value(one: Value, other: Value) -> bool:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    ctx = context()
    try:
        pairs = _pairs(one, other)
    except Unreadable:  # a rational number beyond the size of any other
        return False
    return all(a == b or ctx.mag(a - b) < _TOLERANCE for a, b in pairs)


def _numbers(value: Value) -> tuple:
    if not isinstance(value, Fraction):
        return value
    if value and abs(value.numerator.bit_length() - value.denominator.bit_length()) > _LARGEST:
        raise TooLarge("a number out of bounds")
    return (context().mpf(value.numerator) / value.denominator,)


def _pairs(one: Value, other: Value) -> list[tuple]:
    """The numbers of both, point by point; what is the same everywhere is repeated."""
    first, second = _numbers(one), _numbers(other)
    points = max(len(first), len(second))
    return list(zip(first * (points // len(first)), second * (points // len(second))))


def _in_bounds(numbers: Any) -> tuple:
    found = tuple(numbers)
    if not all(_small(number) for number in found):
        raise TooLarge("a number out of bounds")
    return found


def _small(number: Any) -> bool:
    """Whether a number is not too large, nor too small to be told from 0."""
    ctx = context()
    return bool(number == 0 or (ctx.isfinite(number) and (-_LARGEST < ctx.mag(number) < _LARGEST or _noise(number))))


def _noise(number: Any) -> bool:
    return bool(number == 0 or context().mag(number) < _NOISE)


def _is_negative(value: Value) -> bool:
    if isinstance(value, Fraction):
        return value < 0
    ctx = context()
    return len(value) == 1 and ctx.im(value[0]) == 0 and ctx.re(value[0]) < 0


def _is_zero(value: Value) -> bool:
    return value == 0 if isinstance(value, Fraction) else any(_noise(number) for number in value)


def _sized(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4 * _MAX_BITS:
        raise TooLarge("a number out of bounds")
    return value
