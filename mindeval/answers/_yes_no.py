"""Extraction of Yes/No answers, in any two words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindeval.answers._aftermath import last_correction, restarts, retraction, withdrawn
from mindeval.answers._doubts import certain, doubt_after, doubt_before, is_asked
from mindeval.answers._result import Extraction
from mindeval.answers._run_on import answered_first
from mindeval.answers._statements import all_answer_cues, doubt_of
from mindeval.answers._text import BOX_MARK, fold, plain, split_reasoning
from mindeval.answers._words import THEREFORE
from mindeval.answers._yes_no_mentions import Mention, ends, mentions_of, read
from mindeval.answers._yes_no_words import AFFIRMATIVE, NEGATIVE, Words

_NOT_THE_CASE = re.compile(
    rf"(?:^|[.!?,;:\n]\s{{0,3}})(?:(?:{THEREFORE}|but|however)[,\s]+)?(?:that|this|it|such|which)(?:'s"
    r"|\s+(?:is|was))?(?:\s+(?:not|never)|\s*(?:isn't|wasn't))"
    r"\s+(?:actually\s+|really\s+)?(?:the case|so|it)(?=\s*[.!,;\n]|\s*$)"
    r"|(?:^|[,。!;\n])\s{0,3}(?:事实)?(?:并非如此|并不是(?:这样|如此)|不是(?:这样|这么回事)"
    r"|非也)(?:的)?(?=[,。!;\s]|$)",
    re.IGNORECASE,
)

_BOTH = re.compile(r"\W*(?:and|or|but also|和|或者?|又|也)\W*", re.IGNORECASE)
_CORRECTED = re.compile(
    r"(?:[\s,.:;!…。—–-]|it(?:'s| is| should be)|i (?:meant?|think)|the|my|correct|answer|is|to|make that|should be"
    r"|应该?|是|为|改|成|我想说的?|正确答案|答案)*",
    re.IGNORECASE,
)
# "No, I cannot answer that" answers another question.
_REFUSED = re.compile(
    r"[\s,.;:!-]*(?:(?:sorry|but|as an? \w+)[\s,]+)*(?:i|we)(?:'m|\s+am|\s+are)?\s*(?:cannot|can't|can not|could not"
    r"|couldn't|do not|don't"
    r"|won't|unable to|not able to)\s+(?:\w+ly\s+)?(?:answer|determine|say|tell|provide|help|decide|assist|know"
    r"|have)(?!\w)"
    # "yes, but it depends"
    r"|[^.!?。\n]{0,12}(?<!\w)(?:but|though|although|however)(?!\w)[^.!?。\n]{0,20}(?<!\w)depend(?:s|ing)(?!\w)"
    r"|[^.!?。\n]{0,6}(?:但是?|不过)[^.!?。\n]{0,12}(?:看情况|要看|取决于|视[^,。]{0,6}而定|因人而异|不一定)"
    r"|[\s,。;!]*(?:抱歉|对不起|很遗憾)?[\s,]*我(?:不能|无法|没法|不知道|不清楚)",
    re.IGNORECASE,
)
# A short text that says yes or no in other words.
_AGREEING = re.compile(
    r"\W*(?P<no>(?:of course|certainly|definitely|absolutely|surely|obviously|clearly) not|not at all|never|nope|nah"
    r"|by no means|当然不(?:是|对|会)?|绝对不(?:是|对|会)?|肯定不(?:是|对|会)?)\W*"
    r"|\W*(?:of course|certainly|definitely|absolutely|yep|yeah|yup|indeed|exactly|sure"
    r"|当然|当然是的?|确实如?此?|的确如?此?)\W*",
    re.IGNORECASE,
)
_SHORT = 20


def extract_yes_no(text: str, yes: Sequence[str] = ("Yes",), no: Sequence[str] = ("No",)) -> Extraction:
    """Which of two words a text answers with: ``"Yes"``/``"No"``, or the first word of ``yes`` or ``no`` as given.

    The last explicit statement ("the answer is no") wins, then the word at the beginning, then the word on the last
    line, then the only one of both that occurs. Case does not matter. A word that is part of another ("no idea",
    对不起), an echo of the question ("yes or no?"), doubt and other people's opinions are no answers; a negated
    adjective ("not correct", 没有错误) is its opposite. A short text that only judges ("That's not the case", 不对) is
    read by its meaning where ``yes`` and ``no`` hold words of that kind.

    Args:
        text: What the model generated.
        yes: Words that mean yes, e.g. ``("True",)`` or ``("是", "对")``.
        no: Words that mean no.

    Examples:
        >>> from mindeval.answers.extraction import extract_yes_no
        >>> extract_yes_no("ANSWER: No\\nActually, on reflection...\\nANSWER: Yes").answer
        'Yes'
        >>> extract_yes_no("这句话不正确。", yes=("正确",), no=("错误", "不正确")).answer
        '错误'
        >>> extract_yes_no("No idea.").answer is None
        True
    """
    if {fold(word).lower() for word in yes} & {fold(word).lower() for word in no} or not yes or not no:
        raise ValueError(f"yes and no must be different words, but got yes={tuple(yes)!r} and no={tuple(no)!r}")
    asked = Words({fold(word).lower(): yes[0] for word in yes} | {fold(word).lower(): no[0] for word in no}, no[0])
    known = [asked]
    if {fold(word).lower() for word in (*yes, *no)} & {*AFFIRMATIVE, *NEGATIVE}:
        known.append(Words({**dict.fromkeys(AFFIRMATIVE, yes[0]), **dict.fromkeys(NEGATIVE, no[0])}, no[0]))
    visible, reasoning, rule = split_reasoning(text)
    for part in (visible, reasoning if rule == "closed reasoning" else ""):
        found = answered_first(part, lambda text: _in_any_words(text, known), _is_explicit)
        if found is not None:
            return found
    return Extraction(None, rule if rule == "unclosed reasoning" else ("no answer" if text.strip() else "empty text"))


def _in_any_words(text: str, known: list[Words]) -> Extraction | None:
    """The answer in the words that were asked for, which are the first, or in others of their meaning."""
    text = certain(plain(text))
    answers = (_answer(words.without_echoes(text), words, sense=words is not known[0]) for words in known)
    return next((found for found in answers if found is not None), None)


def _is_explicit(found: Extraction, text: str) -> bool:
    return found.rule in ("answer statement", "leading word", "last line", "meaning")


def _stated(text: str, words: Words) -> tuple[Mention | None, bool]:
    """(the last explicit statement of a word, whether statements were doubtful or denied)."""
    stated, unclear = None, False
    for cue in all_answer_cues(text, verbs=False):
        gap = re.compile(r"[\s\"'(\[]*").match(text, cue.end)
        position = gap.end() if gap else cue.end
        quoted = cue.start + len(text[cue.start : cue.end].rstrip(" \"'”"))  # the closing mark of 答案是“是”
        # "是" is both a filler and an answer: look for the word from the cue's own end as well
        for start in (position, *range(cue.start + 1, cue.end)):
            match = words.pattern.match(text, start)
            if not match or start < cue.start + (1 if text[cue.start] == BOX_MARK else 2) or match.end() < quoted:
                continue
            if text[cue.start] != BOX_MARK and not ends(text, match):
                break
            joined = _BOTH.match(text, match.end())
            both = joined and (other := words.pattern.match(text, joined.end())) and other.group() != match.group()
            if start and text[start - 1] in "不没非":
                break  # 答案:不是
            if cue.denied and (start == position or text[start - 1] in "\"'“"):
                stated, unclear = None, True
            elif both or doubt_of(text, cue) or doubt_after(text, match.end()):
                unclear = True
            else:
                stated = Mention(cue.start, match.end(), words.meanings[match.group().lower()])
            break
    return stated, unclear


def _corrected(text: str, words: Words) -> Mention | None:
    """The last word right after a correction ("sorry, no")."""
    found = None
    for position in restarts(text):
        for match in words.pattern.finditer(text, position, position + 40):
            answer = read(text, match, words) if _CORRECTED.fullmatch(text[position : match.start()]) else None
            if answer:
                found = Mention(position, match.end(), answer)
                break
    return found


def _answer(text: str, words: Words, sense: bool) -> Extraction | None:
    """The answer of a text in some words; ``sense`` reads short texts only, by their meaning."""
    short = len(re.findall(r"[^\W\u4e00-\u9fff]+|[\u4e00-\u9fff]{2}", text)) <= _SHORT
    if sense and not short:
        return None
    stated, unclear = _stated(text, words)
    mentions = mentions_of(text, words)
    corrected = _corrected(text, words)
    first = min((one.start for one in [*mentions, stated] if one), default=len(text))
    if corrected and corrected.start > first and (stated is None or corrected.start >= stated.start):
        stated = corrected
    if stated is not None:
        return _settled(text, stated, "answer statement", words)
    if sense and not mentions and (agreeing := _AGREEING.fullmatch(text.rstrip().rsplit("\n", 1)[-1])):
        return Extraction(words.no if agreeing.group("no") else words.yes, "meaning")
    if sense and (not_so := _NOT_THE_CASE.search(text)):
        mentions.append(Mention(not_so.start(), not_so.end(), words.no))
    if unclear:
        return Extraction(None, "doubtful", ambiguous=True)
    return _unstated(text, mentions, short, words)


def _unstated(text: str, mentions: list[Mention], short: bool, words: Words) -> Extraction | None:
    """The word at the beginning, on the last line, or the only one of both."""
    start = re.match(r"[\s\W]*", text.replace(BOX_MARK, " "))
    first = mentions[0] if mentions and start and mentions[0].start <= start.end() else None
    line = max(text.rstrip().rfind("\n") + 1, 0)
    last = mentions[-1] if mentions and not re.search(r"\w", text[line : mentions[-1].start]) else None
    last = last if last and not re.search(r"\w", text[last.end :]) else None
    if first is not None and (last is None or last.answer == first.answer):
        if len({one.answer for one in mentions}) > 1:
            return Extraction(None, "both words", ambiguous=True)
        return _settled(text, first, "leading word", words)
    if last is not None:
        before = mentions[-2] if len(mentions) > 1 else last
        if before.answer != last.answer and not re.search(r"\w", text[before.end : last.start]):
            return Extraction(None, "both words", ambiguous=True)
        return Extraction(last.answer, "last line")
    if len({one.answer for one in mentions}) > 1:
        return Extraction(None, "both words", ambiguous=True)
    if mentions and _supposed(text, words, mentions[-1].answer):
        return Extraction(None, "doubtful", ambiguous=True)
    if not mentions or not (short or not re.search(r"[.!?。\n]\s*\S", text[mentions[-1].end :])):
        return None
    return _settled(text, mentions[-1], "only word mentioned", words)


def _supposed(text: str, words: Words, answer: str) -> bool:
    """The other word is said of some condition ("if it rains, yes")."""
    return any(
        words.meanings[match.group().lower()] != answer
        and doubt_before(text, match.start()) == "condition"
        and ends(text, match)
        for match in words.pattern.finditer(text)
    )


def _settled(text: str, one: Mention, rule: str, words: Words) -> Extraction:
    """The answer of a mention, unless what follows takes it back; "no, that is wrong" confirms a no."""
    rest = text[one.end :]
    taken = (withdrawn if one.answer == words.no else retraction)(rest) is not None or _REFUSED.match(rest) is not None
    if words.both_ways(rest, one.answer):
        return Extraction(None, "both words", ambiguous=True)
    if taken or is_asked(text, one.end) or last_correction(text, one.end) is not None:
        return Extraction(None, "answer taken back", ambiguous=True)
    return Extraction(one.answer, rule)
