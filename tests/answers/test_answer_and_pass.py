"""AnswerAccuracy and PassAtK against literal values, Fractions and enumeration."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindeval.answers.answer import AnswerAccuracy
from mindeval.answers.extraction import extract_boxed, extract_number
from mindeval.answers.pass_at_k import PassAtK, g_pass_at_k, majority, pass_at_k

counts = st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@given(counts)
def test_pass_at_k_is_the_share_of_draws_with_a_right_sample(drawn):
    n, c, k = drawn
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == Fraction(sum(map(any, draws)), len(draws))


@given(counts, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_g_pass_at_k_is_the_share_of_draws_with_enough_right_samples(drawn, threshold):
    n, c, k = drawn
    draws = list(itertools.combinations([1] * c + [0] * (n - c), k))
    least = max(1, math.ceil(threshold * k))
    assert g_pass_at_k(n, c, k, threshold) == Fraction(sum(sum(draw) >= least for draw in draws), len(draws))


def test_large_binomials_are_exact():
    # 1 - C(187, 100) / C(200, 100), as in bug-pass_at_k-04: 0.9999194971988055
    assert float(pass_at_k(200, 13, 100)) == 0.9999194971988055


def test_problems_are_averaged_over_batches():
    rng = np.random.default_rng(3)
    correct = rng.random((30, 6)) < rng.random((30, 1))
    metric = PassAtK((2, 4), 6)
    metric.update(correct[:7])
    metric.update(correct[7:])
    expected = {k: sum(pass_at_k(6, int(c), k) for c in correct.sum(1)) / 30 for k in (2, 4)}
    assert metric.eval() == float(expected[2])
    result = metric.result()
    assert result["pass@4"] == float(expected[4])
    assert result["avg@6"] == correct.sum() / 180
    assert "cons@6" not in result
    at = {t: float(sum(g_pass_at_k(6, int(c), 4, t) for c in correct.sum(1)) / 30) for t in (0.5, 0.75, 1.0)}
    assert result["g_pass@4"] == {str(t): value for t, value in at.items()}
    # 2/k times the sum over i = 3, 4 of G-Pass@4 at i/4
    assert result["mg_pass@4"] == pytest.approx(0.5 * (at[0.75] + at[1.0]), abs=1e-15)


def test_majority_votes_share_ties_and_ignore_empty_answers():
    assert majority(["5", "5", "7"], [True, True, False]) == (1, 1)
    assert majority(["5", "7"], [True, False]) == (2, 1)
    assert majority(["", ""], [False, False]) == (0, 0)
    metric = PassAtK(1, 3)
    answers = [["5", "5", "7"], ["5", "7", ""], ["7", "7", "5"], ["", "", ""]]
    correct = [[True, True, False], [True, False, False], [False, False, True], [False] * 3]
    metric.update(correct, answers)
    metric.eval()
    assert metric.result()["cons@3"] == (1 + 0.5 + 0 + 0) / 4
    metric.update(correct)  # without answers there is no vote over all problems
    metric.eval()
    assert "cons@3" not in metric.result()


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: PassAtK(5, 2), ValueError, "k must be between 1 and n_samples=2, but got 5"),
        (lambda: PassAtK((), 2), ValueError, "k must be between"),
        (lambda: PassAtK(1, 2, thresholds=(2,)), ValueError, "thresholds must lie in"),
        (lambda: PassAtK(1, 2).update([[True]]), ValueError, r"correct must have shape \[B, 2\]"),
        (lambda: PassAtK(1, 2).update([[1, 0]]), TypeError, "correct must be bool"),
        (lambda: PassAtK(1, 1).update([[True]], []), ValueError, "answers must have 1 rows"),
        (lambda: PassAtK(1, 2).update([[True, False]], [["5"]]), ValueError, "answers must have 2 per problem"),
        (lambda: pass_at_k(2, 0, 5), ValueError, "n=2, c=0, k=5"),
    ],
)
def test_estimates_that_do_not_exist_are_refused(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


def test_answers_are_compared_by_each_match():
    assert AnswerAccuracy("choice")(["故选C", "The answer is B."], ["C", "(A)"]) == 0.5
    assert AnswerAccuracy("choice", choices="ABCDE")(["E"], ["E"]) == 1.0
    assert AnswerAccuracy("number")(["so 1,080 in all"], ["First 3.\n#### 1080"]) == 1.0
    assert AnswerAccuracy("number", absolute=0.01)(["3.14"], ["3.1416"]) == 1.0
    assert AnswerAccuracy("number")(["3.14"], ["3.1416"]) == 0.0
    assert AnswerAccuracy("number", percent="divide")(["60%"], ["0.6"]) == 1.0
    assert (
        AnswerAccuracy("text")(
            ["So the answer is yes.", "apple, banana", "(B) Tuesday"], ["Yes", "apple banana", "(B)"]
        )
        == 1.0
    )
    assert AnswerAccuracy("text")(["So the answer is Paris."], ["paris"]) == 0.0
    longer = AnswerAccuracy(lambda answer, reference: reference in answer)
    assert longer(["the answer is Paris, France"], ["Paris"]) == 1.0


def test_invalid_answers_are_wrong_and_counted_by_reason():
    metric = AnswerAccuracy("number")
    metric.update(["5", "3 or 4 is the answer: 3 or 4", "none", "<think>5"], ["5"] * 4)
    assert metric.eval() == 0.25
    result = metric.result()
    assert result["invalid"] == {"ambiguous": 1, "no number": 1, "unclosed reasoning": 1}
    assert (result["answered"], result["accuracy_of_answered"]) == (0.25, 1.0)


def test_unreadable_references_are_wrong_and_counted():
    metric = AnswerAccuracy("choice")
    metric.update(["B", "B"], ["B", "dearth, wind, & fire"])  # BIG-Bench Hard has two such golds
    assert metric.eval() == 0.5
    assert metric.result()["unreadable_references"] == 1


def test_extractors_of_ones_own():
    marked = AnswerAccuracy("number", extract=partial(extract_number, marker="A:"))
    assert marked(["A: 5\n6", "6"], ["5", "6"]) == 0.5
    assert "marker='A:'" in str(marked.signature)
    assert AnswerAccuracy("text", extract=extract_boxed)([r"\boxed{x}", "x"], ["x", "x"]) == 0.5
    assert AnswerAccuracy("text", extract=str.strip)([" x "], ["x"]) == 1.0
    metric = AnswerAccuracy("text", extract=lambda text: None)
    metric.update(["x"], ["x"])
    metric.eval()
    assert metric.result()["invalid"] == {"other": 1}
    with pytest.raises(TypeError, match="extract must return"):
        AnswerAccuracy("text", extract=len).update(["x"], ["x"])


def test_masked_texts_do_not_count():
    metric = AnswerAccuracy("text")
    metric.update(["x", "y"], ["x", "x"], np.array([True, False]))
    assert metric.eval() == 1.0 and metric.result()["samples"] == 1


def test_bad_arguments_are_refused():
    for arguments in ({"match": "fuzzy"}, {"percent": "drop"}, {"absolute": -1}):
        with pytest.raises(ValueError, match="For 'AnswerAccuracy'"):
            AnswerAccuracy(**arguments)
    with pytest.raises(ValueError, match="equally many, but got 1 and 2"):
        AnswerAccuracy().update(["x"], ["x", "y"])
    with pytest.raises(TypeError, match="predictions must be a list of str"):
        AnswerAccuracy().update("x", ["x"])
