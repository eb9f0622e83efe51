"""One of two real processes cannot write: both raise the error at the same step, or both log it and go on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from launcher import launch

SCRIPT = Path(__file__).parents[1] / "distributed" / "ranks_writing.py"


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("writing")
    launch(2, SCRIPT, [str(folder)], folder / "logs", deadline=200)
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(2)]


# what failed, and the steps that were begun when the ranks met next: with a window of 2 steps, an evaluation or the end
WRITING = [
    ("start", "writing the record 'start' of step 0", 2),
    ("window", "writing the record 'train' of step 4", 6),
    ("evaluation", "writing the record 'eval' of step 2", 2),
    ("end", "writing the record 'train' of step 6", 6),
    ("fit", "writing the record 'eval' of step 3", 5),
    ("summary", "writing the summary of step 4", 6),
    ("closing the summary", "closing the summary", 6),
    ("evaluate_now", "writing the record 'eval' of step 0", 0),
]
OPENING = [(name, "opening the history or the summary", 0) for name in ("opening the history", "opening the summary")]


def raised_together(outcomes, failed, what, steps):
    """The rank that failed raises its own error, the other one says what it was."""
    own, told = outcomes[failed]["error"], outcomes[1 - failed]["error"]
    assert own[0] in ("FileNotFoundError", "FileExistsError", "NotADirectoryError", "IsADirectoryError", "OSError")
    assert told == ["RuntimeError", f"{what} failed on rank {failed}: {own[0]}: {own[1]}"]
    assert [outcome["steps"] for outcome in outcomes] == [steps, steps]
    assert f"{what} failed on rank {failed}" in outcomes[failed]["logged"][0]


@pytest.mark.parametrize(("name", "what", "steps"), WRITING)
def test_what_rank_0_cannot_write_is_raised_by_all_ranks_at_the_same_step(ranks, name, what, steps):
    raised_together([rank["raise"][name] for rank in ranks], 0, what, steps)


@pytest.mark.parametrize(("name", "what", "steps"), WRITING)
def test_or_all_ranks_log_it_and_go_on_with_the_same_history_in_memory(ranks, name, what, steps):
    outcomes = [rank["log"][name] for rank in ranks]
    assert [outcome["error"] for outcome in outcomes] == [None, None]
    assert [outcome["steps"] for outcome in outcomes] == [0 if name == "evaluate_now" else 6] * 2
    for outcome in outcomes:
        assert outcome["logged"][0].startswith(f"{what} failed on rank 0: ")
        assert outcome["logged"][0].endswith("; training goes on without it")
    assert outcomes[0]["records"] == outcomes[1]["records"] != []


@pytest.mark.parametrize(("name", "what", "steps"), OPENING)
@pytest.mark.parametrize("on_error", ["raise", "log"])
def test_files_that_rank_0_cannot_open_are_raised_by_all_ranks_before_the_training(ranks, on_error, name, what, steps):
    raised_together([rank[on_error][name] for rank in ranks], 0, what, steps)


@pytest.mark.parametrize(
    ("name", "failed", "what", "steps"),
    [
        ("rank 0 saves", 0, "saving the best weights of step 2", 2),
        ("rank 1 saves", 1, "saving the best weights of step 2", 2),
        ("reading the note", 0, "reading the note", 0),
    ],
)
def test_weights_that_a_rank_cannot_save_are_raised_by_all_ranks(ranks, name, failed, what, steps):
    outcomes = [rank["best"][name] for rank in ranks]
    if name == "reading the note":
        what = outcomes[1 - failed]["error"][1].split(" failed on")[0]
        assert what.startswith("reading the note ") and what.endswith("best.json")
    raised_together(outcomes, failed, what, steps)


def test_the_files_of_all_ranks_are_of_one_evaluation_and_the_next_better_one_is_saved(ranks):
    outcomes = [rank["best of both"] for rank in ranks]
    for outcome in outcomes:
        assert (outcome["error"], outcome["steps"]) == (None, 6)
        # the weight is 1 - step / 8: after the failure at step 4 all files are still of step 2
        assert outcome["held"] == [[[0.75], 2], [[0.25], 6]]
        assert outcome["best"] == [0.625, 6]
        assert outcome["logged"][0].startswith("saving the best weights of step 4 failed on rank 1: ")


def test_a_window_has_the_mean_of_all_its_losses_whatever_their_number(ranks):
    expected = (float(np.float32(1 / 3)) + float(np.float32(4 / 3))) / 2
    assert [rank["long window"] for rank in ranks] == [expected, expected]
