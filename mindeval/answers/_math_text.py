r"""Notation before it is read: one spelling of LaTeX commands, symbols and numbers, and cutting at commas."""

from __future__ import annotations

import re

from mindeval.answers._math_values import Unreadable
from mindeval.answers._text import boxes, fold

MAX_LENGTH = 300
_MAX_RAW_LENGTH = 20_000  # of a text around a box
NEW_ROW = "\ue001"  # a private character in place of the two backslashes that end a row of a matrix

# Before compatibility characters are folded: a superscript two is no digit two, and a double-struck R no letter R.
_SYMBOLS = {
    "²": "^2", "³": "^3", "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}",
    "⅔": r"\frac{2}{3}", "π": r"\pi ", "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "≤": r"\le ", "≥": r"\ge ",
    "≠": r"\ne ", "∅": r"\emptyset ", "±": r"\pm ", "−": "-", "⁄": "/",
    **{char: rf"\mathbb{{{letter}}}" for char, letter in zip("ℂℕℙℚℝℤ", "CNPQRZ")},
}  # fmt: skip
_SPELLINGS = [
    (r"\\\\(?:\[[^\[\]]{0,10}\])?", NEW_ROW),
    (r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits|nolimits)(?![A-Za-z])", ""),
    (r"\\(?:(?:quad|qquad|enspace)(?![A-Za-z])|[;:]|\s|$)|(?<!\\)~", " "),
    (r"\\[,!]|(?<!\\)\$|\\[()\[\]]", ""),
    (r"\\(text|textrm|textup|mathrm|mbox)\{[\s,]*(or|and)\s*\}", r" \2 "),
    (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
    (r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
    (r"\\(?:leq|leqslant)(?![A-Za-z])|<=", r"\\le "),
    (r"\\(?:geq|geqslant)(?![A-Za-z])|>=", r"\\ge "),
    (r"\\neq(?![A-Za-z])", r"\\ne "),
    (r"\\(?:varnothing)(?![A-Za-z])|\\\{\s*\\\}", r"\\emptyset "),
    (r"\\(?:lt)(?![A-Za-z])", "<"),
    (r"\\(?:gt)(?![A-Za-z])", ">"),
    (r"√\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1}"),
    (r"√", r"\\sqrt "),
    (r"\\circ(?![a-z])|\{\s*(?:\\circ|°)\s*\}", "°"),
]
_REPEATING = re.compile(r"(?<![\w.])(\d*)\.(\d*)\\(?:overline|bar|dot)\s*\{?(\d+)\}?(?!\d)")


def tidy(text: str) -> str:
    """The last box of a text, or all of it, in one spelling."""
    if len(text) > _MAX_RAW_LENGTH:
        raise Unreadable("not a mathematical answer: too long")
    found = boxes(text)
    text = (found[-1][2] if found else text).strip()
    if len(text) > 10 * MAX_LENGTH:
        raise Unreadable("not a mathematical answer: too long")
    for symbol, spelling in _SYMBOLS.items():
        text = text.replace(symbol, spelling)
    text = fold(text).strip()
    for pattern, spelling in _SPELLINGS:
        text = re.sub(pattern, spelling, text)
    text = _REPEATING.sub(_fraction, _without_separators(text))
    return re.sub(r"[.。]$", "", text.strip()).strip()


def notation(text: str) -> str:
    """What is left of a text that cannot be read, for a comparison letter by letter: no spaces but between words, no
    braces around a single sign."""
    text = re.sub(r"\{(\w)\}", r"\1", tidy(text))
    return re.sub(r"\s+", " ", re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", text))


def split(text: str) -> list[str]:
    """At commas outside brackets."""
    items, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            items.append(text[start:place].strip())
            start = place + 1
    return [*items, text[start:].strip()]


def balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if depth < 0:
            return False
    return depth == 0


def _fraction(found: re.Match) -> str:
    r"""``0.1\overline{6}`` is (16 - 1) / 90."""
    whole, fixed, repeated = found.groups()
    digits = int(whole + fixed + repeated) - int((whole + fixed) or "0")
    return f"({digits}/{'9' * len(repeated)}{'0' * len(fixed)})"


def _without_separators(text: str) -> str:
    """``1,234`` as 1234; but in brackets a comma parts items: ``(1,234)`` is a pair, unless written ``(1{,}234)``."""
    text = re.sub(r"(?<=\d)\{,\}(?=\d)", "", text)

    def joined(match: re.Match) -> str:
        before = text[: match.start()]
        opened = len(re.findall(r"[(\[]|\\\{", before)) - len(re.findall(r"[)\]]|\\\}", before))
        return match.group().replace(",", "") if opened == 0 else match.group()

    return re.sub(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d])", joined, text)
