"""Checks that every rank makes in one launch: values equal one process's bit for bit, errors are the same on all."""

from __future__ import annotations

import copy
import logging
import os
import sys
from functools import partial
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from harness import case, message, run_all
from mindspore import nn, train

from mindeval import Accuracy, Loss, Metric, MetricCollection, Perplexity, distributed, kernels
from mindeval.communicator import MindSporeCommunicator
from mindeval.state import Counts, ExactSum, Grouped, Rows

ms.set_device("CPU")

BEFORE_INIT = message(lambda: Accuracy(distributed=True)(np.arange(3), np.arange(3)))

from mindspore.communication import create_group, init  # noqa: E402

init()
RANK, WORLD = distributed.this_rank(), distributed.world_size()
N, V = 23, 7
RNG = np.random.default_rng(0)
LOGITS = RNG.normal(scale=3, size=(N, V)).astype(np.float32)
LABELS = RNG.integers(0, V, N).astype(np.int32)
MINE = np.array(distributed.shard(N))

CALLS: list[int] = []
_all_reduce = MindSporeCommunicator.all_reduce


def _counted(self, words):
    CALLS.append(words.size)
    return _all_reduce(self, words)


MindSporeCommunicator.all_reduce = _counted  # type: ignore[method-assign]


class Confusion(Metric):
    """A state that does not fit the frame."""

    def __init__(self, size=50):
        self.size = size
        super().__init__(states={"cells": Counts((size, size))}, settings={"size": size})

    def _contribution(self, predictions, labels):
        cells = np.zeros((self.size, self.size), np.int64)
        np.add.at(cells, (labels, labels), 1)
        return {"cells": cells, "samples": len(labels)}

    def _compute(self, states):
        return {"trace": int(np.trace(states["cells"].value))}


class BySubject(Metric):
    """Groups that ranks discover apart from each other, and rows that padding may repeat."""

    def __init__(self):
        super().__init__(states={"sums": Grouped(ExactSum()), "rows": Rows(1)})

    def _contribution(self, values, subjects, ids):
        sums = {str(subject): values[subjects == subject] for subject in np.unique(subjects)}
        return {"sums": sums, "rows": (ids[:, None] * 10, ids), "samples": len(values)}

    def _compute(self, states):
        sums = {subject: total.over(1) for subject, total in states["sums"].value.items()}
        return {"rows": len(states["rows"].value), "sums": sums, "row_sum": int(states["rows"].value.sum())}

    def _samples(self, states):
        return len(states["rows"].value)


def pair(**options):
    return MetricCollection({"perplexity": Perplexity(), "accuracy": Accuracy()}, **options)


def whole():
    metrics = pair()
    metrics.update(LOGITS, LABELS)
    return metrics.eval()


WARNINGS: list[str] = []
_handler = logging.Handler(logging.WARNING)
_handler.emit = lambda record: WARNINGS.append(record.getMessage())  # type: ignore[method-assign]
logging.getLogger("mindeval").addHandler(_handler)
EXPECTED = whole()


@case
def used_before_init_is_an_error_that_says_what_to_call():
    assert "call mindspore.communication.init() before" in BEFORE_INIT


@case
def uneven_shards_give_the_value_of_one_process_with_one_all_reduce():
    assert len({len(range(rank, N, WORLD)) for rank in range(WORLD)}) > 1
    metrics, before = pair(distributed=True), len(CALLS)
    for row in MINE:
        metrics.update(LOGITS[row : row + 1], LABELS[row : row + 1])
    assert metrics.eval() == EXPECTED
    assert len(CALLS) == before + 1
    assert metrics.result()["accuracy"]["total"] == N


@case
def float32_limbs_give_the_same_bits():
    os.environ["MINDEVAL_CARRIER"] = "float32"
    try:
        for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            ms.set_context(mode=mode)
            metrics = pair(distributed=True)
            metrics.update(LOGITS[MINE], LABELS[MINE])
            assert metrics.eval() == EXPECTED
        big = Confusion().set_distributed()
        big.update(LABELS[MINE], LABELS[MINE])
        assert big.eval() == N
    finally:
        del os.environ["MINDEVAL_CARRIER"]


@case
def a_rank_without_data_does_no_harm_and_no_data_anywhere_raises():
    metrics = pair(distributed=True)
    if RANK == WORLD - 1:
        metrics.update(LOGITS, LABELS)
    assert metrics.eval() == EXPECTED
    assert "there is no data" in message(pair(distributed=True).eval)


@case
def ranks_that_do_not_contribute_get_the_value():
    metrics = pair().set_distributed(contributes=RANK == 0)
    metrics.update(*((LOGITS, LABELS) if RANK == 0 else ("anything", None)))
    assert metrics.eval() == EXPECTED


@case
def a_failed_update_raises_on_every_rank_until_it_is_cleared():
    metrics, labels = pair(distributed=True), LABELS[MINE].copy()
    if RANK == WORLD - 1:
        labels[0] = 99
    metrics.update(LOGITS[MINE], labels)
    texts = [message(metrics.eval), message(metrics.eval)]
    for text in texts:
        assert f"a metric failed on rank {WORLD - 1}: ValueError: For 'Perplexity.update', labels must lie" in text, (
            text
        )
    metrics.clear()
    metrics.update(LOGITS[MINE], LABELS[MINE])
    assert metrics.eval() == EXPECTED


@case
def clearing_another_member_keeps_the_error():
    metrics, labels = MetricCollection({"a": Accuracy(), "b": Accuracy()}, distributed=True), LABELS[MINE].copy()
    if RANK == 0:
        labels[0] = 99
    metrics["a"].update(LOGITS[MINE], labels)
    metrics["b"].clear()
    metrics["b"].update(LOGITS[MINE], LABELS[MINE])
    assert "rank 0: ValueError" in message(metrics.eval)


@case
def a_state_that_cannot_be_packed_raises_on_every_rank():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE], LABELS[MINE])
    if RANK == 0:
        metrics["accuracy"]._states["total"].value = 2**63
    assert "rank 0: OverflowError" in message(metrics.eval)


@case
def a_discovered_group_that_cannot_be_packed_raises_on_every_rank():
    metric = BySubject().set_distributed()
    metric.update(np.ones(2), np.array([RANK, RANK]), np.array([2 * RANK, 2 * RANK + 1]))
    if RANK == 0:
        metric._states["sums"].value["0"].units = 1 << (32 * 67)
    assert "rank 0: OverflowError" in message(metric.eval)


@case
def rows_with_ids_on_one_rank_and_without_on_others_raise_on_every_rank():
    class Kept(BySubject):
        def _contribution(self, values):
            return {"rows": values if RANK else (values, np.arange(len(values))), "samples": len(values)}

    metric = Kept().set_distributed()
    metric.update(np.full((2, 1), RANK))
    assert "give ids for all or for none" in message(metric.eval)


@case
def the_error_of_an_update_goes_along_with_a_merge():
    part, metrics, labels = pair(distributed=True), pair(name="merged", distributed=True), LABELS[MINE].copy()
    if RANK == 0:
        labels[0] = 99
    part.update(LOGITS[MINE], labels)
    metrics.merge(part)
    assert "rank 0: ValueError: For 'Perplexity.update', labels must lie" in message(metrics.eval)


@case
def loading_a_state_forgets_the_error_of_an_update():
    metrics, labels = pair(distributed=True), LABELS[MINE].copy()
    metrics.update(LOGITS[MINE], LABELS[MINE])
    saved = metrics.state_dict()
    if RANK == 0:
        labels[0] = 99
    metrics.update(LOGITS[MINE], labels)
    metrics.load_state_dict(saved)
    assert metrics.eval() == EXPECTED


@case
def a_member_that_failed_after_the_snapshot_does_not_answer_from_it():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE], LABELS[MINE])
    metrics["accuracy"].eval()
    metrics["perplexity"].update(LOGITS[MINE], LABELS[MINE] + 99)
    assert "was updated after its collection was evaluated" in message(metrics["perplexity"].eval)


@case
def ranks_of_which_one_updated_after_the_snapshot_stay_in_step():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE[:-1]], LABELS[MINE[:-1]])
    metrics["accuracy"].eval()
    if RANK == 0:
        metrics.update(LOGITS[MINE[-1:]], LABELS[MINE[-1:]])
        assert "was updated after its collection was evaluated" in message(metrics["perplexity"].eval)
    else:
        metrics["perplexity"].eval()
        metrics.update(LOGITS[MINE[-1:]], LABELS[MINE[-1:]])
    assert metrics["perplexity"].eval() == EXPECTED["perplexity"]


@case
def different_metrics_or_arguments_raise_on_every_rank():
    metrics = pair(distributed=True) if RANK else MetricCollection({"accuracy": Accuracy()}, distributed=True)
    metrics.update(LOGITS, LABELS)
    assert "ranks hold different metrics" in message(metrics.eval)
    metric = Accuracy(ignore_index=3 if RANK else -100, distributed=True)
    metric.update(LOGITS, LABELS)
    text = message(metric.eval)
    assert "ranks [0]: accuracy = accuracy|task:classification|top_k:1|ignore:-100" in text, text


@case
def a_skipped_evaluation_or_an_additional_clear_raises_on_every_rank():
    metrics = pair(distributed=True)
    for turn in range(2):
        metrics.clear()
        metrics.update(LOGITS[MINE], LABELS[MINE])
        if turn == 0 and RANK == 1:
            continue
        text = message(metrics.eval)
        assert "evaluated or cleared them a different number of times" in text, text
        if RANK != 1:
            break
    metric = Accuracy(distributed=True)
    metric.update(LOGITS[MINE], LABELS[MINE])
    if RANK == 0:
        metric.clear()
    assert "different number of times" in message(metric.eval)


@case
def two_collections_evaluated_in_opposite_order_raise_on_every_rank():
    first, second = pair(name="first", distributed=True), pair(name="second", distributed=True)
    for metrics in (first, second):
        metrics.update(LOGITS[MINE], LABELS[MINE])
    assert "collection 'second'" in message((first if RANK else second).eval)
    first, second = Accuracy(distributed=True), Accuracy(distributed=True)  # alike in all but their data
    for metric in (first, second):
        metric.update(LOGITS[MINE], LABELS[MINE])
    text = message((first if RANK else second).eval)
    assert text.count("(distributed as number") == 2, text
    # Each rank's other metric is one evaluation behind, so that the two could match from now on.
    text = message((second if RANK else first).eval)
    assert "different number of times" in text or "its ranks disagreed before" in text, text
    assert "its ranks disagreed before" in message(first.eval)
    assert (first if RANK else second).set_distributed(contributes=True)._scope.distribution.serial > 1


@case
def uneven_numbers_of_updates_after_an_evaluation_do_no_harm():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE[:3]], LABELS[MINE[:3]])
    metrics.eval()
    metrics.eval()
    rest = MINE[3:] if RANK == 0 else MINE[:0]
    if len(rest):
        metrics.update(LOGITS[rest], LABELS[rest])
    metrics.eval()
    assert metrics.result()["perplexity"]["tokens"] == 3 * WORLD + len(range(0, N, WORLD)) - 3


@case
def members_evaluated_alone_and_lone_metrics_agree_with_the_collection():
    metrics, lone = pair(distributed=True), Accuracy(distributed=True)
    metrics.update(LOGITS[MINE], LABELS[MINE])
    lone.update(LOGITS[MINE], LABELS[MINE])
    before = len(CALLS)
    values = [metrics["accuracy"].eval(), lone.eval(), metrics["perplexity"].eval(), metrics["accuracy"].eval()]
    assert values == [EXPECTED["accuracy"], EXPECTED["accuracy"], EXPECTED["perplexity"], EXPECTED["accuracy"]]
    assert len(CALLS) == before + 3  # the first member synchronises both, the second answers from it, then anew


@case
def a_call_gives_the_value_over_all_ranks_and_leaves_the_state():
    metric = Accuracy(distributed=True)
    assert metric(LOGITS[MINE], LABELS[MINE]) == EXPECTED["accuracy"]
    assert "no data" in message(metric.eval)
    metric.update(LOGITS[MINE[:1]], LABELS[MINE[:1]])
    assert metric(LOGITS[MINE], LABELS[MINE]) == EXPECTED["accuracy"]
    metric.eval()
    assert metric.result()["total"] == WORLD


@case
def a_call_of_a_collection_gives_all_values_with_one_all_reduce_and_leaves_everything():
    metrics = pair().set_distributed(expected_samples=WORLD)
    metrics.update(LOGITS[MINE[:1]], LABELS[MINE[:1]])
    assert metrics["accuracy"].eval() == metrics["accuracy"].eval()
    before = len(CALLS)
    assert metrics(LOGITS[MINE], LABELS[MINE]) == EXPECTED
    assert metrics["accuracy"](LOGITS[MINE], LABELS[MINE]) == EXPECTED["accuracy"]
    assert len(CALLS) == before + 2
    metrics["perplexity"].eval()  # still answers from the evaluation before the calls
    assert len(CALLS) == before + 2
    assert metrics.result()["perplexity"]["tokens"] == WORLD
    labels = LABELS[MINE] + (99 if RANK == 0 else 0)
    assert "rank 0: ValueError" in message(lambda: metrics(LOGITS[MINE], labels))
    metrics.eval()
    assert metrics.result()["accuracy"]["total"] == WORLD


@case
def result_never_communicates():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE], LABELS[MINE])
    metrics.eval()
    before = len(CALLS)
    if RANK == 0:
        assert metrics.result()["accuracy"]["total"] == N
    assert len(CALLS) == before


@case
def large_states_take_two_and_discovered_ones_three_all_reduces():
    metrics, before = MetricCollection({"confusion": Confusion(), "accuracy": Accuracy()}, distributed=True), len(CALLS)
    metrics.update(LABELS[MINE], LABELS[MINE])
    assert metrics.eval() == {"confusion": N, "accuracy": 1.0}
    assert len(CALLS) == before + 2
    values, subjects, ids = LOGITS[:, 0].astype(np.float64), np.arange(N) * WORLD // N, np.arange(N)
    alone = BySubject()
    alone.update(values, subjects, ids)
    alone.eval()
    padded = np.array([(RANK + row * WORLD) % N for row in range(-(-N // WORLD))])  # as samplers pad
    own, real = BySubject().set_distributed(expected_samples=N), distributed.valid_mask(0, len(padded), N)
    own.update(np.where(real, values[padded], 0.0), np.where(real, subjects[padded], 0), ids[padded])
    before = len(CALLS)
    assert own.eval() == alone.eval() == N
    assert len(CALLS) == before + 3
    assert own.result()["sums"] == alone.result()["sums"]
    assert own.result()["row_sum"] == alone.result()["row_sum"]
    assert own.result()["samples"] == N  # a padded row has the id of the sample that it repeats


@case
def vocabulary_shards_give_the_statistics_of_the_whole_and_the_same_bits():
    logits = RNG.normal(scale=3, size=(N, 1003)).astype(np.float16)
    labels = RNG.integers(0, 1003, N).astype(np.int32)
    labels[5] = -100
    start, stop = (1003 * r // WORLD for r in (RANK, RANK + 1))
    want = kernels.token_nll(logits, labels, rank=True, entropy=True)
    before = len(CALLS)
    mine = ms.Tensor(np.ascontiguousarray(logits[:, start:stop]))
    got = kernels.vocab_parallel_nll(mine, labels, start, rank=True, entropy=True)
    assert len(CALLS) - before == 3
    assert np.abs(got.nll - want.nll).max() <= 1e-7
    assert (got.rank == want.rank).all()
    assert np.abs(got.entropy - want.entropy).max() <= 4e-6
    bits = got.nll.view(np.int64)
    assert (MindSporeCommunicator().all_reduce(bits >> 8) == WORLD * (bits >> 8)).all()
    labels[7] = 1003
    error = message(lambda: kernels.vocab_parallel_nll(mine, labels, start))
    assert error.startswith("labels must lie in [0, 1003), the vocabulary of all ranks"), error


@case
def sub_groups_are_reduced_apart():
    if WORLD < 4:
        return
    group = distributed.data_parallel_group(dp=WORLD // 2, tp=2)
    assert group == distributed.data_parallel_group(dp=WORLD // 2, tp=2)
    replica = RANK // 2  # tensor-parallel peers hold copies of the same samples
    mine = np.arange(replica, N, WORLD // 2)
    metrics = pair().set_distributed(group=group)
    metrics.update(LOGITS[mine], LABELS[mine])
    assert metrics.eval() == EXPECTED
    by_contribution = pair().set_distributed(contributes=distributed.is_contributor(dp=WORLD // 2, tp=2))
    by_contribution.update(LOGITS[mine], LABELS[mine])
    assert by_contribution.eval() == EXPECTED


@case
def a_group_that_the_user_made_is_taken():
    members = [0, WORLD - 1]
    if RANK in members:
        create_group("ends", members)
        metric = Accuracy(distributed="ends")
        mine = np.arange(members.index(RANK), N, 2)
        metric.update(LOGITS[mine], LABELS[mine])
        assert metric.eval() == EXPECTED["accuracy"]


@case
def a_group_that_is_not_there_is_named():
    assert "nowhere does not exist" in message(Accuracy(distributed="nowhere").eval)


@case
def padding_is_noticed_by_the_expected_number_of_samples():
    rows = np.array([(RANK + row * WORLD) % N for row in range(-(-N // WORLD))])
    metrics = pair().set_distributed(expected_samples=N)
    metrics.update(LOGITS[rows], LABELS[rows])
    padded = -(-N // WORLD) * WORLD
    assert f"{padded} samples were counted, {N} expected" in message(metrics.eval)
    masked = pair().set_distributed(expected_samples=N)
    masked.update(LOGITS[rows], LABELS[rows], distributed.valid_mask(0, len(rows), N))
    assert masked.eval() == EXPECTED


@case
def copies_and_pickles_stay_distributed_and_in_step():
    metrics = pair(distributed=True)
    metrics.update(LOGITS[MINE], LABELS[MINE])
    metrics.eval()
    assert copy.deepcopy(metrics).eval() == EXPECTED
    assert metrics.eval() == EXPECTED


class Identity(nn.Cell):
    def construct(self, x):
        return x * 1.0


class WithLabels(nn.Cell):
    def construct(self, x, y):
        return x, y


def data(rows, labels=LABELS):
    return ds.NumpySlicesDataset((LOGITS[rows], labels[rows]), shuffle=False).batch(2)


@case
def model_eval_reduces_a_collection_by_one_all_reduce_in_both_modes():
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        metrics = MetricCollection(
            {"perplexity": Perplexity(), "accuracy": Accuracy(), "loss": Loss()}, distributed=True
        )
        model = train.Model(Identity(), loss_fn=nn.CrossEntropyLoss(), metrics=metrics.as_metrics())
        for _ in range(2):
            before = len(CALLS)
            values = model.eval(data(MINE), dataset_sink_mode=False)
            assert len(CALLS) == before + 1
            assert (values["perplexity"], values["accuracy"]) == (EXPECTED["perplexity"], EXPECTED["accuracy"])


@case
def model_eval_with_a_failing_rank_raises_on_every_rank():
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        labels = LABELS.copy()
        labels[0] = 77  # rank 0's first sample
        model = train.Model(Identity(), eval_network=WithLabels(), metrics=pair(distributed=True).as_metrics())
        text = message(partial(model.eval, data(MINE, labels), dataset_sink_mode=False))
        assert "rank 0: ValueError" in text, text


class Linear(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(V, V, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.dense(x)


@case
def model_fit_stops_every_rank_at_the_same_epoch():
    network, history = Linear(), train.History()
    stop = train.EarlyStopping(monitor="perplexity", patience=1)
    model = train.Model(
        network,
        loss_fn=nn.CrossEntropyLoss(),
        optimizer=nn.SGD(network.trainable_params(), 0.0),
        metrics=pair(distributed=True).as_metrics(),
    )
    options = {"dataset_sink_mode": False, "valid_dataset_sink_mode": False}
    model.fit(5, data(MINE), data(MINE), callbacks=[stop, history], **options)
    assert len(history.epoch["epoch"]) == 2  # nothing improves with a learning rate of 0


@case
def a_metric_that_was_not_told_warns_once_that_its_value_is_local():
    assert whole() == EXPECTED
    assert whole() == EXPECTED
    text = f"{WORLD} ranks communicate, but 'perplexity, accuracy' was not told about them"
    assert sum(text in warning for warning in WARNINGS) == 1, WARNINGS


@case
def each_metric_that_was_not_told_warns_and_one_that_is_to_stay_alone_does_not():
    alone = Accuracy(name="alone").set_distributed(False)
    together = MetricCollection({"one": Accuracy(), "two": Accuracy()}).set_distributed(False)
    untold = Accuracy(name="untold")
    for metric in (alone, together, untold, untold):
        metric.update(np.arange(3), np.arange(3))
        metric.eval()
        metric(np.arange(3), np.arange(3))
    said = [text for text in WARNINGS if "was not told" in text]
    assert sum("'untold'" in text or "a call of untold" in text for text in said) == 1, said
    assert not any("alone'" in text or "one, two" in text for text in said), said


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), RANK)
