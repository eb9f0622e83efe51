"""Error rates against the textbook table, and by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_strategies import corpora, texts

from mindeval.text.error_rate import CharErrorRate, EditSimilarity, WordErrorRate, edit_distance


def table(first, second, substitution=1):
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        before, row = row, [i]
        for j, other in enumerate(second, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (0 if one == other else substitution)))
    return row[-1]


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_the_distance_is_that_of_the_table(first, second):
    assert edit_distance(first, second) == table(first, second)
    assert edit_distance(first.split(), second.split()) == table(first.split(), second.split())


def test_tokens_of_equal_hash_are_still_different_tokens():
    assert edit_distance([-1], [-2]) == 1


@settings(max_examples=60, deadline=None)
@given(corpora(max_references=1), st.booleans())
def test_rates_are_edits_over_lengths_of_the_whole_corpus(corpus, lowercase):
    predictions, references = corpus[0], [several[0] for several in corpus[1]]
    for metric, cut in ((WordErrorRate("words", lowercase), str.split), (CharErrorRate(True, lowercase), str)):
        metric.update(predictions, references)
        pairs = [
            (cut(one.lower()), cut(other.lower())) if lowercase else (cut(one), cut(other))
            for one, other in zip(predictions, references)
        ]
        edits, length = sum(table(*pair) for pair in pairs), sum(len(other) for _, other in pairs)
        assert metric.eval() == (float(Fraction(edits, length)) if length else float(edits > 0))
        assert (metric.result()["edits"], metric.result()["reference_length"]) == (edits, length)


@settings(max_examples=60, deadline=None)
@given(corpora(), st.sampled_from(["levenshtein", "indel"]))
def test_similarity_is_the_mean_of_the_best_references(corpus, distance):
    metric = EditSimilarity(distance)
    metric.update(*corpus)

    def similarity(one, other):
        if not one and not other:
            return Fraction(1)
        if distance == "levenshtein":
            return 1 - Fraction(table(one, other), max(len(one), len(other)))
        return 1 - Fraction(table(one, other, substitution=2), len(one) + len(other))

    best = [max(similarity(one, other) for other in several) for one, several in zip(*corpus)]
    assert metric.eval() == pytest.approx(float(sum(best) / len(best)), rel=1e-15)


def test_chinese_words_of_the_word_error_rate_are_characters():
    metric = WordErrorRate()
    metric.update(["用 python 写"], ["用 Python 写"])  # 3 tokens, one of them wrong
    assert metric.eval() == pytest.approx(1 / 3, rel=1e-15)
    words = WordErrorRate("words")
    words.update(["今天天气很好"], ["今天天气真好"])
    assert words.eval() == 1.0


def test_several_references_take_the_one_with_the_fewest_edits_then_the_longest():
    metric = WordErrorRate()
    metric.update(["a b c"], [["a b", "a b c d", "x y z"]])  # one edit from the first two
    assert (metric.eval(), metric.result()["reference_length"]) == (0.25, 4)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"), [("", "a b", 1), ("a b", "", 1), ("", "", 0), ("a b c", "x", 3)]
)
def test_empty_texts_and_rates_beyond_one(prediction, reference, expected):
    metric = WordErrorRate()
    metric.update([prediction], [reference])
    assert (metric.eval(), metric.result()["samples"]) == (expected, 1)


def test_white_space_and_combining_marks_of_the_character_error_rate():
    for options, expected in (({}, 1 / 3), ({"whitespace": False}, 0.0)):
        metric = CharErrorRate(**options)
        metric.update(["ab"], ["a b"])
        assert metric.eval() == pytest.approx(expected, rel=1e-15)
    for nfkc, expected in ((False, 2.0), (True, 0.0)):
        metric = CharErrorRate(nfkc=nfkc)
        metric.update(["e\u0301"], ["\u00e9"])
        assert metric.eval() == expected


def test_tokens_are_for_words_alone():
    words = WordErrorRate()
    words.update([["a", "b"]], [["a", "c"]])
    assert words.eval() == 0.5
    for metric in (CharErrorRate(), EditSimilarity()):
        with pytest.raises(TypeError, match="but got lists of tokens"):
            metric.update([["a"]], [["b"]])


def test_settings_that_do_not_exist_are_named():
    with pytest.raises(ValueError, match='distance must be "levenshtein" or "indel", but got'):
        EditSimilarity("hamming")
    with pytest.raises(ValueError, match="tokenize must be one of auto, words, zh"):
        WordErrorRate("char")
