"""The messages of docs/troubleshooting.md are those of the sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8").split("What MindSpore itself says")[0]
MESSAGES = re.findall(r"^\| `([^`]+)`", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def texts():
    """Every string of the package, with a dot for each value that is put in."""
    found = []
    for path in (ROOT / "mindeval").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                found.append("".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


@pytest.mark.parametrize("message", MESSAGES)
def test_a_listed_message_exists(message, texts):
    assert any(message in text for text in texts), message


def test_the_page_lists_messages_of_all_kinds():
    assert len(MESSAGES) >= 35
