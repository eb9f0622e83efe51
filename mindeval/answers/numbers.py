"""Numbers in text: where they are, and what they are exactly. Which is the answer: extraction.extract_number."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from mindeval.answers._numerals import Number, folded, scan


def find_numbers(text: str, *, decimal: str = ".") -> Iterator[Number]:
    """The numbers of a text, in order. Digits inside words (``H2O``, ``x2``) and ordinals are none; a run of digits
    that is no number as a whole (``12:30``, ``1.2.3``, ``5-10``) is one without a value."""
    return scan(folded(text, decimal))


def parse_number(text: str, *, percent: str = "keep", decimal: str = ".") -> Fraction | None:
    """The exact value of a text that holds exactly one number, or None.

    Args:
        text: For example ``"1,080"``, ``"-7"``, ``"2/3"``, ``"1.5e3"``, ``"$18.00"``, ``"60%"``, ``"12 apples"``.
        percent: ``"keep"`` reads 60% as 60 (GSM8K writes its percentages so), ``"divide"`` as 0.6.
        decimal: The decimal mark, ``"."`` or ``","``.

    Examples:
        >>> from mindeval.answers.numbers import parse_number
        >>> parse_number("1,080"), parse_number("$18.00"), parse_number("60%", percent="divide")
        (Fraction(1080, 1), Fraction(18, 1), Fraction(3, 5))
    """
    check_options(percent, decimal)
    found = list(find_numbers(text, decimal=decimal))
    return scaled(found[0], percent) if len(found) == 1 else None


def numbers_equal(
    one: Fraction, other: Fraction, *, absolute: float | Fraction = 0, relative: float | Fraction = 0
) -> bool:
    """Whether two numbers differ by no more than a tolerance: ``|one - other| <= max(absolute, relative * |other|)``.

    Exact rational arithmetic: with the default tolerances 100000000001 is not 100000000000, and 1/2 is 0.5.

    Examples:
        >>> from fractions import Fraction
        >>> from mindeval.answers.numbers import numbers_equal
        >>> pi, near = Fraction("3.1416"), Fraction("3.14")
        >>> numbers_equal(near, pi), numbers_equal(near, pi, relative=0.01)
        (False, True)
    """
    allowed = max(Fraction(str(absolute)), Fraction(str(relative)) * abs(other))
    return abs(one - other) <= allowed


def number_text(value: Fraction) -> str:
    """A canonical form: an integer, a finite decimal, or a fraction.

    Examples:
        >>> from fractions import Fraction
        >>> from mindeval.answers.numbers import number_text
        >>> number_text(Fraction(1080)), number_text(Fraction(-1, 8)), number_text(Fraction(2, 3))
        ('1080', '-0.125', '2/3')
    """
    bottom, twos, fives = value.denominator, 0, 0
    while bottom % 2 == 0:
        bottom, twos = bottom // 2, twos + 1
    while bottom % 5 == 0:
        bottom, fives = bottom // 5, fives + 1
    places = max(twos, fives)
    if bottom != 1:
        return f"{_text(value.numerator)}/{_text(value.denominator)}"
    if places == 0:
        return _text(value.numerator)
    digits = _text(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def _text(integer: int) -> str:
    """str(), also of more than the 4,300 digits that Python converts."""
    if abs(integer) < 10**4000:
        return str(integer)
    high, low = divmod(abs(integer), 10**4000)
    return ("-" if integer < 0 else "") + _text(high) + str(low).rjust(4000, "0")


def scaled(number: Number, percent: str) -> Fraction | None:
    if number.value is None:
        return None
    return number.value / 100 if number.percent and percent == "divide" else number.value


def check_options(percent: str, decimal: str) -> None:
    if percent not in ("keep", "divide"):
        raise ValueError(f"percent must be 'keep' or 'divide', but got {percent!r}")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', but got {decimal!r}")
