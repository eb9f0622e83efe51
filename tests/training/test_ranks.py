"""Two real processes train together: what each of them saw, kept and decided."""

from __future__ import annotations

import json
import math
from pathlib import Path

import fitting
import mindspore as ms
import numpy as np
import pytest
from launcher import launch

from mindeval.training import History

SCRIPT = Path(__file__).parents[1] / "distributed" / "ranks_training.py"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    launch(2, SCRIPT, [str(folder)], folder / "logs")
    return folder, [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(2)]


def test_all_ranks_hold_the_same_history_and_rank_0_writes_it(ranks):
    folder, (first, second) = ranks
    assert first["history"] == second["history"]
    assert (first["history"][0]["resumed"], first["history"][0]["ranks"]) == (False, 2)
    assert [first["written"], second["written"]] == [True, False]
    assert History(folder / "run" / "history.jsonl", write=False).records == first["history"]
    kinds = [record["kind"] for record in first["history"]]
    assert kinds.count("eval") >= 5 and kinds.count("train") >= 7
    windows = [record for record in first["history"] if record["kind"] == "train"]
    assert all(window["tokens_per_second"] > 0 for window in windows)
    assert windows[-1]["loss"] < windows[0]["loss"] - 1


def test_best_checkpoint_and_early_stopping_agree(ranks):
    folder, (first, second) = ranks
    assert first["best"] == second["best"] and first["stopped"] == second["stopped"] is not None
    series = [(r["step"], r["metrics"]["perplexity"]) for r in first["history"] if r["kind"] == "eval"]
    step, value = min(series, key=lambda pair: pair[1])
    assert first["best"] == [value, step]
    assert first["stopped"] == series[-1][0]
    note = json.loads((folder / "run" / "best.json").read_text())
    assert (note["step"], float(note["value"])) == (step, value)


def without_speed(history):
    """What must not depend on the clock or on the number of ranks."""
    clock = ("seconds", "steps_per_second", "ranks")
    return [{name: value for name, value in record.items() if name not in clock} for record in history]


def test_model_fit_gives_both_ranks_one_history_and_the_same_decisions(ranks):
    folder, results = ranks
    first, second = (result["fit"] for result in results)
    assert [first.pop("written"), second.pop("written")] == [True, False]
    assert first == second
    assert History(folder / "fit" / "history.jsonl", write=False).records == first["history"]
    assert first["history"][0]["ranks"] == 2
    series = [(r["step"], r["metrics"]["perplexity"]) for r in first["history"] if r["kind"] == "eval"]
    step, value = min(series, key=lambda pair: pair[1])
    assert first["best"] == [value, step]
    # two steps in an epoch, patience 2; the run stops there and not at the end of its 20 epochs
    assert first["stopped"] == [step + 4, step + 4] and series[-1][0] == step + 4 < 40
    note = json.loads((folder / "fit" / "best.json").read_text())
    assert (note["step"], float(note["value"])) == (step, value)


def test_the_best_weights_of_model_fit_give_the_best_value_over_the_rows_of_both_ranks(ranks):
    folder, results = ranks
    (table,) = ms.load_checkpoint(str(folder / "fit" / "best.ckpt")).values()
    ids, labels = fitting.HELD_OUT
    logits = table.asnumpy().astype(np.float64)[ids]
    nll = np.logaddexp.reduce(logits, -1) - np.take_along_axis(logits, labels[..., None], -1)[..., 0]
    value, step = results[0]["fit"]["best"]
    assert value == pytest.approx(math.exp(nll.mean()), rel=1e-6)
    (record,) = [r for r in results[0]["fit"]["history"] if (r["kind"], r["step"]) == ("eval", step)]
    assert record["metrics"]["accuracy"] == (logits.argmax(-1) == labels).mean()
    assert record["metrics"]["loss"] == pytest.approx(nll.mean(), abs=1e-6)


def test_model_fit_on_two_ranks_and_on_one_is_the_same_run_where_the_training_data_is_the_same(ranks, tmp_path):
    ms.set_context(mode=ms.GRAPH_MODE)
    alone, together = fitting.fit(tmp_path), ranks[1][0]["fit"]
    assert (alone["history"][0]["ranks"], together["history"][0]["ranks"]) == (1, 2)
    assert without_speed(alone["history"]) == without_speed(together["history"])
    assert [alone[name] for name in ("best", "stopped", "weights")] == [
        together[name] for name in ("best", "stopped", "weights")
    ]
    assert (tmp_path / "best.json").read_text() == (ranks[0] / "fit" / "best.json").read_text()


def test_an_evaluation_that_fails_on_one_rank_is_an_error_on_all_and_training_goes_on(ranks):
    _, (first, second) = ranks
    assert first["one_rank_fails"] == second["one_rank_fails"]
    kinds = [(record["kind"], record["step"]) for record in first["one_rank_fails"] if record["kind"] != "train"]
    assert kinds == [("start", 0), ("error", 2), ("eval", 4)]
    failed = next(record for record in first["one_rank_fails"] if record["kind"] == "error")
    assert "the disk of rank 1 is gone" in failed["error"]
    assert first["one_rank_fails"][-1]["metrics"] == {"accuracy": 0.5}


def test_a_value_that_differs_between_ranks_is_refused_by_all(ranks):
    _, results = ranks
    for result in results:
        error, warnings = result["ranks_differ"]
        assert "'score' must be the same on all ranks, but got ['0.0', '1.0']" in error
        warned = "For 'EvalCallback', ['score'] differ between the ranks, and are recorded as they are"
        assert warnings.count(warned) == 1  # of four evaluations; no callback decided on the first three


def test_sums_that_are_global_already_are_counted_once(ranks):
    _, results = ranks
    for result in results:
        perplexity, tokens = result["sums"]
        assert tokens == 3 and perplexity == pytest.approx(2, rel=1e-6)  # three tokens, each one of two


def test_generating_that_fails_on_one_rank_is_an_error_on_all(ranks):
    _, results = ranks
    for result in results:
        kind, text = result["generation_fails"]
        assert kind == "DistributedError"
        assert "a metric failed on rank 1: OSError: the weights of rank 1 are gone" in text
