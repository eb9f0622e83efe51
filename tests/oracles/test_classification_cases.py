"""Handed cases, traps and bug reports of classification and of curves."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from mindeval import AUROC, ROC, Accuracy, CohenKappa, ConfusionMatrix, MatthewsCorrCoef, auc
from mindeval.classification.precision_recall import F1Score, FBetaScore, Precision, Recall

RATES = {"precision": Precision, "recall": Recall, "f1": F1Score}


def read(folder, name):
    return json.loads((folder / name).read_text())


def value(metric, predictions, labels, mask=None, **named):
    metric.update(np.asarray(predictions), np.asarray(labels), mask, **named)
    return metric.eval()


def per_class(metric, predictions, labels, mask=None):
    score = value(metric, predictions, labels, mask)
    return score.parts["per_class"][next(iter(score.parts))]


def pairs_of(confusion):
    """Labels and decisions that give a confusion matrix."""
    counts = np.array(confusion)
    labels, decisions = np.indices(counts.shape)
    return np.repeat(decisions.ravel(), counts.ravel()), np.repeat(labels.ravel(), counts.ravel())


def in_updates(metric, updates):
    for update in updates:
        metric.update(np.array(update["scores"]), np.array(update["labels"]))
    return metric.eval()


def answered(case):
    """Yes/no answers as class ids; an answer outside of the label set is a class of its own that enters no average."""
    given = case["inputs"]
    ids = {label: place for place, label in enumerate(given["labels"])}
    predictions = [ids.get(text.strip().lower(), len(ids)) for text in given["predictions"]]
    labels = [ids[text] for text in given["golds"]]
    values = {
        f"{average}_f1": value(F1Score(average=average, classes=[0, 1], num_classes=3), predictions, labels)
        for average in ("macro", "micro", "weighted")
    }
    table = per_class(F1Score(average="none", num_classes=3), predictions, labels)
    return {**values, "yes_f1": table[0], "no_f1": table[1]}


def table_of(case):
    """Precision, recall and F of one prf_* case."""
    given, kind = case["inputs"], case["task"]
    mask = np.array(given["mask"], bool) if "mask" in given else None
    classes = case["params"].get("num_classes")
    options = {"num_classes": classes, "labels_present_only": False}
    if kind == "prf_micro_subset":
        options = {"classes": case["params"]["labels"]}
    average = {"prf_macro": "macro", "prf_micro": "micro", "prf_micro_subset": "micro"}.get(kind, "none")
    solve = per_class if average == "none" else value
    names = {"precision": Precision, "recall": Recall, "f": F1Score}
    return {
        name: solve(make(average=average, **options), given["scores"], given["labels"], mask)
        for name, make in names.items()
    }


def binary(case, make):
    given, params = case["inputs"], case["params"]
    positive = params.get("pos_label", 1)
    labels, predictions = (np.array(given[side]) for side in ("labels", "preds"))
    zero_division = params.get("zero_division", 0)
    weights = given.get("sample_weight")
    if set(labels) | set(predictions) <= {0, 1} and positive == 0:  # class 0 alone, by its row of the table
        return per_class(make(average="none", num_classes=2), predictions, labels)[0]
    metric = make(task="binary", zero_division=zero_division, weighted=weights is not None)
    return value(metric, predictions == positive, labels == positive, weights=weights)


def peers(case):
    """Cases of torchmetrics, whose multiclass default is macro."""
    given, params, name = case["inputs"], case["params"], case["task"].split("_", 2)[2]
    predictions, labels = given["preds"], given["target"]
    average = "none" if params.get("average", "macro") is None else "macro"
    options = {"average": average, "num_classes": params.get("num_classes")}
    if name == "auroc":
        mode = "exact" if params["thresholds"] is None else "binned"
        return value(AUROC(mode=mode), predictions, labels)
    if name == "confusion_matrix":
        return value(ConfusionMatrix(num_classes=3), predictions, labels).parts["matrix"]
    if name == "matthews_corrcoef":
        return value(MatthewsCorrCoef(num_classes=3), predictions, labels)
    makes = {"accuracy": Accuracy, "precision": Precision, "recall": Recall, "f1_score": F1Score}
    metric = FBetaScore(params["beta"], **options) if name == "fbeta_score" else makes[name](**options)
    return (per_class if average == "none" else value)(metric, predictions, labels)


def solve(case):
    given, params, task = case["inputs"], case["params"], case["task"]
    name = task.split("_")[0]
    if task.startswith("tm_"):
        return peers(case)
    if task.startswith("prf_"):
        return table_of(case)
    if task in ("binary_f1", "binary_precision"):
        return binary(case, F1Score if task == "binary_f1" else Precision)
    if task == "accuracy_multilabel_subset":
        return value(Accuracy(task="multilabel"), given["preds"], given["labels"])
    if task.endswith("_multilabel_per_sample"):
        rows = zip(given["preds"], given["labels"])
        return [value(RATES[name](task="multilabel", average="samples"), [p], [y]) for p, y in rows]
    if task.endswith("_multilabel_mean"):
        return value(RATES[name](task="multilabel", average="samples"), given["preds"], given["labels"])
    if task.startswith("topk_accuracy"):
        mask = np.array(given["mask"], bool) if "mask" in given else None
        return value(Accuracy(top_k=params["k"]), given["scores"], given["labels"], mask)
    if task == "accuracy_from_scores":
        return value(Accuracy(), given["scores"], given["labels"])
    if task == "accuracy_two_updates":
        return in_updates(Accuracy(), given["updates"])
    if task.endswith("_two_updates"):
        score = in_updates(RATES[name](average="none"), given["updates"])
        return score.parts["per_class"][name]
    if task == "confusion_matrix":
        metric = ConfusionMatrix(num_classes=params.get("num_classes", 3), normalize=params.get("normalize"))
        return value(metric, given["preds"], given["labels"]).parts["matrix"]
    if task == "mcc_from_confusion":
        return value(MatthewsCorrCoef(), *pairs_of(given["confusion"]))
    if task.endswith("_from_confusion"):
        average = params.get("average") or "none"
        pairs = pairs_of(given["confusion"])
        return (per_class if average == "none" else value)(RATES[name](average=average), *pairs)
    if task.endswith("_per_class"):
        return per_class(RATES[name](average="none"), given["scores"], given["labels"])
    if task == "roc_auc_binary":
        return value(AUROC(), given["scores"], given["labels"])
    if task == "generated_label_f1":
        return answered(case)
    if task == "f1_macro":
        return value(F1Score(average="macro", **params), given["preds"], given["labels"])
    if task == "f1_with_invalid":  # a decision outside of {0, 1} counts as the wrong class of its row
        labels, predictions = np.array(given["labels"]), np.array(given["preds"])
        return value(F1Score(), np.where(predictions > 1, 1 - labels, predictions), labels)
    if task == "area_under_curve":
        return auc(given["x"], given["y"])
    raise AssertionError(f"no solver for {task}")


def assert_near(ours, expected, tolerance):
    if isinstance(expected, dict):
        assert ours.keys() == expected.keys()
        for name in expected:
            assert_near(ours[name], expected[name], tolerance)
    else:
        assert np.shape(ours) == np.shape(expected)
        assert np.allclose(ours, expected, rtol=0, atol=max(tolerance, 1e-12))


def test_handed_cases(shared_dir):
    cases = read(shared_dir, "cases/cases_handed_classification.json")["cases"]
    for case in cases:
        try:
            assert_near(solve(case), case["expected"], case["tolerance"])
        except Exception as error:
            raise AssertionError(f"{case['id']} ({case['task']})") from error
    assert len(cases) == 89


@pytest.fixture
def traps(shared_dir):
    return {trap["id"]: trap for trap in read(shared_dir, "cases/traps_handed.json")}


def test_trap_of_products_beyond_integers(traps):
    trap = traps["mcc_int32_product_overflow"]
    given = trap["input"]
    predictions, labels = pairs_of([[given["tn"], given["fp"]], [given["fn"], given["tp"]]])
    assert value(MatthewsCorrCoef(), predictions, labels) == trap["right_value"]["mcc"]
    assert value(CohenKappa(), predictions, labels) == pytest.approx(1 / 3)


def test_trap_of_absent_classes(traps):
    trap = traps["f1_macro_absent_classes"]
    for classes in trap["input"]["num_classes"]:
        metric = F1Score(average="macro", num_classes=classes)
        assert value(metric, trap["input"]["pred"], trap["input"]["target"]) == trap["right_value"]


def test_trap_of_two_defaults_for_accuracy(traps):
    trap = traps["accuracy_default_average"]
    assert value(Accuracy(), trap["input"]["pred"], trap["input"]["target"]) == trap["right_value"]


def test_trap_of_top_k_and_absent_classes(traps):
    trap = traps["topk_macro_absent"]
    scores, labels = np.float32(trap["input"]["preds"]), trap["input"]["target"]
    for top_k, right in zip(trap["input"]["top_k"], trap["right_value"]):
        assert value(Accuracy(average="macro", top_k=top_k), scores, labels) == right
        assert value(Recall(average="macro", top_k=top_k), scores, labels) == right


def test_trap_of_a_sigmoid_for_some_batches(traps):
    trap = traps["auroc_batchwise_sigmoid"]
    for make in (AUROC, ROC):
        metric = make()
        for score, label in zip(trap["input"]["scores"], trap["input"]["labels"]):
            metric.update([score], [label])
        assert metric.eval() == trap["right_value"]


def test_trap_of_ignored_labels_alone(traps):
    given = traps["auroc_all_ignored"]["input"]
    metric = AUROC(ignore_index=given["ignore_index"])
    metric.update(given["scores"], given["labels"])
    with pytest.raises(RuntimeError, match="no data"):  # undefined: said, not computed
        metric.eval()


def test_bug_reports_of_f1_and_accuracy(shared_dir):
    items = {item["id"]: item for item in read(shared_dir, "cases/bug_inputs_handed.json")["items"]}
    for name, keys in (
        ("bug-f1-01", ("sklearn_present_classes", "all_5_classes")),
        ("bug-f1-02", ("present_only", "all_classes_zero_division_0")),
    ):
        given, expected = items[name]["input"], items[name]["expected"]
        for present_only, key in zip((True, False), keys):
            options = {"num_classes": given["num_classes"], "labels_present_only": present_only}
            ours = value(F1Score(average="macro", **options), given["preds"], given["labels"])
            assert ours == pytest.approx(expected[key], abs=1e-15)
    shards = items["bug-accuracy-03"]["input"]["shards"]
    parts = [Accuracy(), Accuracy()]
    for part, right in zip(parts, shards):
        part.update(np.array(right), np.ones(len(right), int))
    assert parts[0].merge(parts[1]).eval() == items["bug-accuracy-03"]["expected"]["accuracy"]


def test_nothing_of_the_undefined_is_a_silent_number():
    with pytest.warns(RuntimeWarning):
        assert math.isnan(value(AUROC(), [0.1, 0.2], [1, 1]))
