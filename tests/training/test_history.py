"""Histories on disk: what survives a process that dies, and what a resumed run appends to."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mindeval.training import History

ROOT = Path(__file__).resolve().parents[2]


def two_lines():
    return [
        {"kind": "eval", "step": 1, "metrics": {"bleu": 0.5}},
        {"kind": "eval", "step": 2, "metrics": {"bleu": 0.25}},
    ]


@pytest.mark.parametrize("lost", range(1, 60))
def test_whatever_part_of_the_last_line_is_missing_only_that_line_is_lost(tmp_path, lost):
    path = tmp_path / "history.jsonl"
    history = History(path)
    for record in two_lines():
        history.append(record)
    content = path.read_bytes()
    second = len(content) - content.index(b"\n") - 1
    if lost > second:
        pytest.skip("the line is shorter")
    path.write_bytes(content[:-lost])
    resumed = History(path)
    whole = 2 if lost == 1 else 1  # without its newline alone a line is whole
    assert resumed.records == two_lines()[:whole]
    resumed.append({"kind": "eval", "step": 3, "metrics": {}})
    assert [json.loads(line)["step"] for line in path.read_bytes().splitlines()] == [1, 2, 3][:whole] + [3]


def test_a_process_killed_while_it_writes_leaves_whole_lines_and_is_resumed(tmp_path):
    path = tmp_path / "history.jsonl"
    code = (
        "import sys; from mindeval.training.history import History; h = History(sys.argv[1]); n = 0\n"
        "while True: h.append({'kind': 'train', 'step': n, 'loss': 0.1, 'padding': 'x' * 20000}); n += 1\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], env=environment)
    end = time.monotonic() + 60
    while time.monotonic() < end and not (path.exists() and path.stat().st_size > 200_000):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = History(path)
    assert [record["step"] for record in before.records] == list(range(len(before.records)))
    assert len(before.records) >= 9
    before.append({"kind": "start", "step": 0})
    assert [r["kind"] for r in History(path).records] == ["train"] * (len(before.records) - 1) + ["start"]


def test_a_line_that_the_disk_takes_half_of_is_an_error_and_leaves_no_part(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "history.jsonl"
    history = History(path)
    first, second = two_lines()
    history.append(first)
    content = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + 20, hard))  # as a full disk: 20 bytes are written
    try:
        with pytest.raises(OSError, match="File too large"):
            history.append(second)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == content and history.records == [first]
    history.append(second)
    assert History(path).records == history.records == two_lines()


def test_a_damaged_line_before_the_last_is_an_error_with_its_number(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text('{"kind": "start"}\n{"kind": \n{"kind": "start"}\n')
    with pytest.raises(ValueError, match="line 2 of .*history.jsonl is not a record"):
        History(path)


def test_a_reader_changes_nothing(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"kind": "start"}\n{"kin')
    assert History(path, write=False).records == [{"kind": "start"}]
    assert path.read_bytes() == b'{"kind": "start"}\n{"kin'


def test_values_that_are_not_finite_are_json_and_come_back(tmp_path):
    path = tmp_path / "history.jsonl"
    history = History(path)
    history.append({"kind": "train", "step": 1, "loss": math.nan, "loss_max": math.inf})
    history.append({"kind": "train", "step": 2, "loss": -math.inf})
    lines = [json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()]
    assert lines[0]["loss"] == "NaN" and lines[0]["loss_max"] == "Infinity" and lines[1]["loss"] == "-Infinity"
    restored = History(path).records
    assert math.isnan(restored[0]["loss"]) and restored[1]["loss"] == -math.inf
