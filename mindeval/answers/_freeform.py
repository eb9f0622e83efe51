"""Extraction of boxed and free-form answers."""

from __future__ import annotations

import re

from mindeval.answers._doubts import doubt_before
from mindeval.answers._result import Extraction
from mindeval.answers._run_on import answered_first
from mindeval.answers._tags import boxes_together, tagged
from mindeval.answers._text import boxes, split_reasoning

_STATEMENT = re.compile(
    r"(?:(?:final|correct)\s+)?answers?(?:\s+to\s+[^.:\n]{1,60}?)?\s*(?:is|are|:)\s*:?(?:\s*therefore)?|(?:最终"
    r"|正确)?答案\s*(?:应该)?\s*(?:是|为|[::：])\s*[::：]?",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:(?<!\w)not|n't|不是|并非|≠|\\neq?)[\s$({\[*]*$", re.IGNORECASE)
# One word that is the whole answer, whatever is said about it: "Yes, it is plausible."
_VERDICT = re.compile(r"[\s*_\"'“]*(yes|no|true|false|valid|invalid)(?=[*_\"'”]*\s*[,.;:!—–](?!\s*\d))", re.IGNORECASE)
# The end of a sentence behind which another one begins, and no abbreviation: "Paris. Hope this helps!"
_NEXT_SENTENCE = re.compile(
    r"(?<=[\w)\]'\"*])(?<!(?<!\w)[A-Za-z])(?<!\b(?:Mr|Ms|Dr|St|Jr|Sr|vs|No))(?<!\b(?:Mrs|etc|Inc|Ltd))(?:[.!]\s+(?=[A-Z])|[。！](?=.))"
)


def extract_boxed(text: str) -> Extraction:
    r"""The content of the last ``\boxed{...}`` or ``\fbox{...}`` after the reasoning; braces may be nested. A box that
    is empty or not closed is none, as is one that is denied; two boxes joined by "or", "and" or a comma are ambiguous.

    Examples:
        >>> from mindeval.answers.extraction import extract_boxed
        >>> extract_boxed(r"So $x = \boxed{\frac{1}{2}}$.").answer
        '\\frac{1}{2}'
        >>> extract_boxed("So x = 1/2.").rule
        'no box'
    """
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning):
        found = answered_first(part, _box_of, _is_explicit)
        if found is not None:
            return found
    return Extraction(None, rule if rule == "unclosed reasoning" else "no box")


def _box_of(text: str) -> Extraction | None:
    found = [box for box in boxes(text) if not _is_doubted(text, box[0])]
    if len(found) > 1 and boxes_together(text[found[-2][1] : found[-1][0]]):
        return Extraction(None, "several boxes", ambiguous=True)
    return Extraction(found[-1][2].strip(), "boxed") if found else None


def _is_doubted(text: str, start: int) -> bool:
    """A box is denied or supposed."""
    return _DENIED.search(text[max(0, start - 40) : start]) is not None or doubt_before(text, start) == "condition"


def _is_explicit(found: Extraction, text: str) -> bool:
    return found.rule != "only line"


def extract_text(text: str) -> Extraction:
    r"""A free-form answer: what stands between the last ``<answer>`` tags, what follows the last "the answer is" on its
    line, a box, or a text of a single line.

    Marks of emphasis, the final full stop and what further sentences say are dropped, as is what follows "Yes," and its
    kind; the answer is otherwise left as it was written.

    Examples:
        >>> from mindeval.answers.extraction import extract_text
        >>> extract_text("Sorted: a < b < c. So the answer is apple banana cherry.").answer
        'apple banana cherry'
        >>> extract_text("First we sort.\nThen we").rule
        'no answer'
    """
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning if rule == "closed reasoning" else ""):
        found = answered_first(part, _text_of, _is_explicit)
        if found is not None:
            return found
    return Extraction(None, rule if rule == "unclosed reasoning" else ("no answer" if text.strip() else "empty text"))


def _text_of(segment: str) -> Extraction | None:
    content, segment = tagged(segment)
    if content:
        return _text_of(content) or Extraction(_cleaned(content), "answer statement")
    boxed = boxes(segment)
    stated = list(_STATEMENT.finditer(segment))
    if boxed and (not stated or boxed[-1][0] > stated[-1].start()):
        return Extraction(_cleaned(boxed[-1][2]), "boxed")
    if stated:
        rest = re.sub(r"^\s*(?:\*\*|__|\*(?=\s))?\s*", "", segment[stated[-1].end() :])
        answer = _cleaned(_alone(rest.split("\n")[0]))
        if re.match(r"\s*\*\w", segment[: stated[-1].start() + 1].rsplit("\n", 1)[-1]):  # *Answer: Paris*
            answer = re.sub(r"(?<=\w)\*$", "", answer)
        return Extraction(answer, "answer statement") if answer else None
    lines = [line for line in segment.split("\n") if line.strip()]
    if len(lines) == 1 and not re.search(r"\\(?:boxed|fbox|framebox)\s*\{", lines[0]):  # a box that is empty or cut off
        return Extraction(_cleaned(lines[0]), "only line") if _cleaned(lines[0]) else None
    return None


def _alone(line: str) -> str:
    """The answer that a line begins with, without what is said after it."""
    verdict = _VERDICT.match(line)
    return verdict.group(1) if verdict else _NEXT_SENTENCE.split(line, maxsplit=1)[0]


def _cleaned(line: str) -> str:
    line = re.sub(r"\*\*|__|`", "", line).strip()
    line = re.sub(r"^([*_])(?=\S)([^*_]*)(?<=\S)\1(?=\W*$)", r"\2", line)
    line = re.sub(r"^\$(.*)\$\.?$", r"\1", line)
    return re.sub(r"\s*[.。]$", "", line).strip().strip("\"'“”").strip()
