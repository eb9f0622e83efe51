"""History: what a training run and its evaluations measured, as append-only JSON lines. Nothing is computed here."""

from __future__ import annotations

import json
import logging
import math
import os
import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from mindeval.training.numbers import as_array_or_number, as_float

logger = logging.getLogger("mindeval")
_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_BEGINNING = b'{"kind": "'  # of every line
_LIKE_A_NUMBER = re.compile(r"\\*(NaN|-?Infinity)")  # texts that are written with one backslash more


class History:
    r"""Records of one run, kept in memory and, where a path is given, appended to a file of JSON lines.

    Each record is written with one call and flushed to the disk. A process that dies in the middle of a line loses that
    line alone: opening the file again takes the piece of it away and appends behind it. Such a piece is the beginning
    of an object at the end of the file, without a newline and not closed; nothing else is ever taken away. Any other
    line that is no record (an object with a text as its ``"kind"``) is skipped, wherever it stands: a warning names it,
    and it stays in the file. A file without any record is another file, and nothing of it is touched. A line that a
    full disk takes a part of is taken away at once. NaN and infinities are written as ``"NaN"``, ``"Infinity"`` and
    ``"-Infinity"``, so that every line is JSON; a text that reads so has a backslash before it in the file.

    Records of ``EvalCallback``, by their ``"kind"``: ``"start"``; ``"train"`` with step, epoch, loss (the mean of a
    window of steps), loss_max, steps, seconds, tokens_per_second; ``"eval"`` with step, epoch, metrics, seconds and
    higher_is_better; ``"error"`` with step and error.

    Args:
        path: the file; None keeps the records in memory alone.
        write: False: read what is there, but write nothing (ranks above 0).

    Raises:
        TypeError: if ``path`` is no path or ``write`` no bool.
        ValueError: if the file has lines and none of them is a record, or begins as one: it is another file.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> history = History()
    >>> history.append({"kind": "eval", "step": 100, "metrics": {"perplexity": 12.5}})
    >>> history.series("perplexity")
    [(100, 12.5)]
    """

    def __init__(self, path: str | os.PathLike | None = None, write: bool = True) -> None:
        if path is not None and not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"For 'History', path must be a path or None, but got {path!r}")
        if not isinstance(write, bool):
            raise TypeError(f"For 'History', write must be True or False, but got {write!r}")
        self.path = None if path is None else Path(path)
        self.write = write
        self.records: list[dict[str, Any]] = []
        if self.path is not None and self.path.exists():
            content = self.path.read_bytes()
            self.records, end = _parsed(content, self.path)
            if write:
                _repair(self.path, content, end)
        elif self.path is not None and write:
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record, to the file as well. Scores, NumPy's numbers and Tensors become numbers, arrays lists.

        Raises:
            TypeError: if it holds something that JSON cannot, or its ``"kind"`` is no text.
            ValueError: if it holds a whole number that no float can, two names that are one as texts (1 and "1"), or
                itself, or is nested too deep.
            OSError: if it cannot be written. Whatever is raised, file and records are as before.
        """
        if not isinstance(record, Mapping):
            raise TypeError(f"For 'History.append', a record must be a dict, but got {type(record).__name__}")
        if not isinstance(record.get("kind"), str):
            raise TypeError(f"For 'History.append', 'kind' must be a text, but got {record.get('kind')!r}")
        try:
            plain = _plain({"kind": record["kind"], **record}, "")
            line = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        except RecursionError:
            raise ValueError("For 'History.append', a record is nested too deep, or holds itself") from None
        try:
            content = line.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, as in the name of a file: as \ud800
            content = json.dumps(plain, allow_nan=False).encode()
        if self.path is not None and self.write:
            _append(self.path, content + b"\n")
        self.records.append(_restored(plain))

    def series(self, name: str, kind: str = "eval") -> list[tuple[int, float]]:
        """(step, value) of one metric, or with ``kind="train"`` of one figure of the training windows.

        Raises:
            TypeError: if a record of that kind has no whole number as its step.
        """
        return points(self.records, name, kind)


def read(path: str | os.PathLike) -> list[dict[str, Any]]:
    """The records of a history file; lines that are no records are left out, with a warning.

    Raises:
        ValueError: if the file has lines and none of them is a record.
    """
    return _parsed(Path(path).read_bytes(), path)[0]


def points(records: Iterable[Mapping[str, Any]], name: str, kind: str) -> list[tuple[int, float]]:
    """(step, value) of one metric or of one figure of the training windows; records without it are left out."""
    found = []
    for number, record in enumerate(records, 1):
        if record.get("kind") == kind:
            check_record(record, number)
            value = as_float((record.get("metrics", {}) if kind == "eval" else record).get(name))
            if value is not None:
                found.append((int(record["step"]), value))
    return found


def records_of(history: Any) -> list[dict[str, Any]]:
    """The records of a History, of a file, or of an iterable of records, checked.

    Raises:
        TypeError: if it is none of these, or for a record that is malformed; it is named by its number.
    """
    if isinstance(history, History):
        records = history.records
    elif isinstance(history, (str, os.PathLike)):
        records = read(history)
    elif isinstance(history, Iterable):
        records = [_restored(record) for record in history]
    else:
        raise TypeError(f"a history must be a History, a path or a list of records, but got {type(history).__name__}")
    for number, record in enumerate(records, 1):
        check_record(record, number)
    return records


def check_record(record: Any, number: int) -> None:
    """Raise a TypeError unless this is a record whose step, losses and metrics can be read."""
    if not isinstance(record, Mapping):
        raise TypeError(f"record {number} must be a dict, but got {record!r}")
    kind = record.get("kind")
    if kind not in ("start", "train", "eval"):
        return
    step = as_float(record.get("step", 0 if kind == "start" else None))
    if step is None or not step.is_integer():
        raise TypeError(f"'step' of record {number} ({kind}) must be a whole number, but got {record.get('step')!r}")
    if kind == "train" and record.get("loss") is not None and as_float(record["loss"]) is None:
        raise TypeError(f"'loss' of record {number} (train) must be a number, but got {record['loss']!r}")
    metrics = record.get("metrics", {})
    if kind == "eval" and not (isinstance(metrics, Mapping) and all(isinstance(name, str) for name in metrics)):
        raise TypeError(f"'metrics' of record {number} (eval) must be a dict of name -> value, but got {metrics!r}")


# -- the file ----------------------------------------------------------------------------------------------------------


def _parsed(content: bytes, path: Any) -> tuple[list[dict[str, Any]], int]:
    """The records, and how many bytes are kept: what follows is a last line that was not finished."""
    *whole, rest = content.split(b"\n")
    end, unfinished = len(content), b""
    if _unfinished(rest):
        end, rest, unfinished = end - len(rest), b"", rest.strip(b"\0 \t\r")
    records: list[dict[str, Any]] = []
    wrong: list[tuple[int, str]] = []
    for number, line in enumerate([*whole, rest], 1):
        if not line.strip(b"\0 \t\r"):  # after a loss of power a file may hold zero bytes
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))  # json itself would read UTF-16 as well
            if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
                raise ValueError("a line must be a JSON object with a text as its 'kind'")
            records.append(_restored(record))
        except (ValueError, RecursionError) as error:
            wrong.append((number, str(error)))
    if not records and unfinished[: len(_BEGINNING)] != _BEGINNING[: len(unfinished)]:
        wrong.append((len(whole) + 1, "it is not closed, and does not begin as one"))
    if wrong and not records:
        raise ValueError(
            f"For 'History', line {wrong[0][0]} of {path} is not a record: {wrong[0][1]}; nor is any other"
        )
    for number, reason in wrong:
        logger.warning("line %d of %s is not a record: it is skipped, and stays in the file (%s)", number, path, reason)
    return records, end


def _unfinished(line: bytes) -> bool:
    """Whether what follows the last newline is the beginning of an object that was not closed."""
    depth, quoted, escaped = 0, False, False
    if not line.lstrip().startswith(b"{"):
        return bool(line) and not line.strip(b"\0 ")
    for sign in line.strip():
        if quoted:
            quoted = escaped or sign != ord('"')
            escaped = sign == ord("\\") and not escaped
        elif sign == ord('"'):
            quoted = True
        else:
            depth += (sign in b"{[") - (sign in b"}]")
            if depth == 0:
                return False
    return True


def _repair(path: Path, content: bytes, end: int) -> None:
    """Take an unfinished last line away; any other that lacks its newline gets it."""
    with path.open("r+b") as file:
        if end < len(content):
            logger.warning("the last line of %s was not finished: it is taken away", path)
            file.truncate(end)
        elif content and not content.endswith(b"\n"):
            file.seek(0, os.SEEK_END)
            file.write(b"\n")


def _append(path: Path, line: bytes) -> None:
    """The whole line or nothing: a disk that is nearly full takes a part of it and says so by a number alone."""
    with path.open("a+b", buffering=0) as file:
        end = os.fstat(file.fileno()).st_size
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":  # what another process has not finished
            line = b"\n" + line
        try:
            written = 0
            while written < len(line):
                written += file.write(line[written:])
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def _plain(value: Any, where: str) -> Any:
    """As it is written: non-finite floats by name, texts like these with a backslash."""
    value = as_array_or_number(value)
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, str):
        return f"\\{value}" if _LIKE_A_NUMBER.fullmatch(value) else value
    if isinstance(value, Mapping):
        named = {str(name): _plain(item, f"{where}.{name}") for name, item in value.items()}
        if len(named) < len(value):
            raise ValueError(f"For 'History.append', names must differ as texts, but got {list(value)}")
        return named
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
    number = as_float(value)
    if number is None:
        raise TypeError(
            f"For 'History.append', a record must hold numbers, texts, dicts and lists, but got {type(value).__name__} "
            f"as {where.lstrip('.')!r}"
        )
    if isinstance(value, Integral):
        if math.isinf(number):
            raise ValueError(f"For 'History.append', {where.lstrip('.')!r} is a whole number that no float can hold")
        return int(value)
    return number if math.isfinite(number) else next(name for name, x in _NON_FINITE.items() if repr(x) == repr(number))


def _restored(value: Any) -> Any:
    """What ``_plain`` was made of."""
    if isinstance(value, Mapping):
        return {name: _restored(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, str) and _LIKE_A_NUMBER.fullmatch(value):
        return _NON_FINITE.get(value, value[1:])
    return value
