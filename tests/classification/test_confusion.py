"""Confusion matrix, Matthews correlation, Cohen's kappa, Jaccard index and Hamming loss against scikit-learn."""

from __future__ import annotations

import copy
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as sk

from mindeval import CohenKappa, ConfusionMatrix, MatthewsCorrCoef, exact
from mindeval.classification.hamming import HammingLoss
from mindeval.classification.jaccard import JaccardIndex


def batch(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng(seed)
    classes, n = int(rng.integers(2, 8)), int(rng.integers(2, 60))
    labels = rng.integers(0, classes, n)
    labels[rng.random(n) < 0.2] = -100
    labels[:2] = [0, classes - 1]
    return rng.integers(0, classes, n), labels, rng.random(n), classes


def quiet(function, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*inputs, **options)


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("declared", [False, True])
def test_confusion_matrix_equals_scikit_learn(normalize, weighted, declared):
    for seed in range(12):
        predictions, labels, weights, classes = batch(seed)
        kept = labels != -100
        expected = sk.confusion_matrix(
            labels[kept],
            predictions[kept],
            labels=range(classes),
            normalize=normalize,
            sample_weight=weights[kept] if weighted else None,
        )
        metric = ConfusionMatrix(num_classes=classes if declared else None, normalize=normalize, weighted=weighted)
        metric.update(predictions[:5], labels[:5], weights=weights[:5] if weighted else None)
        if len(labels) > 5:
            metric.update(predictions[5:], labels[5:], weights=weights[5:] if weighted else None)
        sample_weight = weights[kept] if weighted else None
        accuracy = sk.accuracy_score(labels[kept], predictions[kept], sample_weight=sample_weight)
        assert metric.eval() == pytest.approx(accuracy, abs=1e-12)
        assert np.allclose(metric.result()["matrix"], expected, rtol=0, atol=1e-12)
        if normalize is None and not weighted:
            assert metric.result()["matrix"] == expected.tolist()


def test_multilabel_confusion_equals_scikit_learn():
    rng = np.random.default_rng(0)
    labels, predictions = rng.integers(0, 2, (20, 3)), rng.integers(0, 2, (20, 3))
    metric = ConfusionMatrix(task="multilabel")
    metric.update(predictions, labels)
    metric.eval()
    assert metric.result()["matrix"] == sk.multilabel_confusion_matrix(labels, predictions).tolist()


def test_without_num_classes_only_the_cells_that_occur_are_kept():
    metric = ConfusionMatrix()
    metric.update([151935, 3, 3], [151935, 3, 4])
    assert metric.eval() == 2 / 3
    assert metric.result()["cells"] == [[3, 3, 1], [4, 3, 1], [151935, 151935, 1]]
    assert metric.result()["matrix"] is None
    with pytest.raises(ValueError, match="dense matrix of 23,084,548,096 cells"):
        ConfusionMatrix(num_classes=151936)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("declared", [False, True])
def test_matthews_and_kappa_equal_scikit_learn(weighted, declared):
    for seed in range(20):
        predictions, labels, weights, classes = batch(seed)
        kept = labels != -100
        truth, decided = labels[kept], predictions[kept]
        options = {"num_classes": classes if declared else None, "weighted": weighted}
        sample_weight = weights[kept] if weighted else None
        given = weights if weighted else None
        expected = sk.matthews_corrcoef(truth, decided, sample_weight=sample_weight)
        assert MatthewsCorrCoef(**options)(predictions, labels, weights=given) == pytest.approx(expected, abs=1e-12)
        for kind in (None, "linear", "quadratic"):
            expected = quiet(
                sk.cohen_kappa_score, truth, decided, weights=kind, labels=range(classes), sample_weight=sample_weight
            )
            value = CohenKappa(weights=kind, **options)(predictions, labels, weights=given)
            assert value == pytest.approx(expected, abs=1e-12)


def test_products_of_large_counts_do_not_overflow():
    # PaddleSeg #1782: tp = tn = 100000, fp = fn = 50000 gives 1/3; in int32 the numerator wraps
    labels = np.repeat([1, 0, 0, 1], [100_000, 100_000, 50_000, 50_000])
    predictions = np.repeat([1, 0, 1, 0], [100_000, 100_000, 50_000, 50_000])
    assert MatthewsCorrCoef()(predictions, labels) == 1 / 3
    assert CohenKappa()(predictions, labels) == 1 / 3
    metric = MatthewsCorrCoef(num_classes=2)  # c = 3e15, s = 4e15, t = p = 2e15: (12 - 8) / 8, beyond int64 on the way
    states = {"classes": [[15 * 10**14, 2 * 10**15, 2 * 10**15]] * 2, "samples": 1}
    metric.load_state_dict({**metric.state_dict(), "states": states})
    assert metric.eval() == 0.5


def test_constant_predictions_have_the_documented_value():
    assert MatthewsCorrCoef()([1, 1, 1], [0, 1, 1]) == 0.0
    with pytest.warns(RuntimeWarning, match="all of one class"):
        assert math.isnan(CohenKappa()([1, 1], [1, 1]))
    assert CohenKappa()([1, 1], [0, 1]) == 0.0
    assert ConfusionMatrix(num_classes=3, normalize="true")([0], [0]) == 1.0


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_jaccard_equals_scikit_learn(average):
    for seed in range(15):
        predictions, labels, weights, classes = batch(seed)
        kept = labels != -100
        for sample_weight in (None, weights):
            expected = sk.jaccard_score(
                labels[kept],
                predictions[kept],
                average=average,
                sample_weight=None if sample_weight is None else sample_weight[kept],
            )
            metric = JaccardIndex(average=average, weighted=sample_weight is not None)
            assert metric(predictions, labels, weights=sample_weight) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples"])
def test_multilabel_jaccard_equals_scikit_learn(average):
    rng = np.random.default_rng(1)
    labels, predictions = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, (30, 4))
    expected = sk.jaccard_score(labels, predictions, average=average)
    assert JaccardIndex(task="multilabel", average=average)(predictions, labels) == pytest.approx(expected, abs=1e-12)


def test_binary_jaccard_is_that_of_class_1():
    labels, predictions = [0, 1, 1, 1], [1, 1, 0, 1]
    assert JaccardIndex()(predictions, labels) == sk.jaccard_score(labels, predictions) == 0.5


def test_hamming_loss_equals_scikit_learn():
    rng = np.random.default_rng(2)
    labels, predictions, weights = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, (30, 4)), rng.random(30)
    assert HammingLoss(task="multilabel")(predictions, labels) == sk.hamming_loss(labels, predictions)
    expected = sk.hamming_loss(labels, predictions, sample_weight=weights)
    weighted = HammingLoss(task="multilabel", weighted=True)(predictions, labels, weights=weights)
    assert weighted == pytest.approx(expected, abs=1e-12)
    predictions, labels, weights, _ = batch(3)
    kept = labels != -100
    assert HammingLoss()(predictions, labels) == sk.hamming_loss(labels[kept], predictions[kept])
    expected = sk.hamming_loss(labels[kept], predictions[kept], sample_weight=weights[kept])
    assert HammingLoss(weighted=True)(predictions, labels, weights=weights) == pytest.approx(expected, abs=1e-12)


def test_ignored_flags_count_in_no_multilabel_metric():
    predictions, labels = [[1, 0, 1], [1, 1, 1]], [[1, -100, 0], [-100, -100, -100]]
    assert HammingLoss(task="multilabel")(predictions, labels) == 0.5
    assert JaccardIndex(task="multilabel", average="micro")(predictions, labels) == 0.5
    score = ConfusionMatrix(task="multilabel")(predictions, labels)
    assert score.parts["matrix"] == [[[0, 0], [0, 1]], [[0, 0], [0, 0]], [[0, 1], [0, 0]]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_distances_of_kappa_do_not_overflow(weights, weighted):
    # labels 0, 0, far, far and decisions 0, far, far, 0 (of weight 3): chance 1/2 of one distance, observed 4 of 6
    far = 2**61
    given = {"weights": [1.0, 1.0, 1.0, 3.0]} if weighted else {}
    value = CohenKappa(weights=weights, weighted=weighted)([0, far, far, 0], [0, 0, far, far], **given)
    expected = 1 - Fraction(4, 6) / Fraction(2 * 2 + 4 * 4, 36) if weighted else Fraction(0)
    assert value == float(expected)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_distances_of_kappa_travel_between_any_number_of_ranks(weights, weighted):
    """Two ranks of 2^16: what they bring adds up, though squares of such distances are beyond 64 bits."""
    far, given = 2**40, {"weights": [1.0, 2.0]} if weighted else {}
    parts = [CohenKappa(weights=weights, weighted=weighted) for _ in range(2)]
    parts[0].update([0, far], [far, 5], **given)
    parts[1].update([far, 7], [far, far - 1], **given)
    words = sum(part._states["disagreement"].pack(2**16) for part in parts)
    together = parts[0]._states["disagreement"].zero()
    together.unpack(words)
    costs = [(far, 1), (far - 5, 2), (0, 1), (far - 8, 2)]
    power = {None: 0, "linear": 1, "quadratic": 2}[weights]
    expected = sum((distance**power if distance else 0) * (weight if weighted else 1) for distance, weight in costs)
    assert exact.total(together) == expected


def test_kappa_of_weights_equals_scikit_learn_where_some_are_zero():
    rng = np.random.default_rng(8)
    labels, decided, weights = np.arange(40) % 4, rng.integers(0, 4, 40), rng.random(40) * (np.arange(40) % 3 > 0)
    for kind in (None, "linear", "quadratic"):
        expected = sk.cohen_kappa_score(labels, decided, weights=kind, sample_weight=weights)
        assert CohenKappa(weights=kind, weighted=True)(decided, labels, weights=weights) == pytest.approx(
            expected, abs=1e-12
        )


def test_a_metric_of_two_orders_of_updates_has_one_value():
    predictions, labels, _, classes = batch(5)
    values = set()
    for order in (np.arange(len(labels)), np.arange(len(labels))[::-1]):
        metric = MatthewsCorrCoef()
        for place in order:
            metric.update(predictions[place : place + 1], labels[place : place + 1])
        values.add(float(metric.eval()))
    assert len(values) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConfusionMatrix(normalize="rows"), "normalize must be one of"),
        (
            lambda: CohenKappa(weights="cubic"),
            r"weights must be one of \[None, 'linear', 'quadratic'\], but got 'cubic'",
        ),
        (lambda: ConfusionMatrix(num_classes=3)([0, 1], [0, 3]), r"labels must be class ids in \[0, 3\)"),
        (lambda: ConfusionMatrix(num_classes=3)([0, 3], [0, 1]), r"predictions must be class ids in \[0, 3\)"),
        (lambda: ConfusionMatrix(num_classes=3)([2.0, 0.5], [2, 0]), "not whole numbers"),
        (lambda: MatthewsCorrCoef()([0, 1], [0]), "must have the shape of labels"),
        (lambda: HammingLoss()([0, 1], [0, -1]), "labels must be class ids"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_float_class_ids_stay_class_ids():
    # mindspore.train.ConfusionMatrix thresholds them to 0 and 1, so class 2 is never predicted
    assert ConfusionMatrix(num_classes=3)(np.float32([2, 0, 1, 2]), [2, 0, 1, 1]).parts["matrix"][2] == [0, 0, 1]


@pytest.mark.parametrize("options", [{}, {"num_classes": 5000}, {"weighted": True}])
@pytest.mark.parametrize("metric", [MatthewsCorrCoef, CohenKappa, ConfusionMatrix])
def test_samples_are_counted_once_however_often_the_decisions_are_read(metric, options):
    if metric is ConfusionMatrix and "num_classes" in options:
        options = {"num_classes": 5}  # 5,000 would be a dense matrix
    one = metric(**options).set_distributed(expected_samples=4)
    named = {"weights": [1.0, 1.0, 1.0, 1.0]} if options.get("weighted") else {}
    one.update([0, 1, 1, 0], [0, 1, 0, 1], **named)
    one.eval()
    assert one.result()["samples"] == 4


@pytest.mark.parametrize("options", [{}, {"num_classes": 40}])
def test_weights_of_a_cell_add_up_exactly_at_any_magnitude(options):
    rng = np.random.default_rng(3)
    labels, decisions = rng.integers(0, 40, (2, 3000)) // rng.integers(1, 40, 3000)
    weights = np.ldexp(rng.random(3000), rng.integers(-1074, 900, 3000))  # subnormal numbers among them
    exact: dict[tuple[int, int], Fraction] = {}
    for label, decision, weight in zip(labels.tolist(), decisions.tolist(), weights.tolist()):
        exact[label, decision] = exact.get((label, decision), Fraction(0)) + Fraction(weight)
    metric = ConfusionMatrix(weighted=True, **options)
    for part in np.array_split(rng.permutation(3000), 7):
        metric.update(decisions[part], labels[part], weights=weights[part])
    assert metric.eval() == float(sum(v for (a, b), v in exact.items() if a == b) / sum(exact.values()))
    assert metric.result()["cells"] == [[*cell, float(value)] for cell, value in sorted(exact.items()) if value]


def test_cells_of_class_ids_whose_products_do_not_fit_64_bits_are_told_apart():
    labels, decisions = [2**62, 2**62 + 1, 5, 2**62], [2**62 + 1, 2**62, 2**62, 2**62 + 1]
    cells = [[5, 2**62, 1], [2**62, 2**62 + 1, 2], [2**62 + 1, 2**62, 1]]
    assert ConfusionMatrix()(decisions, labels).parts["cells"] == cells
    weighted = ConfusionMatrix(weighted=True)(decisions, labels, weights=[0.5, 1.0, 1.0, 1.5])
    assert weighted.parts["cells"] == [[*cell[:2], float(cell[2])] for cell in cells]


def test_small_and_large_batches_fill_one_dense_matrix():
    rng = np.random.default_rng(4)
    labels, decisions = rng.integers(0, 30, (2, 2000)) // rng.integers(1, 30, 2000)
    labels[::50] = -100
    kept = labels != -100
    expected = sk.confusion_matrix(labels[kept], decisions[kept], labels=range(30)).tolist()
    metric, other = ConfusionMatrix(num_classes=30), ConfusionMatrix(num_classes=30)
    for start, stop in ((0, 1), (1, 9), (9, 900), (900, 903), (903, 904)):
        metric.update(decisions[start:stop], labels[start:stop])
    other.update(decisions[904:910], labels[904:910])
    other.update(decisions[910:], labels[910:])
    first = metric.eval().parts["matrix"]
    merged = copy.deepcopy(metric).merge(other)
    assert merged.eval().parts["matrix"] == other.merge(metric).eval().parts["matrix"] == expected
    assert metric.eval().parts["matrix"] == first
    loaded = ConfusionMatrix(num_classes=30)
    loaded.load_state_dict(metric.state_dict())
    loaded.update(decisions[904:907], labels[904:907])
    loaded.update(decisions[907:], labels[907:])
    assert loaded.eval().parts["matrix"] == expected
    metric.clear()
    metric.update(decisions[1:2], labels[1:2])
    assert metric.eval().parts["total"] == 1
    assert loaded.eval().parts["matrix"] == expected


def test_a_small_batch_is_refused_where_a_cell_would_not_fit_64_bits():
    metric = ConfusionMatrix(num_classes=20)
    saved = metric.state_dict()
    saved["states"]["cells"][3][4], saved["states"]["samples"] = 2**63 - 2, 2**63 - 2
    metric.load_state_dict(saved)
    metric.update([4], [3])
    with pytest.raises(OverflowError, match="does not fit"):
        metric.update([4], [3])
    assert metric.eval().parts["matrix"][3][4] == 2**63 - 1
