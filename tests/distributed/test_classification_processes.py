"""Real processes: one launch for each world size makes all checks of ranks_agree_classification.py."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from launcher import launch

AGREE = Path(__file__).parent / "ranks_agree_classification.py"
CASES = [
    node.name
    for node in ast.parse(AGREE.read_text()).body
    if isinstance(node, ast.FunctionDef) and any(getattr(mark, "id", "") == "case" for mark in node.decorator_list)
]


@pytest.fixture(scope="module", params=[2, 4], ids=["2 ranks", "4 ranks"])
def outcomes(request, tmp_path_factory):
    """What each rank says of each case."""
    folder = tmp_path_factory.mktemp(f"classification{request.param}")
    launch(request.param, AGREE, [str(folder)], folder / "logs")
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(request.param)]


@pytest.mark.parametrize("case", CASES)
def test_ranks(outcomes, case):
    for rank, results in enumerate(outcomes):
        assert results[case] is None, f"rank {rank}:\n{results[case]}"
