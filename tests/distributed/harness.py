"""What the rank scripts share: the registry of cases and their outcomes as one JSON file for each rank."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

CASES: dict[str, Callable[[], Any]] = {}


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    """Register a check that every rank makes. It fails by raising."""
    CASES[function.__name__] = function
    return function


def run_all(outcomes: Path, rank: int) -> None:
    """Run every case in the order of definition and write ``{case: null or traceback}``."""
    results: dict[str, str | None] = {}
    for name, function in CASES.items():
        try:
            function()
            results[name] = None
        except BaseException as error:
            results[name] = "".join(traceback.format_exception(type(error), error, error.__traceback__))[-3000:]
        (outcomes / f"rank{rank}.json").write_text(json.dumps(results))


def message(work: Callable[[], Any]) -> str:
    """The text of the error that ``work`` must raise."""
    try:
        value = work()
    except Exception as error:
        return str(error)
    raise AssertionError(f"no error, but {value!r}")
