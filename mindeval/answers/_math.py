r"""Mathematical answers in LaTeX or plain notation: numbers and expressions with a name ("x =") and a unit, tuples,
intervals and sets; read by a small parser (nothing is evaluated as code) and compared by their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

from mindeval.answers._math_parser import expression
from mindeval.answers._math_values import Unreadable, Value, same_value
from mindeval.answers._text import boxes, fold, unwrap_fonts

_MAX_LENGTH = 300
_MAX_RAW_LENGTH = 20_000  # of a text around a box
_EXPONENT = r"(?:\s*\^\s*(?:\d|\{\d\})|(?<=[A-Za-z])[23])?"
_WORD = (
    r"(?:(?:centi|milli|kilo)?(?:met(?:er|re)|gram|lit(?:er|re))|degree|radian|unit|inch|foot|feet|yard|mile|hour"
    r"|minute"
    r"|second|day|week|month|year|dollar|cent|euro|pound|percent|mph|[cmk]m|kg|ft|in)(?:e?s)?"
)
_UNIT = re.compile(
    r"(?:(?<=[\w})])\s*(?:\\(?:text|textrm|textup|mathrm|mbox)\{(?P<text>[^{}]*)\}" + _EXPONENT + r"|\^?\s*°|\\?%)"
    rf"|(?<=[\d}})])\s*(?:(?:square|cubic|sq\.?)\s+)?{_WORD}(?![A-Za-z]){_EXPONENT}(?:\s*(?:per|/)\s*{_WORD})?)\s*$"
)
# Words that change the number before them.
_NO_UNIT = re.compile(
    r"\b(?:dozen|hundred|thousand|million|billion|trillion|half|thirds?|quarters?|base|plus|minus|times|over|choose"
    r"|mod)"
    r"\b"
)
_CURRENCY = re.compile(r"^([-+]?)\s*(\\\$|[€£¥])\s*(?=[-\d.(\\])")
_NAME = re.compile(
    r"^\s*(\\?[A-Za-z]+(?:[ ][A-Za-z]+)*(?:_(?:\w|\{\w+\}))?'?(?:\s*\([A-Za-z](?:,\s*[A-Za-z])*\))?)"
    r"\s*(?:=|\\in(?![a-z])|∈)(?!=)(.*)$",
    re.DOTALL,
)
_INFINITY = re.compile(r"([-+]?)\s*(?:\\infty|∞|inf(?:inity)?|oo)")
_SAME_UNITS = {
    "degree": "°", "percent": "%", "dollar": "$", "inche": "inch", "in": "inch", "feet": "foot", "ft": "foot",
    "hr": "hour", "h": "hour", "min": "minute", "sec": "second", "mph": "mile per hour", "sq": "square",
    "meter": "m", "metre": "m", "gram": "g", "liter": "l", "litre": "l",
}  # fmt: skip
_PREFIXES = {"centi": "c", "milli": "m", "kilo": "k"}
_POWERS = {"square": "2", "cubic": "3"}


@dataclass(frozen=True)
class Quantity:
    """An expression's value with what was written around it; ``value`` is "-oo" or "oo" for an infinity."""

    value: Value | str
    name: str | None = None
    unit: str | None = None


Answer = Union[Quantity, tuple]


def same(one: str, other: str) -> bool:
    """Whether two answers are the same mathematical object: a number, expression, tuple, interval, or set."""
    return equal(parse(one), parse(other))


def parse(text: str) -> Answer:
    """A ``Quantity``, or a tuple of them: ``("set", ...)``, ``("union", ...)``, ``("(", ..., "]")`` of a tuple or an
    interval, ``("named", name, structure)``.

    Raises:
        Unreadable: If the text is not in the notation that is understood, or asks for too much work.
    """
    text = _tidy(text)
    if not text or len(text) > _MAX_LENGTH:
        raise Unreadable(f"not a mathematical answer: {text[:40]!r}")
    try:
        return _whole(text)
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error


def equal(one: Answer, other: Answer) -> bool:
    """What only one of two answers says (a name, a unit) makes no difference; what both say must agree."""
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return _equal_quantities(one, other)
    for first, second in ((one, other), (other, one)):
        if isinstance(first, tuple) and first[0] == "named":
            if isinstance(second, tuple) and second[0] == "named":
                return first[1] == second[1] and equal(first[2], second[2])
            return equal(first[2], second)
    if isinstance(one, Quantity):
        return isinstance(other, tuple) and other[0] == "set" and len(other) == 2 and equal(one, other[1])
    if isinstance(other, Quantity):
        return equal(other, one)
    if one[0] != other[0] or len(one) != len(other):
        return False
    if one[0] in ("set", "union"):
        return _equal_sets(one[1:], other[1:])
    return all(a == b if isinstance(a, str) else equal(a, b) for a, b in zip(one, other))


def _equal_quantities(one: Quantity, other: Quantity) -> bool:
    for mine, theirs in ((one.name, other.name), (one.unit, other.unit)):
        if mine is not None and theirs is not None and mine != theirs:
            return False
    if isinstance(one.value, str) or isinstance(other.value, str):
        return one.value == other.value
    return same_value(one.value, other.value)


def _equal_sets(items: tuple, others: tuple) -> bool:
    rest = list(others)
    for item in items:
        match = next((place for place, candidate in enumerate(rest) if equal(item, candidate)), None)
        if match is None:
            return False
        rest.pop(match)
    return True


def _whole(text: str) -> Answer:
    union = re.split(r"\\cup(?![a-z])|∪", text)
    if len(union) > 1:
        return ("union", *[_whole(part) for part in union])
    items = _split(re.sub(r"\s+(?:or|and)\s+|\\text\{\s*(?:or|and)\s*\}", ",", text))
    if len(items) > 1:
        return ("set", *[_quantity(item) for item in items])
    name, rest = _named(text)
    structure = _structure(rest)
    if structure is not None:
        return structure if name is None else ("named", name, structure)
    return _quantity(text)


def _structure(text: str) -> tuple | None:
    inner = re.fullmatch(r"\\\{(.*)\\\}", text, re.DOTALL)
    if inner:
        return ("set", *[_quantity(item) for item in _split(inner.group(1)) if item])
    bounds = re.fullmatch(r"([(\[])(.*)([)\]])", text, re.DOTALL)
    if bounds and len(_split(bounds.group(2))) > 1 and _balanced(bounds.group(2)):
        return (bounds.group(1), *[_quantity(item) for item in _split(bounds.group(2))], bounds.group(3))
    if r"\pm" in text:
        return ("set", *[_quantity(text.replace(r"\pm", sign, 1)) for sign in "+-"])
    return None


def _quantity(text: str) -> Quantity:
    name, rest = _named(text)
    unit, found = None, _UNIT.search(rest)
    if found:
        unit, rest = _unit(found.group()), rest[: found.start()]
    currency = _CURRENCY.match(rest)
    if currency:
        unit, rest = currency.group(2).lstrip("\\"), currency.group(1) + rest[currency.end() :]
    infinity = _INFINITY.fullmatch(rest.strip())
    if infinity:
        return Quantity("-oo" if infinity.group(1) == "-" else "oo", name, unit)
    return Quantity(expression(unwrap_fonts(rest)), name, unit)


def _named(text: str) -> tuple[str | None, str]:
    """("x", "5") of "x = 5"."""
    found = _NAME.match(text)
    if found is None:
        return None, text.strip()
    return re.sub(r"[\s{}\\]", "", found.group(1)), found.group(2).strip()


def _unit(written: str) -> str | None:
    r"""One spelling of a unit: "cm2" of ``\\text{ cm}^2`` and "square centimeters"; None of a mere "units"."""
    words = re.sub(r"\\(?:text|textrm|textup|mathrm|mbox)|[\\{}.^]", " ", written.lower()).replace("/", " per ").split()
    names: list[str] = []
    power = ""
    for word in words:
        if word in _POWERS or word == "sq":
            power = _POWERS[_SAME_UNITS.get(word, word)]
        elif word.isdigit() and names:
            names[-1] += word
        else:
            names.append(_base_unit(re.sub(r"(?<=\w\w)s$", "", word)) + power)
            power = ""
    unit = " ".join(names)
    if _NO_UNIT.search(unit):
        raise Unreadable(f"no unit: {written!r}")
    return None if re.fullmatch(r"(?:unit[23]?)?", unit) else unit


def _base_unit(word: str) -> str:
    found = re.fullmatch(r"(centi|milli|kilo)(meter|metre|gram|liter|litre)", word)
    return _PREFIXES[found.group(1)] + _SAME_UNITS[found.group(2)] if found else _SAME_UNITS.get(word, word)


def _tidy(text: str) -> str:
    if len(text) > _MAX_RAW_LENGTH:
        raise Unreadable("not a mathematical answer: too long")
    found = boxes(text)
    text = (found[-1][2] if found else text).strip()
    if len(text) > 10 * _MAX_LENGTH:
        raise Unreadable("not a mathematical answer: too long")
    text = fold(text).replace("\u2212", "-").strip()
    text = re.sub(
        r"\\(?:left|right|big|Big|displaystyle|,|!|;|:|\s)|(?<!\\)\$|\\[()\[\]]",
        lambda m: " " if m.group() in (r"\;", r"\:", r"\ ") else "",
        text,
    )
    text = re.sub(r"\\text\{\s*(or|and)\s*\}", r" \1 ", text)
    text = re.sub(r"\\[dt]frac", r"\\frac", text)
    text = re.sub(r"\\circ(?![a-z])|\{\s*(?:\\circ|°)\s*\}", "°", text)
    text = _without_separators(text)
    return re.sub(r"[.。]$", "", text.strip()).strip()


def _without_separators(text: str) -> str:
    """``1,234`` as 1234; but in brackets a comma parts items: ``(1,234)`` is a pair, unless written ``(1{,}234)``."""
    text = re.sub(r"(?<=\d)\{,\}(?=\d)", "", text)

    def joined(match: re.Match) -> str:
        before = text[: match.start()]
        opened = len(re.findall(r"[(\[]|\\\{", before)) - len(re.findall(r"[)\]]|\\\}", before))
        return match.group().replace(",", "") if opened == 0 else match.group()

    return re.sub(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d])", joined, text)


def _split(text: str) -> list[str]:
    """At commas outside brackets."""
    items, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            items.append(text[start:place].strip())
            start = place + 1
    return [*items, text[start:].strip()]


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if depth < 0:
            return False
    return depth == 0
