"""Mathematical answers in LaTeX or plain notation, read by a small parser (nothing is evaluated as code) and compared
exactly by SymPy."""

from __future__ import annotations

import re
from typing import Any

from mindeval.answers._math_parser import Unreadable, expression, sympy
from mindeval.answers._text import boxes, fold, unwrap_fonts

_MAX_LENGTH = 300
_UNITS = re.compile(
    r"(?<=[\d})])\s*(?:\\(?:text|mathrm)\{[^{}]*\}|(?:degrees?|units?|cm|mm|km|kg|dollars?|cents?|meters?|inches"
    r"|feet|hours?|minutes?|seconds?"
    r"|square|cubic)\b.*$|\^?\\circ|°|\\?%)"
)


def same(one: str, other: str) -> bool:
    """Whether two answers are the same mathematical object: a number, expression, tuple, interval, or set."""
    return equal(parse(one), parse(other))


def parse(text: str) -> Any:
    """A SymPy expression, ``("set", ...)`` of a set, or ``("(", items, ")")`` of a tuple or an interval.

    Raises:
        Unreadable: If the text is not in the notation that is understood.
    """
    text = _tidy(text)
    if not text or len(text) > _MAX_LENGTH:
        raise Unreadable(f"not a mathematical answer: {text[:40]!r}")
    union = re.split(r"\\cup|∪", text)
    if len(union) > 1:
        return ("union", *[parse(part) for part in union])
    inner = re.fullmatch(r"\\\{(.*)\\\}", text, re.DOTALL)
    if inner:
        return ("set", *[expression(item) for item in _split(inner.group(1)) if item])
    bounds = re.fullmatch(r"([(\[])(.*)([)\]])", text, re.DOTALL)
    if bounds and len(_split(bounds.group(2))) > 1 and _balanced(bounds.group(2)):
        return (bounds.group(1), *[expression(item) for item in _split(bounds.group(2))], bounds.group(3))
    items = _split(re.sub(r"\s+(?:or|and)\s+|\\text\{\s*(?:or|and)\s*\}", ",", text))
    if len(items) > 1:
        return ("set", *[expression(item) for item in items])
    if r"\pm" in text:
        return ("set", expression(text.replace(r"\pm", "+", 1)), expression(text.replace(r"\pm", "-", 1)))
    return expression(text)


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) != isinstance(other, tuple):
        single, several = (other, one) if isinstance(one, tuple) else (one, other)
        return several[0] == "set" and len(several) == 2 and equal(single, several[1])
    if not isinstance(one, tuple):
        return isinstance(one, str) == isinstance(other, str) and (
            one == other if isinstance(one, str) else _zero(one - other)
        )
    if one[0] != other[0] or len(one) != len(other):
        return False
    if one[0] in ("set", "union"):
        rest = list(other[1:])
        for item in one[1:]:
            match = next((place for place, candidate in enumerate(rest) if equal(item, candidate)), None)
            if match is None:
                return False
            rest.pop(match)
        return True
    return all(equal(a, b) for a, b in zip(one[1:], other[1:]))


def _zero(difference: Any) -> bool:
    sp = sympy()
    if difference is sp.nan:  # infinity minus infinity
        return True
    if difference.is_zero is not None:
        return bool(difference.is_zero)
    expanded = sp.expand(difference)
    if expanded == 0:
        return True
    return bool(sp.count_ops(expanded) < 80 and sp.simplify(expanded) == 0)


def _tidy(text: str) -> str:
    found = boxes(text)
    text = found[-1][2] if found else text
    text = fold(text).replace("\u2212", "-").strip()
    text = re.sub(
        r"\\(?:left|right|big|Big|displaystyle|,|!|;|:|\s)|\\?\$|\\[()\[\]]",
        lambda m: " " if m.group() in (r"\;", r"\:", r"\ ") else "",
        text,
    )
    text = re.sub(r"\\text\{\s*(or|and)\s*\}", r" \1 ", text)
    text = unwrap_fonts(_UNITS.sub("", text)).replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac")
    text = re.sub(r"\{,\}", ",", text)
    text = re.sub(r"(?<![\d.])(\d{1,3}(?:,\d{3})+)(?![\d])", lambda m: m.group().replace(",", ""), text)
    text = re.sub(r"^[A-Za-z](?:\([a-z]\))?\s*(?:=|\\in)\s*", "", text.strip())
    return re.sub(r"\s*[.。]\s*$", "", text).strip()


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
