"""Where several options are chosen: answers that a list goes on naming with their texts ("B. Iron, C. Zinc")."""

from __future__ import annotations

import re

from mindeval.answers._doubts import doubt_after
from mindeval.answers._labels import DENIED_AFTER, Reader
from mindeval.answers._verdicts import verdict_at

_MARK = r"(?:(?<=\))[ \t]*|\s?[.):、][ \t]*|[ \t]*(?=\())"  # what stands between a label and its option's text
_TEXT = r"(?P<text>[^\n.;。]{1,120}?)"
_LINE = r"[.;。]?\n[ \t]*(?:[-•*][ \t]*)?"
_WORD = r"[ \t]*(?:[,;、]?[ \t]*(?:and|&|和|以?及|与)|[,;、])[ \t]*"
_NEXT = re.compile(rf"{_MARK}{_TEXT}(?:{_LINE}|{_WORD})[(]?(?P<label>[A-Za-z])(?={_MARK}\S)", re.IGNORECASE)
_LAST = re.compile(rf"{_MARK}{_TEXT}[.;。]?[ \t]*(?:\n[ \t]*\n|$)")
# A text that says something of its option is no list's.
_SAYS = re.compile(r"(?<!\w)(?:not|no|is|are|was|were|wrong|incorrect|false)(?!\w)|n't|[不错非误]", re.IGNORECASE)


def listed_on(text: str, end: int, label: str, reader: Reader) -> list[str]:
    """The labels after ``label``, which ends at ``end``, that a list of answers goes on with; none where what follows
    is said of the options ("B. Iron\\nC is wrong")."""
    order, found = list(reader.labels.values()), [label]
    while following := _NEXT.match(text, end):
        one = reader.labels.get(following["label"].upper())
        if one is None or order.index(one) <= order.index(found[-1]) or _SAYS.search(following["text"]):
            return []
        end = following.end("label")
        if DENIED_AFTER.match(text, end) or verdict_at(text, end) or doubt_after(text, end):
            return []
        found.append(one)
    last = _LAST.match(text, end)
    return found[1:] if last and not _SAYS.search(last["text"]) else []
