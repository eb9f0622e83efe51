"""Histories on disk: what survives a process that dies, and what a resumed run appends to."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from mindeval import Score
from mindeval.training import History

ROOT = Path(__file__).resolve().parents[2]


def two_lines():
    return [
        {"kind": "eval", "step": 1, "metrics": {"bleu": 0.5}},
        {"kind": "eval", "step": 2, "metrics": {"bleu": 0.25}},
    ]


SECOND_LINE = len(json.dumps(two_lines()[1])) + 1


@pytest.mark.parametrize("lost", range(1, SECOND_LINE + 1))
def test_whatever_part_of_the_last_line_is_missing_only_that_line_is_lost(tmp_path, lost):
    path = tmp_path / "history.jsonl"
    history = History(path)
    for record in two_lines():
        history.append(record)
    content = path.read_bytes()
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
    end = time.monotonic() + 600
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


DAMAGED = [
    b'{"kind": \n',  # a crash in the middle of a line, then another writer's newline
    b'{"kind": "eval", "step": 2,}\n',  # complete, written by hand
    b'{"kind": "eval"}{"kind": "eval"}\n',
    b'{"kind": "eval"} // a note\n',
    b'{"a": "\xe9"}\n',
    b"[1]\n",
    b'{"a": ' + b"[" * 20000 + b"]" * 20000 + b"}\n",
    b'{"a": ' + b"9" * 5000 + b"}\n",
]


PLACES = ["first", "middle", "last", "last without a newline"]


CASES = [*itertools.product(DAMAGED, PLACES)]
CASES.remove((DAMAGED[0], PLACES[-1]))  # an object that is not closed at the end of a file is an unfinished line


@pytest.mark.parametrize(("line", "where"), CASES)
def test_a_whole_line_that_is_no_record_stays_is_skipped_and_named_wherever_it_stands(tmp_path, line, where, caplog):
    if where.endswith("newline"):
        line = line[:-1]
    path = tmp_path / "history.jsonl"
    first, second = (json.dumps(record).encode() + b"\n" for record in two_lines())
    content = {"first": line + first + second, "middle": first + line + second}.get(where, first + second + line)
    path.write_bytes(content)
    number = {"first": 1, "middle": 2}.get(where, 3)
    history = History(path)
    assert f"line {number} of {path} is not a record: it is skipped, and stays in the file" in caplog.text
    history.append({"kind": "start"})
    assert history.records == [*two_lines(), {"kind": "start"}] == History(path).records
    assert path.read_bytes() == content + (b"" if content.endswith(b"\n") else b"\n") + b'{"kind": "start"}\n'


def test_a_record_is_not_written_into_the_piece_of_another_process(tmp_path):
    path = tmp_path / "history.jsonl"
    history = History(path)
    first, second = two_lines()
    history.append(first)
    with path.open("ab") as file:
        file.write(b'{"kind": "ev')
    history.append(second)
    assert History(path).records == [first, second]


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


@pytest.mark.parametrize(
    "rest", [b'{"kind": "ev', b'{"a": "}', b'{"a": "\\"}', b'{"a": [{}', b"{", b"\0\0\0\0\0", b' {"kind": "\xc3']
)
def test_an_object_that_is_not_closed_at_the_end_is_taken_away(tmp_path, rest, caplog):
    path = tmp_path / "history.jsonl"
    first, second = two_lines()
    path.write_bytes(json.dumps(first).encode() + b"\n" + rest)
    assert History(path, write=False).records == [first]
    history = History(path)
    assert "the last line of" in caplog.text and "was not finished" in caplog.text
    history.append(second)
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == history.records == [first, second]


OTHER_FILES = [
    b"my notes\n",
    b'{"text": "hello"}\n{"text": "wor',  # a data set
    b'{"text": "wor',
    b"{not json at all",
    '{"kind": "eval"}\n'.encode("utf-16"),
    '{"text"'.encode("utf-16-le"),
    b'{"kind": 3}\n{"ki',
    b'{"a": "}',
]


@pytest.mark.parametrize("content", OTHER_FILES, ids=[str(content[:12]) for content in OTHER_FILES])
@pytest.mark.parametrize("write", [True, False])
def test_another_file_is_refused_and_nothing_of_it_is_touched(tmp_path, content, write):
    path = tmp_path / "notes.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="line 1 of .*notes.jsonl is not a record"):
        History(path, write=write)
    assert path.read_bytes() == content


FIRST_LINE = b'{"kind": "start", "step": 0, "resumed": false}'


@pytest.mark.parametrize("written", range(len(FIRST_LINE)))
def test_of_a_process_killed_in_its_first_line_nothing_is_left_in_the_way(tmp_path, written):
    path = tmp_path / "history.jsonl"
    path.write_bytes(FIRST_LINE[:written])
    history = History(path)
    history.append({"step": 0, "resumed": True, "kind": "start"})  # in the file the kind comes first
    assert path.read_bytes() == b'{"kind": "start", "step": 0, "resumed": true}\n'


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.float32(0.1), 0.10000000149011612),  # the float32 that is nearest to 0.1
        (np.float16(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array(0.5), 0.5),
        (np.array([[1.0, 2.0]]), [[1.0, 2.0]]),
        (ms.Tensor(0.5, ms.bfloat16), 0.5),
        (Score(0.25, {"m": 0.25}), 0.25),
        (10**300, 10**300),
        ((1, None), [1, None]),
    ],
    ids=str,
)
def test_numbers_of_numpy_and_mindspore_are_numbers(tmp_path, value, kept):
    history = History(tmp_path / "history.jsonl")
    history.append({"kind": "eval", "step": 1, "metrics": {"m": value}})
    assert history.records == History(history.path).records == [{"kind": "eval", "step": 1, "metrics": {"m": kept}}]


@pytest.mark.parametrize("value", [np.float32("nan"), np.float64("inf"), np.array(-np.inf)], ids=str)
def test_numbers_of_numpy_that_are_not_finite_are_written_by_name(tmp_path, value):
    history = History(tmp_path / "history.jsonl")
    history.append({"kind": "train", "step": 1, "loss": value})
    (line,) = history.path.read_text().splitlines()
    assert json.loads(line)["loss"] in ("NaN", "Infinity", "-Infinity")
    (_, read), (_, kept) = *history.series("loss", "train"), *History(history.path).series("loss", "train")
    assert np.array_equal([read, kept], [value, value], equal_nan=True)


CYCLE: dict = {"kind": "eval"}
CYCLE["a"] = CYCLE
TEXTS = ["NaN", "Infinity", "-Infinity", "\\NaN", "\\\\-Infinity", "nan", "\\", "\ud800", "x\udcffy"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_back_as_that_text(tmp_path, text):
    history = History(tmp_path / "history.jsonl")
    history.append({"kind": "error", "step": 1, "error": text})
    assert history.records == History(history.path).records == [{"kind": "error", "step": 1, "error": text}]
    history.path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("record", "error", "message"),
    [
        (
            {"kind": "eval", "metrics": {"a": 10**400}},
            ValueError,
            "'metrics.a' is a whole number that no float can hold",
        ),
        ({"kind": "eval", "metrics": {"a": [1, {2}]}}, TypeError, r"but got set as 'metrics.a\[1\]'"),
        ({"step": 1}, TypeError, "'kind' must be a text, but got None"),
        ({"kind": 3}, TypeError, "'kind' must be a text, but got 3"),
        ({"kind": "eval", "a": b"x"}, TypeError, "but got bytes as 'a'"),
        ([], TypeError, "a record must be a dict, but got list"),
        (
            {"kind": "eval", "metrics": {1: 0.5, "1": 0.25}},
            ValueError,
            r"names must differ as texts, but got \[1, '1'\]",
        ),
        (CYCLE, ValueError, "a record is nested too deep, or holds itself"),
    ],
)
@pytest.mark.parametrize("write", [True, False])
def test_a_record_that_cannot_be_written_is_in_neither_memory_nor_file(tmp_path, record, error, message, write):
    path = tmp_path / "history.jsonl"
    History(path).append({"kind": "start"})
    history = History(path, write=write)
    with pytest.raises(error, match=f"For 'History.append', .*{message}"):
        history.append(record)
    assert history.records == [{"kind": "start"}] and path.read_text() == '{"kind": "start"}\n'


def test_a_whole_number_of_a_file_that_no_float_holds_is_infinite_in_a_series(tmp_path):
    path = tmp_path / "history.jsonl"
    path.write_text('{"kind": "train", "step": 1, "loss": 1%s}\n' % ("0" * 400))
    assert History(path).series("loss", "train") == [(1, math.inf)]


def test_a_series_names_the_record_whose_step_cannot_be_read():
    history = History()
    history.append({"kind": "train", "step": 1, "loss": 0.5})
    history.append({"kind": "train", "loss": 0.25})
    with pytest.raises(TypeError, match=r"'step' of record 2 \(train\) must be a whole number, but got None"):
        history.series("loss", "train")


@pytest.mark.parametrize("arguments", [{"path": 3}, {"path": ["a"]}, {"path": None, "write": 1}])
def test_refused_arguments(arguments):
    with pytest.raises(TypeError, match="For 'History', (path must be a path|write must be True or False)"):
        History(**arguments)
