"""What a text judges of options: right, wrong, the only one, the better one, in sentences, lists and tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindeval.answers._doubts import clause_before, doubt_after, doubt_before, sentence_after
from mindeval.answers._labels import AFFIRMED_AFTER, DENIED_AFTER, PREFERRED_AFTER, Labels, Reader
from mindeval.answers._words import THEREFORE, THEREFORE_ZH

NAMED, JUDGED, CONCLUDED, PREFERRED = 1, 2, 3, 4  # tiers: the kinds of statement, strongest first
RULES = {NAMED: "answer statement", JUDGED: "judgement", CONCLUDED: "conclusion", PREFERRED: "preference"}
# "A: wrong", "B. 正确", "C ✓": a verdict in a list of options.
_VERDICT = re.compile(
    r"[ \t]*(?:[:.)、\-–—=|(][ \t]*(?:(?:this|that|it)(?: (?:option|choice|answer|statement))? is(?:n't (?P<not>)"
    r"| not (?P<nope>))? ?"
    r"(?:the |clearly |also |therefore )*)?)?(?:(?P<no>错误|不正确|错|incorrect|wrong|false|no(?!\w|\.)|[✗✘❌]|×(?=\s"
    r"|[,;.。)]|$))"
    r"|(?:正确|对|correct|right|true|yes|[✓✔✅√]))(?=\W|$)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:(?<!\w)(?:and|or|nor|both|neither)|[和或及、,])\s*[(\[\"']*$", re.IGNORECASE)
_EXCEPTED = re.compile(
    r"(?:(?<!\w)(?:except|(?:all|any\w*|every\w*|nothing) but|besides|other than|apart from|aside from|save"
    r"|excluding|not|neither|nor|never|unlike|none of(?: the| these)?(?: \w+)?)(?: for)?|除了?|排除|不是|并非)"
    r"\s*(?:that\s+|only\s+|仅|只有)?(?:options?\s*|选项\s*)?[(\[\"']*$",
    re.IGNORECASE,
)
# A label stands for itself at a clause's beginning or after these; elsewhere it ends a term ("vitamin C is").
_APART = re.compile(
    r"(?:^|[\n.,;:!?()、。|•\"'“”—–/✗✘❌✓✔✅√×\-]|(?<!\w)(?:that|so|only|options?|choices?|answers?|statements?"
    rf"|letter|{THEREFORE}"
    r"|because|since|as|it|be|and|or|think|believe|say|but|conclude|know|is|clearly|indeed|then|while|whereas|both"
    r"|although|though"
    r"|see|means|shows?|just|if|either|neither|nor|where|know|find|consider|given|with|\w+ly)"
    rf"|选项|只有|仅有?|{THEREFORE_ZH}|而|但是?|因为|由于|即|答案|认为|觉得|可[知见得]|说明|得出"
    r"|显然|只|其中|[和与或及]|发现|看出|以及|应该?|选|是"
    r"|其实|如果|若|因|实际上|判断|错误?|正确|对)\s*[(\[{\"'“]*$",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"(?<!\w)(?:all|every(?:thing)?|each|any)(?: of)?(?: the)?(?: other)?(?: options?| answers?| choices?"
    r"| statements?| ones)?\s+"
    r"(?:but|except(?: for)?|other than|besides|apart from|aside from)\s+(?:for\s+)?|除了?(?:选项)?",
    re.IGNORECASE,
)
_REST_JUDGED = re.compile(
    r"[ \t]*(?:项|选项)?(?:以外|之外|外)?[ \t,]*(?:其[他余它]|剩下|剩余|别|另外)?的?(?:三个|三|各)?个?(?:选项|答案"
    r"|各项|项)?(?:全部|全|都|均|皆|则)*"
    r"(?:(?:is|are|was|were)\s+(?:all\s+)?)?是?(?P<no>wrong|incorrect|false|错|不正确|不对|不符)?",
    re.IGNORECASE,
)
_RELEVANCE = re.compile(
    rf"[^,。;\n]{{0,30}}[ \t]*[,(（。]?[ \t]*(?:但|且|{THEREFORE_ZH}|与题干|本项)*"
    r"(?:(?P<no>不(?:符合|合)题[意干]|与题[意干]不|不(?:当|应|能)?选|排除)|符合题[意干]|当选)"
)
# "only B satisfies", "C fits and is therefore the best choice"
_ONLY = re.compile(
    r"(?<!\w)only(?:[ \t]+(?:option|choice|answer|statement))?[ \t]*[(\"']?$|(?:只有|仅有?|唯有)(?:选项)?$",
    re.IGNORECASE,
)
_MEETS = re.compile(
    r"[ \t]*(?:(?:is left|is consistent|remains|satisf(?:y|ies)|fits|works|matches|meets|makes sense|holds|survives"
    r"|qualifies|agrees"
    r"|correctly|accurately|describes|provides|gives|addresses|represents|shows|contains|mentions|is supported)(?!\w)"
    r"|(?:选?项)?(?:能|可以)?(?:满足|符合|合适|可能|成立|合理|准确|恰当|体现|与[^,。;\n]{1,8}(?:一致|相符)))",
    re.IGNORECASE,
)
_THEN_BEST = re.compile(
    r"[^.;:?!\n]{1,90}?(?:,|(?<!\w)and)[ \t]*(?:so |which )?(?:it )?(?:is|makes it|would be)[ \t]+(?:(?:therefore"
    r"|thus|hence|clearly)[ \t]+)?"
    r"the[ \t]+(?:best|correct|right|most \w+)[ \t]+(?:choice|option|answer)(?!\w)",
    re.IGNORECASE,
)
_WOULD = re.compile(r"(?<!\w)would(?!\w)", re.IGNORECASE)
_UNREAL = re.compile(r"(?<!\w)(?:if|unless|had|provided|but|only)(?!\w)", re.IGNORECASE)
_ASKS = re.compile(
    r"^\W*(?:is|could|can|would)(?: it| the answer| this)(?: be)?(?: option| choice)?\W*$|^\W*$", re.IGNORECASE
)
_ASKED_AND_AFFIRMED = re.compile(r"[)\"' \t]*\?\s*(?:yes|correct|right|exactly)(?=\s*(?:[.!,;\n]|$))", re.IGNORECASE)
_LINE = re.compile(r"[^\n]*")
_OPTION_LINE = re.compile(
    r"^[ \t]*(?:[|•-]|\d{1,2}[.)])?[ \t]*(?:(?:(?P<no>[✗✘❌×])|[✓✔✅√☑])\ufe0f?[ \t]*(?P<marked>))?(?:(?:option|choice"
    r"|选项)[ \t]*)?",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_VERDICT = re.compile(
    r"[|:(→,\-–—.✗✘❌✓✔✅√×)][ \t]*(?:(?P<no>(?:错误|不正确|不符合(?:题意)?|错|incorrect|wrong|false|not correct|no"
    r"|eliminated?|[✗✘❌×])"
    r"[ \t]*(?:[✗✘❌×]️?)?)|(?:正确|符合(?:题意)?|对|correct|right|true|yes|[✓✔✅√])[ \t]*[✓✔✅√]?️?)"
    r"[ \t]*(?:answer|option|choice)?[ \t.!)|。️]*$",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Statement:
    """What is said of some options at a place: asserted, ``denied``, or doubtful (``doubt`` names why)."""

    position: int
    end: int
    labels: frozenset[str]
    tier: int
    rule: str
    denied: bool = False
    doubt: str = ""
    opposite: bool = False  # "the false statement is C": what was asked for may be the false one

    @property
    def asserted(self) -> bool:
        return not self.denied and not self.doubt


def match_end(pattern: re.Pattern, text: str, position: int) -> int:
    """Where a match at ``position`` ends; ``position`` where there is none."""
    match = pattern.match(text, position)
    return match.end() if match else position


def judged(text: str, reader: Reader) -> list[Statement]:
    """ "C is correct", "A错误", "A, B and D are wrong": labels and what is said of them."""
    statements: list[Statement] = []
    reached = 0
    for match in reader.item.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        listed = reader.several(text, match.start(), lower=False) if match.start() >= reached else None
        if listed is None or not _APART.search(before):
            continue
        alone = reader.one(text, match.start(), lower=False)
        if len(listed.labels) > 1 and (one := _verdict_on(text, match.start(), listed, before)) is not None:
            statements.append(one)
            reached = listed.end
            continue
        one = _verdict_on(text, match.start(), Labels((alone[0],), alone[1]), before) if alone else None
        if one and (one.denied or not (_LISTED.search(before) and _list_before(before, reader))):
            statements.append(one)
    return statements


def _verdict_on(text: str, start: int, found: Labels, before: str) -> Statement | None:
    """What is said of labels right after them."""
    denied, affirmed = DENIED_AFTER.match(text, found.end), AFFIRMED_AFTER.match(text, found.end)
    if affirmed is None and (yes := _ASKED_AND_AFFIRMED.match(text, found.end)):
        asks = _ASKS.search(clause_before(text, start)) is not None
        return Statement(start, yes.end(), frozenset(found.labels), JUDGED, "judgement") if asks else None
    if not (denied or affirmed) and (alone := _ONLY.search(before)):
        affirmed = _MEETS.match(text, found.end)
        start -= len(alone.group())
    verdict = denied or affirmed
    if verdict is None and len(found.labels) == 1 and (best := _THEN_BEST.match(text, found.end)):
        verdict = best if not re.search(r"(?<!\w)(?:not|[A-Z])(?!\w)", best.group()) else None
    preferred = None if verdict else PREFERRED_AFTER.match(text, found.end)
    said = verdict or preferred
    if said is None or (_EXCEPTED.search(before) and not denied):
        return None
    end = said.end()
    if verdict and (relevant := _RELEVANCE.match(text, end)):  # "C错误,符合题意": the false one was asked for
        denied, end = relevant if relevant.group("no") else None, relevant.end()
    doubt = doubt_before(text, start) or ("several options" if found.open and not denied else doubt_after(text, end))
    if not doubt and _WOULD.search(said.group()) and _UNREAL.search(sentence_after(text, end)):
        doubt = "condition"  # "C would be right if it were hot"
    tier = PREFERRED if preferred else JUDGED
    return Statement(start, found.end, frozenset(found.labels), tier, RULES[tier], denied is not None, doubt)


def _list_before(before: str, reader: Reader) -> bool:
    """The word before a label joins it to another label, or begins a list."""
    head = _LISTED.sub("", before)
    head = head.rstrip()
    begins = re.search(r"(?:both|neither)\s*[(\[\"']*$", before, re.IGNORECASE)
    return bool(begins) or any(
        match.end() == len(head) and reader.one(head, match.start(), lower=False)
        for match in reader.item.finditer(head)
    )


def all_but(text: str, reader: Reader) -> list[Statement]:
    """ "All but C are wrong", "除了C都错": the excepted option; where the others are right, nothing is chosen."""
    statements = []
    for match in _ALL_BUT.finditer(text):
        found = reader.several(text, match.end(), lower=False)
        judged = _REST_JUDGED.match(text, found.end) if found else None
        if not found or not judged:
            continue
        doubt = doubt_before(text, match.start()) or doubt_after(text, judged.end())
        if not judged.group("no"):
            doubt = "exception"
        statements.append(
            Statement(match.start(), judged.end(), frozenset(found.labels), JUDGED, "exclusion", doubt=doubt)
        )
    return statements


def verdict_list(text: str, reader: Reader) -> list[Statement]:
    """The verdicts of a list or table of options, three at least."""
    statements = _verdict_lines(text, reader)
    ends = {one.position for one in statements}
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        verdict = _VERDICT.match(text, match.end(2)) or _VERDICT.match(text, match.end()) if found else None
        if not found or not verdict or match.start() in ends or not _APART.search(clause_before(text, match.start())):
            continue
        turned = verdict.group("not") is not None or verdict.group("nope") is not None
        denied = (verdict.group("no") is not None) != turned
        labels = frozenset([found[0]])
        statements.append(Statement(match.start(), verdict.end(), labels, JUDGED, "judgement", denied))
    return statements if len({label for one in statements for label in one.labels}) >= 3 else []


def _verdict_lines(text: str, reader: Reader) -> list[Statement]:
    """Lines that begin with an option and end with a verdict ("| B | fits | ✓ |"), or begin with a mark ("✓ B")."""
    statements = []
    for line in _OPTION_LINE.finditer(text):
        found = reader.one(text, line.end(), lower=False)
        if found is None:
            continue
        end = match_end(_LINE, text, found[1])
        others = any(reader.one(text, item.start(), False) for item in reader.item.finditer(text, found[1], end))
        marked = line if line["marked"] is not None else None
        verdict = None if others else _LINE_VERDICT.search(text, found[1], end) or marked
        if verdict:
            labels, denied = frozenset([found[0]]), verdict.group("no") is not None
            statements.append(Statement(line.end(), end, labels, JUDGED, "judgement", denied))
    return statements


def verdict_at(text: str, end: int) -> bool:
    """A verdict follows a label ("A: wrong")."""
    return _VERDICT.match(text, end) is not None
