"""EvalCell against the same metrics on the logits on the host, and against float64 NumPy."""

from __future__ import annotations

import math

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore import nn, ops, train

from mindeval import Accuracy, ChoiceAccuracy, Loss, Metric, MetricCollection, Perplexity, YesNoAccuracy
from mindeval.kernels import linear_token_nll, native
from mindeval.state import Count
from mindeval.training import EvalCell

V = 50
RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(V, V)).astype(np.float32) * 3
IDS = RNG.integers(0, V, (7, 6)).astype(np.int32)
LABELS = np.where(RNG.random((7, 6)) < 0.2, -100, RNG.integers(0, V, (7, 6))).astype(np.int32)
MASK = RNG.random((7, 6)) < 0.7
MASK[3] = False  # a row that is wholly masked
BLOCKWISE = 2e-5  # nat: float32 sums of block-wise operators


MODES = {"pynative": ms.PYNATIVE_MODE, "graph": ms.GRAPH_MODE}


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Bigram(nn.Cell):
    """Ids ``[B, T]`` -> logits ``[B, T, V]`` of a dtype."""

    def __init__(self, dtype=ms.float32):
        super().__init__()
        self.table = nn.Embedding(V, V, embedding_table=ms.Tensor(TABLE))
        self.dtype = dtype

    def construct(self, ids):
        return ops.cast(self.table(ids), self.dtype)


class Shaped(nn.Cell):
    """The same with outputs of another shape."""

    def __init__(self, shape):
        super().__init__()
        self.network, self.shape = Bigram(), shape

    def construct(self, ids):
        logits = self.network(ids)
        if self.shape == "flattened":
            return logits.reshape((-1, V))
        if self.shape == "legacy":
            return logits, ids, (ids != 3).astype(ms.float32)
        return (logits, (ids, ids != 3)), logits.sum()


def collection(**options):
    return MetricCollection(
        {
            "perplexity": Perplexity(**options),
            "top1": Accuracy(**options),
            "top3": Accuracy(top_k=3, **options),
            "shifted": Perplexity(shift=True),
        }
    )


def on_host(network, *columns, **options):
    """What the metrics give for the network's logits; by operators that are not compiled."""
    metrics = collection(**options)
    mode = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    metrics.update(network(ms.Tensor(columns[0])), *[ms.Tensor(column) for column in columns[1:]])
    ms.set_context(mode=mode)
    return {name: score.parts for name, score in metrics.eval().items()}


def data(*columns, size=3):
    names = [f"column{place}" for place in range(len(columns))]
    return ds.NumpySlicesDataset(columns, names, shuffle=False).batch(size)


def nll(labels, counted, ids=IDS):
    logits = TABLE.astype(np.float64)[ids]
    found = np.logaddexp.reduce(logits, -1) - np.take_along_axis(logits, np.maximum(labels, 0)[..., None], -1)[..., 0]
    return found[counted]


@pytest.mark.skipif(not native.available(), reason="the native kernel is not built: bits are those of MindSpore")
@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.float16], ids=str)
def test_equals_the_metrics_on_the_host_bit_for_bit_in_model_eval_and_in_ragged_batches(mode, dtype):
    metrics, network = collection(), Bigram(dtype)
    cell = EvalCell(network, metrics)
    model = train.Model(network, eval_network=cell, metrics=metrics.as_metrics(), eval_indexes=[0, 1, 2])
    values = model.eval(data(IDS, LABELS, MASK))  # 3, 3 and 1 rows
    expected = on_host(network, IDS, LABELS, MASK)
    assert {name: value.parts for name, value in values.items()} == expected
    metrics.clear()
    for rows in (slice(0, 1), slice(1, 4), slice(4, 7)):  # shapes that are compiled already
        metrics.update(*cell(*[ms.Tensor(column[rows]) for column in (IDS, LABELS, MASK)]))
    assert {name: value.parts for name, value in metrics.eval().items()} == expected


def test_in_model_fit_losses_weigh_each_token_alike_and_mindspores_own_loss_leaves_masked_ones_out():
    metrics = MetricCollection({"loss": Loss(), "perplexity": Perplexity()})
    network = Bigram()
    seen = {}

    class Results(train.Callback):
        def on_train_epoch_end(self, run_context):
            seen.update(run_context.original_args().eval_results)

    class Flat(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = network

        def construct(self, ids, labels):
            return self.network(ids).sum()

    model = train.Model(
        Flat(),
        optimizer=nn.SGD([network.table.embedding_table], 0.0),
        metrics=metrics.as_metrics(),
        eval_network=EvalCell(network, metrics),
        eval_indexes=[0, 1, 2],
    )
    model.fit(1, data(IDS, LABELS), data(IDS, LABELS, MASK, size=4), callbacks=[Results()], dataset_sink_mode=False)
    counted = MASK & (LABELS != -100)
    mean = nll(LABELS, counted).mean()
    assert seen["loss"] == pytest.approx(mean, abs=1e-7)
    assert metrics["loss"].result()["exact"] and metrics["loss"].result()["weight"] == counted.sum()
    assert seen["perplexity"] == pytest.approx(math.exp(mean), rel=1e-6)
    last = nll(LABELS[4:], counted[4:], IDS[4:]).mean()  # MindSpore's eval_loss is that of the last batch
    assert float(seen["eval_loss"]) == pytest.approx(last, abs=1e-6)


@pytest.mark.parametrize("shape", ["legacy", "nested"])
def test_labels_and_mask_that_the_network_returns(shape):
    metrics = MetricCollection({"perplexity": Perplexity(shift=True)})
    cell = EvalCell(Shaped(shape), metrics, columns={"inputs": 0})
    metrics.update(*cell(ms.Tensor(IDS), ms.Tensor(LABELS)))
    counted = IDS[:, 1:] != 3
    expected = math.exp(nll(IDS[:, 1:], counted, IDS[:, :-1]).mean())
    assert metrics.eval()["perplexity"] == pytest.approx(expected, rel=1e-6)
    assert metrics["perplexity"].result()["tokens"] == counted.sum()


def test_nested_outputs_in_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    metrics = Perplexity(shift=True)
    metrics.update(*EvalCell(Shaped("nested"), metrics, columns={"inputs": 0})(ms.Tensor(IDS)))
    counted = IDS[:, 1:] != 3
    assert metrics.eval() == pytest.approx(math.exp(nll(IDS[:, 1:], counted, IDS[:, :-1]).mean()), rel=1e-6)


def test_flattened_logits_against_labels_of_two_axes():
    metrics = collection()
    metrics.update(*EvalCell(Shaped("flattened"), metrics)(ms.Tensor(IDS), ms.Tensor(LABELS), ms.Tensor(MASK)))
    assert {n: value.parts for n, value in metrics.eval().items()} == on_host(Bigram(), IDS, LABELS, MASK)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8])
@pytest.mark.parametrize("reduce", ["none", "graph"])
def test_a_column_of_numbers_is_no_mask(dtype, reduce):
    cell = EvalCell(Bigram(), Perplexity(), reduce=reduce)
    with pytest.raises(TypeError, match=r"mask must be boolean .*, but got \w+ \[7, 6\]: write mask != 0"):
        cell(ms.Tensor(IDS), ms.Tensor(LABELS), ms.Tensor(MASK.astype(dtype)))


class WithMask(nn.Cell):
    """Logits, labels and a mask of its own, as MindFormers' legacy models give them."""

    def __init__(self, mask):
        super().__init__()
        self.network, self.labels, self.mask = Bigram(), ms.Tensor(LABELS), ms.Tensor(mask)

    def construct(self, ids):
        return self.network(ids), self.labels, self.mask


@pytest.mark.parametrize(
    ("mode", "dtype", "reduce"),
    [("pynative", dtype, reduce) for dtype in (bool, np.float32, np.float16, np.int32) for reduce in ("none", "graph")]
    + [("graph", np.float32, "none"), ("graph", np.float32, "graph")],
)
def test_a_networks_own_mask_may_be_of_0_and_1(mode, dtype, reduce):
    ms.set_context(mode=MODES[mode])
    perplexity = Perplexity()
    perplexity.update(*EvalCell(WithMask(MASK.astype(dtype)), perplexity, reduce=reduce)(ms.Tensor(IDS)))
    expected = Perplexity()(Bigram()(ms.Tensor(IDS)), ms.Tensor(LABELS), ms.Tensor(MASK))
    assert perplexity.eval() == pytest.approx(expected, rel=1e-14 if reduce == "graph" else 0)
    assert perplexity.result()["tokens"] == (MASK & (LABELS != -100)).sum()


@pytest.mark.parametrize("flag", [0.5, 2.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("reduce", ["none", "graph"])
def test_a_networks_mask_of_other_numbers_is_an_error_of_update(flag, reduce):
    mask = MASK.astype(np.float32)
    mask[2, 3] = flag
    metrics = MetricCollection([Perplexity(), Loss()])
    outputs = EvalCell(WithMask(mask), metrics, reduce=reduce)(ms.Tensor(IDS))
    for name in metrics:
        with pytest.raises(ValueError, match=r"For '\w+.update', mask must hold 0 and 1, but"):
            metrics[name].update(*outputs)


WRONG_SHAPES = [
    (LABELS[..., None], None, r"labels \[...\], but got logits \[7, 6, 50\] against labels \[7, 6, 1\]"),
    (LABELS.T, None, r"but got logits \[7, 6, 50\] against labels \[6, 7\]"),
    (LABELS[:, :5], None, r"but got logits \[7, 6, 50\] against labels \[7, 5\]"),
    (LABELS, MASK.T, r"mask must have shape \[7, 6\] as the labels, but got \[6, 7\]"),
    (LABELS, MASK[:, 0], r"mask must have shape \[7, 6\] as the labels, but got \[7\]"),
    (LABELS, MASK[..., None], r"mask must have shape \[7, 6\] as the labels, but got \[7, 6, 1\]"),
]


@pytest.mark.parametrize("reduce", ["none", "graph"])
@pytest.mark.parametrize(
    ("mode", "wrong"), [("pynative", wrong) for wrong in WRONG_SHAPES] + [("graph", WRONG_SHAPES[i]) for i in (0, 3)]
)
def test_labels_and_masks_of_another_shape_are_refused_as_on_the_host(mode, wrong, reduce):
    ms.set_context(mode=MODES[mode])
    labels, mask, message = wrong
    columns = [ms.Tensor(IDS), ms.Tensor(labels)] + ([] if mask is None else [ms.Tensor(mask)])
    with pytest.raises(ValueError, match=message):
        EvalCell(Bigram(), Perplexity(), reduce=reduce)(*columns)


@pytest.mark.parametrize(
    ("mode", "options"), [("pynative", {}), ("pynative", {"vocab_size": 40}), ("graph", {"vocab_size": 40})]
)
def test_float64_logits_give_float64_nll(mode, options):
    ms.set_context(mode=MODES[mode])
    logits = RNG.normal(size=(7, 6, V)) * 5
    labels = np.where(LABELS >= 40, 3, LABELS).astype(np.int32)

    class Wide(nn.Cell):
        def construct(self, ids):
            return ms.Tensor(logits) + 0 * ids.sum().astype(ms.float64)

    metrics = MetricCollection({"perplexity": Perplexity(**options), "top3": Accuracy(top_k=3)})
    metrics.update(*EvalCell(Wide(), metrics)(ms.Tensor(IDS), ms.Tensor(labels), ms.Tensor(MASK)))
    kept, counted = logits[..., : options.get("vocab_size", V)], MASK & (labels != -100)
    own = np.take_along_axis(logits, np.maximum(labels, 0)[..., None], -1)
    mean = (np.logaddexp.reduce(kept, -1) - own[..., 0])[counted].mean()
    assert math.log(metrics.eval()["perplexity"]) == pytest.approx(mean, abs=1e-12)
    metrics.eval()
    assert metrics["top3"].result()["correct"] == ((logits > own).sum(-1) < 3)[counted].sum()


def test_a_batch_that_is_wholly_masked_adds_nothing():
    metrics = MetricCollection({"loss": Loss(), "perplexity": Perplexity()})
    cell = EvalCell(Bigram(), metrics)
    none = np.zeros_like(MASK)
    metrics.update(*cell(ms.Tensor(IDS), ms.Tensor(LABELS), ms.Tensor(none)))
    metrics.update(*cell(ms.Tensor(IDS), ms.Tensor(LABELS), ms.Tensor(MASK)))
    metrics.eval()
    assert (
        metrics["loss"].result()["weight"] == metrics["perplexity"].result()["tokens"] == (MASK & (LABELS >= 0)).sum()
    )


def test_texts_give_bits_per_byte():
    perplexity = Perplexity()
    cell = EvalCell(Bigram(), perplexity, columns={"inputs": 0, "labels": 1, "texts": 2})
    perplexity.update(*cell(ms.Tensor(IDS[:2]), ms.Tensor(LABELS[:2]), np.array(["两个", "words here"])))
    perplexity.eval()
    assert perplexity.result()["bytes"] == 16  # 2 * 3 + 10


# -- several metrics, heads --------------------------------------------------------------------------------------------


class RightIds(Metric):
    """Counts equal class ids: a metric that is not one of tokens."""

    def __init__(self, name):
        super().__init__(states={"right": Count()}, name=name)

    def _contribution(self, predictions, labels, mask=None):
        counted = labels == labels if mask is None else mask
        return {"right": int(((predictions == labels) & counted).sum()), "samples": len(labels)}

    def _compute(self, states):
        return {"right": states["right"].value}


class AtPosition(nn.Cell):
    """Twice the largest class of the logits at a position of each row."""

    def construct(self, logits, positions):
        batch, length, width = logits.shape
        rows = ops.arange(0, batch) * length + positions
        return ops.argmax(ops.gather(logits.reshape((batch * length, width)), rows, 0), -1) * 2


def test_heads_give_other_metrics_what_they_take(mode):
    metrics = MetricCollection({"ids": RightIds("ids"), "two": RightIds("two"), "perplexity": Perplexity()})
    columns = {"inputs": 0, "labels": 1, "positions": 2, "answers": 3}
    cell = EvalCell(Bigram(), metrics, columns=columns, heads={"ids": "argmax", "two": AtPosition()})
    positions, best = np.int32([0, 2, 4, 5, 1, 1, 3]), TABLE.argmax(-1)[IDS]
    answers = 2 * best[np.arange(7), positions]
    answers[0] += 1  # one of seven is wrong
    with pytest.raises(ValueError, match="operands|shape|broadcast"):  # answers [7] are no labels for ids [7, 6]
        metrics["ids"].update(*cell(*[ms.Tensor(x) for x in (IDS, LABELS, positions, answers.astype(np.int32))]))
    outputs = cell(*[ms.Tensor(x) for x in (IDS, LABELS, positions, answers.astype(np.int32))])
    metrics["two"].update(*outputs)
    assert metrics["two"].eval() == 6
    lone = RightIds("ids")
    lone.update(*EvalCell(Bigram(), lone, heads={"ids": "argmax"})(ms.Tensor(IDS), ms.Tensor(best.astype(np.int32))))
    assert lone.eval() == 42


class Choice(nn.Cell):
    """The largest class of the logits at a position of each row, after MindFormers' flattened logits or others."""

    def construct(self, logits, positions):
        batch, length, width = logits.shape
        rows = ops.arange(0, batch) * length + positions.astype(ms.int64)
        return ops.argmax(ops.gather(logits.reshape((batch * length, width)), rows, 0), -1)


POSITIONS = np.int32([0, 2, 4, 5, 1, 1, 3])
CHOSEN = TABLE.argmax(-1)[IDS][np.arange(7), POSITIONS].astype(np.int32)  # what Choice gives


def of_choices(positions=POSITIONS, mask=None, network=None, members=()):
    """What a metric of a head and others are updated with: ids, labels [7, 6], positions, answers [7], a mask."""
    metrics = MetricCollection([RightIds("ids"), *members])
    columns = {"inputs": 0, "labels": 1, "positions": 2, "answers": 3, **({} if mask is None else {"mask": 4})}
    cell = EvalCell(network or Bigram(), metrics, columns=columns, heads={"ids": Choice()})
    given = [IDS, LABELS, positions, CHOSEN] + ([] if mask is None else [mask])
    return metrics, cell(*[ms.Tensor(column) for column in given])


def test_a_heads_mask_of_the_answers_shape_says_which_of_them_count():
    metrics, outputs = of_choices(mask=np.array([True, False, True, True, False, True, True]))
    metrics.update(*outputs)
    assert metrics.eval()["ids"] == 5


def test_of_a_mask_of_tokens_a_head_leaves_the_wholly_masked_rows_out():
    metrics, outputs = of_choices(mask=MASK, members=[Perplexity()])
    metrics.update(*outputs)
    assert metrics.eval()["ids"] == 6 == MASK.any(1).sum()
    assert metrics["perplexity"].result()["tokens"] == (MASK & (LABELS != -100)).sum()


@pytest.mark.parametrize("shape", [(7, 1), (6,), (1, 7), (7, 5)])
def test_a_heads_mask_of_another_shape_is_an_error_of_update(shape):
    metrics, outputs = of_choices(mask=np.ones(shape, bool))
    with pytest.raises(
        ValueError, match=r"For 'RightIds.update', mask must have shape \[7\] as the answers, but got \["
    ):
        metrics.update(*outputs)


@pytest.mark.parametrize(
    ("mode", "position"), [("pynative", -1), ("pynative", 6), ("pynative", 2**31 - 1), ("graph", 6)]
)
def test_a_position_outside_of_its_row_is_an_error_of_update(mode, position):
    ms.set_context(mode=MODES[mode])
    positions = POSITIONS.copy()
    positions[3] = position
    metrics, outputs = of_choices(positions)
    with pytest.raises(ValueError, match=rf"For 'RightIds.update', positions must lie in \[0, 6\), but got {position}"):
        metrics.update(*outputs)


def test_a_position_of_a_row_that_does_not_count_may_be_anything():
    positions = POSITIONS.copy()
    positions[3] = 6
    metrics, outputs = of_choices(positions, np.arange(7) != 3)
    metrics.update(*outputs)
    assert metrics.eval()["ids"] == 6


@pytest.mark.parametrize("positions", [POSITIONS[:, None], POSITIONS[:5], np.zeros((7, 6), np.int32)])
def test_positions_of_another_shape_are_refused(positions):
    with pytest.raises(ValueError, match=r"positions must have shape \[B\] for logits \[B, T, V\], but got \["):
        of_choices(positions)


def test_heads_with_positions_take_flattened_logits():
    metrics, outputs = of_choices(network=Shaped("flattened"))
    metrics.update(*outputs)
    assert metrics.eval()["ids"] == 7


class Broken(nn.Cell):
    """NaN among the logits of the first position of row 3, which MASK leaves out, and of another row."""

    def __init__(self, row, dtype):
        super().__init__()
        logits = TABLE[IDS].copy()
        logits[[3, row], 0, 7] = np.nan
        self.logits = ms.Tensor(logits).astype(dtype)

    def construct(self, ids):
        return self.logits


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("pynative", dtype) for dtype in (ms.float32, ms.float16, ms.bfloat16, ms.float64)] + [("graph", ms.bfloat16)],
)
def test_nan_among_the_scores_of_an_argmax_is_an_error_of_update_unless_masked(mode, dtype):
    ms.set_context(mode=MODES[mode])
    labels, rows = TABLE.argmax(-1)[IDS].astype(np.int32), ~np.eye(7, dtype=bool)[3][:, None] & np.ones((7, 6), bool)
    columns = [ms.Tensor(IDS), ms.Tensor(labels)]
    lone = RightIds("ids")
    with pytest.raises(ValueError, match="scores must not be NaN for 'argmax', but 2 of 42 rows hold NaN"):
        lone.update(*EvalCell(Broken(5, dtype), lone, heads={"ids": "argmax"})(*columns))
    lone.update(*EvalCell(Broken(3, dtype), lone, heads={"ids": "argmax"})(*columns, ms.Tensor(rows)))
    half = dtype in (ms.float16, ms.bfloat16)  # rounded logits may have another largest one
    rounded = ms.Tensor(TABLE).astype(dtype).astype(ms.float32).asnumpy()
    assert lone.eval() == ((rounded if half else TABLE).argmax(-1)[IDS] == labels)[rows].sum()


def test_parameters_keep_their_names():
    network = Bigram()
    before = [parameter.name for parameter in network.get_parameters()]
    EvalCell(network, Perplexity())
    assert [parameter.name for parameter in network.get_parameters()] == before


def test_a_metric_that_the_cell_was_not_told_of_is_refused():
    cell = EvalCell(Bigram(), Perplexity())
    outputs = cell(ms.Tensor(IDS), ms.Tensor(LABELS))
    with pytest.raises(
        ValueError, match=r"For 'Perplexity.update', .*\(-100, True, None\).*give the metric to EvalCell"
    ):
        Perplexity(shift=True).update(*outputs)
    with pytest.raises(ValueError, match="did not compute the labels' ranks"):
        Accuracy().update(*outputs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metrics": [RightIds("ids")]}, "heads must say what 'ids'"),
        ({"metrics": [Perplexity()], "heads": {"other": "argmax"}}, "heads must be named as metrics"),
        ({"metrics": [Perplexity()], "columns": {"labels": 1}}, "columns must name 'inputs'"),
        ({"metrics": [Perplexity()], "reduce": "mean"}, "reduce must be"),
        ({"metrics": [Accuracy()], "reduce": "graph"}, "for Perplexity and Loss, but got Accuracy"),
        ({"metrics": []}, "at least one metric"),
        ({"metrics": 3}, "metrics must be mindeval metrics, but got int"),
        ({"metrics": [Perplexity()], "heads": ["argmax"]}, "heads must be a dict of metric name -> head"),
        ({"metrics": [Perplexity()], "columns": [0, 1]}, "columns must be a dict of role -> index"),
        ({"metrics": [Perplexity()], "reports": 1}, "reports must be True, False or None, but got 1"),
        ({"network": Perplexity(), "metrics": [Perplexity()]}, "the network must be a Cell, but got Perplexity"),
        (
            {"metrics": [Perplexity()], "columns": {"inputs": 0, "labels": -1}},
            "indexes from 0 on, but got -1 for 'labels'",
        ),
        ({"metrics": [Perplexity()], "columns": {"inputs": (0, "1")}}, "indexes from 0 on, but got .* for 'inputs'"),
        (
            {"metrics": [Perplexity()], "columns": {"inputs": 0, "mask": True}},
            "indexes from 0 on, but got True for 'mask'",
        ),
    ],
)
def test_arguments_that_do_not_fit(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        EvalCell(**{"network": Bigram(), **arguments})


def test_a_column_that_the_batch_does_not_have_is_named():
    cell = EvalCell(Bigram(), Perplexity(), columns={"inputs": 0, "labels": 2})
    with pytest.raises(ValueError, match="the batch has 2 columns, but 'labels' is column 2"):
        cell(ms.Tensor(IDS), ms.Tensor(LABELS))


def test_a_label_outside_of_the_vocabulary_is_an_error_of_update():
    perplexity = Perplexity()
    outputs = EvalCell(Bigram(), perplexity)(ms.Tensor(IDS), ms.Tensor(np.where(LABELS.max() == LABELS, V, LABELS)))
    with pytest.raises(ValueError, match=r"For 'Perplexity.update', labels must lie in \[0, 50\).*but got 50"):
        perplexity.update(*outputs)


# -- hidden states, dynamic shapes, sums inside the graph --------------------------------------------------------------


class Hidden(nn.Cell):
    """Ids to hidden states of 8 numbers."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(V, 8, embedding_table=ms.Tensor(TABLE[:, :8]))

    def construct(self, ids):
        return self.table(ids)


def test_hidden_states_and_the_heads_weight_give_the_nll_without_logits(mode):
    weight = RNG.normal(size=(V, 8)).astype(np.float32)
    metrics = MetricCollection({"perplexity": Perplexity(), "accuracy": Accuracy()})
    cell = EvalCell(Hidden(), metrics, lm_head=ms.Parameter(ms.Tensor(weight), name="head"))
    metrics.update(*cell(ms.Tensor(IDS), ms.Tensor(LABELS), ms.Tensor(MASK)))
    stats = linear_token_nll(TABLE[:, :8][IDS], weight, LABELS, rank=True)
    counted = MASK & (LABELS != -100)
    assert math.log(metrics.eval()["perplexity"]) == pytest.approx(stats.nll[counted].mean(), abs=BLOCKWISE)
    metrics.eval()
    assert metrics["accuracy"].result()["correct"] == (stats.rank[counted] == 0).sum()


def test_dynamic_shapes_compile_once():
    ms.set_context(mode=ms.GRAPH_MODE)
    perplexity = Perplexity()
    network = Bigram()
    cell = EvalCell(network, perplexity)
    cell.set_inputs(*[ms.Tensor(shape=[None, None], dtype=ms.int32)] * 2)
    for rows, length in ((4, 6), (3, 5)):
        perplexity.update(*cell(ms.Tensor(IDS[:rows, :length]), ms.Tensor(LABELS[:rows, :length])))
    ids = np.concatenate([IDS[:4].ravel(), IDS[:3, :5].ravel()])
    labels = np.concatenate([LABELS[:4].ravel(), LABELS[:3, :5].ravel()])
    mean = nll(labels, labels != -100, ids).mean()
    assert math.log(perplexity.eval()) == pytest.approx(mean, abs=BLOCKWISE)
    assert len(cell.compile_cache) == 1


def test_heads_with_positions_take_dynamic_shapes():
    ms.set_context(mode=ms.GRAPH_MODE)
    letters = ChoiceAccuracy(tokenizer_or_ids={"A": [4], "B": [9], "C": [11], "D": [3]}, inputs="log_probs")
    cell = EvalCell(Bigram(), letters, columns={"inputs": 0, "labels": 1, "positions": 2})
    cell.set_inputs(*[ms.Tensor(shape=shape, dtype=ms.int32) for shape in ([None, None], [None], [None])])
    for rows, length in ((4, 6), (3, 5)):
        positions = np.arange(rows, dtype=np.int32)
        best = TABLE[IDS[positions, positions]][:, [4, 9, 11, 3]].argmax(1).astype(np.int32)
        letters.update(*cell(ms.Tensor(IDS[:rows, :length]), ms.Tensor(best), ms.Tensor(positions)))
    assert letters.eval() == 1.0 and letters.result()["samples"] == 7 and len(cell.compile_cache) == 1
    with pytest.raises(ValueError, match=r"positions must lie in \[0, 5\), but got 5"):
        letters.update(*cell(ms.Tensor(IDS[:3, :5]), ms.Tensor(best), ms.Tensor(positions + 3)))


def test_sums_inside_the_graph_are_taken_as_global(mode, caplog):
    metrics = MetricCollection({"perplexity": Perplexity(), "loss": Loss()})
    cell = EvalCell(Bigram(), metrics, reduce="graph")
    for start in (0, 4):
        metrics.update(*cell(*[ms.Tensor(x[start : start + 4]) for x in (IDS, LABELS, MASK)]))
    counted = MASK & (LABELS != -100)
    values = metrics.eval()
    assert values["loss"] == pytest.approx(nll(LABELS, counted).mean(), abs=1e-6)
    assert metrics["perplexity"].result()["tokens"] == counted.sum()
    assert metrics["perplexity"].result()["samples"] == counted.any(1).sum()
    bad = cell(ms.Tensor(IDS[:4]), ms.Tensor(np.full_like(LABELS[:4], V)), ms.Tensor(np.ones_like(MASK[:4])))
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 50\).*24 do not"):
        metrics["perplexity"].update(*bad)


@pytest.mark.parametrize(("parallel", "reduce"), [("semi_auto_parallel", "graph"), ("data_parallel", "none")])
def test_auto_follows_the_parallel_mode(parallel, reduce, monkeypatch):
    monkeypatch.setattr(ms, "get_auto_parallel_context", {"parallel_mode": parallel}.__getitem__)
    assert EvalCell(Bigram(), Perplexity()).reduce == reduce


def test_a_slice_of_the_vocabulary_is_refused(mode):
    """What a rank sees under semi-auto parallel with a vocabulary-parallel head: V / tp columns."""
    cell = EvalCell(Bigram(), Perplexity(vocab_size=2 * V))
    with pytest.raises(ValueError, match="at least the vocab_size=100 columns of the metric, but got 50"):
        cell(ms.Tensor(IDS), ms.Tensor(LABELS))


@pytest.mark.parametrize("layout", ["replicated", "rows over all devices", "rows over data parallel"])
def test_simulated_layouts_of_semi_auto_parallel_need_the_sums(layout):
    """Not run on a card. What each of 4 ranks (dp 2, tp 2) would see of the outputs, against global sums.

    Only sums that are taken inside the graph are the same whatever the layout: per-token outputs are seen once, twice
    or four times.
    """
    perplexity = Perplexity()
    sums = EvalCell(Bigram(), perplexity, reduce="graph")(ms.Tensor(IDS[:4]), ms.Tensor(LABELS[:4]))
    perplexity.update(*sums)
    value = perplexity.eval()
    rows = {
        "replicated": [range(4)] * 4,
        "rows over all devices": [[0], [1], [2], [3]],
        "rows over data parallel": [[0, 1], [0, 1], [2, 3], [2, 3]],
    }[layout]
    seen = sum(len(shard) for shard in rows)
    assert seen == {"replicated": 16, "rows over all devices": 4, "rows over data parallel": 8}[layout]
    counted = LABELS[:4] != -100
    assert perplexity.result()["tokens"] == counted.sum()  # each token once, for every layout
    assert math.log(value) == pytest.approx(nll(LABELS[:4], counted, IDS[:4]).mean(), abs=1e-6)


def test_yes_no_and_choice_metrics_bring_their_heads(mode):
    prompts = IDS[:, 0]
    yes_no = YesNoAccuracy({"yes": [4], "no": [9]}, inputs="log_probs")
    letters = ChoiceAccuracy(tokenizer_or_ids={"A": [4], "B": [9], "C": [11], "D": [3]}, inputs="log_probs")
    logits = TABLE[prompts]
    gold = (logits[:, 4] > logits[:, 9]).astype(np.int32)
    gold[0] = 1 - gold[0]
    yes_no.update(*EvalCell(Bigram(), yes_no)(ms.Tensor(prompts), ms.Tensor(gold)))
    assert yes_no.eval() == 6 / 7
    # prompts of 6 tokens, whose last one stands at another position in each row
    positions = np.int32([0, 5, 2, 3, 1, 4, 2])
    best = TABLE[IDS[np.arange(7), positions]][:, [4, 9, 11, 3]].argmax(1).astype(np.int32)
    cell = EvalCell(Bigram(), letters, columns={"inputs": 0, "labels": 1, "positions": 2})
    letters.update(*cell(ms.Tensor(IDS), ms.Tensor(best), ms.Tensor(positions)))
    assert letters.eval() == 1.0


def test_a_metric_that_wants_logits_is_told_to_take_log_probabilities():
    with pytest.raises(ValueError, match="'yes_no_accuracy' must be made with inputs='log_probs'"):
        EvalCell(Bigram(), YesNoAccuracy({"yes": [4], "no": [9]}))


@pytest.mark.parametrize("metric", ["choice", "yes_no"])
def test_candidates_of_whole_sequences_without_positions_are_refused_whatever_the_length(mode, metric):
    """T = V: a gather on the wrong axis would find its columns."""
    ids = {"A": [4], "B": [9]}
    choice = ChoiceAccuracy("AB", tokenizer_or_ids=ids, inputs="log_probs")
    lone = choice if metric == "choice" else YesNoAccuracy({"yes": [4], "no": [9]}, inputs="log_probs")
    cell = EvalCell(Bigram(), lone, columns={"inputs": 0, "labels": 1})
    square = np.resize(IDS, (2, V)).astype(np.int32)
    with pytest.raises(ValueError, match=r"shape \[B, V\], or \[B, T, V\] with positions \[B\].*without positions"):
        cell(ms.Tensor(square), ms.Tensor([0, 1], ms.int32))


class Given(nn.Cell):
    """The logits that are its input, as they are or nested."""

    def __init__(self, depth=0):
        super().__init__()
        self.depth = depth

    def construct(self, logits, labels=None):
        nested = (logits,)
        if self.depth > 1:
            nested = ((((nested,),),),)
        return logits if self.depth == 0 else (nested, labels)


INFINITE = np.float32(  # label 1: behind three; first; behind an equal one at a lower id; likewise; first
    [[np.inf, 0, 1, 2], [0, np.inf, 1, 2], [np.inf, np.inf, 1, 2], [-np.inf] * 4, [3, 5, -np.inf, 1]]
)
RIGHT_OF_INFINITE = 2  # rows 1 and 4


@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.float64], ids=str)
def test_infinite_logits_are_scores_as_on_the_host_and_other_metrics_go_on(mode, dtype):
    logits, labels = ms.Tensor(INFINITE).astype(dtype), ms.Tensor(np.ones(5, np.int32))
    metrics = MetricCollection({"first": Accuracy(), "second": Accuracy(top_k=2), "perplexity": Perplexity()})
    metrics.update(*EvalCell(Given(), metrics)(logits, labels))
    values = metrics.eval()
    assert values["first"].parts["correct"] == RIGHT_OF_INFINITE
    assert values["second"].parts["correct"] == 4  # three are above label 1 in row 0, at most one elsewhere
    assert math.isnan(values["perplexity"])


def test_infinite_logits_of_a_head_weight_are_ranked_and_nan_is_refused(mode):
    hidden, weight = np.float32([[1.0, 0.0], [0.0, 1.0]]), np.float32([[np.inf, 0], [0, 2], [0, 1]])
    hidden[1, 0] = -1.0  # logits: inf, 0, 0 and -inf, 2, 1
    accuracy = Accuracy()
    cell = EvalCell(Given(), accuracy, lm_head=ms.Tensor(weight))
    with pytest.raises(ValueError, match="NaN"):
        accuracy.update(*cell(ms.Tensor(np.float32([[np.nan, 1.0]])), ms.Tensor([1], ms.int32)))
    accuracy.update(*cell(ms.Tensor(hidden), ms.Tensor([0, 1], ms.int32)))
    assert accuracy.eval() == 1.0


@pytest.mark.skipif(not native.available(), reason="the native kernel is not built: bits are those of MindSpore")
@pytest.mark.parametrize("dtype", [ms.bfloat16, ms.float16], ids=str)
@pytest.mark.parametrize("shift", [False, True], ids=["", "shift"])
def test_flattened_logits_of_each_dtype_have_the_bits_of_the_host(mode, dtype, shift):
    logits = ms.Tensor(TABLE[IDS].reshape(-1, V)).astype(dtype)
    metrics, host = collection(shift=shift), collection(shift=shift)
    metrics.update(*EvalCell(Given(), metrics)(logits, ms.Tensor(LABELS), ms.Tensor(MASK)))
    host.update(logits, ms.Tensor(LABELS), ms.Tensor(MASK))
    assert {n: v.parts for n, v in metrics.eval().items()} == {n: v.parts for n, v in host.eval().items()}


def test_flattened_bfloat16_logits_have_an_argmax_and_candidates_at_positions(mode):
    logits = ms.Tensor(TABLE[IDS].reshape(-1, V)).astype(ms.bfloat16)
    rounded = logits.astype(ms.float32).asnumpy().reshape(7, 6, V)
    best = rounded.argmax(-1).astype(np.int32)
    lone = RightIds("ids")
    lone.update(*EvalCell(Given(), lone, heads={"ids": "argmax"})(logits, ms.Tensor(best), ms.Tensor(MASK)))
    assert lone.eval() == MASK.sum()
    letters = ChoiceAccuracy("AB", tokenizer_or_ids={"A": [4], "B": [9]}, inputs="log_probs")
    cell = EvalCell(Given(), letters, columns={"inputs": 0, "labels": 1, "positions": 2})
    answers = rounded[np.arange(7), POSITIONS][:, [4, 9]].argmax(1).astype(np.int32)
    letters.update(*cell(logits, ms.Tensor(answers), ms.Tensor(POSITIONS)))
    assert letters.eval() == 1.0


@pytest.mark.parametrize("dtype", [ms.bfloat16, ms.float16, ms.float32, ms.float64], ids=str)
@pytest.mark.parametrize("vocab_size", [None, V - 10])
@pytest.mark.parametrize("shift", [False, True], ids=["", "shift"])
def test_hidden_states_and_the_weight_of_the_head_may_have_any_dtype(mode, dtype, vocab_size, shift):
    weight = ms.Tensor(RNG.normal(size=(V, 8)).astype(np.float32)).astype(dtype)
    hidden = ms.Tensor(TABLE[IDS][..., :8]).astype(dtype)
    labels = np.where(vocab_size is None or LABELS < V - 10, LABELS, -100)
    perplexity = Perplexity(vocab_size=vocab_size, shift=shift)
    metrics = MetricCollection([perplexity, Accuracy(shift=shift)] if vocab_size is None else [perplexity])
    metrics.update(*EvalCell(Given(), metrics, lm_head=weight)(hidden, ms.Tensor(labels)))
    states, rows = (x.astype(ms.float32).asnumpy().astype(np.float64) for x in (hidden, weight[:vocab_size]))
    logits, wanted = states @ rows.T, labels
    if shift:
        logits, wanted = logits[:, :-1], labels[:, 1:]
    counted = wanted != -100
    target = np.take_along_axis(logits, np.where(counted, wanted, 0)[..., None], -1)[..., 0]
    nll = (np.logaddexp.reduce(logits, -1) - target)[counted]
    values = metrics.eval()
    assert math.log(values["perplexity"]) == pytest.approx(nll.mean(), abs=BLOCKWISE)
    if "accuracy" in values:
        assert values["accuracy"].parts["correct"] == (logits.argmax(-1) == wanted)[counted].sum()


@pytest.mark.parametrize("depth", [1, 5])
def test_outputs_may_be_nested_however_deep(mode, depth):
    perplexity = Perplexity()
    cell = EvalCell(Given(depth), perplexity, columns={"inputs": (0, 1)})
    perplexity.update(*cell(ms.Tensor(TABLE[IDS]), ms.Tensor(LABELS)))
    assert math.log(perplexity.eval()) == pytest.approx(nll(LABELS, LABELS != -100).mean(), abs=1e-6)


def test_arrays_are_taken_as_tensors_and_lists_are_refused(mode):
    of_arrays, of_tensors = Perplexity(), Perplexity()
    cell = EvalCell(Bigram(), [of_arrays])
    of_arrays.update(*cell(IDS, LABELS, MASK))
    of_tensors.update(*cell(*map(ms.Tensor, (IDS, LABELS, MASK))))
    assert of_arrays.eval() == of_tensors.eval()
    with pytest.raises(TypeError, match="must be Tensors or arrays of numbers, but got a list of 7 list as column 1"):
        cell(IDS, LABELS.tolist())


def test_the_weight_of_a_head_may_be_an_array_and_is_checked(mode):
    weight = RNG.normal(size=(V, 8)).astype(np.float32)
    of_array, of_tensor = Perplexity(), Perplexity()
    of_array.update(*EvalCell(Hidden(), of_array, lm_head=weight)(IDS, LABELS))
    of_tensor.update(*EvalCell(Hidden(), of_tensor, lm_head=ms.Tensor(weight))(IDS, LABELS))
    assert of_array.eval() == of_tensor.eval()
    with pytest.raises(TypeError, match="lm_head must be a weight, but got Dense: give its weight"):
        EvalCell(Hidden(), Perplexity(), lm_head=nn.Dense(8, V))
    with pytest.raises(ValueError, match=r"lm_head must have shape \[V, H\], but got \[50\]"):
        EvalCell(Hidden(), Perplexity(), lm_head=weight[:, 0])
    with pytest.raises(ValueError, match=r"shape \[V, H\] with H=8 as the hidden states, but got \[8, 50\]"):
        EvalCell(Hidden(), Perplexity(), lm_head=weight.T)(IDS, LABELS)


@pytest.mark.parametrize("mask", [MASK[:6, :].T, MASK[:6, :5], MASK[:6].reshape(-1)], ids=["turned", "short", "flat"])
def test_a_dynamic_graph_refuses_a_mask_of_another_shape(mask):
    ms.set_context(mode=ms.GRAPH_MODE)
    cell = EvalCell(Bigram(), Perplexity())
    kinds = (ms.int32, ms.int32, ms.bool_)
    cell.set_inputs(*[ms.Tensor(shape=[None, None], dtype=kind) for kind in kinds])
    ids, labels = IDS[:5], LABELS[:5]
    with pytest.raises(ValueError, match=r"mask must have shape \[5, 6\] as the labels, but got \["):
        cell(ids, labels, mask)


@pytest.mark.parametrize("first", ["perplexity", "shifted"])
def test_loss_takes_the_nll_of_the_first_metric_that_reads_tokens(first):
    members = {"perplexity": Perplexity(), "shifted": Perplexity(shift=True)}
    metrics = MetricCollection({"loss": Loss(), first: members.pop(first), **members})
    metrics.update(*EvalCell(Bigram(), metrics)(IDS, LABELS))
    values = metrics.eval()
    assert values["loss"] == pytest.approx(math.log(values[first]), abs=1e-12)
