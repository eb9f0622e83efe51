"""Fenced blocks of code in Markdown, as models write them: indented, in lists, unclosed, with more than three marks."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass

_LIST = r"(?:>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)"
_OPENING = re.compile(rf"^(?P<prefix>[ \t]*{_LIST}*)(?P<fence>`{{3,}}(?=[^`]*$)|~{{3,}})[ \t]*(?P<info>.*)$")
_CLOSING = re.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[ \t]*$")
_LANGUAGE = re.compile(r"[{.\s]*([\w+#-]*)")  # of "python3 title=x", "{.python}", "python:main.py"
_PYTHON = ("python", "py", "python3", "py3", "ipython")
_TRIES = 5  # closing marks that may belong to a string within the code


@dataclass(frozen=True)
class Block:
    """``language`` is "python", "" (not said) or another one, in lower case."""

    language: str
    code: str


def lone_fences(text: str) -> list[re.Match]:
    """The lines that are marks of fences, opening or closing."""
    return list(re.finditer(r"^[ \t]*(?:`{3,}[^`\n]*|~{3,}[^\n]*)$", text, re.MULTILINE))


def fenced_blocks(text: str) -> list[Block]:
    """The blocks of a text in order; one that is not closed goes on to the end of the text."""
    lines = text.split("\n")
    blocks, place = [], 0
    while place < len(lines):
        opening = _OPENING.match(lines[place])
        place += 1
        if opening is None:
            continue
        ends, end = _ends(lines, place, opening.group("fence"))
        language = _LANGUAGE.match(opening.group("info"))
        name = language.group(1).lower() if language else ""
        prefix = opening.group("prefix")
        codes = [_code(lines[place:stop], prefix) for stop in ends[:_TRIES]]
        chosen = 0
        if len(codes) > 1 and (name in _PYTHON or not name):
            chosen = next((number for number, code in enumerate(codes) if is_python(code)), 0)
        blocks.append(Block("python" if name in _PYTHON else name, codes[chosen]))
        place = ends[chosen] + 1
    return blocks


def _ends(lines: list[str], start: int, fence: str) -> tuple[list[int], int]:
    """The lines that may close a block: from the first closing mark to the next opening mark that names a language."""
    ends: list[int] = []
    for place in range(start, len(lines)):
        closing = _CLOSING.match(lines[place])
        if closing and closing.group("fence")[0] == fence[0] and len(closing.group("fence")) >= len(fence):
            ends.append(place)
            if len(ends) >= _TRIES:
                break
        elif ends and (opening := _OPENING.match(lines[place])) and opening.group("info").strip():
            break
    return (ends or [len(lines)]), start


def _code(lines: list[str], prefix: str) -> str:
    """The lines without the indentation, list or quotation marks of their fence."""
    quoted = prefix.count(">")
    stripped = []
    for line in lines:
        line = re.sub(rf"^(?:[ \t]*>[ \t]?){{0,{quoted}}}", "", line) if quoted else line
        margin = len(line) - len(line.lstrip(" \t"))
        stripped.append(line if quoted else line[min(margin, len(prefix)) :])
    code = "".join(f"{line}\n" for line in stripped)
    dedented = textwrap.dedent(code)
    if dedented != code and re.match(r"\s*(?:@|def |class |async |import |from )", dedented) and not parses(code):
        return dedented
    return code


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def is_python(code: str) -> bool:
    """It parses as a module, or as the body of a function."""
    return parses(code) or parses(f"def body():\n{code}") or parses(f"def body():\n{textwrap.indent(code, '    ')}")
