"""Text tables and HTML cards that scores, metrics, collections and reports share. No plotting library is needed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_CARD = (
    "display:inline-block;font-family:system-ui,sans-serif;border:1px solid #8884;border-radius:8px;"
    "padding:10px 14px;margin:4px;vertical-align:top"
)


def number(value: Any) -> str:
    """A value as people read it: 6 significant digits, thousands separators for integers, nested data shortened.

    >>> number(10.66847), number(1234567), number(float("nan")), number([1, 2, 3, 4, 5, 6, 7, 8, 9])
    ('10.6685', '1,234,567', 'nan', '[1, 2, 3, 4, 5, 6, ... 9 in all]')
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{float(value):.6g}"
    if isinstance(value, Mapping):
        return _shortened([f"{name}: {number(part)}" for name, part in value.items()], "{}")
    if isinstance(value, (list, tuple)):
        return _shortened([number(part) for part in value], "[]")
    return str(value)


def _shortened(items: list[str], brackets: str, most: int = 6) -> str:
    shown = items if len(items) <= most + 2 else [*items[:most], f"... {len(items)} in all"]
    return brackets[0] + ", ".join(shown) + brackets[1]


def text_pairs(pairs: Mapping[str, Any]) -> str:
    """Names and values, a line each, the values aligned.

    >>> print(text_pairs({"loss": 2.5, "tokens": 1200}))
    loss     2.5
    tokens   1,200
    """
    width = max((len(name) for name in pairs), default=0) + 3
    return "\n".join(f"{name:<{width}}{number(value)}" for name, value in pairs.items())


def text_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with aligned columns: the first to the left, the others to the right.

    >>> print(text_table(["metric", "value"], [["loss", 2.5], ["perplexity", 12.1825]]))
    metric        value
    ----------  -------
    loss            2.5
    perplexity  12.1825
    """
    cells = [[str(header) for header in headers], *([number(cell) for cell in row] for row in rows)]
    widths = [max(_columns(row[place]) for row in cells) for place in range(len(headers))]
    lines = [
        "  ".join(_pad(cell, widths[place], place > 0) for place, cell in enumerate(row)).rstrip() for row in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _columns(text: str) -> int:
    """Columns on a terminal: East Asian wide characters take two."""
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - _columns(text))
    return space + text if right else text + space


def html_card(title: str, value: Any, parts: Mapping[str, Any], footer: str = "") -> str:
    """An HTML card: a title, one large value, a table of parts and a line in small print. Everything is escaped.

    >>> "<b>&lt;loss&gt;</b>" in html_card("<loss>", 2.5, {"tokens": 1200})
    True
    """
    rows = "".join(
        f"<tr><td style='text-align:left;padding-right:12px'>{html.escape(str(name))}</td>"
        f"<td style='text-align:right'>{html.escape(number(part))}</td></tr>"
        for name, part in parts.items()
    )
    return (
        f"<div style='{_CARD}'><b>{html.escape(title)}</b>"
        f"<div style='font-size:1.6em'>{html.escape(number(value))}</div>"
        f"<table style='font-size:0.9em'>{rows}</table>"
        f"<div style='font-size:0.75em;opacity:0.65'>{html.escape(footer)}</div></div>"
    )
