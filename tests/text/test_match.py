"""Exact match and token F1 against the rule of SQuAD written out here, and by hand."""

from __future__ import annotations

import re
import string
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from text_strategies import corpora

from mindeval.text.match import ExactMatch, TokenF1, answer_tokens, token_f1


def squad_tokens(text):
    text = "".join(one for one in text.lower() if one not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad_f1(prediction, reference):
    if not prediction or not reference:
        return Fraction(int(prediction == reference))
    common = sum((Counter(prediction) & Counter(reference)).values())
    precision, recall = Fraction(common, len(prediction)), Fraction(common, len(reference))
    return 2 * precision * recall / (precision + recall) if common else Fraction(0)


@settings(max_examples=100, deadline=None)
@given(corpora())
def test_any_text_gives_the_scores_of_the_squad_rule(corpus):
    exact, f1 = ExactMatch(tokenize="words"), TokenF1(tokenize="words")
    exact.update(*corpus)
    f1.update(*corpus)
    pairs = [(squad_tokens(one), [squad_tokens(text) for text in several]) for one, several in zip(*corpus)]
    assert exact.eval() == sum(one in several for one, several in pairs) / len(pairs)
    best = [max(squad_f1(one, other) for other in several) for one, several in pairs]
    assert f1.eval() == pytest.approx(float(sum(best) / len(best)), rel=1e-15)


def test_chinese_answers_are_compared_by_characters_without_full_width_punctuation():
    f1, exact = TokenF1(), ExactMatch()
    f1.update(["《红楼梦》的作者曹雪芹"], ["曹雪芹。"])
    assert f1.eval() == 0.5  # 3 of 9 characters against 3 of 3
    whole = TokenF1(tokenize="words")
    whole.update(["《红楼梦》的作者曹雪芹"], ["曹雪芹。"])
    assert whole.eval() == 0.0
    exact.update(["曹 雪芹。", "曹雪"], ["「曹雪芹」", "曹雪芹"])
    assert (exact.eval(), exact.result()["correct"]) == (0.5, 1)


def test_numbers_keep_their_point_where_asked():
    assert answer_tokens("The value is (2.75)", "squad-numbers") == ["value", "is", "2.75"]
    assert answer_tokens("3,000 or 1,2") == ["3000", "or", "12"]
    assert answer_tokens("3,000,000 or 1,2", "squad-numbers") == ["3000000", "or", "12"]
    plain, numbers = ExactMatch(), ExactMatch("squad-numbers")
    for metric in (plain, numbers):
        metric.update(["(2.75)", "(2.75)"], ["275", "2.75"])
    assert (plain.eval(), numbers.eval()) == (1.0, 0.5)


def test_options_of_exact_match_in_their_order():
    # the examples of Hugging Face evaluate's exact_match: expressions are removed before the case is folded
    predictions, references = ["cat?", "theater", "yelling", "agent"], ["the cat", "theater", "YELLING", "agent007"]

    def value(**options):
        metric = ExactMatch("none", **options)
        metric.update(predictions, references)
        return metric.eval()

    assert value() == 0.25
    assert value(ignore=["the ", "yell"], ignore_case=True, ignore_punctuation=True) == 0.5
    assert value(ignore=["the ", "yell", "YELL"], ignore_case=True, ignore_punctuation=True) == 0.75
    assert value(ignore=["the ", "yell", "YELL"], ignore_case=True, ignore_punctuation=True, ignore_numbers=True) == 1.0
    assert "ignore:the ,yell,case" in ExactMatch(ignore=["the ", "yell"], ignore_case=True).signature


def test_the_best_reference_counts():
    f1 = TokenF1()
    f1.update(["abd"], [["abc abd", "$$$$"]])  # T5's own test: 66.67
    assert f1.eval() == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("prediction", "reference", "f1", "exact"), [("", "x", 0, 0), ("x", "", 0, 0), ("", "", 1, 1), ("the", "", 1, 1)]
)
def test_what_is_empty_matches_what_is_empty(prediction, reference, f1, exact):
    for metric, expected in ((TokenF1(), f1), (ExactMatch(), exact)):
        metric.update([prediction], [reference])
        assert (metric.eval(), metric.result()["samples"]) == (expected, 1)


def test_the_longest_run_of_tokens_is_the_other_convention():
    # the longest run is one token of 5 and 3
    assert token_f1(list("axbyc"), list("abc"), "run") == 0.25
    metric = TokenF1(overlap="run", normalize="none")
    metric.update([["I", "love", "Beijing", ",", "because", "it", "'s", "beautiful"]], [["I", "love", "Beijing", "."]])
    assert metric.eval() == 0.5


def test_settings_that_do_not_exist_are_named():
    with pytest.raises(ValueError, match="normalize must be one of squad, squad-numbers, none, but got 'drop'"):
        ExactMatch("drop")
    with pytest.raises(ValueError, match='overlap must be "bag" or "run"'):
        TokenF1(overlap="lcs")
    with pytest.raises(ValueError, match="tokenize must be one of auto, words, zh"):
        TokenF1(tokenize="13a")
