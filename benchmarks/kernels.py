"""Speed and memory of the token kernels against one read of the logits and against peers, in one run.

    MINDEVAL_NUM_THREADS=2 taskset -c 0,1 python benchmarks/kernels.py [--quick] [--repeats 9]

Candidates take turns, so that whatever else the machine does meets all of them; the minimum counts, the median is
printed too. "One read" is the XOR of the whole array by two threads, in NumPy or C++, whichever is faster. Peers:
`pip install 'mindeval[bench]'`.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("GLOG_v", "3")
os.environ.setdefault("MINDEVAL_NUM_THREADS", "2")

import mindspore as ms
import numpy as np
from mindspore import ops

from mindeval import kernels

THREADS = int(os.environ["MINDEVAL_NUM_THREADS"])
torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
DTYPES = {"float32": ms.float32, "bfloat16": ms.bfloat16, "float16": ms.float16}


def reader() -> Callable[[np.ndarray], object]:
    """Reads a whole array with THREADS threads: by C++ if there is a compiler, else by NumPy."""

    def numpy_read(array: np.ndarray) -> None:
        words = array.reshape(-1).view(np.int32)
        cuts = [len(words) * k // THREADS for k in range(THREADS + 1)]
        tasks = [threading.Thread(target=np.bitwise_xor.reduce, args=(words[a:b],)) for a, b in zip(cuts, cuts[1:])]
        for task in tasks:
            task.start()
        for task in tasks:
            task.join()

    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if not compiler:
        return numpy_read
    library = Path(tempfile.mkdtemp()) / "read.so"
    source = Path(__file__).with_name("read.cpp")
    flags = ["-O3", "-march=native", "-Wno-psabi", "-shared", "-fPIC", "-pthread"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    read_all = ctypes.CDLL(str(library)).read_all
    read_all.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int)

    def native_read(array: np.ndarray) -> None:
        read_all(array.ctypes.data, array.nbytes, THREADS)

    sample = np.zeros(1 << 26, np.int32)
    times = timed({"numpy": lambda: numpy_read(sample), "native": lambda: native_read(sample)}, 5)
    return numpy_read if min(times["numpy"]) < min(times["native"]) else native_read


def timed(candidates: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each candidate, which take turns; those above half a second run three times only."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeats):
        for name, run in candidates.items():
            if turn >= 3 and min(times[name]) > 0.5:
                continue
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def extra_mebibytes(run: Callable[[], object]) -> float:
    """Growth of the resident memory's peak in a candidate's first run (Linux).

    Memory that an earlier candidate left in MindSpore's pool does not count: what peers need is rather more.
    """

    def status(field: str) -> float:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(float(line.split()[1]) / 1024 for line in lines if line.startswith(field))

    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    result = run()
    peak = status("VmHWM")
    del result
    return peak - before


def normal(n: int, size: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, size), np.float32)
    x *= 3
    if kind == "-inf prefix":
        x[:, : size // 3] = -np.inf
    if kind == "offset 1e4":
        x += np.float32(1e4)
    return x


def stored(x: np.ndarray, dtype: str) -> ms.Tensor:
    return ms.Tensor(x) if dtype == "float32" else ms.Tensor(x).astype(DTYPES[dtype])


def candidates_for(logits: ms.Tensor, labels: np.ndarray, read: Callable, kind: str, peers: bool) -> dict:
    view = kernels.rows.logits_array(logits)[0]
    ids = ms.Tensor(labels)
    found: dict[str, Callable[[], object]] = {
        "one read": lambda: read(view),
        "token_nll": lambda: kernels.token_nll(logits, labels),
    }
    if kind == "normal":
        found["token_nll, rank"] = lambda: kernels.token_nll(logits, labels, rank=True)
        found["token_nll, entropy"] = lambda: kernels.token_nll(logits, labels, entropy=True)
    if not peers:
        return found
    full = logits.astype(ms.float32) if logits.dtype != ms.float32 else logits
    if logits.dtype == ms.float32 and logits.shape[1] <= 32000:  # minutes and many GiB otherwise
        column = ids.expand_dims(1)
        found["ops.log_softmax + gather"] = lambda: ops.gather_elements(ops.log_softmax(full, 1), 1, column).asnumpy()
        found["ops.cross_entropy"] = lambda: ops.cross_entropy(full, ids.astype(ms.int32), reduction="none").asnumpy()
    if torch:
        torch.set_num_threads(THREADS)
        x, y = torch.from_numpy(full.asnumpy()), torch.from_numpy(labels)
        name = "torch cross_entropy" + ("" if logits.dtype == ms.float32 else " of float32 casts")
        found[name] = lambda: torch.nn.functional.cross_entropy(x, y, reduction="none")
    return found


def show(title: str, candidates: dict[str, Callable], unit: str, against: str, repeats: int) -> None:
    """One table: minimum and median, over `unit`, against `against`, and extra memory."""
    memory = {name: extra_mebibytes(run) for name, run in candidates.items()}
    times = timed(candidates, repeats)
    print(f"\n**{title}**\n\n| | min ms | median ms | x {unit} | x {against} | extra MiB |\n|---|---|---|---|---|---|")
    for name, seconds in times.items():
        low = min(seconds)
        print(
            f"| {name} | {low * 1e3:.2f} | {statistics.median(seconds) * 1e3:.2f} | {low / min(times[unit]):.2f} "
            f"| {low / min(times[against]):.2f} | {memory[name]:.1f} |",
            flush=True,
        )


def logits_tables(shapes: list[tuple[int, int]], read: Callable, repeats: int) -> None:
    for n, size in shapes:
        labels = np.random.default_rng(1).integers(0, size, n)
        for kind in ("normal", "-inf prefix", "offset 1e4"):
            x = normal(n, size, kind)
            for dtype in DTYPES:
                logits = stored(x, dtype)
                candidates = candidates_for(logits, labels, read, kind, peers=kind == "normal")
                show(f"[{n}, {size}] {dtype}, {kind}", candidates, "one read", "token_nll", repeats)
                del logits, candidates
                gc.collect()


def linear_table(repeats: int) -> None:
    n, width, size = 512, 576, 49152
    rng = np.random.default_rng(2)
    hidden, weight = rng.standard_normal((n, width), np.float32), rng.standard_normal((size, width), np.float32) * 0.1
    labels, h, w = rng.integers(0, size, n), ms.Tensor(hidden), ms.Tensor(weight)
    out = np.empty((n, size), np.float32)
    candidates: dict[str, Callable[[], object]] = {
        "np.matmul": lambda: np.matmul(hidden, weight.T, out=out),
        "ops.matmul": lambda: ops.matmul(h, w.T).asnumpy(),
        "linear_token_nll": lambda: kernels.linear_token_nll(h, w, labels),
        "linear_token_nll, rank, entropy": lambda: kernels.linear_token_nll(h, w, labels, rank=True, entropy=True),
    }
    logits = n * size * 4 / 2**20
    title = f"linear_token_nll [{n}, {width}] x [{size}, {width}] (the logits would be {logits:.0f} MiB)"
    show(title, candidates, "np.matmul", "linear_token_nll", repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller arrays")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    ms.set_device("CPU")
    cpu = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    kernels.token_nll(np.zeros((64, 50000), np.float32), np.zeros(64, int), rank=True, entropy=True)  # load everything
    print(f"{cpu[0] if cpu else platform.machine()}, {THREADS} threads, load {os.getloadavg()[0]:.1f}; ", end="")
    print(f"Python {platform.python_version()}, MindSpore {ms.__version__}, NumPy {np.__version__}, ", end="")
    print(f"torch {torch.__version__ if torch else 'not installed'}; {kernels.info()[0].reason}")
    shapes = [(256, 32000), (64, 151936)] if options.quick else [(2048, 32000), (2048, 151936)]
    logits_tables(shapes, reader(), options.repeats)
    linear_table(options.repeats)


if __name__ == "__main__":
    sys.exit(main())
