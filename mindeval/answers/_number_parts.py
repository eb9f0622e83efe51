"""Several numbers that are parts of one answer, none of them the whole: two clauses that say the same of two things,
the lines of a list, "x = 5; y = 6". English and Chinese side by side."""

from __future__ import annotations

import re

from mindeval.answers._numerals import Number
from mindeval.answers._words import THEREFORE, THEREFORE_ZH, TOTAL, TOTAL_ZH

_WHOLE = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|answer|result|remain\w*|left|net|profit|final\w*|difference|average)(?!\w)"
    rf"|{THEREFORE_ZH}|{TOTAL_ZH}|总|剩|答|结果|最终|差",
    re.IGNORECASE,
)
_SAYS_EN = r"(?:is|are|was|were|has|have|had|gets?|costs?|needs?|weighs?|earns?|pays?)"
_PARALLEL_EN = re.compile(
    rf"[^,;=.]{{0,30}}(?:,|(?<!\w)and(?!\w)|,\s*and(?!\w)|(?<!\w)while(?!\w))\s+"
    rf"(?:the|his|her|its|their|my|(?-i:[A-Z])[a-z]+)(?!\w)[^,;=]{{0,30}}?(?<!\w)(?P<verb>{_SAYS_EN})\s+[$€£¥]?$",
    re.IGNORECASE,
)
_PARALLEL_ZH = re.compile(r"[^,;=\d]{0,6}[,;、](?P<subject>[^\d,;=]{1,10}?)(?P<verb>[是有为得]|今年)$")
_PARALLEL_BARE = re.compile(
    r"\W*(?:答:)?([\u4e00-\u9fff]{1,6})[\d.]+([岁人名只条棵个])[,;、](?P<subject>[\u4e00-\u9fff]{1,6})[\d.]+\2\W*"
)
_ANOTHER_TIME = re.compile(r"但|我|现在|后来|最后|最终|结果|还|只|就|则|那么|平均|每|这时|此时|原|用|它|他|她")


def in_parallel(sentence: str, one: Number, other: Number) -> bool:
    """Two clauses say the same of two things: "The slope is 2 and the intercept is 3", 鸡有23只，兔有12只."""
    gap, before = sentence[one.end : other.start], sentence[: one.start]
    if _WHOLE.search(gap):
        return False
    if (
        (bare := _PARALLEL_BARE.fullmatch(sentence))
        and not re.search("了|每", bare.group())
        and not _ANOTHER_TIME.search(bare.group("subject"))
    ):
        return True
    match = _PARALLEL_EN.fullmatch(gap)
    if match is not None:
        return re.search(rf"(?<!\w){match.group('verb')}\s+[$€£¥]?$", before, re.IGNORECASE) is not None
    match = _PARALLEL_ZH.fullmatch(gap)
    return (
        match is not None and before.endswith(match.group("verb")) and not _ANOTHER_TIME.search(match.group("subject"))
    )


ITEM = "\ue002"  # stands for the mark of a list's item that holds nothing but a number
# "Tom: 5", one line of several: no line is the answer, but for that of the total.
_LINE_OF_LIST = re.compile(
    rf"[ \t]*(?:[A-Za-z\u4e00-\u9fff][^\n:=\d]{{0,30}}\s*[:=]|{ITEM}|\(?[a-z]\))\s*[^\n\d]{{0,3}}\d[^\n=:]{{0,30}}$"
)


def in_list_of_parts(text: str, position: int) -> bool:
    """Whether the line or sentence of ``position`` is one of at least two like "Tom: 5" that end the text."""
    end = re.compile(r"\n|\.\s").search(text, position)
    lines = re.split(r"\n|(?<=\d)\.\s", text[max(0, position - 300) : end.start() if end else len(text)])
    lines = [line for line in lines if line.strip()][-2:]
    named = [_LINE_OF_LIST.fullmatch(line.rstrip(" .。;*")) for line in lines]
    return len(named) == 2 and all(named) and not _WHOLE.search(lines[1])


_PART_NAME = rf"(?:{ITEM}|\(?[A-Za-z\d]{{1,2}}[).]|[①-⑨]|[A-Za-z\u4e00-\u9fff][^\n:=,;.\d]{{0,24}}[:=])"
_NEXT_PART = re.compile(
    rf"[^\n,;.:=\d]{{0,24}}(?:(?P<stop>\.)\s+|;\s*|\n\s*(?={ITEM})|(?={ITEM})"
    rf"|\s(?=\(?[b-z2-9]\)))\s*(?:{_PART_NAME}\s*)?"
    rf"(?P<value>[-+]?\s?[$€£¥]?\d)"
)


def next_part(text: str, start: int, position: int) -> bool:
    """Whether the number from ``start`` to ``position`` is followed by another part of the answer: "; y = 6"."""
    match = _NEXT_PART.match(text, position)
    if match is None:
        return False
    if match.group("stop") and not re.search(r"[^\W\d]\s*[:=]\s*$", text[max(0, start - 8) : start].rstrip("$€£¥")):
        return False  # another sentence, and not the next of "Boys: 5. Girls: 6."
    rest = text[match.end("value") :].split("\n")[0]
    named = re.search(_PART_NAME, text[position : match.start("value")])
    return re.match(r"[\d,.]*\s?(?:[^\s\d=+*/,;.]{1,12}\s?){0,2}(?:$|[,;.\n])", rest) is not None and (
        named is not None or ";" in text[position : match.start("value")]
    )
