"""History: what a training run and its evaluations measured, as append-only JSON lines. Nothing is computed here."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class History:
    """Records of one run, kept in memory and, where a path is given, appended to a file of JSON lines.

    Each record is written with one call and flushed to the disk. A process that dies in the middle of a line loses that
    line alone: opening the file again takes the rest of it away and appends behind it. A line that a full disk takes a
    part of is taken away at once. NaN and infinities are written as the strings ``"NaN"``, ``"Infinity"`` and
    ``"-Infinity"``, so that every line is JSON.

    Records of ``EvalCallback``, by their ``"kind"``: ``"start"``; ``"train"`` with step, epoch, loss (the mean of a
    window of steps), loss_max, steps, seconds, tokens_per_second; ``"eval"`` with step, epoch, metrics, seconds and
    higher_is_better; ``"error"`` with step and error.

    Args:
        path: the file; None keeps the records in memory alone.
        write: False: read what is there, but write nothing (ranks above 0).

    Raises:
        ValueError: if a line before the last is no JSON object.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> history = History()
    >>> history.append({"kind": "eval", "step": 100, "metrics": {"perplexity": 12.5}})
    >>> history.series("perplexity")
    [(100, 12.5)]
    """

    def __init__(self, path: str | os.PathLike | None = None, write: bool = True) -> None:
        self.path = None if path is None else Path(path)
        self.write = write
        self.records: list[dict[str, Any]] = []
        if self.path is not None and self.path.exists():
            self.records = read(self.path)
            if write:
                _repair(self.path)
        elif self.path is not None and write:
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record, to the file as well.

        Raises:
            OSError: if it cannot be written; file and records are then as before.
        """
        line = json.dumps(_plain(record), ensure_ascii=False, allow_nan=False)
        if self.path is not None and self.write:
            _append(self.path, line.encode() + b"\n")
        self.records.append(_restored(json.loads(line)))

    def series(self, name: str, kind: str = "eval") -> list[tuple[int, float]]:
        """(step, value) of one metric, or with ``kind="train"`` of one figure of the training windows."""
        values = []
        for record in self.records:
            where = record.get("metrics", {}) if kind == "eval" else record
            if record.get("kind") == kind and isinstance(where.get(name), (int, float)):
                values.append((int(record["step"]), float(where[name])))
        return values


def read(path: str | os.PathLike) -> list[dict[str, Any]]:
    """The records of a history file; an unfinished last line is left out.

    Raises:
        ValueError: if a line before the last is no JSON object.
    """
    records = []
    lines = Path(path).read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("a line must be a JSON object")
        except ValueError as error:
            if number == len(lines):
                break
            raise ValueError(f"For 'History', line {number} of {path} is not a record: {error}") from error
        records.append(_restored(record))
    return records


def _append(path: Path, line: bytes) -> None:
    """The whole line or nothing: a disk that is nearly full takes a part of it and says so by a number alone."""
    with path.open("ab", buffering=0) as file:
        end = os.fstat(file.fileno()).st_size
        try:
            written = 0
            while written < len(line):
                written += file.write(line[written:])
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def _repair(path: Path) -> None:
    """Take an unfinished last line away; a whole one that only lacks its newline gets it."""
    with path.open("r+b") as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        tail = content[end:]
        if not tail:
            return
        try:
            whole = isinstance(json.loads(tail), dict)
        except ValueError:
            whole = False
        if whole:
            file.write(b"\n")
        else:
            file.truncate(end)


def _plain(value: Any) -> Any:
    """JSON-ready: scores as floats, non-finite floats by name."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return float(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _restored(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return _NON_FINITE.get(value, value) if isinstance(value, str) else value


def records_of(history: Any) -> list[dict[str, Any]]:
    """The records of a History, of a file, or of an iterable of records."""
    if isinstance(history, History):
        return history.records
    if isinstance(history, (str, os.PathLike)):
        return read(history)
    if isinstance(history, Iterable):
        return [dict(record) for record in history]
    raise TypeError(f"a history must be a History, a path or a list of records, but got {type(history).__name__}")
