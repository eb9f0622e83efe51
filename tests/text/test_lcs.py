"""Longest common subsequences against rouge-score's own tables."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from mindeval.text.lcs import lcs_length, union_lcs_counts

few_letters = st.lists(st.sampled_from("abc"), max_size=12)
more_letters = st.lists(st.sampled_from("abcdefghij"), max_size=30)
sentences = st.lists(st.one_of(few_letters, more_letters), min_size=1, max_size=4)


def rouge_score_union(reference, candidate):
    covered = Counter()
    for sentence in reference:
        covered.update(rouge_scorer._union_lcs(sentence, candidate))
    return covered


@settings(max_examples=300, deadline=None)
@given(sentences, sentences)
def test_union_takes_the_path_that_rouge_score_takes(reference, candidate):
    assert union_lcs_counts(reference, candidate) == rouge_score_union(reference, candidate)


def test_union_over_more_sentences_than_a_machine_word_has_bits():
    reference = [list("the quick brown fox jumps over the lazy dog"), list("a long line with many letters in it")]
    candidate = [list("over the lazy dog the fox jumps"), list("letters in a line"), list("quick brown"), list("zzz")]
    assert union_lcs_counts(reference, candidate) == rouge_score_union(reference, candidate)


def test_union_of_a_candidate_sentence_that_is_in_the_reference_covers_it_whole():
    assert union_lcs_counts([["a", "b", "a"]], [["b"], ["a", "b", "a"]]) == Counter("aba")


@pytest.mark.parametrize(
    ("reference", "candidate"), [([[]], [[]]), ([["a"]], [[]]), ([[]], [["a"]]), ([["a"]], []), ([], [["a"]])]
)
def test_union_of_nothing_covers_nothing(reference, candidate):
    assert union_lcs_counts(reference, candidate) == Counter()


@settings(max_examples=200, deadline=None)
@given(more_letters, more_letters)
def test_length_is_the_last_cell_of_rouge_scores_table(first, second):
    assert lcs_length(first, second) == rouge_scorer._lcs_table(first, second)[-1][-1]


def test_length_of_tokens_whose_hashes_are_equal_compares_the_tokens():
    assert hash(-1) == hash(-2)
    assert lcs_length([-1, 5], [-2, 5]) == 1
