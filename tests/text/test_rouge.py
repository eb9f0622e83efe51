"""ROUGE against rouge-score in the same run."""

from __future__ import annotations

import logging
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer, tokenizers
from text_strategies import corpora

from mindeval.text.rouge import ROUGE
from mindeval.text.tokenizers import rouge_tokenizer

TYPES = ["rouge1", "rouge2", "rouge5", "rouge9", "rougeL", "rougeLsum"]
MEASURES = ["precision", "recall", "fmeasure"]


class Wrapped(tokenizers.Tokenizer):
    """One of our tokenizers inside rouge-score."""

    def __init__(self, name):
        self._tokenize = rouge_tokenizer(name)

    def tokenize(self, text):
        return self._tokenize(text)


def ours(predictions, references, types=TYPES, **options):
    metric = ROUGE(types, **options)
    metric.update(predictions, references)
    metric.eval()
    return metric.result()


def canonical(rouge_type):
    return f"rouge-{rouge_type[5:].lower()}"


@settings(max_examples=150, deadline=None)
@given(corpora(), st.sampled_from([None, "stem", "zh", "char"]))
def test_any_text_gives_the_mean_of_rouge_scores_best_references(corpus, tokenize):
    if tokenize in (None, "stem"):
        peer = rouge_scorer.RougeScorer(TYPES, use_stemmer=tokenize == "stem")
        result = ours(*corpus, tokenize="rouge-score", use_stemmer=tokenize == "stem")
    else:
        peer = rouge_scorer.RougeScorer(TYPES, tokenizer=Wrapped(tokenize))
        result = ours(*corpus, tokenize=tokenize)
    scores = [peer.score_multi(several, prediction) for prediction, several in zip(*corpus)]
    for rouge_type in TYPES:
        for measure in MEASURES:
            mean = sum(Fraction(getattr(score[rouge_type], measure)) for score in scores) / len(scores)
            assert result[f"{canonical(rouge_type)}_{measure}"] == float(mean), (rouge_type, measure)


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_average_is_the_mean_over_the_references_of_each_sample(corpus):
    peer = rouge_scorer.RougeScorer(["rougeL"])
    result = ours(*corpus, types="rouge-l", tokenize="rouge-score", multiple="average")
    for measure in MEASURES:
        means = [
            math.fsum(getattr(peer.score(one, prediction)["rougeL"], measure) for one in several) / len(several)
            for prediction, several in zip(*corpus)
        ]
        assert result[f"rouge-l_{measure}"] == pytest.approx(math.fsum(means) / len(means), rel=1e-12)


def test_report_chooses_the_value_and_the_first_type_leads():
    for report, expected in (("precision", 1.0), ("recall", 2 / 3), ("fmeasure", 0.8)):
        metric = ROUGE(["rouge-l", "rouge-1"], report=report)
        metric.update(["testing one"], ["testing one two"])  # rouge-score's own test: P 1, R 2/3, F 0.8
        assert metric.eval() == pytest.approx(expected, rel=1e-15)
        assert metric.result()["rouge-1"] == metric.result()[f"rouge-1_{report}"]


def test_types_are_taken_in_rouge_scores_spelling_too():
    assert ROUGE(["rougeL", "rouge2", "ROUGE-LSUM"]).types == ["rouge-l", "rouge-2", "rouge-lsum"]
    with pytest.raises(
        ValueError, match="rouge_type must be rouge-1 to rouge-9, rouge-l or rouge-lsum, but got 'rouge-0'"
    ):
        ROUGE("rouge-0")


def test_lsum_sees_sentences_where_there_are_line_breaks_alone():
    # by hand: as sets of lines they are equal; as one line "the valve was closed" is the longest of 7 tokens in order
    lines = ("The valve was closed.\nThe pump failed.", "The pump failed.\nThe valve was closed.")
    result = ours([lines[0]], [lines[1]], types=["rouge-lsum", "rouge-l"])
    assert (result["rouge-lsum"], result["rouge-l"]) == (1.0, pytest.approx(4 / 7, rel=1e-15))
    joined = ours([lines[0].replace("\n", " ")], [lines[1].replace("\n", " ")], types=["rouge-lsum"])
    assert joined["rouge-lsum"] == result["rouge-l"]


def test_identical_chinese_scores_one_by_itself_and_zero_loudly_with_rouge_scores_tokenizer(caplog):
    text = ["今天下雨了，路很滑。"]
    result = ours(text, text, types="rouge-l")
    assert (result["rouge-l"], result["tokenized_as"]) == (1.0, {"rouge-score": 0, "zh": 1})
    with caplog.at_level(logging.WARNING, "mindeval"):
        result = ours(text, text, types="rouge-l", tokenize="rouge-score")
    assert (result["rouge-l"], result["references_without_tokens"]) == (0.0, 1)
    assert "leaves nothing of 1 references" in caplog.text


@pytest.mark.parametrize("text", ["مرحبا بالعالم", "สวัสดีชาวโลก", "👍🏽👩‍👩‍👧", "e\u0301te\u0301"])
def test_any_script_by_characters(text, caplog):
    with caplog.at_level(logging.WARNING, "mindeval"):
        assert ours([text], [text], types="rouge-2", tokenize="char")["rouge-2"] == 1.0
        assert caplog.text == ""
        result = ours([text], [text], types="rouge-l")  # auto: no CJK character, so rouge-score's tokenizer
    if not any("a" <= letter <= "z" for letter in text):
        assert (result["rouge-l"], result["references_without_tokens"]) == (0.0, 1)
        assert "tokenize='char'" in caplog.text


def test_full_width_forms_are_equal_to_ascii_with_nfkc_alone():
    assert ours(["版本ＡＢ１２"], ["版本AB12"], types="rouge-1")["rouge-1_recall"] == pytest.approx(2 / 3, rel=1e-15)
    result = ours(["版本ＡＢ１２"], ["版本AB12"], types="rouge-1", nfkc=True)
    assert (result["rouge-1"], "nfkc:yes" in result["signature"]) == (1.0, True)


@pytest.mark.parametrize(("prediction", "reference"), [("", "a b"), ("a b", ""), ("", ""), ("...", "a")])
def test_what_is_empty_scores_zero_and_counts(prediction, reference):
    result = ours([prediction, "a"], [reference, "a"], types=["rouge-1", "rouge-l", "rouge-lsum"])
    assert (result["rouge-1"], result["rouge-l"], result["rouge-lsum"], result["samples"]) == (0.5, 0.5, 0.5, 2)


def test_a_batch_with_no_sample_left_by_its_mask_adds_nothing():
    metric = ROUGE(["rouge-1", "rouge-l", "rouge-lsum"])
    metric.update(["a"], ["b"], np.array([False]))
    with pytest.raises(RuntimeError, match="no data"):
        metric.eval()
    metric.update(["a", "b"], ["a", "x"], np.array([True, False]))
    assert metric.eval() == 1.0


def test_tokens_are_taken_as_they_are_but_not_for_lsum():
    result = ours([["今天", "天气", "好"]], [["今天", "天气"]], types=["rouge-1", "rouge-l"])
    assert (result["rouge-1"], result["rouge-l"]) == (0.8, 0.8)  # P 2/3, R 1
    with pytest.raises(TypeError, match="must be texts for rouge-lsum"):
        ours([["a"]], [["a"]], types="rouge-lsum")


def test_words_of_jieba():
    pytest.importorskip("jieba")
    # words by jieba 0.42: 今天天气 / 真 / 好 against 今天天气 / 很 / 好
    assert rouge_tokenizer("jieba")("今天天气真好 OK") == ["今天天气", "真", "好", "ok"]
    result = ours(["今天天气真好"], ["今天天气很好"], types="rouge-1", tokenize="jieba")
    assert result["rouge-1"] == pytest.approx(2 / 3, rel=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"report": "f1"}, "report must be one of precision, recall, fmeasure, but got 'f1'"),
        ({"multiple": "max"}, 'multiple must be "best" or "average"'),
        ({"tokenize": "13a"}, "tokenize must be one of auto, rouge-score, zh, char, jieba, none"),
        ({"tokenize": "zh", "use_stemmer": True}, "use_stemmer=True needs"),
        ({"rouge_type": []}, "at least one type"),
    ],
)
def test_settings_that_do_not_exist_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        ROUGE(**options)
