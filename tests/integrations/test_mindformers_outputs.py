"""What MindFormers hands out, turned into what metrics take: needs no MindFormers."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import mindspore as ms
import numpy as np
import pytest

import mindeval
from mindeval.integrations.mindformers import MindevalMetrics, MindevalTextMetrics, contributes, next_tokens
from mindeval.state import Count


@pytest.mark.skipif(
    importlib.util.find_spec("mindformers") is None, reason="it is not installed: the imports above show it"
)
def test_mindformers_is_not_imported_unasked():
    code = (
        "import sys, mindeval; [getattr(mindeval, name) for name in mindeval.__all__]; "
        "import mindeval.integrations.mindformers, mindeval.integrations.mindeval_register; "
        "print('mindformers' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["False"]


def test_a_position_is_scored_on_the_token_behind_it_where_that_one_counts():
    tokens, mask = np.int32([[7, 8, 9, 0], [5, 6, 7, 8]]), np.float32([[1, 1, 1, 0], [1, 0, 1, 1]])
    assert next_tokens(tokens, mask).tolist() == [[8, 9, -100, -100], [-100, 7, 8, -100]]


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_perplexity_of_legacy_outputs_is_the_same_for_every_batch_size(batch_size):
    logits = np.log(np.tile(np.float32([0.5, 0.25, 0.25]), (3, 4, 1)))
    tokens = np.int32([[1, 0, 0, 0], [2, 1, 0, 2], [0, 0, 2, 2]])
    mask = np.float32([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
    metrics = MindevalMetrics(["Perplexity", {"type": "Accuracy", "name": "right"}])
    for start in range(0, 3, batch_size):
        rows = slice(start, start + batch_size)
        metrics.update(ms.Tensor(logits[rows]), ms.Tensor(tokens[rows]), ms.Tensor(mask[rows]))
    # Three tokens of probability 1/2 and one of 1/4: 2^((3 * 1 + 2) / 4). The last row is wholly masked.
    assert metrics.eval() == {"perplexity": pytest.approx(2**1.25, rel=1e-7), "right": 0.75}
    assert metrics.result()["perplexity"]["tokens"] == 4


def test_several_metrics_may_be_named_by_a_dict():
    metrics = MindevalMetrics({"best": "Accuracy", "best2": {"type": "Accuracy", "top_k": 2}})
    metrics.update(np.float32([[0.3, 0.5, 0.2], [0.3, 0.2, 0.5]]), np.array([0, 2]))
    assert metrics.eval() == {"best": 0.5, "best2": 1.0}


def test_a_collection_is_taken_as_it_is():
    collection = mindeval.MetricCollection([mindeval.Accuracy()])
    MindevalMetrics(collection).update(np.float32([[0.3, 0.7], [0.6, 0.4]]), np.array([1, 1]))
    assert collection.eval() == {"accuracy": 0.5}


def test_sums_of_the_graph_give_the_perplexity():
    metrics = MindevalMetrics(["Perplexity"])
    metrics.update(ms.Tensor(6.0), ms.Tensor(4, ms.int32), ms.Tensor(2, ms.int32))
    metrics.update(ms.Tensor(2.0), ms.Tensor(4, ms.int32), ms.Tensor(1, ms.int32))
    assert metrics.eval()["perplexity"] == pytest.approx(np.e, rel=1e-15)  # exp(8 / 8)
    assert metrics.result()["perplexity"]["samples"] == 3


def test_sums_of_the_graph_are_refused_by_metrics_that_need_logits_and_then_nothing_is_added():
    metrics = MindevalMetrics(["Perplexity", "Accuracy"])
    with pytest.raises(ValueError, match="For 'Accuracy.update', there must be logits and labels, but got sums"):
        metrics.update(ms.Tensor(6.0), ms.Tensor(4, ms.int32), ms.Tensor(2, ms.int32))
    metrics.update(np.zeros((1, 2, 5), np.float32), np.zeros((1, 2), np.int64))
    assert metrics.eval()["perplexity"] == pytest.approx(5, rel=1e-7)


def test_expected_samples_are_checked_in_a_single_process():
    metrics = MindevalMetrics(["Perplexity"], expected_samples=3)
    metrics.update(np.zeros((2, 4, 5), np.float32), np.zeros((2, 4), np.int64))
    with pytest.raises(RuntimeError, match="2 samples were counted, 3 expected"):
        metrics.eval()


def test_a_rank_that_does_not_contribute_ignores_whatever_its_network_returns():
    metrics = MindevalMetrics(["Perplexity"], distributed=True, contributes={"pipeline_stage": 2})
    metrics.update(ms.Tensor([1.0]))  # rank 0 is in the first of two stages: no logits
    with pytest.raises(RuntimeError, match="there is no data"):
        metrics.eval()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (
            [np.zeros((8, 5))],
            r"got only float64 \[8, 5\], as from MindFormers' mcore models in evaluation: evaluate .*eval_network",
        ),
        ([np.zeros((1, 2, 5))] * 4, "but got 4: float64"),
        ([np.zeros((1, 2, 5)), [[1, 2]], [[0.5, 1.0]]], "mask must hold 0 and 1"),
        (
            [np.zeros((1, 2, 5)), [[1, 2]], [[1, 1, 1]]],
            r"one shape \[B, S\], but got int64 \[1, 2\] and int64 \[1, 3\]",
        ),
    ],
)
def test_outputs_that_cannot_be_scored_say_why(outputs, message):
    with pytest.raises(ValueError, match=f"For 'MindevalMetrics.update', .*{message}"):
        MindevalMetrics(["Perplexity"]).update(*outputs)


def test_logits_that_may_be_slices_of_the_vocabulary_are_refused(monkeypatch):
    context = {"parallel_mode": "semi_auto_parallel", "full_batch": False, "pipeline_stages": 1}
    monkeypatch.setattr(ms, "get_auto_parallel_context", context.get)
    metrics = MindevalMetrics(["Perplexity"])
    with pytest.raises(ValueError, match="a slice of the logits"):
        metrics.update(np.zeros((1, 2, 5)), np.zeros((1, 2), np.int64))
    metrics.update(ms.Tensor(2.0), ms.Tensor(2, ms.int32), ms.Tensor(1, ms.int32))
    assert metrics.eval()["perplexity"] == pytest.approx(np.e, rel=1e-15)


@pytest.mark.parametrize(
    ("mode", "stages", "counting"), [("data_parallel", 1, [0, 1, 2, 3]), ("semi_auto_parallel", 2, [2])]
)
def test_outputs_that_are_global_count_once(monkeypatch, mode, stages, counting):
    context = {"parallel_mode": mode, "pipeline_stages": stages}
    monkeypatch.setattr(ms, "get_auto_parallel_context", context.get)
    monkeypatch.setattr("mindeval.distributed.world_size", lambda group=None: 4)
    found = []
    for rank in range(4):
        monkeypatch.setattr("mindeval.distributed.this_rank", lambda group=None, rank=rank: rank)
        made = MindevalMetrics(["Perplexity"], distributed=True)
        found += [rank] if made.metrics._scope.distribution.contributes else []
    assert found == counting


def test_one_rank_of_each_replica_counts_in_the_last_stage():
    layout = {"data_parallel": 2, "model_parallel": 2, "pipeline_stage": 2, "context_parallel": 2, "vocab_emb_dp": True}
    # tp fastest, then cp, dp, pp: the last stage is 8..15, its replicas begin at 8 and 12.
    assert [rank for rank in range(16) if contributes(layout, rank)] == [8, 12]


@pytest.mark.parametrize("given", [{"type": "PerplexityMetric"}, {"top_k": 2}, "Metric_", {"type": "MetricCollection"}])
def test_an_unknown_metric_is_refused(given):
    with pytest.raises(ValueError, match="must be one of mindeval or name its class as 'type'"):
        MindevalMetrics([given])


def test_shift_is_refused_because_labels_are_aligned_already():
    with pytest.raises(ValueError, match="'perplexity' must not have shift"):
        MindevalMetrics([{"type": "Perplexity", "shift": True}])


def test_text_metrics_take_two_lists_of_texts():
    class Equal(mindeval.Metric):
        def __init__(self):
            super().__init__(states={"equal": Count()})

        def _contribution(self, predictions, references):
            return {"equal": sum(a == b for a, b in zip(predictions, references)), "samples": len(references)}

        def _compute(self, states):
            return {"equal": states["equal"].value / states["samples"].value}

    metrics = MindevalTextMetrics([Equal()])
    metrics.update(["a", ""], ["a", "b"])
    assert metrics.metrics.eval() == {"equal": 0.5}
    with pytest.raises(ValueError, match="predictions and references, but got 1"):
        metrics.update(["a"])


def test_contributes_alone_is_refused():
    with pytest.raises(ValueError, match="contributes=False means nothing unless distributed"):
        MindevalMetrics(["Perplexity"], contributes=False)
    with pytest.raises(ValueError, match="must be true, false, auto or a parallel_config, but got 'last'"):
        MindevalMetrics(["Perplexity"], distributed=True, contributes="last")
