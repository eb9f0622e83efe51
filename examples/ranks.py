"""Starts a script on several ranks of this machine under `msrun`, and shows what rank 0 prints while it runs.

This file knows nothing about metrics or models; `evaluate_llm.py --ranks N` starts itself with it.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MSRUN = "import sys; from mindspore.parallel.cluster.run import main; sys.exit(main())"
AT_EXIT = re.compile(rb"^\[INFO\] DISTRIBUTED.*\n", re.MULTILINE)  # MindSpore logs these whatever GLOG_v says
STARTED = "MS_ROLE"  # msrun sets it: a process that has it is a rank, or the scheduler


def is_started() -> bool:
    """Whether msrun started this process."""
    return STARTED in os.environ


def start(script: Path, arguments: list[str], ranks: int) -> int:
    """Runs `script` once for each rank and once as the scheduler, and returns 0 if all of them succeeded.

    The logs of all processes are in a temporary folder; where a rank fails, the end of each is shown.
    """
    defaults = {
        "GLOG_v": "3",
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // ranks)),
        # A rank waits in an evaluation until the slowest one arrives. Without this, 30 seconds on CPU.
        "MS_CPU_COMM_OP_TIMEOUT": "1800",
        "PYTHONUNBUFFERED": "1",
    }
    environment = {**defaults, **os.environ}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that no rank is left behind
    with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
        logs = Path(folder)
        put_first_on_path(logs / "bin", environment)
        options = [f"--worker_num={ranks}", f"--local_worker_num={ranks}", "--join=True"]
        options += [f"--master_port={free_port()}", f"--log_dir={logs}"]
        command = [sys.executable, "-c", MSRUN, *options, str(script), *arguments]
        with (logs / "msrun.txt").open("wb") as own_log:
            process = subprocess.Popen(command, env=environment, stdout=own_log, stderr=own_log)
            try:
                code = show_while_running(process, logs / "worker_0.log")
            finally:
                stop(process)
        if code:
            for log in sorted(logs.glob("*.*")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)
            print(f"error: not every one of the {ranks} ranks succeeded; their logs are above", file=sys.stderr)
    return code


def put_first_on_path(folder: Path, environment: dict[str, str]) -> None:
    """Makes `python`, which msrun starts, this interpreter, whatever it is called."""
    folder.mkdir()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    environment["PATH"] = os.pathsep.join([str(folder), os.environ.get("PATH", "")])


def show_while_running(process: subprocess.Popen, log: Path) -> int:
    """Copies a growing log to the standard output until the process ends."""
    shown = 0
    while True:
        code = process.poll()
        if log.exists():
            with log.open("rb") as growing:
                growing.seek(shown)
                text = growing.read()
            shown += len(text)
            sys.stdout.buffer.write(AT_EXIT.sub(b"", text))
            sys.stdout.flush()
        if code is not None:
            return code
        time.sleep(0.2)


def stop(process: subprocess.Popen) -> None:
    """Ends msrun where it still runs. It ends its ranks on an interrupt, and on nothing else."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def free_port() -> int:
    """A port below those that systems give to connections, so that none takes it before msrun listens."""
    while True:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", random.SystemRandom().randrange(10_000, 32_000)))
            return free.getsockname()[1]
