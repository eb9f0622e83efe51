"""Answers against references: exact match and token F1, as for SQuAD, and by characters for Chinese."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from mindeval.state import Count, ExactSum
from mindeval.text import tokenizers
from mindeval.text.metric import TextMetric

NORMALIZATIONS = ("squad", "squad-numbers", "none")

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_DIGITS = str.maketrans("", "", string.digits)
_SEPARATOR_OF_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_KEPT_POINT = "\ue000"  # of the private use area: no punctuation
_DECIMAL_POINT = re.compile(r"(?<=\d)\.(?=\d)")


def answer_tokens(text: str, normalize: str = "squad", chinese: bool = False) -> list[str]:
    """The tokens of an answer.

    ================= =================================================================================================
    ``squad``         the rule of SQuAD 1.1: lower case, without ASCII punctuation, without a, an and the; split at
                      white space
    ``squad-numbers`` the same, but ``2.75`` keeps its point and ``3,000`` becomes ``3000``; plain SQuAD makes ``275``
                      of both ``2.75`` and ``275``
    ``none``          the text split at white space
    ================= =================================================================================================

    Args:
        text: the answer.
        normalize: one of these.
        chinese: one token for each CJK character, and without the punctuation of any script.

    >>> answer_tokens("The answer: (2.75)"), answer_tokens("The answer: (2.75)", "squad-numbers")
    (['answer', '275'], ['answer', '2.75'])
    >>> answer_tokens("《红楼梦》。", chinese=True)
    ['红', '楼', '梦']
    """
    if normalize == "none":
        return tokenizers.chinese_tokens(text) if chinese else text.split()
    text = text.lower()
    if normalize == "squad-numbers":
        text = _DECIMAL_POINT.sub(_KEPT_POINT, _SEPARATOR_OF_THOUSANDS.sub("", text))
    text = text.translate(_PUNCTUATION)
    if chinese:
        text = "".join(" " if unicodedata.category(one)[0] == "P" else one for one in text)
    text = _ARTICLES.sub(" ", text).replace(_KEPT_POINT, ".")
    return tokenizers.chinese_tokens(text) if chinese else text.split()


def token_f1(prediction: Sequence[str], reference: Sequence[str], overlap: str = "bag") -> float:
    """F1 of what two token lists have in common; 1 if both are empty.

    Args:
        prediction, reference: the tokens.
        overlap: "bag": tokens, each as often as both hold it (SQuAD); "run": the longest run of tokens (CMRC 2018).

    >>> token_f1(["a", "b", "x", "c"], ["a", "b", "c"]), token_f1(["a", "b", "x", "c"], ["a", "b", "c"], "run")
    (0.8571428571428571, 0.5714285714285714)
    """
    if not prediction or not reference:
        return float(not prediction and not reference)
    if overlap == "bag":
        common = sum((Counter(prediction) & Counter(reference)).values())
    else:
        common = SequenceMatcher(None, prediction, reference, autojunk=False).find_longest_match().size
    return 2 * common / (len(prediction) + len(reference))


class _AnswerMetric(TextMetric):
    """What the two metrics share: the tokens of predictions and references."""

    higher_is_better = True

    def __init__(
        self,
        states: Mapping[str, Any],
        settings: Mapping[str, Any],
        normalize: str,
        tokenize: str,
        nfkc: bool,
        decode: Callable | None,
        distributed: bool | str,
        name: str | None,
    ) -> None:
        if normalize not in NORMALIZATIONS:
            raise ValueError(f"normalize must be one of {', '.join(NORMALIZATIONS)}, but got {normalize!r}")
        tokenizers.check_name(tokenize, ("auto", "words", "zh"))
        self.normalize, self.tokenize = normalize, tokenize
        super().__init__(
            states=states,
            settings={"norm": normalize, "tok": tokenize, **settings},
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _tokens(self, predictions: Any, references: Any, mask: Any) -> list[tuple[list[str], list[list[str]]]]:
        samples = self._read(predictions, references, mask)
        pairs = []
        for prediction, several in zip(samples.predictions, samples.references):
            if samples.tokenised:
                pairs.append((list(prediction), [list(one) for one in several]))
                continue
            chinese = self.tokenize == "zh" or (self.tokenize == "auto" and any(map(tokenizers.has_cjk, several)))
            prediction, *several = (
                answer_tokens(self._prepared(text), self.normalize, chinese) for text in (prediction, *several)
            )
            pairs.append((prediction, several))
        return pairs

    def _prepared(self, text: str) -> str:
        return text


class ExactMatch(_AnswerMetric):
    """The share of predictions that equal one of their references once both are normalised.

    ``update(predictions, references[, mask])``: texts, tokens (compared as they are) or ids, as for ``BLEU``. An empty
    prediction counts, and matches an empty reference alone.

    Args:
        normalize: "squad", "squad-numbers" or "none"; see ``answer_tokens``. With "none" white space at the ends and
            its amount do not matter, all else does.
        tokenize: "auto": Chinese where the references hold any CJK character (their full-width punctuation and the
            spaces between characters do not matter then); "zh": always; "words": never.
        ignore: regular expressions of what is removed first.
        ignore_case: compare in lower case, after ``ignore``.
        ignore_punctuation: leave out ASCII punctuation.
        ignore_numbers: leave out the digits 0-9.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``.

    References:
        Rajpurkar et al., "SQuAD", 2016. The ``ignore`` options are those of Hugging Face evaluate's ``exact_match``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> exact = ExactMatch()
    >>> exact.update(["The Eiffel Tower.", "42", "曹雪芹。"], [["Eiffel Tower", "Tour Eiffel"], "43", "曹雪芹"])
    >>> exact.eval(), exact.result()["correct"]
    (0.6666666666666666, 2)
    """

    def __init__(
        self,
        normalize: str = "squad",
        tokenize: str = "auto",
        *,
        ignore: Sequence[str] = (),
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.ignore = [ignore] if isinstance(ignore, str) else list(ignore)
        self.ignore_case, self.ignore_punctuation = ignore_case, ignore_punctuation
        self.ignore_numbers = ignore_numbers
        ignored = [
            *self.ignore,
            *(["case"] if ignore_case else []),
            *(["punctuation"] if ignore_punctuation else []),
            *(["numbers"] if ignore_numbers else []),
        ]
        super().__init__(
            {"correct": Count()},
            {"ignore": ",".join(ignored)} if ignored else {},
            normalize,
            tokenize,
            nfkc,
            decode,
            distributed,
            name,
        )

    def _prepared(self, text: str) -> str:
        for pattern in self.ignore:
            text = re.sub(pattern, "", text)
        if self.ignore_case:
            text = text.lower()
        if self.ignore_punctuation:
            text = text.translate(_PUNCTUATION)
        return text.translate(_DIGITS) if self.ignore_numbers else text

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        pairs = self._tokens(predictions, references, mask)
        return {"correct": sum(prediction in several for prediction, several in pairs), "samples": len(pairs)}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        correct = states["correct"].value
        return {"exact_match": correct / states["samples"].value, "correct": correct}


class TokenF1(_AnswerMetric):
    """The mean over samples of the F1 of tokens that prediction and reference share, as for SQuAD.

    Of several references a sample takes the one with the best F1. For Chinese each CJK character is a token.

    ``update(predictions, references[, mask])``: texts, tokens (compared as they are) or ids, as for ``BLEU``. An empty
    prediction counts. Where nothing is left of prediction or reference, F1 is 1 if nothing is left of both (the rule of
    SQuAD 2.0 for questions without an answer), else 0.

    Args:
        normalize: "squad", "squad-numbers" or "none"; see ``answer_tokens``.
        tokenize: "auto": Chinese where the references hold any CJK character; "zh": always; "words": never.
        overlap: "bag": what tokens are shared (SQuAD); "run": the longest run of tokens (CMRC 2018, and MindFormers'
            ``EmF1Metric``).
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``.

    References:
        Rajpurkar et al., "SQuAD", 2016; "Know what you don't know", 2018. Cui et al., CMRC 2018.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> f1 = TokenF1()
    >>> f1.update(["in the year 1999", "《红楼梦》的作者曹雪芹"], ["1999", "曹雪芹。"])
    >>> f1.eval()
    0.5
    """

    def __init__(
        self,
        normalize: str = "squad",
        tokenize: str = "auto",
        overlap: str = "bag",
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if overlap not in ("bag", "run"):
            raise ValueError(f'overlap must be "bag" or "run", but got {overlap!r}')
        self.overlap = overlap
        super().__init__(
            {"total": ExactSum()},
            {"overlap": overlap},
            normalize,
            tokenize,
            nfkc,
            decode,
            distributed,
            name or "token_f1",
        )

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        values = [
            max(token_f1(prediction, one, self.overlap) for one in several)
            for prediction, several in self._tokens(predictions, references, mask)
        ]
        return {"total": np.array(values, np.float64), "samples": len(values)}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        return {"token_f1": states["total"].over(states["samples"].value)}
