"""What a text says of options: the statements that a choice is decided from."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mindeval.answers._aftermath import restarts
from mindeval.answers._doubts import clause_before, doubt_after, doubt_before
from mindeval.answers._labels import AFFIRMED_AFTER, CLOSE, DENIED_AFTER, OPEN, PREFERRED_AFTER, Labels, Reader
from mindeval.answers._statements import Cue, all_answer_cues, doubt_of, other_cues
from mindeval.answers._text import BOX_MARK

NAMED, JUDGED, CONCLUDED, PREFERRED = 1, 2, 3, 4  # tiers: the kinds of statement, strongest first
_RULES = {NAMED: "answer statement", JUDGED: "judgement", CONCLUDED: "conclusion", PREFERRED: "preference"}

_BUT = re.compile(
    r"[ \t]*,?[ \t]*(?:but|rather|instead|而是|而应|应)[ \t]*(?:rather|instead|is|it's|it is|the|选|为|是)?[ \t]*",
    re.IGNORECASE,
)
_GAP_AFTER_COLON = re.compile(r"\s*[:=\"'“\-–—→>]*\s*")
_BLANKS = re.compile(r"[ \t]*")
_SPACE = re.compile(r"\s*")
_BOX_END = re.compile(r"[ \t]*\n?[ \t]*")  # plain() ends a box with a line
# "A: wrong", "B. 正确", "C ✓": a verdict in a list of options.
_VERDICT = re.compile(
    r"[ \t]*[:.)、\-–—=]?[ \t]*(?:(?P<no>错误|不正确|错|incorrect|wrong|false|no(?!\w|\.)|[✗✘❌]|×(?=\s|[,;.。]|$))"
    r"|(?:正确|对|correct|right|true|yes|[✓✔✅√]))(?=\W|$)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:(?<!\w)(?:and|or|nor|both|neither)|[和或及、,])\s*[(\[\"']*$", re.IGNORECASE)
_EXCEPTED = re.compile(
    r"(?:(?<!\w)(?:except|(?:all|any\w*|every\w*|nothing) but|besides|other than|apart from|aside from|save"
    r"|excluding|not|neither|nor|never|unlike)(?: for)?|除了?|排除|不是|并非)"
    r"\s*(?:that\s+|only\s+|仅|只有)?(?:options?\s*|选项\s*)?[(\[\"']*$",
    re.IGNORECASE,
)
# A label stands for itself at a clause's beginning or after these; elsewhere it ends a term ("vitamin C is").
_APART = re.compile(
    r"(?:^|[\n.,;:!?()、。\"'“”—–/✗✘❌✓✔✅√×\-]|(?<!\w)(?:that|so|only|options?|choices?|answers?|statements?"
    r"|letter|therefore|thus|hence"
    r"|because|since|as|and|or|think|believe|say|but|conclude|know|is|clearly|indeed|then|while|whereas|both"
    r"|although|though"
    r"|see|means|shows?|just|if|either|neither|nor|where|know|find|consider|given|with|\w+ly)"
    r"|选项|只有|仅有?|所以|因此|因而|故|而|但是?|因为|由于|即|答案|认为|觉得|可[知见得]|综上(?:所述)?|说明|得出"
    r"|显然|只|其中|[和与或及]|发现|看出|以及|应该?|选|是"
    r"|其实|如果|若|因|实际上|判断)\s*[(\[{\"'“]*$",
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
_PLAIN_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?[ \t]*(?:$|[.,;!:。、)\n—–(-]|(?:because|since|as|here|instead|is the|is my|then|now"
    r"|after all)(?!\w)|因为|才|吧|了|啊)",
    re.IGNORECASE,
)
_VERB_OF_CHOICE = re.compile(r"选(?:择|取|定)?$")
_CHOSEN_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?(?:$|[\s.,;:。、!)\]\"'”】(—–-]|是?(?:最|更|比较)?(?:正确|对|合适|恰当|符合|好)|因|由于|才"
    r"|吧|了|啊|即可"
    r"|就(?:对|行|可以)|而|不(?:是|选)|非|所以|的(?![人话同学都])|并)"
)
_CORRECTED = re.compile(
    r"[\s,.:;!…。—–-]*(?:(?:i (?:meant?|think|believe|say)|i'd say|it(?:'s| is| should be| must be| has to be)"
    r"|that(?:'s| is| should be| must be)|the|correct|right|answer|final|is|to|it|should be"
    r"|make|that|should|be|have been|said|written|option|choice|my|mind|answer to|actually|really|rather|了|我|的"
    r"|意思|想|说|要|正确|最终|答案|选项|应该|应当|应|是|为|选择|选|成|改|而|一下|刚才)(?:(?<=[^A-Za-z])"
    r"|(?!\w))[\s,:]*)*",
    re.IGNORECASE,
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


def collect(text: str, reader: Reader, language: str | None) -> list[Statement]:
    """All statements of a text in order."""
    found = _cued(text, reader, language) + _judged(text, reader) + _all_but(text, reader) + _corrected(text, reader)
    found = sorted(_joined_boxes(text, found) + verdict_list(text, reader), key=lambda one: (one.position, -one.end))
    kept: list[Statement] = []
    listed = 0  # how far the last list of several labels reaches
    for one in found:
        if len(one.labels) > 1:
            listed = max(listed, one.end)
        elif one.end <= listed and not one.denied:
            continue  # what lies inside a list ("is A → B") states nothing itself
        kept.append(one)
    return kept


def _end(pattern: re.Pattern, text: str, position: int) -> int:
    """Where a match at ``position`` ends; ``position`` where there is none."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _place(text: str, cue: Cue) -> int:
    """Where the label of a cue begins."""
    said = text[cue.start : cue.end]
    if said[:1] == BOX_MARK:
        return _end(_SPACE, text, cue.end)
    linked = said.rstrip()[-1:] in (":", "=", "是", "为") or said.lower().endswith("is")
    return _end(_GAP_AFTER_COLON if linked else _BLANKS, text, cue.end)


def _cued(text: str, reader: Reader, language: str | None) -> list[Statement]:
    """Statements that a cue introduces."""
    statements: list[Statement] = []
    for cue in [*(all_answer_cues(text, language) or all_answer_cues(text)), *other_cues(text)]:
        position, boxed = _place(text, cue), text[cue.start] == BOX_MARK
        found, rule = reader.several(text, position), "boxed" if boxed else _RULES[cue.tier]
        if found is None:
            spelled = reader.option_text(text, position)
            if spelled is None:
                continue
            found, rule = Labels((spelled[0],), spelled[1]), "option text"
        end = _end(_BOX_END, text, found.end) if boxed else found.end
        doubt = doubt_of(text, cue) or ("several options" if found.open else _doubt_after(text, end))
        if rule != "option text" and len(found.labels) == 1 and reader.contradicts(text, found.end, found.labels[0]):
            doubt = "letter and text disagree"
        elif cue.tier == CONCLUDED and not cue.denied and rule != "option text" and not _PLAIN_AFTER.match(text, end):
            continue  # "so A says that": the letter begins a sentence
        if not doubt and _VERB_OF_CHOICE.search(cue.name) and not _CHOSEN_AFTER.match(text, end):
            doubt = "subject"  # "选B必错"
        denied = cue.denied or DENIED_AFTER.match(text, end) is not None
        one = Statement(cue.start, found.end, frozenset(found.labels), cue.tier, rule, denied, doubt, cue.opposite)
        statements.append(one)
        if cue.denied and (but := _BUT.match(text, found.end)) and (chosen := reader.several(text, but.end())):
            labels, doubt = frozenset(chosen.labels), "several options" if chosen.open else ""
            statements.append(
                replace(one, position=but.start(), end=chosen.end, labels=labels, denied=False, doubt=doubt)
            )
    return statements


def _judged(text: str, reader: Reader) -> list[Statement]:
    """ "C is correct", "A错误": a label and what is said of it."""
    statements = []
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        before = text[max(0, match.start() - 40) : match.start()]
        if found is None or not _APART.search(before):
            continue
        denied = DENIED_AFTER.match(text, found[1])
        verdict = denied or AFFIRMED_AFTER.match(text, found[1])
        preferred = None if verdict else PREFERRED_AFTER.match(text, found[1])
        if not (verdict or preferred) or (_LISTED.search(before) and not denied and _list_before(before, reader)):
            continue  # "both A and B are right": what is said is said of the list
        if _EXCEPTED.search(before) and not denied:
            continue
        doubt = doubt_before(text, match.start()) or doubt_after(text, (verdict or preferred or match).end())
        tier = PREFERRED if preferred else JUDGED
        one = Statement(match.start(), found[1], frozenset([found[0]]), tier, _RULES[tier], denied is not None, doubt)
        statements.append(one)
    return statements


def _list_before(before: str, reader: Reader) -> bool:
    """The word before a label joins it to another label, or begins a list."""
    head = _LISTED.sub("", before)
    head = head.rstrip()
    begins = re.search(r"(?:both|neither)\s*[(\[\"']*$", before, re.IGNORECASE)
    return bool(begins) or any(
        match.end() == len(head) and reader.one(head, match.start(), lower=False)
        for match in reader.item.finditer(head)
    )


def _all_but(text: str, reader: Reader) -> list[Statement]:
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


def _corrected(text: str, reader: Reader) -> list[Statement]:
    """ "Oops, I meant B", "更正:B": the option right after a correction or a second look."""
    statements = []
    for position in restarts(text):
        start = _end(_CORRECTED, text, position)
        found = reader.several(text, start, lower=False)
        if found and _PLAIN_AFTER.match(text, found.end) and not DENIED_AFTER.match(text, found.end):
            doubt = "several options" if found.open else doubt_after(text, found.end)
            labels = frozenset(found.labels)
            statements.append(Statement(position, found.end, labels, NAMED, "answer statement", doubt=doubt))
    return statements


def _doubt_after(text: str, end: int) -> str:
    """As doubt_after; a verdict on the label that confirms it ("the answer is B is correct") is no doubt."""
    affirmed = AFFIRMED_AFTER.match(text, end)
    return doubt_after(text, affirmed.end() if affirmed else end)


def _joined_boxes(text: str, statements: list[Statement]) -> list[Statement]:
    r"""``\boxed{A} or \boxed{B}`` is one statement of several options."""
    joined: list[Statement] = []
    for one in sorted(statements, key=lambda one: one.position):
        last = joined[-1] if joined else None
        if last and last.rule == one.rule == "boxed" and _JOINT.fullmatch(text[last.end : one.position]):
            joined[-1] = replace(last, end=one.end, labels=last.labels | one.labels)
        else:
            joined.append(one)
    return joined


_JOINT = re.compile(
    rf"{CLOSE}*[\s,、]*(?:(?:and|or|either|maybe|perhaps|also|possibly|both|to|vs\.?|/|&|->|→|~|或者?|和|与|以及|到"
    rf"|至|还是|也?可能是?)\s*)*{OPEN}*",
    re.IGNORECASE,
)


def verdict_list(text: str, reader: Reader) -> list[Statement]:
    """The verdicts of a list of options, three at least."""
    statements = []
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        verdict = _VERDICT.match(text, match.end(2)) or _VERDICT.match(text, match.end()) if found else None
        if found and verdict and _APART.search(clause_before(text, match.start())):
            denied = verdict.group("no") is not None
            labels = frozenset([found[0]])
            statements.append(Statement(match.start(), verdict.end(), labels, JUDGED, "judgement", denied))
    return statements if len({label for one in statements for label in one.labels}) >= 3 else []


def verdict_at(text: str, end: int) -> bool:
    """A verdict follows a label ("A: wrong")."""
    return _VERDICT.match(text, end) is not None
