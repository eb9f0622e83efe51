"""How a number is written: digits with their signs, groups, fractions, powers, scales and percents, in English and
Chinese notation. A run of digits that is not a number as a whole ("12:30", "1.2.3", "5-10") is found, without a value.
Numbers in words: _number_words; what a text says about a number: _number_context."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = (
    400  # of a number or of a power's exponent of ten: beyond float64, and a bound on the work that a text asks
)

_GROUP = r"(?:,|\{,\}|\\!,\\!|\\,|,\\!\s*|\\!,?|\\ |[\u00a0\u2009\u202f'’_])"
# Grouped in the Indian way, in threes, in threes by plain spaces (twice at least, or it may be a list), or not at all.
_INTEGER = (
    rf"(?:\d{{1,2}}(?:,\d{{2}})+,\d{{3}}(?!\d)|\d{{1,3}}(?:{_GROUP}\d{{3}})+(?!\d)"
    r"|\d{1,2}(?:\ \d{3}){2,}(?!\d)|\d+)"
)
_DECIMAL = r"\d+(?:\.\d+)?"
_PART = rf"[-+]?\s?(?:{_INTEGER}(?:\.\d+)?|\.\d+)"
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_CURRENCY = r"(?:US\$|HK\$|[$€£¥₩￥₹]|(?<![A-Za-z])(?:USD|EUR|GBP|RMB|CNY|INR|Rs\.?)(?=\s?\d))"
_POWER = rf"(?:\^|\*\*)\s?(?:\{{\s*[-+]?\d+\s*\}}|\([-+]?\d+\)|[-+]?\d+)|[{_RAISED}]+"
_WORD_SCALE = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12, "lakh": 10**5, "crore": 10**7,
}  # fmt: skip
_LETTER_SCALE = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "t": 10**12, "tn": 10**12}
_ZH_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
# 千米, 千克, 千瓦, 千卡 and 百帕 are units: 3千米 is 3 with the unit km. 2万米 is 20000 with the unit m.
_ZH_UNIT = r"(?:[十百千]?[万亿萬億]{1,2}|千(?![米克瓦卡赫帕伏焦安升牛巴欧]|比特|字节|分)|百(?![帕分])|十)(?!分之)"

_NUMBER = re.compile(
    rf"""
    (?P<sign>[-+±∓]\s?|—(?=[\d.\\])|\\[pm][mp](?![a-z])\s?|(?<![A-Za-z])(?:[Mm]inus|[Nn]egative)\s+|负\s?|零下)?
    (?P<currency>{_CURRENCY}\s?)? (?P<inner>-(?=[\d.\\]))?
    (?:
        (?:(?P<whole>\d+)\s?)?\\[dtc]?frac\s*
            (?:\{{\s*(?P<top>{_PART})\s*\}}|(?P<top1>\d))\s*(?:\{{\s*(?P<bottom>{_PART})\s*\}}|(?P<bottom1>\d))
      | (?P<per>[百千万])分之\s?(?P<share>{_DECIMAL})
      | (?:(?P<zh_mixed>\d+)\s?又\s?)?(?P<zh_under>\d+)\s?分之\s?(?P<zh_over>{_DECIMAL})
      | (?:(?P<mixed>\d+)(?:\s?又\s?|\ and\ |\ ))?(?P<over>{_INTEGER}(?:\.\d+)?)\s?[/⁄]
            \s?(?P<under>{_DECIMAL})(?!\s?[/⁄]\s?\d|\d)
      | (?:(?P<integer>{_INTEGER})(?P<decimals>\.\d+)?|(?P<point>\.\d+))
        (?: (?P<vulgar>\s?[{_VULGAR}])
          | (?P<exponent>[eE][-+]?\d+(?!\w)|\s*(?:\\times|\\cdot|[×x*·])\s*10\s*(?:{_POWER}))
          | \s?(?P<power>{_POWER})
          | (?P<zh>\s?{_ZH_UNIT}(?:\s?\d[\d,]*(?:\.\d+)?{_ZH_UNIT})*(?:\d+(?![\d.]))?)
        )?
      | (?P<lone>[{_VULGAR}])
    )
    (?P<scale>(?:[\s-]?(?:{"|".join(_WORD_SCALE)})s?(?![A-Za-z]))+|(?:(?:[bmt]n|[kKmMbBtT])(?![A-Za-z\d]))|(?:\s(?:[bmt]n|[KMBT])(?![A-Za-z\d])))?
    (?P<percent>\s?(?:\\?%|[Pp]er\s?cent(?![A-Za-z])|pct(?![A-Za-z])))?
    """,
    re.VERBOSE,
)  # fmt: skip
# What, right behind a number, makes it a part of something else: a time, a date, a version, a range, a list, "2,74".
_RUN_ON = re.compile(
    rf"(?:[.,:/'’~-](?:{_CURRENCY})?\d|\d)[\d.,:/'’~-]*(?<=\d)|\s?(?:\^|\*\*)\s?[({{]?\s*[-+]?\d+|\s?[‰‱]|\\\d+"
    rf"|(?:\ \d{{3}}(?!\d))+"
)
_WIDE = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF01, 0xFF5F) if chr(code) not in "（）"}
_WIDE.update({ord(dash): "-" for dash in "−﹣‐‑–"})
_WIDE.update({0x3000: " ", ord("∕"): "/", ord("∶"): ":", ord("〜"): "~"})


@dataclass(frozen=True)
class Number:
    """A number found in a text: its exact value (None where it cannot be told), and where it stands."""

    value: Fraction | None
    percent: bool
    start: int
    end: int


def folded(text: str, decimal: str = ".") -> str:
    """Full-width digits and signs as plain ones, dashes as minus; one place a character, so that positions stay."""
    text = text.translate(_WIDE)
    if decimal == ",":
        text = re.sub(r"(?<=\d)[.,](?=\d)", lambda match: {".": ",", ",": "."}[match.group()], text)
    return text


def scan(text: str) -> Iterator[Number]:
    """The numbers of a folded text, in order. Digits inside words (``H2O``, ``x2``) and ordinals are none."""
    position = 0
    while match := _NUMBER.search(text, position):
        position = match.end()
        start = match.end("sign") if match.group("sign") else match.start()
        run_on = None if match.group("percent") else _RUN_ON.match(text, match.end())
        if run_on and not (run_on.group()[0] == " " and re.search(r"\D|\d{4}", match.group("integer") or "x")):
            position = run_on.end()
            yield Number(None, False, start, position)
            continue
        sign, signed = _sign(text, match)
        first = match.start() if signed else start
        before = text[max(0, first - 2) : first]
        if re.search(r"[A-Za-z_\\^]$|[_^]\{$|[A-Za-z]-$", before) and not match.group("currency"):
            continue  # inside a word, or an index
        if re.match(r"(?:st|nd|rd|th)(?![a-z])", text[match.end() :]) or re.search(r"第\s?$", text[:start][-3:]):
            continue  # an ordinal
        value = _value(match)
        yield Number(
            None if value is None or sign is None else sign * value,
            match.group("percent") is not None or match.group("per") == "百",
            first,
            position,
        )


_OPENING = re.compile(
    r"(?:^|[=:(≈→\n\ue000>*\"'“,]|\b(?:is|are|was|be|to|of|equals?|gives?|get|about|at|as|but|not)"
    r"|[是为得到达约於于])\s*$"
)


def _sign(text: str, match: re.Match) -> tuple[int | None, bool]:
    """(1 or -1, or None where a sign may as well be an operator or a dash; whether what stands before is the sign)."""
    inner = -1 if match.group("inner") else 1
    written = match.group("sign")
    if not written:
        return inner, inner < 0
    if written.strip() in ("±", "∓", "—") or written[0] == "\\":
        return None, True
    before = text[max(0, match.start() - 24) : match.start()]
    if written[0] in "负零":
        return (-inner, True) if not re.search(r"[\d欠]$", before) else (None, True)
    if written[0] in "+-" and (
        re.search(r"[\d)\]}%°]\s*$|[A-Za-z]$", before) or re.search(r"\d\s?[^\W\d_]{1,3}$", before)
    ):
        return inner, False  # an operator, a range, or a hyphen: what is before tells
    if len(written) == 1 or _OPENING.search(before) or match.start() == 0:
        return (inner if written[0] == "+" else -inner), True
    return (inner if written[0] == "+" else None), False


def _value(match: re.Match) -> Fraction | None:
    group = match.groupdict()
    if len(match.group()) > MAX_DIGITS:
        return None
    if group["top"] is not None or group["top1"] is not None:
        return _mixed(group["whole"], group["top"] or group["top1"], group["bottom"] or group["bottom1"])
    if group["share"] is not None:
        return Fraction(group["share"]) if group["per"] == "百" else Fraction(group["share"]) / _ZH_SCALE[group["per"]]
    if group["zh_over"] is not None:
        return _mixed(group["zh_mixed"], group["zh_over"], group["zh_under"])
    if group["over"] is not None:
        return _scaled(_mixed(group["mixed"], group["over"], group["under"]), group)
    if group["lone"] is not None:
        return _scaled(_vulgar(group["lone"]), group)
    plain = Fraction(_digits(group["integer"] or "0") + (group["decimals"] or group["point"] or ""))
    value: Fraction | None = plain
    if group["vulgar"]:
        value = None if group["decimals"] else plain + _vulgar(group["vulgar"].strip())
    elif group["exponent"]:
        value = _raised(Fraction(10), _exponent(group["exponent"], ten=True), plain)
    elif group["power"]:
        value = _raised(plain, _exponent(group["power"]), Fraction(1))
    elif group["zh"]:
        value = _chinese(plain, group["zh"])
    return _scaled(value, group)


def _mixed(whole: str | None, top: str, bottom: str) -> Fraction | None:
    over, under = Fraction(_digits(top)), Fraction(_digits(bottom))
    if under == 0 or (whole is not None and not 0 < over < under):
        return None
    return Fraction(whole or 0) + over / under


def _vulgar(sign: str) -> Fraction:
    return Fraction(unicodedata.numeric(sign)).limit_denominator(10)


def _digits(grouped: str) -> str:
    return re.sub(r"[^\d.+-]", "", grouped)


def _exponent(text: str, ten: bool = False) -> int | None:
    if ten and text[0] not in "eE":
        text = text[text.index("10") + 2 :]
    digits = re.sub(r"[^\d-]", "", text.translate(str.maketrans(_RAISED, "0123456789-")))
    return int(digits) if re.fullmatch(r"-?\d{1,4}", digits) else None


def _raised(base: Fraction, exponent: int | None, factor: Fraction) -> Fraction | None:
    """``factor * base ** exponent`` if it has at most MAX_DIGITS digits: nobody answers with more on purpose."""
    if exponent is None or (base == 0 and exponent <= 0):
        return None
    digits = len(str(max(abs(base.numerator), base.denominator))) if base not in (0, 1) else 0
    if base == 10:
        digits = 1
    return factor * base**exponent if digits * abs(exponent) <= MAX_DIGITS else None


def _chinese(first: Fraction, rest: str) -> Fraction | None:
    """3万5千, 1亿2000万, 3万5000; each scale below the one before it. 3万5 is 35000 to some, and has no value here."""
    total, unit, above, pending = Fraction(0), 1, None, first
    for digits, scale in re.findall(r"(\d[\d,]*(?:\.\d+)?)?([十百千万亿萬億]+)?", rest.replace(" ", "")):
        if digits:
            pending = Fraction(_digits(digits))
        if scale:
            unit = 1
            for sign in scale:
                unit *= _ZH_SCALE[sign]
            if above is not None and unit >= above:
                return None
            total, above, pending = total + pending * unit, unit, Fraction(0)
        elif digits:
            if 10 ** len(digits) != unit:
                return None
            total += pending
    return total


def _scaled(value: Fraction | None, group: dict[str, str | None]) -> Fraction | None:
    scale = (group["scale"] or "").strip()
    if not scale or value is None:
        return value
    words = re.findall("|".join(_WORD_SCALE), scale)
    if words:
        for word in words:
            value *= _WORD_SCALE[word]
        return value
    spaced = (group["scale"] or "")[0] == " "
    if group["currency"] or scale in ("bn", "mn", "tn"):
        return value * _LETTER_SCALE[scale.lower()]
    if scale == "k":
        return value * 1000
    return value if scale in ("m", "t") or spaced else None  # metres and tonnes; 5M, 5B, 300K may be this or that
