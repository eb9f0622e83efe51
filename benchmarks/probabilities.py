"""Time and memory of log loss, calibration error and Brier score of logits over a large vocabulary.

    python benchmarks/probabilities.py [--quick]

CPU time of the process in one thread, minima of interleaved runs. Memory is what tracemalloc sees at the peak of one
evaluation, beyond the logits.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MINDEVAL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("GLOG_v", "3")

import numpy as np  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402

from mindeval import BrierScore, CalibrationError, LogLoss  # noqa: E402


def value(make, logits: np.ndarray, labels: np.ndarray) -> float:
    metric = make(from_logits=True)
    metric.update(logits, labels)
    return float(metric.eval())


def by_scikit_learn(logits: np.ndarray, labels: np.ndarray) -> float:
    powers = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return log_loss(labels, powers / powers.sum(axis=1, keepdims=True), labels=np.arange(logits.shape[1]))


def peak_bytes(work) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the vocabulary, fewer rounds")
    quick = parser.parse_args().quick
    rng = np.random.default_rng(0)
    classes = 15194 if quick else 151936
    logits, labels = rng.normal(size=(64, classes)).astype(np.float32), rng.integers(0, classes, 64)
    assert abs(value(LogLoss, logits, labels) - by_scikit_learn(logits, labels)) < 1e-6
    works = {"read the logits": logits.max}
    for make in (LogLoss, CalibrationError, BrierScore):
        works[f"mindeval {make.__name__}"] = lambda make=make: value(make, logits, labels)
    works["softmax in NumPy, scikit-learn log_loss"] = lambda: by_scikit_learn(logits, labels)
    best = dict.fromkeys(works, float("inf"))
    for _ in range(3 if quick else 9):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    print(f"float32 logits [64, {classes}], {logits.nbytes / 2**20:.0f} MiB\n")
    print("| | ms | MiB beyond the logits |\n|---|---|---|")
    for name, work in works.items():
        print(f"| {name} | {best[name] * 1e3:.2f} | {peak_bytes(work) / 2**20:.1f} |")


if __name__ == "__main__":
    main()
