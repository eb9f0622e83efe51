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


class Shape(ctypes.Structure):
    """mindeval::NllShape of nll_tiling.h."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("rows", "vocab", "group_rows", "with_rank")] + [
        (name, ctypes.c_uint64) for name in ("group_stride", "row_stride")
    ]


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
        library.shape_of.restype = ctypes.c_char_p
        library.shape_of.argtypes = [
            *(ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_bool, ctypes.c_void_p)
        ]
        self._shape_of = library.shape_of

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

    def shape_of(self, sizes, strides, vocab, rank=True) -> Shape:
        """What the glue makes of a tensor's sizes and strides."""
        shape, axes = Shape(), ctypes.c_int64 * len(sizes)
        wrong = self._shape_of(len(sizes), axes(*sizes), axes(*strides), vocab, rank, ctypes.byref(shape))
        if wrong:
            raise ValueError(wrong.decode())
        return shape

    def run_tensor(self, tensor, labels, vocab, rank) -> np.ndarray:
        """Statistics of a CPU Tensor where it lies in memory, as the glue launches the kernel."""
        name = str(tensor.dtype).lower()
        item = 4 if name == "float32" else 2
        shape = self.shape_of(tensor.shape, tensor.stride(), vocab, rank)
        extent = item * (1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride())))
        cores, tile = self.choose_tiling(shape.rows, vocab, item, 40)
        labels = np.ascontiguousarray(labels, np.int32)
        statistics = np.full((4, shape.rows), np.nan, np.float32)
        broken = self._run(
            *(DTYPES[name], tensor.data_ptr(), extent, labels.ctypes.data, statistics.ctypes.data),
            *(shape.rows, shape.vocab, shape.group_rows, shape.with_rank, shape.group_stride, shape.row_stride),
            *(tile, cores),
        )
        assert broken == b""
        return statistics

    def run(self, held, labels, dtype, *, cores=3, tile=None, rank=True, function=None, **view):
        """Which rule the kernel broke ("" if none), and the statistics [4, rows] of logits as the device has them."""
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
