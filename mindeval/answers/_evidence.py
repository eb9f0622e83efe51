"""What a text says of options: the statements that a choice is decided from."""

from __future__ import annotations

import re
from dataclasses import replace

from mindeval.answers._aftermath import restarts
from mindeval.answers._doubts import doubt_after
from mindeval.answers._labels import AFFIRMED_AFTER, CLOSE, DENIED_AFTER, OPEN, Labels, Reader
from mindeval.answers._spelled_options import judged_texts
from mindeval.answers._statements import (
    ELSEWHERE,
    Cue,
    all_answer_cues,
    cut_short,
    doubt_of,
    introduces,
    other_cues,
)
from mindeval.answers._text import BOX_MARK
from mindeval.answers._verdicts import CONCLUDED, NAMED, RULES, Statement, all_but, judged, match_end, verdict_list

_BUT = re.compile(
    r"(?:,[^,.;:\n]{1,50},(?=[ \t]*but(?!\w)))?[ \t]*,?[ \t]*(?:but|rather|instead|而是|而应|应)[ \t]*(?:rather|instead"
    r"|is|it's|it is|the|选|为|是)?[ \t]*",
    re.IGNORECASE,
)
_GAP_AFTER_COLON = re.compile(r"\s*[:=\"'“\-–—→>]*\s*")
_ARTICLE = re.compile(r"(?<!\w)(?:the|an?)\s+$", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t]*")
_BLANKS_OR_COMMA = re.compile(r"[ \t]*,?[ \t]*")
_SPACE = re.compile(r"\s*")
_BOX_END = re.compile(r"[ \t]*\n?[ \t]*")  # plain() ends a box with a line
_PLAIN_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?[ \t]*(?:$|[.,;!:。、)\n—–(-]|(?:because|since|as|here|instead|is the|is my|then|now"
    r"|after all)(?!\w)|(?:一致|相符|吻合|匹配|对应|相同)(?=[,.;。)\s]|$)|因为|才|吧|了|啊)",
    re.IGNORECASE,
)
_VERB_OF_CHOICE = re.compile(r"选(?:择|取|定)?$")
_CHOSEN_AFTER = re.compile(
    r"[ \t]*(?:项|选项)?(?:$|[\s.,;:。、!)\]\"'”】(—–-]|是?(?:最|更|比较)?(?:正确|对|合适|恰当|符合|好)|因|由于|才"
    r"|吧|了|啊|即可|[作做]为|这[个一]"
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
_JOINT = re.compile(
    rf"{CLOSE}*[\s,、]*(?:(?:and|or|either|maybe|perhaps|also|possibly|both|to|vs\.?|/|&|->|→|~|或者?|和|与|以及|到"
    rf"|至|还是|也?可能是?)\s*)*{OPEN}*",
    re.IGNORECASE,
)


def collect(text: str, reader: Reader, language: str | None) -> list[Statement]:
    """All statements of a text in order."""
    found = _cued(text, reader, language) + judged(text, reader) + all_but(text, reader) + _corrected(text, reader)
    found = _in_question(found + judged_texts(text, reader))
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


def _in_question(statements: list[Statement]) -> list[Statement]:
    """A statement limited to something else ("in the UK, the answer is B") counts where nothing else is stated."""
    limited = [one for one in statements if one.doubt == ELSEWHERE]
    if any(one.asserted and one.tier == NAMED for one in statements) or not limited:
        return statements
    doubt = "several options" if len({one.labels for one in limited}) > 1 else ""
    return [replace(one, doubt=doubt) if one.doubt == ELSEWHERE else one for one in statements]


def _place(text: str, cue: Cue) -> int:
    """Where the label of a cue begins."""
    said = text[cue.start : cue.end]
    if said[:1] == BOX_MARK:
        return match_end(_SPACE, text, cue.end)
    linked = said.rstrip()[-1:] in (":", "=", "是", "为") or said.lower().endswith("is")
    return match_end(
        _GAP_AFTER_COLON if linked else _BLANKS_OR_COMMA if cue.tier == CONCLUDED else _BLANKS, text, cue.end
    )


def _said(text: str, cue: Cue, reader: Reader) -> tuple[Cue, Labels, str] | None:
    """The labels that a cue introduces, with the rule that finds them, and the cue up to there."""
    position, boxed = _place(text, cue), text[cue.start] == BOX_MARK
    rule = "boxed" if boxed else RULES[cue.tier]
    found = reader.several(text, position)
    spelled = reader.spelled(text, position, cue.start + max(1, len(cue.name)))
    if found and spelled and spelled[1].end >= found.end and (spelled[0] < position or len(found.labels) > 1):
        found = None  # "Both A and B" is an option of its own
    if found is not None:
        return cue, found, rule
    if spelled is not None:
        return cut_short(text, cue, spelled[0]), spelled[1], "option text"
    described = not boxed and not cue.denied and introduces(text, cue)
    bracketed = reader.bracketed(text, position) if described else None
    return (cue, bracketed, rule) if bracketed else None


def _cued(text: str, reader: Reader, language: str | None) -> list[Statement]:
    """Statements that a cue introduces."""
    statements: list[Statement] = []
    for cue in [*(all_answer_cues(text, language) or all_answer_cues(text)), *other_cues(text)]:
        said = _said(text, cue, reader)
        if said is None:
            continue
        cue, found, rule = said
        end = match_end(_BOX_END, text, found.end) if rule == "boxed" else found.end
        lettered = rule != "option text"
        if lettered and len(found.labels) == 1 and reader.contradicts(text, found.end, found.labels[0]):
            doubt = "letter and text disagree"
        elif lettered and cue.tier == CONCLUDED and not cue.denied and not _PLAIN_AFTER.match(text, end):
            continue  # "so A says that": the letter begins a sentence
        else:
            doubt = doubt_of(text, cue)
            if doubt in ("", ELSEWHERE):
                behind = "several options" if found.open else _doubt_after(text, end)
                doubt = behind or reader.divided(text, end, found.labels) or doubt
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


def _corrected(text: str, reader: Reader) -> list[Statement]:
    """ "Oops, I meant B", "更正:B": the option right after a correction or a second look."""
    statements = []
    for position in restarts(text):
        start = match_end(_CORRECTED, text, position)
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
