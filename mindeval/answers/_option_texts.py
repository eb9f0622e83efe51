"""Whether an option's text, found in a text, is the option and not a part of something else."""

from __future__ import annotations

import re

from mindeval.answers._text import fold

OPEN = r"[(\[{<\"'“「『【《]"
CLOSE = r"[)\]}>\"'”」』】》]"
_NUMBER_BEFORE = re.compile(r"(?:[-−–+*/^√.,:\d\\{]|\d\s|(?<![A-Za-z])(?:minus|negative)\s|负)$", re.IGNORECASE)
_NUMBER_AFTER = re.compile(r"[.,:/]\d|\s?(?:[%^*/×+√π‰]|\\|[十百千万亿]|\d)|[₀-₉²³]|\s-\s?\d")
_FUNCTION_WORDS = re.compile(
    r"an?|the|i|it|is|are|was|were|be|of|in|on|at|to|by|for|with|from|as|and|or|s?he|they|we|you|this|that|these|those"
    r"|who|which|do|does|did|has|have|had|will|would|can"
)
_CLAUSE_END = re.compile(rf"{CLOSE}*\s*(?:$|[.,;:!?\n)])")


def canonical(option: str) -> str:
    return re.sub(r"\s+", " ", fold(option)).strip().strip(".。").lower()


def is_spelled(text: str, match: re.Match) -> bool:
    """The match of an option's text is the option, and not a part of another number ("2.5"), of a longer word
    ("non-linear"), or, where it is a word such as "the", a word of the sentence."""
    spelled = match.group(1)
    if _NUMBER_BEFORE.search(text[: match.start(1)]) and spelled[0].isdigit():
        return False
    if spelled[-1].isdigit() and _NUMBER_AFTER.match(text, match.end(1)):
        return False
    if re.search(r"[A-Za-z0-9]-$", text[: match.start(1)]) or re.match(r"-[A-Za-z]", text[match.end(1) :]):
        return False
    return not _FUNCTION_WORDS.fullmatch(canonical(spelled)) or _CLAUSE_END.match(text, match.end(1)) is not None
