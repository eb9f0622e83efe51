"""Real processes: one launch for each world size makes all checks of ranks_agree.py, others fall apart on purpose."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import free_port, launch

HERE = Path(__file__).parent
AGREE = HERE / "ranks_agree.py"
CASES = [
    node.name
    for node in ast.parse(AGREE.read_text()).body
    if isinstance(node, ast.FunctionDef) and any(getattr(mark, "id", "") == "case" for mark in node.decorator_list)
]
TIMEOUT = 8  # seconds after which a collective that a rank waits in fails
NODE_TIMEOUT = 4 * TIMEOUT  # seconds after which a rank that is gone is noticed in any case


@pytest.fixture(scope="module", params=[2, 4], ids=["2 ranks", "4 ranks"])
def outcomes(request, tmp_path_factory):
    """What each rank says of each case."""
    folder = tmp_path_factory.mktemp(f"world{request.param}")
    launch(request.param, AGREE, [str(folder)], folder / "logs")
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(request.param)]


@pytest.mark.parametrize("case", CASES)
def test_ranks(outcomes, case):
    for rank, results in enumerate(outcomes):
        assert results[case] is None, f"rank {rank}:\n{results[case]}"


def broken(way: str, tmp_path: Path) -> tuple[list[int], list[dict]]:
    codes = launch(
        2,
        HERE / "ranks_break.py",
        [way, str(tmp_path)],
        tmp_path / "logs",
        operation_timeout=TIMEOUT,
        may_fail=True,
    )
    files = [tmp_path / f"rank{rank}.json" for rank in range(2)]
    return codes, [json.loads(file.read_text()) if file.exists() else {} for file in files]


@pytest.mark.parametrize("way", ["only_rank_0_evaluates", "only_rank_0_calls"])
def test_a_rank_that_never_arrives_makes_the_others_raise_within_the_timeout(way, tmp_path):
    _, (first, _) = broken(way, tmp_path)
    assert "Did every rank call eval() of the same metrics (not only rank 0)" in first["error"]
    assert "MS_CPU_COMM_OP_TIMEOUT" in first["error"]
    assert first["seconds"] < NODE_TIMEOUT


def test_survivors_of_a_killed_rank_raise_within_the_timeout(tmp_path):
    codes, (survivor, killed) = broken("a_rank_is_killed", tmp_path)
    assert codes[1] == -9 and killed == {}
    assert "failed on rank 0 of 2" in survivor["error"]
    assert "out of step since" in survivor["again"]
    assert survivor["seconds"] < NODE_TIMEOUT


def test_another_collective_in_place_of_ours_is_an_error_and_no_number(tmp_path):
    _, (first, _) = broken("another_collective_meets_ours", tmp_path)
    assert "another collective met the metrics' AllReduce" in first["error"]
    assert "out of step since" in first["again"]


def test_ranks_that_carry_their_words_differently_get_errors_and_no_number(tmp_path):
    _, outcomes = broken("ranks_carry_words_differently", tmp_path)
    for outcome in outcomes:
        assert re.search(
            "another collective met the metrics' AllReduce|AllReduce of the metrics .* failed", outcome["error"]
        )
        assert "out of step since" in outcome["again"]


def test_a_script_under_msrun_itself(tmp_path):
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)]),
        "OMP_NUM_THREADS": "1",
    }
    command = ["msrun", "--worker_num=2", "--local_worker_num=2", "--join=True", f"--log_dir={tmp_path / 'logs'}"]
    done = subprocess.run(
        [*command, f"--master_port={free_port()}", str(HERE.parents[1] / "examples" / "two_cards.py")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    logs = "".join(log.read_text(errors="replace") for log in sorted((tmp_path / "logs").glob("worker_*.log")))
    assert done.returncode == 0, done.stdout[-2000:] + logs[-2000:]
    assert logs.count("accuracy 0.6666666666666666 over 3 samples") == 2
