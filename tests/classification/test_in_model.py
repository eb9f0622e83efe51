"""Classification metrics in Model.eval: what a user of MindSpore's own metrics replaces them by."""

from __future__ import annotations

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import nn, train
from sklearn import metrics as sk

from mindeval import AUROC, ConfusionMatrix, LogLoss, MatthewsCorrCoef
from mindeval.classification.accuracy import Accuracy
from mindeval.classification.precision_recall import F1Score
from mindeval.classification.regression import MeanSquaredError


def evaluated(network, loss, columns, metrics):
    data = ds.NumpySlicesDataset(columns, ["inputs", "labels"], shuffle=False).batch(4)  # the last batch is short
    return train.Model(network, loss, metrics=metrics).eval(data, dataset_sink_mode=False)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
@pytest.mark.parametrize("classes", [2, 4])
def test_a_classifier_equals_scikit_learn(mode, classes):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        rng = np.random.default_rng(classes)
        inputs = rng.normal(size=(10, 3)).astype(np.float32)
        labels = (np.arange(10) % classes).astype(np.int32)
        network = nn.Dense(3, classes)
        metrics = {
            "accuracy": Accuracy(),
            "f1": F1Score(num_classes=classes),
            "auroc": AUROC(num_classes=classes),
            "confusion": ConfusionMatrix(num_classes=classes),
            "matthews": MatthewsCorrCoef(),
            "log_loss": LogLoss(from_logits=True),
        }
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        results = evaluated(network, loss, (inputs, labels), metrics)
        logits = network(ms.Tensor(inputs)).asnumpy().astype(np.float64)
    finally:
        ms.set_context(mode=before)
    decided = logits.argmax(axis=1)
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    average = "binary" if classes == 2 else "macro"
    if classes == 2:
        area = sk.roc_auc_score(labels, logits[:, 1] - logits[:, 0])
    else:
        area = np.mean([sk.roc_auc_score(labels == place, logits[:, place]) for place in range(classes)])
    assert results["accuracy"] == sk.accuracy_score(labels, decided)
    assert results["f1"] == pytest.approx(sk.f1_score(labels, decided, average=average), abs=1e-12)
    assert results["auroc"] == pytest.approx(area, abs=1e-12)
    assert metrics["confusion"].result()["matrix"] == sk.confusion_matrix(labels, decided).tolist()
    assert results["matthews"] == pytest.approx(sk.matthews_corrcoef(labels, decided), abs=1e-12)
    assert results["log_loss"] == pytest.approx(sk.log_loss(labels, probabilities), abs=1e-6)  # float32 kernel


def test_a_reward_head_of_one_output_is_not_broadcast():
    rng = np.random.default_rng(0)
    inputs, rewards = rng.normal(size=(10, 3)).astype(np.float32), rng.normal(size=(10, 1)).astype(np.float32)
    network = nn.Dense(3, 1)
    results = evaluated(network, nn.MSELoss(), (inputs, rewards), {"mse": MeanSquaredError()})
    predicted = network(ms.Tensor(inputs)).asnumpy()
    assert results["mse"] == pytest.approx(sk.mean_squared_error(rewards, predicted), rel=1e-6)
