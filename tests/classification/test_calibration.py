"""Calibration error, Brier score and log loss against scikit-learn and plain definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from mindeval import BrierScore, CalibrationError, F1Score, LogLoss, MetricCollection
from mindeval.classification import _softmax


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def binned_errors(confidence: list[float], right: list[bool], bins: int) -> tuple[float, float]:
    """ECE and MCE from exact fractions: the paper's sum over bins ((m-1)/M, m/M]."""
    edges = [m / bins for m in range(bins + 1)]
    gaps = []
    for m in range(bins):
        inside = [i for i, c in enumerate(confidence) if (edges[m] < c or m == 0) and c <= edges[m + 1]]
        if inside:
            gap = abs(sum(Fraction(confidence[i]) for i in inside) - sum(bool(right[i]) for i in inside))
            gaps.append((len(inside), gap))
    return float(sum(g for _, g in gaps) / len(confidence)), max(float(g / n) for n, g in gaps)


@pytest.mark.parametrize("bins", [1, 10, 15])
def test_calibration_error_is_the_papers_sum_over_bins(bins):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        probabilities = softmax(3 * rng.normal(size=(50, 4)))
        if seed % 2:
            probabilities = rng.permuted(np.tile([0.7, 0.1, 0.1, 0.1], (50, 1)), axis=1)  # on the edge of a bin
        labels = rng.integers(0, 4, 50)
        metric = CalibrationError(n_bins=bins)
        metric.update(probabilities[:20], labels[:20])
        metric.update(probabilities[20:], labels[20:])
        best = probabilities.argmax(axis=1)
        ece, mce = binned_errors(probabilities.max(axis=1).tolist(), (best == labels).tolist(), bins)
        assert metric.eval() == ece
        assert metric.result()["mce"] == mce


def test_bins_equal_scikit_learns_calibration_curve():
    rng = np.random.default_rng(0)
    labels, probabilities = rng.integers(0, 2, 300), np.round(rng.random(300), 1)
    metric = CalibrationError(n_bins=10)
    metric.update(probabilities, labels)
    metric.eval()
    bins = metric.result()["bins"]
    accuracy, confidence = calibration_curve(labels, probabilities, n_bins=10)
    assert [part for part in bins["accuracy"] if part is not None] == pytest.approx(accuracy.tolist())
    assert [part for part in bins["confidence"] if part is not None] == pytest.approx(confidence.tolist())


def test_confidence_1_is_in_the_last_bin_and_0_in_the_first():
    # torchmetrics #3510: a confidence of 1.0 falls out of the last bin
    metric = CalibrationError(n_bins=4)
    metric.update([1.0, 1.0, 0.0], [1, 0, 0])
    assert metric.eval() == pytest.approx(1 / 3)
    assert metric.result()["bins"]["count"] == [1, 0, 0, 2]
    assert metric.result()["mce"] == 0.5


@pytest.mark.parametrize("bins", [1, 2, 7, 1000, 65536])
@pytest.mark.parametrize("cuts", [[], [1, 2, 3, 500], [70_000]])
def test_sums_of_confidence_are_exact_in_any_number_of_bins_and_batches(bins, cuts):
    rng = np.random.default_rng(bins)
    n = 80_000 if cuts == [70_000] else 1000
    confidence = rng.random(n) * 10.0 ** rng.integers(-20, 1, n)
    confidence[:6] = [0.0, 1.0, 5e-324, 2.0**-16, np.nextafter(2.0**-16, 1), np.nextafter(1, 0)]
    labels = rng.integers(0, 2, n)
    metric = CalibrationError(n_bins=bins)
    for part in np.split(np.arange(n), cuts):
        metric.update(confidence[part], labels[part])
    table = [[0, 0, Fraction(0)] for _ in range(bins)]
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], confidence)
    for place, label, number in zip(places.tolist(), labels.tolist(), confidence.tolist()):
        row = table[place]
        row[0], row[1], row[2] = row[0] + 1, row[1] + label, row[2] + Fraction(number)
    assert metric.eval() == float(sum(abs(right - total) for _, right, total in table) / n)
    columns = metric.result()["bins"]
    assert columns["count"] == [count for count, _, _ in table]
    assert columns["confidence"] == [float(total / count) if count else None for count, _, total in table]


def test_bins_filled_by_small_and_large_batches_are_the_same_state():
    rng = np.random.default_rng(0)
    confidence, labels = rng.random(500), rng.integers(0, 2, 500)
    whole, apart = CalibrationError(n_bins=1000), CalibrationError(n_bins=1000)
    whole.update(confidence, labels)
    for place in range(0, 500, 5):
        apart.update(confidence[place : place + 5], labels[place : place + 5])
    assert whole.state_dict() == apart.state_dict()


def test_norm_chooses_the_value():
    probabilities, labels = [0.9, 0.8, 0.3], [1, 0, 0]  # bins of 2: gaps 0.3 (one of three), |1 - 1.7| / 2 = 0.35 (two)
    assert CalibrationError(n_bins=2, norm="l1")(probabilities, labels) == pytest.approx((0.3 + 0.7) / 3)
    assert CalibrationError(n_bins=2, norm="max")(probabilities, labels) == pytest.approx(0.35)
    expected = math.sqrt((0.3**2 + 2 * 0.35**2) / 3)
    assert CalibrationError(n_bins=2, norm="l2")(probabilities, labels) == pytest.approx(expected)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_calibration_from_logits_is_that_of_their_softmax(task):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2 if task == "binary" else 5, 40)
    logits = rng.normal(size=40) if task == "binary" else rng.normal(size=(40, 5))
    probabilities = 1 / (1 + np.exp(-logits)) if task == "binary" else softmax(logits)
    expected = CalibrationError(task=task)(probabilities, labels)
    assert CalibrationError(task=task, from_logits=True)(logits, labels) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_scores_equal_scikit_learn(weighted):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels, p = rng.integers(0, 2, 30), rng.random(30)
        labels[:2], p[2:4] = [0, 1], [0.0, 1.0]
        weights = rng.random(30) if weighted else None
        expected = sk.brier_score_loss(labels, p, sample_weight=weights)
        loss = sk.log_loss(labels, p, sample_weight=weights)
        for given in (p, p[:, None], np.stack([1 - p, p], axis=1)):
            value = BrierScore(weighted=weighted)(given, labels, weights=weights)
            assert value == pytest.approx(expected, abs=1e-12)
            assert LogLoss(weighted=weighted)(given, labels, weights=weights) == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_multiclass_scores_equal_scikit_learn(weighted):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        labels, logits = rng.integers(0, 4, 30), 5 * rng.normal(size=(30, 4))
        labels[:4] = range(4)
        p = softmax(logits)
        weights = rng.random(30) if weighted else None
        expected = sk.brier_score_loss(labels, p, sample_weight=weights, labels=range(4))
        loss = sk.log_loss(labels, p, sample_weight=weights)
        for given, from_logits in ((p, False), (logits, True)):
            options = {"from_logits": from_logits, "weighted": weighted}
            assert BrierScore(**options)(given, labels, weights=weights) == pytest.approx(expected, abs=1e-12)
            assert LogLoss(**options)(given, labels, weights=weights) == pytest.approx(loss, rel=1e-12)


def test_ignored_labels_masks_and_leading_axes_are_as_if_left_out():
    rng = np.random.default_rng(2)
    p, labels = softmax(rng.normal(size=(3, 4, 5))), rng.integers(0, 5, (3, 4))
    labels[0, 1], p[0, 1] = -100, np.nan
    mask = np.ones((3, 4), bool)
    mask[2] = False
    kept = mask & (labels != -100)
    metric = LogLoss()
    assert metric(p, labels, mask) == pytest.approx(sk.log_loss(labels[kept], p[kept], labels=range(5)), rel=1e-12)
    metric.update(p, labels, mask)
    metric.eval()
    assert (metric.result()["samples"], metric.result()["weight"]) == (2, 7)


def test_multilabel_is_one_binary_problem_for_each_label():
    rng = np.random.default_rng(3)
    p, labels = rng.random((10, 3)), rng.integers(0, 2, (10, 3))
    expected = sk.brier_score_loss(labels.ravel(), p.ravel())
    assert BrierScore(task="multilabel")(p, labels) == pytest.approx(expected, abs=1e-12)
    expected = sk.log_loss(labels.ravel(), p.ravel())
    assert LogLoss(task="multilabel")(p, labels) == pytest.approx(expected, rel=1e-12)
    logits = np.log(p) - np.log1p(-p)
    assert LogLoss(task="multilabel", from_logits=True)(logits, labels) == pytest.approx(expected, rel=1e-12)


def test_bfloat16_probabilities_are_the_values_they_hold():
    p = ms.Tensor([[0.7, 0.3], [0.25, 0.75]], ms.bfloat16)  # 0.3 is 0.30078125 in bfloat16
    assert BrierScore()(p, [0, 1]) == (0.30078125**2 + 0.25**2) / 2


def test_log_loss_without_clipping_is_inf_for_a_label_of_probability_0():
    assert LogLoss(eps=0.0)([0.0, 0.5], [1, 1]) == math.inf
    assert LogLoss()([0.0], [1]) == pytest.approx(-math.log(2.0**-52))
    assert LogLoss(eps=0.0)([1.0], [1]) == 0.0


def test_large_logits_neither_overflow_nor_vanish():
    # 50-digit values: log(1 + e^-40) = 4.248354255291589e-18; log(1 + e^800) = 800
    assert LogLoss(task="binary", from_logits=True)([40.0], [1]) == pytest.approx(4.248354255291589e-18, rel=1e-12)
    assert LogLoss(task="binary", from_logits=True)([800.0], [0]) == 800.0
    assert BrierScore(from_logits=True)([[1e4, -1e4]], [0]) == 0.0


def test_exp_and_log_agree_with_the_c_library_to_2_units():
    rng = np.random.default_rng(4)
    x = -np.concatenate([rng.random(2000) * 10, rng.random(2000) * 700, 10.0 ** rng.uniform(-20, 0, 2000)])
    assert np.allclose(_softmax.exp(x), np.exp(x), rtol=4.5e-16, atol=0)
    y = np.concatenate([rng.random(2000), 10.0 ** rng.uniform(-300, 300, 2000), 1 + 10.0 ** rng.uniform(-15, -1, 2000)])
    assert np.allclose(_softmax.log(y), np.log(y), rtol=4.5e-16, atol=0)


def test_each_column_of_two_is_taken_as_it_is():
    # float32 probabilities as a softmax gives them: 1 - p of the other column would be 0
    p = np.float32([[1e-10, 1], [1, 1e-12], [0.25, 0.75], [0.51, 0.5]])
    labels = np.array([0, 1, 1, 0])
    own = p[np.arange(4), labels].astype(np.float64)
    assert LogLoss()(p, labels) == pytest.approx(-np.log(own).mean(), rel=1e-12)
    assert LogLoss()(p, labels) == pytest.approx(sk.log_loss(labels, p.astype(np.float64)), rel=1e-12)
    assert BrierScore()(p, labels) == pytest.approx(sk.brier_score_loss(labels, p.astype(np.float64)), rel=1e-12)
    expected = sk.brier_score_loss(labels, p.astype(np.float64))
    assert BrierScore(task="multiclass")(p, labels) == pytest.approx(expected, rel=1e-12)
    assert BrierScore()(p[:1], [1]) == pytest.approx(float(p[0, 0]) ** 2 / 2, rel=1e-12)


LOGITS = [
    [math.inf, 0.0, 1.0],
    [math.inf, -math.inf, math.inf],
    [-math.inf, -math.inf, -math.inf],
    [math.nan, 0.0, 1.0],
    [math.inf, math.inf],
    [-math.inf, -math.inf],
    [0.0, math.inf],
    [math.inf],
    [math.nan],
]


@pytest.mark.parametrize("make", [CalibrationError, BrierScore, LogLoss])
@pytest.mark.parametrize("logits", LOGITS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_without_a_softmax_are_refused_where_a_label_counts(make, logits, dtype):
    metric = make(from_logits=True)
    rows = np.array([logits, [0.0] * len(logits)], dtype)
    with pytest.raises(ValueError, match="logits must (not be|have a finite one)"):
        metric.update(rows, [1, 0])
    metric.update(rows, [-100, 0])
    assert math.isfinite(metric.eval())


@pytest.mark.parametrize("make", [CalibrationError, BrierScore, LogLoss])
@pytest.mark.parametrize(
    "logits", [[[-math.inf, 2.0, 1.0], [0.0, -math.inf, -math.inf]], [[-math.inf, 1.0], [3.0, 2.0]]]
)
def test_a_logit_of_minus_infinity_is_a_class_of_probability_0(make, logits):
    labels = [1, 0]
    expected = make()(softmax(np.array(logits)), labels)
    assert make(from_logits=True)(logits, labels) == pytest.approx(expected, rel=1e-12)


def test_a_binary_logit_of_minus_infinity_is_probability_0():
    assert BrierScore(task="binary", from_logits=True)([-math.inf], [1]) == 1.0
    assert LogLoss(task="binary", from_logits=True)([-math.inf], [0]) == 0.0
    assert LogLoss(task="binary", from_logits=True)([-math.inf], [1]) == math.inf
    assert CalibrationError(task="binary", from_logits=True)([-math.inf], [1]) == 1.0


@pytest.mark.parametrize("make", [BrierScore, LogLoss])
@pytest.mark.parametrize("scale", [2.0**-1074, 2.0**-500, 1.0, 2.0**1023])
def test_weights_of_any_magnitude_give_the_value_of_their_ratios(make, scale):
    expected = make()([0.9, 0.8], [0, 1])
    assert make(weighted=True)([0.9, 0.8], [0, 1], weights=[scale, scale]) == pytest.approx(expected, rel=1e-15)


def test_weights_of_a_collection_go_to_the_members_that_take_them():
    metrics = MetricCollection({"ece": CalibrationError(), "brier": BrierScore(weighted=True)})
    metrics.update([0.9, 0.8], [0, 1], weights=[1.0, 3.0])
    values = metrics.eval()
    assert values["ece"] == CalibrationError()([0.9, 0.8], [0, 1])
    assert values["brier"] == pytest.approx((0.9**2 + 3 * 0.2**2) / 4, rel=1e-15)


def test_a_loss_of_infinity_counts_unless_its_weight_is_0():
    for weight, expected in ((1.0, math.inf), (0.0, math.log(2))):
        value = LogLoss(eps=0.0, weighted=True)([0.0, 0.5], [1, 1], weights=[weight, 1.0])
        assert value == pytest.approx(expected, rel=1e-15)


def test_a_probability_an_ulp_above_1_is_shown_in_full():
    with pytest.raises(ValueError, match="but got values from 0.5 to 1.0000000000000002"):
        BrierScore().update([0.5, 1 + 2.0**-52], [0, 1])
    with pytest.raises(ValueError, match="to 1.0000000000000002: for logits say threshold=0.0"):
        F1Score(task="binary").update([0.5, 1 + 2.0**-52], [0, 1])


@pytest.mark.parametrize("make", [CalibrationError, BrierScore, LogLoss])
@pytest.mark.parametrize(
    ("given", "labels", "options", "message"),
    [
        ([0.5, 1.5], [0, 1], {}, r"must lie in \[0, 1\], .* for logits say from_logits=True"),
        ([0.5, -0.1], [0, 1], {}, r"must lie in \[0, 1\]"),
        ([0.5, math.nan], [0, 1], {}, "must not be NaN"),
        ([[0.9, 0.9, 0.9]], [0], {}, "must sum to 1 over the classes, but got a row with the sum 2.7"),
        ([[0.5, 0.25, 0.25]], [3], {}, r"labels must lie in \[0, 3\)"),
        ([0.5], [2], {}, r"labels must lie in \[0, 2\)"),
        ([0.5], [-1], {}, "but got -1"),
        ([0.5, 0.5, 0.5], [0, 1], {}, "must have shape"),
        ([[0.5, 0.25, 0.25]], [0], {"num_classes": 4}, "must be those of 4 classes"),
        ([[0.5, 0.25, 0.25]], [0], {"task": "binary"}, "must be those of 2 classes"),
        ([0.5], [0.5], {}, "labels must be class ids"),
    ],
)
def test_bad_input_is_refused(make, given, labels, options, message):
    with pytest.raises(ValueError, match=message):
        make(**options).update(given, labels)


@pytest.mark.parametrize(
    "make",
    [
        lambda: CalibrationError(norm="l3"),
        lambda: CalibrationError(n_bins=0),
        lambda: LogLoss(eps=0.5),
        lambda: LogLoss(eps="0.1"),
        lambda: LogLoss(num_classes=math.nan),
        lambda: BrierScore(task="regression"),
        lambda: BrierScore(from_logits="no"),
    ],
)
def test_unknown_arguments_are_refused(make):
    with pytest.raises((ValueError, TypeError), match="^For '.*but got"):
        make()
