"""Distinct n-grams and repetition, counted here by sets."""

from __future__ import annotations

from fractions import Fraction

import mindspore as ms
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_strategies import texts

from mindeval.text.diversity import DistinctN, RepetitionRate


def grams(text, n):
    tokens = text.split()
    return [tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1)]


@settings(max_examples=100, deadline=None)
@given(st.lists(texts, min_size=1, max_size=6), st.integers(1, 4))
def test_any_text_gives_the_counts_of_sets(predictions, n):
    by_sample = [grams(text, n) for text in predictions]
    everything = [gram for found in by_sample for gram in found]
    corpus, sample = DistinctN(n, tokenize="words"), DistinctN(n, "sample", tokenize="words")
    repetition = RepetitionRate(n, tokenize="words")
    for metric in (corpus, sample, repetition):
        metric.update(predictions[:1])
        metric.update(predictions[1:])
    assert corpus.eval() == (len(set(everything)) / len(everything) if everything else 0.0)
    shares = [Fraction(len(set(found)), len(found)) if found else Fraction(0) for found in by_sample]
    assert sample.eval() == pytest.approx(float(sum(shares) / len(shares)), rel=1e-15)
    repeated = [1 - share for share, found in zip(shares, by_sample) if found]
    assert repetition.eval() == pytest.approx(float(sum(repeated, Fraction(0)) / len(predictions)), rel=1e-15)


def test_chinese_is_counted_by_characters():
    metric = DistinctN(1)
    metric.update(["天天好"])
    assert (metric.eval(), metric.result()["total"]) == (pytest.approx(2 / 3), 3)


def test_tokens_that_look_alike_when_joined_are_different():
    metric = DistinctN(2)
    metric.update([["a b", "c"], ["a", "b c"]])
    assert metric.eval() == 1.0


def test_references_are_not_looked_at_and_ids_are_decoded():
    metric = RepetitionRate(1, decode=lambda rows: [" ".join(map(str, row)) for row in rows])
    metric.update(ms.Tensor([[1, 1, 2, -1]]), ms.Tensor([[5, 5, 5, 5]]))
    assert metric.eval() == pytest.approx(1 / 3, rel=1e-15)


def test_lower_case_where_asked():
    for lowercase, expected in ((False, 1.0), (True, 0.5)):
        for predictions in (["The the"], [["The", "the"]]):
            metric = DistinctN(1, lowercase=lowercase)
            metric.update(predictions)
            assert metric.eval() == expected


def test_settings_and_inputs_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="n must be at least 1, but got 0"):
        DistinctN(0)
    with pytest.raises(ValueError, match='scope must be "corpus" or "sample"'):
        DistinctN(1, "batch")
    with pytest.raises(TypeError, match="predictions must be a list"):
        RepetitionRate().update("text")
