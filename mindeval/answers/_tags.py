"""Answers between tags (``<answer>...</answer>``), and boxes that stand side by side."""

from __future__ import annotations

import re

_TAG = re.compile(r"<\s*(/?)\s*(?:final_)?answer\s*>", re.IGNORECASE)
_BESIDE = re.compile(r"[$\s,]*(?:or|and|或者?|和|,)?[$\s,]*", re.IGNORECASE)  # between two boxes that are offered both


def tagged(text: str) -> tuple[str, str]:
    """(the content of the last ``<answer>`` that says anything, the text without the tags)."""
    content, opened, position, pieces = "", None, 0, []
    for match in _TAG.finditer(text):
        pieces += [text[position : match.start()], "\n"]
        position = match.end()
        if not match.group(1):
            opened = position
        elif opened is not None:
            content, opened = text[opened : match.start()].strip() or content, None
    if opened is not None:
        content = text[opened:].strip() or content
    return content, "".join([*pieces, text[position:]])


def boxes_together(between: str) -> bool:
    """Whether two boxes with this between them are offered both, so that neither is the answer."""
    between = re.sub(r"\\[()\[\],;: ]|\\(?:text|quad|mathrm|mbox)|[{}]", " ", between)
    return _BESIDE.fullmatch(between) is not None and re.search(r"[a-z,或和]", between, re.IGNORECASE) is not None
