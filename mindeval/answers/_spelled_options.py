"""Options that a text spells: alone, as what a sentence judges, among other words, or behind their own letters."""

from __future__ import annotations

import re

from mindeval.answers._doubts import clause_before, doubt_after, doubt_before
from mindeval.answers._labels import DENIED_AFTER, Reader
from mindeval.answers._option_texts import Mention, is_quoted, stands_alone
from mindeval.answers._text import BOX_MARK
from mindeval.answers._verdicts import JUDGED, Statement
from mindeval.answers._words import THEREFORE, THEREFORE_ZH

SHORT = 15  # words of a text that may hold its answer anywhere
# Texts of options that sound like a verdict on their letter or like taking it back.
_VERDICT_LIKE = re.compile(
    r"(?<!\w)(?:yes|no|not|none|nope|never|neither|nor|true|false|(?:in)?correct|right|wrong|(?:in)?valid|untrue"
    r"|(?:im|un)?possible|(?:un)?likely|doubtful|inaccurate)(?!\w)|[不错非否未无没对]|正确",
    re.IGNORECASE,
)
_OWN_VERDICT = re.compile(
    r"(?P<said>yes|no|true|false|(?:in)?correct|right|wrong|(?:in)?valid|错误|正确|对|错|是|否|不是|不正确|不对|有|没有)"
    r"(?:,[ \t]*(?:true|false|yes|no))?(?P<end>[.。!]?)(?=\s*(?:$|\n)|[.。!]\s|,?\s(?:because|since|as)(?!\w))",
    re.IGNORECASE,
)
_BEHIND_LETTER = re.compile(r"[ \t]*[.):、,\-–—]?[ \t]*")
_MARKED = re.compile(r"[)\]]$|^[ \t]*[.)、]")
_FULL_STOP = re.compile(r"[.。!]?")
# "zinc is the correct answer", "zinc would be right", 锌才是正确答案
_IS_ANSWER = re.compile(
    r"[\"'”]?\s*(?:(?:is|are|was|were|would be|must be|should be|has to be)\s+(?:(?:\w+ly|also|then|indeed)\s+)?"
    r"(?:(?:the|my|our|a|both|all)\s+)?"
    r"(?:(?:(?:only|single|most \w+|best|correct|right|final|true)\s+){0,2}"
    r"(?:answers?|options?|choices?|one|solution|response)(?!\w)"
    r"(?! (?:to|for) (?:an?(?:other)?|the (?:next|last))(?!\w))"
    r"|(?:correct|right)(?=\s*(?:[.,;:!\n]|$|(?:because|since|as|here)(?!\w))))"
    r"|(?:才?是|为|就是)(?:本题|唯一|最)?的?(?:正确|最佳|最终|恰当)?的?(?:答案|选项)|是?正确的?(?=[。.,;\s]|$))",
    re.IGNORECASE,
)
_IS_USED = re.compile(
    r"[\"'”]\s*(?:is|should be|must be)\s+(?:\w+ly\s+)?(?:used|needed|required|chosen)(?!\w)|[\"'”]\s*(?:应|用于|用在)",
    re.IGNORECASE,
)
_GIVEN_BEFORE = re.compile(r"^\W*$|(?:answer|option|choice|答案)\s*(?:is|:|是|为)\s*$", re.IGNORECASE)
_SUBJECT_BEFORE = re.compile(
    rf"^\W*(?:(?:{THEREFORE}|then|and|clearly|obviously|the|an?|option|answer|choice|only|i think|i believe"
    rf"|{THEREFORE_ZH}|选项|[A-Z])\W+)*\W*$",
    re.IGNORECASE,
)
_HEDGED_AFTER = re.compile(
    r"\s*(?:(?:might|may|could|seems?|appears?|possibly|perhaps)(?!\w)|可能|也许|或许)", re.IGNORECASE
)
_REASON_AFTER = re.compile(r"[\"'”]?\s*,?\s*(?:(?:because|since|as|due to)(?!\w)|因为|由于)", re.IGNORECASE)
_ENDED = re.compile(r"[\"'”]?[.!。](?=\s|$)")
_SHORT_ANSWER = re.compile(r"(?:yes|no|true|false|是|否|对|错|正确|错误)[,，]", re.IGNORECASE)


def is_option_text(text: str, reader: Reader) -> tuple[str, ...]:
    """The labels of the options that the whole text spells; none where it is a label as well."""
    text = text.strip().strip(BOX_MARK).strip()
    return () if text in reader.labels.values() and text.isupper() else reader.texts.whole(text)


def without_own_texts(text: str, reader: Reader) -> str:
    """The text with blanks in place of the options' own texts behind their letters ("B. No", "(B) Incorrect") where
    these would pass for verdicts or for other letters."""
    found = [(match, one[0]) for match in reader.item.finditer(text) if (one := reader.one(text, match.start(), False))]
    for match, label in reversed(found):
        gap = _BEHIND_LETTER.match(text, match.end())
        start = gap.end() if gap else match.end()
        if not _MARKED.search(match.group()) and not text[match.end() : start].strip():
            continue  # "B wrong", "B错误": a verdict
        if reader.texts.of_label:
            own = reader.texts.at(text, start)
            if own is None or label not in own.labels or not _misleads(text[own.start : own.end], reader):
                continue
            if not stands_alone(text, own.end) and not _REASON_AFTER.match(text, own.end):
                continue
            stop = _FULL_STOP.match(text, own.end)
            end = stop.end() if stop else own.end
        else:
            said, before = _OWN_VERDICT.match(text, start), text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if said is None or not _GIVEN_BEFORE.search(before):
                continue
            if start == match.end() or len({other for _, other in found}) > 1:
                continue  # "(A)正确"
            if not before and match.group() == "A" and ":" in text[match.end() : start]:
                continue  # "A: Yes", the answer to a "Q:"
            end = said.end()
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _misleads(option: str, reader: Reader) -> bool:
    named = (reader.one(option, match.start(), lower=False) for match in reader.item.finditer(option))
    return _VERDICT_LIKE.search(option) is not None or any(named)


def judged_texts(text: str, reader: Reader) -> list[Statement]:
    """ "Zinc is the correct answer", "锌是正确答案": options' texts and what is said of them."""
    statements = []
    for one in reader.texts.mentions(text):
        is_answer = _IS_ANSWER.match(text, one.end) or _IS_USED.match(text, one.end)
        denied = DENIED_AFTER.match(text, one.end)
        verdict = denied or is_answer
        if verdict is None or one.common or not _SUBJECT_BEFORE.match(clause_before(text, one.start)):
            continue
        doubt = doubt_before(text, one.start) or doubt_after(text, verdict.end()) or _of_several(one)
        statements.append(
            Statement(one.start, verdict.end(), frozenset(one.labels), JUDGED, "option text", denied is not None, doubt)
        )
    return statements


def lone_texts(text: str, reader: Reader) -> list[Statement]:
    """An option's text alone on the first or the last line, or as a first sentence that goes on with its reason."""
    statements = []
    lines = [match for match in re.finditer(r"[^\n]+", text) if match.group().strip()]
    for line in [lines[0], lines[-1]] if len(lines) > 1 else []:
        if labels := is_option_text(line.group(), reader):
            doubt = "several options" if len(labels) > 1 else ""
            statements.append(
                Statement(line.start(), line.end(), frozenset(labels), JUDGED, "option text", doubt=doubt)
            )
    mentions = reader.texts.mentions(text)
    first = mentions[0] if mentions else None
    if first is None or re.search(r"\w", text[: first.start].replace(BOX_MARK, "")):
        return statements
    others = any(set(one.labels) - set(first.labels) for one in mentions[1:])
    ended = _ENDED.match(text, first.end) or _SHORT_ANSWER.match(text, first.start)
    if _REASON_AFTER.match(text, first.end) or (ended and not others):
        doubt = doubt_after(text, first.end) or _of_several(first)
        statements.append(
            Statement(first.start, first.end, frozenset(first.labels), JUDGED, "option text", doubt=doubt)
        )
    return statements


def spelled_options(text: str, reader: Reader) -> list[Statement]:
    """Options whose texts occur in a short text."""
    words = len(re.findall(r"[^\W\u4e00-\u9fff]+|[\u4e00-\u9fff]{2}", text))
    statements = []
    for one in reader.texts.mentions(text) if words <= 2 * SHORT else []:
        brief = one.end - one.start < 3 and text[one.end - 1 : one.end].isalpha()
        if one.common or (brief and words > 6 and not is_quoted(text, one.start, one.end)):
            continue
        denied = DENIED_AFTER.match(text, one.end) is not None
        doubt = doubt_before(text, one.start) or doubt_after(text, one.end) or _of_several(one)
        doubt = doubt or ("letter and text disagree" if _behind_another_letter(text, one, reader) else "")
        doubt = doubt or ("hedge" if _HEDGED_AFTER.match(text, one.end) else "")
        statements.append(Statement(one.start, one.end, frozenset(one.labels), JUDGED, "option text", denied, doubt))
    return statements


def _behind_another_letter(text: str, one: Mention, reader: Reader) -> bool:
    begin = max(0, one.start - 8)
    for match in reader.item.finditer(text, begin, one.start):
        found = reader.one(text, match.start(), lower=False)
        if found and _BEHIND_LETTER.fullmatch(text, match.end(), one.start):
            return found[0] not in one.labels
    return False


def _of_several(one: Mention) -> str:
    return "several options" if len(one.labels) > 1 else ""
