"""How varied generated texts are, without references: distinct n-grams and repetition."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.state import Count, ExactSum, Rows
from mindeval.text import tokenizers
from mindeval.text.metric import TextMetric
from mindeval.text.samples import read_predictions


def ngrams(tokens: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All n-grams in their order.

    >>> ngrams(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return list(zip(*(tokens[start:] for start in range(n))))


class _Diversity(TextMetric):
    """What the two metrics share: settings and the n-grams of each prediction."""

    def __init__(
        self,
        states: Mapping[str, Any],
        settings: Mapping[str, Any],
        n: int,
        tokenize: str,
        lowercase: bool,
        nfkc: bool,
        decode: Callable | None,
        distributed: bool | str,
        name: str | None,
    ) -> None:
        n = inputs.whole_number(n, "n", at_least=1)
        tokenizers.check_name(tokenize, tokenizers.WORD_TOKENIZERS)
        self.n, self.tokenize, self.lowercase = n, tokenize, lowercase
        super().__init__(
            states=states,
            settings={"n": n, **settings, "tok": tokenize, "lowercase": lowercase},
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _ngrams(self, predictions: Any, mask: Any) -> list[list[tuple[str, ...]]]:
        found = read_predictions(predictions, mask, decode=self.decode, nfkc=self.nfkc)
        return [ngrams(self._tokens(one), self.n) for one in found]

    def _tokens(self, prediction: Any) -> list[str]:
        if not isinstance(prediction, str):
            return [token.lower() for token in prediction] if self.lowercase else list(prediction)
        return tokenizers.words(prediction.lower() if self.lowercase else prediction, self.tokenize, [prediction])


class DistinctN(_Diversity):
    r"""Distinct-n: different n-grams over all n-grams of the predictions. Higher is more varied.

    ``scope="corpus"`` is the definition of Li et al. (2016): over all predictions together. It falls as the number of
    predictions grows, so compare equal numbers. Which n-grams were seen cannot be summed: 16 bytes of a BLAKE2b digest
    are kept for each different one, so this is the one text metric whose state grows. ``scope="sample"`` is the mean
    over predictions of their own share, in constant memory; a prediction without n-grams counts as 0.

    ``update(predictions[, references[, mask]])``: texts, tokens or ids, as for ``BLEU``. References are not looked at.

    Args:
        n: the length of the n-grams.
        scope: "corpus" or "sample".
        tokenize: "auto": "zh" for predictions that hold any CJK character (one token for each, other words whole), else
            "words" (split at white space); or always one of them, or "char".
        lowercase: compare in lower case.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError: ``update``: for a bare string, or ids without ``decode``.

    References:
        Li et al., "A diversity-promoting objective function for neural conversation models", NAACL 2016.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> distinct = DistinctN(n=1)
    >>> distinct.update(["I do not know", "I do not care"])
    >>> distinct.eval(), distinct.result()["distinct"]
    (0.625, 5)
    """

    higher_is_better = True

    def __init__(
        self,
        n: int = 2,
        scope: str = "corpus",
        tokenize: str = "auto",
        lowercase: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if scope not in ("corpus", "sample"):
            raise ValueError(f'scope must be "corpus" or "sample", but got {scope!r}')
        self.scope = scope
        states: dict[str, Any] = {"seen": Rows(1), "total": Count()} if scope == "corpus" else {"shares": ExactSum()}
        super().__init__(
            states, {"scope": scope}, n, tokenize, lowercase, nfkc, decode, distributed, name or "distinct_n"
        )

    def _contribution(self, predictions: Any, references: Any = None, mask: Any = None) -> dict[str, Any]:
        by_sample = self._ngrams(predictions, mask)
        if self.scope == "sample":
            shares = [len(set(found)) / len(found) if found else 0.0 for found in by_sample]
            return {"shares": np.array(shares, np.float64), "samples": len(by_sample)}
        return {
            "seen": _digests({ngram for found in by_sample for ngram in found}),
            "total": sum(map(len, by_sample)),
            "samples": len(by_sample),
        }

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        if self.scope == "sample":
            return {"distinct_n": states["shares"].over(states["samples"].value)}
        distinct, total = len(states["seen"].value), states["total"].value
        return {"distinct_n": distinct / total if total else 0.0, "distinct": distinct, "total": total}


def _digests(found: set[tuple[str, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Half of each n-gram's digest as a row, and the other half as its id: equal n-grams become one row."""
    content = b"".join(
        hashlib.blake2b("\0".join(ngram).encode("utf-8", "surrogatepass"), digest_size=16).digest() for ngram in found
    )
    halves = np.frombuffer(content, "<i8").astype(np.int64).reshape(-1, 2)
    return halves[:, 1:], halves[:, 0]


class RepetitionRate(_Diversity):
    r"""The mean over predictions of the share of n-grams that occurred before in the same prediction. Lower is better.

    .. math:: 1 - \frac{\text{different n-grams}}{\text{n-grams}}

    for each prediction, which is seq-rep-n of Welleck et al. (2020). A prediction without n-grams counts as 0.

    ``update(predictions[, references[, mask]])`` and the arguments are as for ``DistinctN``.

    References:
        Welleck et al., "Neural text generation with unlikelihood training", ICLR 2020.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> repetition = RepetitionRate(n=2)
    >>> repetition.update(["good good good good", "all is different"])
    >>> print(f"{repetition.eval():.4f}")
    0.3333
    """

    higher_is_better = False

    def __init__(
        self,
        n: int = 4,
        tokenize: str = "auto",
        lowercase: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        super().__init__({"total": ExactSum()}, {}, n, tokenize, lowercase, nfkc, decode, distributed, name)

    def _contribution(self, predictions: Any, references: Any = None, mask: Any = None) -> dict[str, Any]:
        by_sample = self._ngrams(predictions, mask)
        rates = [(len(found) - len(set(found))) / len(found) if found else 0.0 for found in by_sample]
        return {"total": np.array(rates, np.float64), "samples": len(by_sample)}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        return {"repetition_rate": states["total"].over(states["samples"].value)}
