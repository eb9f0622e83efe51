"""A training process that is killed, twice, and resumed: what of its history and its best weights is left."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import mindspore as ms

SCRIPT = Path(__file__).with_name("killed_run.py")
ROOT = SCRIPT.parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "GLOG_v": "3", "OMP_NUM_THREADS": "1"}
DEADLINE = 600  # seconds for what takes two on a machine with nothing else to do


def command(folder, first, last, killed=-1):
    return [sys.executable, str(SCRIPT), str(folder), str(first), str(last), str(killed)]


def run(*arguments):
    return subprocess.run(command(*arguments), env=ENVIRONMENT, timeout=DEADLINE).returncode


def run_here(monkeypatch, *arguments):
    """Without a process of its own: it is not to be killed."""
    monkeypatch.setattr(sys, "argv", command(*arguments)[1:])
    runpy.run_path(str(SCRIPT))


def expected(first, last, resumed):
    """(kind, step, value): the weight is 1 - step / 8, the loss the weight before a step, a window two steps."""
    records = [("start", first, resumed)]
    for step in range(first + 2, last + 1, 2):
        records.append(("train", step, 1 - (2 * step - 3) / 16))
        if step % 4 == 0:
            records.append(("eval", step, 1 - step / 8))
    return records


def seen(lines):
    values = {"start": lambda r: r["resumed"], "train": lambda r: r["loss"], "eval": lambda r: r["metrics"]["weight"]}
    records = [json.loads(line) for line in lines]
    return [(record["kind"], record["step"], values[record["kind"]](record)) for record in records]


def best(folder):
    """The best step and its weight: both files are whole, and the note is of the weights or of those before."""
    step = json.loads((folder / "best.json").read_text())["step"]
    (weight,) = ms.load_checkpoint(str(folder / "best.ckpt")).values()
    assert float(weight.asnumpy()[0]) in (1 - step / 8, 1 - (step + 4) / 8)
    return step


def test_a_killed_training_loses_at_most_the_unfinished_line_and_is_appended_to_when_resumed(tmp_path, monkeypatch):
    path = tmp_path / "history.jsonl"

    # killed from outside, wherever it is
    process = subprocess.Popen(command(tmp_path, 0, 5000), env=ENVIRONMENT)
    try:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end and not (path.exists() and path.read_bytes().count(b"\n") >= 12):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL
    *lines, _unfinished = path.read_bytes().split(b"\n")
    assert len(lines) >= 12
    assert seen(lines) == expected(0, 5000, False)[: len(lines)]
    first = best(tmp_path)
    evaluated = [step for kind, step, _ in seen(lines) if kind == "eval"]
    assert first in (evaluated[-1] - 4, evaluated[-1])  # it is saved behind the record

    # resumed, and killed when 40 bytes of the evaluation at step first + 8 are written
    assert run(tmp_path, first, 5000, first + 8) == -signal.SIGKILL
    *second, unfinished = path.read_bytes().split(b"\n")
    assert len(unfinished) == 40 and unfinished.startswith(b'{"kind": "eval"')
    assert second[: len(lines)] == lines
    assert seen(second[len(lines) :]) == expected(first, first + 8, True)[:-1]
    assert best(tmp_path) == first + 4  # the one at first + 8 was never recorded

    # resumed, and run to its end
    run_here(monkeypatch, tmp_path, first + 4, first + 10)
    *third, unfinished = path.read_bytes().split(b"\n")
    assert unfinished == b"" and third[: len(second)] == second
    assert seen(third[len(second) :]) == expected(first + 4, first + 10, True)
    assert best(tmp_path) == first + 8
    assert sorted(file.name for file in tmp_path.iterdir() if "unfinished" not in file.name) == [
        "best.ckpt",
        "best.json",
        "history.jsonl",
    ]
