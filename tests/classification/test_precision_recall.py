"""Precision, recall, F1 and F-beta against scikit-learn, the handed cases, and what they refuse."""

from __future__ import annotations

import json
import math
import warnings
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest
from sklearn import metrics as sk

from mindeval import (
    AUROC,
    ROC,
    Accuracy,
    BrierScore,
    CalibrationError,
    CohenKappa,
    ConfusionMatrix,
    F1Score,
    FBetaScore,
    HammingLoss,
    JaccardIndex,
    LogLoss,
    MatthewsCorrCoef,
    MeanAbsoluteError,
    MeanSquaredError,
    PearsonCorrCoef,
    Precision,
    Recall,
)

PAIRS = [
    (Precision, {}, sk.precision_score, {}),
    (Recall, {}, sk.recall_score, {}),
    (F1Score, {}, sk.f1_score, {}),
    (FBetaScore, {"beta": 2.0}, sk.fbeta_score, {"beta": 2.0}),
    (FBetaScore, {"beta": 0.3}, sk.fbeta_score, {"beta": 0.3}),
]
PAIR_IDS = ["precision", "recall", "f1", "f2", "f0.3"]
pairs = pytest.mark.parametrize(("ours", "our_options", "theirs", "their_options"), PAIRS, ids=PAIR_IDS)


def multiclass(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Labels with ignored ones and absent classes."""
    rng = np.random.default_rng(seed)
    classes, n = int(rng.integers(2, 9)), int(rng.integers(1, 60))
    present = rng.choice(classes, size=int(rng.integers(1, classes + 1)), replace=False)
    labels = rng.choice(present, size=n)
    labels[rng.random(n) < 0.2] = -100
    labels[0] = present[0]
    return rng.integers(0, classes, n), labels, classes


def scikit(theirs, truth, predictions, /, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return theirs(truth, predictions, **options)


@pairs
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_multiclass_equals_scikit_learn(ours, our_options, theirs, their_options, average, zero_division):
    for seed in range(25):
        predictions, labels, classes = multiclass(seed)
        kept = labels != -100
        options = {"average": average, "zero_division": zero_division}
        expected = scikit(theirs, labels[kept], predictions[kept], **their_options, **options)
        metric = ours(**our_options, num_classes=classes if seed % 2 else None, **options)
        metric.update(predictions, labels)
        assert metric.eval() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        every = scikit(theirs, labels[kept], predictions[kept], labels=range(classes), **their_options, **options)
        metric = ours(**our_options, num_classes=classes, labels_present_only=False, **options)
        for place in range(0, labels.size, 7):
            metric.update(predictions[place : place + 7], labels[place : place + 7])
        assert metric.eval() == pytest.approx(every, abs=1e-12, nan_ok=True)


@pairs
def test_per_class_table_equals_scikit_learn(ours, our_options, theirs, their_options):
    for seed in range(10):
        predictions, labels, classes = multiclass(seed)
        kept = labels != -100
        metric = ours(**our_options, num_classes=classes, average="none")
        metric.update(predictions, labels)
        name, table = next(iter(metric.eval().parts)), metric.result()["per_class"]
        options = {"labels": range(classes), "average": None, "zero_division": 0.0}
        assert table[name] == pytest.approx(scikit(theirs, labels[kept], predictions[kept], **their_options, **options))
        assert table["support"] == np.bincount(labels[kept], minlength=classes).tolist()


@pairs
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_weights_equal_scikit_learn(ours, our_options, theirs, their_options, average):
    for seed in range(10):
        predictions, labels, classes = multiclass(seed)
        weights = np.random.default_rng(seed).random(labels.size)
        kept = labels != -100
        options = {"average": average, "zero_division": 0.0}
        expected = scikit(
            theirs, labels[kept], predictions[kept], sample_weight=weights[kept], **their_options, **options
        )
        metric = ours(**our_options, num_classes=classes if seed % 2 else None, weighted=True, **options)
        metric.update(predictions, labels, weights=weights)
        assert metric.eval() == pytest.approx(expected, abs=1e-12)


@pairs
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
@pytest.mark.parametrize("weighted", [False, True])
def test_multilabel_equals_scikit_learn(ours, our_options, theirs, their_options, average, zero_division, weighted):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows, width = int(rng.integers(1, 20)), int(rng.integers(2, 6))
        scores, labels = rng.random((rows, width)).astype(np.float32), rng.integers(0, 2, (rows, width))
        labels[:, 0] = 0
        weights = rng.random(rows) if weighted else None
        options = {"average": average, "zero_division": zero_division}
        expected = scikit(theirs, labels, (scores > 0.5).astype(int), sample_weight=weights, **their_options, **options)
        metric = ours(**our_options, task="multilabel", num_classes=width, weighted=weighted, **options)
        metric.update(scores, labels, weights=weights)
        assert metric.eval() == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pairs
@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_weights_of_zero_equal_scikit_learn(ours, our_options, theirs, their_options, average, zero_division):
    """Classes that occur with a weight of 0 only are classes."""
    for seed in range(20):
        predictions, labels, classes = multiclass(seed)
        weights = (np.random.default_rng(seed).random(labels.size) * (labels % 3 == 0)).round(1)
        weights[0] = 0.5
        kept = labels != -100
        options = {"average": average, "zero_division": zero_division}
        given = {**their_options, **options, "sample_weight": weights[kept]}
        expected = scikit(theirs, labels[kept], predictions[kept], **given)
        metric = ours(**our_options, num_classes=classes if seed % 2 else None, weighted=True, **options)
        metric.update(predictions, labels, weights=weights)
        assert metric.eval() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        every = scikit(theirs, labels[kept], predictions[kept], labels=range(classes), **given)
        metric = ours(**our_options, num_classes=classes, labels_present_only=False, weighted=True, **options)
        assert metric(predictions, labels, weights=weights) == pytest.approx(every, abs=1e-12, nan_ok=True)


@pairs
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples"])
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_multilabel_weights_of_0_equal_scikit_learn(ours, our_options, theirs, their_options, average, zero_division):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        decided, labels = rng.integers(0, 2, (9, 4)), rng.integers(0, 2, (9, 4)) * (rng.random((9, 1)) < 0.5)
        weights = np.where(labels.any(axis=1), 0.0, rng.random(9)) * (rng.random(9) < 0.5)
        weights[0] = 0.5
        options = {"average": average, "zero_division": zero_division}
        expected = scikit(theirs, labels, decided, sample_weight=weights, **their_options, **options)
        metric = ours(**our_options, task="multilabel", weighted=True, **options)
        assert metric(decided, labels, weights=weights) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pairs
@pytest.mark.parametrize("zero_division", [0.0, 1.0, math.nan])
def test_weighted_averages_without_labels_equal_scikit_learn(ours, our_options, theirs, their_options, zero_division):
    options = {"average": "weighted", "zero_division": zero_division}
    labels, decided = np.zeros((3, 3), int), np.array([[1, 0, 0], [0, 0, 0], [1, 0, 0]])
    expected = scikit(theirs, labels, decided, **their_options, **options)
    value = ours(**our_options, task="multilabel", **options)(decided, labels)
    assert value == pytest.approx(expected, nan_ok=True)
    expected = scikit(theirs, [0, 0], [1, 2], labels=[1, 2, 3], **their_options, **options)
    value = ours(**our_options, num_classes=4, classes=[1, 2, 3], **options)([1, 2], [0, 0])
    assert value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("present_only", [False, True])
def test_a_million_declared_classes_cost_what_the_classes_seen_cost(weighted, present_only):
    metric = F1Score(
        num_classes=10**6, average="macro", labels_present_only=present_only, weighted=weighted, zero_division=1.0
    )
    for _ in range(3):
        metric.update([5, 7], [5, 9], weights=[1.0, 2.0] if weighted else None)
    assert len(metric._states["classes"].value) < 12
    expected = 1 / 3 if present_only else (1 + 10**6 - 3) / 10**6  # class 5 is right, 7 and 9 are wrong
    assert metric.eval() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", [F1Score, HammingLoss, MatthewsCorrCoef, Accuracy, ConfusionMatrix])
def test_weights_of_any_magnitude_give_the_value_of_their_ratios(metric):
    decided, labels, weights = [0, 1, 1, 0, 1], [0, 1, 0, 0, 0], np.array([1.0, 2.0, 0.5, 1.0, 4.0])
    expected = float(metric(weighted=True)(decided, labels, weights=weights))
    for scale in (2.0**-1070, 2.0**1021):
        score = metric(weighted=True)(decided, labels, weights=weights * scale)
        assert score == expected
        json.dumps(score.parts)


@pytest.mark.parametrize(
    "metric",
    [F1Score, JaccardIndex, HammingLoss, ConfusionMatrix, MatthewsCorrCoef, BrierScore, LogLoss, CalibrationError],
)
def test_multilabel_rows_of_two_widths_are_refused_whoever_brings_them(metric):
    one, other = metric(task="multilabel"), metric(task="multilabel")
    one.update(np.float32([[0.2, 0.9]]), [[0, 1]])
    with pytest.raises(ValueError, match="rows of 2 labels and of 3: say num_classes="):
        one.update(np.float32([[0.2, 0.9, 0.1]]), [[0, 1, 1]])
    other.update(np.float32([[0.2, 0.9, 0.1]]), [[0, 1, 1]])
    with pytest.raises(ValueError, match="rows of 2 labels and of 3: say num_classes="):
        one.merge(other)
    one._states["widths"].merge(other._states["widths"])  # as the ranks of a distributed metric do
    with pytest.raises(ValueError, match="rows of 2 labels and of 3: say num_classes="):
        one.eval()


@pytest.mark.parametrize(
    "make",
    [F1Score, JaccardIndex, HammingLoss, ConfusionMatrix, CohenKappa, BrierScore, LogLoss, CalibrationError]
    + [MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef],
)
def test_sample_ids_that_counts_cannot_honour_are_refused(make):
    with pytest.raises(ValueError, match="leave repeated samples out by a mask"):
        make().update([0.0, 1.0], [0, 1], None, [7, 7])


@pairs
def test_binary_equals_scikit_learn_for_every_form_of_prediction(ours, our_options, theirs, their_options):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 30)
        logits = rng.normal(size=30).astype(np.float32)
        expected = scikit(theirs, labels, (logits > 0).astype(int), **their_options)
        forms = [
            ({"task": "binary", "threshold": 0.0}, logits),
            ({"task": "binary", "threshold": 0.0}, logits[:, None]),
            ({"task": "binary"}, 1 / (1 + np.exp(-logits.astype(np.float64)))),
            ({"task": "binary"}, logits > 0),
            ({}, np.stack([-logits, logits], axis=1)),
            ({"num_classes": 2}, ms.Tensor(np.stack([-logits, logits], axis=1))),
            ({"task": "binary"}, ms.Tensor((logits > 0).astype(np.int32))),
        ]
        for options, predictions in forms:
            metric = ours(**our_options, **options)
            metric.update(predictions, labels)
            assert metric.eval() == pytest.approx(expected, abs=1e-12)


def test_a_macro_value_does_not_depend_on_num_classes_unless_all_classes_are_asked_for():
    # torchmetrics #1664: 7/9 over the classes that occur; scikit-learn with labels=range(8) gives 7/24
    for classes in (3, 4, 8):
        metric = F1Score(num_classes=classes, average="macro")
        metric.update([2, 1, 0, 1], [2, 1, 0, 0])
        assert metric.eval() == 7 / 9
    metric = F1Score(num_classes=8, average="macro", labels_present_only=False)
    metric.update([2, 1, 0, 1], [2, 1, 0, 0])
    assert metric.eval() == pytest.approx(7 / 24)


def test_a_chosen_subset_of_classes_equals_scikit_learns_labels_argument():
    predictions, labels = [0, 1, 1, 1, 3, 1], [0, 4, 1, 0, 3, 0]
    metric = Precision(average="micro", classes=[1, 3])
    metric.update(predictions, labels)
    assert metric.eval() == sk.precision_score(labels, predictions, labels=[1, 3], average="micro") == 0.4


def test_auto_is_binary_for_two_classes_and_macro_otherwise():
    two = F1Score()
    two.update([1, 0, 1], [1, 1, 0])
    assert two.eval() == 0.5  # TP 1, FP 1, FN 1
    three = F1Score()
    three.update(np.eye(3)[[1, 0, 1]], [1, 1, 0])  # the scores say that there are three classes
    assert three.eval() == 0.25  # class 0: 0, class 1: 1/2, class 2 does not occur


def test_top_k_counts_a_label_among_the_k_highest_and_ties_go_to_the_lower_id():
    scores = [[0.9, 0.1, 0.0], [0.9, 0.1, 0.0], [0.9, 0.1, 0.0]]
    for k in (1, 2):  # torchmetrics #2418: class 0 has 2 of 2, class 2 ranks third, class 1 has no labels
        metric = Recall(num_classes=3, average="macro", top_k=k)
        metric.update(scores, [0, 0, 2])
        assert metric.eval() == 0.5
    tied = Recall(num_classes=3, average="micro", top_k=2)
    tied.update([[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]], [1, 2])
    assert tied.eval() == 0.5


def test_leading_axes_masks_and_ignored_positions_are_as_if_left_out():
    rng = np.random.default_rng(3)
    scores, labels = rng.normal(size=(4, 5, 6)).astype(np.float32), rng.integers(0, 6, (4, 5))
    mask = rng.random((4, 5)) < 0.7
    labels[1] = -100
    scores[1] = np.nan
    metric = F1Score(average="macro")
    metric.update(scores, labels, mask)
    kept = mask & (labels != -100)
    decided = np.where(np.isnan(scores), 0, scores).argmax(-1)
    assert metric.eval() == pytest.approx(sk.f1_score(labels[kept], decided[kept], average="macro"), abs=1e-12)
    assert metric.result()["samples"] == int(kept.any(axis=1).sum())


def test_a_vocabulary_of_classes_keeps_only_the_classes_seen():
    metric = F1Score(num_classes=151936, average="macro")
    metric.update([5, 151935, 7], [5, 151935, 9])
    assert metric.eval() == 0.5  # 1, 1, and 0 for classes 7 and 9
    assert sorted(metric._states["classes"].value) == [5, 7, 9, 151935]
    assert metric.result()["per_class"]["class"] == [5, 7, 9, 151935]


def test_bfloat16_and_half_precision_scores_decide_as_the_values_they_hold():
    scores = ms.Tensor([[1.0, 1.001], [0.5, 0.25]], ms.bfloat16)  # 1.001 rounds to 1.0 in bfloat16: the lower id wins
    metric = Precision(average="micro")
    metric.update(scores, [0, 0])
    assert metric.eval() == 1.0
    metric.clear()
    metric.update(np.float16([[1.0, 1.001], [0.5, 0.25]]), [1, 0])
    assert metric.eval() == 1.0


def test_constant_decisions_absent_classes_and_single_samples_have_the_documented_value():
    never = Precision(task="binary")
    never.update([0, 0], [1, 1])
    assert never.eval() == 0.0
    for zero_division, value in ((1.0, 1.0), (0.0, 0.0)):
        empty = F1Score(task="binary", zero_division=zero_division)
        empty.update([0], [0])
        assert empty.eval() == value
    undefined = Recall(task="binary", zero_division=math.nan)
    undefined.update([1], [0])
    assert math.isnan(undefined.eval())


@pytest.mark.parametrize(
    ("options", "predictions", "labels", "message"),
    [
        ({"num_classes": 3}, [0, 1], [0, -1], r"labels must be class ids in \[0, 3\) or -100 \(ignored\), but got -1"),
        ({"num_classes": 3}, [0, 1], [0, 3], "labels must be class ids .* but got 3"),
        ({"num_classes": 3}, [0, 3], [0, 1], r"predictions must be class ids in \[0, 3\), but got 3"),
        ({}, [0, -1], [0, 1], "predictions must be class ids >= 0, but got -1"),
        ({}, [0, 1, 1], [0, 1], "predictions must have the shape of labels"),
        ({}, np.zeros(0, int), np.zeros(0, int), "must hold at least one label"),
        ({"num_classes": 4}, np.zeros((2, 3)), [0, 1], "must have 4 scores on the last axis, but got 3"),
        ({}, [[0.1, np.nan], [0.2, 0.1]], [0, 1], "must not be NaN"),
        ({"task": "binary"}, [0.1, np.nan], [0, 1], "must not be NaN"),
        ({"task": "binary"}, [0.1, 1.5], [0, 1], r"must be probabilities in \[0, 1\] .* for logits say threshold=0.0"),
        ({"task": "binary"}, [0, 1], [0, 2], r"labels must be class ids in \[0, 2\)"),
        ({}, [0.5, 1.0], [0, 1], "not whole numbers, such as 0.5; scores of class 1 need task='binary'"),
        ({}, [0, 1], [0.5, 1.0], "labels must be class ids"),
        ({"top_k": 2}, [0, 1], [0, 1], "top_k=2 needs scores"),
        ({"top_k": 3}, np.zeros((2, 2)), [0, 1], "top_k=3 is more than the 2 classes"),
        ({"task": "multilabel"}, [[0, 1]], [[0, 2]], "multilabel labels must be 0 or 1, but got 2"),
        ({"task": "multilabel"}, [[0, 1]], [0, 1], "must have one shape"),
        ({"task": "multilabel", "num_classes": 3}, [[0, 1]], [[0, 1]], "num_classes=3"),
        ({"task": "multilabel"}, [[0.5, 2.0]], [[0, 1]], "must be probabilities"),
    ],
)
def test_bad_input_is_refused_with_what_was_given_and_expected(options, predictions, labels, message):
    metric = F1Score(**options)
    with pytest.raises(ValueError, match=f"For 'F1Score.update', .*{message}"):
        metric.update(predictions, labels)


@pytest.mark.parametrize("texts", [(["a", "b"], [0, 1]), ([0, 1], np.array(["a", "b"]))])
def test_texts_are_refused(texts):
    with pytest.raises(TypeError, match="must be"):
        F1Score().update(*texts)


def test_an_integer_mask_and_unannounced_weights_are_refused():
    with pytest.raises(TypeError, match="mask must be boolean"):
        F1Score().update([0, 1], [0, 1], [1, 0])
    with pytest.raises(ValueError, match="weighted=True"):
        F1Score().update([0, 1], [0, 1], weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="weights must be finite and >= 0"):
        F1Score(weighted=True).update([0, 1], [0, 1], weights=[1.0, -2.0])


@pytest.mark.parametrize(
    "options",
    [
        {"task": "regression"},
        {"average": "mean"},
        {"average": "samples"},
        {"average": "binary", "task": "multiclass"},
        {"zero_division": 0.5},
        {"top_k": 0},
        {"num_classes": 3, "task": "binary"},
        {"num_classes": 0},
        {"classes": [3], "num_classes": 3},
        {"threshold": float("nan")},
        {"threshold": float("inf")},
        {"threshold": "0.5"},
        {"threshold": True},
        {"top_k": 1.5},
        {"ignore_index": -100.5},
        {"ignore_index": "1"},
        {"top_k": 4, "num_classes": 3},
        {"average": "binary", "num_classes": 3},
        {"labels_present_only": "x"},
        {"weighted": 1},
        {"num_classes": float("nan")},
        {"num_classes": 2.5},
        {"num_classes": "3"},
        {"zero_division": "warn"},
        {"zero_division": True},
        {"classes": [0.5]},
        {"classes": 3},
    ],
)
def test_unknown_arguments_are_refused(options):
    with pytest.raises((ValueError, TypeError), match="For 'Precision', .*but got"):
        Precision(**options)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: FBetaScore(-1.0), "FBetaScore"),
        (lambda: FBetaScore("2"), "FBetaScore"),
        (lambda: JaccardIndex(threshold=None), "JaccardIndex"),
        (lambda: HammingLoss(threshold=None), "HammingLoss"),
        (lambda: ConfusionMatrix(normalize="rows"), "ConfusionMatrix"),
        (lambda: MatthewsCorrCoef(threshold=float("nan")), "MatthewsCorrCoef"),
        (lambda: CohenKappa(weights="cubic"), "CohenKappa"),
        (lambda: AUROC(average="mean"), "AUROC"),
        (lambda: ROC(mode="fast"), "ROC"),
        (lambda: CalibrationError(n_bins=0), "CalibrationError"),
        (lambda: BrierScore(task="regression"), "BrierScore"),
        (lambda: LogLoss(eps=1.0), "LogLoss"),
    ],
)
def test_errors_of_construction_name_the_metric_once(make, name):
    with pytest.raises(ValueError, match=f"^For '{name}', (?!For)"):
        make()


@pytest.mark.parametrize(
    ("options", "average", "value"),
    [  # class 0: labels 3, decisions 2, both 2; class 1: labels 1, decisions 2, both 1
        ({}, "binary", 2 / 3),
        ({"num_classes": 2}, "binary", 2 / 3),
        ({"task": "binary"}, "binary", 2 / 3),
        ({"task": "multiclass"}, "macro", (4 / 5 + 2 / 3) / 2),
        ({"task": "multiclass", "num_classes": 2}, "macro", (4 / 5 + 2 / 3) / 2),
        ({"num_classes": 3}, "macro", (4 / 5 + 2 / 3) / 2),
        ({"average": "none"}, "macro", (4 / 5 + 2 / 3) / 2),
    ],
)
def test_result_says_which_average_auto_took(options, average, value):
    metric = F1Score(**options)
    metric.update([0, 1, 0, 1], [0, 1, 0, 0])
    assert metric.eval() == pytest.approx(value, abs=1e-15)
    assert metric.result()["average"] == average


def test_weights_must_come_where_they_were_announced():
    for metric in (F1Score(weighted=True), HammingLoss(weighted=True), AUROC(weighted=True)):
        with pytest.raises(ValueError, match="weights= must be given"):
            metric.update([0, 1], [0, 1])
    with pytest.raises(ValueError, match="For 'MeanAbsoluteError.update', weights= must be given"):
        MeanAbsoluteError(weighted=True).update([0.5], [1.0])


ONE_HOT = np.eye(3, dtype=np.int64)


@pytest.mark.parametrize("metric", [F1Score, JaccardIndex, ConfusionMatrix, HammingLoss, CohenKappa])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, bool])
def test_what_looks_one_hot_is_pointed_out(metric, dtype):
    with pytest.warns(RuntimeWarning, match="look one-hot.*argmax.*multilabel"):
        metric().update(ONE_HOT[[0, 1, 2]].astype(dtype), ONE_HOT[[0, 1, 1]].astype(dtype))


@pytest.mark.parametrize(
    ("options", "predictions", "labels"),
    [
        ({"task": "multilabel"}, ONE_HOT, ONE_HOT),
        ({"task": "multiclass"}, ONE_HOT, ONE_HOT),
        ({}, ONE_HOT, 1 - ONE_HOT),
        ({}, ONE_HOT[:1], ONE_HOT[:1]),  # one row may look so by chance
        ({}, 2 * ONE_HOT, ONE_HOT),
    ],
)
def test_ids_and_flags_are_not_taken_for_one_hot(options, predictions, labels, recwarn):
    F1Score(**options).update(predictions, labels)
    assert not recwarn.list


def test_scores_against_one_hot_labels_say_what_to_do():
    with pytest.raises(ValueError, match=r"labels.argmax\(-1\)"):
        F1Score().update(np.float32([[0.2, 0.8], [0.6, 0.4]]), ONE_HOT[:2, :2])


def test_binary_average_of_three_classes_is_refused():
    metric = F1Score(average="binary")
    metric.update([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="average='binary' is for two classes"):
        metric.eval()


@pytest.mark.parametrize(
    ("predictions", "labels", "message"),
    [
        ([256], ms.Tensor([257.0], ms.bfloat16), "labels must be integers: bfloat16 merges numbers from 256 on"),
        (ms.Tensor([513.0], ms.bfloat16), [512], "predictions must be integers: bfloat16 merges numbers from 256 on"),
        ([0, 1], np.array([0, 2**64 - 100], np.uint64), "labels must fit int64, but got 18446744073709551516"),
        (np.array([0, 2**64 - 1], np.uint64), [0, 1], "predictions must fit int64, but got 18446744073709551615"),
    ],
)
def test_ids_that_a_dtype_or_a_conversion_would_change_are_refused(predictions, labels, message):
    with pytest.raises(ValueError, match=message):
        F1Score(task="multiclass").update(predictions, labels)


@pytest.mark.parametrize("metric", [F1Score, Accuracy])
@pytest.mark.parametrize("task", ["binary", "multilabel"])
@pytest.mark.parametrize(
    ("score", "threshold"),
    [
        (np.float16(0.9997), 0.9999),  # 0.99951171875 in float16, in which the threshold would be 1
        (np.float16(1.0), 0.9999),
        (np.float32(0.1), 0.1),  # 0.100000001490116... > 0.1000000000000000055
        (np.float32(0.7), 0.7),  # 0.699999988079071... < 0.7
        (np.float64(0.1), 0.1),
    ],
)
def test_scores_of_any_dtype_are_compared_with_the_threshold_as_the_numbers_they_are(metric, task, score, threshold):
    decided = Fraction(float(score)) > Fraction(threshold)
    shape = (2, 1) if task == "multilabel" else (2,)
    scores, labels = np.full(shape, score), np.ones(shape, int)
    assert metric(task=task, threshold=threshold)(scores, labels) == float(decided)
    assert metric(task=task, threshold=threshold)(ms.Tensor(scores), labels) == float(decided)


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_averages_of_ratios_of_any_magnitude_are_those_of_fractions(average):
    labels, decisions = [0, 1, 1, 0], [0, 0, 1, 1]
    weights = [1e-40, 1.0, 1e-60, 3.0]  # precision: 1e-40 / (1e-40 + 1) and 1e-60 / (1e-60 + 3)
    precision = Precision(average=average, weighted=True, task="multiclass")
    value = precision(decisions, labels, weights=weights)
    exact = [Fraction(w) for w in weights]
    ratios = [exact[0] / (exact[0] + exact[1]), exact[2] / (exact[2] + exact[3])]
    supports = [exact[0] + exact[3], exact[1] + exact[2]] if average == "weighted" else [1, 1]
    assert value == float(sum(r * s for r, s in zip(ratios, supports)) / sum(supports))
    assert value == pytest.approx(
        sk.precision_score(labels, decisions, average=average, sample_weight=weights), rel=1e-12
    )


def test_a_tiny_ratio_of_a_heavy_class_is_not_cut_for_a_large_one_of_a_light_class():
    labels, decisions = [0, 1, 1], [0, 1, 0]
    weights = [1e-250, 1e-130, 1.0]  # recalls 1 and about 1e-130, weighing 1e-250 and 1
    recall = Recall(average="weighted", weighted=True, task="multiclass")
    assert recall(decisions, labels, weights=weights) == pytest.approx(1e-130, rel=1e-12)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="longdouble is float64 here")
@pytest.mark.parametrize("metric", [F1Score(task="binary"), Accuracy(task="binary"), Recall(weighted=True)])
def test_floats_wider_than_float64_are_refused(metric):
    wide = np.array([0.25, 0.75], np.longdouble)
    with pytest.raises(TypeError, match="must be float64 or narrower, but got"):
        if metric.weighted:
            metric.update([0, 1], [0, 1], weights=wide)
        else:
            metric.update(wide, [0, 1])


@pytest.mark.parametrize("metric", [F1Score, Accuracy])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_scores_of_a_single_class_are_no_scores_of_classes(metric, dtype):
    scores = np.ones((3, 1), dtype)
    with pytest.raises(ValueError, match=r"scores of at least 2 classes are needed .* see task='binary'"):
        metric().update(scores, [0, 0, 0])


def test_errors_of_evaluation_name_the_metric():
    precision = Precision(average="binary")
    precision.update([0, 1, 2], [0, 1, 2])
    with pytest.raises(ValueError, match="For 'Precision.eval', average='binary' is for two classes, but 3 classes"):
        precision.eval()


@pytest.mark.parametrize("distributed", [3, 1, 0, None, "", np.True_, ["group"]])
@pytest.mark.parametrize("make", [AUROC, F1Score, MeanAbsoluteError])
def test_distributed_is_a_flag_or_the_name_of_a_group(make, distributed):
    with pytest.raises(
        TypeError, match=f"For '{make.__name__}', distributed must be True, False or the name of a group, but got"
    ):
        make(distributed=distributed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Precision(average=np.array(["macro"])), "For 'Precision', average must be one of"),
        (lambda: Precision(zero_division=np.zeros(2)), "For 'Precision', zero_division must be 0, 1 or nan"),
        (lambda: Precision(zero_division=None), "For 'Precision', zero_division must be 0, 1 or nan"),
        (lambda: Precision(task=["binary"]), "For 'Precision', task must be one of"),
        (lambda: Precision(threshold=10**400), "For 'Precision', threshold .* must be a finite number"),
        (lambda: Accuracy(average=["micro"]), "For 'Accuracy', average must be one of"),
        (lambda: Accuracy(task=np.zeros(2)), "For 'Accuracy', task must be one of"),
        (lambda: AUROC(average=np.array(["macro"])), "For 'AUROC', average must be one of"),
        (lambda: ROC(mode=["exact"]), "For 'ROC', mode must be one of"),
        (lambda: ConfusionMatrix(normalize=np.array(["true"])), "For 'ConfusionMatrix', normalize must be one of"),
        (lambda: CohenKappa(weights=["linear"]), "For 'CohenKappa', weights must be one of"),
        (lambda: CalibrationError(norm=["l1"]), "For 'CalibrationError', norm must be one of"),
        (lambda: CalibrationError(norm=None), "For 'CalibrationError', norm must be one of"),
        (lambda: CalibrationError(n_bins=10**12), "For 'CalibrationError', n_bins must be at most 65536"),
        (lambda: CalibrationError(n_bins=0), "For 'CalibrationError', n_bins must be at least 1"),
        (lambda: F1Score(average="binary", classes=[1]), "For 'F1Score', classes are those of micro, macro"),
        (lambda: F1Score("multilabel", average="samples", classes=[1]), "For 'F1Score', classes are those of micro"),
    ],
)
def test_arguments_of_another_kind_are_refused_by_name(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize("metric", [F1Score, Accuracy, HammingLoss, ConfusionMatrix])
@pytest.mark.parametrize("options", [{"task": "binary"}, {"num_classes": 2}, {"task": "multiclass"}])
def test_a_threshold_that_scores_of_two_classes_would_ignore_is_refused(metric, options):
    scores, labels = np.float32([[0.4, 0.6], [0.1, 0.9]]), [0, 1]
    with pytest.raises(ValueError, match=r"threshold=0.7 decides scores of a single class, but predictions \[2, 2\]"):
        metric(**options, threshold=0.7).update(scores, labels)
    for same in (0.5, 0.0):  # of two probabilities, and of two logits, the higher one is above it
        assert metric(**options, threshold=same)(scores, labels) == metric(**options)(scores, labels)


@pytest.mark.parametrize("options", [{}, {"num_classes": 2}, {"task": "binary"}])
@pytest.mark.parametrize("classes", [[0], [1], [0, 1]])
def test_auto_honours_the_classes_asked_for(options, classes):
    labels, decisions = [0, 1, 1, 0, 1], [0, 0, 1, 1, 1]
    f1 = F1Score(classes=classes, **options)
    assert f1(decisions, labels) == pytest.approx(
        sk.f1_score(labels, decisions, labels=classes, average="macro"), abs=1e-15
    )


ANYTHING = {  # where the mask is False: predictions, labels
    "labels": (1, np.nan),
    "huge labels": (1, np.uint64(2**64 - 1)),
    "ids": (np.uint64(2**63), 1),
    "broken ids": (np.nan, 1),
    "infinite labels": (1, np.inf),
}


@pytest.mark.parametrize("metric", [F1Score, Accuracy, HammingLoss, ConfusionMatrix, CohenKappa, MatthewsCorrCoef])
@pytest.mark.parametrize("task", ["classification", "multiclass", "binary", "multilabel"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rest", ANYTHING.values(), ids=ANYTHING)
def test_what_the_mask_leaves_out_may_hold_anything(metric, task, weighted, rest):
    def column(values, last):
        dtype = last.dtype if isinstance(last, np.generic) else np.float64 if isinstance(last, float) else np.int64
        return np.array([*values, last], dtype)

    decisions, labels = column([0, 1, 1, 0], rest[0]), column([0, 1, 0, 0], rest[1])
    weights = [{"weights": np.array([1.0, 2.0, 3.0, 4.0, np.nan])[:n]} if weighted else {} for n in (5, 4)]
    mask = np.array([True] * 4 + [False])
    if task == "multilabel":
        decisions, labels = decisions[:, None], labels[:, None]
    expected = metric(task=task, weighted=weighted)(
        [[0], [1], [1], [0]] if task == "multilabel" else [0, 1, 1, 0], labels[:4].astype(int), **weights[1]
    )
    assert metric(task=task, weighted=weighted)(decisions, labels, mask, **weights[0]) == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("label", [np.nan, 7.5, -np.inf])
def test_scores_of_what_the_mask_leaves_out_may_hold_anything(weighted, label):
    scores = np.array([0.25, 0.75, 0.5, np.nan])
    columns = np.stack([1 - scores, scores], axis=1)
    labels, mask = np.array([0, 1, 1, label]), np.array([True, True, True, False])
    weights = [{"weights": np.array([1.0, 2.0, 3.0, -1.0])[:n]} if weighted else {} for n in (4, 3)]
    for metric, given in (
        (AUROC(weighted=weighted), scores),
        (AUROC(weighted=weighted), columns),
        (AUROC("multiclass", 2, weighted=weighted), columns),
        (BrierScore(weighted=weighted), columns),
        (LogLoss(weighted=weighted), scores),
        (Accuracy(weighted=weighted), columns),
        (F1Score(weighted=weighted), columns),
        (F1Score("binary", weighted=weighted), scores),
        (MeanSquaredError(weighted=weighted), scores),
    ):
        assert metric(given, labels, mask, **weights[0]) == metric(given[:3], labels[:3], **weights[1])


def test_masked_multilabel_scores_may_be_integers_that_float64_cannot_hold():
    scores, labels = np.array([[1, 2], [3, 2**60 + 1], [0, 5]]), np.array([[0, 1], [1, 0], [0, 0]])
    mask = np.array([[True, True], [True, False], [True, True]])
    assert (
        AUROC("multilabel", 2)(scores, labels, mask) == 1.0 - 0.5
    )  # column 0: 1; column 1: 5 ranks above the positive
    with pytest.raises(ValueError, match="integer scores must lie within"):
        AUROC("multilabel", 2).update(scores, labels)


def test_what_counts_is_checked_beside_a_mask():
    mask = [True, False]
    for labels in ([np.nan, 0.0], [0.5, 0.0]):
        for metric in (F1Score(), Accuracy(), AUROC(), BrierScore()):
            with pytest.raises(ValueError, match="labels must be class ids"):
                metric.update([1, 0] if metric.name in ("f1_score", "accuracy") else [0.5, 0.5], labels, mask)
    with pytest.raises(ValueError, match="weights must be finite and >= 0 where a label counts"):
        F1Score(weighted=True).update([0, 1], [0, 1], mask, weights=[np.nan, 1.0])
    with pytest.raises(ValueError, match="bfloat16 merges numbers from 256 on"):
        F1Score().update([256, 0], ms.Tensor([256, 0], ms.bfloat16), mask)


@pytest.mark.parametrize("metric", [F1Score, Accuracy])
@pytest.mark.parametrize(
    ("options", "prediction", "label", "value"),
    [
        ({"task": "multiclass"}, 2, 2, 1.0),
        ({"task": "multiclass"}, np.float32([0.1, 0.7, 0.2]), 1, 1.0),
        ({"task": "multiclass"}, [1, 3, 2], 2, 0.0),
        ({"task": "binary"}, 0.75, 1, 1.0),
        ({"task": "binary"}, [0.75], 1, 1.0),
        ({"task": "binary"}, np.float32([0.75, 0.25]), 1, 0.0),
    ],
)
def test_a_label_without_axes_is_a_batch_of_one(metric, options, prediction, label, value):
    assert metric(**options)(prediction, label) == value
    assert metric(**options)(prediction, np.int64(label)) == value
    assert metric(**options)(prediction, ms.Tensor(label, ms.int32)) == value


@pytest.mark.parametrize("metric", [Precision, Recall, F1Score, FBetaScore, JaccardIndex])
@pytest.mark.parametrize("declared", [None, 2])
def test_columns_that_multilabel_rows_do_not_have_are_refused(metric, declared):
    # scikit-learn: All labels must be in [0, n labels)
    with pytest.raises(ValueError, match=r"classes must be c.* but got \[(1, )?2\]"):
        metric(task="multilabel", average="macro", classes=[2], num_classes=declared).update([[1, 0]], [[1, 0]])
    assert metric(task="multilabel", average="macro", classes=[1])([[1, 1]], [[1, 1]]) == 1


@pytest.mark.parametrize("seed", range(20))
def test_macro_recall_is_the_macro_accuracy_of_torchmetrics(seed):
    """Which is the mean of tp / (tp + fn) over the classes with tp + fp + fn > 0, 0 / 0 being 0."""
    predictions, labels = np.random.default_rng(seed).integers(0, 5, (2, 6))
    shares = [
        (np.mean(predictions[labels == place] == place) if (labels == place).any() else 0.0)
        for place in range(5)
        if place in predictions or place in labels
    ]
    assert Recall(average="macro", num_classes=5)(predictions, labels) == pytest.approx(np.mean(shares), abs=1e-15)
