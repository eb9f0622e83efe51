"""Checks that every rank makes: one metric of each kind of state, with uneven and empty ranks and with padding."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import mindspore as ms
import numpy as np
from harness import case, message, run_all

from mindeval import AUROC, ROC, AveragePrecision, ConfusionMatrix, MatthewsCorrCoef, MetricCollection, distributed
from mindeval.classification.accuracy import Accuracy
from mindeval.classification.calibration import CalibrationError
from mindeval.classification.precision_recall import F1Score
from mindeval.classification.regression import PearsonCorrCoef
from mindeval.image.ssim import SSIM

ms.set_device("CPU")
from mindspore.communication import init  # noqa: E402

init()
RANK, WORLD = distributed.this_rank(), distributed.world_size()
N, C = 23, 5
RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(N, C)).astype(np.float32).round(1)
LABELS = RNG.integers(0, C, N)
LABELS[3] = -100
PROBABILITIES = RNG.dirichlet(np.ones(C), size=N)
IMAGES = RNG.random((2, N, 1, 9, 9))
MINE = np.array(distributed.shard(N))
PADDED = np.array([(RANK + place * WORLD) % N for place in range(-(-N // WORLD))])  # what MindSpore's samplers give


def both(make, batch):
    """Everything that a metric says: of all samples in one process, and of this rank's share reduced."""
    texts = []
    for metric, rows in ((make(), np.arange(N)), (make().set_distributed(), MINE)):
        for part in np.array_split(rows, 2):
            if len(part):
                metric.update(*batch(part))
        metric.eval()
        texts.append(json.dumps(metric.result()))
    return texts


def agrees(make, batch):
    whole, reduced = both(make, batch)
    assert whole == reduced, f"{whole}\n{reduced}"


@case
def sums_of_declared_classes_agree():
    agrees(lambda: F1Score(num_classes=C, average="macro"), lambda rows: (SCORES[rows], LABELS[rows]))
    agrees(lambda: ConfusionMatrix(num_classes=C), lambda rows: (SCORES[rows], LABELS[rows]))


@case
def groups_that_ranks_discover_apart_agree():
    ids = np.arange(N) * 6000  # of a vocabulary: each rank sees other classes
    agrees(lambda: F1Score(num_classes=151936, average="macro"), lambda rows: (ids[rows], np.roll(ids, 1)[rows]))
    agrees(ConfusionMatrix, lambda rows: (ids[rows], ids[rows]))
    agrees(lambda: Accuracy(average="macro"), lambda rows: (ids[rows], ids[rows]))
    agrees(MatthewsCorrCoef, lambda rows: (SCORES[rows], LABELS[rows]))


@case
def exact_sums_agree():
    agrees(CalibrationError, lambda rows: (PROBABILITIES[rows], LABELS[rows]))
    agrees(PearsonCorrCoef, lambda rows: (SCORES[rows], SCORES[rows] * PROBABILITIES[rows]))
    agrees(lambda: SSIM(1.0), lambda rows: (IMAGES[0, rows], IMAGES[1, rows]))


@case
def rows_of_exact_curves_and_bins_agree():
    flags = (LABELS == 1).astype(int)
    for mode in ("exact", "binned"):
        agrees(lambda mode=mode: AUROC(mode=mode), lambda rows: (SCORES[rows, 1], flags[rows]))
    agrees(ROC, lambda rows: (SCORES[rows, 1], flags[rows]))
    agrees(lambda: AveragePrecision(num_classes=C), lambda rows: (SCORES[rows], LABELS[rows]))


@case
def rows_that_padding_repeated_count_once():
    flags = (LABELS == 1).astype(int)
    assert len(PADDED) * WORLD > N
    for make, scores, labels in (
        (AUROC, SCORES[:, 1], flags),
        (lambda: AUROC(num_classes=C), SCORES, np.where(LABELS < 0, 0, LABELS)),
    ):
        whole, padded = make(), make().set_distributed(expected_samples=N)
        whole.update(scores, labels, None, np.arange(N))
        padded.update(scores[PADDED], labels[PADDED], None, PADDED)
        assert float(whole.eval()) == float(padded.eval())
        assert padded.result()["samples"] == N


@case
def ranks_without_data_do_no_harm():
    flags = (LABELS == 1).astype(int)
    makes = {
        "auroc": AUROC,
        "bins": lambda: AUROC(mode="binned"),
        "f1": F1Score,
        "confusion": ConfusionMatrix,
        "pearson": PearsonCorrCoef,
    }
    metrics = MetricCollection({name: make() for name, make in makes.items()}, distributed=True)
    whole = MetricCollection({name: make() for name, make in makes.items()})
    for collection in (whole, metrics) if RANK == WORLD - 1 else (whole,):
        collection["auroc"].update(SCORES[:, 1], flags)
        collection["bins"].update(SCORES[:, 1], flags)
        for name in ("f1", "confusion", "pearson"):
            collection[name].update(flags, np.roll(flags, 1))
    assert {name: float(value) for name, value in metrics.eval().items()} == {
        name: float(value) for name, value in whole.eval().items()
    }


@case
def labels_of_one_kind_on_a_rank_do_no_harm_and_on_all_are_nan():
    labels, scores = np.array([RANK % 2] * 3), np.arange(3.0) + RANK % 2
    metric = AUROC(distributed=True)
    metric.update(scores, labels)
    assert metric.eval() == 7 / 9  # 0 1 2 against 1 2 3: six pairs right, two tied
    metric.clear()
    metric.update(scores, labels * 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert np.isnan(metric.eval())
    assert any("is undefined" in str(warning.message) for warning in caught)


@case
def one_id_with_two_contents_raises_on_every_rank():
    metric = AUROC(distributed=True)
    metric.update([0.1 + RANK, 0.5], [0, 1], None, [0, 10 + RANK])
    assert "sample id 0 was given twice with different contents" in message(metric.eval)


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), RANK)
