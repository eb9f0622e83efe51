"""Real processes: answer scoring with subjects that differ between ranks."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from launcher import launch

SCRIPT = Path(__file__).parent / "ranks_answers.py"
CASES = [
    node.name
    for node in ast.parse(SCRIPT.read_text()).body
    if isinstance(node, ast.FunctionDef) and node.decorator_list
]


@pytest.fixture(scope="module", params=[2, 4], ids=["2 ranks", "4 ranks"])
def outcomes(request, tmp_path_factory):
    """What each rank says of each case."""
    folder = tmp_path_factory.mktemp(f"answers{request.param}")
    launch(request.param, SCRIPT, [str(folder)], folder / "logs")
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(request.param)]


@pytest.mark.parametrize("case", CASES)
def test_ranks(outcomes, case):
    for rank, results in enumerate(outcomes):
        assert results[case] is None, f"rank {rank}:\n{results[case]}"
