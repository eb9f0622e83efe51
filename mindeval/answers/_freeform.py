"""Extraction of boxed, free-form and Yes/No answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindeval.answers._result import Extraction
from mindeval.answers._doubts import is_asked
from mindeval.answers._statements import answer_cues

CORRECTION = re.compile("wait")
from mindeval.answers._text import BOX_MARK, boxes, fold, plain, segments, split_reasoning

_STATEMENT = re.compile(
    r"(?:(?:final|correct)\s+)?answers?(?:\s+to\s+[^.:\n]{1,60}?)?\s*(?:is|are|:)\s*:?(?:\s*therefore)?|(?:最终"
    r"|正确)?答案\s*(?:应该)?\s*(?:是|为|[::：])\s*[::：]?",
    re.IGNORECASE,
)


def extract_boxed(text: str) -> Extraction:
    r"""The content of the last ``\boxed{...}`` or ``\fbox{...}`` after the reasoning; braces may be nested.

    Examples:
        >>> from mindeval.answers.extraction import extract_boxed
        >>> extract_boxed(r"So $x = \boxed{\frac{1}{2}}$.").answer
        '\\frac{1}{2}'
        >>> extract_boxed("So x = 1/2.").rule
        'no box'
    """
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning):
        found = boxes(segments(part)[0])
        if found:
            return Extraction(found[-1][2].strip(), "boxed")
    return Extraction(None, rule if rule == "unclosed reasoning" else "no box")


def extract_text(text: str) -> Extraction:
    r"""A free-form answer: what follows the last "the answer is" on its line, a box, or a text of a single line.

    Bold marks and the final full stop are dropped; the answer is otherwise left as it was written.

    Examples:
        >>> from mindeval.answers.extraction import extract_text
        >>> extract_text("Sorted: a < b < c. So the answer is apple banana cherry.").answer
        'apple banana cherry'
        >>> extract_text("First we sort.\nThen we").rule
        'no answer'
    """
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning if rule == "closed reasoning" else ""):
        found = _text_of(segments(part)[0])
        if found is not None:
            return found
    return Extraction(None, rule if rule == "unclosed reasoning" else ("no answer" if text.strip() else "empty text"))


def _text_of(segment: str) -> Extraction | None:
    boxed = boxes(segment)
    stated = list(_STATEMENT.finditer(segment))
    if boxed and (not stated or boxed[-1][0] > stated[-1].start()):
        return Extraction(_cleaned(boxed[-1][2]), "boxed")
    if stated:
        lines = segment[stated[-1].end() :].lstrip(" \t*").lstrip().split("\n")
        answer = _cleaned(lines[0])
        return Extraction(answer, "answer statement") if answer else None
    lines = [line for line in segment.split("\n") if line.strip()]
    if len(lines) == 1:
        return Extraction(_cleaned(lines[0]), "only line") if _cleaned(lines[0]) else None
    return None


def _cleaned(line: str) -> str:
    line = re.sub(r"\*\*|__|`", "", line).strip()
    line = re.sub(r"^\$(.*)\$\.?$", r"\1", line)
    return re.sub(r"\s*[.。]$", "", line).strip().strip("\"'“”").strip()


_DENIAL_BEFORE = re.compile(r"(?<!\w)(?:not|n't|never|neither|nor)\s+(?:\w+\s+)?$|(?:不|非)$", re.IGNORECASE)


def extract_yes_no(text: str, yes: Sequence[str] = ("Yes",), no: Sequence[str] = ("No",)) -> Extraction:
    """Which of two words a text answers with: ``"Yes"``/``"No"``, or the first word of ``yes`` or ``no`` as given.

    The last explicit statement ("the answer is no") wins, then the word at the beginning, then the word on the last
    line, then the only one of both that occurs. Case does not matter.

    Args:
        text: What the model generated.
        yes: Words that mean yes, e.g. ``("True",)`` or ``("是", "对")``.
        no: Words that mean no.

    Examples:
        >>> from mindeval.answers.extraction import extract_yes_no
        >>> extract_yes_no("ANSWER: No\\nActually, on reflection...\\nANSWER: Yes").answer
        'Yes'
        >>> extract_yes_no("这句话不正确。", yes=("正确",), no=("错误", "不正确")).answer
        '错误'
    """
    meanings = {fold(word).lower(): answer for words in (no, yes) for word, answer in ((w, words[0]) for w in words)}
    words = sorted(meanings, key=len, reverse=True)
    shared = {fold(word).lower() for word in yes} & {fold(word).lower() for word in no}
    if shared or not yes or not no:
        raise ValueError(f"yes and no must be different words, but got yes={tuple(yes)!r} and no={tuple(no)!r}")
    pattern = re.compile("|".join(_bounded(word) for word in words), re.IGNORECASE)
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning if rule == "closed reasoning" else ""):
        found = _word_of(plain(segments(part)[0]), pattern)
        if found is not None:
            if found.answer is None:
                return found
            return Extraction(meanings[found.answer.lower()], found.rule)
    return Extraction(None, rule if rule == "unclosed reasoning" else ("no answer" if text.strip() else "empty text"))


def _bounded(word: str) -> str:
    """Words of letters must stand alone; in Chinese text there are no gaps between words."""
    left = r"(?<![A-Za-z0-9_])" if word[0].isascii() else ""
    right = r"(?![A-Za-z0-9_'])" if word[-1].isascii() else ""
    return left + re.escape(word) + right


def _word_of(text: str, pattern: re.Pattern) -> Extraction | None:
    stated = None
    for cue in answer_cues(text, verbs=False):
        gap = re.compile(r"[\s\"'(\[]*").match(text, cue.end)
        position = gap.end() if gap else cue.end
        # "是" is both a filler and an answer: look for the word from the cue's own end as well
        for start in (position, *range(cue.start + 1, cue.end)):
            match = pattern.match(text, start)
            if match and start >= cue.start + 2 and match.end() >= cue.end:
                stated = None if cue.denied and start == position else match.group()
                break
    if stated is not None:
        return Extraction(stated, "answer statement")
    start = re.match(r"[\s\W]*", text.replace(BOX_MARK, " "))
    first = pattern.match(text, start.end() if start else 0)
    lines = text.strip().split("\n")
    last = pattern.fullmatch(lines[-1].strip().strip(".。!\"'()* "))
    if first is not None and re.match(r"\s*(?:/|or(?!\w)|或|还是)", text[first.end() :]):
        first = None  # "Yes or no?"
    if (
        first is not None
        and not (last and last.group().lower() != first.group().lower())
        and not CORRECTION.search(text)
    ):
        return Extraction(first.group(), "leading word")
    if last is not None:
        return Extraction(last.group(), "last line")
    found = {
        match.group().lower()
        for match in pattern.finditer(text)
        if not is_asked(text, match.end()) and not _DENIAL_BEFORE.search(text[: match.start()])
    }
    if len(found) > 1:
        return Extraction(None, "both words", ambiguous=True)
    return Extraction(found.pop(), "only word mentioned") if found else None
