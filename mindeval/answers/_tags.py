"""Answers between tags: ``<answer>...</answer>``."""

from __future__ import annotations

import re

_TAG = re.compile(r"<\s*(/?)\s*(?:final_)?answer\s*>", re.IGNORECASE)


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
