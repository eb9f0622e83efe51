"""What becomes of a stated number where the text goes on: it is rejected, taken back, corrected, or looked at again."""

from __future__ import annotations

import re

from mindeval.answers._number_conclusion import RETRACTED, last_number
from mindeval.answers._numerals import Number, scan

_REJECTED = re.compile(
    r"\n[ \t$]*(?:(?:is|was|would be)\s+(?:\w+ly\s+)?(?:not|wrong|incorrect|impossible|too)(?!\w)|(?:显然"
    r"|明显)?(?:不对|不是|是错|错))"
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


def corrected(stated: Number, rest: str) -> Number | str:
    """The number that stands after what follows it: "Wait, I made an error, it is 7"."""
    strong = list(RETRACTED.finditer(rest))
    weak = list(_RECHECKED.finditer(rest))
    if _REJECTED.match(rest):
        return "unclear number"
    if not strong and not weak:
        return stated
    begin = (strong or weak)[-1].end()
    later = last_number(rest[begin:])
    if isinstance(later, Number):
        place = rest.rfind("\n", 0, begin)
        number = next((n for n in reversed(list(scan(rest))) if n.value == later.value), later)
        explicit = _EXPLICIT.search(rest[max(0, place, number.start - 24) : number.start])
        told = explicit and (strong or explicit.group().strip(" $") not in ("=", ":"))
        return stated if later.value == stated.value else later if told else "unclear number"
    if later or strong:
        return "unclear number"
    return stated
