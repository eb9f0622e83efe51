"""Numbers in text: where they are, and what they are exactly. Which is the answer: extraction.extract_number."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_GROUP = r"(?:,|\{,\}|\\,|,\\!\s*|\\!,?|\\ |[\u00a0\u2009\u202f'’_])"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "百": 10**2, "千": 10**3, "万": 10**4, "百万": 10**6, "千万": 10**7, "亿": 10**8, "万亿": 10**12,
    "萬": 10**4, "億": 10**8,
}  # fmt: skip
_CURRENCY = r"(?:US\$|[$€£¥₩￥₹])"
_DASHES = str.maketrans({"−": "-", "﹣": "-", "－": "-", "‐": "-", "‑": "-", "–": "-", "—": "\u2014"})
_INTEGER = rf"(?:\d{{1,3}}(?:{_GROUP}\d{{3}})+(?!\d)|\d+)"
_NUMBER = re.compile(
    rf"""
    (?P<sign>[-+](?:\s?(?={_CURRENCY}))?)? (?P<currency>{_CURRENCY}\s?)? (?P<inner>-(?=[\d.]))?
    (?:
        (?P<whole>\d+)?\s*\\[dt]?frac\s*\{{\s*(?P<top>-?\d+(?:\.\d+)?)\s*\}}\s*\{{\s*(?P<bottom>\d+(?:\.\d+)?)\s*\}}
      | \\[dt]?frac\s*(?P<top1>\d)\s*(?P<bottom1>\d)
      | (?P<mixed>\d+\s)?(?P<over>{_INTEGER}(?:\.\d+)?)\s*[/⁄]\s*(?P<under>\d+(?:\.\d+)?)(?!\s*[/⁄]\s*\d)(?![\d])
      | (?P<integer>{_INTEGER})(?P<decimals>[.]\d+)?(?P<vulgar>\s?[{_VULGAR}])?
        (?P<exponent>[eE][-+]?\d+(?![\w])|\s*(?:\\times|\\cdot|[×x*·])\s*10\s*(?:\^|\*\*)\s*(?:\{{\s*[-+]?\d+\s*\}}|[-+]?\d+)
                   |\s*(?:\\times|[×x*·])\s*10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?
      | (?P<point>\.\d+)
      | (?P<lone>[{_VULGAR}])
    )
    (?P<scale>\s?(?:hundred|thousand|million|billion|trillion)(?![A-Za-z])|\s?(?:百万|千万|万亿|亿|億|万|萬|百|千)(?![分米克瓦])
    )?
    (?P<percent>\s?(?:\\?%|％|percent(?![A-Za-z])|per\ cent))?
    """,
    re.VERBOSE,
)
_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
MAX_EXPONENT = 400  # beyond float64, and a bound on the work that a generated text can ask for


@dataclass(frozen=True)
class Number:
    """A number found in a text: its exact value (None where it cannot be told), and where it stands."""

    value: Fraction | None
    percent: bool
    start: int
    end: int


def find_numbers(text: str, *, decimal: str = ".") -> Iterator[Number]:
    """The numbers of a text, in order. Digits inside words (``H2O``, ``x2``) are none."""
    text = _fold(text, decimal)
    position = 0
    while match := _NUMBER.search(text, position):
        position = match.end()
        start = match.start()
        first_digit = re.compile(r"[\d.\\" + _VULGAR + "]").search(text, start)
        before = text[: first_digit.start()].rstrip("-+ ") if first_digit else ""
        signed = match.group("sign") is not None
        if (
            text[max(0, start - 1) : start].isascii()
            and re.match(r"[A-Za-z_\\^]", text[max(0, start - 1) : start])
            and not signed
        ):
            continue  # inside a word
        if re.match(r"(?:st|nd|rd|th)(?![a-z])", text[match.end() :]):
            continue  # an ordinal
        if signed and (re.search(r"[\w)\]}%]$", text[:start]) or re.search(r"[\d)]$", before)):
            signed, start = False, match.end("sign")  # an operator or the dash of a range
        yield Number(_value(match, signed), match.group("percent") is not None, start, match.end())


def _fold(text: str, decimal: str) -> str:
    """Full-width digits and signs as plain ones, dashes as minus; one place a character, so that positions stay."""
    wide = "".join(unicodedata.normalize("NFKC", c) if "\uff01" <= c <= "\uff5e" else c for c in text)
    wide = wide.translate(_DASHES)
    if decimal == ",":
        wide = re.sub(r"(?<=\d)[.,](?=\d)", lambda match: {".": ",", ",": "."}[match.group()], wide)
    return wide


def _value(match: re.Match, signed: bool) -> Fraction | None:
    group = match.groupdict()
    sign = -1 if (signed and "-" in group["sign"]) != bool(group["inner"]) else 1
    if group["top"] is not None or group["top1"] is not None:
        top, bottom = Fraction(group["top"] or group["top1"]), Fraction(group["bottom"] or group["bottom1"])
        value = None if bottom == 0 else Fraction(group["whole"] or 0) + top / bottom
    elif group["over"] is not None:
        bottom = Fraction(group["under"])
        value = None if bottom == 0 else Fraction(group["mixed"] or 0) + Fraction(_digits(group["over"])) / bottom
    elif group["lone"] is not None:
        value = Fraction(unicodedata.numeric(group["lone"])).limit_denominator(10)
    elif group["point"] is not None:
        value = Fraction("0" + group["point"])
    else:
        value = Fraction(_digits(group["integer"]) + (group["decimals"] or ""))
        if group["vulgar"]:
            value += Fraction(unicodedata.numeric(group["vulgar"].strip())).limit_denominator(10)
        exponent = _exponent(group["exponent"])
        value = None if abs(exponent) > MAX_EXPONENT else value * Fraction(10) ** exponent
    if value is None:
        return None
    return sign * value * _SCALES.get((group["scale"] or "").strip(), 1)


def _digits(grouped: str) -> str:
    return re.sub(r"[^\d.]", "", grouped)


def _exponent(text: str | None) -> int:
    if text is None:
        return 0
    power = re.search(r"(?:[eE]|\^|\*\*)\s*\{?\s*([-+]?\d+)", text)
    return int(power.group(1) if power else re.split("10", text)[-1].translate(_SUPERSCRIPT))


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
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def scaled(number: Number, percent: str) -> Fraction | None:
    if number.value is None:
        return None
    return number.value / 100 if number.percent and percent == "divide" else number.value


def check_options(percent: str, decimal: str) -> None:
    if percent not in ("keep", "divide"):
        raise ValueError(f"percent must be 'keep' or 'divide', but got {percent!r}")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', but got {decimal!r}")
