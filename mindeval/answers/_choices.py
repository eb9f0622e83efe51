"""Extraction of the option that a text chooses."""

from __future__ import annotations

from collections.abc import Sequence

from mindeval.answers._aftermath import alternative, last_correction, retraction, second_look
from mindeval.answers._doubts import certain
from mindeval.answers._evidence import collect
from mindeval.answers._fallbacks import (
    answers_several_questions,
    ends_as_sentence,
    is_heading,
    lone_letters,
    only_mention,
    without_list,
)
from mindeval.answers._labels import Reader
from mindeval.answers._listed import listed_on
from mindeval.answers._result import Extraction
from mindeval.answers._run_on import answered_first
from mindeval.answers._spelled_options import is_option_text, lone_texts, spelled_options, without_own_texts
from mindeval.answers._text import plain, split_reasoning, with_headings
from mindeval.answers._verdicts import CONCLUDED, JUDGED, NAMED, PREFERRED, RULES, Statement, verdict_list

_DISAGREE = "letter and text disagree"


def _ambiguous(rule: str) -> Extraction:
    return Extraction(None, rule, ambiguous=True)


def _unclear(doubt: str) -> Extraction:
    """Options are named, and none is plainly asserted."""
    return _ambiguous(doubt if doubt in (_DISAGREE, "several options") else "doubtful")


def _decide(text: str, statements: list[Statement], reader: Reader, multiple: bool, weakest: int) -> Extraction | None:
    """The last assertion of the strongest kind, unless it is undecided or unsettled by what follows it. Kinds weaker
    than ``weakest`` count only where they correct what was said before."""
    asserted = [one for one in statements if (one.asserted or one.doubt == _DISAGREE) and one.tier != PREFERRED]
    correction = last_correction(text)
    if correction is not None and asserted and asserted[0].position < correction:
        asserted, weakest = [one for one in asserted if one.position >= correction - 1], CONCLUDED
        if not asserted:
            return _ambiguous("answer taken back")
    admitted = [one for one in asserted if one.tier <= weakest]
    if not admitted:
        return None
    look = second_look(text, admitted[0].end)
    anew = [one for one in asserted if look is not None and one.position >= look]
    if anew and anew[-1].position > admitted[-1].position:
        admitted = anew  # what is said after a second look counts, however weakly it is said
    tier = min(one.tier for one in admitted)
    strongest = [one for one in admitted if one.tier == tier]
    last = strongest[-1]
    labels = frozenset().union(*(one.labels for one in strongest)) if tier == JUDGED else last.labels
    if last.doubt == _DISAGREE:
        return _ambiguous(_DISAGREE)
    return _settled(text, last, labels, statements, reader, multiple)


def _settled(
    text: str, last: Statement, labels: frozenset[str], statements: list[Statement], reader: Reader, multiple: bool
) -> Extraction:
    """The answer ``labels``, last stated by ``last``, unless it is undecided or the rest of the text unsettles it."""
    if multiple and len(labels) == 1:
        labels = labels.union(listed_on(text, last.end, next(iter(labels)), reader))
    later = [one for one in statements if one.position >= last.end]
    if len(labels) > 1 and not multiple:
        return _ambiguous("several options")
    if last.opposite and any(one.asserted and not one.opposite and one.labels - labels for one in statements):
        return _ambiguous("contradictory statements")
    others = [one for one in later if not one.denied and one.doubt in ("", "hedge") and one.labels - labels]
    denied = any(one.denied and one.labels & labels for one in later)
    if last.tier == NAMED:
        others = [one for one in others if not one.conceded]
        rivals = frozenset().union(*(one.labels for one in others if one.tier == JUDGED)) - labels
        if len(rivals) > 1:  # the false one was asked for: the others are true, and it is false
            others, denied = [one for one in others if one.tier != JUDGED], False
    # not "D, as A, B and C are correct"
    if denied or any(one.tier != JUDGED or len(one.labels) == 1 or multiple for one in others):
        return _ambiguous("contradictory statements")
    if last_correction(text, last.end) is not None or _taken_back(text, last.end, labels, statements, reader):
        return _ambiguous("answer taken back")
    return Extraction("".join(sorted(labels)), last.rule)


def _taken_back(text: str, end: int, labels: frozenset[str], statements: list[Statement], reader: Reader) -> bool:
    rest = text[end:]
    taken = retraction(rest)
    if taken is not None and not _others(rest[:taken], labels, reader):
        return True
    denied = frozenset().union(*(one.labels for one in statements if one.denied))
    if _others(alternative(rest), labels | denied, reader):
        return True
    look = second_look(text, end)
    return look is not None and bool(_others(text[look:], labels | denied, reader))


def _others(text: str, labels: frozenset[str], reader: Reader) -> set[str]:
    """The labels of the options in a text besides some."""
    found = (reader.one(text, match.start(), lower=False) for match in reader.item.finditer(text))
    spelled = {label for one in reader.texts.mentions(text) if not one.common for label in one.labels}
    return ({one[0] for one in found if one is not None} | spelled) - labels


def _fallback(
    text: str, found: list[Statement], statements: list[Statement], reader: Reader, multiple: bool
) -> Extraction | None:
    """What statements of one weak kind agree on."""
    denied = frozenset().union(*(one.labels for one in [*found, *statements] if one.denied))
    found = [one for one in found if not one.denied and not one.labels <= denied]
    if not found:
        return None
    doubts = [one.doubt for one in found if one.doubt]
    doubts += [one.doubt for one in statements if one.doubt and any(one.end == other.end for other in found)]
    if doubts:
        return _unclear(doubts[0])
    if len({one.labels for one in found}) > 1:
        return _ambiguous("several options")
    rest = [one for one in statements if one.position >= found[0].end]
    return _settled(text, found[0], found[0].labels, rest, reader, multiple)


def _remaining(text: str, statements: list[Statement], reader: Reader) -> Extraction | None:
    """The option that is left where all others are ruled out and it is not spoken of."""
    denied = frozenset().union(*(one.labels for one in statements))
    left = frozenset(reader.labels.values()) - denied
    if len(left) != 1 or len(denied) < 2 or any(not one.denied or one.doubt for one in statements):
        return None
    if any(len(one.labels) > 1 for one in statements) or ends_as_sentence(text):
        spoken_of = _others(text, denied, reader)
        return None if spoken_of else Extraction("".join(left), "exclusion")
    return None


def _from_segment(segment: str, reader: Reader, multiple: bool, language: str | None) -> Extraction | None:
    whole = certain(plain(segment)).strip()
    spelled = is_option_text(whole, reader)
    if spelled:
        return Extraction(spelled[0], "option text") if len(spelled) == 1 else _ambiguous("several options")
    text = whole if verdict_list(whole, reader) else with_headings(without_list(whole, reader, multiple)).strip()
    text = without_own_texts(text, reader)
    statements = collect(text, reader, language)
    if answers_several_questions(text, reader, statements):
        return _ambiguous("several questions")
    decided = _decide(text, statements, reader, multiple, weakest=NAMED)
    if decided is not None:
        return decided
    letters = lone_letters(text, reader)
    judged = _decide(text, statements, reader, multiple, weakest=JUDGED)
    headed = [one for one in letters if is_heading(text, one) and not one.doubt]
    if judged is not None and judged.rule == "several options" and headed:
        judged = None  # "A. Both B and C are true": what is true of the others is the reason
    if judged is not None:
        if judged.answer is not None and any("".join(sorted(one.labels)) != judged.answer for one in headed):
            return _ambiguous("contradictory statements")
        return judged
    texts = lone_texts(text, reader)
    beside = [one for one in statements if not any(o.position <= one.position and one.end <= o.end for o in texts)]
    found = _fallback(text, [*letters, *texts], beside, reader, multiple) or _decide(
        text, statements, reader, multiple, weakest=CONCLUDED
    )
    doubtful = [one.doubt for one in statements if one.doubt]
    if found is None and doubtful:
        return _unclear(doubtful[-1])
    return (
        found
        or _fallback(text, only_mention(text, reader), statements, reader, multiple)
        or _fallback(text, spelled_options(text, reader), statements, reader, multiple)
        or (None if multiple else _remaining(text, statements, reader))
    )


def _is_explicit(found: Extraction, text: str) -> bool:
    return found.rule in (RULES[NAMED], "boxed", "option text", "leading letter", "last line")


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
    C", "the closest option is C"), the only option that a short text mentions or spells, the only one that is not ruled
    out. A statement counts only where its sentence plainly
    asserts it: denied options ("not A", "不选A"), questions, suppositions, hedges ("may be A", "可能选A"), doubts and
    other people's opinions ("some say A", "小明选A") are no answers, nor are letters of terms ("vitamin C"). A later
    correction ("sorry, B", "更正：B") counts more than what it corrects, and an answer that is taken back ("just
    kidding", "收回") or beside which another is offered is ambiguous. Only the answer to
    the question that was asked is read: reasoning blocks are dropped (used only where nothing visible is said), and
    the text is cut where the model runs on into a new question. What is limited to something else ("in question 4, the
    answer is C") replaces no other statement.

    Args:
        text: What the model generated.
        choices: The labels of the options, one character each.
        options: The texts of the options, one per label; with them an answer may be spelled instead of lettered.
            Numbers are compared by their values and units ("2.5" is not option "2"), formulas as they are written;
            texts that are empty or the same as another's are no answers, and words such as "the" only alone or quoted.
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
        found = answered_first(part, lambda text: _from_segment(text, reader, multiple, language), _is_explicit)
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
