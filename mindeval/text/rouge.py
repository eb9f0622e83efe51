"""ROUGE-N, ROUGE-L and ROUGE-Lsum."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from mindeval.state import Count, Counts, ExactSum
from mindeval.text import tokenizers
from mindeval.text.lcs import lcs_length, union_lcs_counts
from mindeval.text.metric import TextMetric
from mindeval.text.ngrams import Tokens, matched_ngrams, ngram_totals
from mindeval.text.samples import Samples

logger = logging.getLogger("mindeval")

_MEASURES = ("precision", "recall", "fmeasure")
_TYPE = re.compile(r"rouge-?(?:([1-9])|(l|lsum))", re.IGNORECASE)


def rouge_scores(hits: np.ndarray, candidate_lengths: np.ndarray, reference_lengths: np.ndarray) -> np.ndarray:
    """Precision, recall and F1 as rouge-score computes them: the same float operations in the same order.

    Args:
        hits: int64 [N], what candidate and reference have in common.
        candidate_lengths, reference_lengths: int64 [N], what each of them has.

    Returns:
        float64 [N, 3]; 0 where a length is 0.

    >>> rouge_scores(np.array([2]), np.array([2]), np.array([3])).round(3)
    array([[1.   , 0.667, 0.8  ]])
    """
    precision = hits / np.maximum(candidate_lengths, 1)
    recall = hits / np.maximum(reference_lengths, 1)
    both = precision + recall
    fmeasure = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return np.stack([precision, recall, fmeasure], axis=1)


def rouge_n_counts(candidates: Sequence[Tokens], references: Sequence[Tokens], n: int) -> np.ndarray:
    """For each pair: common n-grams, those of the candidate and those of the reference, int64 [N, 3].

    >>> rouge_n_counts([["a", "b", "c"]], [["a", "b"]], 2).tolist()
    [[1, 2, 1]]
    """
    matched = matched_ngrams(candidates, [[one] for one in references], n)
    sides = [ngram_totals(np.array([len(one) for one in side], np.int64), n) for side in (candidates, references)]
    return np.stack([matched[:, -1], sides[0][:, -1], sides[1][:, -1]], axis=1)


def rouge_lsum_counts(candidate: Sequence[Tokens], reference: Sequence[Tokens]) -> tuple[int, int, int]:
    """Hits of the union LCS over sentences, tokens of the candidate, tokens of the reference.

    As in rouge-score and ROUGE-1.5.5, no token is a hit more often than the candidate holds it.

    >>> rouge_lsum_counts([[1, 2, 6, 7, 8], [1, 3, 8, 9, 5]], [[1, 2, 3, 4, 5]])
    (4, 10, 5)
    """
    held = Counter(chain.from_iterable(candidate))
    covered = union_lcs_counts(reference, candidate)
    hits = sum(min(times, held[token]) for token, times in covered.items())
    return hits, sum(map(len, candidate)), sum(map(len, reference))


class ROUGE(TextMetric):
    r"""ROUGE as rouge-score computes it, for any language: the mean over samples of precision, recall and F1.

    With c what candidate and reference have in common, P = c / (of the candidate), R = c / (of the reference) and
    F1 = 2PR / (P + R), where what is counted is:

    ============== ==================================================================================================
    ``rouge-1..9`` n-grams
    ``rouge-l``    the longest common subsequence of all tokens
    ``rouge-lsum`` for each sentence (line) of the reference, the union of its longest common subsequences with each
                   sentence of the candidate. Sentences are separated by ``\n``: a text without line breaks is one
    ============== ==================================================================================================

    ``update(predictions, references[, mask])``: texts, tokens or token ids, as for ``BLEU``. An empty prediction or an
    empty reference scores 0 and counts, also if both are empty (as in rouge-score).

    Args:
        rouge_type: "rouge-1" to "rouge-9", "rouge-l", "rouge-lsum", or a list of them; the first is the value of
            ``eval()``. rouge-score's own spelling (``rougeL``) is taken, too.
        tokenize: "auto": for each sample "zh" if its references hold any CJK character, else "rouge-score"; or one of
            "rouge-score", "zh", "char", "jieba" (needs jieba), "none". All are in lower case;
            see ``mindeval.text.tokenizers.rouge_tokenizer``.
        use_stemmer: Porter stemming where the tokenizer is rouge-score's.
        report: "fmeasure", "precision" or "recall": the value under the type's own name.
        multiple: with several references "best" takes precision, recall and F1 of the reference with the best F1 (of
            equal ones the first), for each type by itself; "average" their mean over the references.
        nfkc: bring all text to Unicode normalisation form NFKC first (full-width letters become ASCII).
        decode: makes texts of ids, such as ``tokenizer.batch_decode``: predictions (and references) may then be integer
            [N, T]; negative ids are left out.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    rouge-score's tokenizer drops all but a-z and 0-9, so a reference in Arabic or Thai keeps no token and scores 0: a
    warning says so, and ``result()["references_without_tokens"]`` counts them. Take ``tokenize="char"`` for these.

    Raises:
        TypeError: ``update``: for a bare string, ids without ``decode``, or tokens for "rouge-lsum".
        ValueError: for unknown settings; ``update``: if there are not as many references as predictions.

    References:
        Lin, "ROUGE: a package for automatic evaluation of summaries", 2004. rouge-score 0.1.2.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> rouge = ROUGE(["rouge-l", "rouge-1"])
    >>> rouge.update(["the cat sat", "今天天气很好"], ["the cat sat down", "今天天气真好"])
    >>> print(f"{rouge.eval():.4f}")
    0.8452
    >>> rouge.result()["rouge-1_recall"]
    0.7916666666666667
    """

    higher_is_better = True

    def __init__(
        self,
        rouge_type: str | Sequence[str] = "rouge-l",
        tokenize: str = "auto",
        use_stemmer: bool = False,
        report: str = "fmeasure",
        *,
        multiple: str = "best",
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        given = [rouge_type] if isinstance(rouge_type, str) else list(rouge_type)
        self.types = list(dict.fromkeys(_canonical(one) for one in given))
        tokenizers.check_name(tokenize, tokenizers.ROUGE_TOKENIZERS)
        if report not in _MEASURES:
            raise ValueError(f"report must be one of {', '.join(_MEASURES)}, but got {report!r}")
        if multiple not in ("best", "average"):
            raise ValueError(f'multiple must be "best" or "average", but got {multiple!r}')
        if not self.types:
            raise ValueError("rouge_type must name at least one type, but got an empty list")
        if tokenize != "auto":
            tokenizers.rouge_tokenizer(tokenize, use_stemmer)  # what is missing is missed now
        self.tokenize, self.use_stemmer, self.report, self.multiple = tokenize, use_stemmer, report, multiple
        self._warned = False
        states: dict[str, Any] = {f"{one}_{measure}": ExactSum() for one in self.types for measure in _MEASURES}
        super().__init__(
            states={**states, "references_without_tokens": Count(), "tokenizers": Counts((2,))},
            settings={
                "type": ",".join(self.types),
                "tok": tokenize,
                "stem": use_stemmer,
                "report": report,
                "multiple": multiple,
            },
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        samples = self._read(predictions, references, mask)
        if samples.tokenised and "rouge-lsum" in self.types:
            raise TypeError("predictions must be texts for rouge-lsum, which needs their line breaks, but got tokens")
        names = self._names(samples)
        by_name = {name: _split(name, self.use_stemmer, samples.tokenised) for name in set(names)}
        splits = [by_name[name] for name in names]
        owners = np.array([row for row, several in enumerate(samples.references) for _ in several], np.int64)
        of_tokens = _pairs(_tokens, samples, splits) if self.types != ["rouge-lsum"] else []
        added: dict[str, Any] = {}
        for one in self.types:
            pairs = _pairs(_sentences, samples, splits) if one == "rouge-lsum" else of_tokens
            scores = rouge_scores(*_counts(one, pairs).T)
            chosen = self._of_samples(scores, owners, len(names))
            for column, measure in enumerate(_MEASURES):
                added[f"{one}_{measure}"] = chosen[:, column]
        without_tokens = sum(
            name == "rouge-score" and not tokenizers.has_alphanumeric(text) and not text.isspace() and text != ""
            for name, several in zip(names, samples.references)
            for text in several
        )
        self._warn_of(without_tokens)
        return {
            **added,
            "references_without_tokens": without_tokens,
            "tokenizers": [names.count("rouge-score"), names.count("zh")],
            "samples": len(names),
        }

    def _names(self, samples: Samples) -> list[str]:
        """The tokenizer of each sample."""
        if samples.tokenised:
            return ["given"] * len(samples.predictions)
        if self.tokenize != "auto":
            return [self.tokenize] * len(samples.predictions)
        return ["zh" if any(map(tokenizers.has_cjk, several)) else "rouge-score" for several in samples.references]

    def _of_samples(self, scores: np.ndarray, owners: np.ndarray, samples: int) -> np.ndarray:
        """From the scores of all pairs [P, 3] to those of the samples [N, 3]."""
        if len(scores) == samples:
            return scores
        edges = np.searchsorted(owners, np.arange(samples + 1)).tolist()
        several = [scores[start:end] for start, end in zip(edges, edges[1:])]
        if self.multiple == "best":
            return np.array([one[np.argmax(one[:, 2])] for one in several])
        return np.array([[sum(column) / len(one) for column in one.T.tolist()] for one in several])

    def _warn_of(self, without_tokens: int) -> None:
        if without_tokens and not self._warned:
            self._warned = True
            logger.warning(
                "'%s': rouge-score's tokenizer keeps a-z and 0-9 alone and leaves nothing of %d references, which "
                "score 0: tokenize='char' takes any script",
                self.name,
                without_tokens,
            )

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        samples = states["samples"].value
        means = {
            f"{one}_{measure}": states[f"{one}_{measure}"].over(samples) for one in self.types for measure in _MEASURES
        }
        by_rouge_score, by_zh = states["tokenizers"].value.tolist()
        return {
            **{one: means[f"{one}_{self.report}"] for one in self.types},
            **means,
            "references_without_tokens": states["references_without_tokens"].value,
            **({"tokenized_as": {"rouge-score": by_rouge_score, "zh": by_zh}} if self.tokenize == "auto" else {}),
        }


def _pairs(cut: Callable[..., Any], samples: Samples, splits: list[tokenizers.Tokenizer]) -> list[tuple[Any, Any]]:
    """Each prediction with each of its references, cut into tokens, or into sentences of tokens."""
    candidates = [cut(split, text) for split, text in zip(splits, samples.predictions)]
    several = [[cut(split, text) for text in texts] for split, texts in zip(splits, samples.references)]
    return [(one, reference) for one, references in zip(candidates, several) for reference in references]


def _counts(rouge_type: str, pairs: list[tuple[Any, Any]]) -> np.ndarray:
    """For each pair: hits, and what candidate and reference have. int64 [P, 3]."""
    if rouge_type[-1].isdigit():
        return rouge_n_counts([one for one, _ in pairs], [one for _, one in pairs], int(rouge_type[-1]))
    if rouge_type == "rouge-l":
        rows = [(lcs_length(*pair), *map(len, pair)) for pair in pairs]
    else:
        rows = [rouge_lsum_counts(*pair) for pair in pairs]
    return np.array(rows, np.int64).reshape(-1, 3)


def _tokens(split: tokenizers.Tokenizer, text: Any) -> list[str]:
    return split(text)


def _sentences(split: tokenizers.Tokenizer, text: str) -> list[list[str]]:
    return [split(line) for line in text.split("\n") if line]


def _split(name: str, use_stemmer: bool, tokenised: bool) -> Callable[[Any], list[str]]:
    if tokenised:
        return list
    # Lines that predictions and references share are split once; the cache does not outlive the update.
    return lru_cache(maxsize=4096)(tokenizers.rouge_tokenizer(name, use_stemmer and name == "rouge-score"))


def _canonical(rouge_type: str) -> str:
    found = _TYPE.fullmatch(rouge_type) if isinstance(rouge_type, str) else None
    if not found:
        raise ValueError(f"rouge_type must be rouge-1 to rouge-9, rouge-l or rouge-lsum, but got {rouge_type!r}")
    return f"rouge-{found[1] or found[2].lower()}"
