"""The question examples on a network small enough to be written out: next-token logits that depend on one token."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import questions  # noqa: E402


class Words:
    """Words with their leading space, and single signs, numbered by first sight; 0 begins every text."""

    def __init__(self):
        self.known: dict[str, int] = {}

    def encode(self, text):
        return [self.known.setdefault(piece, len(self.known) + 1) for piece in re.findall(r" ?\w+|[^\w]", text)]


class Bigrams(nn.Cell):
    def __init__(self, table):
        super().__init__()
        self.table = ms.Tensor(table)

    def construct(self, ids):
        return ms.ops.gather(self.table, ids, 0)


TABLE = np.random.default_rng(4).normal(scale=2, size=(600, 600)).astype(np.float32)
LOG_PROBS = TABLE.astype(np.float64) - np.log(np.exp(TABLE.astype(np.float64)).sum(1, keepdims=True))


pytestmark = pytest.mark.filterwarnings("ignore:.*mean probability")  # of a network that knows no English


@pytest.fixture(scope="module", params=[3, 8], ids=["batches of 3", "batches of 8"])
def results(request):
    tokenizer = Words()
    found = questions.score_questions(Bigrams(TABLE), tokenizer, batch_size=request.param, begin=[0])
    assert len(tokenizer.known) < 600
    return tokenizer, found


def test_every_prompt_ends_alike_so_one_letter_and_one_word_win_everywhere(results):
    tokenizer, found = results
    after = np.exp(LOG_PROBS[tokenizer.known[":"]])

    def mass(*forms):
        return sum(after[tokenizer.encode(form)[0]] for form in forms)

    letters = [mass(letter, " " + letter) for letter in "ABCD"]
    golds = [row["answer"] for row in questions.read_questions("choices.jsonl")]
    assert found["letters"]["accuracy"] == golds.count("ABCD"[int(np.argmax(letters))]) / len(golds)
    assert found["letters"]["mass"] == pytest.approx(sum(letters), rel=1e-5)
    yes, no = (
        mass(*(space + form for space in ("", " ") for form in forms))
        for forms in (("Yes", "yes", "YES"), ("No", "no", "NO"))
    )
    true = [row["answer"] for row in questions.read_questions("yes_no.jsonl")]
    assert found["yes_no"]["accuracy"] == true.count(bool(yes > no)) / len(true)
    assert found["yes_no"]["mass"] == pytest.approx(yes + no, rel=1e-5)


def test_option_texts_are_scored_as_written_out(results):
    tokenizer, found = results
    right = dict.fromkeys(("sum", "token", "char", "byte", "prior"), 0)
    rows = questions.read_questions("choices.jsonl")
    for row in rows:
        scores = []
        for option in row["options"]:
            ids = [tokenizer.known[":"], *tokenizer.encode(" " + option)]
            total = sum(LOG_PROBS[one, other] for one, other in zip(ids, ids[1:]))
            # the prior's context ends in ":" as well, and this network sees no further back
            scores.append((total, total / (len(ids) - 1), total / len(option), total / len(option.encode())))
        for place, name in enumerate(("sum", "token", "char", "byte")):
            right[name] += "ABCD"[int(np.argmax([score[place] for score in scores]))] == row["answer"]
    accuracy = {name: count / len(rows) for name, count in right.items()}
    by_normalisation = dict(found["options"]["by_normalisation"])
    del by_normalisation["prior"], accuracy["prior"]  # conditional and prior are equal here: ties by rounding alone
    assert by_normalisation == accuracy


def test_the_questions_are_balanced_and_well_formed():
    choices, yes_no = questions.read_questions("choices.jsonl"), questions.read_questions("yes_no.jsonl")
    assert sorted({row["answer"] for row in choices}) == list("ABCD")
    assert all(len(set(row["options"])) == 4 and row["question"].endswith("?") for row in choices)
    assert sum(row["answer"] for row in yes_no) == len(yes_no) / 2
