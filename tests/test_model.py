"""mindeval's metrics in Model.eval and Model.fit, in both modes, against float64 NumPy on the same logits."""

from __future__ import annotations

import math
from typing import NamedTuple

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import nn, ops, train

from mindeval import Accuracy, Loss, MetricCollection, Perplexity, Score, tokens

# The kernel promises 1e-7 nat a token against float64 on the same logits; values here are a few nats and exp of them.
KERNEL = 1e-7
# The loss is computed on the device in float32.
FLOAT32 = 1e-5

TEXTS = np.array(["one", "two words", "数据集", "", "naïve", "line\nbreak", "the last one"])


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


class Data(NamedTuple):
    """Seven rows of five positions over eleven classes; row 3 is wholly masked."""

    logits: np.ndarray
    labels: np.ndarray
    mask: np.ndarray

    @property
    def counted(self):
        return self.mask & (self.labels != -100)


def seven_rows() -> Data:
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(7, 5, 11)).astype(np.float32)
    labels = rng.integers(0, 11, (7, 5)).astype(np.int32)
    labels[1, 3:] = -100
    mask = rng.random((7, 5)) < 0.7
    mask[3] = False
    return Data(logits, labels, mask)


def batches(*columns, size):
    names = [f"column{place}" for place in range(len(columns))]
    return ds.NumpySlicesDataset(columns, names, shuffle=False).batch(size)


def texts_are_tensors():
    """Whether a data set delivers texts as string Tensors, as up to MindSpore 2.7."""
    ((texts,),) = batches(np.array(["a"]), size=1).create_tuple_iterator(num_epochs=1)
    return isinstance(texts, ms.Tensor)


def nll_of(logits, labels, counted):
    """The NLL of each counted token, in float64."""
    values = logits.astype(np.float64)[counted]
    return np.logaddexp.reduce(values, axis=-1) - values[np.arange(len(values)), labels[counted]]


def mean(values):
    return math.fsum(values) / len(values)


class Doubled(nn.Cell):
    """A network whose rows do not depend on each other: the logits are its input times two, which is exact."""

    def construct(self, values):
        return values * 2


class Outputs(nn.Cell):
    """An eval network whose outputs are its inputs, with the logits of the network in place of the first."""

    def __init__(self, dtype=ms.float32):
        super().__init__()
        self.network, self.dtype = Doubled(), dtype

    def construct(self, values, labels, mask):
        return ops.cast(self.network(values), self.dtype), labels, mask


class OutputsWithTexts(nn.Cell):
    """Texts pass by the compiled network: up to MindSpore 2.7 they would be lost in it."""

    def __init__(self):
        super().__init__()
        self.network = Doubled()

    def __call__(self, values, labels, mask, texts):
        return self.network(values), labels, mask, texts


class CompiledWithTexts(OutputsWithTexts):
    """Texts pass through the compiled network."""

    __call__ = nn.Cell.__call__

    def construct(self, values, labels, mask, texts):
        return self.network(values), labels, mask, texts


class Nested(nn.Cell):
    """What Model.fit needs: three outputs, with the mask beside the labels. The losses are the tokens' top logits."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, values, labels, mask):
        logits = self.network(values)
        return logits.max(axis=-1).reshape(-1), logits, (labels, mask)


def evaluate(metrics, network, *columns, size=3, indexes=None):
    model = train.Model(network, metrics=metrics, eval_network=network, eval_indexes=indexes)
    return model.eval(batches(*columns, size=size))


# -- the default eval network ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7])
def test_default_eval_network_with_a_ragged_last_batch(size):
    data = seven_rows()
    logits, labels = data.logits[:, 0], data.labels[:, 0]
    metrics = {"nll": Loss(), "perplexity": Perplexity(), "accuracy": Accuracy()}
    model = train.Model(Doubled(), loss_fn=nn.CrossEntropyLoss(reduction="none"), metrics=metrics)
    values = model.eval(batches(logits, labels, size=size))

    expected = mean(nll_of(logits * 2, labels, labels != -100))
    assert values["nll"] == pytest.approx(expected, rel=FLOAT32)
    assert metrics["nll"].result()["exact"] and metrics["nll"].result()["weight"] == 7
    assert values["perplexity"] == pytest.approx(math.exp(expected), rel=KERNEL)
    assert values["accuracy"] == (logits.argmax(-1) == labels).sum() / 7
    assert all(type(value) is Score for value in values.values())


def test_a_scalar_loss_is_the_mean_of_batch_means_and_says_that_it_is_not_exact():
    data = seven_rows()
    logits, labels = data.logits[:, 0], data.labels[:, 0]
    loss = Loss()
    model = train.Model(Doubled(), loss_fn=nn.CrossEntropyLoss(), metrics={"loss": loss})
    value = model.eval(batches(logits, labels, size=3))["loss"]
    nll = nll_of(logits * 2, labels, labels != -100)
    assert value == pytest.approx((mean(nll[:3]) + mean(nll[3:6]) + nll[6]) / 3, rel=FLOAT32)
    assert loss.result()["exact"] is False


def test_a_second_evaluation_starts_anew():
    data = seven_rows()
    model = train.Model(
        Doubled(), loss_fn=nn.CrossEntropyLoss(reduction="none"), metrics={"perplexity": Perplexity(), "loss": Loss()}
    )
    columns = data.logits[:, 0], data.labels[:, 0]
    assert model.eval(batches(*columns, size=3)) == model.eval(batches(*columns, size=3))


# -- custom eval networks --------------------------------------------------------------------------------------------


def test_custom_eval_network_with_a_mask_and_no_eval_indexes():
    data = seven_rows()
    metrics = {"perplexity": Perplexity(), "accuracy": Accuracy()}
    values = evaluate(metrics, Outputs(), *data)
    nll = nll_of(data.logits * 2, data.labels, data.counted)
    assert values["perplexity"] == pytest.approx(math.exp(mean(nll)), rel=KERNEL)
    right = (data.logits.argmax(-1) == data.labels)[data.counted]
    assert values["accuracy"] == right.sum() / len(right)
    assert metrics["perplexity"].result()["tokens"] == len(nll)
    assert metrics["perplexity"].result()["samples"] == 6  # row 3 is wholly masked


def test_custom_eval_network_with_eval_indexes_and_the_mask_nested_beside_the_labels():
    data = seven_rows()
    metrics = {"top": Loss(), "perplexity": Perplexity(), "accuracy": Accuracy()}
    values = evaluate(metrics, Nested(Doubled()), *data, indexes=[0, 1, 2])
    nested = evaluate({"perplexity": Perplexity(), "accuracy": Accuracy()}, Outputs(), *data)
    assert {name: values[name] for name in nested} == nested
    assert values["top"] == mean((data.logits * 2).max(-1).reshape(-1).tolist())


def test_set_indexes_picks_each_metrics_outputs():
    data = seven_rows()

    class LossFirst(nn.Cell):
        def construct(self, values, labels, mask):
            return values.max(axis=-1), mask, labels, values

    metrics = {"loss": Loss().set_indexes([0, 1]), "perplexity": Perplexity().set_indexes([3, 2, 1])}
    values = evaluate(metrics, LossFirst(), *data)
    assert values["loss"] == mean(data.logits.max(-1)[data.mask].tolist())
    nll = nll_of(data.logits, data.labels, data.counted)
    assert values["perplexity"] == pytest.approx(math.exp(mean(nll)), rel=KERNEL)


@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16], ids=str)
def test_batch_size_changes_no_bit(dtype):
    data = seven_rows()
    values = [
        evaluate({"perplexity": Perplexity(), "accuracy": Accuracy(top_k=2)}, Outputs(dtype), *data, size=size)
        for size in (1, 2, 3, 7)
    ]
    assert values[1:] == values[:1] * 3


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
def test_half_precision_logits_are_scored_as_they_are(dtype):
    data = seven_rows()
    values = evaluate({"perplexity": Perplexity()}, Outputs(dtype), *data)
    rounded = ms.Tensor(data.logits * 2).astype(dtype).astype(ms.float32).asnumpy()
    assert (rounded != data.logits * 2).any()
    expected = math.exp(mean(nll_of(rounded, data.labels, data.counted)))
    assert values["perplexity"] == pytest.approx(expected, rel=KERNEL)


def test_nan_logits_at_masked_positions_do_not_count():
    data = seven_rows()
    spoilt = np.where(data.counted[..., None], data.logits, np.float32(np.nan))
    metrics = {"perplexity": Perplexity(), "accuracy": Accuracy()}
    assert evaluate(metrics, Outputs(), spoilt, *data[1:]) == evaluate(metrics, Outputs(), *data)


@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16], ids=str)
def test_shifted_labels(dtype):
    data = seven_rows()
    values = evaluate({"perplexity": Perplexity(shift=True), "accuracy": Accuracy(shift=True)}, Outputs(dtype), *data)
    rounded = ms.Tensor(data.logits * 2).astype(dtype).astype(ms.float32).asnumpy()
    logits, labels, counted = rounded[:, :-1], data.labels[:, 1:], data.counted[:, 1:]
    assert values["perplexity"] == pytest.approx(math.exp(mean(nll_of(logits, labels, counted))), rel=KERNEL)


# -- text columns ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_column_of_texts_gives_bits_per_byte(size):
    data = seven_rows()
    perplexity = Perplexity()
    evaluate({"perplexity": perplexity}, OutputsWithTexts(), *data, TEXTS, size=size)
    total = math.fsum(nll_of(data.logits * 2, data.labels, data.counted))
    # UTF-8: 3 + 9 + 9 + (row 3 is masked) + 6 + 10 + 12; words: 1 + 2 + 1 + 1 + 2 + 3
    result = perplexity.result()
    assert (result["bytes"], result["words"]) == (49, 10)
    assert result["bits_per_byte"] == pytest.approx(total / math.log(2) / 49, rel=KERNEL)
    assert result["word_perplexity"] == pytest.approx(math.exp(total / 10), rel=KERNEL)


def test_texts_pass_through_a_compiled_network_or_are_refused_as_lost(mode):
    data = seven_rows()
    beside, through = Perplexity(), Perplexity()
    evaluate({"perplexity": beside}, OutputsWithTexts(), *data, TEXTS)
    if mode == ms.GRAPH_MODE and texts_are_tensors():
        with pytest.raises(TypeError, match="For 'Perplexity.update', texts must be texts.*lost in a compiled network"):
            evaluate({"perplexity": through}, CompiledWithTexts(), *data, TEXTS)
    else:
        evaluate({"perplexity": through}, CompiledWithTexts(), *data, TEXTS)
        assert through.result() == beside.result()


def test_a_string_tensor_is_texts_and_never_numbers():
    nll, strings = np.float32([[1.0], [1.0]]), ms.Tensor(np.array(["数据", "a b"]))
    perplexity = Perplexity()
    perplexity.update(nll, texts=strings)
    perplexity.eval()
    assert (perplexity.result()["bytes"], perplexity.result()["words"]) == (9, 3)
    with pytest.raises(TypeError, match=r"labels must be numbers, but got string \[2\]"):
        Accuracy().update(np.array([0, 1]), strings)


# -- collections -----------------------------------------------------------------------------------------------------


@pytest.fixture
def passes(monkeypatch):
    """The passes over logits so far, as their shapes."""
    seen = []
    token_nll = tokens.kernels.token_nll

    def counting(logits, *rest, **named):
        seen.append(tuple(logits.shape))
        return token_nll(logits, *rest, **named)

    monkeypatch.setattr(tokens.kernels, "token_nll", counting)
    return seen


def members():
    return {"perplexity": Perplexity(), "accuracy": Accuracy(), "top3": Accuracy(top_k=3)}


def test_members_of_a_collection_equal_lone_metrics_and_share_one_pass_over_the_logits(passes):
    data = seven_rows()
    lone = evaluate(members(), Outputs(), *data)
    assert len(passes) == 9  # three metrics, three batches
    passes.clear()
    collection = MetricCollection(members())
    together = evaluate(collection.as_metrics(), Outputs(), *data)
    assert passes == [(3, 5, 11), (3, 5, 11), (1, 5, 11)]
    assert together == lone
    assert {name: value.parts for name, value in together.items()} == {name: v.parts for name, v in lone.items()}


@pytest.mark.parametrize("kind", [ms.Tensor, np.array], ids=["Tensor", "array"])
def test_a_batch_altered_in_place_between_two_members_is_read_again(kind):
    collection = MetricCollection(members())
    logits, labels = kind(np.float32([[3, 1, 0], [0, 5, 1]])), kind(np.int32([0, 1]))
    collection["perplexity"].update(logits, labels)
    logits[:, 2] = 10.0
    collection["accuracy"].update(logits, labels)
    assert collection["accuracy"].eval() == 0.0


def test_members_share_one_pass_with_eval_indexes_and_with_the_default_eval_network(passes):
    data = seven_rows()
    evaluate(MetricCollection(members()).as_metrics(), Nested(Doubled()), *data, indexes=[0, 1, 2])
    assert len(passes) == 3
    passes.clear()
    loss = nn.CrossEntropyLoss(reduction="none")
    model = train.Model(Doubled(), loss_fn=loss, metrics=MetricCollection(members()).as_metrics())
    model.eval(batches(data.logits[:, 0], data.labels[:, 0], size=3))
    assert passes == [(3, 11), (3, 11), (1, 11)]


def test_members_that_ignore_other_labels_do_not_share_a_pass(passes):
    data = seven_rows()
    labels = np.where(data.labels == -100, 0, data.labels).astype(np.int32)
    metrics = {"all": Perplexity(), "without class 0": Perplexity(ignore_index=0)}
    values = evaluate(MetricCollection(metrics).as_metrics(), Outputs(), data.logits, labels, data.mask)
    assert len(passes) == 6
    for name, counted in [("all", data.mask), ("without class 0", data.mask & (labels != 0))]:
        expected = math.exp(mean(nll_of(data.logits * 2, labels, counted)))
        assert values[name] == pytest.approx(expected, rel=KERNEL)


def test_a_collection_evaluated_by_model_equals_the_same_collection_in_a_loop():
    data = seven_rows()
    collection = MetricCollection(members())
    by_model = evaluate(collection.as_metrics(), Outputs(), *data)
    collection.clear()
    network = Outputs()
    for batch in batches(*data, size=2).create_tuple_iterator(num_epochs=1):
        collection.update(*network(*batch))
    assert collection.eval() == by_model


# -- what goes wrong -------------------------------------------------------------------------------------------------


def test_data_that_is_wholly_ignored_raises_at_the_end_of_model_eval():
    data = seven_rows()
    with pytest.raises(RuntimeError, match="For 'Perplexity.eval', there is no data"):
        evaluate({"perplexity": Perplexity()}, Outputs(), data.logits, np.full_like(data.labels, -100), data.mask)


def test_a_bad_batch_raises_from_model_eval_with_the_metrics_name():
    data = seven_rows()
    labels = np.where(data.labels == 5, 11, data.labels).astype(np.int32)
    mask = np.ones_like(data.mask)
    with pytest.raises(ValueError, match=r"For 'Perplexity.update', labels must lie in \[0, 11\).*but got 11"):
        evaluate({"perplexity": Perplexity()}, Outputs(), data.logits, labels, mask)


def test_an_integer_mask_column_raises_from_model_eval():
    data = seven_rows()
    with pytest.raises(TypeError, match="mask must be boolean"):
        evaluate({"perplexity": Perplexity()}, Outputs(), data.logits, data.labels, data.mask.astype(np.int32))


# -- Model.fit -------------------------------------------------------------------------------------------------------


class Weighted(nn.Cell):
    """Logits that are the input times one weight, which training raises by the learning rate in each step."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor([0.0], ms.float32), name="weight")

    def construct(self, values):
        return values * self.weight


class MinusWeight(nn.Cell):
    """Minus the sum of a row's logits: minus the weight where the row of inputs is one-hot, so its gradient is -1."""

    def construct(self, logits, labels):
        return -logits.sum(axis=-1).mean()


class NestedWithLoss(nn.Cell):
    """As losses it gives the logits of class 0: the weight for the first and the last row, 0 for the three between."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def construct(self, values, labels):
        logits = self.network(values)
        return logits[:, 0], logits, (labels, labels >= 0)


HOT, WANTED = np.array([0, 1, 2, 3, 0]), np.array([0, 1, 2, 3, 1], np.int32)  # four of five are right
ONE_HOT = np.eye(4, dtype=np.float32)[HOT]
STEP = 0.25  # three batches of 2, 2 and 1 rows: the weight is 0.75, 1.5, 2.25, ... after each epoch


def perplexity_after(epoch):
    """exp(log(e^w + 3) - 4/5 w), by hand: smallest where e^w / (e^w + 3) = 4/5, at w = log 12 = 2.48."""
    weight = 3 * STEP * epoch
    return math.exp(math.log(math.exp(weight) + 3) - 0.8 * weight)


def fitted(metrics, callbacks, epochs, custom):
    network = Weighted()
    optimizer = nn.SGD(network.trainable_params(), STEP)
    named = {"eval_network": NestedWithLoss(network), "eval_indexes": [0, 1, 2]} if custom else {}
    model = train.Model(network, loss_fn=MinusWeight(), optimizer=optimizer, metrics=metrics, **named)
    data = batches(ONE_HOT, WANTED, size=2)
    model.fit(epochs, data, data, callbacks=callbacks, dataset_sink_mode=False)
    return network


@pytest.mark.parametrize("custom", [False, True], ids=["default", "custom"])
def test_fit_stops_early_on_perplexity_and_history_holds_it(custom):
    history, stopping = train.History(), train.EarlyStopping(monitor="perplexity", patience=2)
    metrics = MetricCollection({"perplexity": Perplexity(), "accuracy": Accuracy()}).as_metrics()
    network = fitted(metrics, [history, stopping], 9, custom)

    expected = [perplexity_after(epoch) for epoch in range(1, 6)]
    assert min(expected) == expected[2]
    assert stopping.stopped_epoch == 5  # two epochs after the third
    assert float(network.weight) == 5 * 3 * STEP
    assert history.history["perplexity"] == pytest.approx(expected, rel=KERNEL)
    assert history.history["accuracy"] == [0.8] * 5
    assert float(stopping.best) == history.history["perplexity"][2]


def test_fit_restores_the_weights_of_the_best_perplexity():
    stopping = train.EarlyStopping(monitor="perplexity", patience=2, restore_best_weights=True)
    network = fitted({"perplexity": Perplexity()}, [stopping], 9, custom=False)
    assert float(network.weight) == 3 * 3 * STEP


def test_a_loss_in_fit_is_the_mean_over_all_rows():
    history = train.History()
    fitted({"loss": Loss()}, [history], 2, custom=True)
    # 2/5 of the weights 0.75 and 1.5; the mean of batch means would be 1/2 of them, eval_loss would be all of them
    assert history.history["loss"] == [0.3, 0.6]
