"""README and docs: every Python block runs, prints the text block behind it, and the README's numbers are right."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import re
from pathlib import Path

import numpy as np
import pytest

import mindeval

ROOT = Path(__file__).resolve().parents[1]
READMES = ["README.md", "README.zh-CN.md"]
PAGES = [*READMES, *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def examples(page: str) -> list[tuple[str, str]]:
    """Each Python block with the text block that follows it, or with an empty text."""
    found = blocks(page)
    following = [*found[1:], ("", "")]
    return [
        (code, text if kind == "text" else "")
        for (language, code), (kind, text) in zip(found, following)
        if language == "python"
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)])
def test_examples_print_what_the_page_shows(page: str) -> None:
    names: dict = {"__name__": "page"}
    for code, shown in examples(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        assert printed.getvalue() == shown, code


@pytest.mark.parametrize("page", READMES)
def test_readme_numbers_equal_a_computation_by_hand(page: str) -> None:
    after = [[0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]]
    rows = [[0, 1, 2, 0, 1], [0, 2, 1, 2, 0], [1, 2, 0, 1, 1]]
    pairs = [(a, b) for row in rows for a, b in zip(row, row[1:])]
    bits = -math.fsum(math.log2(after[a][b]) for a, b in pairs) / len(pairs)
    right = sum(max(range(3), key=lambda label: after[a][label]) == b for a, b in pairs)
    accuracy = right / len(pairs)

    from_model, from_loop, from_ranks, from_training = (shown for _, shown in examples(page))
    assert from_model == from_ranks == f"{2**bits:.4f} {accuracy:.4f}\n"
    assert f"perplexity  {2**bits:.5f}\n" in from_loop
    assert f"accuracy       {accuracy:.2f}\n" in from_loop
    assert from_loop.endswith(f"\n{len(pairs)} {bits:.4f}\n")
    assert from_training.splitlines()[:3] == trained(after, rows)


def trained(after: list[list[float]], rows: list[list[int]]) -> list[str]:
    """Steps and perplexities of six epochs of gradient descent with rate 0.5 over batches of two rows, in float64."""
    logits, lines = np.log(after), []
    before, label = (np.array(rows)[:, part] for part in (slice(-1), slice(1, None)))

    def log_probabilities() -> np.ndarray:
        return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))

    for step in range(1, 13):
        batch = slice(0, 2) if step % 2 else slice(2, 3)
        slope = (np.exp(log_probabilities())[before[batch]] - np.eye(3)[label[batch]]) / before[batch].size
        np.subtract.at(logits, before[batch], 0.5 * slope)
        if step % 4 == 0:
            lines.append(f"{step} {np.exp(-log_probabilities()[before, label].mean()):.3f}")
    return lines


def test_the_two_readmes_have_the_same_structure_and_code() -> None:
    english, chinese = ((ROOT / page).read_text(encoding="utf-8") for page in READMES)
    without_comments = [[re.sub(r" *#.*", "", code) for _, code in blocks(page)] for page in READMES]
    assert without_comments[0] == without_comments[1]
    for mark in (r"^#+ ", r"^\|", r"^- ", r"^\*\*", r"\]\((?!README)[^)]*\)"):
        assert len(re.findall(mark, english, re.MULTILINE)) == len(re.findall(mark, chinese, re.MULTILINE)), mark


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_of_the_repository(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8")):
        if "://" not in target:
            assert (ROOT / page).parent.joinpath(target).is_file(), target


def test_messages_that_the_page_on_several_cards_explains_are_those_of_the_library() -> None:
    texts = [
        _message(node)
        for path in (ROOT / "mindeval").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.JoinedStr, ast.Constant))
    ]
    page = (ROOT / "docs/several-cards.md").read_text(encoding="utf-8")
    explained = re.findall(r"^### `(.*)`$", page, re.MULTILINE)
    assert len(explained) > 20
    for message in explained:
        assert any(message.strip(". ") in text for text in texts), message
    files = ("wire.py", "communicator.py", "scope.py", "distributed.py")
    of_ranks = [text for path in files for text in _raised(ROOT / "mindeval" / path)]
    assert len(of_ranks) > 12
    for text in of_ranks:
        assert text.startswith("...") or any(message.strip(". ") in text for message in explained), text


def _message(node: ast.AST) -> str:
    """A literal, with dots in place of what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_message(part) for part in node.values)
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "..."
    return re.sub("%[sd]", "...", text)


def _raised(path: Path) -> list[str]:
    """The literals that errors of a module are made of."""
    raised = [node.exc for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Raise)]
    calls = [error for error in raised if isinstance(error, ast.Call) and error.args]
    return [_message(call.args[0]) for call in calls if isinstance(call.args[0], (ast.JoinedStr, ast.Constant))]


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md", "docs/api.md"])
def test_every_public_metric_is_listed(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in mindeval.__all__:
        if name != "__version__" and (page == "docs/api.md" or _is_final_metric(name)):
            assert f"mindeval.{name}\n" in text if page == "docs/api.md" else f"| `{name}` |" in text, name


def _is_final_metric(name: str) -> bool:
    value = getattr(mindeval, name)
    return isinstance(value, type) and issubclass(value, mindeval.Metric) and value is not mindeval.Metric
