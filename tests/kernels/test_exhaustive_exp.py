"""The error of a single exponential, by exhaustive_exp.cpp: what docs/kernels.md takes as proven."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

COMPILER = shutil.which(os.environ.get("CXX", "g++"))
STRIDE = 101  # 3 million float32; with 1 all of them, which takes 6 s when compiled for AVX-512
BOUNDS = {"float32": 8.28e-8, "bfloat16": 7.77e-8, "float16": 1.375e-7}


@pytest.mark.slow
@pytest.mark.skipif(not COMPILER, reason="needs a C++ compiler")
def test_single_exponentials_are_within_the_proven_bound(tmp_path):
    source, program = Path(__file__).with_name("exhaustive_exp.cpp"), tmp_path / "exhaustive_exp"
    flags = ["-O1", "-std=c++17", "-ffp-contract=off", "-Wno-psabi"]
    subprocess.run([COMPILER, *flags, str(source), "-o", str(program)], check=True)
    printed = subprocess.run([str(program), str(STRIDE)], check=True, capture_output=True, text=True).stdout
    errors = {line.split()[0]: float(line.split()[1]) for line in printed.splitlines()}
    assert errors.keys() == BOUNDS.keys()
    for name, bound in BOUNDS.items():
        assert 7e-8 < errors[name] <= bound, name  # far below would mean that the program checks nothing
