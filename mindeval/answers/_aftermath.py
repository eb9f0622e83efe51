"""What is said after an answer, in English and Chinese: corrections, which lead to another answer, and retractions."""

from __future__ import annotations

import re

_BEGINS = (
    r"(?:(?<=[\n.,;:!?。、—–\-(])|^)\s{0,3}"
    r"(?:(?:but|and|oh|ah|well|um+|uh+|hmm+|so|然而|但是?|可是|哦|噢|啊|呃|嗯|哎呀?|唉)[\s,.…]{0,4}){0,3}"
)
# The writer starts again with other words: what follows replaces what was said.
_CORRECTION = re.compile(
    r"(?<!\w)(?<!if )(?<!whether )(?<!in case )(?:oops|whoops|scratch that|strike that|my (?:bad|mistake|apologies)"
    r"|i (?:was|am) (?:wrong|mistaken)|i stand corrected"
    r"|i (?:mis(?:read|spoke|typed|counted|calculated|took)|take (?:that|it) back|retract|apologi[sz]e"
    r"|meant?(?! that| to)"
    r"|made (?:a|an) (?:\w+ )?(?:mistake|error|slip|typo))"
    r"|make (?:that|it)(?=\W+[(\[]?[A-Z](?!\w))|change (?:that|it|my answer|this) to|chang(?:e|ed|ing) my (?:mind"
    r"|answer)"
    r"|on (?:second thoughts?|reflection)|let me (?:correct|revise|change|rephrase)"
    r"|i(?:'d| would| will|'ll)? (?:rather |now )?(?:revise|correct|change|switch|withdraw)"
    r"|(?:revised|corrected|updated|new) answer|(?:edit|update|erratum|correction|typo)(?=\s*[:,—–-])"
    r"|or rather)(?!\w)"
    r"|(?:更正|纠正|修正|改正|订正)(?=一?下?[::,为])|改(?:为|成|选|填)(?=\W*[A-Z](?![A-Za-z]))|改(?:口|答案|一下"
    r"|主意)|应为(?=\W*[A-Z](?![A-Za-z]))"
    rf"|(?:我|{_BEGINS})(?:刚才|刚刚|前面|之前|可能|好像|是)*[说写算看搞弄想记打答选]错了?|我错了|口误|笔误|手误"
    rf"|(?:我|答案|上述|刚才|{_BEGINS})[^,。]{{0,4}}(?:收回|撤回|作废|推翻)|(?:收回|撤回|推翻)(?:前面|刚才|上面"
    rf"|之前|我|这|上述|该)"
    rf"|[哦噢啊呃诶]\s*,?\s*不(?=[,是对。!应]|$)|(?:{_BEGINS})(?:不对|不不|错了|抱歉|对不起|不好意思)(?=[,。!…\s]|$)",
    re.IGNORECASE,
)
# The writer looks again: what was said stands unless something else is said.
_SECOND_LOOK = re.compile(
    r"(?<!\w)(?:wait|hold on|hang on|actually|sorry|re-?reading|looking (?:again|closer|back)|thinking about it"
    r"|come to think"
    r"|let me (?:re-?\s?(?:check|consider|think|do|examine|read|calculate|evaluate|visit)|double[- ]check|verify"
    r"|see|think again"
    r"|look again))(?!\w)"
    rf"|(?:{_BEGINS})(?:no|nope|nah)(?=\s*[,.!;:—–-])"
    rf"|(?:{_BEGINS})(?:等等|等一下|等下|慢着|且慢|其实|实际上|再想想|仔细一?想|重新(?:考虑|检查|思考|计算|审题|看)"
    rf"|再(?:检查|看)一?[下遍])",
    re.IGNORECASE,
)
# Another option is offered beside the answer.
_ALTERNATIVE = re.compile(
    r"(?:^\s{0,3},?\s?or|[.!?;…\n]\s{0,3}(?:or|alternatively|then again))(?!\w)"
    r"|[,。;\n]\s?(?:或者?|抑或|也可能)"
)
_INTERRUPTED = re.compile(
    r"(?:(?<!\w)(?:wait|hold on|hang on|no|nope)|等等|等一下|等下|慢着|且慢)[\s.,…!。—-]*$"
    r"|(?<!\w)let(?: me|'s| us) (?:now )?(?:re-?\w+|double[- ]check|(?:check|think|look|try|calculate|compute|go)"
    r"(?: \w+){0,3} again|think (?:again|more))(?: (?:this|that|it|my|the|answer|work|calculations?|question|problem))*"
    r"[\s.,:…!-]*$"
    r"|(?:让我|我|我们)?(?:再|重新)(?:仔细)?(?:想|考虑|检查|计算|算|看|思考|审题|分析)[^,。\n]{0,4}[\s,.…!。:]*$",
    re.IGNORECASE,
)
# The writer judges what was just said: a sentence that begins with "this is wrong".
_THEN = (
    r"(?:(?:^|[.;!?\n。,:—–(-])\s{0,3}|(?<!\w)(?:but|however|although|though|yet|and)\s+)"
    r"(?:(?:but|however|although|actually|no|wait|oh|and|yet|though|unfortunately|sorry|hmm"
    r"|(?:i (?:now )?)?(?:think|believe|reali[sz]e|see|know|admit))"
    r"[\s,]+(?:that\s+(?=\w+ (?:answer|is|was)))?){0,6}"
)
_SAID_EN = (
    r"(?:that(?: answer| choice| one| option)?|this(?: answer| choice| one| option)?|it|which|my (?:\w+ )?(?:answer"
    r"|choice|reasoning|response|guess)"
    r"|the (?:answer|choice|above(?: answer)?|previous answer)(?: above| i (?:just )?gave)?|everything above"
    r"|what i (?:just )?(?:said|wrote))"
)
_SOFTENED = (
    r"(?:(?:actually|clearly|obviously|definitely|also|totally|completely|just|simply|probably|an?|the|likely|most"
    r"|in fact"
    r"|however|plainly|quite|exactly|really|at all|entirely)\s+){0,6}"
)
_RETRACTION = re.compile(
    rf"{_THEN}{_SAID_EN}(?:"
    rf"(?:'s|\s+(?:is|was|seems|looks|must be|would be|sounds|has to be|may be|might be"
    rf"|turns out to be))\s+{_SOFTENED}"
    rf"(?:wrong|incorrect|false|not\s+{_SOFTENED}(?:right|correct|true|it|case|answer|possible|what i \w+)"
    rf"|mistaken?|errors?|untrue"
    r"|invalid|inaccurate|lie|nonsense|erroneous|joke|sarcasm|impossible)"
    rf"|(?:\s+(?:cannot|can't|can not|could not|couldn't)\s+be|\s*(?:isn't|wasn't)|\s+(?:does not"
    rf"|doesn't)\s+(?:seem|look|sound)(?: to be)?)\s+"
    rf"{_SOFTENED}(?:right|correct|true|it|case|answer|possible|valid|good))(?! (?:that|to|for|of|in|about"
    rf"|because (?:it|the|all))(?!\w))(?=\W|$)"
    r"|(?:^|[.!?\n])\s{0,3}(?:wrong|incorrect|false|not (?:really|correct|true|right|quite))(?=\s*(?:[.!\n]|$))"
    r"|none of (?:the(?! (?:other|remaining|rest))|these|them|those)(?:\s+\w+){0,2}\s+(?:is|are|was|were) (?:right"
    r"|correct|true)"
    r"|(?:there is|there's) no (?:correct|right) (?:answer|option)"
    r"|(?:这|那|此|该答案|上面|上述|以上|前面|我的)(?:个|样|种|一)?(?:的)?(?:答案|选项|回答|结论|判断|选择|推理)?"
    r"(?:其实|实际上|显然|肯定|一定|完全|明显|当然|就|都|也|可能|根本)*(?:是|有)?(?:个)?"
    r"(?:错|不对|不正确|不成立|有误|误|假的|不可能|不是(?:正确|真|答案|对)|问题的)(?!的?(?:说法|表述|观点|选项))"
    r"|(?:四个|所有|以上|这些)(?:选项|答案)?(?:都|均|全)(?:不对|不正确|错)|没有(?:一个)?正确(?:答案|选项|的选项)"
    r"|(?:^|[,。!;\n])\s{0,3}(?:并非如此|不是这样|事实并非|错[!。]|错了)",
    re.IGNORECASE,
)
# The writer did not mean it.
_WITHDRAWAL = re.compile(
    r"(?<!\w)(?:(?:just |only )?(?:kidding|joking)|j/k|jk|psych|or (?:is|was) it|or not"
    r"|i (?:doubt|no longer believe|cannot believe|can't believe|do not believe|don't believe|don't think"
    r"|disagree with|reject|deny) (?:that|it|this"
    r"|so)(?: answer)?(?=\s*(?:$|[.!,;\n]|(?:is|was) (?:right|correct|true)))"
    r"|(?:but|though|although)[ ,]+(?:i(?:'m| am) not (?:\w+ )?(?:sure|certain|confident)|i (?:could|may"
    r"|might) be (?:wrong|mistaken))"
    r"|i(?:'m| am) not (?:\w+ )?(?:sure|certain|confident)(?: (?:about|of|in) (?:this|that|it"
    r"|my answer))?(?=\s*(?:[.!\n]|$))"
    r"|(?:not|never)\s*!+|ignore (?:that|this|my|the (?:above|previous))|disregard (?:that|this|my|the)"
    r"|forget (?:that|it|what i)|never ?mind"
    r"|i(?:'m| am) (?:lying|wrong|mistaken)|i was lying)(?!\w)"
    r"|[(,。]\s{0,3}(?:但?我?(?:也|还)?不(?:太|是很|敢|能)?(?:确定|肯定)|存疑|待定|仅供参考)(?=[,。!)\s]|$)"
    r"|(?:我|刚才|上面|以上)[^,。]{0,6}(?:错了|有误|不对|不算|瞎)|开(?:个)?玩笑|逗你|骗你|说着玩|不算数"
    r"|(?:^|[,。!;\n])\s{0,3}(?:其实|实际上|应该|好像|恐怕|也许)并?不(?:是|对)(?=[。,!;\s]|$)"
    r"|(?:^|[,。!;\n])\s{0,3}(?:才怪|才不是)|我不(?:信|这么|这样|太?同意)",
    re.IGNORECASE,
)


def last_correction(text: str, start: int = 0) -> int | None:
    """Where the last correction after ``start`` ends, if there is one."""
    return max((match.end() for match in _CORRECTION.finditer(text, start)), default=None)


def restarts(text: str) -> list[int]:
    """Where each correction and each second look ends, in order."""
    return sorted(match.end() for pattern in (_CORRECTION, _SECOND_LOOK) for match in pattern.finditer(text))


def second_look(text: str, start: int) -> int | None:
    """Where the first second look after ``start`` ends, if there is one."""
    match = _SECOND_LOOK.search(text, start)
    return match.end() if match else None


def alternative(rest: str) -> str:
    """What is offered beside an answer, in the words after it ("Or B.")."""
    match = _ALTERNATIVE.search(rest.lower())
    return rest[match.end() : match.end() + 40] if match else ""


def retraction(rest: str) -> int | None:
    """Where what follows an answer takes it back: judges it wrong, or withdraws it."""
    judged = _RETRACTION.search(rest)
    starts = [start for start in (judged.start() if judged else None, withdrawn(rest)) if start is not None]
    return min(starts, default=None)


def withdrawn(rest: str) -> int | None:
    """Where what follows an answer says that it was not meant, or breaks off in the middle of doing so."""
    found = _WITHDRAWAL.search(rest)
    if found is None and _INTERRUPTED.search(rest[-60:]):
        return len(rest)
    return found.start() if found else None
