"""Preparing a generated text for reading numbers: boxes and tags, markup, numbers of lists, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mindeval.answers._number_parts import ITEM
from mindeval.answers._numerals import folded
from mindeval.answers._tags import boxes_together
from mindeval.answers._text import BOX_MARK, boxes, unwrap_fonts

_MATH = re.compile(r"\$(?=\S)([^$\n]{1,300}?)(?<=\S)\$(?!\d)|\$\s([^$\n]{1,300}?)\s\$(?!\d)")
_MARKUP = re.compile(
    r"<<[^<>\n]*>>"  # the calculator of GSM8K
    r"|\\[()\[\]](?!\S*\\\])|\\(?:left|right|displaystyle|bigl?|bigr?|Bigl?|Bigr?)(?![A-Za-z])|\\[;:](?!\d)"
    r"|</?(?:b|strong|i|em|p|span|u|mark|code|div|h\d|li|ul|ol)(?:\s[^<>]*)?>"
    # bold and italic, but not the power 10**4 and the product 3*4
    r"|(?<![\d)])\*\*|\*\*(?![\d({-])|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)|`+|(?<!\S)\*(?=[^\s*])"
    r"|(?<=[^\s*])\*(?![\w\s*(\\$-])"
)
_NOTHING_ELSE = r"[-$€£¥]*\d[\d,.]*(?:[^\S\n]?[^\W\d]{1,12})?[^\S\n]*[.;。；]?[^\S\n]*$"
_LIST_NUMBER = re.compile(
    r"(?:^|(?<=[:：])(?=[^\n]*\n\s*\(?2[.)、]|\s*1[.)]\s+[-$€£¥]?\d))[ \t]*\(?(\d{1,2})(?:[.)、:][ \t]+(?=\S)"
    r"|[.)、](?=[^\W\d])"
    r"|\)[ \t]*(?=[^\W\d]))",
    re.MULTILINE,
)
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*\d+[.)、][ \t]+(?=[^\W\d]).*|#{1,6}(?<!####)[ \t]+\d+[ \t]+(?=[^\W\d]).*)$", re.MULTILINE
)
# A dash is the mark of a list, unless the line before it breaks off: a difference written on two lines.
_BULLET = re.compile(r"^[ \t]*[*•●▪>][ \t]+|(?<![+*/=(]\n)^[ \t]*[-–+][ \t]+(?=\S)", re.MULTILINE)
_ELLIPSIS = re.compile(r"(?<![\d.])(?<!\d,)(?<!\d, )(?:\.{2,}|…+)(?=[-$€£¥*]*\d)")
_ABBREVIATION = re.compile(
    r"(?<!\w)(?:approx|ca|rs|no|nos|vs|e\.g|i\.e|eq|fig|mr|mrs|ms|dr|st|resp|est)$", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"\n+|[。?]+|(?<!\\);|(?<!\\)[.!]+(?=\s|$|[\"'”)\]]|[^\W\d_])(?!\s*[=^])")


def prepared(text: str, decimal: str) -> str:
    r"""Folded text without markup; a boxed answer stands on a line of its own that begins with BOX_MARK."""
    text = re.sub(r"[ \t]{3,}", "  ", re.sub(r"\n{3,}", "\n\n", text))
    pieces: list[str] = []
    position = 0
    for start, end, content in boxes(text):
        before = text[position:start]
        content = re.sub(r"(?<=\d)!(?!=)", " factorial", re.sub(r"\s*\n\s*", " ", content))
        if pieces and len(before) < 40 and boxes_together(before):
            pieces[-1] = f"{pieces[-1].rstrip()} or {content}\n"
        else:
            if before.rsplit("\n", 1)[-1].count("$") % 2 and re.match(r"\s?\$(?!\$)", text[end : end + 2]):
                before = before[: before.rindex("$")] + before[before.rindex("$") + 1 :]
                end = text.index("$", end) + 1
            pieces += [before, BOX_MARK, f"{content}\n"]
        position = end
    text = unwrap_fonts("".join([*pieces, text[position:]]))
    text = text.replace("\\$", "\ue001")
    text = _MATH.sub(lambda match: match.group(1) or match.group(2), text.replace("$$", " "))
    text = _MARKUP.sub("", re.sub(r"<br\s*/?>", "\n", text.replace("\ue001", "$")))
    text = _ELLIPSIS.sub(" ", text)
    text = _BULLET.sub("", re.sub(rf"(?m)(?:{_BULLET.pattern})(?={_NOTHING_ELSE})", ITEM, text))
    text = re.sub(r"(?m)^A(?=:\s)", "Answer", text)
    return _HEADING.sub("", list_numbers_dropped(folded(text, decimal)))


def list_numbers_dropped(text: str) -> str:
    """Without the numbers of a list's items: 1, 2, 3 at the beginnings of lines. A lone "18. Hope it helps" is none."""
    items = list(_LIST_NUMBER.finditer(text))
    values = [int(item.group(1)) for item in items]
    pieces, position = [], 0
    for place, item in enumerate(items):
        follows = place > 0 and values[place] == values[place - 1] + 1
        followed = place + 1 < len(items) and values[place + 1] in (values[place], values[place] + 1)
        if values[place] == 1 or follows or followed:
            pieces.append(text[position : item.start()])
            if re.match(_NOTHING_ELSE, text[item.end() :].split("\n")[0]):
                pieces.append(ITEM)
            position = item.end()
    return "".join([*pieces, text[position:]])


def sentence_spans(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """The sentences from ``start`` on, each with the mark that ends it."""
    for match in _SENTENCE_END.finditer(text, start):
        if match.group()[0] == "." and _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start()]):
            continue
        if text[start : match.end()].strip():
            yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def is_question(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or re.search(r"[吗呢][。\s]*$", sentence) is not None


_MAX_DIGITS = 40  # more are a model that repeats itself
_UNFINISHED = re.compile(
    r"(?:[-+*/×÷=<,(:]|(?<!\w)(?:an?|the|of|for|from|to|and|or|both|is|are|in|on|by|with|at|that|so|then|we|as"
    r"|per|if|when|each|her|his|its|their)|[的和与是为把在])\s*$",
    re.IGNORECASE,
)


def cut_off(text: str, written: str) -> bool:
    """The text breaks off: within brackets or a box, at an operator or a function word, or among digits."""
    line = text.rstrip().rsplit("\n", 1)[-1]
    return (
        line.count("(") > line.count(")")
        or line.count("<<") > line.count(">>")
        or re.search(r"\\(?:boxed|fbox|frac|sqrt|text)\s*\{[^{}]*$", line[-300:]) is not None
        or sum(char.isdigit() for char in written) > _MAX_DIGITS
        or _UNFINISHED.search(line[-40:]) is not None
    )
