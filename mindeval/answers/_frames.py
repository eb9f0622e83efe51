"""Statements about something else than what was asked: another question, another time or place, other circumstances."""

from __future__ import annotations

import re

_ORDINAL = r"(?:previous|next|first|second|third|fourth|last|other|preceding|earlier|later|another)"
_QUESTION = (
    rf"(?:(?:{_ORDINAL}\s+(?:questions?|problems?|exercises?|parts?|items?|examples?))"
    r"|(?:questions?|problems?|exercises?|parts?|items?)\s*#?\s*(?:\d+|\([a-z\d]+\)|[a-z](?![\w']))"
    r"|\([a-z\d]{1,2}\)(?=\s*(?:,|is|was|are|$)))"
)
_QUESTION_ZH = r"(?:第[\d一二三四五六七八九十]+(?:小?题|问|空)|(?:[上下前后]一?|另一?|其他)(?:小?题|问|道题?))"
# What precedes the statement in its sentence.
_BEFORE = re.compile(
    rf"(?<!\w)(?:in|for|on|to|of|as for|with|from|see)\s+(?:the\s+)?{_QUESTION}[^.;]{{0,40}}$"
    r"|^\W*(?:(?:but|and|while|note that)\W+)?(?:without|ignoring|neglecting|disregarding|under|until|till|before"
    r"|prior to|traditionally|historically|formerly|in (?:the past|\d{4})"
    r"|(?-i:[Ii]n (?:the )?[A-Z][\w.]+(?: [A-Z]\w+)?,))"
    rf"(?!\w)[^.;]*$|{_QUESTION_ZH}[^。;]{{0,8}}$|(?:不考虑|忽略|不计|如不计)[^。;]{{1,16}}$"
    r"|(?:以前|过去|从前|旧|早期|传统)[^,。;]{0,6}$",
    re.IGNORECASE,
)
# What the statement itself is about: "the answer to part (b) is", "the answer was".
_WITHIN = re.compile(rf"(?<!\w)(?:to|for|of|in)\s+(?:the\s+)?{_QUESTION}|(?<!\w)(?:was|were)(?!\w)", re.IGNORECASE)


def is_elsewhere(sentence: str, statement: str) -> bool:
    """Whether a statement, behind the words of its sentence before it, is limited to something else."""
    return _BEFORE.search(sentence) is not None or _WITHIN.search(statement) is not None
