"""chrF and TER against sacrebleu in the same run."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from text_strategies import corpora

from mindeval.text.chrf import ChrF, chrf_from_statistics
from mindeval.text.ter import TER


@settings(max_examples=100, deadline=None)
@given(corpora(), st.integers(1, 6), st.integers(0, 2), st.integers(1, 3), st.booleans(), st.booleans())
def test_any_text_gives_sacrebleus_chrf(corpus, char_order, word_order, beta, lowercase, whitespace):
    peer = sacrebleu.metrics.CHRF(char_order, word_order, beta, lowercase, whitespace)
    expected = peer.corpus_score(corpus[0], [list(stream) for stream in zip(*corpus[1])]).score
    metric = ChrF(char_order, word_order, beta, lowercase, whitespace)
    metric.update(*corpus)
    metric.eval()
    assert metric.result()["score"] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_chrf_of_the_orders_that_both_sides_have():
    # beta 2: P = (1/2 + 0)/2, R = (1/4 + 0)/2: F = 5 P R / (4 P + R)
    precision, recall, score = chrf_from_statistics([[2, 4, 1], [1, 3, 0], [0, 2, 0]], beta=2)
    assert (precision, recall) == (0.25, 0.125)
    assert score == pytest.approx(5 * 0.25 * 0.125 / (4 * 0.25 + 0.125), rel=1e-15)


@settings(max_examples=60, deadline=None)
@given(corpora(), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_any_text_gives_sacrebleus_ter(corpus, normalized, no_punct, asian_support, case_sensitive):
    options = {
        "normalized": normalized,
        "no_punct": no_punct,
        "asian_support": asian_support,
        "case_sensitive": case_sensitive,
    }
    peer = sacrebleu.metrics.TER(**options)
    expected = peer.corpus_score(corpus[0], [list(stream) for stream in zip(*corpus[1])])
    metric = TER(**options)
    metric.update(*corpus)
    metric.eval()
    result = metric.result()
    assert result["score"] == pytest.approx(expected.score, rel=1e-12, abs=1e-12)
    assert (result["edits"], result["reference_length"]) == (expected.num_edits, pytest.approx(expected.ref_length))


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"), [("", "a b", 1.0), ("a b", "", 1.0), ("", "", 0.0), ("a b c d", "x", 4.0)]
)
def test_ter_of_empty_texts_and_beyond_one(prediction, reference, expected):
    metric = TER()
    metric.update([prediction], [reference])
    assert metric.eval() == expected


def test_several_references_take_the_fewest_edits_and_the_mean_length():
    metric = TER()
    metric.update(["a b c"], [["a b c", "a x y z", "q"]])
    metric.eval()
    assert (metric.result()["edits"], metric.result()["reference_length"]) == (0, pytest.approx(8 / 3, rel=1e-15))
    metric.update(["a b"], [["b a", "x"]])  # one shift
    metric.eval()
    assert metric.result()["edits"] == 1
