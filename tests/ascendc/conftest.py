"""The kernels on the stand-in of the Ascend C API, compiled once and called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "mindeval" / "csrc" / "ascend"
DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2}
UNIFIED_BUFFER = 192 * 1024


def compile_library(source: Path, output: Path, *options: str) -> ctypes.CDLL:
    command = [shutil.which("g++"), "-std=c++17", "-shared", "-fPIC", f"-I{SOURCES}", f"-I{HERE}", *options]
    done = subprocess.run([*command, "-o", str(output), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return ctypes.CDLL(str(output))


class StandIn:
    compile_library = staticmethod(compile_library)

    def __init__(self, folder: Path):
        library = compile_library(HERE / "kernels.cpp", folder / "kernels.so", "-O1", "-Wall", "-Wextra", "-Werror")
        library.unified_buffer_bytes.restype = ctypes.c_uint64
        library.unified_buffer_bytes.argtypes = [ctypes.c_uint64] * 2
        library.choose_tiling.argtypes = [ctypes.c_uint64] * 5 + [ctypes.c_void_p]
        self.unified_buffer_bytes = library.unified_buffer_bytes
        self._choose_tiling = library.choose_tiling
        self._run = self.declare(library.run)

    @staticmethod
    def declare(function):
        """Gives a runner of kernels.cpp, or of the mutants, its argument types."""
        function.restype = ctypes.c_char_p
        function.argtypes = (
            [ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
            + [ctypes.c_uint32] * 4
            + [ctypes.c_uint64] * 2
            + [ctypes.c_uint32] * 2
        )
        return function

    def choose_tiling(self, rows, vocab, element_bytes, cores, unified_buffer=UNIFIED_BUFFER) -> tuple[int, int]:
        chosen = (ctypes.c_uint32 * 2)()
        self._choose_tiling(rows, vocab, element_bytes, cores, unified_buffer, chosen)
        return chosen[0], chosen[1]

    def run(self, held, labels, dtype, *, cores=3, tile=None, rank=True, function=None, **view):
        """Which rule the kernel broke ("" if none) and its statistics [4, rows]; `held`: the logits as the device has them."""
        labels = np.ascontiguousarray(labels, np.int32)
        rows, vocab = len(labels), view.get("vocab", held.shape[-1])
        launched, chosen = self.choose_tiling(rows, vocab, held.itemsize, cores)
        statistics = np.full((4, rows), np.nan, np.float32)
        broken = (function or self._run)(
            *(DTYPES[dtype], held.ctypes.data, held.nbytes, labels.ctypes.data, statistics.ctypes.data),
            *(rows, vocab, view.get("group_rows", rows), int(rank)),
            *(view.get("group_stride", 0), view.get("row_stride", held.shape[-1])),
            *(tile or chosen, launched),
        )
        return broken.decode(), statistics


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("needs g++ to compile the Ascend C kernel for the stand-in")
    return StandIn(tmp_path_factory.mktemp("ascendc"))
