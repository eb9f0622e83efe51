"""One-hot labels where a metric would read them as labels of many binary problems."""

from __future__ import annotations

from functools import partial

import mindspore as ms
import numpy as np
import pytest

from mindeval import AUROC, ROC, AveragePrecision, BrierScore, CalibrationError, LogLoss, PrecisionRecallCurve

PROBABILITIES = [LogLoss, BrierScore, CalibrationError]
CURVES = [AUROC, ROC, AveragePrecision, PrecisionRecallCurve]
EVERY = pytest.mark.parametrize("make", [*PROBABILITIES, *CURVES, partial(LogLoss, from_logits=True)])

LABELS = np.array([0, 1, 2, 1])
ONE_HOT = np.eye(3, dtype=np.int64)[LABELS]
P = np.random.default_rng(0).dirichlet(np.ones(3), 4)


@EVERY
@pytest.mark.parametrize("kind", [np.int32, np.float32, bool, ms.Tensor, np.ndarray.tolist])
def test_one_hot_labels_are_pointed_out_in_the_default_task(make, kind):
    labels = kind(ONE_HOT) if kind in (ms.Tensor, np.ndarray.tolist) else ONE_HOT.astype(kind)
    with pytest.warns(RuntimeWarning, match=r"labels \[4, 3\] look one-hot.*argmax\(-1\).*num_classes=3.*multilabel"):
        make()(P, labels)


@EVERY
def test_two_columns_are_pointed_out_too(make):
    two = np.eye(2)[[0, 1, 1]]
    for options in ({}, {"num_classes": 2}):
        with pytest.warns(RuntimeWarning, match="look one-hot"):
            make(**options)(np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]), two)


@EVERY
@pytest.mark.parametrize(
    ("options", "scores", "labels"),
    [
        ({"task": "binary"}, P, ONE_HOT),
        ({"task": "multilabel", "num_classes": 3}, P, ONE_HOT),
        ({"num_classes": 3}, P, LABELS),
        ({}, P, 1 - ONE_HOT),
        ({}, P[:, 0], ONE_HOT[:, 0]),
        ({}, P[:1], ONE_HOT[:1]),  # one row may look so by chance
    ],
)
def test_what_was_said_or_cannot_be_one_hot_is_no_warning(make, options, scores, labels, recwarn):
    make(**options).update(scores, labels)
    assert not recwarn.list


@EVERY
def test_a_declared_number_of_classes_refuses_one_hot_labels(make):
    with pytest.raises(ValueError, match="must (have shape|be those of)"):
        make(num_classes=3).update(P, ONE_HOT)


@pytest.mark.parametrize("make", PROBABILITIES)
def test_their_argmax_gives_the_value_of_several_classes(make):
    assert make()(P, ONE_HOT.argmax(-1)) == make(task="multiclass")(P, LABELS)
