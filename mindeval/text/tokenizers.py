"""From text to tokens. BLEU takes sacrebleu's tokenizers; ROUGE rouge-score's and three for Chinese.

Nothing is downloaded: a tokenizer that needs a model takes a file that is given.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

Tokenizer = Callable[[str], "list[str]"]

_SENTENCEPIECE = ("spm", "flores101", "flores200", "spBLEU-1K")
BLEU_TOKENIZERS = ("auto", "13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab", *_SENTENCEPIECE)
WORD_TOKENIZERS = ("auto", "words", "zh", "char")
ROUGE_TOKENIZERS = ("auto", "rouge-score", "zh", "char", "jieba", "none")

# Ideographs with their radicals, iteration marks and extensions, kana, bopomofo. Not Hangul, which is written with
# spaces, and not punctuation, which an English text may borrow.
_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_ANY_CJK = re.compile(f"[{_CJK}]")
_LETTERS = rf"[^\W_\u200c\u200d{_CJK}]"  # and digits; not the joiners, which regex counts among them and re does not
_CHINESE = re.compile(rf"[{_CJK}]|{_LETTERS}+(?:(?<=\d)[.,](?=\d){_LETTERS}+)*|\S")
_NEAR_COMBINING_MARKS = re.compile(  # every mark is here, and some scripts with them
    "[\u0300-\u036f\u0483-\u1fff\u20d0-\u20ff\u2cef-\u2cf1\u2d7f\u2de0-\u2dff\u302a-\u302f\u3099\u309a"
    "\ua66f-\uabff\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U00010000-\U0001ffff\U000e0100-\U000e01ef]"
)
_ALPHANUMERIC_ASCII = re.compile("[a-z0-9]+")


def has_cjk(text: str) -> bool:
    """Whether a text holds any CJK character: what ``tokenize="auto"`` asks about each reference.

    >>> has_cjk("Huawei 昇腾"), has_cjk("Ａｓｃｅｎｄ，"), has_cjk("안녕")
    (True, False, False)
    """
    return _ANY_CJK.search(text) is not None


def has_alphanumeric(text: str) -> bool:
    """Whether rouge-score's tokenizer would leave anything of a text: a to z or 0 to 9.

    >>> has_alphanumeric("A"), has_alphanumeric("ไทย!")
    (True, False)
    """
    return _ALPHANUMERIC_ASCII.search(text.lower()) is not None


def check_name(name: str, known: tuple[str, ...]) -> None:
    """Raise for a tokenizer that does not exist."""
    if name not in known:
        raise ValueError(f"tokenize must be one of {', '.join(known)}, but got {name!r}")


# -- BLEU -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def bleu_tokenizer(name: str, model_file: str | None = None) -> Tokenizer:
    """The tokenizer of sacrebleu with this name, from one text to its tokens.

    sacrebleu keeps the last 65,536 sentences; here none is kept.

    Args:
        name: 13a, intl, zh, char, none, ja-mecab, ko-mecab, spm, flores101, flores200 or spBLEU-1K.
        model_file: the SentencePiece model of the last four.

    Raises:
        ImportError: if the package that the tokenizer needs is not installed.
        ValueError: if a SentencePiece tokenizer is given no file.

    >>> bleu_tokenizer("13a")("It's 3.5%.")
    ["It's", '3.5', '%', '.']
    >>> bleu_tokenizer("zh")("用Python3.11，好！")
    ['用', 'Python3.11', '，', '好', '！']
    """
    check_name(name, BLEU_TOKENIZERS[1:])
    if name == "none":
        return str.split
    if name in _SENTENCEPIECE:
        return partial(_pieces, _sentencepiece_model(name, model_file))
    tokenize = without_cache(_sacrebleu_tokenizer(name))
    return lambda text: tokenize(text).split()


def bleu_tokenizer_signature(name: str) -> str:
    """What sacrebleu's signature says of a tokenizer."""
    if name == "spm":
        return "flores101"
    return name if name == "none" or name in _SENTENCEPIECE else _sacrebleu_tokenizer(name).signature()


def model_digest(model_file: str | Path) -> str:
    """The first 12 digits of the SHA-256 of a model file, for the signature."""
    return hashlib.sha256(Path(model_file).read_bytes()).hexdigest()[:12]


def _sacrebleu_tokenizer(name: str) -> Any:
    from sacrebleu.metrics import bleu

    try:
        return bleu._get_tokenizer(name)()
    except (ImportError, RuntimeError) as error:
        language = name[:2]
        raise ImportError(
            f'tokenize="{name}" needs MeCab, which is not installed: pip install "sacrebleu[{language}]"'
        ) from error


def without_cache(tokenizer: Any) -> Callable[[str], str]:
    """A sacrebleu tokenizer that does not keep the sentences it was given."""
    inner = getattr(tokenizer, "_post_tokenizer", None)
    if inner is not None:
        tokenizer._post_tokenizer = without_cache(inner)
    call = type(tokenizer).__call__
    return partial(getattr(call, "__wrapped__", call), tokenizer)


def _sentencepiece_model(name: str, model_file: str | None) -> Any:
    if model_file is None:
        raise ValueError(f'tokenize="{name}" needs model_file, the path of its SentencePiece model: none is downloaded')
    try:
        sentencepiece = importlib.import_module("sentencepiece")
    except ImportError as error:
        raise ImportError(f'tokenize="{name}" needs SentencePiece: pip install "mindeval[spm]"') from error
    return sentencepiece.SentencePieceProcessor(model_file=model_file)


def _pieces(model: Any, text: str) -> list[str]:
    return " ".join(model.encode(text, out_type=str)).split()


# -- ROUGE ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=32)
def rouge_tokenizer(name: str, use_stemmer: bool = False) -> Tokenizer:
    """A tokenizer for ROUGE, from one text to its tokens, in lower case.

    ================ ==================================================================================================
    ``rouge-score``  what rouge-score takes: runs of a-z and 0-9, all else dropped; with ``use_stemmer`` words of more
                     than 3 letters are stemmed by NLTK's Porter stemmer
    ``zh``           one token for each CJK character; runs of other letters and digits whole, with the separators
                     within numbers (``3.14``); each punctuation mark or symbol by itself
    ``char``         one token for each character that is not white space
    ``jieba``        the words of jieba
    ``none``         split at white space
    ================ ==================================================================================================

    >>> rouge_tokenizer("rouge-score")("It's 3.5%.")
    ['it', 's', '3', '5']
    >>> rouge_tokenizer("zh")("用Python写3.14，好！")
    ['用', 'python', '写', '3.14', '，', '好', '！']
    """
    check_name(name, ROUGE_TOKENIZERS[1:])
    if use_stemmer and name != "rouge-score":
        raise ValueError(f'use_stemmer=True needs tokenize="rouge-score" or "auto", but got tokenize={name!r}')
    if name == "jieba":
        return partial(_jieba_words, _jieba())
    return {
        "rouge-score": _stemmed if use_stemmer else _alphanumeric,
        "zh": _chinese,
        "char": _characters,
        "none": _words,
    }[name]


def _alphanumeric(text: str) -> list[str]:
    return _ALPHANUMERIC_ASCII.findall(text.lower())


def _stemmed(text: str) -> list[str]:
    stem = _stem()
    return [stem(token) if len(token) > 3 else token for token in _alphanumeric(text)]


@lru_cache(maxsize=1)
def _stem() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return lru_cache(maxsize=65536)(PorterStemmer().stem)


def _chinese(text: str) -> list[str]:
    return chinese_tokens(text.lower())


def chinese_tokens(text: str) -> list[str]:
    """One token for each CJK character; runs of other letters and digits whole; each other character by itself.

    >>> chinese_tokens("用Python写3.14！")
    ['用', 'Python', '写', '3.14', '！']
    """
    pattern = _chinese_with_marks() if _NEAR_COMBINING_MARKS.search(text) else _CHINESE
    return pattern.findall(text)


@lru_cache(maxsize=1)
def _chinese_with_marks() -> Any:
    """As ``_CHINESE``, and a combining mark belongs to what is before it. ``re`` does not know marks."""
    import regex

    number_goes_on = rf"(?<=\d)[.,](?=\d){_LETTERS}++"
    return regex.compile(rf"[{_CJK}]\p{{M}}*+|{_LETTERS}++(?:\p{{M}}++{_LETTERS}*+)*+(?:{number_goes_on})*+|\S")


def _characters(text: str) -> list[str]:
    return list("".join(text.lower().split()))


def _words(text: str) -> list[str]:
    return text.lower().split()


@lru_cache(maxsize=1)
def _jieba() -> Any:
    try:
        jieba = importlib.import_module("jieba")
    except ImportError as error:
        raise ImportError('tokenize="jieba" needs jieba: pip install "mindeval[zh]"') from error
    jieba.setLogLevel("ERROR")  # it announces the loading of its dictionary
    return jieba


def _jieba_words(jieba: Any, text: str) -> list[str]:
    return [word.lower() for word in jieba.cut(text) if not word.isspace()]


# -- all others -------------------------------------------------------------------------------------------------------


def words(text: str, tokenize: str, chosen_by: list[str]) -> list[str]:
    """The words of a text as it is: at white space, by ``chinese_tokens``, or single characters.

    Args:
        text: what to split.
        tokenize: "words", "zh", "char", or "auto": "zh" if one of ``chosen_by`` holds any CJK character, else "words".
        chosen_by: the references of the sample, or the text itself.

    >>> words("今天 OK", "auto", ["今天 OK"]), words("it's OK", "auto", ["OK"])
    (['今', '天', 'OK'], ["it's", 'OK'])
    """
    if tokenize == "auto":
        tokenize = "zh" if any(map(has_cjk, chosen_by)) else "words"
    if tokenize == "zh":
        return chinese_tokens(text)
    return text.split() if tokenize == "words" else list("".join(text.split()))
