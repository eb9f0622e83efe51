"""Wheels with and without a compiler: what is in them and what is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def source(tmp_path):
    """A copy of what a build needs, so that nothing is written into the checkout."""
    copy = tmp_path / "source"
    shutil.copytree(ROOT / "mindeval", copy / "mindeval", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


def build(source: Path, **environment: str) -> tuple[subprocess.CompletedProcess, dict[str, zipfile.ZipInfo]]:
    """`setup.py bdist_wheel`, which is what pip runs, and the files of the wheel."""
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "bdist_wheel", "--dist-dir", "out"],
        cwd=source, env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    wheels = list((source / "out").glob("*.whl"))
    files = zipfile.ZipFile(wheels[0]).infolist() if wheels else []
    return done, {file.filename: file for file in files}


def test_without_a_compiler_it_installs_and_says_so_in_one_line(source):
    done, files = build(source, CXX="/bin/false", CC="/bin/false", MINDEVAL_REQUIRE_NATIVE="0")
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if "native kernel not built" in line]
    assert len(notices) == 1
    assert "NumPy gives the same bits, slower" in notices[0]
    assert "mindeval/_native.so" not in files
    assert "mindeval/kernels/numpy_twin.py" in files


def test_without_a_compiler_it_fails_where_the_native_kernel_is_required(source):
    done, files = build(source, CXX="/bin/false", CC="/bin/false", MINDEVAL_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert not files


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no C++ compiler")
def test_with_a_compiler_the_wheel_is_small_and_for_every_python_3(source):
    done, files = build(source, MINDEVAL_REQUIRE_NATIVE="1")
    assert done.returncode == 0, done.stderr
    wheel = next((source / "out").glob("*.whl"))
    assert "-py3-none-linux_" in wheel.name
    assert wheel.stat().st_size < 2 << 20
    assert "mindeval/_native.so" in files
    for name in ("nll.cpp", "nll.h", "nll_rows.h", "ascend/nll_kernel.cpp", "ascend/CMakeLists.txt"):
        assert f"mindeval/csrc/{name}" in files, "sources are in the wheel, for builds on Ascend hosts"
