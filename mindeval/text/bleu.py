"""BLEU of a corpus, and the mean of the BLEU of its sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.state import Counts, ExactSum, State
from mindeval.text import tokenizers
from mindeval.text.bleu_counts import SMOOTHINGS, bleu_from_statistics, bleu_statistics
from mindeval.text.metric import TextMetric


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


class _Bleu(TextMetric):
    """What the two BLEU metrics share: settings, tokens and the statistics of each sample."""

    higher_is_better = True

    def __init__(
        self,
        n_gram: int = 4,
        tokenize: str = "auto",
        smooth: str = "exp",
        lowercase: bool = False,
        effective_order: bool = False,
        *,
        smooth_value: float | None = None,
        weights: Sequence[float] | None = None,
        model_file: str | None = None,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        n_gram = inputs.whole_number(n_gram, "n_gram", at_least=1)
        tokenizers.check_name(tokenize, tokenizers.BLEU_TOKENIZERS)
        if smooth not in SMOOTHINGS:
            raise ValueError(f"smooth must be one of {', '.join(SMOOTHINGS)}, but got {smooth!r}")
        if weights is not None:
            weights = inputs.to_numpy(weights, "weights").astype(np.float64).tolist()
            if not isinstance(weights, list) or len(weights) != n_gram or effective_order:
                raise ValueError(f"weights must be {n_gram} numbers, one for each order, without effective_order=True")
            if not (all(0 <= weight < float("inf") for weight in weights) and any(weights)):
                raise ValueError(f"weights must be finite, >= 0 and not all 0, but got {weights}")
        if smooth_value is not None and SMOOTHINGS[smooth] is None:
            raise ValueError(f'smooth_value goes with smooth="floor" or "add-k", but got smooth={smooth!r}')
        if smooth_value is not None and not (_is_number(smooth_value) and 0 <= smooth_value < float("inf")):
            raise ValueError(f"smooth_value must be a finite number >= 0, but got {smooth_value!r}")
        self.n_gram, self.tokenize, self.lowercase = n_gram, tokenize, lowercase
        self.smooth, self.effective_order = smooth, effective_order
        self.smooth_value = SMOOTHINGS[smooth] if smooth_value is None else float(smooth_value)
        self.weights = weights
        self.model_file = model_file
        if tokenize != "auto":
            tokenizers.bleu_tokenizer(tokenize, model_file)  # what is missing is missed now
        settings = {
            "n": n_gram,
            "tok": tokenize,
            "smooth": smooth if self.smooth_value is None else f"{smooth}[{self.smooth_value!r}]",
            "lowercase": lowercase,
            "effective": effective_order,
        }
        if weights is not None:
            settings["weights"] = ",".join(map(repr, weights))
        if model_file is not None:
            settings["model"] = tokenizers.model_digest(model_file)
        super().__init__(
            states=self._empty_states(n_gram),
            settings=settings,
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _empty_states(self, n_gram: int) -> dict[str, State]:
        raise TypeError(f"{type(self).__name__} must define _empty_states()")

    def _tokens(self, predictions: Any, references: Any, mask: Any) -> tuple[list, list, list[str]]:
        """The tokens of all predictions and references, and the tokenizer each sample was given to."""
        samples = self._read(predictions, references, mask)
        if samples.tokenised:
            if self.tokenize not in ("auto", "none"):
                raise TypeError(
                    f"predictions are tokens already, but tokenize={self.tokenize!r}: give texts, or tokenize='none'"
                )
            names = ["none"] * len(samples.predictions)
        elif self.tokenize == "auto":
            names = ["zh" if any(map(tokenizers.has_cjk, several)) else "13a" for several in samples.references]
        else:
            names = [self.tokenize] * len(samples.predictions)
        split = {name: self._tokenizer(name, samples.tokenised) for name in set(names)}
        hypotheses = [split[name](one) for name, one in zip(names, samples.predictions)]
        references = [[split[name](one) for one in several] for name, several in zip(names, samples.references)]
        return hypotheses, references, names

    def _tokenizer(self, name: str, tokenised: bool) -> Callable[[Any], list[str]]:
        if tokenised:
            return (lambda tokens: [token.lower() for token in tokens]) if self.lowercase else list
        split = tokenizers.bleu_tokenizer(name, self.model_file)
        if self.lowercase:
            return lambda text: split(text.lower().rstrip())
        return lambda text: split(text.rstrip())

    def _bleu(self, statistics: Sequence[int]) -> dict[str, Any]:
        return bleu_from_statistics(statistics, self.smooth, self.smooth_value, self.effective_order, self.weights)


class BLEU(_Bleu):
    r"""BLEU of a corpus, equal to sacrebleu's, with a tokenizer that is chosen for each sample.

    .. math:: \text{BLEU} = e^{\min(0, 1 - r / h)} \Big(\prod_{n=1}^{N} p_n\Big)^{1/N}

    where :math:`p_n` is the share of the n-grams of all hypotheses that their references hold, h the length of all
    hypotheses and r that of the closest references. Counts are summed over the corpus, so BLEU is no mean over
    sentences (see ``SentenceBLEU``) and no mean over batches.

    ``update(predictions, references[, mask])``: texts, tokens or token ids, see below. An empty prediction counts, with
    no n-grams; an empty reference is a reference of length 0. A reference may be None to be left out.

    Args:
        n_gram: the longest n-grams, N.
        tokenize: "auto": for each sample "zh" if its references hold any CJK character, else "13a"; or one of
            sacrebleu's: "13a", "intl", "zh", "char", "none" (split at white space), "ja-mecab", "ko-mecab",
            "spm", "flores101", "flores200" and "spBLEU-1K" with ``model_file``.
        smooth: "exp", "floor", "add-k" or "none"; see ``bleu_from_statistics``.
        lowercase: compare in lower case.
        effective_order: leave out the orders for which the hypotheses are too short.
        smooth_value: for "floor" (0.1) and "add-k" (1).
        weights: N weights of the precisions, in place of equal ones.
        model_file: the SentencePiece model for "spm" and its kin. Nothing is downloaded.
        nfkc: bring all text to Unicode normalisation form NFKC first (full-width letters become ASCII).
        decode: makes texts of ids, such as ``tokenizer.batch_decode``: predictions (and references) may then be integer
            [N, T]; negative ids are left out.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    ``result()`` gives ``bleu`` in [0, 1], ``score`` (0-100), ``precisions``, ``brevity_penalty``, ``ratio``, the
    lengths and counts, and the signature that sacrebleu would print for the same score. Where "auto" took two
    tokenizers, it names both (``tok:13a+zh``): sacrebleu has no such score.

    Raises:
        TypeError: ``update``: for a bare string, or ids without ``decode``.
        ValueError: for unknown settings; ``update``: if there are not as many references as predictions, as when they
            come transposed, one list for each stream.

    References:
        Papineni et al., "BLEU: a method for automatic evaluation of machine translation", ACL 2002.
        Post, "A call for clarity in reporting BLEU scores", WMT 2018 (sacrebleu 2.6).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> bleu = BLEU()
    >>> english = ["there is a cat on the mat", "a cat is on the mat"]
    >>> bleu.update(["the cat is on the mat", "今天天气很好"], [english, "今天天气真好"])
    >>> print(f"{bleu.eval():.4f}")
    0.6534
    >>> bleu.result()["sacrebleu"].split("|version")[0]
    'nrefs:var|case:mixed|eff:no|tok:13a+zh|smooth:exp'
    """

    def _empty_states(self, n_gram: int) -> dict[str, State]:
        return {
            "statistics": Counts((2 + 2 * n_gram,)),
            "references": Counts((2,)),  # the sum of their numbers and of the squares: are they all equal?
            "tokenizers": Counts((3,)),
        }

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        hypotheses, several, names = self._tokens(predictions, references, mask)
        numbers = [len(one) for one in several]
        return {
            "statistics": bleu_statistics(hypotheses, several, self.n_gram).sum(axis=0),
            "references": [sum(numbers), sum(number * number for number in numbers)],
            "tokenizers": [names.count("13a"), names.count("zh"), names.count("none")],
            "samples": len(hypotheses),
        }

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        statistics = states["statistics"].value.tolist()
        length, reference_length, *counts = statistics
        parts = self._bleu(statistics)
        return {
            "bleu": parts["bleu"],
            "score": 100 * parts["bleu"],
            "precisions": parts["precisions"],
            "brevity_penalty": parts["brevity_penalty"],
            "ratio": length / reference_length if reference_length else 0.0,
            "hypothesis_length": length,
            "reference_length": reference_length,
            "matches": counts[: self.n_gram],
            "totals": counts[self.n_gram :],
            "sacrebleu": self._sacrebleu_signature(states),
        }

    def _sacrebleu_signature(self, states: Mapping[str, Any]) -> str:
        import sacrebleu

        total, squares = states["references"].value.tolist()
        samples = states["samples"].value
        number = total // samples if samples * squares == total * total else "var"
        taken = [name for name, n in zip(("13a", "zh", "none"), states["tokenizers"].value) if n]
        tokenizer = "+".join(tokenizers.bleu_tokenizer_signature(name) for name in taken or [self.tokenize])
        smooth = self.smooth if self.smooth_value is None else f"{self.smooth}[{self.smooth_value:.2f}]"
        return (
            f"nrefs:{number}|case:{'lc' if self.lowercase else 'mixed'}|eff:{'yes' if self.effective_order else 'no'}"
            f"|tok:{tokenizer}|smooth:{smooth}|version:{sacrebleu.__version__}"
        )


class SentenceBLEU(_Bleu):
    """The mean of the BLEU of each sentence, which is another number than the BLEU of the corpus.

    Each sentence's value is that of sacrebleu's ``sentence_bleu``. ``effective_order`` is on, because a sentence of
    three words has no 4-grams and would score 0 however good it is. The sum is exact.

    Arguments, inputs and errors are those of ``BLEU``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> bleu = SentenceBLEU()
    >>> bleu.update(["yes it is", "no"], ["yes it is", "never"])
    >>> bleu.eval()
    0.5
    """

    def __init__(
        self,
        n_gram: int = 4,
        tokenize: str = "auto",
        smooth: str = "exp",
        lowercase: bool = False,
        effective_order: bool = True,
        **options: Any,
    ) -> None:
        options["name"] = options.get("name") or "sentence_bleu"
        super().__init__(n_gram, tokenize, smooth, lowercase, effective_order, **options)

    def _empty_states(self, n_gram: int) -> dict[str, State]:
        return {"total": ExactSum()}

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        hypotheses, several, _ = self._tokens(predictions, references, mask)
        rows = bleu_statistics(hypotheses, several, self.n_gram).tolist()
        return {"total": np.array([self._bleu(row)["bleu"] for row in rows], np.float64), "samples": len(rows)}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        return {"sentence_bleu": states["total"].over(states["samples"].value)}
