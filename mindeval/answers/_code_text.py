"""Extraction of Python code from generated text, and its joining to a prompt."""

from __future__ import annotations

import ast
import re

from mindeval.answers._fences import fenced_blocks, lone_fences, parses
from mindeval.answers._result import Extraction
from mindeval.answers._text import split_reasoning

# What begins a line at the margin after the function body has ended.
_TOP_LEVEL = re.compile(r"^(?=\S)(?![)\]}#@])", re.MULTILINE)
_TRIES = 400  # of parsing pieces of a text that does not parse as a whole


def extract_code(text: str, *, entry_point: str | None = None, completion: bool = False) -> Extraction:
    """The Python code of a generated text, with its indentation as it was written.

    Reasoning is dropped first. Of several fenced blocks the last that defines ``entry_point`` counts; without one, or
    if none does, the first that is marked as Python, else the first that is not marked. A fence may be of three or more
    backticks or tildes, indented or in a list (its indentation is taken off), and unclosed. A closing fence without an
    opening one (the prompt opened it) ends the code. Text without fences is code as a whole. Non-breaking spaces become
    spaces.

    Args:
        text: What the model generated.
        entry_point: The function, class or variable that is asked for. Its last definition, what runs before it, and
            functions, classes, imports and constants after it are kept; calls, tests and prose around it are left out.
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
        if entry_point is not None and re.search(rf"^(?:async\s+)?def {re.escape(entry_point)}\b", code, re.MULTILINE):
            code = _definition(code, entry_point)
        else:
            code = _body(_aligned(code))
    elif entry_point is not None:
        code = _definition(code, entry_point)
    if not code.strip():
        return Extraction(None, "no code")
    return Extraction(code, found)


def _fenced(text: str, entry_point: str | None, completion: bool) -> tuple[str, str]:
    lone = lone_fences(text)
    blocks = fenced_blocks(text)
    if not lone and not blocks:
        return text, "whole text"
    bare = bool(lone) and lone[0].group().strip("`~ \t") == ""
    if bare and len(lone) % 2 and _is_code(text[: lone[0].start()], completion):
        before = text[: lone[0].start()]
        return (
            before if entry_point is not None else before[:-1] if before.endswith("\n") else before
        ), "closing fence"
    candidates = [block for block in blocks if block.language in ("python", "")]
    if not candidates:
        return "", "no Python block"
    if entry_point is not None:
        name = re.escape(entry_point)
        for pattern in (_definition_of(entry_point), re.compile(rf"^[ \t]+(?:async\s+)?def {name}\b", re.MULTILINE)):
            defining = [block for block in candidates if pattern.search(block.code)]
            if defining:
                return defining[-1].code, "fenced block"
    marked = [block for block in candidates if block.language == "python"]
    return (marked or candidates)[0].code, "fenced block"


def _is_code(text: str, completion: bool) -> bool:
    """Code rather than an introduction: it is indented like a body, or it parses."""
    if not text.strip():
        return False
    if text.lstrip("\n")[:1] in " \t":
        return True
    return parses(f"def body():\n{_aligned(text)}" if completion else text)


def _aligned(code: str) -> str:
    """The first line indented so that the body parses, where a tokenizer or a strip() took spaces from it alone."""
    head = re.match(r"(?:[ \t]*\n)*", code)
    blank = head.group() if head else ""
    first, newline, rest = code[len(blank) :].partition("\n")
    following = _until_margin(rest)
    levels = {len(line) - len(line.lstrip()) for line in following.split("\n") if line.strip()}
    written = len(first) - len(first.lstrip())
    for level in (written if written % 4 == 0 else 4, 4, written, *sorted(levels)):
        if level > 0 and parses(f"def body():\n{' ' * level}{first.lstrip()}{newline}{following}"):
            return f"{blank}{' ' * level}{first.lstrip()}{newline}{rest}"
    return code


def _until_margin(code: str) -> str:
    end = _TOP_LEVEL.search(code)
    return code[: end.start()] if end else code


def _definition_of(name: str) -> re.Pattern:
    name = re.escape(name)
    return re.compile(rf"^(?:(?:async\s+)?def {name}\b|class {name}\b|{name}\s*(?::[^=\n]+)?=(?!=))", re.MULTILINE)


def _defines(code: str, entry_point: str) -> bool:
    return _definition_of(entry_point).search(code) is not None


def _body(code: str) -> str:
    """The body up to the first statement at the margin that is not within a string."""
    ends = [match.start() for match in _TOP_LEVEL.finditer(code) if match.start() > 0]
    if not ends:
        return code
    end = next((end for end in ends[:50] if parses(f"def body():\n{code[:end]}")), ends[0])
    return re.sub(r"\n\s*\Z", "\n", code[:end])


def _definition(code: str, entry_point: str) -> str:
    """The definition that is asked for with what it may need: see extract_code."""
    if not _defines(code, entry_point):
        return code
    pieces = _pieces(code)
    place = max((number for number, piece in enumerate(pieces) if _defines(piece, entry_point)), default=None)
    if place is None:
        return code
    kept = [piece for number, piece in enumerate(pieces) if number == place or _needed(piece, before=number < place)]
    if len(kept) == len(pieces):
        return code
    lines = "".join(kept).split("\n")
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return "\n".join(lines)


def _pieces(code: str) -> list[str]:
    """The code cut at its top-level statements; where it does not parse as a whole, at the lines where pieces do."""
    lines = code.splitlines(keepends=True)
    try:
        nodes = ast.parse(code).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _parsing_pieces(lines)
    starts = [min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1 for node in nodes]
    edges = sorted({0, *starts, len(lines)})
    return ["".join(lines[start:end]) for start, end in zip(edges, edges[1:])]


def _parsing_pieces(lines: list[str]) -> list[str]:
    margins = [number for number, line in enumerate(lines) if line[:1] not in (" ", "\t", "\n", "\r", "")]
    pieces, tries, place = [], 0, 0
    while place < len(margins):
        start, width = margins[place], 1
        edges = [*margins[place + 1 : place + 20], len(lines)]
        for number, end in enumerate(edges, 1):
            tries += 1
            if tries > _TRIES:
                break
            if parses("".join(lines[start:end])):
                width = number
                break
        pieces.append("".join(lines[start : edges[width - 1]]))
        place += width
    return pieces


def _needed(piece: str, *, before: bool) -> bool:
    """Whether the definition may need a piece: all that runs before it, definitions and constants behind it."""
    try:
        nodes = ast.parse(piece).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    if not nodes:
        return before  # comments
    node = nodes[0]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
        return True
    if before:
        return not isinstance(node, ast.Expr) or isinstance(node.value, (ast.Call, ast.Constant))
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return bool(targets) and all(isinstance(target, ast.Name) and target.id.isupper() for target in targets)
