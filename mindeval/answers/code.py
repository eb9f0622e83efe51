"""Running generated Python code in a process of its own, with limits. Not a sandbox against a determined attacker."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindeval import inputs

_SUPERVISOR = Path(__file__).with_name("_code_supervisor.py")
_GRACE = 2.0  # seconds after the program's own timeout until its supervisor is killed as well
_OUTPUT_LIMIT = 1 << 20
_LONGEST = 86_400  # seconds: a day


@dataclass(frozen=True)
class RunResult:
    """What became of a program.

    Attributes:
        passed: True only if the program ran to its end without an exception.
        status: ``"passed"``, ``"failed"`` (an exception, a failed test, another exit code), ``"exited early"``
            (``exit(0)`` and its kind), ``"timeout"``, ``"memory"``, ``"killed"`` (by a signal),
            ``"too much output"``, or ``"not run"`` (no process to be had).
        detail: One line about it: the last line of the traceback, the signal, the limit.
        stdout, stderr: What it wrote, at most 1 MiB each.
        seconds: Wall time.
        isolation: What the system permitted: of ``"processes"``, ``"network"``, ``"files"``, ``"user"``.
    """

    passed: bool
    status: str
    detail: str
    stdout: str
    stderr: str
    seconds: float
    isolation: tuple[str, ...]


def run_python(
    program: str,
    timeout: float = 10.0,
    memory: int = 1 << 30,
    *,
    allow_code_execution: bool = False,
    processes: int = 16,
    file_bytes: int = 1 << 24,
) -> RunResult:
    """Run a Python program: whether it reaches its end without an exception, in bounded time.

    The program runs as ``python program.py`` would run it, with this interpreter: as the module ``__main__``, with its
    source at hand (``inspect``, ``pickle``, ``doctest`` and ``unittest`` work), and its threads are waited for. It has
    a session and an empty working directory of its own, not this process's environment and open files, and limits on
    CPU time, memory, processes and file sizes. Where the system permits (Linux namespaces) it has no network but a
    loopback of its own, sees no other processes, and can write only to its directory and its own shared memory. When
    it ends, or its time is over, it is killed with all its children and its directory is removed.

    A pass is proved by the program's first process after its last statement, and ends with exit code 0. ``exit(0)``
    before that, in a function, a thread or a fork, is not a pass; but for a ``unittest.main()`` as the last statement,
    which exits by itself: it passes if tests ran, and not all were skipped, and none failed. So does, anywhere, a
    ``unittest.main(exit=False)`` whose result is dropped; other test runners must raise, or exit with another code.

    This protects from accidents: endless loops, fork bombs, huge allocations, floods of output, stray files. It is not
    a sandbox: code that is written to attack this machine may find a way, or fake a pass. Run what you do not trust in
    a container or a virtual machine of its own, as an unprivileged user.

    Args:
        program: Python source; tests are a part of it, e.g. prompt + completion + tests.
        timeout: Seconds of wall time, also the limit of CPU time; at most a day.
        memory: Bytes of address space of each process.
        allow_code_execution: Must be True: a guard against running generated code by mistake.
        processes: How many processes and threads it may have.
        file_bytes: The largest file that it may write, in bytes.

    Raises:
        PermissionError: If ``allow_code_execution`` is not True.
        TypeError: If the program is not a str, or a limit not a number (but for ``timeout`` a whole one).
        ValueError: If a limit is not positive, or ``timeout`` is longer than a day.
        OSError: On systems without POSIX processes.

    Examples:
        >>> from mindeval.answers.code import run_python
        >>> run_python("assert sum([1, 2]) == 3", allow_code_execution=True).passed
        True
        >>> run_python("exit(0)", allow_code_execution=True).status
        'exited early'
    """
    if allow_code_execution is not True:
        raise PermissionError(
            "running generated code is off: pass allow_code_execution=True where nothing of value can be harmed"
        )
    if not isinstance(program, str):
        raise TypeError(f"program must be a str, but got {type(program).__name__}")
    limits: dict[str, Any] = {"timeout": _seconds(timeout)}
    for name, limit in (("memory", memory), ("processes", processes), ("file_bytes", file_bytes)):
        limits[name] = inputs.whole_number(limit, name)
        if limits[name] < 1:
            raise ValueError(f"{name} must be positive, but got {limit}")
    if os.name != "posix":
        raise OSError("run_python needs a POSIX system, such as Linux")
    folder = tempfile.mkdtemp(prefix="mindeval-")
    try:
        return _run({**limits, "program": program, "folder": folder, "namespaces": True})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _seconds(timeout: Any) -> float:
    if isinstance(timeout, (bool, np.bool_)) or not isinstance(timeout, (int, float, np.integer, np.floating)):
        raise TypeError(f"timeout must be a number of seconds, but got {timeout!r}")
    if not 0 < timeout <= _LONGEST:
        raise ValueError(f"timeout must be positive, and at most {_LONGEST} seconds, but got {timeout}")
    return float(timeout)


def _run(config: dict[str, Any]) -> RunResult:
    folder, mark = config["folder"], uuid.uuid4().hex
    verdict_end, report_end = os.pipe()
    environment = {
        "PATH": os.defpath, "HOME": f"{folder}/work", "TMPDIR": f"{folder}/work", "LANG": "C.UTF-8",
        "MINDEVAL_RUN": mark, "USER": "user", "LOGNAME": "user",  # the user id has no name
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    }  # fmt: skip
    Path(folder, "run.json").write_text(json.dumps({**config, "report": report_end}), encoding="utf-8")
    start = time.monotonic()
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", str(_SUPERVISOR)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            pass_fds=(report_end,),
            start_new_session=True,
        )
    finally:
        os.close(report_end)
    try:
        texts, why = _collect(process, verdict_end, start + config["timeout"] + _GRACE)
    finally:
        _kill(process, mark)
        os.close(verdict_end)
    return _result(texts, why, time.monotonic() - start)


def _collect(process: subprocess.Popen, verdict_end: int, deadline: float) -> tuple[list[bytes], str | None]:
    """([stdout, stderr, report], why it was stopped), reading until all is said, too much is said, or time is over."""
    assert process.stdout is not None and process.stderr is not None
    ends = [process.stdout.fileno(), process.stderr.fileno(), verdict_end]
    texts = dict.fromkeys(ends, b"")
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return list(texts.values()), "timeout"
            for key, _ in selector.select(left):
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    selector.unregister(key.fd)
                elif len(texts[key.fd]) + len(piece) > _OUTPUT_LIMIT:
                    return list(texts.values()), "too much output"
                texts[key.fd] += piece
    return list(texts.values()), None


def _kill(process: subprocess.Popen, mark: str) -> None:
    """End the supervisor, which ends its children; then whatever carries the run's mark in its environment."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    variable = f"MINDEVAL_RUN={mark}".encode()
    for _ in range(20):
        left = [pid for pid in _pids() if variable in _environment(pid)]
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
        time.sleep(0.01)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _result(texts: list[bytes], why: str | None, seconds: float) -> RunResult:
    written, errors, report = (text.decode("utf-8", "replace") for text in texts)
    isolation: tuple[str, ...] = ()
    status, detail = "not run", "the supervisor ended without a report"
    for line in report.splitlines():
        said = json.loads(line)
        isolation = tuple(said.get("isolation", isolation))
        status, detail = said.get("status", status), said.get("detail", detail)
    if why is not None:
        status, detail = why, "stopped from outside"
    if detail == "failed" and errors.strip():
        detail = errors.strip().splitlines()[-1]
    return RunResult(status == "passed", status, detail, written, errors, seconds, isolation)
