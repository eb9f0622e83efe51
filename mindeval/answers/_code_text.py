"""Extraction of Python code from generated text, and its joining to a prompt."""

from __future__ import annotations

import ast
import re

from mindeval.answers._result import Extraction
from mindeval.answers._text import split_reasoning

_FENCE = re.compile(
    r"^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_LONE_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[^\n]*$", re.MULTILINE)
_PYTHON = ("", "python", "py", "python3", "py3", "ipython")
# What begins a line at the margin after the function body has ended.
_TOP_LEVEL = re.compile(r"^(?=\S)(?![)\]}#@])", re.MULTILINE)


def extract_code(text: str, *, entry_point: str | None = None, completion: bool = False) -> Extraction:
    """The Python code of a generated text, with its indentation as it was written.

    Reasoning is dropped first. Of several fenced blocks the last that defines ``entry_point`` counts, without one the
    first Python block. A closing fence without an opening one (the prompt opened it) ends the code. Text without
    fences is code as a whole. Non-breaking spaces become spaces.

    Args:
        text: What the model generated.
        entry_point: The function that is asked for: what follows it at the margin (driver code, a second question) is
            left out.
        completion: True if the text continues a prompt that ends inside a function: the body ends at the first
            statement at the margin, and a first line that lost a part of its indentation is aligned with the rest.

    Examples:
        >>> from mindeval.answers.extraction import extract_code
        >>> extract_code("Sure:\\n```python\\n    return a * b\\n```\\nHope it helps.").answer
        '    return a * b\\n'
        >>> extract_code("    return sum(xs)\\n\\nprint(total([1]))\\n", completion=True).answer
        '    return sum(xs)\\n'
    """
    visible, _, rule = split_reasoning(text)
    if rule == "unclosed reasoning" and not visible.strip():
        return Extraction(None, rule)
    code, found = _fenced(visible.replace("\u00a0", " ").replace("\r\n", "\n"), entry_point, completion)
    if completion:
        if entry_point is not None and _defines(code, entry_point):
            code = _definition(code, entry_point)
        else:
            code = _body(_aligned(code))
    elif entry_point is not None:
        code = _definition(code, entry_point)
    if not code.strip():
        return Extraction(None, "no code")
    return Extraction(code, found)


def _fenced(text: str, entry_point: str | None, completion: bool) -> tuple[str, str]:
    lone = _LONE_FENCE.findall(text)
    opening = _LONE_FENCE.search(text)
    if opening is None:
        return text, "whole text"
    if len(lone) % 2 and opening.group().strip("`~ \t") == "" and _is_code(text[: opening.start()], completion):
        before = text[: opening.start()]
        return (
            before if entry_point is not None else before[:-1] if before.endswith("\n") else before
        ), "closing fence"
    blocks = [match.group(3) for match in _FENCE.finditer(text) if match.group(2).lower() in _PYTHON]
    if not blocks:
        return "", "no Python block"
    if entry_point is not None:
        defining = [
            block
            for block in blocks
            if re.search(rf"^[ \t]*(?:async )?def {re.escape(entry_point)}\b", block, re.MULTILINE)
        ]
        if defining:
            return defining[-1], "fenced block"
    return blocks[0], "fenced block"


def _is_code(text: str, completion: bool) -> bool:
    """Code rather than an introduction: it is indented like a body, or it parses."""
    if not text.strip():
        return False
    if text.lstrip("\n")[:1] in " \t":
        return True
    return _parses(f"def body():\n{_aligned(text)}" if completion else text)


def _aligned(code: str) -> str:
    """The first line indented so that the body parses, where a tokenizer or a strip() took spaces from it alone."""
    head = re.match(r"(?:[ \t]*\n)*", code)
    blank = head.group() if head else ""
    first, newline, rest = code[len(blank) :].partition("\n")
    following = _until_margin(rest)
    levels = {len(line) - len(line.lstrip()) for line in following.split("\n") if line.strip()}
    written = len(first) - len(first.lstrip())
    for level in (written if written % 4 == 0 else 4, 4, written, *sorted(levels)):
        if level > 0 and _parses(f"def body():\n{' ' * level}{first.lstrip()}{newline}{following}"):
            return f"{blank}{' ' * level}{first.lstrip()}{newline}{rest}"
    return code


def _until_margin(code: str) -> str:
    end = _TOP_LEVEL.search(code)
    return code[: end.start()] if end else code


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True


def _defines(code: str, entry_point: str) -> bool:
    return re.search(rf"^(?:async )?def {re.escape(entry_point)}\b", code, re.MULTILINE) is not None


def _body(code: str) -> str:
    """The body up to the first statement at the margin."""
    for match in _TOP_LEVEL.finditer(code):
        if match.start() > 0:
            return re.sub(r"\n\s*\Z", "\n", code[: match.start()])
    return code


def _definition(code: str, entry_point: str) -> str:
    """The code up to the end of the function that is asked for."""
    start = re.search(rf"^(?:async )?def {re.escape(entry_point)}\b", code, re.MULTILINE)
    if start is None:
        return code
    lines = code[start.start() :].split("\n")
    depth = 0
    for number, line in enumerate(lines):
        margin = line[:1] not in (" ", "\t", "")
        if number and margin and depth == 0 and not line.startswith(("#", ")", "]", "}")):
            rest = [later for later in lines[number:] if later.strip()]
            if re.match(r"(?:async\s+)?(?:def|class|import|from|@)\b|@|[A-Z_]+\s*=", line) and rest:
                continue  # a helper may be defined after the function that uses it
            kept = lines[:number]
            while kept and (not kept[-1].strip() or kept[-1].startswith("#")):
                kept.pop()
            return code[: start.start()] + "\n".join(kept)
        depth = max(0, depth + sum(line.count(c) for c in "([{") - sum(line.count(c) for c in ")]}"))
    return code
