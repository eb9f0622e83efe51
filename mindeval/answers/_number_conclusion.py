"""The number that a text concludes with, where it states none: that of its last sentence with numbers, if its main
clause asserts one of them only, and what came before leaves no doubt that it is the conclusion."""

from __future__ import annotations

import re

from mindeval.answers._number_context import PASSING, roles
from mindeval.answers._number_details import details, is_fact, is_need, needs_more
from mindeval.answers._number_parts import in_list_of_parts, in_parallel, joined, labelled_parts
from mindeval.answers._number_reading import EQUATION, RELATION, from_arrow, is_equation, last_side
from mindeval.answers._number_text import cut_off, is_question, sentence_spans
from mindeval.answers._number_words import words_of_numbers
from mindeval.answers._numerals import Number, scan
from mindeval.answers._statements import all_answer_cues, doubt_of
from mindeval.answers._text import BOX_MARK
from mindeval.answers._words import THEREFORE, THEREFORE_ZH, TOTAL, TOTAL_ZH, word

# Between two numbers of a sentence: the second follows from the first.
_SO = re.compile(
    rf"{RELATION.pattern}|{word(THEREFORE)}|{word('(?:for|giving|making|leaving) an? (?:grand )?total')}"
    rf"|(?<!\w)(?:which|that|this) (?:means|gives|makes|leaves|equals|totals|comes to)(?!\w)|(?<!\w)giving(?!\w)"
    rf"|{THEREFORE_ZH}|那么|于是|这样|结果|最[后终](?!一)",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"[,;]\s*(?:and\s+)?(?:[a-z]+\s+){0,3}(?:now|finally)(?!\w)|(?<!\w)(?:in the end|after that)(?!\w)|现在|目前",
    re.IGNORECASE,
)
_SUM = re.compile(rf"{word(TOTAL)}|(?<!\w)in (?:total|all)(?!\w)|{TOTAL_ZH}", re.IGNORECASE)
# The second number is what is said of the first: "the sum of 6 and 4 is 10".
_EQUATES = re.compile(
    r"(?<!\w)(?:is|are|was|were|(?<!to )be|equals?|gives?|makes?|yields?|leaves?|becomes?|comes? (?:out )?to|came to"
    r"|totals?|amounts? to|adds? up to)"
    r"(?:\s+(?:an?|the|equal to|only|just|about|still|now|also|exactly|approximately|roughly|around|total|of|to))*"
    r"\s*[$€£¥]?$|(?:[是为得]|等于)(?:约|大约)?\s*[$€£¥]?$",
    re.IGNORECASE,
)
_NEXT_CLAUSE = re.compile(r"[,、;:(（—]|(?<!\w)(?:and|but|while|whereas|who|whose|which|that|where)(?!\w)|而|但")
# What is left of what was taken is a conclusion; what is left of a division ("he can fill 16 boxes") is a detail.
_LEFT = re.compile(r"\s*(?:[^\W\d]+\s+){0,3}?(?:left|remain\w*|unused|to spare)(?!\w)", re.IGNORECASE)
_LEFT_BEFORE = re.compile(
    r"(?<!\w)(?:leav(?:e|es|ing)|remainder|left with|remain\w*)(?!\w)[^\d,;]*$|[剩余]下?[^\d,;]{0,3}$", re.IGNORECASE
)
_TAKEN = re.compile(
    r"(?<!\w)(?:gave|gives?|giving|spent|spends?|spending|ate|eats?|eating|used|uses|using|sold|sells?|selling|lost"
    r"|loses|paid|pays|paying|took|takes away|removed|donated|broke|drank|drove|read|minus|subtract\w*)(?!\w)[^,;]*$"
    r"|[吃用卖花送借拿走去掉丢付减喝看读](?:了|掉|去|走|给|完)?[^,;]*$",
    re.IGNORECASE,
)
_DIVIDED = re.compile(
    r"(?<!\w)(?:can|could|each|every|per|at most|maximum|enough|able to)(?!\w)|每|能|可以|最多|够", re.IGNORECASE
)
_CALCULATED = re.compile(r"\d[^=\d]{0,24}[-+*/×÷][^=]{0,40}=\s*[$€£¥]?$")
_CONCLUDING = re.compile(
    rf"{RELATION.pattern}|{word(THEREFORE)}|{word(TOTAL)}|{THEREFORE_ZH}|{TOTAL_ZH}|答"
    r"|(?<!\w)(?:answer|result|in all|in the end|finally|overall|combined|now|this means|that means|meaning|left"
    r"|remain\w*)(?!\w)|结果|最[后终]|剩|现在|目前",
    re.IGNORECASE,
)
_DEPENDS = re.compile(r"(?<!\w)depend(?:s|ing) (?:up)?on(?!\w)|取决于|视[^,]{1,8}而定", re.IGNORECASE)
_UNREAL = re.compile(r"(?<!\w)if (?:[a-z]+ ){1,3}?(?:had|were)(?!\w).*(?:would(?!\w)|'d(?!\w))", re.IGNORECASE)
_CONTRASTED = re.compile(
    r"[\s,]*[\w%°]{0,12}[\s,]*(?:\w+\s)?\(?(?:and |but )?(?:not|never|rather than|instead of|而?不是|而非|并非"
    r"|不等于)\s*(?:the|a)?\s*[-$€£¥]?$",
    re.IGNORECASE,
)
_LABEL_OF = re.compile(r"(?:[^:]*:)?\W*")  # "Final: **12 apples**"
_UNIT = re.compile(
    r"\W*(?:(?:(?!(?:is|are|was|were|has|have|had|can|will|do|did|does|go|went|came|of|more|[a-z]+ed)(?!\w))[A-Za-z]{1,12}|[^\W\dA-Za-z]{1,3})\W*){0,2}"
)
_RESULT = re.compile(r"=\s*[$€£¥]?$")
# The text takes back what it said.
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
_OWN_WORD = re.compile(
    r"(?<!\w)(?:but|however|yet) (?:i|we|it|in fact|actually)(?!\w)|(?:但是?|然而|可是|不过),?(?:我|其实|实际)"
    r"|[,;](?:其实|实际上)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?<!\w)(?:would you like|do you (?:want|need|have)|shall i|should i|can i|need (?:any|more)"
    r"|any (?:other )?questions|does (?:that|this)|is there)(?!\w)|需要我|要不要|还有",
    re.I,
)


def last_number(text: str) -> Number | str:
    """The number that the last sentence with one concludes with, or why it cannot be told; "" without any."""
    supposed = ""
    spans = list(sentence_spans(text))
    for start, end in reversed(spans):
        sentence = text[max(start, end - 2000) : end]
        if is_question(sentence):
            if any(True for _ in scan(sentence)) and not _OFFER.search(sentence):
                return "unclear number"
            continue
        sentence = sentence.replace(BOX_MARK, " ")
        number = _concluded(sentence)
        if number == "":
            supposed = supposed or ("unclear number" if any(True for _ in scan(sentence)) else "")
            continue
        own = max((match.end() for match in _OWN_WORD.finditer(sentence)), default=0)
        rest = sentence[own:]
        cues = all_answer_cues(rest, verbs=False)
        if any(doubt_of(rest, cue) not in ("", "hedge", "unlinked") for cue in cues):
            return "unclear number"  # "the student's answer is", "if the answer is"
        if isinstance(number, str):
            return "cut off" if cut_off(text, "") else number
        begin = end - len(sentence)
        if in_list_of_parts(text, begin + number.start) or _adds(text, begin, sentence, number, spans):
            return "several numbers"
        if RETRACTED.search(text, begin + number.end):
            return "unclear number"
        return "cut off" if cut_off(text, sentence[number.start : number.end]) else number
    return supposed


def last_in_words(text: str) -> Number | str:
    """As last_number, of a text without digits: "Thus, Tom has five apples left.", 答：一共六个。"""
    spans = [(start, end) for start, end in sentence_spans(text) if not is_question(text[start:end])]
    if not spans:
        return ""
    start, end = spans[-1]
    sentence = text[max(start, end - 300) : end]
    found = words_of_numbers(sentence)
    if len(found) != 1 or not (_CONCLUDING.search(sentence) or _is_alone(sentence, found[0])):
        return ""
    digits = f" {found[0].value} "
    return last_number(sentence[: found[0].start] + digits + sentence[found[0].end :])


def _adds(text: str, begin: int, sentence: str, number: Number, spans: list[tuple[int, int]]) -> bool:
    """The sentence adds a fact to what was concluded before: "She can buy 16 pens. She has $3 left."."""
    earlier = [text[first:last][-2000:].replace(BOX_MARK, " ") for first, last in spans if last <= begin][-20:]
    earlier = [one for one in earlier if any(True for _ in scan(one)) and not is_question(one)]
    if not earlier:
        return False
    if is_fact(sentence) and any(is_need(one) for one in earlier):
        return True
    if _is_left(sentence, number) and not RELATION.search(sentence):
        return _DIVIDED.search(earlier[-1]) is not None and _TAKEN.search(earlier[-1]) is None
    if _CONCLUDING.search(sentence) or _is_alone(sentence, number):
        return False
    found = [one for one in map(_concluded, earlier) if isinstance(one, Number)]
    results = [
        one.value for sentence in earlier for one in scan(sentence) if _RESULT.search(sentence[: one.start][-8:])
    ]
    return bool(found) and number.value not in [*results, *(one.value for one in found)]


def _concluded(sentence: str) -> Number | str:
    """The number that the main clause of a sentence asserts, or why none is the only one; "" without any."""
    numbers = list(scan(sentence))
    said = roles(sentence, numbers)
    candidates = [place for place, role in enumerate(said) if role not in PASSING]
    if not candidates:
        return "unclear number" if {"denied", "supposed"} & set(said) else ""
    pair = [numbers[place] for place in candidates[-2:] if said[place] == "plain"]
    if (len(pair) == 2 and in_parallel(sentence, *pair)) or labelled_parts(
        sentence, [numbers[place] for place in candidates]
    ):
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
    if _DEPENDS.search(sentence[: number.start]) or _UNREAL.search(sentence[: number.start]):
        return "unclear number"
    if said[place] != "plain":
        return "cut off" if said[place] == "operand" else "unclear number"
    before = sentence[numbers[place - 1].end : number.start] if place else ""
    if (
        place
        and joined(before)
        and said[place - 1] not in ("label", "aside", "denied")
        and not _EQUATES.search(before)
        and not (_is_left(sentence, number) and re.search(r"(?<!\w)and\s+$", before))
        and not _solved(sentence, number)
    ):
        return "cut off" if re.search(r"[-+*/×÷]\s*$", before) else "several numbers"
    asserted = _asserted(sentence, [numbers[one] for one in candidates])
    if asserted is None:
        return "several numbers"
    if asserted is number and place and said[place - 1] == "plain" and needs_more(sentence, numbers[place - 1], number):
        return "several numbers"
    if any(_contradicts(sentence, other, asserted) for other, role in zip(numbers, said) if role == "aside"):
        return "several numbers"
    side = last_side(sentence, [number])
    before = re.split(r",(?!\d)|⟹|(?<!\w)(?:so|then|and|gives?|yields?|means|implies)(?!\w)", sentence[:side])[-1]
    if side and (is_equation(before) or from_arrow(before)):
        return "unclear number"
    if re.match(r"[^,;]*=", sentence[number.end :]) and EQUATION.search(sentence[number.end :]):
        return "unclear number"
    if re.match(r"\s*-\s", sentence[number.start :]) and not sentence[: number.start].strip():
        return "unclear number"  # a minus, or the mark of a list
    return asserted


def _asserted(sentence: str, numbers: list[Number]) -> Number | None:
    """The only number behind the last words of conclusion."""
    first = max((place for place in range(1, len(numbers)) if _follows(sentence, numbers, place)), default=0)
    rest = numbers[first:]
    if len(rest) > 1 and _CALCULATED.search(sentence[: rest[0].start]):
        gap = sentence[rest[0].end : rest[1].start]
        rest = rest[: 1 if not _NEXT_CLAUSE.search(gap) else None]
    if len(rest) == 1:
        return rest[0]
    if _is_left(sentence, rest[-1]):
        taken = _TAKEN.search(sentence[: rest[-2].start]) is not None
        divided = _DIVIDED.search(sentence[: rest[-1].start]) is not None
        if taken != divided and (taken or len(rest) == 2):
            return rest[-1] if taken else rest[0]
    return None


def _follows(sentence: str, numbers: list[Number], place: int) -> bool:
    """Whether a number is concluded from those before it, or is what there is of them in the end."""
    before, gap = sentence[: numbers[place - 1].start], sentence[numbers[place - 1].end : numbers[place].start]
    if _SO.search(gap) or (place > 1 and _SUM.search(gap)):
        return True
    if _NOW.search(gap) and not re.search(r"(?<!\w)now(?!\w)|现在|目前", before, re.IGNORECASE):
        return True  # 原来有8支，现在有14支; but 小明现在9岁，小红现在6岁
    return _EQUATES.search(gap) is not None and _NEXT_CLAUSE.search(gap) is None


def _is_alone(sentence: str, number: Number) -> bool:
    return all((_LABEL_OF.fullmatch(sentence[: number.start]), _UNIT.fullmatch(sentence[number.end :])))


def _is_left(sentence: str, number: Number) -> bool:
    before = sentence[max(0, number.start - 40) : number.start]
    return _LEFT.match(sentence, number.end) is not None or _LEFT_BEFORE.search(before) is not None


def _contradicts(sentence: str, other: Number, number: Number) -> bool:
    """What is said in passing behind a number computes another one: "50 feet, because 40 + 30 = 70"."""
    begin, end = number.end, other.start
    return begin < end and other.value != number.value and _CALCULATED.search(sentence[begin:end]) is not None


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
