"""Tokenizers against sacrebleu and rouge-score, and the rule for Chinese by hand."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import tokenizers as rouge_score_tokenizers
from sacrebleu.metrics.bleu import _get_tokenizer
from text_strategies import texts

from mindeval.text import tokenizers
from mindeval.text.tokenizers import bleu_tokenizer, chinese_tokens, has_cjk, rouge_tokenizer


@settings(max_examples=300, deadline=None)
@given(texts, st.sampled_from(["13a", "intl", "zh", "char", "none"]))
def test_bleu_tokens_are_sacrebleus(text, name):
    assert bleu_tokenizer(name)(text) == _get_tokenizer(name)()(text).split()


@settings(max_examples=300, deadline=None)
@given(texts, st.booleans())
def test_rouge_tokens_are_rouge_scores(text, use_stemmer):
    peer = rouge_score_tokenizers.DefaultTokenizer(use_stemmer)
    assert rouge_tokenizer("rouge-score", use_stemmer)(text) == peer.tokenize(text)


def test_sacrebleu_keeps_no_sentence_that_we_tokenise():
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    before = Tokenizer13a.__call__.cache_info().currsize
    bleu_tokenizer("13a")("a sentence of nobody else")
    assert Tokenizer13a.__call__.cache_info().currsize == before


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("用Python写3.14，好！", ["用", "Python", "写", "3.14", "，", "好", "！"]),
        ("共1,000.5元", ["共", "1,000.5", "元"]),
        ("第1.节", ["第", "1", ".", "节"]),
        ("C++ a_b don't", ["C", "+", "+", "a", "_", "b", "don", "'", "t"]),
        ("ＡＢＣ１２３", ["ＡＢＣ１２３"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("カ\u3099ギ", ["カ\u3099", "ギ"]),
        ("مَرْحَبا", ["مَرْحَبا"]),
        ("ที่นี่", ["ที่นี่"]),
        ("한국어 말", ["한국어", "말"]),
        ("好👍🏽", ["好", "👍", "🏽"]),
        ("𠀀𠮷", ["𠀀", "𠮷"]),
        (" \u3000\n", []),
    ],
)
def test_chinese_rule(text, tokens):
    assert chinese_tokens(text) == tokens


@settings(max_examples=300, deadline=None)
@given(texts.map(lambda text: "".join(one for one in text if unicodedata.category(one)[0] != "M")))
def test_the_pattern_that_knows_combining_marks_agrees_where_there_are_none(text):
    assert tokenizers._chinese_with_marks().findall(text) == tokenizers._CHINESE.findall(text)


def test_no_combining_mark_is_overlooked():
    near = tokenizers._NEAR_COMBINING_MARKS
    missed = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code))[0] == "M"]
    assert [hex(code) for code in missed if not near.match(chr(code))] == []


@pytest.mark.parametrize("text", ["中", "ひ", "ツ", "ｶ", "ㄅ", "々", "〇", "豈", "𠮷", "x中y"])
def test_cjk_characters_are_seen(text):
    assert has_cjk(text)


@pytest.mark.parametrize("text", ["", "abc", "Ａ１", "，。「」", "한국어", "مرحبا", "ไทย", "é", "😀", "—“”"])
def test_borrowed_punctuation_and_other_scripts_are_no_cjk(text):
    assert not has_cjk(text)


def test_characters_and_white_space():
    assert rouge_tokenizer("char")("Ab 中\u3000!") == ["a", "b", "中", "!"]
    assert rouge_tokenizer("none")("A b\nc.") == ["a", "b", "c."]


@pytest.mark.parametrize(
    ("package", "make", "message"),
    [
        ("jieba", lambda: rouge_tokenizer("jieba"), r'pip install "mindeval\[zh\]"'),
        ("sentencepiece", lambda: bleu_tokenizer("flores200", "some.model"), r'pip install "mindeval\[spm\]"'),
        ("MeCab", lambda: bleu_tokenizer("ja-mecab"), r'pip install "sacrebleu\[ja\]"'),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(package, make, message, monkeypatch):
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    for cached in (rouge_tokenizer, bleu_tokenizer, tokenizers._jieba):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(ImportError, match=message):
        make()


def test_japanese_words_are_sacrebleus():
    pytest.importorskip("MeCab", reason="ja-mecab needs sacrebleu[ja]")
    pytest.importorskip("ipadic", reason="ja-mecab needs sacrebleu[ja]")
    text = "これはテストです。"
    assert bleu_tokenizer("ja-mecab")(text) == _get_tokenizer("ja-mecab")()(text).split()
    assert tokenizers.bleu_tokenizer_signature("ja-mecab").startswith("ja-mecab-")


def test_sentencepiece_pieces_are_sacrebleus_from_a_file_that_is_given(tmp_path, monkeypatch):
    sentencepiece = pytest.importorskip("sentencepiece", reason="flores and spm need sentencepiece")
    from sacrebleu.tokenizers import tokenizer_spm

    lines = ["the cat sat on the mat", "今天天气很好", "a dog barks", "模型训练得很快"] * 20
    (tmp_path / "corpus.txt").write_text("\n".join(lines), encoding="utf-8")
    models = tmp_path / "models"
    models.mkdir()
    model = models / "flores200sacrebleuspm"
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "corpus.txt"),
        minloglevel=2,
        model_prefix=str(tmp_path / "tiny"),
        vocab_size=60,
        hard_vocab_limit=False,
    )
    (tmp_path / "tiny.model").rename(model)
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(tmp_path))
    for text in ("the dog sat", "今天模型很好 ok", "  \u3000 x"):
        expected = tokenizer_spm.Flores200Tokenizer()(text).split()
        assert bleu_tokenizer("flores200", str(model))(text) == expected
