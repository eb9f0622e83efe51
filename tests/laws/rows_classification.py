"""Rows of the laws for the metrics of classification, curves, calibration, regression and images."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mindeval import (
    AUROC,
    ROC,
    AveragePrecision,
    BrierScore,
    CalibrationError,
    CohenKappa,
    ConfusionMatrix,
    LogLoss,
    MatthewsCorrCoef,
    PrecisionRecallCurve,
)
from mindeval.classification.accuracy import Accuracy
from mindeval.classification.hamming import HammingLoss
from mindeval.classification.jaccard import JaccardIndex
from mindeval.classification.precision_recall import F1Score, FBetaScore, Precision, Recall
from mindeval.classification.regression import MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef
from mindeval.image.embedding import EmbeddingSimilarity
from mindeval.image.psnr import PSNR
from mindeval.image.ssim import SSIM


def stacked(samples: list) -> tuple:
    return tuple(np.stack([sample[place] for sample in samples]) for place in range(len(samples[0])))


def with_ids(samples: list) -> tuple:
    """Samples whose last part is an id: scores, labels, no mask, ids."""
    *parts, ids = stacked(samples)
    return (*parts, None, ids)


def ids_and_labels(rng: np.random.Generator, classes: int = 4) -> tuple:
    return rng.integers(0, classes), rng.integers(0, classes)


def scores_and_label(rng: np.random.Generator, classes: int = 4) -> tuple:
    return rng.normal(size=classes).astype(np.float32).round(1), rng.integers(0, classes)


def flags(rng: np.random.Generator, width: int = 3) -> tuple:
    labels = np.where(rng.random(width) < 0.2, -100, rng.integers(0, 2, width))
    labels[0] = max(labels[0], 0)
    return rng.random(width).astype(np.float32).round(1), labels


def score_and_flag(rng: np.random.Generator) -> tuple:
    """Scores of all magnitudes, with ties and both zeros."""
    score = rng.choice([rng.normal() * 10.0 ** rng.integers(-30, 30), np.round(rng.normal(), 1), 0.0, -0.0])
    return np.float64(score), rng.integers(0, 2)


def two_columns(rng: np.random.Generator) -> tuple:
    """Two columns whose difference float64 can hold, now and then."""
    return np.array([rng.choice([0.5, 1.0]), rng.choice([0.0, 1e-20, 2e-20, 0.5, 1.0])]), rng.integers(0, 2)


def probabilities(rng: np.random.Generator, classes: int = 4) -> tuple:
    return rng.dirichlet(np.ones(classes)), rng.integers(0, classes)


def numbers(rng: np.random.Generator) -> tuple:
    return rng.normal(size=2) * 10.0 ** rng.integers(-8, 8), rng.normal(size=2)


def numbers_of_all_magnitudes(rng: np.random.Generator) -> tuple:
    return rng.normal(size=2) * 10.0 ** rng.integers(-300, 300, 2), rng.normal(size=2) * 10.0 ** rng.integers(-300, 300)


def images(rng: np.random.Generator) -> tuple:
    return rng.random((2, 8, 8), dtype=np.float32), rng.random((2, 8, 8), dtype=np.float32)


def with_id(sample: Callable[[np.random.Generator], tuple], rng: np.random.Generator) -> tuple:
    return (*sample(rng), rng.integers(0, 2**62))


Case = tuple[Callable[[], Any], Callable[[np.random.Generator], Any], Callable[[list], tuple]]

ROWS: dict[str, Case] = {
    "Accuracy balanced": (lambda: Accuracy(average="macro"), ids_and_labels, stacked),
    "Accuracy of multilabel rows": (lambda: Accuracy(task="multilabel"), flags, stacked),
    "Precision macro of scores": (lambda: Precision(average="macro", top_k=2), scores_and_label, stacked),
    "Recall weighted, discovered classes": (lambda: Recall(average="weighted"), ids_and_labels, stacked),
    "F1Score of declared classes": (lambda: F1Score(num_classes=4, average="macro"), ids_and_labels, stacked),
    "F1Score of many classes": (
        lambda: F1Score(num_classes=151936, average="macro"),
        partial(ids_and_labels, classes=151936),
        stacked,
    ),
    "F1Score of multilabel samples": (
        lambda: F1Score(task="multilabel", num_classes=3, average="samples"),
        flags,
        stacked,
    ),
    "FBetaScore": (lambda: FBetaScore(0.3, average="micro"), ids_and_labels, stacked),
    "JaccardIndex": (lambda: JaccardIndex(average="macro"), ids_and_labels, stacked),
    "HammingLoss": (lambda: HammingLoss(task="multilabel"), flags, stacked),
    "ConfusionMatrix": (lambda: ConfusionMatrix(num_classes=4, normalize="true"), ids_and_labels, stacked),
    "ConfusionMatrix of cells that occur": (ConfusionMatrix, ids_and_labels, stacked),
    "MatthewsCorrCoef": (MatthewsCorrCoef, ids_and_labels, stacked),
    "CohenKappa": (lambda: CohenKappa(weights="linear"), ids_and_labels, stacked),
    "AUROC": (AUROC, score_and_flag, stacked),
    "AUROC with ids": (AUROC, partial(with_id, score_and_flag), with_ids),
    "AUROC of two columns": (AUROC, two_columns, stacked),
    "AUROC of two columns with ids": (AUROC, partial(with_id, two_columns), with_ids),
    "AUROC in bins": (lambda: AUROC(mode="binned"), score_and_flag, stacked),
    "AUROC of classes": (lambda: AUROC(num_classes=4), scores_and_label, stacked),
    "AveragePrecision of labels": (lambda: AveragePrecision(task="multilabel", num_classes=3), flags, stacked),
    "ROC": (ROC, score_and_flag, stacked),
    "PrecisionRecallCurve": (PrecisionRecallCurve, score_and_flag, stacked),
    "CalibrationError": (CalibrationError, probabilities, stacked),
    "CalibrationError from logits": (lambda: CalibrationError(from_logits=True), scores_and_label, stacked),
    "BrierScore": (BrierScore, probabilities, stacked),
    "BrierScore from logits": (lambda: BrierScore(from_logits=True), scores_and_label, stacked),
    "LogLoss": (LogLoss, probabilities, stacked),
    "LogLoss from logits": (lambda: LogLoss(from_logits=True), scores_and_label, stacked),
    "MeanAbsoluteError": (MeanAbsoluteError, numbers, stacked),
    "MeanSquaredError": (MeanSquaredError, numbers, stacked),
    "PearsonCorrCoef": (PearsonCorrCoef, numbers, stacked),
    "MeanSquaredError of all magnitudes": (MeanSquaredError, numbers_of_all_magnitudes, stacked),
    "PearsonCorrCoef of all magnitudes": (PearsonCorrCoef, numbers_of_all_magnitudes, stacked),
    "PSNR": (lambda: PSNR(1.0), images, stacked),
    "PSNR of pixels": (lambda: PSNR(1.0, average="pixels"), images, stacked),
    "SSIM": (lambda: SSIM(1.0), images, stacked),
    "EmbeddingSimilarity": (EmbeddingSimilarity, lambda rng: tuple(rng.normal(size=(2, 5))), stacked),
}
