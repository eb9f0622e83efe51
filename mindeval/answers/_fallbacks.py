"""Options that a text gives without stating them: a letter alone, the only option mentioned."""

from __future__ import annotations

import re
from dataclasses import replace

from mindeval.answers._doubts import doubt_after, doubt_before
from mindeval.answers._labels import AFFIRMED_AFTER, CLOSE, DENIED_AFTER, OPEN, Labels, Reader
from mindeval.answers._spelled_options import SHORT
from mindeval.answers._text import BOX_MARK
from mindeval.answers._verdicts import JUDGED, Statement, verdict_at
from mindeval.answers._words import THEREFORE, THEREFORE_ZH

_ANSWER_PROMPT = re.compile(r"[ \t]*A:[ \t]*(?=\(?[A-Z]\)?\.?\s*$)")
_QUESTION_NUMBER = re.compile(r"\s*(?:第|Q)?[ \t]*\d{1,3}(?:题[:.]?|[.)])[ \t]*(?=\(?[A-Z]\)?\.?\s*$)", re.IGNORECASE)
_LEAD_IN = re.compile(r"[\s:.,\-–—>]*")
# "B. Smith wrote": the initial of a name, for all that can be seen, and not "B. Photosynthesis makes oxygen".
_INITIAL = re.compile(
    r"[A-Z]\.[ \t]?(?:[A-Z]\.[ \t]?)*[A-Z][a-z]+(?:-[A-Z][a-z]+)?"
    r"(?:'s(?!\w)|[ \t]+(?:et al|\(\d{4}|(?:and|&)[ \t]+[A-Z]\."
    r"|(?:(?:\w+ly|also|has|had)[ \t]+)?(?:wrote|written|writes|said|says|argued|argues|claimed|claims|thought|thinks"
    r"|believed|believes|told|published|answered|asked|was born|died)(?!\w)))"
)
# "A: Let's think step by step", the answer to a "Q:", and no option
_QUESTION_AND_ANSWER = re.compile(
    r"A:[ \t]*(?:(?:let's|let us|let me|i|i'm|we|first|there|the|yes|no|so|to)(?!\w)|\d|是的|不是|让我|我们|首先|根据)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\s*[.。!)]*\s*")
# What may follow a letter that is an answer: a mark, the reason, the option's text; not a verb that makes it a subject.
_ANSWERED = re.compile(
    r"\s*(?:$|\n|[.):,。、;!|\]\-–—(])"
    r"|[ \t]+(?:[A-Z0-9$\\\"'“]|(?:because|cause|since|as|for|due|over|rather|instead|not|it|i|here|correct|right"
    r"|given|based|by"
    r"|according|please)(?!\w))"
    r"|[ \t]*(?:项|选|正确(?!与否)|对(?!于|[^,。;!\s])|错|不(?=是|选|对|正)|因(?!果)|由|故|答(?!非)|才"
    r"|[是为](?=正确|对|答案|最"
    r"|我的(?:答案|选择|最终)|因))"
)
_SPEAKS = re.compile(
    r"[ \t]*(?:is|was|are|seems?|looks?|appears?|states?|says?|describes?|refers?|has|have|does|did|contains?"
    r"|suggests?|means?|would|could"
    r"|might|may|can|talks?"
    r"|mentions?|gives?|claims?|implies|involves?|represents?|shows?|will|relates?|discusses|defines?)(?!\w)"
    r"|[ \t]*(?:项|选项)?(?:不(?!是|选)|部分|可能|未必|似乎|也许|看似|好像|正确与否|的|在|把|将|说|讲|指|会|能|可"
    r"|有|认|描|是(?!正确|对|答案|最|我的(?:答案|选择|最终)|因))"
)
_SUBJECT = re.compile(r"[ \t]*(?:is|was|are)(?!\w)")
_HEADING = re.compile(r"\W*\w[)\]\"'”」】]?(?:[.,):]|\s*\n)")
_NEXT_HEAD = re.compile(
    r"(?:^|[\n.;。])\s*(?:[-•]\s*)?(?:(?:Option|Choice|选项)\s*)?[(\"'“【]?([A-Za-z0-9])[\"'”】]?(?:(?:项|选项)?(?:\)|[.:](?=\s"
    r"|[\u4e00-\u9fff]))|(?:项|选项),)"
)
_LIKELIHOOD = re.compile(r"[)\s:(=-]*\d+(?:\.\d+)?\s*%")
_EDGE = re.compile(r"[,.;:!?。、\n)]|(?<!\w)(?:because|since|as|for|but)(?!\w)|因为")
_RULED_OUT = re.compile(
    r"(?:(?<!\w)(?:not|over|instead of|rather than|unlike|than|beats|against|without)(?!\w)|不是|而非|非|不选"
    r"|胜过)\W*$",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?<!\w)(?:eliminated|rejected|excluded|discarded|removed|ruled out|distractors?|wrong|incorrect|not|none"
    r"|without)[^.\n]*$|[排删][除去]",
    re.IGNORECASE,
)
_FREE = re.compile(
    r"(?:^|[,\n]|\((?=(?:option|choice))|(?:(?<!\w)(?:response|key|solution|result|choice|selection|pick|verdict"
    r"|conclusion"
    r"|output|decision"
    r"|vote"
    rf"|option|letter|elimination|final|assistant|{THEREFORE})|选择|结论|结果|回复|解答|选项|判断|{THEREFORE_ZH}"
    rf"|^)\s*:|(?<!\w)(?:clearly|obviously|definitely|certainly|surely|probably|{THEREFORE}|the"
    r"|my))\s*"
    r"(?:the\s+)?(?:(?:options?|choices?|answer)\s*|选项\s*)?[(\[\"']*$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:项|选项)?[.。!)\]\"'*\s]*$")


_ANSWERS_FOLLOW = re.compile(r"(?:(?<!\w)answers?(?:\s+(?:is|are))?|答案(?:有|是|为)?)\s*:?\s*$", re.IGNORECASE)


def without_list(text: str, reader: Reader, multiple: bool) -> str:
    """The text without lines that repeat the question's options ("A. one", "B. two", ...). Where several may be chosen,
    such lines under "The answers are:" are the answers."""
    kept: list[str] = []
    block: list[str] = []
    expected, above = list(reader.labels), ""
    head = re.compile(rf"\s*{OPEN}?([A-Za-z0-9])(?:{CLOSE}|[.):、])\s*\S")
    for line in text.split("\n"):
        label = head.match(line)
        is_answer = label is not None and multiple and _ANSWERS_FOLLOW.search(above) is not None
        above = above if is_answer or not line.strip() else line  # so that all items of the list are answers
        label = None if is_answer else label
        if label and len(block) < len(expected) and label.group(1).upper() == expected[len(block)]:
            block.append(line)
            continue
        kept += block if len(block) < 2 else []
        block.clear()
        kept.append(line)
    return "\n".join(kept + (block if len(block) < 2 else []))


_NUMBERED = re.compile(
    r"(?:第[ \t]*(\d+|[一二三四五六七八九十])[ \t]*(?:小?题|问|空|道)"
    r"|(?<!\w)(?:questions?|problem|q|no\.)[ \t]*\#?(\d+)"
    r"|(?:^|[\s,;。、(])\(?(\d{1,3})(?:[.):、](?!\d)|[ \t]*[-–—][ \t]*(?=[A-Z](?!\w)))|(?:^"
    r"|(?<=[\s,;]))(\d{1,2})(?=[A-Z](?!\w)))"
    r"[ \t]*[:.)]?[ \t]*(?:(?:the )?(?:correct )?(?:answers?|option|choice)(?!\w)[ \t]*:?[ \t]*)?(?:(?:is"
    r"|was)(?!\w)[ \t]*)?"
    rf"(?:(?:的|正确|答案|应该?|选项?|是|为)+[ \t]*:?[ \t]*)?{BOX_MARK}?",
    re.IGNORECASE,
)
_NEXT_NUMBER = re.compile(r"\s*(?:$|[\n,;.。、]|\(?\d|and(?!\w)|第|[qQ])")


def answers_several_questions(text: str, reader: Reader, statements: list[Statement]) -> bool:
    """Options are given to questions of different numbers ("1. B 2. C"), and none is stated after that."""
    numbers, end = set(), 0
    for match in _NUMBERED.finditer(text):
        found = reader.one(text, match.end(), lower=False)
        if found is not None and _NEXT_NUMBER.match(text, found[1]):
            numbers.add(next(number for number in match.groups() if number))
            end = found[1]
    return len(numbers) > 1 and not any(one.position >= end and one.tier < JUDGED for one in statements)


def ends_as_sentence(text: str) -> bool:
    """The text is not cut off in the middle of what it says."""
    return text.rstrip()[-1:] in (".", "。", "!", ")")


def lone_letters(text: str, reader: Reader) -> list[Statement]:
    """A letter that stands alone at the beginning, or on the last line, or after the last question."""
    start = _LEAD_IN.match(text)
    first = _alone(text, start.end() if start else 0, reader, "leading letter")
    line = max(text.rstrip().rfind(mark) for mark in "\n?") + 1
    if prompt := _ANSWER_PROMPT.match(text, line) or (None if line else _QUESTION_NUMBER.match(text)):
        first, line = first if line else None, prompt.end()  # "Q: ...\nA: C"
    last = _alone(text, line, reader, "last line")
    if first is not None and _QUESTION_AND_ANSWER.match(text, first.position):
        first = None
    if last is not None and _breaks_off(text[:line], last, reader):
        last = replace(last, doubt="several options")
    return [one for one in (first, last) if one is not None]


def _breaks_off(before: str, one: Statement, reader: Reader) -> bool:
    """The options are described one by one ("A. ...", "B. ..."), and the text ends with the label of the next."""
    order = list(reader.labels.values())
    described = {reader.labels.get(head.group(1).upper()) for head in _NEXT_HEAD.finditer(before)}
    earlier = order[: min(order.index(label) for label in one.labels)]
    return bool(earlier) and described == set(earlier)


def _alone(text: str, position: int, reader: Reader, rule: str) -> Statement | None:
    position += len(text[position:]) - len(text[position:].lstrip())
    found = reader.several(text, position)
    if found is None or DENIED_AFTER.match(text, found.end) or verdict_at(text, found.end):
        return None
    rest = text[found.end :]
    alone = _ALONE.fullmatch(rest) is not None
    bracketed = text[found.end - 1 : found.end] in (")", "]")
    if not alone and (rule == "last line" or not _opens(rest, bracketed, text[position : position + 1])):
        return None
    if len(found.labels) == 1 and reader.contradicts(text, found.end, found.labels[0]):
        return Statement(position, found.end, frozenset(found.labels), JUDGED, rule, doubt="letter and text disagree")
    doubt = "several options" if found.open else doubt_after(text, found.end)
    doubt = doubt or reader.divided(text, found.end, found.labels)
    if not doubt and _INITIAL.match(text, position) and reader.texts.at(text, position + 3) is None:
        doubt = "opinion"
    if not doubt and rule == "leading letter" and (_walks_through(rest, found, reader) or _relates(rest, reader)):
        doubt = "several options"
    return Statement(position, found.end, frozenset(found.labels), JUDGED, rule, doubt=doubt)


def is_heading(text: str, one: Statement) -> bool:
    """The letter stands as on an answer sheet ("C." or "C)"), not as the subject of a sentence."""
    return one.rule == "leading letter" and _HEADING.match(text[one.position : one.end + 20]) is not None


def _opens(rest: str, bracketed: bool, first: str) -> bool:
    """What follows a letter at the beginning of a text lets it be an answer."""
    if first.islower() and not re.match(r"[.):]", rest):
        return False
    if bracketed:
        return not _SPEAKS.match(rest) or AFFIRMED_AFTER.match(rest) is not None
    if _SUBJECT.match(rest):
        return AFFIRMED_AFTER.match(rest) is not None
    return _ANSWERED.match(rest) is not None


def _walks_through(rest: str, found: Labels, reader: Reader) -> bool:
    """The text goes on with other options as "B. ..." or "(B) ...": it examines them one by one."""
    if _LIKELIHOOD.match(rest) and len(found.labels) == 1:
        return any(_LIKELIHOOD.match(rest, match.end()) for match in reader.item.finditer(rest))
    heads = [match for match in _NEXT_HEAD.finditer(rest) if match.group(1) in reader.labels]
    return any(
        reader.labels[head.group(1)] not in found.labels
        and not DENIED_AFTER.match(rest, head.end())
        and not verdict_at(rest, head.end())
        for head in heads
    )


def _relates(rest: str, reader: Reader) -> bool:
    """The clause that the letter begins speaks of another option too ("(B) causes (C)")."""
    edge = _EDGE.search(rest)
    clause = rest[: edge.start()] if edge else rest
    return any(
        reader.one(clause, match.start(), lower=False)
        and not DENIED_AFTER.match(rest, match.end())
        and not _RULED_OUT.search(clause[: match.start()])
        for match in reader.item.finditer(clause)
    )


def only_mention(text: str, reader: Reader) -> list[Statement]:
    """Options named in a short text, at the end of what it says: "(C)", "option C", "Response: C"."""
    if len(re.findall(r"[^\W\u4e00-\u9fff]+|[\u4e00-\u9fff]{2}", text)) > SHORT:
        return []
    statements = []
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        before = text[: match.start()]
        if found is not None and not DENIED_AFTER.match(text, found[1]) and not _ENDS.match(text, found[1]):
            return []  # the text speaks of an option that it does not end with
        if (
            found is None
            or _REJECTED.search(before)
            or not (_FREE.search(before) or (match.group(1) and before.rstrip()[-1:] == ":"))
            or not _ENDS.match(text, found[1])
        ):
            continue
        doubt = doubt_before(text, match.start()) or doubt_after(text, found[1])
        labels = frozenset([found[0]])
        statements.append(Statement(match.start(), found[1], labels, JUDGED, "only option mentioned", doubt=doubt))
    return statements
