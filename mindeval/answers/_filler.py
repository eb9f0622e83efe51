"""What may stand between the words that announce an answer and the answer, and what of it denies or hedges it."""

from __future__ import annotations

import re

from mindeval.answers._words import THEREFORE

_FILLER = re.compile(
    rf"\s*(?:[:=\-–—~→>\"'“”]|,(?=\s*(?:{THEREFORE}|then|of course|is|in|as|i)(?!\w))|i\s+(?:think"
    r"|believe|say)(?!\w)|"
    r"(?:is|are|was|were|be|being|would|should|must|will|has|to|ist|lautet|est|es|é|è|are|seems?|appears?|remains?|of"
    r"|with|as|like"
    rf"|{THEREFORE}|then|clearly|obviously|definitely|probably|certainly|likely|most|simply|just"
    r"|indeed|actually|really"
    r"|indicated|given|represented|labell?ed|marked|denoted|found|shown|by|in|only|still|both|all|either|think"
    r"|believe|that|it"
    r"|the|my|final|correct|right|best|option|options|choice|choices|letter|letters|answer|answers|case|course"
    r"|number|following|one|ones)(?!\w)|'s(?!\w)"
    r"|(?:最终|正确|的|答案|应该|应当|应|该|显然|就|才|只能|只有|可以|是|为|即|选项|选择|选|项|有|包括|包含|如下"
    r"|如下所示|一项|字母|个|了|は|我|认为|分别|第|以下|说法)"
    r")",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\s*(?:(?:is|are|was|were|can|could|would|should|do|does|did|will)?(?:\s*not|n't)(?!\w)|cannot(?!\w)"
    r"|never(?!\w)|neither(?!\w)|anything but(?!\w)|far from(?!\w)|hardly(?!\w)"
    r"|(?:绝|决|并|根本|肯定|一定|显然)?不(?:一定|太?可能|见得|应该|应当|应|该|会|能|可以|可)?(?:是|为|选择|选)?"
    r"|[并绝决]?非|没有|未必|不见得)",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\s*(?:(?:might|may|could|can|perhaps|maybe|possibly|arguably|either|supposedly|allegedly|plausibly"
    r"|conceivably)(?!\w)|也?可能|也许|或许|大概|似乎|好像|要么|恐怕)",
    re.IGNORECASE,
)
_STEPS = 12  # fillers between a cue and its answer; "answer answer answer" without end is no statement


def skip_filler(text: str, position: int) -> tuple[bool, bool, int]:
    """(a negation was passed, a hedge was passed, where the answer begins)."""
    denied = hedged = False
    for _ in range(_STEPS):
        negation, hedge = _NEGATION.match(text, position), _HEDGE.match(text, position)
        if negation and negation.end() > position:
            denied, position = True, negation.end()
        elif hedge:
            hedged, position = True, hedge.end()
        elif filler := _FILLER.match(text, position):
            position = filler.end()
        else:
            break
    return denied, hedged, position
