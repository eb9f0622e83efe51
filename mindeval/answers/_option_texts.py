"""Where a text spells an option, by its words, its formula, or its number."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mindeval.answers._numerals import Number, folded, scan
from mindeval.answers._text import fold, plain

_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
# Words that stand in any sentence: as options they count only where they stand alone or in quotation marks.
_FUNCTION_WORD = re.compile(
    r"(?:an?|the|in|on|at|for|of|to|by|with|from|into|onto|over|under|about|after|before|since|until|till|during|among"
    r"|between|and|or|but|so|nor|if|unless|because|although|though|while|whereas|however|therefore|as|like|than|then"
    r"|is|are|was|were|be|been|being|am|has|have|had|do|does|did|will|would|can|could|shall|should|may|might|must"
    r"|it|its|he|she|they|we|you|i|him|her|them|us|me|his|their|our|your|my|this|that|these|those|there|here"
    r"|who|whom|whose|which|what|when|where|why|how|both|either|neither|all|any|some|each|every|many|much|more|most"
    r"|few|little|other|another|others|one|ones|only|also|very|too|not|[a-z]|\W*)",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"[\\^_=+*/<>]|\d[a-z]|(?<![A-Za-z])[a-z]\d")
_TOKEN = re.compile(r"\\?[A-Za-z]+|\d+|\s+|.")
# A longer term of another meaning: "non-linear", "zinc-free", 不可逆反应, 副教授.
_TERM_BEFORE = r"(?<![A-Za-z0-9_\\])(?<![a-z]-)(?<![A-Za-z]{2}-)(?<!(?<![A-Za-z])non )"
_TERM_AFTER = r"(?![A-Za-z0-9_])(?!-[A-Za-z0-9])"
_TERM_BEFORE_ZH = r"(?<![不非反副无未没半准超亚次逆伪负正东西南北高低大小])"
_OPERATOR_BEFORE = re.compile(
    r"(?:[+*/×÷·^_√∛<>≤≥±{\\]|[\w)}]\s?-|[A-Za-z\d)]\s?\(|(?<!\w)(?:times|plus|minus|step|question|part|no\.|option|choice|#))\s?$|第\s?$",
    re.IGNORECASE,
)
_OPERATOR_AFTER = re.compile(
    r"\s?(?:[+*/×÷·^_√<>≤≥≠±={π°]|-\s?[\d(\\a-z](?![a-z])|\\(?!text)[a-z]|\((?=[a-z\d]\)))|(?<=[a-z\d])\s?\([a-z\d]\)"
)
_UNIT = re.compile(r"(?:[^\W\d_]+\.?(?:[ /][^\W\d_]+){0,2}|°[CF]?|%)?")
_WORD_AFTER = re.compile(r"\s?(?!(?:and|or|because|since|as|so|which|is|are|was|for|by|when|if|but)(?!\w))[^\W\d_]")
_OPENS = re.compile(r"[(\[{<\"'“「『【《]")
_CLOSES = re.compile(r"[)\]}>\"'”」』】》]")
_STANDS_ALONE = re.compile(r"\s*(?:[.,;:!?。、)\]}\"'”」』】》\n]|$)")
_JOINT = re.compile(
    r"[)\]\"'”]*\s*(?:(?P<open>,?\s*(?:or|and/or)(?!\w)|或者?|还是|/)|,?\s*and(?!\w)|以?及|和|与|[,、;&+])\s*"
    r"(?:(?:maybe|possibly|perhaps|the)\s)?[(\[\"'“]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Mention:
    """An option's text at a place; of options that are written alike, all labels. ``common`` marks words that stand in
    any sentence."""

    start: int
    end: int
    labels: tuple[str, ...]
    common: bool = False


@dataclass(frozen=True)
class _Quantity:
    value: Fraction
    percent: bool
    unit: str
    written: str


class OptionTexts:
    """The texts of options, to be found in a text that ``plain`` has read."""

    def __init__(self, labels: Sequence[str], options: Sequence[str] | None):
        texts = {label: canonical(plain(option)) for label, option in zip(labels, options or [])}
        self.of_label = {label: text for label, text in texts.items() if text}
        self._quantities = {label: one for label, text in self.of_label.items() if (one := _quantity(text))}
        spelled: dict[str, tuple[str, ...]] = {}
        for label, text in self.of_label.items():
            if label not in self._quantities:
                spelled[text] = (*spelled.get(text, ()), label)
        cores = [_ARTICLE.sub("", text) for text in spelled]
        self._forms = sorted(spelled.items(), key=lambda one: len(one[0]), reverse=True)
        patterns = [_pattern(text, cores.count(_ARTICLE.sub("", text)) == 1) for text, _ in self._forms]
        self._spelled = (
            re.compile("|".join(f"({pattern})" for pattern in patterns), re.IGNORECASE) if patterns else None
        )
        self._seen: dict[str, list[Mention]] = {}
        self._starts: dict[str, list[int]] = {}

    def mentions(self, text: str) -> list[Mention]:
        """All of a text in order, the longest of those that overlap."""
        if text not in self._seen:
            found = sorted([*self._words(text), *self._numbers(text)], key=lambda one: (one.start, -one.end))
            kept: list[Mention] = []
            for one in found:
                if not kept or one.start >= kept[-1].end:
                    kept.append(one)
            self._seen[text], self._starts[text] = kept, [one.start for one in kept]
        return self._seen[text]

    def at(self, text: str, position: int, earliest: int | None = None) -> Mention | None:
        """The one at ``position``, behind opening brackets; or one that begins between ``earliest`` and there and
        reaches it ("the" of "the Iron Age", the sign of a number)."""
        if not self.of_label:
            return None
        begin = position
        while begin < position + 4 and _OPENS.match(text, begin):
            begin += 1
        earliest = begin if earliest is None else earliest
        mentions = self.mentions(text)
        for place in range(bisect_left(self._starts[text], earliest), len(mentions)):
            one = mentions[place]
            if one.start > begin:
                break
            if one.end >= position:
                return one
        return None

    def joined(self, text: str, first: Mention) -> tuple[tuple[str, ...], int, bool]:
        """(labels, where they end, whether the choice between them is open) of the list that a mention begins."""
        labels, end, is_open = first.labels, first.end, len(first.labels) > 1
        while joint := _JOINT.match(text, end):
            following = self.at(text, joint.end())
            if following is None or following.labels == first.labels or following.end <= joint.end():
                break
            labels, end = tuple(dict.fromkeys([*labels, *following.labels])), following.end
            is_open = is_open or joint["open"] is not None or len(following.labels) > 1
        return labels, end, is_open

    def whole(self, text: str) -> tuple[str, ...]:
        """The labels of the options that the whole text spells."""
        text = text.strip()
        exactly = tuple(label for label, option in self.of_label.items() if option == canonical(text))
        if exactly:
            return exactly
        inner = text.strip(" \n\"'“”()[]{}.。!")
        one = next((one for one in self.mentions(text) if inner and one.end - one.start >= len(inner)), None)
        return one.labels if one else ()

    def _words(self, text: str) -> Iterator[Mention]:
        position = 0
        while self._spelled and (match := self._spelled.search(text, position)):
            option, labels = self._forms[(match.lastindex or 1) - 1]
            position = match.end() if match.end() > match.start() else match.start() + 1
            if _FORMULA.search(option) and not _is_apart(text, match.start(), match.end()):
                continue
            common = _FUNCTION_WORD.fullmatch(option) is not None
            if not common or stands_alone(text, match.end()) or is_quoted(text, match.start(), match.end()):
                yield Mention(match.start(), match.end(), labels, common and not is_quoted(text, *match.span()))

    def _numbers(self, text: str) -> Iterator[Mention]:
        for number in scan(folded(text)) if self._quantities else ():
            if number.value is None or not _is_apart(text, number.start, number.end):
                continue
            ends = {label: end for label, one in self._quantities.items() if (end := _unit_end(text, number, one))}
            written = text[number.start : number.end].lower()
            alike = [label for label in ends if self._quantities[label].written == written]
            longest = max((ends[label] for label in alike or ends), default=0)
            labels = tuple(label for label in alike or ends if ends[label] == longest)
            if labels:
                yield Mention(number.start, longest, labels)


def canonical(option: str) -> str:
    return re.sub(r"\s+", " ", fold(option)).strip().strip(".。").lower()


def _quantity(text: str) -> _Quantity | None:
    """The number and unit of an option that is no more than these."""
    numbers = list(scan(folded(text)))
    value = numbers[0].value if len(numbers) == 1 and not text[: numbers[0].start].strip() else None
    if value is None:
        return None
    number, unit = numbers[0], text[numbers[0].end :].strip()
    if not _UNIT.fullmatch(unit) or re.match(r"[A-Za-zπ]", text[number.end :]) and len(unit) == 1:
        return None  # "2x" is a formula
    return _Quantity(value, number.percent, unit, text[number.start : number.end].lower())


def _unit_end(text: str, number: Number, one: _Quantity) -> int | None:
    """Where the quantity ends that an option states and the text gives; None where they differ. A unit may be left
    out."""
    if number.value != one.value or (number.percent and not one.percent):
        return None
    if one.unit:
        unit = re.compile(rf"\s*{re.escape(one.unit.rstrip('s'))}s?(?![A-Za-z/^·*²³])", re.IGNORECASE).match(
            text, number.end
        )
        if unit or _WORD_AFTER.match(text, number.end):
            return unit.end() if unit else None
    elif re.match(r"[A-Za-z]", text[number.end : number.end + 1]):
        return None
    return number.end


def _pattern(text: str, article_is_free: bool) -> str:
    article = _ARTICLE.match(text) if article_is_free else None
    core = text[article.end() :] if article else text
    gap = r"\s*" if _FORMULA.search(text) else ""
    pieces = [r"\s+" if token.isspace() else re.escape(token) for token in _TOKEN.findall(core)]
    if gap:
        pieces = [re.sub(r"^\\\\[dt]?frac$", r"\\\\[dt]?frac", piece) for piece in pieces if piece != r"\s+"]
    before = (
        _TERM_BEFORE if re.match(r"[a-z0-9]", core) else _TERM_BEFORE_ZH if re.match("[\u4e00-\u9fff]", core) else ""
    )
    after = _TERM_AFTER if re.search(r"[a-z0-9]$", core) else ""
    before += r"(?<!\d[.,])(?<![-−])" if core[0].isdigit() else ""
    after += r"(?![.,]\d|\s?%)" if core[-1].isdigit() else ""
    optional = rf"(?:{re.escape(article.group().strip())}\s+)?" if article else ""
    return f"{before}{optional}{gap.join(pieces)}{after}"


def _is_apart(text: str, start: int, end: int) -> bool:
    """A formula or number is not part of a longer one."""
    return not (_OPERATOR_BEFORE.search(text[max(0, start - 12) : start]) or _OPERATOR_AFTER.match(text, end))


def stands_alone(text: str, end: int) -> bool:
    """What ends at ``end`` ends its clause too."""
    return _STANDS_ALONE.match(text, end) is not None


def is_quoted(text: str, start: int, end: int) -> bool:
    return _OPENS.match(text[start - 1 : start]) is not None and _CLOSES.match(text, end) is not None
