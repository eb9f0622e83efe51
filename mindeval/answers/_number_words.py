"""Whole numbers and simple fractions in words, English and Chinese, at the beginning of a text."""

from __future__ import annotations

import re
from fractions import Fraction

from mindeval.answers._numerals import Number

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_SMALL = {word: value for value, word in enumerate((_ONES + " seventeen eighteen nineteen").split())}
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * value for value, word in enumerate(_DECADES.split(), 2)}
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORD = "|".join([*sorted(_SMALL, key=len, reverse=True), *_TENS, *_SCALES])
_ENGLISH = re.compile(
    rf"(?P<sign>(?:minus|negative)\s+)?(?P<words>(?:an?\s+(?=hundred|dozen|thousand|million))?(?:{_WORD})"
    rf"(?:(?:\s*-\s*|\s+and\s+|\s+)(?:{_WORD}))*)(?![\w-])",
    re.IGNORECASE,
)
_PARTS = {
    word: under
    for under, word in enumerate(["third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 3)
}
_PARTS.update({"half": 2, "quarter": 4})
_UNITS = "|".join(sorted(_ONES.split(), key=len, reverse=True))
_FRACTION = re.compile(
    rf"(?P<over>an?|{_UNITS})[\s-]+(?P<under>{'|'.join(_PARTS)})s?(?![\w-])",
    re.IGNORECASE,
)
_ZH_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_ZH_DIGITS.update({"〇": 0, "两": 2, "兩": 2, "俩": 2})
_ZH_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_ZH_WORD = rf"[{''.join(_ZH_DIGITS)}十百千万萬亿億]"
_CHINESE = re.compile(
    rf"(?P<sign>负|零下)?(?:(?:(?P<whole>{_ZH_WORD}+)又)?(?P<under>{_ZH_WORD}+)分之)?(?P<words>{_ZH_WORD}+)"
    rf"(?:点(?P<decimals>[零〇一二三四五六七八九]+))?"
)
_END = r"\s*(?:$|[.,!?;:()\]（）。、\n\"'”])"
# A unit may follow, but no word that makes another one of the number: 一样, 三角形, 两者; "one of them".
_MEASURE = re.compile(
    rf"[个個只隻条張张元块塊本颗粒天年月日人次倍米克度岁页件名位双对组种斤吨升里头匹棵朵支枝台辆千公厘平立分小][^\W\d_]{{0,5}}{_END}|{_END}"
)
_NOUNS = re.compile(
    rf"(?!\s*(?:of|that|which|thirds?|half|halves|quarters?|fourths?|fifths?|tenths?|or|to|and|more|less|way|by"
    rf"|times)(?!\w))"
    rf"(?:\s+[A-Za-z°]+){{0,3}}{_END}|{_END}"
)


def number_in_words(text: str) -> Number | None:
    """The number in words that a text begins with, if nothing but its unit follows."""
    part = _FRACTION.match(text)
    if part and _NOUNS.match(text[part.end() :]):
        over = _SMALL[part.group("over").lower()] if part.group("over").lower() not in ("a", "an") else 1
        return Number(Fraction(over, _PARTS[part.group("under").lower()]), False, 0, part.end())
    match = _ENGLISH.match(text)
    if match and _NOUNS.match(text[match.end() :]):
        value = _english(re.findall(_WORD, match.group("words").lower()))
        return None if value is None else Number(-value if match.group("sign") else value, False, 0, match.end())
    match = _CHINESE.match(text)
    if match is None or not _MEASURE.match(text[match.end() :]):
        return None
    if match.group() == "十" and re.match(r"分(?!钟|[^\w])", text[1:]):
        return None  # "very"
    if match.group()[-1] in "百千" and re.match(r"[米克瓦卡赫帕伏焦升牛]", text[match.end() :]):
        return None  # 四千米: 4 km, or 4000 m
    if match.group() == "一" and not re.match(rf".?{_END}", text[match.end() :]):
        return None  # an article: 一个正方形
    value = _zh_number(match.group("words"))
    if match.group("decimals") and value is not None:
        digits = [_ZH_DIGITS[sign] for sign in match.group("decimals")]
        value += sum(Fraction(digit, 10 ** (place + 1)) for place, digit in enumerate(digits[:100]))
    if match.group("under") and value is not None:
        per_hundred = match.group("under") == "百"
        under = Fraction(1) if per_hundred else _zh_number(match.group("under"))
        whole = _zh_number(match.group("whole")) if match.group("whole") else Fraction(0)
        value = (
            None if not under or whole is None or match.group("decimals") and not per_hundred else whole + value / under
        )
    if value is None:
        return None
    return Number(-value if match.group("sign") else value, match.group("under") == "百", 0, match.end())


_BEGIN = re.compile(
    rf"(?<![\w-])(?:an? (?=hundred|dozen|thousand|million)|(?:{_WORD}|minus|negative)(?!\w))"
    rf"|(?:(?<=[是有为得共剩要需了:])|^[^\w]*)(?={_ZH_WORD}|负)",
    re.IGNORECASE,
)
_KNOWN = re.compile(r"(?<!\w)(?:the|these|those|his|her|their|its|all|both|other|first|last)\s+$", re.IGNORECASE)


_ANY = re.compile(rf"(?<!\w)(?!one(?!\w))(?:{_WORD})(?!\w)|(?!一){_ZH_WORD}", re.IGNORECASE)


def words_of_numbers(text: str) -> list[Number]:
    """The numbers in words that a sentence asserts; not one, which is an article or a pronoun more often, and not what
    is known already ("the two numbers")."""
    found: list[Number] = []
    for match in _BEGIN.finditer(text):
        if _KNOWN.search(text[: match.start()]):
            continue
        start = match.start() + len(match.group()) - len(match.group().lstrip())
        number = number_in_words(text[start : start + 80])
        if number and number.value != 1 and not (found and start < found[-1].end):
            found.append(Number(number.value, number.percent, start, start + number.end))
    for word in _ANY.finditer(text):  # "five or six"
        if not any(number.start <= word.start() < number.end for number in found):
            return []
    return found


def _english(words: list[str]) -> Fraction | None:
    """ "one hundred five", "two thousand twenty-one"; not "five ten"."""
    total, part, last, below = 0, 0, "", 10**12
    for word in words:
        if word in ("hundred", "dozen"):
            if last not in ("", "ones"):
                return None
            part, last = (part or 1) * _SCALES[word], word
        elif word in _SCALES:
            if _SCALES[word] >= below or last == "scale":
                return None
            below = _SCALES[word]
            total, part, last = total + (part or 1) * below, 0, "scale"
        else:
            value = _SMALL.get(word, _TENS.get(word, 0))
            if last in ("ones", "dozen") or (last == "tens" and not 0 < value < 10):
                return None
            part, last = part + value, "tens" if word in _TENS else "ones"
    return Fraction(total + part)


def _zh_number(text: str) -> Fraction | None:
    """两百三十, 一百零五, 三万五千, 二〇二四. 一百五 (150 to most) and 两三 (two or three) are not read."""
    if len(text) > 30:
        return None
    if all(sign in _ZH_DIGITS for sign in text):
        digits = "".join(str(_ZH_DIGITS[sign]) for sign in text)
        return Fraction(int(digits)) if len(digits) == 1 or "0" in digits else None
    total, section, digit, scale, zero = 0, 0, None, 0, False
    for sign in text:
        if sign in _ZH_DIGITS:
            if digit:
                return None
            digit, zero = _ZH_DIGITS[sign], zero or _ZH_DIGITS[sign] == 0
            continue
        scale, zero = _ZH_SCALES[sign], False
        if scale < 10**4:
            if digit is None and (scale > 10 or section):
                return None  # 百 and 千 want a digit
            section += (1 if digit is None else digit) * scale
        else:
            section += digit or 0
            if section + total == 0:
                return None
            total = (total + section) * scale if total < scale else total + section * scale
            section = 0
        digit = None
    return None if digit and scale > 10 and not zero else Fraction(total + section + (digit or 0))
