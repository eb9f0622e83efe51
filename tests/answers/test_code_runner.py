"""Programs that end early, hang, multiply, eat, flood or hide: each ends in bounded time and leaves nothing behind."""

from __future__ import annotations

import math
import os
import re
import tempfile
import time
from pathlib import Path

import pytest

from mindeval.answers import code
from mindeval.answers.code import run_python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="run_python needs a POSIX system")
SHORT = 2.0  # seconds, for programs that would never end
AMPLE = 60.0  # seconds, for programs that end by themselves: time for the start of interpreters on a busy machine

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
    "leaves a daemon thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        {"passed"},
    ),
    "has a thread that never ends": (
        "import threading, time; threading.Thread(target=time.sleep, args=(1000,)).start()",
        {"timeout"},
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
            found.append(f"{folder.name}: {command}")
    return found


def assert_nothing_is_left(before: list[str]) -> None:
    """What other test processes are running meanwhile is gone soon; what a run left behind is not."""
    new, end = set(left_behind()) - set(before), time.monotonic() + 20
    while new and time.monotonic() < end:
        time.sleep(0.1)
        new &= set(left_behind())
    assert not new


def enough(verdicts: set[str]) -> float:
    """Seconds for a program with these verdicts."""
    return SHORT if "timeout" in verdicts else AMPLE


def run(program: str, namespaces: bool, timeout: float = AMPLE) -> code.RunResult:
    folder = tempfile.mkdtemp(prefix="mindeval-")
    limits = {"timeout": timeout, "memory": 1 << 29, "processes": 16, "file_bytes": 1 << 24}
    try:
        return code._run({**limits, "program": program, "folder": folder, "namespaces": namespaces})
    finally:
        code.shutil.rmtree(folder)


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_program_ends_in_time_with_the_right_verdict_and_leaves_nothing(name):
    program, verdicts = PROGRAMS[name]
    before, start = left_behind(), time.monotonic()
    result = run_python(program, timeout=enough(verdicts), memory=1 << 29, allow_code_execution=True)
    assert time.monotonic() - start < AMPLE
    assert result.status in verdicts, result
    assert result.passed == (result.status == "passed")
    assert len(result.stdout) + len(result.stderr) < 3 << 20
    assert_nothing_is_left(before)


@pytest.mark.parametrize(
    "name", ["forks without end", "leaves a daemon", "leaves a child without environment", "sleeps"]
)
def test_without_namespaces_children_are_killed_as_well(name):
    program, verdicts = PROGRAMS[name]
    before = left_behind()
    result = run(program, namespaces=False, timeout=enough(verdicts))
    assert result.status in verdicts, result
    assert "processes" not in result.isolation
    assert_nothing_is_left(before)


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
            "assert sys.argv == [__file__] and __name__ == '__main__'\n",
            allow_code_execution=True,
        )
    assert result.passed, result


# What python program.py does, by the documentation of each module.
AS_MAIN = '''
import doctest, inspect, linecache, os, pickle, sys, traceback, typing


class Point:
    """A point.

    >>> Point(1).x
    1
    """

    def __init__(self, x: int):
        self.x = x


class Node:
    child: "Node"


def double(x):
    return 2 * x


assert sys.modules["__main__"].__dict__ is globals() and Point.__module__ == "__main__"
assert pickle.loads(pickle.dumps(Point(3))).x == 3 and pickle.loads(pickle.dumps(double)) is double
assert doctest.testmod() == (0, 1)
assert typing.get_type_hints(Node) == {"child": Node}
assert Node.__annotations__ == {"child": "Node"} and Point.__init__.__annotations__ == {"x": int}
assert inspect.getsource(double) == "def double(x):\\n    return 2 * x\\n"
assert open(__file__).read() == inspect.getsource(sys.modules["__main__"])
try:
    1 / 0
except ZeroDivisionError as error:
    (frame,) = traceback.extract_tb(error.__traceback__)
    assert frame.line == "1 / 0" and linecache.getline(__file__, frame.lineno).strip() == "1 / 0"
with open("helper.py", "w") as file:
    file.write("answer = 42")
import helper
assert helper.answer == 42 and os.path.dirname(os.path.abspath("x")) == os.getcwd() == sys.path[0]
double(None + 1)
'''


def test_the_program_is_the_main_module_and_its_source_is_at_hand():
    result = run_python(AS_MAIN, allow_code_execution=True)
    assert result.detail.startswith("TypeError: unsupported operand"), result
    last = AS_MAIN.rstrip("\n").count("\n") + 1
    assert f'program.py", line {last}, in <module>\n    double(None + 1)\n' in result.stderr
    assert "_code_" not in result.stderr  # no frame but the program's own


TEST_CASE = "import unittest\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        assert 1 + 1 == {}\n"


TWO_TESTS = "import unittest\nclass Two(unittest.TestCase):\n def test_a(self): {}\n def test_b(self): {}\n"


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        (TEST_CASE.format(2) + "if __name__ == '__main__':\n    unittest.main()", "passed", "Ran 1 test"),
        (TEST_CASE.format(3) + "unittest.main()", "failed", "FAILED (failures=1)"),
        (TEST_CASE.format("exit(0)") + "unittest.main()", "failed", "FAILED (errors=1)"),
        ("import unittest\nunittest.main()", "failed", "Ran 0 tests"),
        # nothing was tested
        (
            TEST_CASE.replace("class", "@unittest.skip('later')\nclass").format(2) + "unittest.main()",
            "failed",
            "skipped=1",
        ),
        (TEST_CASE.format("self.skipTest('later')") + "unittest.main()", "failed", "skipped=1"),
        (TWO_TESTS.format("self.skipTest('later')", "pass") + "unittest.main()", "passed", "skipped=1"),
        (
            TWO_TESTS.format("\n  for i in 1, 2, 3:\n   with self.subTest(i=i): self.skipTest('later')", "pass")
            + "unittest.main()",
            "passed",
            "skipped=3",
        ),
        # Python goes on after these, and drops what they say
        (TEST_CASE.format(3) + "unittest.main(exit=False)", "failed", "FAILED (failures=1)"),
        (TEST_CASE.format(3) + "def check():\n    unittest.main(argv=['x'], exit=False)\ncheck()", "failed", "FAILED"),
        (TEST_CASE.format(2) + "if __name__ == '__main__':\n    unittest.main(exit=False)\n", "passed", "Ran 1 test"),
        (TEST_CASE.format("None") + "unittest.main(exit=False)\n", "failed", "FAILED (failures=1)"),
        ("import unittest\nunittest.main(exit=False)", "failed", "Ran 0 tests"),
        ("def main(exit): return 1\nmain(exit=False)", "passed", ""),
        # the program sees to the result itself
        (TEST_CASE.format(3) + "assert unittest.main(exit=False).result.failures", "passed", "FAILED (failures=1)"),
        # the tests that count come after the exit
        (TEST_CASE.format(2) + "unittest.main()\nassert False", "exited early", "Ran 1 test"),
    ],
)
def test_unittest_main_finds_the_tests_and_gives_the_verdict(program, status, said):
    result = run_python(program, allow_code_execution=True)
    assert result.status == status and said in result.stderr, result


# Each stops before its tests, or without them, and must not pass.
CHEATS = {
    "the parent leaves and a fork goes on": ("import os\nif os.fork():\n    os._exit(0)", "exited early"),
    "a tested function exits": ("def f(): exit(0)\nassert f() == 1", "exited early"),
    "a thread exits below Python": (
        "import os, threading\nt = threading.Thread(target=os._exit, args=(0,)); t.start(); t.join()",
        "exited early",
    ),
    "exit is caught by no name": ("import builtins\nbuiltins.SystemExit = KeyError\nexit(0)", "failed"),
    "the hook is silent": ("import sys\nsys.excepthook = lambda *_: None\nassert False", "failed"),
    "functions of os do nothing": (
        "import os, sys, builtins\nos._exit = os.write = os.read = sys.exit = lambda *_: None\n"
        "builtins.exec = builtins.compile = print\nassert False",
        "failed",
    ),
    "an exit code after the end": ("import atexit, os\natexit.register(os._exit, 3)", "failed"),
    "words in every open file": (
        "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'passed')\n"
        "    except OSError:\n        pass",
        "failed",
    ),
    "becomes another program": ("import os\nos.execv('/bin/true', ['true'])", "exited early"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_leaving_before_the_end_is_never_a_pass(name):
    program, status = CHEATS[name]
    assert run_python(program, allow_code_execution=True).status == status


def test_nothing_that_a_program_can_print_is_the_proof():
    dump = (
        "import gc, os, sys\nframe = sys._getframe()\n"
        "while frame:\n    print(frame.f_locals)\n    frame = frame.f_back\n"
        "print([x for x in gc.get_objects() if isinstance(x, (str, bytes))], os.environ)\n"
        "pid = os.fork()\nif pid:\n    os.waitpid(pid, 0)\n"  # both go on to the end
    )
    result = run_python(dump, allow_code_execution=True)
    assert (result.status, result.detail) == ("passed", "passed")
    assert not re.search(r"[0-9a-f]{32}", result.stdout + result.stderr)


def test_threads_and_exit_functions_end_before_the_verdict():
    program = (
        "import atexit, sys, threading, time\natexit.register(print, 'at exit')\n"
        "def late():\n    time.sleep(0.2)\n    print('late')\n    sys.exit(0)\n"
        "threading.Thread(target=late).start()\nprint('end')"
    )
    result = run_python(program, allow_code_execution=True)
    assert (result.stdout, result.status) == ("end\nlate\nat exit\n", "passed")


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


TALK = (
    "import socket\n"
    "server = socket.socket()\nserver.bind(('127.0.0.1', 0))\nserver.listen()\n"
    "client = socket.create_connection(server.getsockname(), 30)\nclient.send(b'word')\n"
    "assert server.accept()[0].recv(4) == b'word'\n"
    "try:\n    socket.create_connection(('192.0.2.1', 9), 1)\nexcept OSError:\n    pass\nelse:\n    assert False\n"
)
WORKERS = (
    "import multiprocessing, os\nfrom multiprocessing import shared_memory\n"
    "def square(x):\n    return x * x\n"
    "def put(queue, lock):\n    with lock:\n        queue.put(os.getpid())\n"
    "if __name__ == '__main__':\n"
    "    with multiprocessing.Pool(2) as pool:\n        assert pool.map(square, [1, 2, 3]) == [1, 4, 9]\n"
    "    queue, lock = multiprocessing.Queue(), multiprocessing.Lock()\n"
    "    child = multiprocessing.Process(target=put, args=(queue, lock))\n    child.start()\n"
    "    assert queue.get() == child.pid\n    child.join()\n"
    "    assert os.listdir('/dev/shm') == [], os.listdir('/dev/shm')\n"
)


@pytest.mark.parametrize("namespaces", [True, False])
@pytest.mark.parametrize("program", [TALK, WORKERS], ids=["loopback", "multiprocessing"])
def test_a_program_may_talk_to_itself(program, namespaces):
    if not namespaces:  # then the network and the shared memory are those of the system, with what others have there
        program = program.split("try:")[0].replace("os.listdir('/dev/shm') == []", "True")
    result = run(program, namespaces)
    assert result.passed, result


def test_the_user_has_a_name_and_a_source_may_begin_with_a_byte_order_mark():
    result = run_python("\ufeffimport getpass\nassert getpass.getuser() == 'user'", allow_code_execution=True)
    assert result.passed, result


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


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", 0), ("memory", -1), ("processes", 0), ("file_bytes", 0), ("timeout", math.nan), ("timeout", math.inf)]
    + [("timeout", 1e9), ("timeout", -math.inf)],
)
def test_limits_must_be_positive_and_finite(name, value):
    with pytest.raises(ValueError, match=f"{name} must be positive.*, but got {value}"):
        run_python("", allow_code_execution=True, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("timeout", True), ("timeout", "10"), ("memory", True), ("memory", 1e9), ("processes", None)]
)
def test_limits_must_be_numbers(name, value):
    with pytest.raises(TypeError, match=f"{name} must be a.*, but got {value!r}"):
        run_python("", allow_code_execution=True, **{name: value})


def test_a_program_must_be_text():
    with pytest.raises(TypeError, match="program must be a str, but got bytes"):
        run_python(b"", allow_code_execution=True)
