"""Programs that end early, hang, multiply, eat, flood or hide: each ends in bounded time and leaves nothing behind."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from mindeval.answers import code
from mindeval.answers.code import run_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="run_python needs a POSIX system")
TIMEOUT = 2.0
# The program's time, the supervisor's grace, the killing, and the start of two interpreters on a busy machine.
BOUND = TIMEOUT + 2.0 + 1.0 + 15.0

# program -> the verdicts that are right for it
PROGRAMS = {
    "runs to its end": ("assert sum([1, 2]) == 3", {"passed"}),
    "fails a test": ("assert sum([1, 2]) == 4", {"failed"}),
    "does not parse": ("def f(:", {"failed"}),
    "exits with 0": ("exit(0)", {"exited early"}),
    "raises SystemExit before its tests": ("raise SystemExit(0)\nassert False", {"exited early"}),
    "exits below Python": ("import os; os._exit(0)", {"exited early"}),
    "exits below Python at the end": (
        "import atexit, os; atexit.register(os._exit, 0); raise ValueError('late')",
        {"failed"},
    ),
    "sleeps": ("import time; time.sleep(1000)", {"timeout"}),
    "spins": ("while True: pass", {"timeout"}),
    "ignores SIGTERM": (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
        {"timeout"},
    ),
    "stops itself": ("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", {"timeout"}),
    "kills itself": ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", {"killed"}),
    "crashes": ("import ctypes; ctypes.string_at(0)", {"killed"}),
    "recurses": ("def f(): f()\nf()", {"failed", "killed"}),
    "allocates at once": ("x = bytearray(1 << 36)", {"memory"}),
    "allocates bit by bit": ("x = []\nwhile True: x.append(bytearray(1 << 24))", {"memory", "timeout"}),
    "forks without end": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        {"timeout"},
    ),
    "starts threads without end": (
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(1000,)).start()",
        {"failed", "timeout", "memory"},
    ),
    "leaves a thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
        {"passed"},
    ),
    "leaves a daemon": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        "
        "time.sleep(1000)\n    os._exit(0)",
        {"passed"},
    ),
    "leaves a child without environment": (
        "import subprocess, sys\n"
        "subprocess.Popen(['/bin/sleep', '7654321'], start_new_session=True, env={}, stdout=subprocess.DEVNULL)",
        {"passed"},
    ),
    "floods stdout": ("while True: print('x' * 100000)", {"too much output"}),
    "floods stderr": ("import sys\nwhile True: sys.stderr.write('x' * 100000)", {"too much output"}),
    "fills the disk": ("with open('big', 'wb') as f:\n    while True: f.write(bytes(1 << 20))", {"failed"}),
    "waits for input": ("input()", {"failed"}),
}


def left_behind() -> list[str]:
    """Processes and folders of runs."""
    found = [str(path) for path in Path(tempfile.gettempdir()).glob("mindeval-*")]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if "7654321" in command or "_code_supervisor" in command:
            found.append(command)
    return found


def run(program: str, namespaces: bool) -> code.RunResult:
    folder = tempfile.mkdtemp(prefix="mindeval-")
    limits = {"timeout": TIMEOUT, "memory": 1 << 29, "processes": 16, "file_bytes": 1 << 24}
    try:
        return code._run({**limits, "program": program, "folder": folder, "namespaces": namespaces})
    finally:
        code.shutil.rmtree(folder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_ends_in_time_with_the_right_verdict_and_leaves_nothing(name):
    program, verdicts = PROGRAMS[name]
    before, start = left_behind(), time.monotonic()
    result = run_python(program, timeout=TIMEOUT, memory=1 << 29, allow_code_execution=True)
    assert time.monotonic() - start < BOUND
    assert result.status in verdicts, result
    assert result.passed == (result.status == "passed")
    assert len(result.stdout) + len(result.stderr) < 3 << 20
    assert set(left_behind()) <= set(before)


@pytest.mark.parametrize(
    "name", ["forks without end", "leaves a daemon", "leaves a child without environment", "sleeps"]
)
def test_without_namespaces_children_are_killed_as_well(name):
    program, verdicts = PROGRAMS[name]
    before = left_behind()
    result = run(program, namespaces=False)
    assert result.status in verdicts, result
    assert "processes" not in result.isolation
    assert set(left_behind()) <= set(before)


def test_the_program_sees_no_environment_files_or_folder_of_this_process(monkeypatch, tmp_path):
    monkeypatch.setenv("MINDEVAL_SECRET", "xyzzy")
    with open(tmp_path / "open.txt", "w") as file:
        result = run_python(
            "import os, sys\n"
            "assert 'MINDEVAL_SECRET' not in os.environ\n"
            "assert os.listdir('.') == [], os.listdir('.')\n"
            f"assert not any('open.txt' in os.readlink(f'/proc/self/fd/{{fd}}') for fd in range({file.fileno()}, "
            f"64)\n"
            "    if os.path.islink(f'/proc/self/fd/{fd}'))\n"
            "open('mine.txt', 'w').write('x')\n"
            "assert sys.argv == ['program.py'] and __name__ == '__main__'\n",
            allow_code_execution=True,
        )
    assert result.passed, result


def test_where_permitted_nothing_outside_the_folder_can_be_written(tmp_path):
    target = tmp_path / "stray.txt"
    tmp_path.chmod(0o777)
    result = run_python(f"open({str(target)!r}, 'w')", allow_code_execution=True)
    if "files" not in result.isolation:
        pytest.skip("this system permits no mount namespaces")
    assert result.status == "failed" and "Read-only" in result.detail
    assert not target.exists()


def test_where_permitted_there_is_no_network():
    result = run_python("import socket; socket.create_connection(('192.0.2.1', 9), 1)", allow_code_execution=True)
    if "network" not in result.isolation:
        pytest.skip("this system permits no network namespaces")
    assert result.status == "failed" and "unreachable" in result.detail


def test_where_permitted_other_processes_are_out_of_reach():
    result = run_python(f"import os\nos.kill({os.getpid()}, 0)", allow_code_execution=True)
    if "processes" not in result.isolation:
        pytest.skip("this system permits no process namespaces")
    assert result.status == "failed"


def test_output_and_the_last_line_of_the_traceback_are_kept():
    result = run_python("print('答案', 1)\nraise KeyError('missing')", allow_code_execution=True)
    assert (result.stdout, result.detail) == ("答案 1\n", "KeyError: 'missing'")


def test_nothing_runs_unless_it_is_allowed():
    with pytest.raises(PermissionError, match="allow_code_execution=True"):
        run_python("print(1)")


@pytest.mark.parametrize(("name", "value"), [("timeout", 0), ("memory", -1), ("processes", 0), ("file_bytes", 0)])
def test_limits_must_be_positive(name, value):
    with pytest.raises(ValueError, match=f"{name} must be positive, but got {value}"):
        run_python("", allow_code_execution=True, **{name: value})


def test_a_program_must_be_text():
    with pytest.raises(TypeError, match="program must be a str, but got bytes"):
        run_python(b"", allow_code_execution=True)
