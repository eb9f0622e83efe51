"""Two real processes train together: what each of them saw, kept and decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from launcher import launch

from mindeval.training import History

SCRIPT = Path(__file__).parents[1] / "distributed" / "ranks_training.py"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    launch(2, SCRIPT, [str(folder)], folder / "logs", deadline=200)
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
        assert "'score' must be the same on all ranks, but got ['0.0', '1.0']" in result["ranks_differ"]


def test_sums_that_are_global_already_are_counted_once(ranks):
    _, results = ranks
    for result in results:
        perplexity, tokens = result["sums"]
        assert tokens == 3 and perplexity == pytest.approx(2, rel=1e-6)  # three tokens, each one of two
