"""BLEU against sacrebleu in the same run, and against values of the literature."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from text_strategies import corpora

from mindeval.text.bleu import BLEU, SentenceBLEU
from mindeval.text.bleu_counts import bleu_from_statistics, bleu_statistics

SACREBLEU_TOKENIZERS = ["13a", "intl", "zh", "char", "none"]
SMOOTHINGS = [("exp", None), ("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 0.5), ("none", None)]


def reference(predictions, references, **options):
    streams = [list(stream) for stream in zip(*references)]
    metric = sacrebleu.metrics.BLEU(force=True, **options)
    return metric.corpus_score(predictions, streams), str(metric.get_signature())


def ours(predictions, references, **options):
    metric = BLEU(**options)
    metric.update(predictions, references)
    metric.eval()
    return metric.result()


@settings(max_examples=200, deadline=None)
@given(
    corpora(),
    st.sampled_from(SACREBLEU_TOKENIZERS),
    st.sampled_from(SMOOTHINGS),
    st.booleans(),
    st.booleans(),
    st.integers(1, 6),
)
def test_any_text_gives_sacrebleus_score_counts_and_signature(
    corpus, tokenize, smoothing, lowercase, effective, n_gram
):
    smooth, value = smoothing
    expected, signature = reference(
        *corpus,
        tokenize=tokenize,
        smooth_method=smooth,
        smooth_value=value,
        lowercase=lowercase,
        effective_order=effective,
        max_ngram_order=n_gram,
    )
    result = ours(
        *corpus,
        n_gram=n_gram,
        tokenize=tokenize,
        smooth=smooth,
        smooth_value=value,
        lowercase=lowercase,
        effective_order=effective,
    )
    assert result["score"] == pytest.approx(expected.score, rel=1e-12, abs=1e-12)
    assert [100 * one for one in result["precisions"]] == pytest.approx(expected.precisions, rel=1e-12)
    assert result["brevity_penalty"] == pytest.approx(expected.bp, rel=1e-12)
    assert result["ratio"] == pytest.approx(expected.ratio, rel=1e-12)
    assert (result["hypothesis_length"], result["reference_length"]) == (expected.sys_len, expected.ref_len)
    # sacrebleu adds k to its own counts and reports them so
    if smooth != "add-k":
        assert (result["matches"], result["totals"]) == (expected.counts, expected.totals)
    assert result["sacrebleu"] == signature


@settings(max_examples=100, deadline=None)
@given(corpora(), st.sampled_from(SACREBLEU_TOKENIZERS), st.sampled_from(SMOOTHINGS), st.booleans())
def test_the_sentence_mean_is_that_of_sacrebleus_sentence_scores(corpus, tokenize, smoothing, effective):
    smooth, value = smoothing
    peer = sacrebleu.metrics.BLEU(
        tokenize=tokenize, smooth_method=smooth, smooth_value=value, effective_order=effective, force=True
    )
    scores = [peer.sentence_score(one, several).score for one, several in zip(*corpus)]
    metric = SentenceBLEU(tokenize=tokenize, smooth=smooth, smooth_value=value, effective_order=effective)
    metric.update(*corpus)
    assert 100 * metric.eval() == pytest.approx(math.fsum(scores) / len(scores), rel=1e-12, abs=1e-12)


def test_numbers_of_references_that_vary_are_those_of_sacrebleu_with_none():
    predictions = ["the cat is on the mat", "a dog barks loudly", "it rains"]
    references = [
        ["there is a cat on the mat", "a cat is on the mat", "the cat"],
        ["a dog barks"],
        ["it rains", "rain"],
    ]
    streams = [[several[slot] if slot < len(several) else None for several in references] for slot in range(3)]
    metric = sacrebleu.metrics.BLEU()
    expected = metric.corpus_score(predictions, streams)
    result = ours(predictions, references)
    assert result["score"] == pytest.approx(expected.score, rel=1e-12)
    assert result["sacrebleu"] == str(metric.get_signature())
    assert "nrefs:var" in result["sacrebleu"]
    assert ours(predictions, [[*several, None] for several in references])["bleu"] == result["bleu"]


def test_one_number_of_references_for_all_is_named_in_the_signature():
    assert ours(["a b", "c"], [["a", "b"], ["c", "d"]])["sacrebleu"].startswith("nrefs:2|")
    assert ours(["a b", "c"], [["a"], ["c", "d", "e"]])["sacrebleu"].startswith("nrefs:var|")


@pytest.mark.parametrize("references", [["a b c d e f g h i j", "a b c d e f"], ["a b c d e f", "a b c d e f g h i j"]])
def test_of_two_equally_close_references_the_shorter_counts_in_any_order(references):
    # 8 tokens against 10 and 6: torchmetrics 1.9 gave 0.7788 for the first order. All n-grams match: BLEU is 1.
    result = ours(["a b c d e f g h"], [references])
    assert (result["bleu"], result["reference_length"]) == (1.0, 6)


def test_a_perfect_corpus_is_exactly_one():
    # sacrebleu's floats give 100.00000000000004
    assert ours(["今天天气真好"], ["今天天气真好"])["bleu"] == 1.0


def test_value_of_the_statistics_is_rounded_once():
    # (9/10 * 7/8 * 5/6 * 3/4)^(1/4) = 0.492188^(1/4): 83.75922397 in sacrebleu's own test of the degenerate cases
    assert 100 * bleu_from_statistics([11, 11, 9, 7, 5, 3, 10, 8, 6, 4])["bleu"] == pytest.approx(83.75922397, abs=1e-8)
    # precisions 1/2 and 1/8: the root of 1/16
    assert bleu_from_statistics([8, 8, 4, 1, 8, 8])["bleu"] == 0.25


def test_weights_take_the_place_of_equal_ones():
    # the example of NLTK's documentation: 0.5818 with these weights, 0.5920 with equal ones
    first, second = (
        text.split()
        for text in (
            "It is a guide to action which ensures that the military always obeys the commands of the party",
            "he read the book because he was interested in world history",
        )
    )
    of_first = [
        text.split()
        for text in (
            "It is a guide to action that ensures that the military will forever heed Party commands",
            "It is the guiding principle which guarantees the military forces always being under the command of "
            "the Party",
            "It is the practical guide for the army always to heed the directions of the party",
        )
    ]
    of_second = [text.split() for text in ("he was interested in world history because he read the book",)]
    hypotheses, references = [first, second], [of_first, of_second]
    statistics = bleu_statistics(hypotheses, references).sum(axis=0)
    assert bleu_from_statistics(statistics, "none")["bleu"] == pytest.approx(0.5920, abs=1e-4)
    assert ours(hypotheses, references, smooth="none", weights=[0.1, 0.3, 0.5, 0.1])["bleu"] == pytest.approx(
        0.5818, abs=1e-4
    )


def test_auto_takes_the_tokenizer_that_the_references_ask_for():
    chinese, english = ("模型训练得很快", "模型在昇腾上训练得很快"), ("It's 3.5% faster.", "It's 3.5% fast.")
    result = ours([chinese[0], english[0]], [chinese[1], english[1]])
    by_hand = BLEU(tokenize="zh")
    by_hand.update([chinese[0]], [chinese[1]])
    english_alone = BLEU(tokenize="13a")
    english_alone.update([english[0]], [english[1]])
    lengths = [one._states["statistics"].value for one in (by_hand, english_alone)]
    assert [result["hypothesis_length"], result["reference_length"]] == (lengths[0] + lengths[1])[:2].tolist()
    assert "|tok:13a+zh|" in result["sacrebleu"]
    assert "|tok:zh|" in ours([english[0]], [[english[1], "很快"]])["sacrebleu"]
    assert "|tok:13a|" in ours([chinese[0]], [english[1]])["sacrebleu"]


def test_an_empty_prediction_counts_and_an_empty_reference_has_length_0():
    result = ours(["", "a b c d"], ["a b", "a b c d"])
    assert (result["samples"], result["hypothesis_length"], result["reference_length"]) == (2, 4, 6)
    assert result["bleu"] == pytest.approx(math.exp(1 - 6 / 4), rel=1e-15)
    assert ours([""], ["a b"])["bleu"] == 0.0
    assert ours(["a b"], [""])["bleu"] == 0.0


def test_tokens_are_taken_as_they_are():
    assert ours([["new york", "is", "big"]], [[["new york", "is", "big"], ["x"]]], n_gram=3)["bleu"] == 1.0
    assert ours([["A"]], [["a"]], n_gram=1, lowercase=True)["bleu"] == 1.0
    with pytest.raises(TypeError, match="tokens already, but tokenize='13a'"):
        ours([["a"]], [["a"]], tokenize="13a")


def test_token_ids_are_decoded_without_their_padding():
    vocabulary = ["the", "cat", "sat", "down"]

    def decode(rows):
        return [" ".join(vocabulary[token] for token in row) for row in rows]

    metric = BLEU(decode=decode)
    metric.update(ms.Tensor([[0, 1, 2, 3], [0, 1, 2, -1]]), np.array([[0, 1, 2, 3], [0, 1, 3, -100]]))
    # by hand: unigrams 7/7 of 7 but "sat" against "down": 6/7; bigrams 3+1 of 5; trigrams 2 of 3; 4-grams 1 of 1
    assert metric.eval() == pytest.approx((6 / 7 * 4 / 5 * 2 / 3 * 1) ** 0.25, rel=1e-15)
    metric.clear()
    metric.update(ms.Tensor([[0, 1, 2, 3]]), np.array([[[0, 1, 2, -1], [0, 1, 2, 3]]]))
    assert (metric.eval(), metric.result()["reference_length"]) == (1.0, 4)


def test_nfkc_makes_full_width_letters_equal_and_is_in_the_signature():
    assert ours(["ＡＢＣ １２３"], ["ABC 123"], n_gram=1)["bleu"] == 0.0
    result = ours(["ＡＢＣ １２３"], ["ABC 123"], n_gram=1, nfkc=True)
    assert result["bleu"] == 1.0
    assert "|nfkc:yes|" in result["signature"]


def test_a_mask_leaves_samples_out():
    metric = BLEU()
    metric.update(["a b c d", "x"], ["a b c d", "y"], np.array([True, False]))
    assert (metric.eval(), metric.result()["samples"]) == (1.0, 1)


def test_the_state_is_a_few_hundred_bytes_and_no_sentence_is_kept():
    metric = BLEU()
    for row in range(50):
        metric.update([f"a sentence to be forgotten {row}"] * 20, [f"another one to be forgotten {row}"] * 20)
    assert sum(state.size * 8 for state in metric._states.values()) < 400
    assert "forgotten" not in str(vars(metric))


def test_batches_of_many_tokens_are_counted_in_chunks():
    from mindeval.text import ngrams

    rng = np.random.default_rng(0)
    hypotheses = [[str(token) for token in rng.integers(0, 5, rng.integers(0, 20))] for _ in range(60)]
    references = [[[str(token) for token in rng.integers(0, 5, 12)] for _ in range(2)] for _ in range(60)]
    whole = bleu_statistics(hypotheses, references)
    chunk, ngrams._CHUNK_TOKENS = ngrams._CHUNK_TOKENS, 100
    try:
        assert (bleu_statistics(hypotheses, references) == whole).all()
    finally:
        ngrams._CHUNK_TOKENS = chunk


def test_keys_beyond_63_bits_are_ranked_all_the_same():
    from mindeval.text.ngrams import _dense_ranks

    keys = np.array([2**62, 5, 2**62, 7, 5])
    ranks, kinds = _dense_ranks(keys)
    assert (ranks.tolist(), kinds) == ([2, 0, 2, 1, 0], 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenize": "moses"}, "tokenize must be one of"),
        ({"smooth": "bad"}, "smooth must be one of exp, floor, add-k, none, but got 'bad'"),
        ({"n_gram": 0}, "n_gram must be at least 1, but got 0"),
        ({"weights": [1.0]}, "weights must be 4 numbers"),
        ({"weights": 0.25}, "weights must be 4 numbers"),
        ({"weights": [1, 1, 1, float("nan")]}, "weights must be finite"),
        ({"smooth": "floor", "smooth_value": -0.1}, "smooth_value must be a finite number >= 0, but got -0.1"),
        ({"smooth": "floor", "smooth_value": "0.1"}, "smooth_value must be a finite number >= 0, but got '0.1'"),
        ({"smooth_value": 1.0}, "smooth_value goes with"),
        ({"tokenize": "flores200"}, "needs model_file"),
    ],
)
def test_settings_that_do_not_exist_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BLEU(**options)


@pytest.mark.parametrize("cut", [[3], [1, 2], [2, 1], [1, 1, 1]])
def test_rows_without_token_ids_are_read_as_ids_wherever_the_batch_is_cut(cut):
    words = {1: "the", 2: "cat", 3: "sat"}

    def decode(rows):
        return [" ".join(words[token] for token in row) for row in rows]

    rows, references = [[], [1, 2, 3, 1], []], ["a b", "the cat sat the", "c"]
    metric, texts = BLEU(decode=decode), BLEU()
    start = 0
    for size in cut:
        metric.update(rows[start : start + size], references[start : start + size])
        start += size
    texts.update(["", "the cat sat the", ""], references)
    assert metric.eval() == texts.eval()


@pytest.mark.parametrize("weights", [[2, -1, 0, 0], [0, 0, 0, 0], [float("nan"), 1, 1, 1]])
def test_weights_that_make_no_mean_are_refused(weights):
    with pytest.raises(ValueError, match="weights must be finite, >= 0 and not all 0"):
        BLEU(weights=weights)


def test_weights_that_differ_in_a_late_digit_are_another_definition():
    signatures = {str(BLEU(2, weights=[weight, 0.5]).signature) for weight in (0.3, 0.3 + 2**-50)}
    assert len(signatures) == 2
