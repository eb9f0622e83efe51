"""Numbers in generated text: what they are, exactly, and which one is the answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from mindeval.answers._result import Extraction
from mindeval.answers._statements import answer_cues
from mindeval.answers._text import BOX_MARK, boxes, segments, split_reasoning, unwrap_fonts

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
    _check_options(percent, decimal)
    found = list(find_numbers(text, decimal=decimal))
    return _scaled(found[0], percent) if len(found) == 1 else None


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


def extract_number(
    text: str,
    *,
    prefer: str = "statement",
    marker: str | None = None,
    fallback: bool = True,
    percent: str = "keep",
    decimal: str = ".",
) -> Extraction:
    r"""The number that a generated text gives as its answer, in the canonical form of ``number_text``.

    The last explicit statement wins: ``#### 18``, ``\boxed{18}``, "the answer is 18", "答案是18"; of an equation the
    side after the last ``=``. Without a statement the last number of the text is taken, unless ``fallback`` is False.
    Thousands separators (``1,080``, ``1{,}080``, ``1\,080``, full-width), currency, units, fractions, scientific
    notation, signs (also U+2212) and "million"/"万" are understood. A statement with two numbers ("3 or 4",
    "between 3 and 5") is ambiguous.

    Args:
        text: What the model generated.
        prefer: ``"statement"``, or ``"last"``/``"first"``: that number of the text, whatever it says.
        marker: The answer is on the line that begins with this text, e.g. ``"A:"``, and nowhere else.
        fallback: Whether the last number may stand for an answer that is not stated.
        percent: ``"keep"`` reads 60% as 60, ``"divide"`` as 0.6.
        decimal: The decimal mark, ``"."`` or ``","``.

    Raises:
        ValueError: If an option is unknown.
        TypeError: If the text is not a str.

    Examples:
        >>> from mindeval.answers.extraction import extract_number
        >>> extract_number("She has 3 + 4 = 7 and sells 2, so the answer is 7 - 2 = 5 eggs.").answer
        '5'
        >>> extract_number("#### 1,080").answer
        '1080'
        >>> extract_number("No numbers here!")
        Extraction(answer=None, rule='no number', ambiguous=False)
    """
    _check_options(percent, decimal)
    if prefer not in ("statement", "last", "first"):
        raise ValueError(f"prefer must be 'statement', 'last' or 'first', but got {prefer!r}")
    visible, reasoning, rule = split_reasoning(text)
    if rule == "unclosed reasoning" and not visible.strip():
        return Extraction(None, rule)
    found = None
    for part in (visible, reasoning):
        found = found or _of_part(unwrap_fonts(segments(part)[0]), prefer, marker, fallback, percent, decimal)
    if found is not None:
        return found
    return Extraction(None, "no answer line" if marker else "no number")


def _of_part(
    text: str, prefer: str, marker: str | None, fallback: bool, percent: str, decimal: str
) -> Extraction | None:
    if marker is not None:
        lines = [line for line in text.split("\n") if line.strip().startswith(marker)]
        return _first(lines[-1].strip()[len(marker) :], "answer line", percent, decimal) if lines else None
    if prefer == "statement":
        stated = _stated(text, percent, decimal)
        if stated is not None or not fallback:
            return stated
    text = re.sub(r"(?m)^\s*\d+[.)、]\s+(?=\D)", "", text)  # the numbers of a list
    numbers = list(find_numbers(text, decimal=decimal))
    if not numbers:
        return None
    chosen = numbers[0] if prefer == "first" else numbers[-1]
    if _unclear(text, chosen):
        return Extraction(None, "unclear number", ambiguous=True)
    if prefer == "statement" and (_unevaluated(text, chosen) or _cut_off(text, chosen)):
        return Extraction(None, "cut off", ambiguous=True)
    return _answer(chosen, "first number" if prefer == "first" else "last number", percent)


def _stated(text: str, percent: str, decimal: str) -> Extraction | None:
    """The last explicit statement that holds a number."""
    for start, end, content in reversed(boxes(text)):
        text = f"{text[:start]}{BOX_MARK}{content}\n{text[end:]}"
    text = re.sub(r"<\s*/?\s*answer\s*>", lambda tag: "\n" if "/" in tag.group() else BOX_MARK, text)
    found = None
    text = re.sub(r"(?m)^A(?=:\s)", "Answer", text.replace("\\$", "$"))
    text = re.sub(
        r"\*\*|__|\\[()\[\]]|\\(?:left|right)(?![a-z])|(?<!\\)\$(?=\s*[-\d.\\])(?=[^$]*\$)|(?<=[\d}\s])\$(?!\s?\d)",
        "",
        text,
    )
    for cue in answer_cues(text, verbs=False):
        if not _LINK.search(text[cue.start : cue.end]):
            continue  # "she answers 12 questions"
        sign = re.search(r"[-−–+$€£¥]+$", text[cue.start : cue.end])  # taken for punctuation there
        begin = cue.start + sign.start() if sign else cue.end
        tail = re.split(r"\n|(?<!\d)\.(?=\s|$)|(?<=\d)\.(?=\s|$)|[。;]", text[begin:].lstrip(), maxsplit=1)[0]
        rule = {BOX_MARK: "boxed", "#": "####"}.get(text[cue.start], "answer statement")
        stated = _first(tail, rule, percent, decimal)
        if stated is not None and not cue.denied:
            found = stated
        elif stated is not None and (but := re.search(r"(?<!\w)but(?!\w)|而是", tail)):
            found = _first(tail[but.end() :], rule, percent, decimal) or found
    return found


_LINK = re.compile(rf"[:=#→>{BOX_MARK}]|(?<!\w)(?:is|are|was|were|be|equals?)(?!\w)|是|为|等于|答案")
_JOINED = re.compile(
    r"\s*(?:or|and|to|versus|或者?|和|与|到|至|[-+*/×÷·^,、]|\\times|\\cdot|\\div|\\pm|±)\s*$", re.IGNORECASE
)


def _first(tail: str, rule: str, percent: str, decimal: str) -> Extraction | None:
    """The number at the beginning of a statement, or after its last equals sign; not one of several."""
    sides = re.split(r"=|≈|\\approx", tail)
    tail = sides[-1] if any(True for _ in find_numbers(sides[-1], decimal=decimal)) else tail
    numbers = list(find_numbers(tail, decimal=decimal))
    if not numbers:
        return None
    between = [tail[one.end : two.start] for one, two in zip(numbers, numbers[1:])]
    joined = [gap for gap in between[:1] if _JOINED.fullmatch(_without_units(gap))]
    range_start = re.search(r"(?:between|from|either)\s*$", tail[: numbers[0].start], re.IGNORECASE)
    if joined or range_start or _unclear(tail, numbers[0]) or _algebra(tail, numbers[0]):
        return Extraction(None, "several numbers", ambiguous=True)
    return _answer(numbers[0], rule, percent)


def _without_units(gap: str) -> str:
    """The gap between two numbers without the units of the first: "3 apples or 4", "2 hours and 30 minutes"."""
    return re.sub(r"^\s*[A-Za-z\u4e00-\u9fff%°]+(?=\s*(?:or|and|to|或|和|至|到))", "", gap)


def _algebra(tail: str, number: Number) -> bool:
    """ "10 + x", "10+John's age": the number is a part of the answer only."""
    return (
        re.match(r"\s*(?:[+*/×÷^]|-\s*[A-Za-z]|\\(?:times|cdot|sqrt|pi))\s*[A-Za-z\\(]", tail[number.end :]) is not None
    )


def _unclear(text: str, number: Number) -> bool:
    """ "2,74" and "1 000" may be one number or two, "12:30" is a time."""
    return (
        number.value is None
        or re.match(r"[,:]\d|[ ]\d{3}(?!\d)", text[number.end :]) is not None
        or re.search(r"\d[,:]$", text[: number.start]) is not None
        or (
            re.search(r"(?<!\d)\d{1,3}[ ]$", text[: number.start]) is not None
            and re.match(r"\d{3}(?!\d)", text[number.start :]) is not None
        )
    )


_MAX_DIGITS = 40  # more are a model that repeats itself
_UNFINISHED = re.compile(
    r"(?:[-+*/×÷=<,(:]|(?<!\w)(?:an?|the|of|for|from|to|and|or|both|is|are|in|on|by|with|at|that|so|then|we|as"
    r"|per|if|when|each|her|his|its"
    r"|their)|[的和与是为把在])\s*$",
    re.IGNORECASE,
)


def _unevaluated(text: str, number: Number) -> bool:
    """The number is an operand: "7 - 2", "(8 + 6)"."""
    before = text[max(0, number.start - 40) : number.start].rstrip("$£€¥ ")
    return re.search(r"[\d)%\]}]\s*(?:[-+*/×÷^]|\\times|\\cdot|\\div)$", before) is not None


def _cut_off(text: str, number: Number) -> bool:
    """The text breaks off after the number: within brackets, at an operator or a function word, or among digits."""
    line = text.rstrip().rsplit("\n", 1)[-1]
    open_bracket = line.count("(") > line.count(")") or line.count("<<") > line.count(">>")
    digits = sum(char.isdigit() for char in text[number.start : number.end])
    return open_bracket or digits > _MAX_DIGITS or _UNFINISHED.search(text[-40:]) is not None


def _answer(number: Number, rule: str, percent: str) -> Extraction:
    value = _scaled(number, percent)
    return Extraction(None, "unclear number", ambiguous=True) if value is None else Extraction(number_text(value), rule)


def _scaled(number: Number, percent: str) -> Fraction | None:
    if number.value is None:
        return None
    return number.value / 100 if number.percent and percent == "divide" else number.value


def _check_options(percent: str, decimal: str) -> None:
    if percent not in ("keep", "divide"):
        raise ValueError(f"percent must be 'keep' or 'divide', but got {percent!r}")
    if decimal not in (".", ","):
        raise ValueError(f"decimal must be '.' or ',', but got {decimal!r}")
