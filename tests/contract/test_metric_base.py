"""The class mindspore.train.Metric, from which mindeval.Metric inherits."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn, train


def test_nn_and_train_know_the_same_metric_class():
    assert nn.Metric is train.Metric


@pytest.mark.parametrize("missing", ["clear", "update", "eval"])
def test_clear_update_and_eval_must_be_defined(missing):
    methods = {name: lambda self, *inputs: None for name in ("clear", "update", "eval") if name != missing}
    with pytest.raises(TypeError, match=missing):
        type("Partial", (train.Metric,), methods)()


def test_the_initialiser_of_loss_calls_clear():
    called = []

    class Watched(train.Loss):
        def clear(self):
            called.append("clear")

    Watched()
    assert called == ["clear"]


def test_set_indexes_takes_a_list_and_returns_the_metric(kit):
    metric = kit.Recorder()
    assert metric.indexes is None
    assert metric.set_indexes([1, 0]) is metric and metric.indexes == [1, 0]
    with pytest.raises(ValueError):
        metric.set_indexes((1, 0))


def test_set_indexes_alone_changes_nothing_that_update_receives(kit, five_rows):
    recorder = kit.Recorder()
    recorder.set_indexes([1])
    train.Model(kit.Double(), metrics={"m": recorder}, eval_network=kit.Double()).eval(five_rows)
    assert [len(inputs) for inputs in recorder.received] == [2, 2, 2]


def test_rearrange_inputs_takes_no_keywords():
    class Rearranged(train.Metric):
        def clear(self):
            pass

        @train.rearrange_inputs
        def update(self, *inputs, **named):
            pass

        def eval(self):
            return 0.0

    with pytest.raises(TypeError, match="mask"):
        Rearranged().update(1, mask=2)


def test_mindspores_loss_is_the_mean_of_batch_means():
    loss = train.Loss()
    loss.update(ms.Tensor(np.float32([1, 1, 1, 1])))
    loss.update(ms.Tensor(np.float32([5])))
    assert loss.eval() == 3.0  # mindeval.Loss gives 9 / 5
