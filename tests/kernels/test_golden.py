"""One hash that every processor, compiler and back end must give.

The value was first computed with the prototype from which the kernel was rewritten.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from logit_rows import rows

from mindeval.kernels import native, numpy_twin

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = 0x8002231D37F188B5
SIZES = (1, 7, 130, 2049, 5000)
LAYOUT = {"float32": (127, 23, 32), "bfloat16": (127, 7, 16), "float16": (15, 10, 16)}


def random_words() -> Iterator[int]:
    state = 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 32


def golden_inputs() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The logits and labels of golden.cpp."""
    words = random_words()
    for name, (bias, mantissa, bits) in LAYOUT.items():
        for size in SIZES:
            logits, labels = np.zeros((4, size), np.uint32), np.zeros(4, np.int64)
            for kind in range(4):
                for column in range(size):
                    u = next(words)
                    exponent = [
                        bias - 6 + (u >> 23 & 7),
                        bias + 2 + (u >> 23 & 3),
                        bias - 6 + (u >> 23 & 7),
                        bias + 13,
                    ][kind]
                    sign, low = (0 if kind == 3 else u >> 31), u % 2**mantissa
                    if kind == 2 and column < size // 3:
                        exponent, sign, low = 2 * bias + 1, 1, 0
                    logits[kind, column] = sign << (bits - 1) | exponent << mantissa | low
                labels[kind] = next(words) % size
            halves = logits.astype(np.uint16)
            stored = {"float32": logits.view(np.float32), "bfloat16": halves, "float16": halves.view(np.float16)}[name]
            yield stored, labels


def hash_of(compute: Callable) -> int:
    """FNV-1a of the bytes of all results."""
    value = 14695981039346656037
    for stored, labels in golden_inputs():
        for result in compute(rows(stored, labels)):
            for byte in result.astype(result.dtype.newbyteorder("<")).tobytes():
                value = (value ^ byte) * 1099511628211 % 2**64
    return value


def test_numpy_twin():
    assert hash_of(lambda given: numpy_twin.token_nll(given, True, True)) == GOLDEN


@pytest.mark.skipif(not native.available(), reason="the native kernel is not built")
@pytest.mark.parametrize("width", [4, 8, 16])
def test_native(width):
    if width > native.library().mindeval_width():
        pytest.skip(f"this processor has no registers of {width} floats")
    assert hash_of(lambda given: native.token_nll(given, True, True, width)) == GOLDEN


@pytest.mark.slow
def test_aarch64_gives_the_hash_under_qemu(tmp_path):
    compiler, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("needs Debian's packages g++-aarch64-linux-gnu and qemu-user")
    sources = [str(path) for path in sorted((ROOT / "mindeval/csrc").glob("*.cpp"))]
    flags = ["-O3", "-std=c++17", "-ffp-contract=off", "-Wno-psabi", "-static", "-pthread"]
    program = str(tmp_path / "golden")
    subprocess.run([compiler, *flags, *sources, str(ROOT / "tests/kernels/golden.cpp"), "-o", program], check=True)
    printed = subprocess.run([emulator, program], check=True, capture_output=True, text=True).stdout
    assert f"{GOLDEN:016x}" in printed
