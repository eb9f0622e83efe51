r"""What stands around a number: units, currencies and words such as "apples"."""

from __future__ import annotations

import re

from mindeval.answers._math_values import Unreadable

_EXPONENT = r"(?:\s*\^\s*(?:\d|\{\d\})|(?<=[A-Za-z])[23])?"
_WORD = (
    r"(?:(?:centi|milli|kilo)?(?:met(?:er|re)|gram|lit(?:er|re))|degree|radian|unit|inch|foot|feet|yard|mile|hour|minute"
    r"|second|day|week|month|year|dollar|cent|euro|pound|percent|mph|[cmk]m|kg|ft|in)(?:e?s)?"
)
_PER = rf"(?:{_WORD}|hr|min|sec|[hs])(?![A-Za-z]){_EXPONENT}"
_AFTER = r"(?:(?<=[\d}})])|(?<=pi))"
_UNIT = re.compile(
    r"(?:(?<=[\w})])\s*\\(?:text|textrm|textup|mathrm|mbox)\{(?P<text>[^{}]*)\}" + _EXPONENT
    + rf"(?:\s*/\s*\\(?:text|textrm|textup|mathrm|mbox)\{{[^{{}}]*\}}{_EXPONENT})?"
    + r"|(?<=[\w})])\s*(?:\^?\s*°|\\?%)"
    rf"|{_AFTER}\s*(?:(?:square|cubic|sq\.?)\s+)?{_WORD}(?![A-Za-z]){_EXPONENT}(?:\s*(?:per|/)\s*{_PER})?"
    # words of three letters and more are no products, but for letters in their order
    r"|(?<=[\d})])\s+(?!sin|cos|tan|log|exp|(?:abc|bcd|cde|def|ijk|mno|mnp|pqr|qrs|rst|stu|uvw|xyz)(?![A-Za-z]))"
    r"[A-Za-z]{3,}(?:\s+[A-Za-z]{2,}){0,2})\s*$"
)  # fmt: skip
# "5 m" is five metres, or a product.
_SYMBOL = re.compile(
    rf"(?<=[\d}})])\s+(?:[msghLNJWVAKl]|[A-Za-z]{{2}})(?![A-Za-z]){_EXPONENT}(?:\s*/\s*(?:{_PER}|m{_EXPONENT}))?\s*$"
)
# Words that change the number before them.
_NO_UNIT = re.compile(
    r"\b(?:dozen|score|hundred|thousand|million|billion|trillion|half|thirds?|quarters?|\w+ties|(?!month)\w{2,}ths?|base"
    r"|plus|minus|times|over|choose|mod|modulo|squared|cubed|factorial|root|pi|if|when|for|with|not|is|isnt|are|no|but"
    r"|or|to|of|than|least|most|more|less|fewer|about|below|above|under|wrong|incorrect|mod)\b"
)
_CURRENCY = re.compile(r"^([-+]?)\s*(\\\$|[€£¥])\s*(?=[-\d.(\\])")
_ANGLE_FUNCTION = re.compile(r"\\?(?:sin|cos|tan|cot|sec|csc)(?![a-z])")
_SAME_UNITS = {
    "degree": "°", "percent": "%", "dollar": "$", "inche": "inch", "in": "inch", "feet": "foot", "ft": "foot",
    "hr": "hour", "h": "hour", "min": "minute", "sec": "second", "s": "second", "mph": "mile per hour", "sq": "square",
    "meter": "m", "metre": "m", "gram": "g", "liter": "l", "litre": "l",
}  # fmt: skip
_PREFIXES = {"centi": "c", "milli": "m", "kilo": "k"}
_POWERS = {"square": "2", "cubic": "3"}


def without_unit(text: str) -> tuple[str, str | None]:
    """("5", "cm") of "5 cm", and (text, None) where there is no unit. Degrees in the argument of a function, as in
    ``\\cos 60°``, are a part of the expression.

    Raises:
        Unreadable: If the words change the number ("5 million").
    """
    if _ANGLE_FUNCTION.search(text):
        text = re.sub(r"\s*(?:\\text\{\s*degrees?\s*\}|degrees?(?![a-z]))", "°", text)
        if "°" in text:
            return text, None
    unit, found = None, _UNIT.search(text)
    if found:
        unit, text = _unit(found.group()), text[: found.start()]
    if unit == "°":
        text = text.replace("^°", "").replace("°", "")
    currency = _CURRENCY.match(text)
    if currency:
        unit, text = currency.group(2).lstrip("\\"), currency.group(1) + text[currency.end() :]
    return text, unit


def without_symbol(text: str) -> tuple[str, str] | None:
    """("5", "m") of "5 m", which may also be a product."""
    found = _SYMBOL.search(text)
    unit = _unit(found.group()) if found else None
    return None if found is None or unit is None else (text[: found.start()], unit)


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
    if _NO_UNIT.search(" ".join(words)):
        raise Unreadable(f"no unit: {written!r}")
    return None if re.fullmatch(r"(?:unit[23]?)?", unit) else unit


def _base_unit(word: str) -> str:
    found = re.fullmatch(r"(centi|milli|kilo)(meter|metre|gram|liter|litre)", word)
    return _PREFIXES[found.group(1)] + _SAME_UNITS[found.group(2)] if found else _SAME_UNITS.get(word, word)
