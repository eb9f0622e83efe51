"""What the contract tests share: each test pins a behaviour of MindSpore that mindeval relies on or works around."""

from __future__ import annotations

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import nn, train


class Recorder(train.Metric):
    """Keeps what MindSpore hands it, call by call."""

    def __init__(self, value=0.5):
        super().__init__()
        self.value = value
        self.calls: list[str] = []
        self.received: list[tuple] = []

    def clear(self):
        self.calls.append("clear")

    def update(self, *inputs):
        self.calls.append("update")
        self.received.append(inputs)

    def eval(self):
        self.calls.append("eval")
        return self.value


class LossRecorder(Recorder, train.Loss):
    """The same, as a subclass of MindSpore's Loss."""

    def __init__(self):
        self.calls, self.received = [], []  # mindspore.train.Loss.__init__ calls clear()
        super().__init__()


class Outputs(nn.Cell):
    """An eval network that returns whatever a function makes of its inputs."""

    def __init__(self, outputs):
        super().__init__()
        self.outputs = outputs

    def __call__(self, *inputs):
        return self.outputs(*inputs)


class Double(nn.Cell):
    """An eval network that is compiled in GRAPH mode and passes its second input through."""

    def construct(self, values, other):
        return values * 2, other


class Epochs(train.Callback):
    """Keeps what is visible at the hooks around an evaluation."""

    def __init__(self):
        super().__init__()
        self.seen: dict[str, list] = {}

    def _look(self, hook, run_context, key):
        self.seen.setdefault(hook, []).append(run_context.original_args().get(key))

    def on_eval_step_end(self, run_context):
        self._look("on_eval_step_end", run_context, "metrics")

    def on_eval_epoch_end(self, run_context):
        self._look("on_eval_epoch_end", run_context, "metrics")

    def on_eval_end(self, run_context):
        self._look("on_eval_end", run_context, "metrics")

    def on_train_epoch_end(self, run_context):
        self._look("on_train_epoch_end", run_context, "eval_results")


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.fixture
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture
def graph():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture
def five_rows():
    """Batches of 2, 2 and 1 rows of float32 values and string texts."""
    values = np.arange(10, dtype=np.float32).reshape(5, 2)
    texts = np.array(["one", "two", "three", "four", "fünf"])
    return ds.NumpySlicesDataset((values, texts), ["values", "texts"], shuffle=False).batch(2)


@pytest.fixture
def labelled_rows():
    """Batches of 2, 2 and 1 rows of two logits and a label."""
    logits = np.arange(10, dtype=np.float32).reshape(5, 2)
    labels = np.array([0, 1, 1, 0, 1], np.int32)
    return ds.NumpySlicesDataset((logits, labels), ["logits", "labels"], shuffle=False).batch(2)


class Kit:
    """The classes above, for tests that cannot import a conftest."""

    Recorder, LossRecorder, Outputs, Double, Epochs = Recorder, LossRecorder, Outputs, Double, Epochs


@pytest.fixture
def kit():
    return Kit


class Constant(nn.Cell):
    """A network with one parameter whose training loss is that parameter."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([1.0], ms.float32), name="weight")

    def construct(self, logits, labels):
        return self.weight.sum()


@pytest.fixture
def fit(labelled_rows):
    """Model.fit with what an eval network returns, metrics and callbacks; the training loss does not matter."""

    def run(eval_outputs, metrics, callbacks=None, epochs=1, indexes=(0, 1, 2)):
        network = Constant()
        model = train.Model(
            network,
            optimizer=nn.SGD(network.trainable_params(), 0.1),
            metrics=metrics,
            eval_network=Outputs(eval_outputs),
            eval_indexes=None if indexes is None else list(indexes),
        )
        model.fit(epochs, labelled_rows, labelled_rows, callbacks=callbacks, dataset_sink_mode=False)

    return run
