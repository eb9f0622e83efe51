"""Several numbers that are parts of one answer, none of them the whole: two clauses that say the same of two things,
the lines of a list, "x = 5; y = 6". English and Chinese side by side."""

from __future__ import annotations

import re

from mindeval.answers._numerals import Number
from mindeval.answers._words import THEREFORE, THEREFORE_ZH, TOTAL, TOTAL_ZH

_WHOLE = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|answer|result|remain(?:s|ing|ed)?|left|net|profit|final\w*|difference|average)(?!\w)"
    rf"|{THEREFORE_ZH}|{TOTAL_ZH}|总|剩|答|结果|最终|差",
    re.IGNORECASE,
)
_SAYS_EN = r"(?:is|are|was|were|has|have|had|gets?|costs?|needs?|weighs?|earns?|pays?)"
_PARALLEL_EN = re.compile(
    rf"[^,;=.]{{0,30}}(?:,|(?<!\w)and(?!\w)|,\s*and(?!\w)|(?<!\w)while(?!\w))\s+"
    rf"(?:the|his|her|its|their|my|(?-i:[A-Z])[a-z]+|[a-z]+ (?-i:[A-Z\d]))(?!\w)[^,;=]{{0,30}}?(?<!\w)"
    rf"(?P<verb>{_SAYS_EN})\s+[$€£¥]?$",
    re.IGNORECASE,
)
_PARALLEL_ZH = re.compile(r"[^,;=\d]{0,6}[,;、](?P<subject>[^\d,;=]{1,10}?)(?P<verb>[是有为得]|今年)$")
_PARALLEL_BARE = re.compile(
    r"\W*(?:答:)?([\u4e00-\u9fff]{1,6})[\d.]+([岁人名只条棵个])[,;、](?P<subject>[\u4e00-\u9fff]{1,6})[\d.]+\2\W*"
)
_PARALLEL_UNIT = re.compile(
    r"(?P<unit>[岁人名只条棵个箱本元支])[,;、](?:和|而)?[^\d,;=是有为得剩共还每了后前]{1,6}[\d.]+(?P=unit)[。\s]*$"
)
_ANOTHER_TIME = re.compile(r"但|我|现在|后来|最后|最终|结果|还|只|就|则|那么|平均|每|这时|此时|原|用|它|他|她")


def in_parallel(sentence: str, one: Number, other: Number) -> bool:
    """Two clauses say the same of two things: "The slope is 2 and the intercept is 3", 鸡有23只，兔有12只."""
    gap, before = sentence[one.end : other.start], sentence[: one.start]
    if _WHOLE.search(gap):
        return False
    if (
        (bare := _PARALLEL_BARE.fullmatch(sentence))
        and not re.search("了|每", bare.group())
        and not _ANOTHER_TIME.search(bare.group("subject"))
    ):
        return True
    if _PARALLEL_UNIT.match(sentence, one.end) and not _ANOTHER_TIME.search(gap):
        return re.search(r"[\u4e00-\u9fff]{2}$", before) is not None
    match = _PARALLEL_EN.fullmatch(gap)
    if match is not None:
        return re.search(rf"(?<!\w){match.group('verb')}\s+[$€£¥]?$", before, re.IGNORECASE) is not None
    match = _PARALLEL_ZH.fullmatch(gap)
    return (
        match is not None and before.endswith(match.group("verb")) and not _ANOTHER_TIME.search(match.group("subject"))
    )


# What is left over besides what can be had: "He can buy 16 books and have $3 left", 每人分得16个，还剩3个.
_CAN = re.compile(
    r"(?<!\w)(?:can|could|able to|needs?|a maximum of|each (?:of|\w+) (?:gets?|receives?|has|have|will|can)"
    r"|quotient)(?!\w)|每[人个位组]|可以?|能|最多|够|需要",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"(?<!\w)(?:left(?: ?over)?|leftovers?|leaving|remain(?:s|ing|der)?|to spare)(?!\w)|[剩余]", re.IGNORECASE
)
_ANOTHER = re.compile(
    r"(?:,|(?<!\w)and(?!\w))\s*(?:(?:he|she|it|they|we|i)\s*)?(?:'ll|will) be\s+$"
    r"|[,;]\s*(?:做|答)?(?:错|不会)了?$|,\s*(?:with|having|bringing|despite|for|at|and the|from)(?!\w)[^,;:=]*$"
    r"|(?<!\w)from (?:the |an? )?(?:original|initial)\s+$",
    re.IGNORECASE,
)
_SUM_BEFORE = re.compile(rf"{TOTAL_ZH}[^\d,;]{{0,8}}$|(?<!\w)a total of\s+[$€£¥]?$", re.IGNORECASE)
_CONCLUDES = re.compile(
    rf"(?<!\w)(?:{THEREFORE}|{TOTAL}|then|but|is|are|equals?|gives?|makes?)(?!\w)|[=≈→]|{THEREFORE_ZH}|{TOTAL_ZH}|[是剩得]|等于|还有"
)
_LISTED = re.compile(r"\s[A-Za-z]+(?:\s(?:of\s)?[a-z]+){0,2},\s*(?:and\s+)?[$€£¥]?$")
_LABELLED = re.compile(r"[^\d,;:=]{0,12}[,;，]?\s*[A-Za-z\u4e00-\u9fff][A-Za-z\u4e00-\u9fff ]{0,16}\s*[:=]\s*[$€£¥]?$")
_LABEL = re.compile(r"(?:^|[,;:]\s*|\s)[A-Za-z\u4e00-\u9fff]+\s*[:=]\s*[$€£¥]?$")
_DIMENSIONS = [
    "seconds? secs? minutes? mins? hours? hrs? days? weeks? months? years? 秒 分钟 小时 天 周 个?月 年",
    "mm cm m km millimeters? centimeters? meters? kilometers? inch(?:es)? feet foot yards? miles?"
    " 毫米 厘米 分米 米 千米 公里",
    "mg g kg grams? kilograms? ounces? oz lbs? pounds? tons? 克 千克 公斤 斤 吨",
    "ml l liters? litres? milliliters? cups? pints? quarts? gallons? ounces? 毫升 升",
    "cents? dollars? 角 分 元",
]
_UNITS = [re.compile(rf"\s?(?:{'|'.join(units.split())})(?![A-Za-z])", re.IGNORECASE) for units in _DIMENSIONS]
_CONVERTED = re.compile(
    r"[^\d+*/×÷]{0,16}?(?:,?\s*(?:which is|which equals|that is|i\.e\.,?|or|equal to|=)\s*"
    r"|[,;]?\s*(?:也就是|就是|即|等于|合)\s*)(?:about |exactly |only |约)?$",
    re.IGNORECASE,
)


def converted(sentence: str, one: Number, other: Number) -> bool:
    """The same quantity in another unit, so that either may be meant: "60 minutes, which is 1 hour"."""
    gap = sentence[one.end : other.start]
    if re.search(r"[-+*/×÷x]\s*[$€£¥]?$", sentence[: one.start]):
        return False  # "432 minutes x 4 weeks = 1728 minutes"
    return _CONVERTED.fullmatch(gap) is not None and any(
        unit.match(gap) and (after := unit.match(sentence, other.end)) and after.group().strip() not in gap[:12]
        for unit in _UNITS
    )


def is_leftover(sentence: str, earlier: str) -> bool:
    """A sentence of its own tells what is left of what can be had: "She can buy 16 pens. She has $3 left." """
    concluded = re.search(rf"(?<!\w){THEREFORE}(?!\w)|=|{THEREFORE_ZH}", sentence, re.IGNORECASE)
    return concluded is None and _LEFT.search(sentence) is not None and _CAN.search(earlier) is not None


def beside(sentence: str, one: Number, other: Number) -> bool:
    """The last number ``other`` is another quantity than the one before, and neither is concluded from the other."""
    gap, before, after = sentence[one.end : other.start], sentence[: one.start], sentence[other.end : other.end + 24]
    if _LISTED.fullmatch(gap) and not _WHOLE.search(after):
        return True
    if _LABELLED.fullmatch(gap) and _LABEL.search(before) and not _WHOLE.search(gap):
        return re.match(r"[^\d=+*/×÷]*$", sentence[other.end :]) is not None
    if re.search(rf"(?<!\w){THEREFORE}(?!\w)|=|{THEREFORE_ZH}", gap, re.IGNORECASE):
        return False
    if _LEFT.search(gap[-40:] + after) and _CAN.search(before):
        return True
    if _ANOTHER.search(gap):
        return True
    return _SUM_BEFORE.search(before) is not None and _CONCLUDES.search(gap) is None


ITEM = "\ue002"  # stands for the mark of a list's item that holds nothing but a number
# "Tom: 5", one line of several: no line is the answer, but for that of the total.
_LINE_OF_LIST = re.compile(
    rf"[ \t]*(?:[A-Za-z\u4e00-\u9fff][^\n:=\d]{{0,30}}\s*[:=]|{ITEM}|\(?[a-z]\))\s*[^\n\d]{{0,3}}\d[^\n=:]{{0,30}}$"
)


def in_list_of_parts(text: str, position: int) -> bool:
    """Whether the line or sentence of ``position`` is one of at least two like "Tom: 5" that end the text."""
    end = re.compile(r"\n|\.\s").search(text, position)
    lines = re.split(r"\n|(?<=\d)\.\s", text[max(0, position - 300) : end.start() if end else len(text)])
    lines = [line for line in lines if line.strip()][-2:]
    named = [_LINE_OF_LIST.fullmatch(line.rstrip(" .。;*")) for line in lines]
    return len(named) == 2 and all(named) and not _WHOLE.search(lines[1])


_PART_NAME = rf"(?:{ITEM}|\(?[A-Za-z\d]{{1,2}}[).]|[①-⑨]|[A-Za-z\u4e00-\u9fff][^\n:=,;.\d]{{0,24}}[:=])"
_NEXT_PART = re.compile(
    rf"[^\n,;.:=\d]{{0,24}}(?:(?P<stop>\.)\s+|;\s*|\n\s*(?={ITEM})|(?={ITEM})"
    rf"|\s(?=\(?[b-z2-9]\)))\s*(?:{_PART_NAME}\s*)?"
    rf"(?P<value>[-+]?\s?[$€£¥]?\d)"
)


def next_part(text: str, start: int, position: int) -> bool:
    """Whether the number from ``start`` to ``position`` is followed by another part of the answer: "; y = 6"."""
    match = _NEXT_PART.match(text, position)
    if match is None:
        return False
    if match.group("stop") and not re.search(r"[^\W\d]\s*[:=]\s*$", text[max(0, start - 8) : start].rstrip("$€£¥")):
        return False  # another sentence, and not the next of "Boys: 5. Girls: 6."
    rest = text[match.end("value") :].split("\n")[0]
    named = re.search(_PART_NAME, text[position : match.start("value")])
    return re.match(r"[\d,.]*\s?(?:[^\s\d=+*/,;.]{1,12}\s?){0,2}(?:$|[,;.\n])", rest) is not None and (
        named is not None or ";" in text[position : match.start("value")]
    )
