"""Where a model, after its answer, runs on into a question of its own making, whose answer must not be taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mindeval.answers._result import Extraction

# Control tokens, the next turn, and the marks of a question after which no answer to the one before comes.
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end|return|end_of_text|user|assistant|EOT)\|>|</s>|<eos>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>|\[INST\]"
)
_START_OF_TURN = re.compile(r"^\s*(?:<\|(?:im_start|assistant|start)\|>(?:\s*assistant\b)?\s*)+")
_NEW_QUESTION = re.compile(
    r"(?:(?:^|\n)[ \t#>*]*|(?<=[.!?。!？)] )(?=[A-Z])|(?<=[。！？]))(?:"
    r"(?:Next |New |Example )?(?:Question|Problem|Exercise|Passage)[ \t]*(?:\#?\d+)?[ \t*]*[:：.]"
    r"|Q[ \t]*\d*[ \t*]*[:：]"
    r"|(?:Human|User|Student|Instruction)[ \t*]*[:：]"
    r"|(?:下一题|新题|问题|题目|例题|问)[ \t]*\d*[ \t*]*[:：.]"
    r")",
    re.IGNORECASE,
)
_QUESTIONS = 8  # that are looked at, and the characters of each: bounds on the work
_WINDOW = 800
# A head that numbers or names a question: "**Question 2**", "Example 2:", "第2题：", "2. ".
_HEAD = re.compile(
    r"(?:\[?(?:question|problem|exercise|example|sample|task|q)(?:[ \t]*#?\d+(?!\w)|\])|(?:next|follow-?up|bonus)"
    r"(?: (?:question|problem|one))?[ \t]*:|the following (?:are|is)(?: an?)? (?:multiple|single)"
    r"|第[ \t]*[\d一二三四五六七八九十]+[ \t]*(?:小?题|道|个?问题)|例(?:题)?[ \t]*\d*[ \t]*[:：]"
    r"|【(?:题目|例题?|问题|试题)\d*】|以下是[^。\n]{0,24}(?:选择题|问题|题目)"
    r"|(?P<number>\d{1,3})[ \t]*[.、)）:](?!\d))[ \t*:：\])）】]*",
    re.IGNORECASE,
)
_LINE = re.compile(r"^(?P<mark>[ \t>*#]*)(?P<line>[^\n]*\S)", re.MULTILINE)
_ASKS = re.compile(r"(?:[?？]|[（(][ \t\u3000]*[）)]|_{3,})[ \t*\"”)。.:：]*$")
_OPTIONS = re.compile(
    r"(?:\n[^\n]{0,300}){0,4}?\n[ \t]*[(（\[]?A[.)、:：）\]][ \t]*\S[^\n]*?(?:\n\s*|[ \t]{1,8})"
    r"[(（\[]?B[.)、:：）\]][ \t]*\S"
)
# Options that are discussed, and not asked about.
_INTRODUCED = re.compile(
    r"(?<!\w)(?:options?|choices|explanation|analysis|reason(?:ing|s)?|rationale|solution|others?)(?!\w)[^?]{0,20}:?$"
    r"|(?:选项|分析|解析|解释|理由|其他|别的|如下)[^?？]{0,6}[:：]?$",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"(?<!\w)(?:wrong|(?:in)?correct|true|false|right|because)(?!\w)|错|对|正确|[✓✗✅❌]", re.IGNORECASE
)
# A question that the writer puts to itself, to the reader, or about the answer that it has given.
_OWN_QUESTION = re.compile(
    r"(?:wait|hmm+|but|so|now|or|and|no|yes|well|actually|really|is (?:it|this|that|the answer)|are (?:you|we|there)"
    r"|right|correct|why|how (?:do|did|can|come)(?!\w)|(?:do|did|does|would|could|can|should|shall|may|have) (?:you"
    r"|we|i|it|this|that)|let|what (?:about|if)|any|anything|need|want)(?!\w)"
    r"|为什么|那么?|所以|但|对吗|是吗|真的|难道|怎么|你|您|我|需要|还有|等等|是不是|这|其他",
    re.IGNORECASE,
)
_BARE = re.compile(r"[^\n]{1,60}\s*")


@dataclass(frozen=True)
class _Question:
    start: int
    sure: bool  # or it may be a question that the writer puts to itself on the way


def own_turn(text: str) -> str:
    """The text up to the end of the model's turn, or up to the next question that is marked as one."""
    text = _END_OF_TURN.split(_START_OF_TURN.sub("", text), maxsplit=1)[0]
    edges = [*(match.start() for match in _NEW_QUESTION.finditer(text)), len(text)]
    start = 0
    for edge in edges:
        if text[start:edge].strip():
            return text[start:edge]
        start = edge
    return text[start:]


def answered_first(
    text: str, read: Callable[[str], Extraction | None], explicit: Callable[[Extraction, str], bool]
) -> Extraction | None:
    """What a text answers before it runs on into another question, if it gives an ``explicit`` answer there; else what
    the model's whole turn answers."""
    text = own_turn(text)
    for question in _questions(text):
        before = text[: question.start]
        first = read(before)
        if first is None or first.answer is None or not explicit(first, before):
            continue
        if question.sure or _BARE.fullmatch(before.strip()):
            return first
        whole = read(text)
        if whole is None or whole.answer == first.answer:
            return first
        return Extraction(None, "several questions", ambiguous=True)
    return read(text)


def _questions(text: str) -> Iterator[_Question]:
    """Where lines that begin a question do, but for the first line with anything on it."""
    found, said = 0, False
    for line in _LINE.finditer(text):
        if not said:
            said = True
            continue
        question = _question(text, line)
        if question is not None:
            yield question
            found += 1
            if found == _QUESTIONS:
                return


def _question(text: str, line: re.Match) -> _Question | None:
    head = _HEAD.match(text, line.start("line"))
    asked = text[head.end() : line.end()] if head else line.group("line")
    rest = text[line.end() : line.end() + _WINDOW]
    options = _OPTIONS.match(rest)
    if options and (_INTRODUCED.search(asked.rstrip("*_ ")) or _JUDGED.search(rest[: options.end() + 60])):
        options = None
    asks = _ASKS.search(asked) is not None or (head is not None and head["number"] is None and "?" in asked)
    if head:
        begins = asks or options or (head["number"] is None and _asks_soon(rest))
        return _Question(line.start(), True) if begins else None
    if re.match(r"[(（\[]?[A-Z][.)、:：）\]]", asked):
        return None
    if options and (asks or len(asked) >= 6) and not _OWN_QUESTION.match(asked):
        return _Question(line.start(), True)
    if not asks or _OWN_QUESTION.match(asked):
        return None
    words = len(re.findall(r"[^\W\u4e00-\u9fff]+", asked)) + len(re.findall(r"[\u4e00-\u9fff]", asked)) / 2
    return _Question(line.start(), words >= 10)


def _asks_soon(rest: str) -> bool:
    """Under a head, the next lines with anything on them ask."""
    lines = [one for one in rest.split("\n") if one.strip()][:3]
    return any(_ASKS.search(one) or _OPTIONS.match(f"\n{one}\n{rest}") for one in lines)
