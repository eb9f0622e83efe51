"""Extraction of the option that a text chooses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mindeval.answers._labels import AFFIRMED_AFTER, CLOSE, DENIED_AFTER, OPEN, Reader, canonical
from mindeval.answers._result import Extraction
from mindeval.answers._statements import CORRECTION, RETRACTION, answer_cues, clause_before, is_asked, other_cues
from mindeval.answers._text import BOX_MARK, plain, segments, split_reasoning

_UNASSERTED = re.compile(
    r"(?<!\w)(?:if|whether|suppose|assume|assuming|unless|wrong|incorrect|false|worst)(?!\w)"
    r"|如果|假如|假设|若|是否|错误|不正确",
    re.IGNORECASE,
)
# "A: wrong", "B. 正确": a verdict in a list of options, if the list is longer than options that say True and False.
_VERDICT = re.compile(
    r"[ \t]*[:.)、\-–—][ \t]*(?:(错误|不正确|错|incorrect|wrong)|(?:正确|对|correct))(?=\W|$)", re.IGNORECASE
)
_BUT = re.compile(
    r"[ \t]*,?[ \t]*(?:but|rather|instead|而是|而应|应)[ \t]*(?:rather|instead|is|it's|it is|the|选|为|是)?[ \t]*",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:(?<!\w)(?:and|or|nor|both|neither)|[和或及、])\s*[(\[\"']*$", re.IGNORECASE)
_HEAD = re.compile(r"[\s\W]*\w[)\]]?(?:[.):]|\s*\n)")  # an answer sheet's "C." or "C)", not the subject of a sentence
_GAP_AFTER_COLON = re.compile(r"\s*[:=\"'“\-–—→>]*\s*")


@dataclass(frozen=True)
class _Statement:
    position: int
    end: int
    labels: frozenset[str]
    denied: bool
    hedged: bool
    tier: int
    rule: str


def _after(pattern: re.Pattern, text: str, position: int) -> int:
    """Where a match at ``position`` ends; ``position`` where there is none."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _cued_statements(text: str, reader: Reader, language: str | None) -> list[_Statement]:
    statements = []
    for cue in [*(answer_cues(text, language) or answer_cues(text)), *other_cues(text)]:
        position = cue.end
        if text[cue.start : position].rstrip()[-1:] in (":", "=", "是", "为", BOX_MARK) or text[
            cue.start : position
        ].lower().endswith("is"):
            position = _after(_GAP_AFTER_COLON, text, position)
        else:
            position += len(text[position:]) - len(text[position:].lstrip(" \t"))
        if text[cue.start : cue.start + 1] == BOX_MARK:
            position = cue.end + len(text[cue.end :]) - len(text[cue.end :].lstrip())
        found, rule = reader.several(text, position), "option text"
        if found is not None:
            rule = "boxed" if text[cue.start] == BOX_MARK else ("answer statement", "", "conclusion")[cue.tier - 1]
            if len(found[0]) == 1 and reader.contradicts(text, found[1], found[0][0]):
                statements.append(
                    _Statement(
                        position,
                        found[1],
                        frozenset(reader.labels.values()),
                        cue.denied,
                        cue.hedged,
                        cue.tier,
                        "letter and text disagree",
                    )
                )
                continue
        elif (spelled := reader.option_text(text, position)) is not None:
            found = ([spelled[0]], spelled[1])
        else:
            continue
        denied = cue.denied or (not cue.denied and DENIED_AFTER.match(text, found[1]) is not None)
        statements.append(_Statement(cue.start, found[1], frozenset(found[0]), denied, cue.hedged, cue.tier, rule))
        if cue.denied and (but := _BUT.match(text, found[1])) and (chosen := reader.several(text, but.end())):
            statements.append(
                _Statement(but.start(), chosen[1], frozenset(chosen[0]), False, cue.hedged, cue.tier, rule)
            )
    return statements


def _judged_mentions(text: str, reader: Reader) -> list[_Statement]:
    """ "C is correct", "A错误": a label and what is said of it."""
    statements = []
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        if found is None or is_asked(text, found[1]) or _UNASSERTED.search(clause_before(text, match.start())):
            continue
        denied = DENIED_AFTER.match(text, found[1]) is not None
        listed = _LISTED.search(text[: match.start()])
        if listed and not denied:
            continue  # "both A and B are right": what is said is said of the list
        if denied or AFFIRMED_AFTER.match(text, found[1]):
            statements.append(_Statement(match.start(), found[1], frozenset([found[0]]), denied, False, 2, "judgement"))
    return statements


def _verdicts(text: str, reader: Reader) -> list[_Statement]:
    """The verdicts of a list of options, three at least."""
    statements = []
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        verdict = _VERDICT.match(text, match.end(2)) if found else None
        if found and verdict:
            denied = verdict.group(1) is not None
            statements.append(
                _Statement(match.start(), verdict.end(), frozenset([found[0]]), denied, False, 2, "judgement")
            )
    return statements if len({label for statement in statements for label in statement.labels}) >= 3 else []


def _decide(text: str, statements: list[_Statement], multiple: bool, weakest: int) -> Extraction | None:
    """The last assertion of the strongest kind, unless it is undecided or taken back. Conclusions (tier 3) count when
    ``weakest`` admits them, or when they correct what was said before."""
    statements = sorted(statements, key=lambda statement: statement.position)
    correction = max((match.end() for match in CORRECTION.finditer(text)), default=None)
    asserted = [statement for statement in statements if not statement.denied]
    if correction is not None and asserted and asserted[-1].end > correction:
        asserted, weakest = [statement for statement in asserted if statement.end > correction], 3
    elif correction is not None and asserted and RETRACTION.match(text[correction:].lstrip(" ,.")):
        return Extraction(None, "answer taken back", ambiguous=True)
    asserted = [statement for statement in asserted if statement.tier <= weakest]
    firm = [statement for statement in asserted if not statement.hedged] or asserted
    if not firm:
        return None
    tier = min(statement.tier for statement in firm)
    strongest = [statement for statement in firm if statement.tier == tier]
    labels = strongest[-1].labels if tier != 2 else frozenset().union(*(statement.labels for statement in strongest))
    last = strongest[-1]
    if last.rule == "letter and text disagree":
        return Extraction(None, last.rule, ambiguous=True)
    taken_back = [s for s in statements if s.denied and s.position > last.end and s.labels & labels]
    if taken_back or (len(labels) > 1 and not multiple):
        return Extraction(None, "contradictory statements" if taken_back else "several options", ambiguous=True)
    return Extraction("".join(sorted(labels)), last.rule)


def _listing(text: str, reader: Reader) -> str:
    """The text without lines that repeat the question's options ("A. one", "B. two", ...)."""
    lines = text.split("\n")
    kept: list[str] = []
    block: list[str] = []
    expected = list(reader.labels)

    def flush() -> None:
        kept.extend(block if len(block) < 2 else [])
        block.clear()

    for line in lines:
        label = re.match(rf"\s*{OPEN}?([A-Za-z0-9])(?:{CLOSE}|[.):、])\s*\S", line)
        if label and len(block) < len(expected) and label.group(1).upper() == expected[len(block)]:
            block.append(line)
            continue
        flush()
        kept.append(line)
    flush()
    return "\n".join(kept)


def _leading_or_last(text: str, reader: Reader, multiple: bool) -> Extraction | None:
    """A letter that stands alone at the beginning, or on the last line."""
    text = _listing(text, reader).strip()
    start = re.match(r"[\s:.,\-–—>]*", text)
    found = {}
    for rule, part in (
        ("leading letter", text[start.end() if start else 0 :]),
        ("last line", text.rsplit("\n", 1)[-1].strip()),
    ):
        match = reader.several(part, 0)
        if match is None or DENIED_AFTER.match(part, match[1]) or _VERDICT.match(part, match[1]):
            continue
        rest = part[match[1] :]
        alone = re.fullmatch(r"\s*[.。!)]*\s*", rest) is not None
        if rule == "last line" and not alone:
            continue
        if rest and not re.match(r"\s*(?:$|[.):,。、;!|\]\-–—\n]|[\u4e00-\u9fff])|[ \t]", rest):
            continue
        if match[0][0].isalpha() and part[:1].islower() and not alone and not re.match(r"[.):]", rest):
            continue
        if len(match[0]) == 1 and reader.contradicts(part, match[1], match[0][0]):
            return Extraction(None, "letter and text disagree", ambiguous=True)
        found[rule] = frozenset(match[0])
    if not found:
        return None
    labels = next(iter(found.values()))
    if len(set(found.values())) > 1 or (len(labels) > 1 and not multiple):
        return Extraction(None, "several options", ambiguous=True)
    return Extraction("".join(sorted(labels)), next(iter(found)))


_SHORT = 6


def _mentions(text: str, reader: Reader, multiple: bool, denied: frozenset[str]) -> Extraction | None:
    """The only option that is mentioned as an option: "(C)", "option C", or any letter of a very short text."""
    short = len(re.findall(r"\w+", text)) <= _SHORT
    labels: set[str] = set()
    for match in reader.item.finditer(text):
        found = reader.one(text, match.start(), lower=False)
        if found is None or is_asked(text, found[1]) or _UNASSERTED.search(clause_before(text, match.start())):
            continue
        bracketed = bool(match.group(1).strip("\"'")) and bool((match.group(3) or "").strip("\"'"))
        named = re.search(r"(?:(?<!\w)(?:option|choice|answer)\s*|选项\s*)$", text[: match.start()], re.IGNORECASE)
        following = re.match(r"项|选项", text[found[1] :])
        apart = re.search(r"(?:^|[:,\n\u3000-\u9fff])\s*[(\[\"']*$", text[: match.start()])
        if bracketed or named or following or (short and apart):
            labels.add(found[0])
    labels -= denied
    if not labels:
        return None
    if len(labels) > 1 and not multiple:
        return Extraction(None, "several options", ambiguous=True)
    return Extraction("".join(sorted(labels)), "only option mentioned") if len(labels) == 1 else None


def _option_texts(text: str, reader: Reader, denied: frozenset[str]) -> Extraction | None:
    """The only option whose text occurs."""
    if reader.text is None:
        return None
    labels = {
        reader.by_text[canonical(match.group(1))] for match in reader.text.finditer(re.sub(r"\s+", " ", text))
    } - denied
    if not labels:
        return None
    if len(labels) > 1:
        return Extraction(None, "several options", ambiguous=True)
    return Extraction(labels.pop(), "option text")


def _from_segment(segment: str, reader: Reader, multiple: bool, language: str | None) -> Extraction | None:
    text = plain(segment)
    if reader.text is not None and canonical(text.strip().strip(BOX_MARK)) in reader.by_text:
        return Extraction(reader.by_text[canonical(text.strip().strip(BOX_MARK))], "option text")
    stated = _listing(text, reader)
    statements = _cued_statements(stated, reader, language) + _judged_mentions(stated, reader) + _verdicts(text, reader)
    denied = frozenset().union(*(statement.labels for statement in statements if statement.denied))
    decided = _decide(stated, statements, multiple, weakest=2)
    if decided is not None and decided.rule == "judgement":
        headed = _HEAD.match(_listing(text, reader).strip())
        leading = _leading_or_last(text, reader, multiple) if headed else None
        if leading is not None and leading.answer not in (None, decided.answer):
            return Extraction(None, "contradictory statements", ambiguous=True)
    return (
        decided
        or _leading_or_last(text, reader, multiple)
        or _decide(stated, statements, multiple, weakest=3)
        or _mentions(stated, reader, multiple, denied)
        or _option_texts(stated, reader, denied)
    )


def extract_choice(
    text: str,
    choices: Sequence[str] = "ABCD",
    *,
    options: Sequence[str] | None = None,
    multiple: bool = False,
    language: str | None = None,
) -> Extraction:
    """The option that a generated text chooses.

    Rules, strongest first: the last explicit statement ("the answer is C", ``\\boxed{C}``, "故选C"), what is said of
    the options ("C is correct", "A错误"), a letter alone at the beginning or on the last line, a conclusion ("so it's
    C"), the only option mentioned, the only option whose text occurs. Denied options ("not A", "不选A"), questions and
    suppositions are no answers. A later correction ("wait, ...") counts more than what it corrects. Only the answer to
    the question that was asked is read: reasoning blocks are dropped (used only where nothing visible is said), and
    the text is cut where the model runs on into a new question.

    Args:
        text: What the model generated.
        choices: The labels of the options, one character each.
        options: The texts of the options, one per label; with them an answer may be spelled instead of lettered.
        multiple: Whether several options may be chosen; the answer is then the sorted labels joined, e.g. ``"AC"``.
        language: ``"en"`` or ``"zh"``: the language whose statements are looked for first; None reads both alike.

    Returns:
        Extraction: ``answer`` is a label (or joined labels), or None when nothing is chosen or the text is ambiguous.

    Raises:
        ValueError: If labels repeat or are longer than one character, options and labels differ in number, or the
            language is unknown.
        TypeError: If the text is not a str.

    Examples:
        >>> from mindeval.answers.extraction import extract_choice
        >>> extract_choice("It's not A, because ice floats. The answer is (C).").answer
        'C'
        >>> extract_choice("A错误，B错误，故选C").answer
        'C'
        >>> extract_choice("The answer is A or B.")
        Extraction(answer=None, rule='several options', ambiguous=True)
        >>> extract_choice("Carbon dioxide.", "AB", options=["Oxygen", "Carbon dioxide"]).answer
        'B'
    """
    labels = _checked_labels(choices, options, language)
    visible, reasoning, rule = split_reasoning(text)
    reader = Reader(labels, options)
    for part in (visible, reasoning):
        for segment in segments(part)[:1]:
            found = _from_segment(segment, reader, multiple, language)
            if found is not None:
                return found
        if rule == "unclosed reasoning":
            return Extraction(None, rule)
    return Extraction(None, "no answer" if text.strip() else "empty text")


def _checked_labels(choices: Sequence[str], options: Sequence[str] | None, language: str | None) -> list[str]:
    labels = [str(choice) for choice in choices]
    if (
        not labels
        or any(len(label) != 1 for label in labels)
        or len({label.upper() for label in labels}) != len(labels)
    ):
        raise ValueError(f"choices must be different labels of one character each, such as 'ABCD', but got {choices!r}")
    if options is not None and len(options) != len(labels):
        raise ValueError(f"options must have one text per label, but got {len(options)} texts for {len(labels)} labels")
    if language not in (None, "en", "zh"):
        raise ValueError(f"language must be 'en', 'zh' or None, but got {language!r}")
    return labels
