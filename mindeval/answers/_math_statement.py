"""Where a text states a mathematical answer: in a box, or in a sentence around it."""

from __future__ import annotations

import re

from mindeval.answers import _math
from mindeval.answers._freeform import extract_boxed, extract_text
from mindeval.answers._math_text import MAX_LENGTH
from mindeval.answers._math_values import Unreadable
from mindeval.answers._result import Extraction

_DELIMITED = re.compile(r"\$\$(.+?)\$\$|(?<!\\)\$(.+?)(?<!\\)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[\w$})\]°%!])[.。;]\**\s+(?=[^\W\d_])")
_REASON = re.compile(r"[,;]?\s+(?:because|since|as|so|which|where|hence|therefore|by|due to|I hope)\s")
_ALTERNATIVES = re.compile(r"\b(?:or|and|not|nor|neither|either|if|unless)\b|n't\b")


def extract_math(text: str) -> Extraction:
    r"""The last box; else what is stated or all there is, up to the sentence's end or a reason; of a sentence that
    cannot be read as a whole, its only formula.

    >>> extract_math("Final Answer: The final answer is $7$. I hope it is correct.").answer
    '7'
    """
    boxed = extract_boxed(text)
    if boxed.answer is not None:
        return boxed
    found = extract_text(text)
    if found.answer is None or len(found.answer) > 10 * MAX_LENGTH:
        return found
    # the dollar signs that a statement began and ended with are gone where they were a pair
    answer = _SENTENCE_END.split(found.answer, maxsplit=1)[0].strip()
    first = _DELIMITED.search(answer)
    reason = _REASON.search(answer, first.end() if first else 0)
    answer = answer[: reason.start()] if reason else answer
    formulas, outside = list(_DELIMITED.finditer(answer)), _DELIMITED.sub(" ", answer)
    if len(formulas) == 1 and not _ALTERNATIVES.search(outside) and not (outside.strip() and _is_readable(answer)):
        answer = next(group for group in formulas[0].groups() if group is not None)
    return Extraction(answer.strip(), found.rule, found.ambiguous)


def _is_readable(text: str) -> bool:
    try:
        _math.parse(text)
    except Unreadable:
        return False
    return True
