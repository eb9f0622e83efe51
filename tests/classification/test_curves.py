"""ROC, AUROC, precision-recall curves and average precision against scikit-learn, exact and in bins."""

from __future__ import annotations

import copy
import json
import math
import warnings
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

from mindeval import AUROC, ROC, AveragePrecision, PrecisionRecallCurve, auc
from mindeval.classification import _ranking, _score_words

SCORES = {
    "probabilities": lambda rng, n: rng.random(n),
    "logits": lambda rng, n: 10 * rng.normal(size=n),
    "float32 logits": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "ties": lambda rng, n: np.round(rng.random(n), 1),
    "integers": lambda rng, n: rng.integers(-3, 4, n),
    "all magnitudes": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "zeros of both signs": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "infinities": lambda rng, n: rng.choice([-np.inf, -1.0, 0.0, np.inf], n),
}
kinds = pytest.mark.parametrize("kind", SCORES)


def binary(seed: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    labels = rng.integers(0, 2, n)
    labels[:2] = [0, 1]
    return SCORES[kind](rng, n), labels


def finite(scores: np.ndarray) -> np.ndarray:
    """scikit-learn refuses infinite scores; only the order matters."""
    return np.nan_to_num(scores, posinf=2.0, neginf=-2.0)


@kinds
def test_binary_values_equal_scikit_learn(kind):
    for seed in range(25):
        scores, labels = binary(seed, kind)
        assert AUROC()(scores, labels) == pytest.approx(sk.roc_auc_score(labels, finite(scores)), abs=1e-12)
        expected = sk.average_precision_score(labels, finite(scores))
        assert AveragePrecision()(scores, labels) == pytest.approx(expected, abs=1e-12)


@kinds
def test_area_is_the_exact_count_of_pairs(kind):
    for seed in range(10):
        scores, labels = binary(seed, kind)
        pairs = [(p, n) for p in scores[labels == 1].tolist() for n in scores[labels == 0].tolist()]
        exact = Fraction(sum(2 * (p > n) + (p == n) for p, n in pairs), 2 * len(pairs))
        assert AUROC()(scores, labels) == float(exact)
        assert ROC()(scores, labels) == float(exact)


@kinds
def test_curves_equal_scikit_learn(kind):
    if kind == "infinities":
        pytest.skip("scikit-learn refuses infinite scores")
    for seed in range(10):
        scores, labels = binary(seed, kind)
        roc, curve = ROC(), PrecisionRecallCurve()
        points = roc(scores, labels).parts
        expected = sk.roc_curve(labels, scores, drop_intermediate=False)
        for name, values in zip(("false_positive_rate", "true_positive_rate", "thresholds"), expected):
            assert points[name] == pytest.approx(values.tolist(), rel=1e-15, abs=0)
        points = curve(scores, labels).parts
        expected = sk.precision_recall_curve(labels, scores)
        for name, values in zip(("precision", "recall", "thresholds"), expected):
            assert points[name] == pytest.approx(values.tolist(), rel=1e-15, abs=0)


@kinds
def test_weighted_values_equal_scikit_learn(kind):
    for seed in range(10):
        scores, labels = binary(seed, kind)
        weights = np.random.default_rng(seed).random(labels.size)
        for ours, theirs in ((AUROC, sk.roc_auc_score), (AveragePrecision, sk.average_precision_score)):
            expected = theirs(labels, finite(scores), sample_weight=weights)
            assert ours(weighted=True)(scores, labels, weights=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("weighted", [False, True])
def test_multiclass_one_against_the_rest_equals_scikit_learn(average, weighted):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        labels = np.concatenate([np.arange(4), rng.integers(0, 4, 30)])
        logits = rng.normal(size=(34, 4))
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        weights = rng.random(34) if weighted else None
        options = {"num_classes": 4, "average": average, "weighted": weighted}
        expected = sk.roc_auc_score(labels, scores, multi_class="ovr", average=average, sample_weight=weights)
        assert AUROC(**options)(scores, labels, weights=weights) == pytest.approx(expected, abs=1e-12)
        onehot = label_binarize(labels, classes=range(4))
        expected = sk.average_precision_score(onehot, scores, average=average, sample_weight=weights)
        assert AveragePrecision(**options)(scores, labels, weights=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_multilabel_equals_scikit_learn(width, average):
    rng = np.random.default_rng(width)
    labels, scores = rng.integers(0, 2, (50, width)), np.round(rng.random((50, width)), 2)
    options = {"task": "multilabel", "num_classes": width, "average": average}
    expected = sk.roc_auc_score(labels, scores, average=average)
    assert AUROC(**options)(scores, labels) == pytest.approx(expected, abs=1e-12)
    expected = sk.average_precision_score(labels, scores, average=average)
    assert AveragePrecision(**options)(scores, labels) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("mode", ["exact", "binned"])
def test_ignored_labels_and_masks_are_as_if_left_out(mode):
    scores, labels = np.float32([0.1, 0.9, 0.4, 0.35, 0.8, np.nan]), np.array([0, -100, 0, 1, 1, 0])
    mask = np.array([True, True, True, True, True, False])
    assert AUROC(mode=mode)(scores, labels, mask) == 0.75
    flags = np.array([[0, 1], [1, -100], [1, 0]])
    rows = np.float32([[0.2, 0.7], [0.1, np.nan], [0.9, 0.1]])
    score = AUROC(task="multilabel", num_classes=2, mode=mode)(rows, flags)
    assert score.parts["per_class"] == [0.5, 1.0]
    assert score.parts["negatives"] == [1, 1]


def test_the_value_does_not_depend_on_batches_or_on_scores_leaving_0_1():
    # torchmetrics #2195: a sigmoid only for batches that leave [0, 1] gives 0.905 where the scores separate the classes
    scores = np.arange(-6, 7) / 4
    labels = (scores > 0).astype(int)
    metric = AUROC()
    for score, label in zip(scores, labels):
        metric.update([score], [label])
    assert metric.eval() == 1.0


def test_large_logits_keep_their_order():
    # torchmetrics #2819: a sigmoid in float32 makes large logits equal, and the area 0.5
    assert AUROC()([60.0, 70.0, 80.0, 90.0], [0, 0, 1, 1]) == 1.0


def test_two_columns_rank_logits_and_probabilities_alike():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(40, 2)), np.arange(40) % 2
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = sk.roc_auc_score(labels, probabilities[:, 1])
    assert AUROC()(logits, labels) == pytest.approx(expected, abs=1e-12)
    assert AUROC()(probabilities, labels) == pytest.approx(expected, abs=1e-12)
    assert AUROC()(ms.Tensor(logits.astype(np.float32)), ms.Tensor(labels)) == pytest.approx(expected, abs=1e-12)
    single = logits[:, 1:] - logits[:, :1]
    assert AUROC(task="binary")(single, labels) == pytest.approx(expected, abs=1e-12)


def of_both_classes(probabilities: np.ndarray) -> np.ndarray:
    return np.stack([1 - probabilities, probabilities], axis=1)


PAIRS = {
    "float32 probabilities near 0": lambda rng, n: np.stack([np.ones(n), 10.0 ** -rng.integers(20, 30, n)], 1).astype(
        "f4"
    ),
    "float32 probabilities": lambda rng, n: (lambda p: np.stack([1 - p, p], 1))(rng.beta(0.01, 0.01, n).astype("f4")),
    "float64 probabilities": lambda rng, n: (lambda p: np.stack([1 - p, p], 1))(rng.beta(0.01, 0.01, n)),
    "float64 logits": lambda rng, n: rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-40, 40, (n, 2)),
    "float16 logits": lambda rng, n: rng.normal(size=(n, 2)).astype(np.float16),
    "ties": lambda rng, n: rng.choice([1e-20, 2e-20, 1.0], (n, 2)),
    "integers": lambda rng, n: rng.integers(-(2**53), 2**53, (n, 2)) // rng.choice([1, 2**51], (n, 1)),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_two_columns_rank_by_their_exact_difference(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        scores, labels, weights = PAIRS[kind](rng, 40), np.arange(40) % 2, rng.random(40)
        exact = [Fraction(high) - Fraction(low) for low, high in scores.tolist()]
        ranks = np.array([sorted(set(exact)).index(difference) for difference in exact])
        for make in (AUROC, AveragePrecision, ROC, PrecisionRecallCurve):
            score, expected = make()(scores, labels), make()(ranks, labels)
            assert score == expected
            assert {**score.parts, "thresholds": 0} == {**expected.parts, "thresholds": 0}
            given = make(weighted=True)(scores, labels, weights=weights)
            assert given == make(weighted=True)(ranks, labels, weights=weights)
        if kind != "integers":
            expected = sk.roc_auc_score(labels, ranks)
            assert AUROC()(ms.Tensor(scores), ms.Tensor(labels)) == pytest.approx(expected, abs=1e-12)


def test_thresholds_of_two_columns_are_their_differences_rounded():
    points = ROC()(np.array([[1.0, 2.0**-60], [1.0, 0.0], [0.25, 0.75]]), [1, 0, 1]).parts
    assert points["thresholds"] == [math.inf, 0.5, -1.0, -1.0]


def test_only_differences_that_float64_cannot_hold_take_more_than_a_word():
    rng, metric = np.random.default_rng(0), AUROC()
    metric.update(rng.normal(size=(1000, 2)).astype(np.float32), np.arange(1000) % 2)
    metric.update(rng.normal(size=1000) * 10.0 ** rng.integers(-150, 150, 1000), np.arange(1000) % 2)
    assert (metric._states["packed"].value.nbytes, len(metric._states["wide"].value)) == (16000, 0)
    metric.update(np.array([[1.0, 1e-20]]), [1])
    assert metric._states["wide"].value.nbytes == 24


def test_infinite_columns_have_a_place_unless_their_difference_is_undefined():
    # differences: -inf, inf, inf, -inf, 0
    scores, labels = np.array([[np.inf, 0], [-np.inf, 0], [0, np.inf], [0, -np.inf], [1, 1]]), [0, 1, 1, 1, 0]
    assert AUROC()(scores, labels) == AUROC()([-2, 2, 2, -2, 0], labels)
    for row in ([np.inf, np.inf], [-np.inf, -np.inf]):
        with pytest.raises(ValueError, match="of two columns of scores one at least must be finite"):
            AUROC().update(np.array([row]), [1])
    with pytest.raises(ValueError, match="must not differ by more than float64 can hold"):
        AUROC().update(np.array([[-1.7e308, 1.7e308]]), [1])
    with pytest.raises(ValueError, match="scores must not be NaN"):
        AUROC().update(np.array([[np.nan, 1.0]]), [1])
    assert AUROC()(np.array([[np.inf, np.inf], [0, 1], [1, 0]]), [-100, 1, 0]) == 1.0


def test_integer_columns_that_float64_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match="integer scores must lie within"):
        AUROC().update(np.array([[0, 2**53 + 1], [0, 2**53 + 3]]), [1, 0])


@pytest.mark.parametrize("options", [{}, {"weighted": True}])
def test_ids_for_some_rows_only_are_refused_wherever_rows_are_kept(options):
    given = {"weights": [1.0]} if options else {}
    for first, second in ((0.5, 1e-200), (1e-200, 0.5)) if not options else (([0.0, 0.5], [1.0, 1e-20]),) * 2:
        metric = AUROC(**options)
        metric.update([first], [1], None, [3], **given)
        with pytest.raises(ValueError, match="For 'AUROC.update', some rows came with sample ids and others without"):
            metric.update([second], [0], **given)
        assert metric._states["samples"].value == 1
        metric = AUROC(**options)
        metric.update([first], [1], None, [3], **given)
        with pytest.raises(ValueError, match="'AUROC.update', sample id 3 was given twice with different contents"):
            metric.update([second], [1], None, [3], **given)
        assert metric._states["samples"].value == 1


@pytest.mark.parametrize(
    ("of_positives", "of_negatives"), [(1e300, 1e-300), (1e-320, 1e308), (1e308, 1e308), (5e-324, 1)]
)
def test_weights_of_any_magnitude_give_the_value_of_their_ratios(of_positives, of_negatives):
    scores, labels = np.array([0.1, 0.3, 0.3, 0.4, 0.8]), np.array([0, 1, 0, 0, 1])
    weights = np.where(labels == 1, of_positives, of_negatives)
    weighted = AUROC(weighted=True)(scores, labels, weights=weights)
    assert weighted == AUROC()(scores, labels)  # which does not depend on how positives weigh against negatives
    json.dumps(weighted.parts)
    precision = [Fraction(of_positives) / (Fraction(of_positives) + k * Fraction(of_negatives)) for k in (0, 1)]
    precision[1] = 2 * Fraction(of_positives) / (2 * Fraction(of_positives) + 2 * Fraction(of_negatives))
    for make in (AveragePrecision, PrecisionRecallCurve):
        value = make(weighted=True)(scores, labels, weights=weights)
        assert value == pytest.approx(float(sum(precision) / 2), rel=1e-15)


def test_weighted_averages_of_extreme_supports_are_numbers():
    scores, labels = np.random.default_rng(0).random((30, 3)), np.arange(30) % 3
    options = {"num_classes": 3, "average": "weighted", "weighted": True}
    expected = AUROC(**options)(scores, labels, weights=np.ones(30))
    assert AUROC(**options)(scores, labels, weights=np.full(30, 1.5e308)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("make", [AUROC, AveragePrecision, ROC, PrecisionRecallCurve])
def test_repeated_sample_ids_count_once(make):
    scores, labels, ids = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1]), np.array([10, 11, 12, 13])
    metric = make()
    metric.update(scores, labels, None, ids)
    metric.update(scores[:2], labels[:2], None, ids[:2])
    other = make()
    other.update(scores[2:], labels[2:], None, ids[2:])
    metric.merge(other)
    assert metric.eval() == make()(scores, labels)
    assert metric.result()["samples"] == 4


CONFLICTS = {  # what metric takes, what another has to conflict with it, both of one word or of more
    "score": ([0.3], [0]),
    "label": ([0.1], [1]),
    "wide score": ([1e-200], [0]),
    "wide score and label": ([np.inf], [1]),
}


@pytest.mark.parametrize("make", [AUROC, AveragePrecision, ROC, PrecisionRecallCurve])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", CONFLICTS.values(), ids=CONFLICTS)
@pytest.mark.parametrize("wide", [False, True])
def test_one_id_with_two_contents_is_refused_by_update_and_merge_and_nothing_of_it_is_kept(make, weighted, batch, wide):
    options = {"weights": [2.0]} if weighted else {}
    metric, other = make(weighted=weighted), make(weighted=weighted)
    for score, label, sample_id in ((1e-220 if wide else 0.1, 0, 1), (0.5, 1, 2), (0.4, 0, 3), (0.8, 1, 4)):
        metric.update([score], [label], None, [sample_id], **options)
    value, saved = metric.eval(), json.dumps(metric.state_dict())
    message = "sample id 1 was given twice with different contents"
    both = {"weights": [2.0, 2.0]} if weighted else {}
    with pytest.raises(ValueError, match=f"For '{make.__name__}.update', {message}"):
        metric.update([*batch[0], 0.9], [*batch[1], 1], None, [1, 9], **both)
    with pytest.raises(ValueError, match=f"For '{make.__name__}.update', {message}"):
        other.update([0.1, *batch[0]], [0, *batch[1]], None, [1, 1], **both)
    other.update([*batch[0], 0.9], [*batch[1], 1], None, [1, 9], **both)
    for one, two in ((metric, other), (other, metric)):
        with pytest.raises(ValueError, match=f"For '{make.__name__}.merge', {message}"):
            one.merge(two)
    assert metric.eval() == value and json.dumps(metric.state_dict()) == saved
    assert "4 samples here" in repr(metric) and "2 samples here" in repr(other)
    with pytest.raises(ValueError, match="some rows came with sample ids and others without"):
        metric.update(batch[0], batch[1], **options)
    assert metric.eval() == value


@pytest.mark.parametrize("order", ["rising", "falling", "random"])
def test_conflicts_are_found_among_many_small_updates(order):
    rng = np.random.default_rng(0)
    ids = {"rising": np.arange(300), "falling": np.arange(300)[::-1], "random": rng.permutation(300)}[order]
    scores, labels = rng.random(300), rng.integers(0, 2, 300)
    metric = AUROC()
    for start in range(0, 300, 7):
        part = ids[start : start + 7]
        metric.update(scores[part], labels[part], None, part)
        again = ids[rng.integers(0, start + 1)]  # padding repeats samples as they were
        metric.update(scores[[again]], labels[[again]], None, [again])
        with pytest.raises(ValueError, match=f"sample id {again} was given twice with different contents"):
            metric.update(scores[[again]] + 1, labels[[again]], None, [again])
    assert metric.eval() == AUROC()(scores, labels)
    assert metric.result()["samples"] == 300


def test_a_saved_state_with_an_id_of_two_contents_is_refused():
    metric, other = AUROC(), AUROC()
    metric.update([0.1], [1], None, [1])
    other.update([1e-200], [1], None, [1])
    saved = metric.state_dict()
    saved["states"]["wide"] = other.state_dict()["states"]["wide"]
    with pytest.raises(ValueError, match="For 'AUROC.load_state_dict', sample id 1 was given twice"):
        AUROC().load_state_dict(saved)
    saved = metric.state_dict()
    saved["states"]["packed"]["rows"] = [[1, 4], [1, 5]]
    with pytest.raises(ValueError, match="sample id 1 was given twice"):
        AUROC().load_state_dict(saved)


@pytest.mark.parametrize("make", [AUROC, AveragePrecision, ROC, PrecisionRecallCurve])
@pytest.mark.parametrize("mode", ["exact", "binned"])
def test_labels_of_one_kind_are_nan_with_a_warning_not_a_crash(make, mode):
    for label in (0, 1):
        metric = make(mode=mode)
        metric.update([0.2, 0.7], [label, label])
        defined = label == 1 and make in (AveragePrecision, PrecisionRecallCurve)
        if defined:
            assert metric.eval() == 1.0
        else:
            with pytest.warns(RuntimeWarning, match="is undefined"):
                assert math.isnan(metric.eval())


@pytest.mark.parametrize(
    ("make", "needs"),
    [
        (AUROC, "labels of both kinds are needed"),
        (ROC, "labels of both kinds are needed"),
        (AveragePrecision, "a positive label is needed"),
        (PrecisionRecallCurve, "a positive label is needed"),
    ],
)
def test_the_warning_says_which_labels_are_missing(make, needs):
    with pytest.warns(RuntimeWarning, match=needs):
        assert math.isnan(make()([0.2, 0.7], [0, 0]))


def test_sample_ids_with_fractions_are_refused_by_their_name():
    with pytest.raises(ValueError, match="sample_ids must be whole numbers, but got float64 values"):
        AUROC().update([0.2, 0.7], [0, 1], sample_ids=[0.5, 1.0])


def test_classes_without_positives_are_left_out_of_the_mean_with_a_warning():
    scores, labels = np.random.default_rng(0).random((20, 3)), np.arange(20) % 2
    metric = AUROC(num_classes=3)
    with pytest.warns(RuntimeWarning, match=r"classes \[2\]"):
        value = metric(scores, labels)
    areas = [sk.roc_auc_score(labels == place, scores[:, place]) for place in (0, 1)]
    assert value == pytest.approx(np.mean(areas), abs=1e-12)


def test_no_sample_that_counts_is_an_error():
    metric = AUROC(ignore_index=-1)
    metric.update([0.2, 0.7, 0.5], [-1, -1, -1])
    with pytest.raises(RuntimeError, match="no data"):
        metric.eval()


# -- bins ------------------------------------------------------------------------------------------------------------

CONCENTRATED = {
    "uniform": lambda rng, n, y: 0.3 * y + rng.random(n),
    "near 0": lambda rng, n, y: 1e-4 * (0.3 * y + rng.random(n)),
    "near 1": lambda rng, n, y: 1 - 1e-3 * (1.3 - 0.3 * y - rng.random(n)),
    "in one bin": lambda rng, n, y: 0.5001 + 1e-4 * (0.3 * y + rng.random(n)),
    "logits": lambda rng, n, y: y + 3 * rng.normal(size=n),
    "beyond float32": lambda rng, n, y: rng.choice([-1e39, 1e39, 1.0], n),
}


@pytest.mark.parametrize("kind", CONCENTRATED)
def test_binned_values_are_within_their_error_bound(kind):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels = rng.integers(0, 2, 400)
        scores = CONCENTRATED[kind](rng, 400, labels)
        for make in (AUROC, AveragePrecision):
            exact, binned = make()(scores, labels), make(mode="binned")(scores, labels)
            assert abs(exact - binned) <= binned.parts["error_bound"] + 1e-12


def test_the_error_bound_tells_whether_bins_are_fine_enough():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 4000)
    bounds = {
        kind: AUROC(mode="binned")(make(rng, 4000, labels), labels).parts["error_bound"]
        for kind, make in CONCENTRATED.items()
    }
    assert bounds["near 0"] < 0.01  # 200 uniform thresholds in [0, 1] would see one value there
    assert bounds["uniform"] < 0.01
    assert bounds["in one bin"] == 0.5


def test_points_of_a_binned_curve_lie_on_the_exact_one():
    rng = np.random.default_rng(2)
    labels, scores = rng.integers(0, 2, 300), rng.normal(size=300).astype(np.float32)
    exact, binned = ROC()(scores, labels).parts, ROC(mode="binned")(scores, labels).parts
    on_the_curve = set(zip(exact["false_positive_rate"], exact["true_positive_rate"]))
    assert set(zip(binned["false_positive_rate"], binned["true_positive_rate"])) <= on_the_curve
    for threshold, rate in list(zip(binned["thresholds"], binned["true_positive_rate"]))[1:]:
        assert rate == np.mean(scores[labels == 1] >= threshold)


def test_binned_multiclass_and_multilabel_of_coarse_scores_are_exact():
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 8, (60, 3)) / 8  # multiples of 1/8: each value has a bin of its own
    labels = np.arange(60) % 3
    flags = rng.integers(0, 2, (60, 3))
    for average in ("macro", "weighted", "micro"):
        for make in (AUROC, AveragePrecision):
            options = {"num_classes": 3, "average": average}
            assert make(mode="binned", **options)(scores, labels) == pytest.approx(make(**options)(scores, labels))
            options["task"] = "multilabel"
            assert make(mode="binned", **options)(scores, flags) == pytest.approx(make(**options)(scores, flags))


def test_bins_keep_constant_memory_and_exact_mode_8_bytes_a_score():
    metric = AUROC(mode="binned")
    sizes = []
    for _ in range(3):
        metric.update(np.random.default_rng(0).random(1000), np.arange(1000) % 2)
        sizes.append(metric._states["bins"].value.nbytes)
    assert sizes == [2**20] * 3
    exact = AUROC()
    exact.update(np.random.default_rng(0).random(1000), np.arange(1000) % 2)
    assert exact._states["packed"].value.nbytes == 8 * 1000


def test_keys_order_as_scores_and_give_them_back():
    scores = np.array([-np.inf, -1e300, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e300, np.inf])
    keys = _score_words.keys_of(scores)
    assert (np.diff(keys) > 0).all()
    assert _score_words.scores_of(keys).tolist() == scores.tolist()
    assert _score_words.keys_of(np.array([-0.0])).tolist() == [0]


def test_the_order_of_updates_and_merges_does_not_matter():
    scores, labels = binary(4, "ties")
    weights = np.random.default_rng(9).random(labels.size)
    order = np.random.default_rng(5).permutation(labels.size)
    for options in ({}, {"mode": "binned"}, {"weighted": True}):
        given = weights if options.get("weighted") else None
        whole = AveragePrecision(**options)
        whole.update(scores, labels, weights=given)
        parts = AveragePrecision(**options)
        for place in order:
            single = AveragePrecision(**options)
            at = slice(place, place + 1)
            single.update(scores[at], labels[at], weights=None if given is None else given[at])
            parts.merge(copy.deepcopy(single))
        assert float(whole.eval()) == float(parts.eval())


@pytest.mark.parametrize(
    ("options", "inputs", "message"),
    [
        ({}, ([0.1, np.nan], [0, 1]), "scores must not be NaN"),
        ({}, (np.array([2**53 + 1, 2**53]), [1, 0]), r"integer scores must lie within"),
        ({}, ([0.1, 0.2], [0, 2]), r"labels must lie in \[0, 2\)"),
        ({}, ([0.1, 0.2], [0, -1]), r"or be -100 \(ignored\), but got -1"),
        ({}, ([0.1, 0.2, 0.3], [0, 1]), r"scores must have shape \[2\]"),
        ({}, (np.zeros((2, 3)), [0, 1]), "for more than two classes say num_classes=3"),
        ({"num_classes": 3}, (np.zeros((2, 4)), [0, 1]), r"scores must have shape \[2, 3\]"),
        ({"num_classes": 3}, (np.zeros((2, 3)), [0, 3]), r"labels must lie in \[0, 3\)"),
        ({"task": "multilabel", "num_classes": 3}, (np.zeros((2, 2)), [[0, 1], [0, 1]]), r"\[3\] as labels"),
        ({"mode": "binned"}, ([0.1], [1], None, [3]), "sample_ids need mode='exact'"),
        ({}, ([[0.1, 0.2]], [[1, 0]], None, [3]), "sample_ids need labels of one row each"),
        ({}, ([0.1], [1], None, [3, 4]), r"sample_ids must have shape \[1\]"),
    ],
)
def test_bad_input_is_refused(options, inputs, message):
    with pytest.raises(ValueError, match=message):
        AUROC(**options).update(*inputs)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "fast"},
        {"average": "samples"},
        {"task": "multiclass"},
        {"weighted": True, "mode": "binned"},
        {"weighted": "no"},
        {"num_classes": math.nan},
        {"ignore_index": 0.5},
    ],
)
def test_unknown_arguments_are_refused(options):
    with pytest.raises((ValueError, TypeError), match="^For 'AUROC', "):
        AUROC(**options)


def test_texts_are_refused():
    with pytest.raises(TypeError, match="scores must be"):
        AUROC().update(["a", "b"], [0, 1])


def test_no_warning_where_all_is_defined():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AUROC()([0.2, 0.7], [0, 1]) == 1.0


def test_area_of_given_points_equals_scikit_learn():
    rng = np.random.default_rng(6)
    for _ in range(10):
        x, y = np.sort(rng.random(20)), rng.random(20)
        assert auc(x, y) == pytest.approx(sk.auc(x, y), abs=1e-15)
        assert auc(x[::-1], y[::-1]) == pytest.approx(sk.auc(x, y), abs=1e-15)


@pytest.mark.parametrize(
    "points", [([0.0, 1.0, 0.5], [0, 0, 0]), ([0.0], [1.0]), ([0.0, 1.0], [1.0]), ([0, 1], [0, np.nan])]
)
def test_points_that_are_no_curve_are_refused(points):
    with pytest.raises(ValueError):
        auc(*points)


def test_area_of_given_points_is_that_of_fractions_at_any_magnitude():
    for x, y in (
        ([2**62, 2**62 + 1, 2**62 + 3], [1, 2, 2]),  # one float64 each
        (np.uint64([2**64 - 3, 2**64 - 2, 2**64 - 1]), [1.0, 1.0, 3.0]),
        ([0.0, 1e-200, 2e-200], [1e-200, 3e-200, 0.5]),
        ([-1e308, 0.0, 1e308], [1e-10, 1e-300, 0.0]),
        ([0.0, 1e308, 1.7e308], [1.7e308, 1.7e308, 1e-300]),  # more than float64 holds: inf
        ([1, 1, 1], [5, 6, 7]),
        (np.array([False, True]), np.array([True, True])),
    ):
        a, b = ([Fraction(v) for v in np.asarray(part).tolist()] for part in (x, y))
        exact = sum((a[i + 1] - a[i]) * (b[i] + b[i + 1]) for i in range(len(a) - 1)) / 2
        try:
            expected = float(exact)
        except OverflowError:
            expected = math.inf
        assert auc(x, y) == expected
        assert auc(np.asarray(x)[::-1], np.asarray(y)[::-1]) == expected


@pytest.mark.parametrize("x", [[0.0, math.inf, math.inf], [-math.inf, 0.0, 1.0], [0.0, math.nan, 1.0]])
def test_points_at_infinity_are_refused(x):
    with pytest.raises(ValueError, match="x and y must be finite, but got NaN or infinity"):
        auc(x, [1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="x and y must be finite, but got NaN or infinity"):
        auc([0.0, 1.0, 2.0], x)


@pytest.mark.parametrize("options", [{}, {"num_classes": 3}, {"task": "multilabel", "num_classes": 3}])
def test_bins_filled_by_small_and_large_batches_are_the_same(options):
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(9000, 3) if options else 9000)
    labels = rng.integers(
        0, 3 if options.get("task") is None and options else 2, scores.shape if "task" in options else 9000
    )
    small, large, merged = (AUROC(mode="binned", **options) for _ in range(3))
    large.update(scores, labels)  # more than one in 16 of the cells of a class
    for start in range(0, 9000, 1000):
        small.update(scores[start : start + 1000], labels[start : start + 1000])
    for part in (slice(0, 8999), slice(8999, 9000)):
        other = AUROC(mode="binned", **options)
        other.update(scores[part], labels[part])
        merged.merge(other)
    assert small.eval() == large.eval() == merged.eval()
    assert small.state_dict() == large.state_dict() == merged.state_dict()
    assert large.eval() == pytest.approx(AUROC(**options)(scores, labels), abs=large.eval().parts["error_bound"])


@pytest.mark.parametrize("metric", [AUROC, AveragePrecision, ROC, PrecisionRecallCurve])
def test_logits_of_several_classes_get_a_warning_because_softmax_ranks_rows_otherwise(metric):
    logits, labels = np.array([[2.0, 1.0, 0.0], [5.0, 6.0, 0.0], [0.0, 0.0, 1.0]]), [0, 1, 2]
    with pytest.warns(UserWarning, match="If these are logits, give their softmax"):
        metric(num_classes=3).update(logits, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric(num_classes=3).update(logits, [-100, -100, 2])  # of what counts, no number is outside
        metric().update(logits[:, 0], [0, 1, 1])


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("make", [AUROC, AveragePrecision, ROC, PrecisionRecallCurve])
@pytest.mark.parametrize("kind", ["ties", "probabilities"])
def test_bins_of_any_number_of_scores_have_the_value_of_one_copy_of_them(make, task, kind):
    """2^35 copies of 1,000 scores: areas are free of scale, and their products of counts are beyond int64."""
    scores, labels = SCORES[kind](np.random.default_rng(3), 1000), np.random.default_rng(4).integers(0, 2, 1000)
    classes = None if task == "binary" else 2
    metric = make(task=task, num_classes=classes, mode="binned")
    metric.update(scores if task == "binary" else np.stack([1 - scores, scores], axis=1), labels)
    value, few = metric.eval(), metric.result()
    for _ in range(35):
        metric.merge(copy.deepcopy(metric))
    assert metric.eval() == pytest.approx(value, rel=1e-14)
    assert 0 < value < 1
    for name in few:
        if name in ("auroc", "average_precision", "per_class", "precision", "recall", "true_positive_rate"):
            nested = task == "multiclass" and isinstance(few[name], list) and name != "per_class"
            pairs = zip(metric.result()[name], few[name]) if nested else [(metric.result()[name], few[name])]
            assert all(many == pytest.approx(one, rel=1e-14) for many, one in pairs), name
    if "error_bound" in few and make is AUROC:
        assert metric.result()["error_bound"] == pytest.approx(few["error_bound"], rel=1e-14)


@pytest.mark.parametrize("copies", [1, 2**10, 2**22, 2**35, 2**50])
def test_areas_and_bounds_of_steps_are_those_of_fractions(copies):
    counts = np.array([[3, 0, 5, 1, 90], [1, 4, 0, 7, 20]]) * copies  # negatives, positives, from the lowest bin up
    steps = _ranking.histogram_steps(counts)
    negatives, positives = ([Fraction(n) for n in row] for row in counts.tolist())
    pairs, shared = Fraction(0), Fraction(0)
    for place, count in enumerate(positives):
        pairs += count * (sum(negatives[:place]) + negatives[place] / 2)
        shared += count * negatives[place]
    whole = sum(positives) * sum(negatives)
    assert _ranking.area_of_steps(steps) == float(pairs / whole)
    assert _ranking.area_error_bound(steps) == float(shared / (2 * whole))
    precision = sum(
        count * sum(positives[place:]) / (sum(positives[place:]) + sum(negatives[place:]))
        for place, count in enumerate(positives)
    ) / sum(positives)
    assert _ranking.average_precision(steps) == pytest.approx(float(precision), rel=1e-15)
    lowest, highest = Fraction(0), Fraction(0)
    for place, count in enumerate(positives):
        above, passed = sum(positives[place + 1 :]), sum(negatives[place + 1 :])
        if count:
            first = (above + 1) / (above + 1 + passed + negatives[place])
            last = (above + count) / (above + count + passed)
            lowest, highest = lowest + count * first, highest + count * last
    bound = max(highest / sum(positives) - precision, precision - lowest / sum(positives))
    assert _ranking.average_precision_error_bound(steps) == pytest.approx(float(bound), rel=1e-12)
