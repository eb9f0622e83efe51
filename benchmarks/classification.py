"""Speed of the classification family against scikit-learn, and against torchmetrics where it is installed ([bench]).

    python benchmarks/classification.py [--quick]

Times are minima of interleaved runs: as the clock has them, and CPU time of the process, in which other load on the
machine counts less and in which all threads count. Native loops of mindeval run in MINDEVAL_NUM_THREADS threads and,
in rows of their own, in one; NumPy, scikit-learn and torch run in one. Memory is what tracemalloc sees at the peak of
one update, beyond the inputs.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
import warnings

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("GLOG_v", "3")

import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
from sklearn import metrics as sk  # noqa: E402

from mindeval import AUROC  # noqa: E402
from mindeval.classification.accuracy import Accuracy  # noqa: E402
from mindeval.classification.confusion import ConfusionMatrix  # noqa: E402
from mindeval.classification.precision_recall import F1Score  # noqa: E402
from mindeval.kernels import native  # noqa: E402

try:
    import torch
    import torchmetrics.classification as tm

    torch.set_num_threads(1)
except ImportError:
    torch = None


def minima(works: dict, rounds: int, calls: int = 1) -> dict:
    """The least seconds of a call of each work, by the clock and of CPU time, taking turns."""
    best = {name: (float("inf"),) * 2 for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            starts = time.perf_counter(), time.process_time()
            for _ in range(calls):
                work()
            spent = time.perf_counter() - starts[0], time.process_time() - starts[1]
            best[name] = tuple(min(old, new / calls) for old, new in zip(best[name], spent))
    return best


def by_threads(name: str, work) -> dict:
    """The work in all threads that it may use, and in one."""

    def alone():
        before = os.environ.get("MINDEVAL_NUM_THREADS", "")
        os.environ["MINDEVAL_NUM_THREADS"] = "1"
        try:
            return work()
        finally:
            os.environ["MINDEVAL_NUM_THREADS"] = before

    threads = native.threads() if native.available() else 1
    return {name: work} if threads == 1 else {f"{name}, {threads} threads": work, f"{name}, 1 thread": alone}


def once(make, *inputs):
    metric = make()
    metric.update(*inputs)
    return float(metric.eval())


def peak_bytes(work) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def table(title: str, times: dict, unit: float, name: str) -> None:
    """Ratios are those of the clock, to the first row."""
    ours = next(iter(times.values()))[0]
    print(f"\n### {title}\n\n| | {name} | of CPU time | times the first |\n|---|---|---|---|")
    for work, (clock, processor) in times.items():
        print(f"| {work} | {clock * unit:.2f} | {processor * unit:.2f} | {clock / ours:.1f} |")


def many_labels(n: int, rounds: int) -> None:
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 10, n), rng.integers(0, 10, n)

    def our_f1():
        return once(lambda: F1Score(num_classes=10, average="macro"), predictions, labels)

    assert abs(our_f1() - sk.f1_score(labels, predictions, average="macro")) < 1e-12

    works = {
        **by_threads(
            "mindeval ConfusionMatrix", lambda: once(lambda: ConfusionMatrix(num_classes=10), predictions, labels)
        ),
        **by_threads("mindeval F1Score", our_f1),
        "read both arrays": lambda: (labels.max(), predictions.max()),
        "scikit-learn f1_score": lambda: sk.f1_score(labels, predictions, average="macro"),
        "scikit-learn confusion_matrix": lambda: sk.confusion_matrix(labels, predictions),
    }
    if torch is not None:
        tensors = torch.from_numpy(predictions), torch.from_numpy(labels)
        works["torchmetrics MulticlassF1Score"] = lambda: tm.MulticlassF1Score(10)(*tensors)
        works["torchmetrics MulticlassConfusionMatrix"] = lambda: tm.MulticlassConfusionMatrix(10)(*tensors)
    table(f"Macro F1 and confusion matrix of {n:.0e} labels, 10 classes", minima(works, rounds), 1e3, "ms")
    print(f"\nPeak memory of the update: {peak_bytes(our_f1) / 2**20:.1f} MiB beyond the inputs.")


def many_scores(n: int, rounds: int) -> None:
    for kind in ("float64 in [0, 1)", "float32 logits"):
        rng = np.random.default_rng(0)
        labels = rng.integers(0, 2, n)
        scores = rng.random(n) if kind.startswith("float64") else (labels + 3 * rng.normal(size=n)).astype(np.float32)
        assert abs(once(AUROC, scores, labels) - sk.roc_auc_score(labels, scores)) < 1e-12
        works = {
            **by_threads("mindeval AUROC", lambda s=scores, y=labels: once(AUROC, s, y)),
            "mindeval AUROC, binned": lambda s=scores, y=labels: once(lambda: AUROC(mode="binned"), s, y),
            "scikit-learn roc_auc_score": lambda s=scores, y=labels: sk.roc_auc_score(y, s),
        }
        if torch is not None:
            tensors = torch.from_numpy(scores), torch.from_numpy(labels)
            works["torchmetrics BinaryAUROC"] = lambda t=tensors: tm.BinaryAUROC()(*t)
        table(f"Exact AUROC of {n:.0e} scores, {kind}", minima(works, rounds), 1e3, "ms")
    metric = AUROC()
    metric.update(scores, labels)
    kept = metric._states["packed"].value.nbytes
    print(f"\nKept in exact mode: {kept / n:.0f} bytes a score; in bins 1 MiB in all.")


def small_updates(rounds: int) -> None:
    rng = np.random.default_rng(0)
    predictions, labels = rng.integers(0, 10, 32), rng.integers(0, 10, 32)
    tensors = ms.Tensor(predictions), ms.Tensor(labels)
    accuracy, f1 = Accuracy(), F1Score(num_classes=10)
    works = {
        "mindeval Accuracy.update, NumPy": lambda: accuracy.update(predictions, labels),
        "mindeval Accuracy.update, Tensors": lambda: accuracy.update(*tensors),
        "mindeval F1Score.update, NumPy": lambda: f1.update(predictions, labels),
        "mindeval F1Score.update, Tensors": lambda: f1.update(*tensors),
    }
    if torch is not None:
        theirs = tm.MulticlassAccuracy(10, average="micro")
        given = torch.from_numpy(predictions), torch.from_numpy(labels)
        works["torchmetrics MulticlassAccuracy.update"] = lambda: theirs.update(*given)
        works["torchmetrics MulticlassAccuracy.forward"] = lambda: theirs(*given)
    table("One update of 32 samples", minima(works, rounds, calls=300), 1e6, "microseconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, fewer rounds")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    many_labels(10**6 if quick else 10**7, 3)
    many_scores(10**5 if quick else 10**6, 3 if quick else 7)
    small_updates(3 if quick else 7)


if __name__ == "__main__":
    main()
