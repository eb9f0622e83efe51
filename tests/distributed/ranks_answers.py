"""Checks of answer scoring that every rank makes in one launch: subjects differ between ranks, values equal one
process's bit for bit."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import mindspore as ms
import numpy as np
from harness import case, message, run_all

from mindeval import MetricCollection, distributed, kernels
from mindeval.answers.answer import AnswerAccuracy
from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.pass_at_k import PassAtK
from mindeval.answers.yes_no import YesNoAccuracy

ms.set_device("CPU")

from mindspore.communication import init  # noqa: E402

init()
RANK, WORLD = distributed.this_rank(), distributed.world_size()
N = 29
RNG = np.random.default_rng(7)
LOGITS = RNG.normal(scale=3, size=(N, 11)).astype(np.float32)
LABELS = RNG.integers(0, 4, N)
TRUE = RNG.random(N) < 0.5
TEXTS = [f"The answer is {'ABCD'[k]}." if k < 4 else "no idea" for k in RNG.integers(0, 5, N)]
GOLDS = ["ABCD"[k] for k in LABELS]
CORRECT = RNG.random((N, 4)) < 0.5
# contiguous shards of sorted subjects: each rank sees subjects that no other rank sees, and the last rank only one
SUBJECTS = [f"subject {place // 4}" for place in range(N)]
EDGES = np.linspace(0, N, WORLD + 1).astype(int)
MINE = np.arange(EDGES[RANK], EDGES[RANK + 1])
IDS = {"A": [0, 4], "B": [1], "C": [2], "D": [3, 5]}


def all_metrics(**how):
    return {
        "letters": ChoiceAccuracy(tokenizer_or_ids=IDS, groups=sorted(set(SUBJECTS)), **how),
        "texts": ChoiceAccuracy(mode="text", groups=True, **how),
        "yes": YesNoAccuracy({"yes": [3, 5], "no": [1]}, **how),
        "answers": AnswerAccuracy("choice", **how),
        "passes": PassAtK((1, 2), 4, **how),
    }


def updated(metrics, rows):
    def picked(values):
        return [values[row] for row in rows]

    half = len(rows) // 2
    for part in (rows[:half], rows[half:]) if half else (rows,):
        subjects = [SUBJECTS[row] for row in part]
        metrics["letters"].update(LOGITS[part], LABELS[part], None, subjects)
        metrics["texts"].update([TEXTS[row] for row in part], [GOLDS[row] for row in part], None, subjects)
        metrics["yes"].update(LOGITS[part], TRUE[part])
        metrics["answers"].update([TEXTS[row] for row in part], [GOLDS[row] for row in part])
        metrics["passes"].update(CORRECT[part])
    return metrics


EXPECTED = {}
for name, metric in updated(all_metrics(), np.arange(N)).items():
    EXPECTED[name] = (metric.eval(), metric.result())


@case
def subjects_that_one_rank_alone_sees_are_in_every_ranks_result():
    for name, metric in updated(all_metrics(distributed=True), MINE).items():
        assert (metric.eval(), metric.result()) == EXPECTED[name], name
    groups = EXPECTED["texts"][1]["by_group"]
    assert len(groups) == len(set(SUBJECTS)) > len({SUBJECTS[row] for row in MINE})


@case
def a_collection_of_them_says_the_same():
    metrics = all_metrics()
    collection = MetricCollection(metrics, distributed=True)
    updated(metrics, MINE)
    for name, metric in metrics.items():
        assert (metric.eval(), metric.result()) == EXPECTED[name], name
    del collection


@case
def a_rank_without_a_question_agrees():
    metric = ChoiceAccuracy(mode="text", groups=True, distributed=True)
    if RANK == 0:
        metric.update(["A", "B"], ["A", "A"], None, ["law", "art"])
    assert metric.eval() == 0.5
    assert metric.result()["by_group"]["law"] == {"accuracy": 1.0, "correct": 1, "samples": 1}


@case
def an_undeclared_subject_on_one_rank_is_an_error_on_all():
    metric = ChoiceAccuracy(mode="text", groups=["law"], distributed=True)
    metric.update(["A"], ["A"], None, ["law" if RANK else "music"])
    assert "'music' is not one of the declared groups" in message(metric.eval)


@case
def a_group_that_one_rank_names_by_int_and_another_by_str_is_one():
    metric = ChoiceAccuracy(mode="text", groups=True, distributed=True)
    metric.update(["A"], ["B" if RANK else "A"], None, ["1" if RANK else 1])
    assert metric.eval() == 1 / WORLD
    assert list(metric.result()["by_group"]) == ["1"]


def said(answer, reference):
    return {"yes": True}[answer] and answer == reference


@case
def a_function_that_fails_on_one_rank_is_named_on_all():
    metric = AnswerAccuracy(said, distributed=True)
    metric.update(["no" if RANK == WORLD - 1 else "yes"], ["yes"])
    text = message(metric.eval)
    assert "said#" in text and "failed on sample 0 ('no'): KeyError: 'no'" in text


@case
def ranks_with_different_functions_disagree():
    metric = AnswerAccuracy((lambda a, r: a == r) if RANK else (lambda a, r: a != r), distributed=True)
    metric.update(["yes"], ["yes"])
    assert "match:" in message(metric.eval)


@case
def logits_that_are_sharded_over_the_vocabulary_give_the_same_answers():
    edges = np.linspace(0, 11, WORLD + 1).astype(int)
    shard = np.ascontiguousarray(LOGITS[:, edges[RANK] : edges[RANK + 1]])
    nll = partial(kernels.vocab_parallel_nll, vocab_start=int(edges[RANK]))
    letters = ChoiceAccuracy(tokenizer_or_ids=IDS, nll=nll)
    letters.update(shard, LABELS)
    yes = YesNoAccuracy({"yes": [3, 5], "no": [1]}, nll=nll)
    yes.update(shard, TRUE)
    assert letters.eval() == EXPECTED["letters"][0]
    assert yes.eval() == EXPECTED["yes"][0]
    assert abs(yes.result()["mass"] - EXPECTED["yes"][1]["mass"]) < 1e-6


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), RANK)
