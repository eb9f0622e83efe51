"""What becomes of a number that was stated where the text goes on and takes it back or corrects it."""

from __future__ import annotations

import re
from collections.abc import Callable

from mindeval.answers._numerals import Number, scan

_REJECTED = re.compile(
    r"\n[ \t$]*(?:(?:is|was|would be)\s+(?:\w+ly\s+)?(?:not|wrong|incorrect|impossible|too)(?!\w)|(?:显然"
    r"|明显)?(?:不对|不是|是错|错))"
)
# The text takes back what it said, or only looks at it again.
RETRACTED = re.compile(
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


def corrected(stated: Number, rest: str, last_number: Callable[[str], Number | str]) -> Number | str:
    """What becomes of a stated number where the text goes on: "Wait, I made an error, it is 7"."""
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
