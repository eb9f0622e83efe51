"""Where a word that means yes or no is an answer, and what it says there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindeval.answers._doubts import clause_before, doubt_after, doubt_before
from mindeval.answers._text import BOX_MARK
from mindeval.answers._words import THEREFORE, THEREFORE_ZH
from mindeval.answers._yes_no_words import Words

# What may follow a word that is an answer: a mark, the reason, a new clause; "no idea", "true love" are other words.
_ENDS_EN = re.compile(
    r"[\"'”)\]]*\s*(?:$|\n|[!,;:)\]\"'”—–。、]|-(?!\w)|\.(?!\s?\d)(?!\w)"
    r"|(?:because|since|as|it|it's|this|that's|these|those|they|he|she|there|we|i|you|the|but|for|due|in (?:this"
    r"|that|the)|to (?:this|that|the|your)|according|given|here|indeed|then|of course"
    r"|sir|thanks?|please|\w+n't)(?!\w))",
    re.IGNORECASE,
)
_ENDS_ZH = re.compile(r"(?:的|了|啊|呀|哦|嘛|呢)?(?:$|[\s,.。!;:)\"'”、—])")
# What may precede it in its clause.
_BEGINS_EN = re.compile(
    rf"^\W*(?:(?:{THEREFORE}|then|oh|well|and|but|i (?:think|believe|say|guess|know|meant?)|i(?:'d"
    r"| would) (?:say|answer|go with)|it(?:'s| is)|that's|that is|is|was|an?|clearly|definitely|absolutely"
    r"|simply|obviously|probably|certainly|hmm|answer|my|the|final|result|conclusion|here|short answer|in short"
    r"|of course|actually|resounding|big|be|must|should)\W+)*$",
    re.IGNORECASE,
)
_COPULA = re.compile(
    r"(?:^\W*|(?<!\w)(?:is|are|was|were|be|seems?|looks?|sounds?|it's|that's|this's|isn't|aren't|wasn't|can't be"
    r"|couldn't be|remains?|not|cannot be|as|deemed|considered|'s)\s+)"
    rf"(?:(?:\w+ly|also|indeed|in fact|not|the|quite|logically|{THEREFORE}|then|be)\s+)*[\"'(]*$",
    re.IGNORECASE,
)
_SUBJECTS = re.compile(
    r"(?<!\w)(?:premise|option|first|second|third|part|half|assumption|converse|opposite|answer \w|one|some"
    r"|only)(?!\w)",
    re.IGNORECASE,
)
_BEGINS_ZH = re.compile(
    rf"(?:{THEREFORE_ZH}|那么?|嗯|哦|我们?(?:认为|觉得|想|说)?|认为|当然|显然|应该?|肯定|确实|的确|答案|结论|结果"
    r"|判断|回答|完全|就|也|都|均|并|很|其实|实际上|[:,\s\"'“(])*"
)
_JUDGED_ZH = re.compile(
    r"(?:是|为|都|就是|也是|说得|显然|完全|均|非常|应该|确实|判断|说法|[句段]话|话|陈述|命题|观点|表述|结论|推理"
    r"|答案|题|论断|描述|论述|判定|有|存在|没|不|非|没有|任何|并)$"
)
_NEGATED = re.compile(
    r"(?:(?<!\w)(?:not|never|cannot be|can't be|couldn't be|isn't|aren't|wasn't|weren't|hardly)\s+(?:be\s+"
    r"|really\s+|actually\s+|at all\s+|a\s+|the\s+)?"
    r"|(?:并不|并非|绝非|绝不|毫不|不是|没有任何|没有什么|没有|并没有|[不没非]))[\"'“(]*$",
    re.IGNORECASE,
)
_HALF_NEGATED = re.compile(
    r"(?:(?<!\w)(?:not|n't|never|isn't|aren't|wasn't)\s+(?:be\s+)?(?:necessarily|always|entirely|completely|quite"
    r"|exactly|fully|wholly|strictly|only|just|totally|merely|strictly speaking)"
    r"|(?<!\w)(?:partly|partially|half|neither|nor|sometimes|mostly|either|both|somewhat|technically)"
    r"|不(?:完全|一定|见得|太|尽|总是?|全|都|够|仅|只)(?:是)?|未必是?|不能说是?|部分|半|有时|很难说|难说|既|又"
    r"|也许是?|可能是?|不知道|不知)\s*$",
    re.IGNORECASE,
)
_NEGATIONS = re.compile(r"(?<!\w)(?:not|cannot|never|no|doubt)(?!\w)|n't(?!\w)|[不没非]", re.IGNORECASE)
_WITHIN = re.compile(r"(?:[但可总只还若要于凡像或老真]|(?<!\w)(?:Dr|Mrs?|Ms)\.\s*)$")  # 但是, "Dr. No"


@dataclass(frozen=True)
class Mention:
    """A word that is an answer where it stands."""

    start: int
    end: int
    answer: str


def mentions_of(text: str, words: Words) -> list[Mention]:
    found = []
    for match in words.pattern.finditer(text):
        answer = read(text, match, words)
        if answer is not None:
            found.append(Mention(match.start(), match.end(), answer))
    return found


def read(text: str, match: re.Match, words: Words) -> str | None:
    """What a word says where it stands, None where it is no answer."""
    word, answer = match.group().lower(), words.meanings[match.group().lower()]
    clause = clause_before(text, match.start()).replace(BOX_MARK, " ")
    if _WITHIN.search(text[max(0, match.start() - 6) : match.start()]) or (word, clause[-1:]) == ("错", "不"):
        return None
    if word == "是" and text[match.end() : match.end() + 1] == ":":
        return None  # 答案是:
    if not ends(text, match) or _HALF_NEGATED.search(clause):
        return None
    if word in ("yes", "no"):
        good = _BEGINS_EN.match(clause) is not None
    elif word.isascii():
        good = (_COPULA.search(clause) or _BEGINS_EN.match(clause)) is not None and not _SUBJECTS.search(clause)
    elif word in ("是", "否"):
        good = _BEGINS_ZH.fullmatch(clause) is not None
    else:
        good = _BEGINS_ZH.fullmatch(clause) is not None or (
            len(clause) <= 20 and (_JUDGED_ZH.search(clause) is not None or (len(word) > 1 and not clause.isascii()))
        )
    negated, doubt = _NEGATED.search(clause), doubt_before(text, match.start())
    once = negated is not None and len(_NEGATIONS.findall(clause)) == 1
    if not good or not (doubt in ("", "wrong") or (doubt == "doubt" and once)) or doubt_after(text, match.end()):
        return None
    if negated is None:
        return answer
    return None if word in ("yes", "no", "是", "否", "不是") else words.opposite(answer)


def ends(text: str, match: re.Match) -> bool:
    pattern = _ENDS_EN if match.group().isascii() else _ENDS_ZH
    return pattern.match(text, match.end()) is not None
