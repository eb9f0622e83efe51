"""The inside of a program's process: runs the program as the module ``__main__`` and proves that its end was reached.

Loaded by ``_code_supervisor``; it imports nothing of mindeval. The proof is a question and an answer: the supervisor
makes up a number once this side has said that the end was reached, and wants it back. So there is no secret that the
program could print or find, and writing anything into open files is no proof.
"""

from __future__ import annotations

import ast
import contextlib
import os
import select
import sys
import time
import types
from importlib.machinery import SourceFileLoader
from typing import Any

END, FAILED, OUT_OF_MEMORY, EXITED = b"?", b"F", b"M", b"E"
NUMBER_BYTES = 16


def run_as_main(path: str, source: str, say: int, hear: int) -> Any:
    """Run a program as ``python path`` would, wait for its threads, and tell the supervisor what became of it.

    Args:
        path: The file that holds the source, for tracebacks and ``inspect``.
        source: The program.
        say, hear: Ends of the pipes to and from the supervisor.

    Returns:
        The exit code that Python gives to such an end, as ``sys.exit`` takes it.
    """
    # What comes after the program is held here, where the program cannot replace it by assigning to a module.
    write, read, getpid, me, modules, module = (
        os.write,
        os.read,
        os.getpid,
        os.getpid(),
        sys.modules,
        _main_module(path),
    )
    leaving, out_of_memory, anything, show, tested = SystemExit, MemoryError, BaseException, _show, _of_unittest
    tests_passed = _tests_passed
    end, failed, memory, exited, size = END, FAILED, OUT_OF_MEMORY, EXITED, NUMBER_BYTES
    modules["__main__"] = module
    outcome, tree = failed, None
    code: Any = 1
    try:
        tree = ast.parse(source, path)
        runs = _keep_test_runs(tree, module)
        exec(compile(tree if runs is not None else source, path, "exec", dont_inherit=True), module.__dict__)
        if not [run for run in runs or () if not tests_passed(run)]:
            outcome, code = end, 0
    except leaving as error:
        result, code = tested(error, tree, path), error.code
        outcome = exited if result is None else end if result else failed
    except out_of_memory:
        outcome = memory
    except anything as error:
        show(error, path)
    threads = modules.get("threading")
    if outcome == end and threads is not None:
        threads._shutdown()  # waits as Python does at its end, for all threads but daemons
    if getpid() == me:  # a fork of the program says nothing
        write(say, outcome)
        if outcome == end:
            write(say, read(hear, size))
    return code


def _main_module(path: str) -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __file__=path,
        __loader__=SourceFileLoader("__main__", path),
        __builtins__=sys.modules["builtins"],
        __cached__=None,
        __annotations__={},
    )
    return module


def _show(error: BaseException, path: str) -> None:
    """The traceback as Python prints it: from the program's own frame on."""
    trace = _inside(error, path)
    error.__traceback__ = trace
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException:  # of the program's own hook
        sys.__excepthook__(type(error), error, trace)


def _inside(error: BaseException, path: str) -> types.TracebackType | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    return trace


def _of_unittest(end: SystemExit, tree: ast.Module | None, path: str) -> bool | None:
    """Whether all tests passed, if the exit is that of ``unittest.main()``, called by the last statement itself.

    None for any other exit.
    """
    trace = _inside(end, path)
    if tree is None or trace is None or trace.tb_next is None or trace.tb_lineno < tree.body[-1].lineno:
        return None
    place, inner = os.path.join(os.path.dirname(os.__file__), "unittest", "main.py"), trace.tb_next
    while inner.tb_frame.f_code.co_filename == place:
        if inner.tb_next is None:
            return not end.code and _tests_passed(inner.tb_frame.f_locals["self"])
        inner = inner.tb_next
    return None


def _tests_passed(run: Any) -> bool:
    """Of a ``unittest.TestProgram``. No tests at all are a failure, as from Python 3.12 on, and so are skipped ones."""
    result: Any = getattr(run, "result", None)
    if not hasattr(result, "wasSuccessful"):  # of another function named main
        return True
    whole = [test for test, _ in result.skipped if hasattr(test, "_testMethodName") and not hasattr(test, "test_case")]
    return bool(result.wasSuccessful() and result.testsRun > len(whole))


def _keep_test_runs(tree: ast.Module, module: types.ModuleType) -> list[Any] | None:
    """Where ``unittest.main(exit=False)`` is a statement, its result is dropped: let it be kept in the list that is
    returned, with nothing else changed. None where there is no such statement."""
    kept: list[Any] | None = None
    for node in ast.walk(tree):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(node, ast.Expr) and isinstance(call, ast.Call) and _is_test_run(call):
            kept = [] if kept is None else kept
            name = ast.Name("__keep_test_run__", ast.Load())
            node.value = ast.fix_missing_locations(ast.copy_location(ast.Call(name, [call], []), call))
    if kept is not None:
        module.__dict__["__keep_test_run__"] = kept.append
    return kept


def _is_test_run(call: ast.Call) -> bool:
    function = call.func
    named = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    stays = any(
        word.arg == "exit" and isinstance(word.value, ast.Constant) and not word.value.value for word in call.keywords
    )
    return named == "main" and stays


class Proof:
    """The supervisor's side: what the program's process said, that it failed, or came to its end, which it proves."""

    def __init__(self, hears: int, say: int) -> None:
        self.hears = hears
        self.say: int | None = say
        self.expected, self.said, self.open = b"", b"", True
        os.set_blocking(hears, False)

    def listen(self, seconds: float) -> None:
        """Wait for words, and take them. The number is made up only when it is asked for."""
        if not self.open:
            time.sleep(seconds)
        elif select.select([self.hears], [], [], seconds)[0]:
            with contextlib.suppress(BlockingIOError):
                words = os.read(self.hears, 1 << 12)
                self.open = bool(words) and len(self.said) < 1 << 12
                self.said += words
                if words and self.say is not None:
                    self._answer(self.say)

    def _answer(self, say: int) -> None:
        """Once, to the first words; whoever asks again sees the end of the pipe."""
        if self.said == END:
            self.expected = os.urandom(NUMBER_BYTES)
            os.write(say, self.expected)
        os.close(say)
        self.say = None

    @property
    def status(self) -> str:
        """One of "reached", "failed", "memory", "exited early", "" (nothing was said) and "meddled"."""
        known = {b"": "", FAILED: "failed", OUT_OF_MEMORY: "memory", EXITED: "exited early"}
        if self.expected and self.said == END + self.expected:
            return "reached"
        return known.get(self.said, "" if self.said == END else "meddled")
