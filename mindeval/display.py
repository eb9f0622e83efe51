"""Text tables and HTML cards that scores, metrics, collections and reports share. No plotting library is needed."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_CARD = (
    "display:inline-block;font-family:system-ui,sans-serif;border:1px solid #8884;border-radius:8px;"
    "padding:10px 14px;margin:4px;vertical-align:top"
)
_MOST_COLUMNS = 12  # of a table that is shown
_MOST_ROWS = 20


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


def as_table(value: Any) -> tuple[list[str], list[list[Any]]] | None:
    """Headers (none for a matrix) and rows of a value that is a table, None for any other.

    Tables are columns of one length under their names, records with the same fields under their names, and matrices.

    >>> as_table({"class": [0, 1], "f1": [0.5, 1.0]})
    (['class', 'f1'], [[0, 0.5], [1, 1.0]])
    >>> as_table({"law": {"accuracy": 0.5, "total": 4}})
    (['', 'accuracy', 'total'], [['law', 0.5, 4]])
    >>> as_table([[3, 1], [0, 2]]), as_table([1, 2]), as_table({"a": [1], "b": [1, 2]})
    (([], [[3, 1], [0, 2]]), None, None)
    """
    if isinstance(value, Mapping):
        parts = list(value.values())
        if _all_are(list, parts) and len({len(part) for part in parts}) == 1 and not any(map(_nested, parts)):
            return list(map(str, value)), [list(row) for row in zip(*parts)]
        if _all_are(Mapping, parts) and len({tuple(part) for part in parts}) == 1:
            rows = [[str(name), *part.values()] for name, part in value.items()]
            return None if any(map(_nested, rows)) else (["", *map(str, parts[0])], rows)
    if _all_are(list, value) and len({len(row) for row in value}) == 1 and not any(map(_nested, value)):
        return [], value
    return None


def _all_are(kind: type, parts: Any) -> bool:
    return isinstance(parts, list) and bool(parts) and all(isinstance(part, kind) and part for part in parts)


def _nested(row: Sequence[Any]) -> bool:
    return any(isinstance(cell, (Mapping, list, tuple)) for cell in row)


def _table_to_show(value: Any) -> tuple[list[str], list[list[Any]], str] | None:
    """``as_table`` with its first rows alone, and how many there are if that is not all; None if it is too wide."""
    table = as_table(value)
    if table is None or len(table[1][0]) > _MOST_COLUMNS:
        return None
    headers, rows = table
    if len(rows) <= _MOST_ROWS:
        return headers, rows, ""
    return headers, rows[:_MOST_ROWS], f"... {len(rows):,} rows in all"


def text_pairs(pairs: Mapping[str, Any]) -> str:
    """Names and values, a line each, the values aligned; a value that is a table stands below its name.

    >>> print(text_pairs({"loss": 2.5, "tokens": 1200, "matrix": [[10, 2], [0, 3]]}))
    loss     2.5
    tokens   1,200
    matrix
      10  2
       0  3
    """
    width = max((len(name) for name in pairs), default=0) + 3
    lines = []
    for name, value in pairs.items():
        table = _table_to_show(value)
        if table is None:
            lines.append(f"{name:<{width}}{number(value)}")
            continue
        headers, rows, more = table
        shown = [*text_table(headers, rows).split("\n"), *([more] if more else [])]
        lines += [name, *(f"  {line}" for line in shown)]
    return "\n".join(lines)


def text_table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with aligned columns: numbers to the right, and the first column to the left if it holds names.

    Without headers it is the rows alone.

    >>> print(text_table(["metric", "value"], [["loss", 2.5], ["perplexity", 12.1825]]))
    metric        value
    ----------  -------
    loss            2.5
    perplexity  12.1825
    """
    cells = [[number(cell) for cell in row] for row in rows]
    cells = [[str(header) for header in headers], *cells] if headers else cells
    widths = [max(map(_columns, column)) for column in zip(*cells)]
    named = not rows or any(isinstance(row[0], str) for row in rows)
    lines = [
        "  ".join(_pad(cell, widths[place], place > 0 or not named) for place, cell in enumerate(row)).rstrip()
        for row in cells
    ]
    if headers:
        lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _columns(text: str) -> int:
    """Columns on a terminal: East Asian wide characters take two."""
    import unicodedata

    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - _columns(text))
    return space + text if right else text + space


def html_card(title: str, value: Any, parts: Mapping[str, Any], footer: str = "") -> str:
    """An HTML card: a title, one large value, a table of parts and a line in small print. Everything is escaped.

    The first part is left out where it is the large value.

    >>> "<b>&lt;loss&gt;</b>" in html_card("<loss>", 2.5, {"tokens": 1200})
    True
    >>> html_card("loss", 2.5, {"loss": 2.5, "tokens": 1200}).count("2.5")
    1
    """
    shown = list(parts.items())
    if shown and number(shown[0][1]) == number(value):
        del shown[0]
    rows = "".join(_html_part(str(name), part) for name, part in shown)
    return (
        f"<div style='{_CARD}'><b>{html.escape(title)}</b>"
        f"<div style='font-size:1.6em'>{html.escape(number(value))}</div>"
        f"<table style='font-size:0.9em'>{rows}</table>"
        f"<div style='font-size:0.75em;opacity:0.65'>{html.escape(footer)}</div></div>"
    )


def _html_part(name: str, part: Any) -> str:
    table = _table_to_show(part)
    if table is None:
        return _html_row([name, number(part)], "td")
    headers, rows, more = table
    lines = [_html_row(headers, "th")] if headers else []
    lines += [_html_row([number(cell) for cell in row], "td") for row in rows]
    lines += [f"<tr><td colspan='{len(rows[0])}'>{more}</td></tr>"] if more else []
    return f"<tr><td colspan='2'>{html.escape(name)}<table>{''.join(lines)}</table></td></tr>"


def _html_row(cells: Sequence[str], tag: str) -> str:
    aligned = ["left", *["right"] * (len(cells) - 1)]
    return "<tr>{}</tr>".format(
        "".join(
            f"<{tag} style='text-align:{side};padding-right:12px'>{html.escape(cell)}</{tag}>"
            for side, cell in zip(aligned, cells)
        )
    )
