"""What a sentence says beside its conclusion: circumstances ("after 3 days"), details ("including a $6 tip"), purposes
("to earn $90"), other parts of the answer, and checks. English and Chinese side by side."""

from __future__ import annotations

import re

from mindeval.answers._numerals import Number, scan
from mindeval.answers._words import THEREFORE, THEREFORE_ZH, TOTAL, TOTAL_ZH

_DETERMINER = (
    r"(?:(?:the|an?|all|these|those|his|her|their|its|our|about|only|just|next|first|last|past|each|every)\s+)"
)
_TIME = (
    r"[\s-]*(?:more |full |whole |school |work\w* )?(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?"
    r"|months?|years?)(?!\w)"
)
# A phrase that begins so says under which circumstance, and goes on to the next mark or verb.
_CIRCUMSTANCE = re.compile(
    r"(?<!\w)(?:after|when|while|once|includ(?:es|ing)|excluding|compared (?:to|with)|(?:down|up) from"
    r"|which (?:includes?|costs?|holds?|contains?|covers?|weighs?)"
    r"|,\s*(?:carrying|holding|using|containing|costing|covering|with|each|working))(?!\w)[^,;:=]*$"
    r"|(?<!\w)(?:left|remaining) from (?:the|his|her|their)\s+$|(?<!\w)(?:each|all|any) of (?:the|his|her|their"
    r"|these)\s+$"
    r"|[,;]\s*(?:其中|包括|含)[^,;:=]*$|[,;]\s*比[^,;:=]*$",
    re.IGNORECASE,
)
_PERIOD = re.compile(rf"(?<!\w)(?:in|for|within|over|during|every|per)\s+{_DETERMINER}{{0,2}}$", re.IGNORECASE)
_SHARE = re.compile(
    rf"\s*(?:[a-z]+\s+)?(?:of|among)\s+(?:all\s+)?(?:the|these|those|his|her|their|our)\s+{_DETERMINER}?$"
)
_PRICE_OF = re.compile(rf"\s*(?:dollars\s*)?(?:(?:per|an?)\s+\w+\s+|each\s+)?for\s+{_DETERMINER}?$", re.IGNORECASE)
# "$64 in total on the 8 glasses", "15 pencils left in her 2 boxes": the sum is said before.
_SUMMED = re.compile(
    rf"[^,;:=\d]{{0,30}}(?<!\w)(?:left|remaining|in total|in all|altogether|overall)\s+(?:on|in|for|to|from|at|among"
    rf"|between|with|by|over|across)\s+{_DETERMINER}{{0,2}}$",
    re.IGNORECASE,
)
_RATE = re.compile(rf"(?<!\w)(?:with|after|at|before|on|of|for)\s+{_DETERMINER}?(?:\w+\s+)?$", re.IGNORECASE)
_LATER = re.compile(r"\s?(?:年|天|日|个?月|周|个?星期|个?小时|分钟?|秒)(?:之|以)?[后前](?![\d半])")
_EDGE = re.compile(r"[,;:=→]|(?<!\w)(?:so|then|but|is|are|was|were|has|have|had|gets?|leaves?|makes?)(?!\w)|[有是为剩]")
_AND = re.compile(r"(?<!\w)(?:and|or|plus|at|of|for)\s+$", re.IGNORECASE)
_LEADING = re.compile(
    rf"^\W*(?:(?:{THEREFORE}|then|and),?\s+)?(?:out )?of\s+(?:(?:the|his|her|their|all|these)\s+){{0,2}}$",
    re.I,
)
_SPEED = re.compile(
    r"\s?(?:mph|kph|km/h|m/s|(?:miles|kilometers|kilometres|km|meters|metres|feet) (?:per|an?) )", re.IGNORECASE
)
_END_OF_CLAUSE = re.compile(r"[,;:=→]|(?<!\w)(?:so|then|but)(?!\w)")
_ABLE = re.compile(
    r"(?<!\w)(?:can|could|will(?! be)|would(?! be)|finish\w*|complet\w*|takes?|took|needs?)(?!\w)", re.IGNORECASE
)

_NEED = re.compile(
    r"(?<!\w)(?:needs?|needed|must|(?:has|have|had) to|requires?|required|takes?|should)(?!\w)[^,;:=]*$"
    r"|(?:需要?|必须|得|要|应该?|分成|排成|装成)[^,;:=有是]*$",
    re.IGNORECASE,
)
_ON_TO = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|then|but|or|more|which (?:is|gives|equals|makes|means))(?!\w)|[=≈→:]"
    rf"|{THEREFORE_ZH}|{TOTAL_ZH}|但|那么|还|再|就是|即",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"(?<!\w)(?<!has )(?<!have )(?<!had )(?<!need )(?<!needs )(?<!able )(?:in order )?to\s+(?!get|give|be|equal"
    r"|the|a|an|[A-Z]|him|her|them|you|me)[a-z]+\s"
)
_WHAT_FOR = re.compile(
    r"(?<!\w)(?:needed|required|necessary|enough)\s+(?:for|to)(?!\w)|足?够|[,;]\s*(?:是|相当于)[^,;:=\d]+的$",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    r"(?:(?:needs?|must|requires?|takes?|buy|have|has|should|can|could|will)(?: \w+){0,3} (?:at (?:least|most)"
    r"|a (?:minimum|maximum) of|up to)"
    r"|(?:至少|最少|至多|最多)(?:还|再|要|需|得|应|能|可|以|够|花|用|买|有|坐|装|租|跑|做|准|备|放){1,4})\s*$",
    re.IGNORECASE,
)
_EXTREME_BEFORE_NEED = re.compile(
    r"(?:\s+[a-z]+){1,3} (?:are|is|were|will be) (?:needed|required|necessary)(?!\w)", re.IGNORECASE
)


def is_extreme(before: str, after: str) -> bool:
    """Of "needs at least 5" and 最多能买5个 the bound is the answer that was asked for."""
    if _EXTREME.search(before):
        return True
    return (
        re.search(r"at (?:least|most)\s*$", before, re.I) is not None and _EXTREME_BEFORE_NEED.match(after) is not None
    )


def details(sentence: str, numbers: list[Number]) -> list[bool]:
    """Whether each number is only a circumstance or a detail of what another number of the sentence says."""
    found: list[bool] = []
    clause = False  # of a verb of its own: "when 17 is divided by 7"
    for place, number in enumerate(numbers):
        before = sentence[numbers[place - 1].end if place else 0 : number.start]
        after = sentence[number.end : number.end + 40]
        before = re.sub(r"[$€£¥(]\s*$", "", before)
        edge = _END_OF_CLAUSE if clause else _EDGE
        spread = place > 0 and found[-1] and len(before) < 40 and not edge.search(before)
        spread = spread and (clause or _AND.search(before) is not None)
        clause = (clause and spread) or re.search(
            r"(?<!\w)(?:when|while|once)(?!\w)[^,;:=]*$", before, re.I
        ) is not None
        found.append(
            _CIRCUMSTANCE.search(before) is not None
            or _LATER.match(after) is not None
            or (place == 0 and (_LEADING.match(before) is not None or _is_leading_period(before, after)))
            or (place > 0 and _is_detail(sentence, numbers[place - 1], number, before, after))
            or spread
        )
    return found


def _is_leading_period(before: str, after: str) -> bool:
    return _PERIOD.search(before) is not None and re.match(_TIME, after) is not None and len(before) < 24


def _is_detail(sentence: str, last: Number, number: Number, before: str, after: str) -> bool:
    if _PERIOD.search(before) and re.match(_TIME, after):
        if _EDGE.search(before):  # the period of another clause: "$5 a week, so in 8 weeks he saves $40"
            return re.match(r"\W*(?:in|for|over|within|during)\s", _EDGE.split(before)[-1], re.IGNORECASE) is not None
        return not re.match(_TIME, before) and not _ABLE.search(sentence[: last.start])
    priced = [re.match(r"[$€£¥]", sentence[one.start : one.end].lstrip("-")) is not None for one in (last, number)]
    return (
        _SHARE.fullmatch(before) is not None
        or _SUMMED.fullmatch(before) is not None
        or (priced == [True, False] and _PRICE_OF.fullmatch(before) is not None)
        or (re.search(r"(?<!\w)at\s+$", before) is not None and _SPEED.match(after) is not None)
        or (number.percent and not last.percent and _RATE.search(before) is not None)
    )


def needs_more(sentence: str, one: Number, other: Number) -> bool:
    """What is needed is said first, and the other number tells what for: "6 hours to earn $90"."""
    gap = sentence[one.end : other.start]
    if _WHAT_FOR.search(gap):
        return True
    if _ON_TO.search(gap):
        return False
    return _NEED.search(sentence[: one.start]) is not None or _PURPOSE.search(gap) is not None


# A sentence that tells how the answer can be seen to be right, or one more fact; the answer is before it.
_CHECK = re.compile(
    r"(?:^|(?<=[\n.。!?;]))\s*(?:(?:to|let(?:'s| us| me)|we can) )?(?:double[- ])?(?:check(?:ing)?|verif(?:y"
    r"|ication|ying)|proof"
    r"|sanity check)(?!\w)[^\n]*"
    r"|(?:^|(?<=[\n.。!?;]))\s*(?:验算|检验|验证|检查|核对)[^\n]*",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|answer|result|but|no|not|wrong|mistake|error|actually|should)(?!\w)"
    rf"|{THEREFORE_ZH}|{TOTAL_ZH}|答|结果|错|不对|应",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"\s*(?:(?:each|every|one|an?)\s[\w\s]{0,30}?(?:holds?|contains?|costs?|weighs?|covers?|carr(?:y|ies)|fits?"
    r"|has|seats?)(?!\w)"
    r"|每[^\d,]{1,8}(?:装|有|能|可|坐|卖|价|重))",
    re.IGNORECASE,
)
_GIVEN_UP = re.compile(
    r"(?<!\w)(?:(?:i|we)(?:'m| am| are|'re)? (?:cannot|can't|can not|could not|couldn't|unable to|not able to"
    r"|do not|don't|not sure how to)"
    r"(?: \w+)? ?(?:solve|answer|determine|find|calculate|compute|know|help|provide|figure)"
    r"|(?:not enough|insufficient) (?:information|data|details)|(?:cannot|can't) be (?:solved|determined"
    r"|answered|calculated))(?!\w)"
    r"|无法(?:求解|确定|计算|回答|解答|得出|解决|判断)|(?:条件|信息)(?:不足|不够)|不会做|我不知道",
    re.IGNORECASE,
)


def gives_up(text: str) -> bool:
    """The text says that it has no answer, and concludes none after that."""
    places = list(_GIVEN_UP.finditer(text))
    return bool(places) and not re.search(
        rf"(?<!\w)(?:{THEREFORE}|but|however|answer|result)(?!\w)|=|{THEREFORE_ZH}|但|答案|结果",
        text[places[-1].end() :],
        re.IGNORECASE,
    )


def without_check(text: str) -> str:
    """The text up to where it checks its answer, if it concludes nothing after that."""
    for match in list(_CHECK.finditer(text))[-20:]:  # more are a model that repeats itself
        before, rest = text[: match.start()], text[match.start() :]
        if any(True for _ in scan(before)) and not _CONCLUSION.search(rest):
            return before
    return text


def is_fact(sentence: str) -> bool:
    return _FACT.match(sentence) is not None


def is_need(sentence: str) -> bool:
    return any(_NEED.search(sentence[: number.start]) for number in scan(sentence))
