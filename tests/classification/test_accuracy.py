"""Accuracy against scikit-learn and counting."""

from __future__ import annotations

import inspect

import mindspore as ms
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score, top_k_accuracy_score

import mindeval
from mindeval import Accuracy, Recall

RNG = np.random.default_rng(0)


def evaluated(*inputs, **options):
    metric = Accuracy(**options)
    metric.update(*inputs)
    return metric.eval()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=50))
def test_class_ids_equal_scikit_learn(pairs):
    predicted, labels = (np.array(side) for side in zip(*pairs))
    assert evaluated(predicted, labels) == accuracy_score(labels, predicted)
    assert evaluated(ms.Tensor(predicted), ms.Tensor(labels)) == accuracy_score(labels, predicted)
    assert evaluated(predicted.astype(np.float32), labels.tolist()) == accuracy_score(labels, predicted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("top_k", [1, 2, 3])
def test_scores_without_ties_equal_scikit_learn(dtype, top_k):
    scores, labels = RNG.permutation(200 * 4).reshape(200, 4).astype(dtype), RNG.integers(0, 4, 200)
    expected = top_k_accuracy_score(labels, scores, k=top_k, labels=range(4))
    assert evaluated(scores, labels, top_k=top_k) == expected
    assert evaluated(scores.reshape(20, 10, 4), labels.reshape(20, 10), top_k=top_k) == expected
    assert evaluated(scores, labels.reshape(20, 10), top_k=top_k) == expected


def test_bfloat16_scores_and_infinite_negative_ones():
    assert evaluated(ms.Tensor([[1.0, -np.inf, 2.0]], ms.bfloat16), ms.Tensor([2])) == 1.0


def test_equal_scores_rank_by_class_index():
    scores = np.float32([[1, 1, 1], [1, 1, 1], [1, 1, 1]])
    assert evaluated(scores, [0, 1, 2]) == 1 / 3
    assert evaluated(scores, [0, 1, 2], top_k=2) == 2 / 3


def test_float64_scores_that_float32_cannot_tell_apart_are_told_apart():
    assert evaluated(np.array([[0.5, 0.5 + 1e-12]]), [1]) == 1.0


def test_ignored_and_masked_positions_do_not_count():
    assert evaluated(np.array([0, 1, 1]), np.array([0, 1, -100])) == 1.0
    assert evaluated(np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([True, True, False])) == 1.0
    scores = np.float32([[2, 1], [1, 2], [np.nan, np.nan]])
    assert evaluated(scores, np.array([0, 1, -100])) == 1.0


def test_token_accuracy_of_unshifted_labels():
    ids = np.array([[1, 2, 0]])
    logits = np.float32([[[0, 0, 9], [9, 0, 0], [0, 9, 0]]])
    assert evaluated(logits, ids, shift=True) == 1.0


@pytest.mark.parametrize(
    ("options", "inputs", "message"),
    [
        ({}, (np.zeros((2, 3), np.float32), [0, 3]), r"\[0, 3\).*but got 3"),
        ({}, ([0.5, 1.0], [0, 1]), "predictions must be class ids"),
        ({}, ([0, 1], [0, -1]), r"labels must be class ids >= 0 or -100 \(ignored\), but got -1"),
        ({}, ([0, -1], [0, 1]), "predictions must be class ids >= 0, but got -1"),
        ({}, (np.uint8([[0, 1]]), [2]), r"labels must be class ids in \[0, 2\)"),
        ({}, ([0, 1], [0, 1], None, [7, 8]), "counts and sums cannot tell that a sample came twice"),
        ({}, (np.zeros((0,), np.int64), np.zeros((0,), np.int64)), "at least one label"),
        ({}, (np.float32([[np.nan, 1.0]]), [0]), "must not be NaN"),
        ({"task": "binary"}, ([0, 2], [0, 2]), r"\[0, 2\).*but got 2"),
        ({"top_k": 2}, ([0, 1], [0, 1]), "need scores"),
        ({}, ([0, 1], [0, 1], [1, 0]), "mask must be boolean"),
        ({}, ([0, 1], [0, 1, 2]), r"predictions must be class ids in the labels' shape \[3\], .* but got \[2\]"),
        ({}, (np.int64(1), [0, 1]), r"predictions must be class ids in the labels' shape \[2\], .* but got \[\]"),
        ({}, ((0, 1), (0, 1)), "sample_ids were given, .* tuples are taken apart"),
    ],
)
def test_what_is_refused(options, inputs, message):
    with pytest.raises((ValueError, TypeError), match="For 'Accuracy.update', .*" + message):
        evaluated(*inputs, **options)


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="task must be one of"):
        Accuracy(task="regression")
    with pytest.raises(ValueError, match="top_k must be at least 1, but got 0"):
        Accuracy(top_k=0)
    with pytest.raises(ValueError, match="top_k must be at most num_classes=3, but got 4"):
        Accuracy(top_k=4, num_classes=3)
    with pytest.raises(TypeError, match="weighted must be True or False, but got 'x'"):
        Accuracy(weighted="x")


def batch(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, 40)
    labels[rng.random(40) < 0.2] = -100
    labels[0] = 0
    return rng.integers(0, 5, 40), labels, rng.random(40)


@pytest.mark.parametrize("weighted", [False, True])
def test_macro_average_is_scikit_learns_balanced_accuracy(weighted):
    for seed in range(10):
        predicted, labels, weights = batch(seed)
        kept = labels != -100
        given = weights if weighted else None
        sample_weight = weights[kept] if weighted else None
        balanced = balanced_accuracy_score(labels[kept], predicted[kept], sample_weight=sample_weight)
        whole = accuracy_score(labels[kept], predicted[kept], sample_weight=sample_weight)
        for average, expected in (("macro", balanced), ("none", balanced), ("weighted", whole), ("micro", whole)):
            metric = Accuracy(average=average, weighted=weighted)
            metric.update(predicted[:9], labels[:9], weights=None if given is None else given[:9])
            metric.update(predicted[9:], labels[9:], weights=None if given is None else given[9:])
            assert metric.eval() == pytest.approx(expected, abs=1e-12)
        table = Accuracy(average="none", weighted=weighted)(predicted, labels, weights=given).parts["per_class"]
        options = {"labels": table["class"], "average": None, "sample_weight": sample_weight}
        recalls = recall_score(labels[kept], predicted[kept], **options)
        assert table["accuracy"] == pytest.approx(recalls.tolist(), abs=1e-12)


def test_constant_predictions_have_one_accuracy_and_another_balanced_one():
    # torchmetrics #2320: two spellings of one metric gave 0.5 and 0.8
    predicted, labels = [0] * 10, [0] * 8 + [1] * 2
    assert evaluated(predicted, labels) == 0.8
    assert evaluated(predicted, labels, average="macro") == 0.5


def test_balanced_accuracy_of_top_scores_leaves_out_classes_without_labels():
    scores = np.float32([[0.9, 0.1, 0.0]] * 3)  # torchmetrics #2418: 1/2 for both k, class 1 has no labels
    for top_k in (1, 2):
        assert evaluated(scores, [0, 0, 2], top_k=top_k, average="macro") == 0.5


def test_multilabel_accuracy_is_scikit_learns_subset_accuracy():
    rng = np.random.default_rng(4)
    scores, labels, weights = rng.random((50, 2)).astype(np.float32), rng.integers(0, 2, (50, 2)), rng.random(50)
    decided = (scores > 0.5).astype(int)
    assert evaluated(scores, labels, task="multilabel") == accuracy_score(labels, decided)
    assert evaluated(scores - 0.5, labels, task="multilabel", threshold=0.0) == accuracy_score(labels, decided)
    metric = Accuracy(task="multilabel", weighted=True)
    metric.update(decided, labels, weights=weights)
    assert metric.eval() == pytest.approx(accuracy_score(labels, decided, sample_weight=weights), abs=1e-12)
    assert evaluated([[1, 0], [1, 1]], [[1, -100], [0, -100]], task="multilabel") == 0.5


def test_binary_scores_are_decided_by_the_threshold():
    scores, labels = np.float32([0.2, 0.7, 0.5, 0.9]), [0, 1, 0, 0]
    assert evaluated(scores, labels, task="binary") == 0.75  # 0.5 is not above 0.5
    assert evaluated(scores[:, None], labels, task="binary") == 0.75
    assert evaluated(ms.Tensor(scores - 0.5), labels, task="binary", threshold=0.0) == 0.75
    with pytest.raises(ValueError, match="must be probabilities"):
        evaluated(scores - 0.5, labels, task="binary")


@pytest.mark.parametrize(
    ("options", "inputs", "message"),
    [
        ({"num_classes": 3}, ([0, 1], [0, 3]), r"\[0, 3\).*but got 3"),
        ({"num_classes": 3}, ([0, 3], [0, 1]), r"predictions must be class ids in \[0, 3\), but got 3"),
        ({"num_classes": 3}, (np.zeros((2, 4), np.float32), [0, 1]), "must have 3 scores"),
        ({"task": "multilabel"}, ([[0, 2]], [[0, 1]]), "must be 0 or 1"),
    ],
)
def test_classes_beyond_the_declared_ones_are_refused(options, inputs, message):
    with pytest.raises(ValueError, match=message):
        Accuracy(**options).update(*inputs)


@pytest.mark.parametrize("options", [{"average": "samples"}, {"task": "multilabel", "top_k": 2}])
def test_unknown_averages_are_refused(options):
    with pytest.raises(ValueError, match="For 'Accuracy'"):
        Accuracy(**options)


def test_one_hot_predictions_and_labels_warn_that_they_are_taken_for_ids():
    one_hot = np.eye(3, dtype=np.int64)
    with pytest.warns(RuntimeWarning, match="look one-hot"):
        evaluated(one_hot, one_hot)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_scores_of_any_dtype_are_read_as_by_the_other_metrics_of_decisions(dtype):
    scores, labels = RNG.integers(0, 2 if dtype is bool else 9, (50, 4)).astype(dtype), RNG.integers(0, 4, 50)
    decided = scores.argmax(axis=1)
    for form in (scores, ms.Tensor(scores)):
        assert evaluated(form, labels) == accuracy_score(labels, decided)
        assert evaluated(form, labels) == Recall(average="micro")(form, labels)
        assert evaluated(form, labels, top_k=2) == Recall(average="micro", top_k=2)(form, labels)
    assert evaluated(scores.reshape(10, 5, 4), labels.reshape(10, 5), shift=True) == np.mean(
        labels.reshape(10, 5)[:, 1:] == decided.reshape(10, 5)[:, :-1]
    )


def test_infinite_scores_rank_and_only_nan_is_refused():
    scores = np.float32([[np.inf, 0, np.inf], [0, np.inf, 1], [-np.inf, -np.inf, -np.inf]])
    assert evaluated(scores, [0, 1, 0]) == Recall(average="micro")(scores, [0, 1, 0]) == 1.0
    assert evaluated(scores, [2, 2, 1]) == 0.0
    assert evaluated(scores, [2, 2, 1], top_k=2) == 1.0
    with pytest.raises(ValueError, match="must not be NaN"):
        evaluated(np.float32([[np.inf, np.nan]]), [0])


def test_ids_of_ignored_positions_may_be_anything():
    assert evaluated([1.0, np.nan, 0.5], [1, -100, -100]) == 1.0
    assert evaluated([1, -7], [1, 0], np.array([True, False])) == 1.0


def test_rows_of_another_width_are_refused_by_both_widths():
    metric = Accuracy(task="multilabel")
    metric.update([[1, 0]], [[1, 0]])
    with pytest.raises(ValueError, match="rows of 2 labels and of 3: say num_classes="):
        metric.update([[1, 0, 1]], [[1, 0, 1]])
    assert metric.eval() == 1.0


def test_the_second_argument_is_the_number_of_classes_in_every_metric():
    """Accuracy("multiclass", 3) must not be top-3 accuracy, which is 1 whatever the scores of three classes."""
    metrics = [getattr(mindeval, name) for name in mindeval.__all__]
    found = 0
    for metric in metrics:
        if isinstance(metric, type) and metric.__module__.startswith("mindeval.classification"):
            names = list(inspect.signature(metric).parameters)
            if "num_classes" in names:
                assert names[names.index("task") + 1] == "num_classes", metric
                found += 1
    assert found >= 15
    scores = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.1, 0.7, 0.2]])
    assert Accuracy("multiclass", 3)(scores, [0, 1, 2]) == 1 / 3
