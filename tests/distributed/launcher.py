"""Start a scheduler and some workers as processes, wait for them within a deadline, and leave none behind."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import IO

SCHEDULER = "import mindspore; mindspore.set_device('CPU'); from mindspore.communication import init; init()"


def launch(
    world: int,
    script: Path,
    arguments: list[str],
    logs: Path,
    *,
    deadline: float = 600,
    operation_timeout: int = 120,
    may_fail: bool = False,
) -> list[int]:
    """Run ``script`` on ``world`` ranks and return their exit codes (negative: the signal that ended them).

    Args:
        deadline: seconds after which everything is killed and a TimeoutError is raised.
        operation_timeout: seconds after which a collective that a rank waits in fails.
        may_fail: False: the first rank that fails ends all, and its output is in the RuntimeError that is raised.
    """
    logs.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "MS_WORKER_NUM": str(world),
        "RANK_SIZE": str(world),
        "MS_SCHED_HOST": "127.0.0.1",
        "MS_SCHED_PORT": str(free_port()),
        "MS_TOPO_TIMEOUT": "600",
        "MS_CPU_COMM_OP_TIMEOUT": str(operation_timeout),
        # MindSpore 2.7 has this one alone. Where there are both, the operation's is to pass first.
        "MS_NODE_TIMEOUT": str(operation_timeout if version("mindspore").startswith("2.7") else 4 * operation_timeout),
        "OMP_NUM_THREADS": "1",
        "GLOG_v": "3",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parent)]),
    }
    started: list[tuple[subprocess.Popen, IO]] = []

    def start(role: str, rank: int, command: list[str]) -> subprocess.Popen:
        own = {"MS_ROLE": role, "RANK_ID": str(rank), "DEVICE_ID": str(rank), "MS_NODE_ID": str(rank)}
        if role == "MS_SCHED":
            own.pop("MS_NODE_ID")
        log = (logs / f"{role}_{rank}.txt").open("wb")
        process = subprocess.Popen(
            command, env={**environment, **own}, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        started.append((process, log))
        return process

    try:
        start("MS_SCHED", 0, [sys.executable, "-c", SCHEDULER])
        workers = [start("MS_WORKER", rank, [sys.executable, str(script), *arguments]) for rank in range(world)]
        end = time.monotonic() + deadline
        while True:
            codes = [worker.poll() for worker in workers]
            if None not in codes:
                if any(codes) and not may_fail:
                    raise RuntimeError(f"ranks ended with {codes}{_tails(logs)}")
                return [int(code) for code in codes if code is not None]
            if time.monotonic() > end:
                raise TimeoutError(f"after {deadline} s the exit codes were {codes}{_tails(logs)}")
            if any(codes) and not may_fail:
                time.sleep(1)  # let the others write their own error
                raise RuntimeError(f"ranks ended with {[w.poll() for w in workers]}{_tails(logs)}")
            time.sleep(0.05)
    finally:
        for process, log in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            log.close()


def free_port() -> int:
    """A port below those that systems give to connections, so that none takes it before the scheduler listens."""
    while True:
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", random.SystemRandom().randrange(10_000, 32_000)))
            return free.getsockname()[1]


def _tails(logs: Path) -> str:
    return "".join(f"\n--- {log.name}\n{log.read_text(errors='replace')[-2000:]}" for log in sorted(logs.glob("*.txt")))
