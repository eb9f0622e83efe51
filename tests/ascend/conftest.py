"""The smoke suite for someone with an Ascend card: `make test-ascend` runs it and prints one report for an issue.

Without a card every test is skipped. With MINDEVAL_ASCEND_REHEARSAL=1 the suite runs on the CPU, so that it does not
rot; what only a card has is then skipped one by one.
"""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import mindspore as ms
import pytest

from mindeval import __version__, kernels
from mindeval.kernels import ascend_files, build

HERE = Path(__file__).resolve().parent
REHEARSAL = os.environ.get("MINDEVAL_ASCEND_REHEARSAL") == "1"
NO_CARD = (
    "needs an Ascend card: run `make test-ascend` on an Ascend host (MINDEVAL_TEST_DEVICE=Ascend); "
    "MINDEVAL_ASCEND_REHEARSAL=1 rehearses the suite on the CPU"
)
_results: list[str] = []


def on_card() -> bool:
    return str(ms.get_context("device_target")) == "Ascend"


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE not in Path(str(item.path)).resolve().parents:
            continue
        item.add_marker("ascend")
        if not on_card() and not REHEARSAL:
            item.add_marker(pytest.mark.skip(reason=NO_CARD))


def pytest_runtest_logreport(report):
    if "ascend" not in report.keywords or (report.when != "call" and report.outcome == "passed"):
        return
    measured = ", ".join(f"{name} {value}" for name, value in report.user_properties)
    line = f"{report.outcome:8}{report.nodeid.split('::')[-1]}"
    if measured:
        line += f"  ({measured})"
    if report.outcome == "failed":
        line += f"\n    {str(report.longrepr).strip().splitlines()[-1]}"
    if report.outcome == "skipped" and isinstance(report.longrepr, tuple):
        line += f"\n    {report.longrepr[2]}"
    _results.append(line)


def pytest_terminal_summary(terminalreporter):
    if not on_card() and not REHEARSAL:
        return
    write = terminalreporter.write_line
    root = ascend_files.cann_root()
    write("")
    write("=== mindeval on Ascend: paste from here into an issue ===")
    write(
        f"date      {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC{'  REHEARSAL ON THE CPU' if REHEARSAL else ''}"
    )
    write(f"card      {build.card_name(root) or 'none'}")
    write(f"CANN      {ascend_files.cann_version(root) if root else 'none'}")
    write(
        f"MindSpore {ms.__version__}, mindeval {__version__}, Python {platform.python_version()}, {platform.machine()}"
    )
    for row in kernels.info():
        if row.device == ms.get_context("device_target"):
            write(f"kernels   {row.dtype} {row.name}: {row.reason}")
    for line in _results:
        write(line)
    write("=== to here ===")


@pytest.fixture
def card():
    """For what the CPU cannot even rehearse."""
    if not on_card():
        pytest.skip("only a card has this")
