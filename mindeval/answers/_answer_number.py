"""Extraction of the number that a text gives as its answer."""

from __future__ import annotations

import re

from mindeval.answers._doubts import sentence_before
from mindeval.answers._number_conclusion import last_in_words, last_number
from mindeval.answers._number_context import OPINION
from mindeval.answers._number_corrections import corrected
from mindeval.answers._number_details import gives_up, without_check
from mindeval.answers._number_parts import ITEM, next_part
from mindeval.answers._number_reading import stated_number
from mindeval.answers._number_text import is_question, prepared, sentence_spans
from mindeval.answers._numerals import Number, scan
from mindeval.answers._result import Extraction
from mindeval.answers._run_on import answered_first, own_turn
from mindeval.answers._statements import ELSEWHERE, Cue, all_answer_cues, doubt_of
from mindeval.answers._tags import tagged
from mindeval.answers._text import BOX_MARK, split_reasoning
from mindeval.answers.numbers import check_options, number_text, scaled


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

    The last explicit statement wins: ``#### 18``, ``\boxed{18}``, ``<answer>18</answer>``, "the answer is 18",
    "答案是18"; of an equation the side after the last ``=``. Without a statement the last sentence with numbers counts,
    unless ``fallback`` is False: its number, if its main clause asserts only one, and does not merely add to what was
    concluded before. Thousands separators (``1,080``, ``1{,}080``, ``12,34,567``, full-width), currency,
    units, fractions, powers, scientific notation, signs (also U+2212 and "minus"), "million"/"万" and short number
    words are understood.

    What is denied ("not 5"), asked, supposed ("if x = 5"), said in passing ("10 (since x = 3)") or a name ("step 2") is
    no answer. A range, a bound ("at least 5"), an alternative, a list, a compound ("5 feet 10 inches"), a time or
    date, and an expression that is not evaluated (``2\pi``, ``5!``) are ambiguous, as is a number that is hedged ("may
    be 5") or taken back, and one of several parts ("5 for Tom and 6 for Jerry"). "Needs at least 5" gives 5.

    Args:
        text: What the model generated.
        prefer: ``"statement"``, or ``"last"``/``"first"``: that number of the text, whatever it says.
        marker: The answer is on the line that begins with this text, e.g. ``"A:"``, and nowhere else.
        fallback: Whether what the last sentence asserts may stand for an answer that is not stated.
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
        >>> extract_number("The answer is between 5 and 10.")
        Extraction(answer=None, rule='several numbers', ambiguous=True)
        >>> extract_number("No numbers here!")
        Extraction(answer=None, rule='no number', ambiguous=False)
    """
    check_options(percent, decimal)
    if prefer not in ("statement", "last", "first"):
        raise ValueError(f"prefer must be 'statement', 'last' or 'first', but got {prefer!r}")
    visible, reasoning, rule = split_reasoning(text)
    if rule == "unclosed reasoning" and not visible.strip():
        return Extraction(None, rule)

    def read(part: str, fallback: bool) -> Extraction | None:
        def read_turn(turn: str) -> Extraction | None:
            found = _of_part(turn, prefer, marker, fallback, decimal)
            return None if found is None else _extraction(*found, percent)

        return answered_first(part, read_turn, _is_explicit) if prefer == "statement" else read_turn(own_turn(part))

    found = read(visible, fallback)
    if found is None and not visible.strip():  # the answer was stated before the reasoning was closed, and not again
        found = read(reasoning, False)
    return found or Extraction(None, "no answer line" if marker else "no number")


_NUMBER_ALONE = re.compile(r"\W*\d[\d.,/]*(?:\s?[^\W\d]{1,12}){0,2}\W*")


def _is_explicit(found: Extraction, text: str) -> bool:
    return found.rule != "last number" or _NUMBER_ALONE.fullmatch(text) is not None


def _of_part(
    text: str, prefer: str, marker: str | None, fallback: bool, decimal: str
) -> tuple[Number | str, str] | None:
    if marker is not None:
        lines = [line.strip() for line in text.split("\n") if line.strip().startswith(marker)]
        line = prepared(lines[-1][len(marker) :], decimal).replace(BOX_MARK, " ") if lines else ""
        number = stated_number(line)
        return (number, "answer line") if number else None
    content, text = tagged(text)
    if prefer != "statement":
        numbers = list(scan(prepared(text, decimal).replace(BOX_MARK, " ")))
        return (numbers[0 if prefer == "first" else -1], f"{prefer} number") if numbers else None
    if content:
        found = _of_part(content, prefer, None, True, decimal)
        number = found[0] if found else stated_number(prepared(content, decimal)) or "unclear number"
        return number, "answer statement"
    text = prepared(text, decimal)
    stated, end = _stated(text)
    if isinstance(stated, tuple):
        return stated
    text = text[end:]
    if not fallback:
        return None
    first = _FIRST_LINE.match(text)
    if first and any(True for _ in scan(first.group(1))):
        text = first.group(1)
    if gives_up(text):
        return None
    text = without_check(text)
    number = last_number(text) or last_in_words(text)
    return (number, "last number") if number else None


# A number alone, and then how it was found.
_FIRST_LINE = re.compile(
    r"\s*([-+$€£¥]?\s?\d[\d,.]*(?:[^\S\n]?[^\W\d]{1,12}){0,2}[.。]?)[^\S\n]*\n\s*"
    r"(?:Explanation|Reason(?:ing)?|Because|Solution|Steps?|How|Here(?:'s| is)|Calculation|Work(?:ing)?|Details?"
    r"|解释|解析|理由|原因|说明|过程|步骤"
    r"|计算|因为)(?!\w)",
    re.IGNORECASE,
)


def _extraction(number: Number | str, rule: str, percent: str) -> Extraction:
    if isinstance(number, str):
        return Extraction(None, number, ambiguous=True)
    value = scaled(number, percent)
    return Extraction(None, "unclear number", ambiguous=True) if value is None else Extraction(number_text(value), rule)


_EXPLAINED = re.compile(
    r"(?<!\w)(?:that|this|which)(?:'s| is| was) (?:why|how)\s+(?:the |my |our )?(?:\w+ )?$", re.IGNORECASE
)
_IRREAL = re.compile(r"(?<!\w)(?:if|unless|had|have been)(?!\w)", re.IGNORECASE)
_STATEMENTS, _WINDOW = 100, 600  # of a text, and the characters of each: bounds on the work
_LINK = re.compile(rf"[:=#→>{BOX_MARK}]|(?<!\w)(?:is|are|was|were|be|equals?)(?!\w)|是|为|等于|答案")
_SWALLOWED = re.compile(
    r"(?:[-+$€£¥]+\s*|—|(?<![-=])>\s*|(?<=\s)(?:[Oo]ne|(?:option|choice)s?\s*)|第\s*|选项\s*)$"
)  # taken for punctuation and filler there


# A line that answers one part of a question: "(b) The answer is 6."
_PART = re.compile(
    rf"[ \t]*(?:{ITEM}|(?:part|question|q)?[ \t]*(?:\([a-h]\)|(?<=[tTnNqQ ])[a-h1-9](?=[:.)])))", re.IGNORECASE
)


def _stated(text: str) -> tuple[tuple[Number | str, str] | None, int]:
    """The last explicit statement of a number, or the end of the last statement of something else."""
    found: tuple[Number | str, str] | None = None
    last = 0
    cues = [(cue, doubt_of(text, cue)) for cue in all_answer_cues(text, verbs=False, last=_STATEMENTS)]
    lines = [text.rfind("\n", 0, cue.start) + 1 for cue, _ in cues]
    parts = {line for line in lines if _PART.match(text, line)}
    limited = [(cue, "") for cue, doubt in cues if doubt == ELSEWHERE]  # count where nothing else is stated
    values = {str(_behind(text, cue)[0]) for cue, _ in limited} if len(limited) == len(cues) > 1 else set()
    if len(values) > 1 or (len(parts) > 1 and lines[-1] in parts):
        return ("several numbers", "answer statement"), 0
    for cue, doubt in [*limited, *(pair for pair in cues if pair[1] != ELSEWHERE)][::-1]:
        if doubt == "condition" and _EXPLAINED.search(text[max(0, cue.start - 40) : cue.start]):
            doubt = ""
        number, end = _behind(text, cue) if doubt in ("", "hedge") else ("", 0)
        if number == "":
            continue
        if number == "other":
            return None, end
        irreal = re.search(r"(?<!\w)would(?!\w)", text[cue.start : cue.end]) and _IRREAL.search(
            re.split(r"[.;\n]", text[cue.end : cue.end + 200])[0]
        )
        if cue.hedged or doubt == "hedge" or irreal:
            number = "unclear number"
        found, last = (number, _rule(text[cue.start])), end
        break
    if found is not None and isinstance(found[0], Number):
        found = corrected(found[0], text[last:]), found[1]
    return found, 0


def _behind(text: str, cue: Cue) -> tuple[Number | str, int]:
    """What a cue is followed by: a number, or why it is not clear; "other", or "" for nothing; and its end."""
    written = text[cue.start : cue.end]
    if not _LINK.search(written) or OPINION.search(sentence_before(text, cue.start)[-60:]):
        return "", 0  # "she answers 12 questions"
    swallowed = _SWALLOWED.search(written)
    begin = cue.start + swallowed.start() if swallowed else cue.end
    start, end = next(sentence_spans(text[begin : begin + _WINDOW]), (0, 0))
    tail = text[begin + start : begin + end]
    if not ("\n" in text[begin : begin + start] and is_question(tail)):
        number = stated_number(tail, cue.denied)
        if isinstance(number, Number) and next_part(text, begin + start + number.start, begin + start + number.end):
            number = "several numbers"
        if number:
            return number, begin + (start + number.end if isinstance(number, Number) else end)
    if _UNKNOWN.search(written + " " + tail):
        return "unclear number", begin + end
    if cue.denied or not re.search(r"\w", tail):
        return "", 0
    return ("" if written[0] == "#" else "other"), begin  # a heading


def _rule(first: str) -> str:
    return {BOX_MARK: "boxed", "#": "####"}.get(first, "answer statement")


_UNKNOWN = re.compile(
    r"(?<!\w)(?:unknown|unclear|undefined|undetermined|indeterminate|infinite|impossible|cannot|can't"
    r"|not (?:known|clear|given"
    r"|possible|enough|defined|sure)|no solutions?|does not exist)(?!\w)|无解|未知|无法|不能|不存在|不确定|不知道|无穷",
    re.IGNORECASE,
)
