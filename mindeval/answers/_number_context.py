"""What a sentence says about its numbers: which one it concludes with, and which are denied, supposed, bounds, labels,
operands, parts of something, or said in passing. English and Chinese side by side, grouped by meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindeval.answers._number_details import is_extreme
from mindeval.answers._numerals import Number
from mindeval.answers._words import PEOPLE, PEOPLE_ZH, THEREFORE, THEREFORE_ZH, word

# "step 5", "equation (3)", "第5题": names, not quantities.
_LABEL = re.compile(
    r"(?:(?<!\w)(?:steps?|questions?|problems?|exercises?|equations?|eqs?\.?|formula|figures?|fig\.?|tables?|chapters?"
    r"|sections?|pages?|parts?|cases?|options?|choices?|lines?|examples?|items?|notes?|refs?\.?|references?|theorem"
    r"|lemma|methods?|version|rule|no\.|row|column|level|grade|round|attempt|try|iteration|statements?|clues?)"
    r"\s*[(\[#:（]?\s*|(?<!\w)#\s?|(?:步骤|问题|题目?|图|表|公式|方程|等式|方法|例|选项|条件|章|节|页"
    r"|式)\s*[(\[（]?\s*|[\w.。,)]\[)$",
    re.IGNORECASE,
)
_LABEL_AFTER = re.compile(r"\]?\)?\s*(?:[-,]\s*\d+\s*)*\]")
# "not 5", "不是5"; "5 is wrong", "5不对".
_DENIED = re.compile(
    r"(?<!\w)(?:not|never|neither|nor|no|nobody|no one|none of|nothing|hardly|cannot|rather than|instead of"
    r"|except|without|anything but|far from|doubt\w*|disagree\w*|disput\w+"
    r"|unlikely|unsure|wrong\w*|incorrect\w*|mistak\w+|false|claim\w*|rul\w+ out|exclud\w+|reject\w*|deny|denies"
    r"|denied)"
    r"(?!\w)|n't(?!\w)|\\neq?(?![a-z])|≠|!="
    r"|不(?!但|仅|过|只|妨|断|久|同|足|少|到|超|等(?:式|号|边|分))|并?非(?!常)|没有|没(?!收)|未必|怀疑|错"
    r"|误(?!差)|否认|排除|而不|难以",
    re.IGNORECASE,
)
# "some say 5", "有人说是5".
_SAYS = r"(?:says?|said|claims?|thinks?|thought|believes?|guess\w*|answers?|answered)"  # "holds 12 cups" is no opinion
OPINION = re.compile(
    rf"(?<!\w)(?:{PEOPLE}|\w+'s|his|their|your)(?:\s+\w+)?\s+(?:(?:might|may|would|could|will|often)\s+)?{_SAYS}(?!\w)"
    rf"|(?-i:(?<!\w)(?!We|I\b)[A-Z][a-z]+) {_SAYS}(?!\w)"
    rf"|(?:{PEOPLE_ZH}|某人|别人)(?:可能|会|都|也)?(?:说|认为|觉得|以为|猜)",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"(?:(?!而)[\w%°]){0,12}\s*(?:(?:is|was|are|were|would be|seems?|looks?|can|could|does|did|do|would|should"
    r"|must|has|that'?s"
    r"|为|是|答案|显然|明显|肯定|的)\s*){0,3}"
    r"(?:(?:clearly|obviously|definitely|also|just|certainly)\s*)?"
    r"(?:not(?!\w)(?!\s*[-$]?\d)|n't|never|cannot|wrong|incorrect|impossible|false|too\s+(?:\w+)|invalid|excluded"
    r"|ruled out|a mistake"
    r"|an error|off\s*[.,]|(?:before|earlier|previously|originally|at first|initially)\s*[,;.]|不(?:对"
    r"|是(?!\s*[-$]?\d)|行|可能|正确|成立|符合|合理)|错|有误|太[大小多少])",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"(?<!\w)(?:but|rather|instead|it'?s|is|should be|must be)(?!\w)|而是|是|应|为")
# "more than 5", "至少5"; "5 or more", "5以上".
_BOUND = re.compile(
    r"(?:(?<!\w)(?:(?:more|less|fewer|greater|higher|lower|larger|smaller|bigger|older|younger|other|better) than"
    r"(?: or equal to)?|at (?:least|most)|over|under|above|below|beyond|exceed(?:s|ing)?|up to|no (?:more|less"
    r"|fewer) than"
    r"|a (?:maximum|minimum) of|within|nearly|almost|between|from|either|among|before|after|until|since)\s*"
    r"|(?<![-=])[<>]=?\s*|[≤≥≦≧]\s*|\\(?:l|g)(?:eq?|t)?(?:slant)?\s+"
    r"|(?:不到|不足|超过|至少|至多|最多|最少|不?大于|不?小于|不?多于|不?少于|不?高于|不?低于|介于|在|从|接近|将近"
    r"|[大小多少高低]于)[是为]?\s*)"
    r"(?:the|a|about|around|roughly|约|大约)?\s*$",
    re.IGNORECASE,
)
_BOUND_AFTER = re.compile(
    r"\s*[A-Za-z%°\u4e00-\u9fff]{0,12}?\s*(?:(?<!\w)or (?:more|less|fewer|greater|above|below|higher|lower|over"
    r"|so)(?!\w)"
    r"|(?<!\w)(?:at (?:most|least)|max(?:imum)?|min(?:imum)?|tops)(?!\w)|(?:及|或)?以[上下内外]|开外|左右各)"
    r"|\+(?!\s*[\w(\\])|\s*(?:<|>|≤|≥|\\[lg]eq?(?![a-z]))",
)
# "half of 12", "the square root of 16", "5 squared", "3 and a half": the value is another one.
_CHANGED = re.compile(
    r"(?<!\w)(?:depends? (?:up)?on|half|thirds?|quarters?|fourths?|fifths?|twice|double|triple|thrice"
    r"|squared?(?: root)?|cubed?(?: root)?"
    r"|roots?|log(?:arithm)?|ln|sin|cos|tan|sqrt|reciprocal|inverse|opposite|negative|sum|product|difference|quotient"
    r"|multiple|divided|times|plus|minus|modulo|mod|factorial|remainder|average|multiplied|subtracted|added"
    r"|adding|adds?"
    r"|subtract(?:ing)?|multiply(?:ing)?|divid(?:e|ing)|power)"
    r"(?:\s+(?:of|by|from|to|and|as much as|as many as|the|a|when))*\s*[({]?\s*$"
    r"|(?:取决于|根据|一半|平方根?|立方根?|倒数|相反数|根号|绝对值|加上?|减去?|乘以?|除以|负)\s*[是的]?\s*$",
    re.IGNORECASE,
)
_CHANGED_AFTER = re.compile(
    r"\s*-?(?:(?:more|less|fewer|greater|older|younger|higher|lower|longer|shorter) than|squared|cubed|factorial"
    r"|plus|minus|mod(?:ulo)?|choose|divided|multiplied|times\s+(?:the|as|that"
    r"|more|[a-z]\b)"
    r"|[A-Za-z]*\s*and (?:a |one )?(?:half|quarter|third)|(?:halves|quarters?|thirds?|fourths?|fifths?|tenths?"
    r"|hundredths?)(?!\w)"
    r"|out of|in (?:every )?\d+(?!\s*(?:more |full )?(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?"
    r"|years?))|\(?(?:binary|octal|hexadecimal)|in (?:binary|octal|hex\w*|base)|\(?\\?[bp]?mod|mil)(?!\w)"
    r"|\s?[(（]?二进制|\s?[(（]?(?:八|十六)进制"
    r"|[^\W\d_]?半|的(?:平方|立方|一半|阶乘|倍数|倒数)|[加减乘除](?!入|少|了)"
    r"|-?ish(?!\w)|-odd(?!\w)|[余来](?=[^\W\d_])|[^\W\d_]?多(?![少边次种云])",
    re.IGNORECASE,
)
# An operator or a command on either side: a part of an expression.
_OPERATED = re.compile(
    r"(?:(?:[\w)\]}%!°]|^)\s*[+*/×÷^]|[\d)\]}%]\s*-|(?<![A-Za-z])[A-Za-z]\s+-|[√∛_^·∙]|\|(?=-?$)|\\(?!(?:text"
    r"|approx|to|left|mathrm|quad"
    r"|qquad|displaystyle|therefore|because|implies|[Rr]ightarrow|Longrightarrow|big|Big|sim|euro|pounds|dollar|space)"
    r"(?![A-Za-z]))[A-Za-z]+(?:\[\d+\])?(?:[_^](?:\{[^{}]*\}|\w))*\s*[({\[]?|(?:^|[^\w)\]])-\s*(?=\()"
    r"|\\begin\{\w+\}|(?<!\w)[A-Za-z]\(|(?:log|ln|sin|cos|tan|sqrt|max|min|gcd|lcm|abs|exp)\s*\()"
    r"\s*[-(]?\s*$"
)
_OPERATOR = re.compile(
    r"[)\]}]?\s*(?:[*/×÷^√_]|\\\\|[+-](?=\s*[\w(\\{])|!(?!=)|\\(?!(?:circ|degree|text|mathrm|mbox|quad|qquad"
    r"|right|approx|to|implies"
    r"|[Rr]ightarrow|Longrightarrow|therefore|because|Omega|mu|euro|pounds|dollars?|percent|end|big|Big|space"
    r"|hspace|l?dots"
    r"|le?q?|ge?q?|neq?)(?![A-Za-z]))[A-Za-z]+)|\.?\\(?:overline|dot|bar)|[₀-₉]"
    r"|[)\]}]?\s*[(\[{](?=\s*[-+]?[\dA-Za-z]+\s*[-+*/])"
)
_TIME_OR_UNIT = re.compile(r"\s*(?:[°℃℉]|\^\s?\{?\s?(?:\\circ|o(?![a-z]))|/\s?[A-Za-z\u4e00-\u9fff])")
# "3h20m", but not "5m2", which is an area
_COMPOUND_UNIT = re.compile(
    r"(?!(?:[kcdm]?m|ft|in)[23](?![\dA-Za-z]))(?:h|hrs?|m|mins?|ft|d|lbs?|kg|km|cm|g|yrs?|wks?)\.?\d"
)
_GLUED = re.compile(r"([A-Za-zπθαβ]+)|\s([b-zπθαβ]|pi)(?![\w'.])")
_UNIT_NAMES = (
    "m g s h L km cm mm dm nm kg mg lb lbs oz ml mL cL dl hr hrs min mins sec ft mi yd in kW kWh mW W V J Hz kHz MHz"
    " GHz GB MB KB TB px pt kN Pa kPa hPa kJ cal mol am pm ms ns mph kph bps fps pcs yr yrs wk d usd USD eur EUR rmb"
    " RMB"
)
_UNITS = frozenset(_UNIT_NAMES.split())
_FUNCTIONS = re.compile(r"(?:pi|sqrt|log|ln|sin|cos|tan|cot|exp|mod|choose|frac|times|div)(?![a-z])")
# How two numbers belong together: ranges, alternatives, lists, compounds.
_UNIT_WORDS = r"(?:\s?[A-Za-z%°$²³]+\.?(?:\s[A-Za-z%°²³]+)?|\s?[^\W\d_A-Za-z]{1,6}?)?"
_JOINED = re.compile(
    rf"{_UNIT_WORDS}\s*,?\s*(?:(?<!\w)(?:or|and|to|versus|vs\.?|through|till|until|and/or|nor|plus|minus|by"
    rf"|out of|in)(?!\w)|或者?|和|与|及|到|至|跟|又|还是"
    r"|[-~—+*/×÷·^、,:;±]|\\(?:times|cdot|div|pm|sim|,)|\s-\s)\s*"
    r"(?:(?:maybe|perhaps|possibly|even|about|the|a|possibly|也?可能是?|也许是?|是|约|大约|[A-Za-z]\w{0,3}\s*=|steps?"
    r"|[$€£¥])\s*){0,3}",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"\s?(?!(?:is|are|was|were|equals?|gives?|makes?|gets?|has|have|had|costs?|pays?|takes?|needs?|earns?"
    r"|saves?)\s)(?:[A-Za-z'\"′″]+\.?\s|[^\W\d_A-Za-z]{1,2}\s?"
    r"|['\"′″°]\s?|\s)"
)
# Said in passing: in brackets, or giving a reason or a condition.
_REASON = (
    r"(?<!\w)(?:where|since|because|given|considering|by|using|as|when|while|for|with|at|provided|due to"
    r"|thanks to|after"
    r"|before|out of|assuming|once|taking)(?!\w)|其中|由于|因为|因(?![此而数式子素果])|当(?!然|天|地|中|年|日|初)"
    r"|考虑到|已知|此时|对于|取(?=\s*[A-Za-z])"
)
_SUPPOSED = (
    r"(?<!\w)(?:if|suppose|supposing|assume|let(?! me| us|'s)|whether|unless|imagine|(?<!\w )had (?:the )?[a-z]+"
    r"|(?:w|sh|c)ould have been|(?<=, )say,?|(?<!.)say)(?!\w)"
    r"|如果|假如|假设|假使|倘若|若(?!干)|要是|是否|是不是|为什么|令(?!人)|设(?=\s*[A-Za-z])"
)
_PASSING = re.compile(rf"(?P<supposed>{_SUPPOSED})|{_REASON}", re.IGNORECASE)
_HEDGED = re.compile(
    r"(?<!\w)(?:might|may|could|perhaps|maybe|possibly|i guess|guess(?:ing|ed)?)(?!\w)|可能|也许|或许|没准|说不定",
    re.IGNORECASE,
)
_PASSING_END = re.compile(
    r",(?!\d)(?!\s*(?:and\s+|且|和)?[A-Za-z]\w?\s*(?:=|is\s))|(?<!\w)(?:then|we (?:get"
    r"|have)|(?<=\d )the (?:answer|result))(?!\w)"
    rf"|{word(THEREFORE)}|{THEREFORE_ZH}|那么|则|就|[)\]）]"
)
# Words that give a condition only where a variable is set: "with n = 4", not "with 4 wheels".
_SETTING = frozenset(("by", "for", "with", "at", "as", "after", "before", "when", "while", "given", "once", "out of"))
_VALUE_SAID = re.compile(r"(?<=\d)\s+(?:is|equals|gives)\s")  # "at x = 2 is 12"
_ASSIGNED = re.compile(r"\s*(?:that\s+)?(?:the\s+)?\\?(?:[A-Za-z]\w{0,3}\s*(?:=|\\to)|[A-Za-z]\s+is\s+\d)")


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    role: str


def asides(sentence: str) -> list[Span]:
    """The parts of a sentence that give a reason, a condition or a supposition, or are in brackets behind a word."""
    found = []
    for match in _PASSING.finditer(sentence):
        supposed = match.group("supposed") is not None
        word = match.group().lower()
        if word in _SETTING and not _ASSIGNED.match(sentence, match.end()):
            continue
        said = _VALUE_SAID.search(sentence, match.end()) if word in _SETTING and not supposed else None
        end = None if word[:4] == "had " else said or _PASSING_END.search(sentence, match.end(), match.end() + 400)
        found.append(Span(match.start(), end.start() if end else len(sentence), "supposed" if supposed else "aside"))
    opened: list[int] = []
    for match in re.finditer(r"[()\[\]（）]", sentence):
        if match.group() in "([（":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            before, inside = sentence[:start].rstrip(), sentence[start + 1 : match.start()]
            called = sentence[start] == "(" and re.search(
                r"(?:^|[^A-Za-z])[A-Za-z]$|[\d.]$", sentence[max(0, start - 2) : start]
            )  # f(5), 2(3 + 4)
            said = re.search(r"=|[A-Za-z]{2}|[^\W\d_A-Za-z]", inside)
            if (
                not opened
                and re.search(r"[^\W_]|[%°.$)]", before[-1:])
                and (not called or (said and sentence[start - 1].isdigit()))
            ):
                found.append(Span(start, match.end(), "aside"))
    return sorted(found, key=lambda span: span.start)


def roles(sentence: str, numbers: list[Number], denied: bool = False) -> list[str]:
    """For each number "plain", or why it is no answer: "label", "aside", "supposed", "denied", "hedged", "bound",
    "operand", "unclear". ``denied`` says that the sentence begins behind a negation."""
    spans = asides(sentence)
    found: list[str] = []
    for place, number in enumerate(numbers):
        begin = numbers[place - 1].end if place else 0
        before = sentence[max(begin, number.start - 160) : number.start]
        after = sentence[number.end : min(number.end + 80, len(sentence))]
        role = _role(sentence, number, before, after, spans)
        if (
            denied
            and role == "plain"
            and (place == 0 or found[-1] == "denied")
            and not (place and _CONTRAST.search(before))
        ):
            role = "denied"
        spread = place > 0 and found[-1] in ("denied", "label", "supposed", "bound", "hedged")
        if spread and role == "plain" and "=" not in before and joined(before) and not _CONTRAST.search(before):
            role = found[-1]
        found.append(role)
    return found


def _role(sentence: str, number: Number, before: str, after: str, spans: list[Span]) -> str:
    span = next((span for span in spans if span.start <= number.start < span.end), None)
    clause = re.split(
        rf"[,;:](?!\d)|(?<!\w)(?:(?<!anything )(?<!nothing )but|then|{THEREFORE})(?!\w)|但|那么|{THEREFORE_ZH}"
        r"|而是|应该?[是为]",
        before,
    )[-1]
    if _LABEL.search(before) and (before[-1:] != "[" or _LABEL_AFTER.match(after)):
        return "label"
    if span is not None:
        return span.role
    if _DENIED.search(clause) or OPINION.search(clause) or _DENIED_AFTER.match(after):
        return "denied"
    if (_BOUND.search(before) and not is_extreme(before, after)) or _BOUND_AFTER.match(after):
        return "bound"
    if (
        number.value is None
        or _COMPOUND_UNIT.match(after)
        or _algebra(after)
        or _CHANGED.search(before)
        or _CHANGED_AFTER.match(after)
    ):
        return "unclear"
    written = sentence[number.start : number.end]
    if (after[:1] == "!" and len(written) > 1) or (after[:3] == "..." and "." not in written):
        after = ""  # an exclamation, and not a factorial; an ellipsis, and not a periodic decimal
    if "." in written and after[:2] in ("..", "…"):
        return "unclear"
    if (_OPERATED.search(before) if before.strip() else False) or (
        _OPERATOR.match(after) and not _TIME_OR_UNIT.match(after)
    ):
        return "operand"
    if before and _depth(before) > 0:
        return "operand"  # within the braces of a command
    return "hedged" if _HEDGED.search(clause) else "plain"


def _depth(before: str) -> int:
    depth = 0
    for brace in re.findall(r"[{}]", before):
        depth = depth + 1 if brace == "{" else max(0, depth - 1)
    return depth


def _algebra(after: str) -> bool:
    glued = _GLUED.match(after)
    if glued is None:
        return False
    if glued.group(2) is not None:
        return glued.group(2) not in _UNITS
    word = glued.group(1)
    return word not in _UNITS and (len(word) < 3 or _FUNCTIONS.match(word) is not None)


def joined(gap: str) -> bool:
    """Whether two numbers with this between them are one range, list, choice or compound."""
    return len(gap) < 60 and (_JOINED.fullmatch(gap) or _COMPOUND.fullmatch(gap)) is not None
