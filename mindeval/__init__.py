"""Exact metrics for training and evaluating language models with MindSpore.

The public names are imported when they are first used, so that ``import mindeval`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Metric": "metric",
    "MetricCollection": "collection",
    "Score": "score",
    "Signature": "score",
    "Loss": "language.loss",
    "Perplexity": "language.perplexity",
    "Accuracy": "classification.accuracy",
    "Precision": "classification.precision_recall",
    "Recall": "classification.precision_recall",
    "F1Score": "classification.precision_recall",
    "FBetaScore": "classification.precision_recall",
    "JaccardIndex": "classification.jaccard",
    "HammingLoss": "classification.hamming",
    "ConfusionMatrix": "classification.confusion",
    "MatthewsCorrCoef": "classification.matthews",
    "CohenKappa": "classification.cohen_kappa",
    "ROC": "classification.curves",
    "AUROC": "classification.auroc",
    "PrecisionRecallCurve": "classification.curves",
    "AveragePrecision": "classification.average_precision",
    "auc": "classification.curves",
    "CalibrationError": "classification.calibration",
    "BrierScore": "classification.brier_score",
    "LogLoss": "classification.log_loss",
    "MeanAbsoluteError": "classification.regression",
    "MeanSquaredError": "classification.regression",
    "PearsonCorrCoef": "classification.regression",
    "YesNoAccuracy": "answers.yes_no",
    "ChoiceAccuracy": "answers.choice",
    "AnswerAccuracy": "answers.answer",
    "PassAtK": "answers.pass_at_k",
    "PSNR": "image.psnr",
    "SSIM": "image.ssim",
    "EmbeddingSimilarity": "image.embedding",
    "BLEU": "text.bleu",
    "SentenceBLEU": "text.bleu",
    "ROUGE": "text.rouge",
    "ChrF": "text.chrf",
    "TER": "text.ter",
    "ExactMatch": "text.match",
    "TokenF1": "text.match",
    "WordErrorRate": "text.error_rate",
    "CharErrorRate": "text.error_rate",
    "EditSimilarity": "text.error_rate",
    "DistinctN": "text.diversity",
    "RepetitionRate": "text.diversity",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mindeval' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"mindeval.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])


def _refuse_broken_numpy() -> None:
    """MindSpore up to 2.10.0 was built for NumPy 1: with NumPy 2 a bfloat16 Tensor can crash the interpreter."""
    import numpy

    if int(numpy.__version__.split(".")[0]) < 2:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        mindspore = version("mindspore")
    except PackageNotFoundError:
        return
    if tuple(int(part) for part in mindspore.split(".")[:2] if part.isdigit()) <= (2, 10):
        raise ImportError(
            f"mindspore {mindspore} was built for NumPy 1, but NumPy {numpy.__version__} is installed: bfloat16 "
            'Tensors crash the interpreter with it. Repair it with: pip install "numpy>=1.25,<2"'
        )


_refuse_broken_numpy()
