r"""Mathematical answers in LaTeX or plain notation: numbers and expressions with a name ("x =") and a unit, words,
tuples, intervals, sets, matrices and relations; read by a small parser (nothing is evaluated as code) and compared by
their values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Union

from mindeval.answers import _math_units as units
from mindeval.answers._math_parser import FUNCTIONS, expression
from mindeval.answers._math_text import MAX_LENGTH, NEW_ROW, balanced, notation, split, tidy
from mindeval.answers._math_values import TooLarge, Unreadable, Value, same_value
from mindeval.answers._text import _LATEX_FONT, unwrap_fonts

_IDENTIFIER = r"\\?[A-Za-z]+(?:[ ][A-Za-z]+)*(?:_(?:\w|\{\w+\}))?'?"
_NAME = re.compile(
    rf"^\s*({_IDENTIFIER}(?:\s*\([A-Za-z](?:,\s*[A-Za-z])*\))?)\s*(?:=|\\in(?![a-z])|∈)(?!=)(.*)$", re.DOTALL
)
_NAMED_TUPLE = re.compile(r"\(([^()=]*)\)\s*=\s*(\(.*\))", re.DOTALL)
_INFINITY = re.compile(r"([-+]?)\s*(?:\\infty|∞|inf(?:inity)?|oo)")
_AND = re.compile(r",?\s+(?:or|and)\s+")
_RELATION = re.compile(r"\\(le|ge|ne)(?![a-z])|([<>=:])")
_TURNED = {">": "<", "ge": "le"}
_MATRIX = re.compile(r"\\begin\{([pbB]?matrix|smallmatrix|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{\1\}", re.DOTALL)
_FONT = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt|up)?|math(?:rm|bf|sf|it)|mbox|operatorname)\s*\{([^{}]*)\}")
_RUNS = re.compile(r"[^\W\d_]+(?:['\s-]+[^\W\d_]+){0,2}'?")
_TEXT = re.compile(r"[^\W\d_][^\d\\{}]*")


@dataclass(frozen=True)
class Word:
    """An answer in words, or letters that may also be a product (which they are beside an expression)."""

    text: str
    product: Value | None = None


@dataclass(frozen=True)
class Quantity:
    """A value with what was written around it; ``value`` is "-oo" or "oo" for an infinity. ``other`` is the second
    reading of "5 m", a product or five metres."""

    value: Value | str | Word
    name: str | None = None
    unit: str | None = None
    other: Quantity | None = None


@dataclass(frozen=True)
class Notation:
    """What cannot be read, but compared with what is written alike."""

    text: str


Answer = Union[Quantity, tuple, Notation]


def same(one: str, other: str) -> bool:
    """Whether two answers are the same mathematical object: a number, expression, tuple, interval, or set."""
    return equal(read(one), read(other))


def read(text: str) -> Answer:
    """What ``parse`` gives, or the bare ``Notation`` of what it cannot read.

    Raises:
        Unreadable: If there is nothing in it, or it asks for too much work.
    """
    try:
        return parse(text)
    except TooLarge:
        raise
    except Unreadable:
        written = notation(text)
        if not written:
            raise
        return Notation(written)


def parse(text: str) -> Answer:
    """A ``Quantity``, or a tuple of them: ``("set", ...)``, ``("union", ...)``, ``("(", ..., "]")`` of a tuple or an
    interval, ``("matrix", columns, ...)``, ``("relation", signs, ...)``, ``("named", name, structure)``.

    Raises:
        Unreadable: If the text is not in the notation that is understood, or asks for too much work.
    """
    text = tidy(text)
    if not text or len(text) > MAX_LENGTH:
        raise Unreadable(f"not a mathematical answer: {text[:40]!r}")
    try:
        return _whole(text)
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error


def equal(one: Answer, other: Answer) -> bool:
    """What only one of two answers says (a name, a unit) makes no difference; what both say must agree."""
    if isinstance(one, Notation) or isinstance(other, Notation):
        return one == other
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return any(_equal_quantities(a, b) for a in (one, one.other) for b in (other, other.other) if a and b)
    for first, second in ((one, other), (other, one)):
        if isinstance(first, tuple) and first[0] == "named":
            if isinstance(second, tuple) and second[0] == "named":
                return first[1] == second[1] and equal(first[2], second[2])
            return equal(first[2], second)
    if isinstance(one, Quantity):
        return isinstance(other, tuple) and other[0] == "set" and len(other) == 2 and equal(one, other[1])
    if isinstance(other, Quantity):
        return equal(other, one)
    if _is_listed(one) and _is_listed(other) and (_has_names(one) or _has_names(other)):
        return _equal_by_names(_items(one), _items(other), ordered=not (_has_names(one) and _has_names(other)))
    if one[0] != other[0] or len(one) != len(other):
        return False
    if one[0] in ("set", "union"):
        return _equal_sets(one[1:], other[1:])
    if one[:2] == other[:2] == ("relation", "=") and equal(one[2], other[3]) and equal(one[3], other[2]):
        return True
    return all(a == b if isinstance(a, str) else equal(a, b) for a, b in zip(one, other))


def _equal_quantities(one: Quantity, other: Quantity) -> bool:
    for mine, theirs in ((one.name, other.name), (one.unit, other.unit)):
        if mine is not None and theirs is not None and mine != theirs:
            return False
    first, second = one.value, other.value
    if isinstance(first, Word) and isinstance(second, Word):
        return first.text == second.text
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    for word, value in ((first, second), (second, first)):
        if isinstance(word, Word):  # letters are no number, not even "ii"
            return isinstance(value, tuple) and word.product is not None and same_value(word.product, value)
    return not isinstance(first, Word) and not isinstance(second, Word) and same_value(first, second)


def _equal_sets(items: tuple, others: tuple) -> bool:
    rest = list(others)
    for item in items:
        match = next((place for place, candidate in enumerate(rest) if equal(item, candidate)), None)
        if match is None:
            return False
        rest.pop(match)
    return not rest


def _is_listed(structure: tuple) -> bool:
    """Whether it is a list or a tuple, which is no interval."""
    return structure[0] == "set" or (structure[0] == "(" and structure[-1] == ")")


def _items(structure: tuple) -> tuple:
    return structure[1:] if structure[0] == "set" else structure[1:-1]


def _has_names(structure: tuple) -> bool:
    """Whether its items are values of different names: "x = 1, y = 2"."""
    names = [item.name if isinstance(item, Quantity) else None for item in _items(structure)]
    return None not in names and len(set(names)) == len(names) > 1


def _equal_by_names(items: tuple, others: tuple, ordered: bool) -> bool:
    """Names order what has none: "x = 1, y = 2" is (1, 2), but not (2, 1)."""
    if not ordered:
        return _equal_sets(items, others)
    return len(items) == len(others) and all(map(equal, items, others))


def _whole(text: str) -> Answer:
    union = re.split(r"\\cup(?![a-z])|∪", text)
    if len(union) > 1:
        return ("union", *[_whole(part) for part in union])
    items = split(_AND.sub(",", text))
    if len(items) > 1:
        return ("set", *_both_signs(items))
    found = _item(text)
    return ("set", *found[1:]) if isinstance(found, tuple) and found[0] == "±" else found


def _both_signs(items: list[str]) -> list[Answer]:
    found = [_item(item) for item in items]
    return [part for item in found for part in (item[1:] if isinstance(item, tuple) and item[0] == "±" else [item])]


def _item(text: str) -> Answer:
    named_tuple = _NAMED_TUPLE.fullmatch(text)
    if named_tuple:
        names, values = split(named_tuple.group(1)), _structure(named_tuple.group(2))
        if values is not None and len(names) == len(values) - 2:
            named = [replace(value, name=name) for name, value in zip(names, values[1:-1]) if type(value) is Quantity]
            if len(named) == len(names):
                return ("(", *named, ")")
    name, rest = _named(text)
    structure = _structure(rest)
    if structure is not None:
        return structure if name is None or structure[0] == "±" else ("named", name, structure)
    wrapped = _FONT.fullmatch(text)
    if wrapped and re.search(r"\d|,", wrapped.group(1)):  # \text{3 hours}
        return _whole(wrapped.group(1).strip())
    turned = re.fullmatch(rf"([^=]*)=\s*({_IDENTIFIER})", text) if name is None else None
    if turned:  # 2x + 1 = y
        return _quantity(f"{turned.group(2)} = {turned.group(1)}")
    signs = [sign for found in _RELATION.finditer(rest) for sign in found.groups() if sign] if name is None else []
    if signs:
        parts = [_quantity(part) for part in _RELATION.sub("\0", rest).split("\0")]
        if all(sign in _TURNED for sign in signs):
            signs, parts = [_TURNED[sign] for sign in reversed(signs)], parts[::-1]
        return ("relation", " ".join(signs), *parts)
    return _quantity(text)


def _structure(text: str) -> tuple | None:
    if re.fullmatch(r"\\emptyset(?![a-z])\s*", text):
        return ("set",)
    matrix = _MATRIX.fullmatch(text)
    if matrix:
        rows = [row.split("&") for row in matrix.group(2).strip().strip(NEW_ROW).split(NEW_ROW)]
        return ("matrix", str([len(row) for row in rows]), *[_quantity(entry) for row in rows for entry in row])
    inner = re.fullmatch(r"\\\{(.*)\\\}", text, re.DOTALL)
    if inner:
        return ("set", *_different(_both_signs([item for item in split(inner.group(1)) if item])))
    bounds = re.fullmatch(r"([(\[])(.*)([)\]])", text, re.DOTALL)
    if bounds and len(split(bounds.group(2))) > 1 and balanced(bounds.group(2)):
        return (bounds.group(1), *[_item(item) for item in split(bounds.group(2))], bounds.group(3))
    if re.search(r"\\pm(?![a-z])", text):
        return ("±", *_different([_quantity(text.replace(r"\pm", sign, 1)) for sign in "+-"]))
    return None


def _different(items: list) -> list:
    """A set holds each of its elements once."""
    return [item for place, item in enumerate(items) if not any(equal(item, before) for before in items[:place])]


def _quantity(text: str) -> Quantity:
    name, rest = _named(text)
    word = _word(rest)
    if word is not None:
        return Quantity(word, name)
    symbol = units.without_symbol(rest)
    rest, unit = units.without_unit(rest)
    infinity = _INFINITY.fullmatch(rest.strip())
    if infinity:
        return Quantity("-oo" if infinity.group(1) == "-" else "oo", name, unit)
    value = expression(_without_fonts(rest))
    other = (
        None if symbol is None or unit is not None else Quantity(expression(_without_fonts(symbol[0])), name, symbol[1])
    )
    return Quantity(value, name, unit, other)


def _word(text: str) -> Word | None:
    r"""The words of ``\text{Yes}``, "no solution", "ABCD", ``\mathbb{R}``; None of single letters and expressions."""
    blackboard = re.fullmatch(r"\\mathbb\s*\{?([A-Za-z])\}?", text.strip())
    if blackboard:
        return Word(rf"\mathbb{{{blackboard.group(1)}}}")
    wrapped = _FONT.fullmatch(text.strip())
    written = re.sub(r"\s+", " ", wrapped.group(1) if wrapped else text).strip().rstrip(".")
    runs = re.findall(r"[^\W\d_]+", written)
    if not (_TEXT if wrapped else _RUNS).fullmatch(written) or (
        all(len(run) == 1 for run in runs) and runs[0].isascii()
    ):
        return None
    if wrapped:
        return None if len(runs) == 1 and runs[0] in FUNCTIONS else Word(written.casefold())
    if any(run in (*FUNCTIONS, "pi") for run in runs) or _INFINITY.fullmatch(written):
        return None
    if "-" in written and min(map(len, runs)) < 3:
        return None
    short = len(written) == 2 and written.isupper()  # the segment AB is not the product ab
    key = written if short else written.casefold()
    return Word(key, _product(written) if len(runs) == 1 else None)


def _product(letters: str) -> Value | None:
    try:
        return expression(letters)
    except Unreadable:
        return None


def _without_fonts(text: str) -> str:
    for content in _LATEX_FONT.findall(text):
        if re.search(r"[^\W\d_]{2}", content) and content.strip() not in FUNCTIONS:
            raise Unreadable(f"words in an expression: {content!r}")
    return text if r"\mathbb" in text else unwrap_fonts(text)


def _named(text: str) -> tuple[str | None, str]:
    """("x", "5") of "x = 5"."""
    found = _NAME.match(text)
    if found is None:
        return None, text.strip()
    return re.sub(r"[\s{}\\]", "", found.group(1)), found.group(2).strip()
