"""Which number a sentence gives: behind the words that state an answer, or as a conclusion of its own."""

from __future__ import annotations

import re

from mindeval.answers._number_context import asides, joined, roles
from mindeval.answers._number_details import details, needs_more
from mindeval.answers._number_parts import in_parallel
from mindeval.answers._number_words import number_in_words
from mindeval.answers._numerals import Number, scan
from mindeval.answers._words import THEREFORE, THEREFORE_ZH, TOTAL, TOTAL_ZH

PASSING = ("label", "aside", "supposed", "denied")
_ARROW = re.compile(r"[→⇒]|=>|\\(?:[Rr]ightarrow|Longrightarrow|to|implies)(?![a-z])")
_RELATION = re.compile(
    r"(?<![<>!=:])=(?![=>])|≈|≡|→|⇒|=>|\\(?:approx|[Rr]ightarrow|Longrightarrow|to|implies)(?![a-z])"
)
# A variable that is more than the name of the answer: 2x, x + 2, x^2.
_VARIABLE = r"[b-fijln-rt-z]"
_EQUATION = re.compile(
    rf"\d\s?{_VARIABLE}(?![A-Za-z])(?!\s?[$€£¥]?\d)|(?<![A-Za-z\\]){_VARIABLE}\s?(?:[-+*/^²³]|\\cdot)"
    rf"|[-+*/]\s?{_VARIABLE}(?![A-Za-z])"
    r"|(?<![A-Za-z])a\s?[-+*/^]|[-+*/]\s?a(?![A-Za-z])"
)
# Where what is said about the number begins, and the number itself has ended.
_GLOSS = re.compile(
    rf",(?!\d)|;|—|:(?=\s+\d+\s+[A-Za-z])|(?<!\w)(?:{THEREFORE}|for|after|per|on|during|each|every|with|at|as"
    r"|which|that is|i\.e\.|rather|instead|but|than|while|by|using|because|since)(?!\w)"
    rf"|{THEREFORE_ZH}|也就是|即|而|其中|单位|但",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[^,;]{0,24}[,、;]\s*(?:(?:and|or|和|或者?|以及)\s*)?"
    r"(?:[A-Za-z]\w{0,3}\s*(?:=|is|为)\s*|\(?[a-z\d]\)\s*|[①-⑨]\s*|[A-Z]\w*:\s*)?[$€£¥]?\s*$",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"(?<!\w)(?:or|maybe|perhaps|possibly|alternatively|could|might|may|but|however|now|depending|unless"
    r"|otherwise)(?!\w)|或"
    r"|也可能|也许|要么|还是",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    r"[^.;()（]{0,24}[(（]\s*(?:(?:or|maybe|perhaps|possibly|sorry|no|correction)(?!\w)|或(?!者?[写称记表])|也?可能|更正|应)",
    re.IGNORECASE,
)
# "5 for Tom and 6 for Jerry"; "男生12人，女生8人"
_EACH_ITS_OWN = re.compile(
    r"[^,;]{0,24}?(?<!\w)(?:for|on|in|from|at|by|to)\s[^,.;=]{1,40}(?<!\w)and\s+[$€£¥]?$", re.IGNORECASE
)
_OTHER_SUBJECT = re.compile(
    rf"^[^,;=(]*[\u4e00-\u9fff]{{2}}[^,;=(]*[,;]\s*(?!{THEREFORE_ZH}|也就|即|就是|因为|其中|比|合|约|而|不|但|单位|由|它|这|得|等于|用|够|相当|检|验)"
    r"[^,;=]*[\u4e00-\u9fff][^,;=]*$"
)
_CORRECTED = re.compile(
    r"(?<!\w)(?:no|wait|sorry|oops|i mean|or rather|make that|scratch that|correction|actually|hmm)(?!\w)|不对"
    r"|更正|应该?是|应为|哦不|等等",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|giving|makes?)(?!\w)|=|{THEREFORE_ZH}|{TOTAL_ZH}", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?<!\w)(?:(?:which|that|this|it)\s+(?:is|gives|equals|makes)|i\.e\.|namely|equals)\s*$|(?:即|也就是|等于"
    r"|得到|得)\s*$",
    re.I,
)
# What may stand before a number without making it anything but the answer.
_WORDS = re.compile(
    r"(?<!\w)(?:an?|the|about|around|approximately|roughly|exactly|only|just|still|total|sum|of|equal|to|is|are"
    r"|be|now|also|he|she"
    r"|it|they|we|has|have|gets?|needs?|that|there|[A-Za-z]\w?)(?!\w)|[^\w\s]|\d|约|大约|共|总共|一共|等于",
    re.IGNORECASE,
)
# Between two numbers of a sentence: the second says something of its own.
_PREDICATE = re.compile(
    r"[=≈→⇒,;:|(\n]|\\[a-z]|(?<!\w)(?:is|are|was|were|be|equals?|gives?|makes?|gets?|got|has|have|had|must|leaves?"
    r"|left|needs?|becomes?"
    r"|so|then|but|costs?|pays?|takes?|earns?|total|that|which)(?!\w)|'s(?!\w)|[是为得有剩共需等花付要用但了]"
    r"|(?<!\w)(?:comes?|came|amounts?|adds? up) to\s"
    r"|(?<!\w)(?:[a-z]{2,}ed|ate|sold|bought|made|ran|drove|read|won|lost|spent|saw|caught|drank|grew|swam|wrote"
    r"|built)\s+"
    r"(?:(?:a total of|about|only|another|up|in)\s+)?[$€£¥]?$",
    re.IGNORECASE,
)
_CONTRASTED = re.compile(
    r"[\s,]*[\w%°]{0,12}[\s,]*(?:\w+\s)?\(?(?:and |but )?(?:not|never|rather than|instead of|而?不是|而非|并非"
    r"|不等于)\s*(?:the|a)?\s*[-$€£¥]?$",
    re.IGNORECASE,
)


def stated_number(tail: str, denied: bool = False) -> Number | str:
    """The number behind "the answer is"; "" where none is stated, "several numbers" or "unclear number"."""
    lead = len(tail) - len(tail.lstrip(" \t\n\"'“(*~≈"))
    words = None if denied else number_in_words(tail[lead : lead + 200])
    numbers = list(scan(tail))
    if words is not None and not (numbers and numbers[0].start < lead + words.end):
        return Number(words.value, words.percent, lead, lead + words.end)
    said = roles(tail, numbers, denied)
    candidates = [place for place, role in enumerate(said) if role not in PASSING]
    if not candidates:
        return ""
    boundary = _boundary(tail, numbers[candidates[0]].end)
    inside = [place for place in candidates if numbers[place].start < boundary]
    side = _last_side(tail[:boundary], [numbers[place] for place in inside])
    chosen = [place for place in inside if numbers[place].start >= side]
    rest = [place for place in candidates if numbers[place].start >= boundary]
    number = numbers[chosen[0]]
    problem = ""
    earlier = tail[numbers[chosen[0] - 1].end : number.start] if chosen[0] else ""
    if len(chosen) > 1 or (side and re.search(r"(?<!\w)(?:or|and)(?!\w)|[,、或和]", earlier)):
        problem = "several numbers"
    elif said[chosen[0]] != "plain":
        problem = "unclear number" if said[chosen[0]] != "operand" else "several numbers"
    elif _BRACKETED.match(tail, number.end) or _from_arrow(tail[:side]):
        problem = "several numbers"
    elif _is_equation(tail[:side]) or (
        _RELATION.search(tail[number.end : boundary]) and _EQUATION.search(tail[number.end : boundary])
    ):
        problem = "unclear number"
    if not rest:
        return problem or number
    return _with_rest(tail, numbers, said, number, rest, problem)


def _with_rest(
    tail: str, numbers: list[Number], said: list[str], number: Number, rest: list[int], problem: str
) -> Number | str:
    """More numbers follow in the same sentence: a list, a choice, a correction, a conclusion, or mere explanation."""
    first, last = numbers[rest[0]], numbers[rest[-1]]
    gap = tail[number.end : first.start]
    deep = _WORDS.sub("", tail[: number.start]).strip() != ""
    named = _NAMED.search(tail[: last.start][-20:]) and re.match(r"\W*(?:\w+\W*)?$", tail[last.end :])
    if said[rest[-1]] == "plain" and named and (problem or deep):
        return last
    if problem:
        return problem
    if _CORRECTED.search(gap):
        return last if len(rest) == 1 and said[rest[0]] == "plain" else "several numbers"
    if (
        _LISTED.fullmatch(gap)
        or _EACH_ITS_OWN.match(gap)
        or _OTHER_SUBJECT.search(tail[: number.start] + gap)
        or _ALTERNATIVE.search(gap)
        or (deep and len(tail[: number.start].split()) > 4)
    ):
        return "several numbers"
    if _CONCLUDED.search(tail[number.end : last.start]) and last.value != number.value:
        return "several numbers"
    return number


def _boundary(tail: str, position: int) -> int:
    gloss = _GLOSS.search(tail, position)
    starts = [span.start for span in asides(tail) if span.start >= position]
    return min([gloss.start() if gloss else len(tail), *starts])


def _last_side(text: str, numbers: list[Number]) -> int:
    """Where the last side of an equation that holds a number begins."""
    edges = [match.end() for match in _RELATION.finditer(text)]
    return max((edge for edge in edges if any(number.start >= edge for number in numbers)), default=0)


def _from_arrow(before: str) -> bool:
    """The number comes from another one by an arrow, and may as well be the wrong one of both: "6 → 5"."""
    edges = list(_ARROW.finditer(before))
    return (
        bool(edges) and re.fullmatch(r"[^\d=+*/×÷-]*-?\d[\d,.]*\s*\w{0,12}\s*", before[: edges[-1].start()]) is not None
    )


def _solved(sentence: str, number: Number) -> bool:
    """The value of an unknown that was sought before: "3x = 12, x = 4"; but not one of several: "x = 3, y = 4"."""
    name = re.search(r",\s*([A-Za-z])\s*=\s*$", sentence[: number.start])
    if name is not None and not re.search(r"=[^=,]*$", sentence[: name.start()]):
        return re.search(r"(?<!\w)by\s\S+$", sentence[: name.start()]) is not None  # "dividing by 4, x = 3"
    return (
        name is not None
        and re.search(
            rf"(?:[\d+*/-]\s?{name.group(1)}(?!\w)|(?<!\w){name.group(1)}\s?[+*/-])[^,]*$", sentence[: name.start()]
        )
        is not None
    )


def _is_equation(before: str) -> bool:
    """The sides before the last one hold an unknown that is still to be found: 2x = 10, but not x + y = 3 + 4 = 7."""
    edges = list(_ARROW.finditer(before))
    before = before[edges[-1].end() :] if edges else before
    sides = [side for side in _RELATION.split(before) if side.strip()]
    if len(sides) > 1 and not re.search(r"\d", sides[0]) and re.fullmatch(r"[\d\s+*/×÷().,$%-]+", sides[-1]):
        return False
    return _EQUATION.search(before) is not None


def concluded_number(sentence: str) -> Number | str:
    """The number that a sentence without words like "the answer is" ends with: the last that is not said in passing."""
    numbers = list(scan(sentence))
    said = roles(sentence, numbers)
    candidates = [place for place, role in enumerate(said) if role not in PASSING]
    if not candidates:
        return "unclear number" if {"denied", "supposed"} & set(said) else ""
    pair = [numbers[place] for place in candidates[-2:] if said[place] == "plain"]
    if len(pair) == 2 and in_parallel(sentence, *pair):
        return "several numbers"
    beside = details(sentence, numbers)
    main = [place for place in candidates if not beside[place]]
    if main:
        said = ["aside" if beside[place] else role for place, role in enumerate(said)]
        candidates = main
    place = candidates[-1]
    number = numbers[place]
    denied = [other for other in range(place + 1, len(numbers)) if said[other] == "denied"]
    if denied and not _CONTRASTED.fullmatch(sentence[number.end : numbers[denied[0]].start]):
        return "unclear number"
    if said[place] != "plain":
        return "cut off" if said[place] == "operand" else "unclear number"
    before = sentence[numbers[place - 1].end : number.start] if place else ""
    if (
        place
        and joined(before)
        and said[place - 1] not in ("label", "aside", "denied")
        and not _solved(sentence, number)
    ):
        return "cut off" if re.search(r"[-+*/×÷]\s*$", before) else "several numbers"
    if place and said[place - 1] == "plain" and not _PREDICATE.search(before):
        return "several numbers"  # "5 days to finish 100 pages"
    last = numbers[place - 1]
    if place and said[place - 1] == "plain" and needs_more(sentence, last, number):
        return "several numbers"
    side = _last_side(sentence, [number])
    before = re.split(r",(?!\d)|(?<!\w)(?:so|then|and)(?!\w)", sentence[:side])[-1]
    if side and (_is_equation(before) or _from_arrow(before)):
        return "unclear number"
    if re.match(r"[^,;]*=", sentence[number.end :]) and _EQUATION.search(sentence[number.end :]):
        return "unclear number"
    if re.match(r"\s*-\s", sentence[number.start :]) and not sentence[: number.start].strip():
        return "unclear number"  # a minus, or the mark of a list
    return number
