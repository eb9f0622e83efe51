"""Extraction of the number that a text gives as its answer."""

from __future__ import annotations

import re

from mindeval.answers._number_context import OPINION
from mindeval.answers._number_details import gives_up, is_fact, is_need, without_check
from mindeval.answers._number_parts import in_list_of_parts, next_part
from mindeval.answers._number_reading import concluded_number, stated_number
from mindeval.answers._number_text import cut_off, is_question, prepared, sentence_spans
from mindeval.answers._numerals import Number, scan
from mindeval.answers._result import Extraction
from mindeval.answers._run_on import answered_first, own_turn
from mindeval.answers._statements import Cue, all_answer_cues, doubt_of
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
    "答案是18"; of an equation the side after the last ``=``. Without a statement the last number of the text is taken,
    unless ``fallback`` is False. Thousands separators (``1,080``, ``1{,}080``, ``12,34,567``, full-width), currency,
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
    number = _last_number(text)
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


def _stated(text: str) -> tuple[tuple[Number | str, str] | None, int]:
    """The last explicit statement of a number, or the end of the last statement of something else."""
    found: tuple[Number | str, str] | None = None
    last = 0
    for cue in reversed(all_answer_cues(text, verbs=False)[-_STATEMENTS:]):
        doubt = doubt_of(text, cue)
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
        found = _corrected(found[0], text[last:]), found[1]
    return found, 0


def _behind(text: str, cue: Cue) -> tuple[Number | str, int]:
    """What a cue is followed by: a number, or why it is not clear; "other", or "" for nothing; and its end."""
    written = text[cue.start : cue.end]
    if not _LINK.search(written) or OPINION.search(text[max(0, cue.start - 60) : cue.start].rsplit("\n", 1)[-1]):
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
_REJECTED = re.compile(
    r"\n[ \t$]*(?:(?:is|was|would be)\s+(?:\w+ly\s+)?(?:not|wrong|incorrect|impossible|too)(?!\w)|(?:显然"
    r"|明显)?(?:不对|不是|是错|错))"
)
# The text takes back what it said, or only looks at it again.
_RETRACTED = re.compile(
    r"(?<!\w)(?:(?:that|this|it|which|i|my (?:answer|calculation)|the (?:answer|result) (?:above|i gave))(?:'s"
    r"| is| was|'m| am)\s+"
    r"(?:not right|not correct|not true|wrong|incorrect|mistaken|a mistake|an error|off)|(?:an? |made "
    r"|the )(?:mistake|error|typo)"
    r"|(?:does not|doesn't|cannot|can't|isn't|don't) (?:look|seem|sound|add|be|think|right|correct)|my (?:bad"
    r"|mistake|error)|edit:|update:|erratum|scratch that|correction|oops|sorry|apolog\w+|no,|not right|i meant?"
    r"|on second thought|let me (?:correct|fix|revise|rephrase|amend)\S*|miscalculat\w+|misread|disregard"
    r"|ignore that)(?!\w)"
    r"|更正|(?:我|算|说|搞|弄|写|是|答|都)错|有误|不对(?![劲])|哦不|抱歉|重新计算后|纠正|订正",
    re.IGNORECASE,
)
_RECHECKED = re.compile(
    r"(?<!\w)(?:wait|hold on|hmm+|actually|on reflection|let me (?:re|double|check|verify)\S*)(?!\w)|等等|等一下"
    r"|再(?:检查|想|算|看)|重新",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"(?:(?<!\w)(?:is|be|it's|was|equals|gives?|get|makes?|mean|meant|to|no,?|correction:?)|[=:]|是|为|正[:]?|得"
    r"|对[,]?|等于)(?:\s*(?:actually|really|now|just|rather|in fact|instead))?\W*$",
    re.IGNORECASE,
)


def _corrected(stated: Number, rest: str) -> Number | str:
    """What becomes of a stated number where the text goes on: "Wait, I made an error, it is 7"."""
    strong = list(_RETRACTED.finditer(rest))
    weak = list(_RECHECKED.finditer(rest))
    if _REJECTED.match(rest):
        return "unclear number"
    if not strong and not weak:
        return stated
    begin = (strong or weak)[-1].end()
    later = _last_number(rest[begin:])
    if isinstance(later, Number):
        place = rest.rfind("\n", 0, begin)
        number = next((n for n in reversed(list(scan(rest))) if n.value == later.value), later)
        explicit = _EXPLICIT.search(rest[max(0, place, number.start - 24) : number.start])
        told = explicit and (strong or explicit.group().strip(" $") not in ("=", ":"))
        return stated if later.value == stated.value else later if told else "unclear number"
    if later or strong:
        return "unclear number"
    return stated


_OWN_WORD = re.compile(
    r"(?<!\w)(?:but|however|yet) (?:i|we|it|in fact|actually)(?!\w)|(?:但是?|然而|可是|不过),?(?:我|其实|实际)"
    r"|[,;](?:其实|实际上)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?<!\w)(?:would you like|do you (?:want|need|have)|shall i|should i|can i|need (?:any|more)"
    r"|any (?:other )?questions|does (?:that|this)|is there)(?!\w)|需要我|要不要|还有",
    re.I,
)


def _last_number(text: str) -> Number | str:
    """The number that the last sentence with one concludes with, or why it cannot be told; "" without any."""
    supposed = ""
    spans = list(sentence_spans(text))
    for start, end in reversed(spans):
        sentence = text[max(start, end - 2000) : end]
        if is_question(sentence):
            if any(True for _ in scan(sentence)) and not _OFFER.search(sentence):
                return "unclear number"
            continue
        sentence = sentence.replace(BOX_MARK, " ")
        number = concluded_number(sentence)
        if number == "":
            supposed = supposed or ("unclear number" if any(True for _ in scan(sentence)) else "")
            continue
        own = max((match.end() for match in _OWN_WORD.finditer(sentence)), default=0)
        rest = sentence[own:]
        cues = all_answer_cues(rest, verbs=False)
        if any(doubt_of(rest, cue) not in ("", "hedge", "unlinked") for cue in cues):
            return "unclear number"  # "the student's answer is", "if the answer is"
        if isinstance(number, str):
            return "cut off" if cut_off(text, "") else number
        if is_fact(sentence) and any(is_need(text[first:last]) for first, last in spans if last <= start):
            return "several numbers"
        if in_list_of_parts(text, end - len(sentence) + number.start):
            return "several numbers"
        if _RETRACTED.search(text, end - len(sentence) + number.end):
            return "unclear number"
        return "cut off" if cut_off(text, sentence[number.start : number.end]) else number
    return supposed
