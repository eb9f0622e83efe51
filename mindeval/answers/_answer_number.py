"""Extraction of the number that a text gives as its answer."""

from __future__ import annotations

import re

from mindeval.answers._result import Extraction
from mindeval.answers._statements import answer_cues
from mindeval.answers._text import BOX_MARK, boxes, segments, split_reasoning, unwrap_fonts
from mindeval.answers.numbers import Number, check_options, find_numbers, number_text, scaled


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
    check_options(percent, decimal)
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
    """ "2,74" and "1 000" may be one number or two, "12:30" is a time, "10^3" is not 10."""
    return (
        number.value is None
        or re.match(r"[,:]\d|[ ]\d{3}(?!\d)|\s*(?:\^|\*\*\d)", text[number.end :]) is not None
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
    return (
        open_bracket
        or digits > _MAX_DIGITS
        or _UNFINISHED.search(re.sub(r"(?<=\S)[*_`]+\s*$", "", text)[-40:]) is not None
    )


def _answer(number: Number, rule: str, percent: str) -> Extraction:
    value = scaled(number, percent)
    return Extraction(None, "unclear number", ambiguous=True) if value is None else Extraction(number_text(value), rule)
