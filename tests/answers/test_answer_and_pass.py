"""AnswerAccuracy and PassAtK against literal values, Fractions and enumeration."""

from __future__ import annotations

import itertools
import math
import os
import re
import subprocess
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindeval.answers.answer import AnswerAccuracy
from mindeval.answers.extraction import Extraction, extract_boxed, extract_number
from mindeval.answers.pass_at_k import PassAtK, g_pass_at_k, majority, pass_at_k

counts = st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


@settings(deadline=None)
@given(counts)
def test_pass_at_k_is_the_share_of_draws_with_a_right_sample(drawn):
    n, c, k = drawn
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == Fraction(sum(map(any, draws)), len(draws))


@settings(deadline=None)
@given(counts, st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_g_pass_at_k_is_the_share_of_draws_with_enough_right_samples(drawn, threshold):
    n, c, k = drawn
    draws = list(itertools.combinations([1] * c + [0] * (n - c), k))
    least = max(1, math.ceil(threshold * k))
    assert g_pass_at_k(n, c, k, threshold) == Fraction(sum(sum(draw) >= least for draw in draws), len(draws))


def test_numpy_numbers_are_taken_for_k_and_n_samples():
    metric = PassAtK(np.array([1, 2]), np.int64(2))
    assert metric([[True, False], [False, False]]) == 0.25
    assert str(metric.signature).startswith("pass_at_k|k:1+2|n:2|")


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


@pytest.mark.parametrize(("k", "perfect"), [(2, 1.0), (3, 2 / 3), (4, 1.0), (5, 4 / 5), (16, 1.0)])
def test_the_mean_of_g_pass_is_the_papers_sum_and_none_for_one_sample(k, perfect):
    # Liu et al., 2024: 2/k times the sum of G-Pass@k at i/k over i = ceil(k/2) + 1, ..., k; each is 1 if all are right
    metric = PassAtK((1, k), 16)
    metric.update(np.ones((3, 16), bool))
    metric.eval()
    assert metric.result()[f"mg_pass@{k}"] == perfect
    assert "mg_pass@1" not in metric.result() and metric.result()["g_pass@1"]["1.0"] == 1.0


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_means_over_problems_are_those_of_the_single_estimates(n):
    problems = [3 * c % 5 for c in range(n + 1)]  # of c right samples
    correct = [[True] * c + [False] * (n - c) for c, many in enumerate(problems) for _ in range(many)]
    ks, thresholds = sorted({1, (n + 1) // 2, n}), (0, 0.3, 0.5, 1.0)
    metric = PassAtK(ks, n, thresholds=thresholds)
    metric.update(correct)
    metric.eval()
    result = metric.result()

    def mean(estimate):
        return float(sum(many * estimate(c) for c, many in enumerate(problems)) / Fraction(len(correct)))

    for k in ks:
        assert result[f"pass@{k}"] == mean(lambda c, k=k: pass_at_k(n, c, k))
        for t in thresholds:
            assert result[f"g_pass@{k}"][str(t)] == mean(lambda c, k=k, t=t: g_pass_at_k(n, c, k, t))
        if k > 1:  # the paper's sum
            shares = [Fraction(i, k) for i in range(math.ceil(k / 2) + 1, k + 1)]
            assert result[f"mg_pass@{k}"] == mean(
                lambda c, k=k, shares=shares: Fraction(2, k) * sum(g_pass_at_k(n, c, k, t) for t in shares)
            )


def test_thousands_of_samples_are_estimated_exactly():
    n, k = 4000, 2000
    metric = PassAtK((1, k), n, thresholds=(0.5,))
    metric.update(np.arange(n)[None] < np.array([[1]]))
    metric.eval()
    assert metric.result()[f"pass@{k}"] == k / n  # the right one is among those drawn
    metric = PassAtK((1, k), n, thresholds=(0.5,))
    metric.update(np.arange(n)[None] < np.array([[n // 2]]))
    metric.eval()
    # half of the samples are right: as many draws hold more right ones than wrong ones as the other way round
    as_many = Fraction(math.comb(n // 2, k // 2) ** 2, math.comb(n, k))
    assert metric.result()[f"g_pass@{k}"]["0.5"] == float((1 + as_many) / 2)
    # 2/k times the mean of how many more than half of the k drawn are right: E|X - k/2| / k
    deviation = sum(math.comb(n // 2, j) ** 2 * abs(j - k // 2) for j in range(k + 1))
    assert metric.result()[f"mg_pass@{k}"] == float(Fraction(deviation, k * math.comb(n, k)))


def test_majority_votes_share_ties_and_ignore_empty_answers():
    assert majority(["5", "5", "7"], [True, True, False]) == (2, 2)
    assert majority(["5", "7"], [True, False]) == (2, 1)
    assert majority(["", ""], [False, False]) == (0, 0)
    metric = PassAtK(1, 3)
    answers = [["5", "5", "7"], ["5", "7", ""], ["7", "7", "5"], ["", "", ""]]
    correct = [[True, True, False], [True, False, False], [False, False, True], [False] * 3]
    metric.update(correct, answers)
    metric.eval()
    assert metric.result()["cons@3"] == (1 + 0.5 + 0 + 0) / 4
    metric.update(correct)  # without answers there is no vote over all problems
    with pytest.warns(UserWarning, match="cons@3 is left out: answers were given for 4 of 8 problems"):
        metric.eval()
    assert "cons@3" not in metric.result()


@given(st.lists(st.tuples(st.sampled_from(["5", "7", "9", ""]), st.booleans()), min_size=1, max_size=6))
def test_an_answer_that_is_right_in_some_samples_only_counts_by_its_share(samples):
    metric = PassAtK(1, len(samples))
    metric.update([[is_right for _, is_right in samples]], [[answer for answer, _ in samples]])
    metric.eval()
    votes = {answer: [is_right for given, is_right in samples if given == answer] for answer in "579"}
    shares = [
        Fraction(sum(said), len(said))
        for said in votes.values()
        if said and len(said) == max(len(one) for one in votes.values())
    ]
    assert metric.result()[f"cons@{len(samples)}"] == float(sum(shares) / len(shares) if shares else 0)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: PassAtK(5, 2), ValueError, "k must be between 1 and n_samples=2, but got 5"),
        (lambda: PassAtK((), 2), ValueError, "k must be one or several different numbers"),
        (lambda: PassAtK(1, 2, thresholds=(2,)), ValueError, r"thresholds must be different numbers in \[0, 1\]"),
        (lambda: PassAtK(1, 2).update([[True]]), ValueError, r"correct must have shape \[B, 2\]"),
        (lambda: PassAtK(1, 2).update([[1, 0]]), TypeError, "correct must be bool"),
        (lambda: PassAtK(1, 1).update([[True]], []), ValueError, "answers must have 1 rows"),
        (lambda: PassAtK(1, 2).update([[True, False]], [["5"]]), ValueError, "answers must have 2 per problem"),
        (lambda: pass_at_k(2, 0, 5), ValueError, "n=2, c=0, k=5"),
        (lambda: pass_at_k(2, True, 1), TypeError, "c must be an int, but got True"),
        (lambda: PassAtK(True, 2), TypeError, "For 'PassAtK', k must be an int, but got True"),
        (lambda: PassAtK((1, True), 2), TypeError, "k must be an int, but got True"),
        (lambda: PassAtK(1.0, 2), TypeError, "k must be an int, but got 1.0"),
        (lambda: PassAtK("1", 2), TypeError, "k must be an int, but got '1'"),
        (lambda: PassAtK(1, True), TypeError, "n_samples must be an int, but got True"),
        (lambda: PassAtK(1, 2.0), TypeError, "n_samples must be an int, but got 2.0"),
        (lambda: PassAtK(0, 2), ValueError, "k must be at least 1, but got 0"),
        (lambda: PassAtK(1, 0), ValueError, "n_samples must be at least 1, but got 0"),
        (lambda: PassAtK((1, 2, 1), 2), ValueError, "k must be one or several different numbers"),
        (lambda: PassAtK(1, 2, thresholds=0.5), TypeError, "thresholds must be a list of numbers"),
        (lambda: PassAtK(1, 2, thresholds=(True,)), ValueError, "thresholds must be"),
        (lambda: PassAtK(1, 2, thresholds=(math.nan,)), ValueError, "thresholds must be"),
        (
            lambda: PassAtK(1, 2).update([[True, False]], sample_ids=[0]),
            ValueError,
            "leave repeated samples out by a mask",
        ),
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


@pytest.mark.parametrize("reference", ["AB", "A, B", "(A) (B)", "BD"])
def test_several_letters_are_no_reference_of_one_answer(reference):
    result = AnswerAccuracy("choice")(["B", "A"], [reference, "A"]).parts
    assert (result["accuracy"], result["unreadable_references"]) == (0.5, 1)
    assert AnswerAccuracy("choice", multiple=True)(["Answer: " + reference], [reference]) == 1.0


def test_extractors_of_ones_own():
    marked = AnswerAccuracy("number", extract=partial(extract_number, marker="A:"))
    assert marked(["A: 5\n6", "6"], ["5", "6"]) == 0.5
    assert "marker='A:'" in str(marked.signature)
    assert AnswerAccuracy("text", extract=extract_boxed)([r"\boxed{x}", "x"], ["x", "x"]) == 0.5
    assert AnswerAccuracy("text", extract=str.strip)([" x "], ["x"]) == 1.0
    metric = AnswerAccuracy("text", extract=lambda text: None)
    metric.update(["x"], ["x"])
    metric.eval()
    assert metric.result()["invalid"] == {"no answer": 1}
    with pytest.raises(
        TypeError, match="extract function len must return an Extraction, a str or None, but gave 1 for sample 0"
    ):
        AnswerAccuracy("text", extract=len).update(["x"], ["x"])


def test_masked_rows_do_not_count_and_may_hold_anything():
    mask = np.array([True, False])
    metric = AnswerAccuracy("text")
    metric.update(["x", "y"], ["x", "x"], mask)
    metric.update(["x", None], ["x", 7], mask)
    assert metric.eval() == 1.0 and metric.result()["samples"] == 2
    assert AnswerAccuracy("choice")(["A", None], ["A", None], mask, options=[2, None]) == 1.0
    assert PassAtK(1, 2)([[True, True], None], [["5", "5"], None], mask) == 1.0
    with pytest.raises(ValueError, match="sample_ids were given.*distributed.valid_mask"):
        metric.update(["x"], ["x"], sample_ids=[1])


def test_choices_may_be_several_and_have_options_of_their_own():
    texts, golds = ["答案：BD", "The answer is B.", "答案：B、D"], ["BD", "BD", "(D), (B)"]
    metric = AnswerAccuracy("choice", multiple=True, language="zh")
    assert metric(texts, golds) == 2 / 3
    assert "|choices:ABCD|multiple:yes|language:zh|" in metric.signature
    assert AnswerAccuracy("choice")(["Iron.", "The answer is D."], ["B", "A"], options=[["Oxygen", "Iron"], 2]) == 0.5
    with pytest.raises(ValueError, match="options need match='choice'"):
        AnswerAccuracy("text").update(["x"], ["x"], options=[2])
    with pytest.raises(ValueError, match="need match='choice'"):
        AnswerAccuracy("number", multiple=True)


LONG = "9" * 5000  # above Python's limit of 4,300 digits


@pytest.mark.parametrize(
    "text", [f"The answer is {LONG}.", LONG, f"#### -{LONG}.5", "1e999999999", f"1/{LONG}", f"1e{LONG}"]
)
@pytest.mark.parametrize("match", ["number", "math"])
def test_numbers_beyond_all_bounds_are_invalid(text, match):
    metric = AnswerAccuracy(match)
    metric.update(["5", text, "5"], ["5", "5", text])
    assert metric.eval() == 1 / 3
    assert sum(metric.result()["invalid"].values()) == metric.result()["unreadable_references"] == 1


def numbers_that_an_extractor_gives(text):
    return {"a": "1,080", "b": "1e999999999", "c": "abc", "d": "", "e": LONG, "f": "3 or 4"}[text]


def test_what_an_extractor_gives_is_read_or_counted_as_invalid():
    metric = AnswerAccuracy("number", extract=numbers_that_an_extractor_gives)
    metric.update(list("abcdef"), ["1080"] * 6)
    assert metric.eval() == 1 / 6
    result = metric.result()
    assert set(result["invalid"]) <= {"unreadable", "too large"} and sum(result["invalid"].values()) == 5
    letters = AnswerAccuracy("choice", extract=str.strip)
    letters.update([" (b) ", "none", ""], ["B"] * 3)
    assert letters.eval() == 1 / 3 and letters.result()["invalid"] == {"unreadable": 2}


def raising(*texts):
    return {}[texts[0]]


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"extract": raising}, ValueError, "extract function .*raising failed on sample 1 .'y'.: KeyError: 'y'"),
        ({"extract": lambda _: 5}, TypeError, "must return an Extraction, a str or None, but gave 5 for sample 1 .'y'"),
        ({"extract": lambda _: Extraction(5, "x")}, TypeError, "but gave Extraction.answer=5.* for sample 1"),
        ({"extract": lambda _: Extraction(None, None)}, TypeError, "but gave Extraction.answer=None.* for sample 1"),
        ({"match": raising}, ValueError, "match function .*raising failed on sample 1 .'y'.: KeyError: 'y'"),
        (
            {"match": lambda *_: None},
            TypeError,
            "must return True or False, but gave None for sample 1 .'y' against 'z'",
        ),
        ({"match": lambda *_: 0.7}, TypeError, "must return True or False, but gave 0.7 for sample 1"),
    ],
)
def test_a_function_that_fails_is_named_with_its_sample_and_nothing_is_lost(options, kind, message):
    metric = AnswerAccuracy(**{"match": lambda answer, reference: np.bool_(answer == reference), **options})
    kept = AnswerAccuracy()
    kept.update(["x"], ["x"])
    metric.load_state_dict({**kept.state_dict(), "signature": str(metric.signature)})
    with pytest.raises(kind, match=f"For 'AnswerAccuracy.update', .*{message}"):
        metric.update(["x", "y"], ["x", "z"], np.array([False, True]))
    assert metric.eval() == 1.0 and metric.result()["samples"] == 1


class Cut:
    """An extractor with a state."""

    def __init__(self, at):
        self.at = at

    def __call__(self, text):
        return text[: self.at]

    def cut(self, text):
        return text[: self.at]


class ShownCut(Cut):
    def __repr__(self):
        return f"ShownCut({self.at})"


def test_metrics_of_different_functions_have_different_signatures():
    def closure(end):
        return lambda text: text[:end]

    def keyword(text, *, end=2):
        return text[:end]

    def other_keyword(text, *, end=3):
        return text[:end]

    other_keyword.__qualname__ = keyword.__qualname__
    functions = [
        None, str.strip, extract_boxed, extract_number, numbers_that_an_extractor_gives,
        partial(extract_number, marker="A:"), partial(extract_number, marker="B:"),
        lambda text: text, lambda text: text.strip(), lambda text: text.upper(), lambda text: text + "1",
        closure(1), closure(2), keyword, other_keyword, ShownCut(1), ShownCut(2), ShownCut(1).cut,
        re.compile("a").match, re.compile("b").match,
    ]  # fmt: skip
    signatures = [AnswerAccuracy("text", extract=function).signature for function in functions]
    assert len(set(signatures)) == len(functions)
    again = [
        AnswerAccuracy("text", extract=closure(1)).signature,
        AnswerAccuracy("text", extract=ShownCut(1)).signature,
    ]
    assert again == [signatures[11], signatures[15]]
    one, other = AnswerAccuracy(lambda a, r: a == r), AnswerAccuracy(lambda a, r: a != r)
    other.update(["x"], ["y"])
    with pytest.raises(ValueError, match="the state must be of"):
        one.merge(other)
    held = Cut(1)
    for nameless in (held, held.cut, partial(str.strip, held), lambda text: held(text)):
        with pytest.raises(ValueError, match="For 'AnswerAccuracy', a function must be told from others.*__repr__"):
            AnswerAccuracy("text", extract=nameless)


def test_signatures_of_lambdas_are_the_same_in_every_process():
    script = (
        "from mindeval.answers._functions import function_name\n"
        "print(function_name(lambda text: text in {'a', 'b', 'c', 'd'} or [x for x in text]))"
    )
    names = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(names) == 1 and "lambda" in names.pop()


def test_bad_arguments_are_refused():
    for arguments in (
        {"match": "fuzzy"}, {"match": 5}, {"percent": "drop"}, {"percent": 1}, {"absolute": -1}, {"absolute": math.inf},
        {"relative": math.nan}, {"relative": True}, {"choices": ""}, {"choices": "AA"}, {"choices": "Aa"},
        {"choices": ["AB", "C"]}, {"match": "choice", "language": "fr"},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="For 'AnswerAccuracy'"):
            AnswerAccuracy(**arguments)
    for arguments in ({"extract": "number"}, {"choices": 4}, {"match": "choice", "multiple": 1}):
        with pytest.raises(TypeError, match="For 'AnswerAccuracy'"):
            AnswerAccuracy(**arguments)
    with pytest.raises(ValueError, match="equally many, but got 1 and 2"):
        AnswerAccuracy().update(["x"], ["x", "y"])
    with pytest.raises(TypeError, match="predictions must be a list of str"):
        AnswerAccuracy().update("x", ["x"])
