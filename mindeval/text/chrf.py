"""chrF and chrF++: F-scores of character n-grams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.state import Counts
from mindeval.text.metric import TextMetric
from mindeval.text.samples import only_texts


class ChrF(TextMetric):
    r"""chrF (``word_order=0``) and chrF++ (``word_order=2``) of a corpus, equal to sacrebleu's, in [0, 1].

    .. math:: \text{chrF} = (1 + \beta^2) \frac{P R}{\beta^2 P + R}

    where P and R are the means over the orders of the share of n-grams of hypotheses and references that match; orders
    that one side has no n-gram of are left out. The counts are sacrebleu's own; of several references a sample takes
    the one with the best score. They are summed over the corpus before the score is made.

    ``update(predictions, references[, mask])``: texts or ids, as for ``BLEU``. Empty predictions count.

    Args:
        char_order: the longest character n-grams.
        word_order: the longest word n-grams: 0, or 2 for chrF++.
        beta: how much more recall weighs than precision.
        lowercase: compare in lower case.
        whitespace: whether white space is part of the character n-grams.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``; TypeError also for tokens.

    References:
        Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015; "chrF++", WMT 2017.
        sacrebleu 2.6.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> chrf = ChrF(word_order=2)
    >>> chrf.update(["the cat sat", "今天天气很好"], ["the cat sits", "今天天气真好"])
    >>> print(f"{chrf.eval():.4f}")
    0.5387
    """

    higher_is_better = True

    def __init__(
        self,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        char_order = inputs.whole_number(char_order, "char_order", at_least=1)
        word_order = inputs.whole_number(word_order, "word_order", at_least=0)
        beta = inputs.whole_number(beta, "beta", at_least=1)
        self.char_order, self.word_order, self.beta = char_order, word_order, beta
        self.lowercase, self.whitespace = lowercase, whitespace
        super().__init__(
            states={"statistics": Counts((char_order + word_order, 3))},
            settings={
                "nc": char_order,
                "nw": word_order,
                "beta": beta,
                "lowercase": lowercase,
                "space": whitespace,
            },
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name or "chrf",
        )

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        samples = only_texts(self._read(predictions, references, mask))
        rows = np.array(list(self._rows(samples.predictions, samples.references)), np.int64)
        total = rows.reshape(-1, self.char_order + self.word_order, 3).sum(axis=0)
        return {"statistics": total, "samples": len(samples.predictions)}

    def _rows(self, predictions: list[str], references: list[list[str]]) -> Any:
        """sacrebleu's counts of each sample: of the hypothesis, of the reference, in both; for each order."""
        from sacrebleu.metrics import CHRF

        chrf = CHRF(self.char_order, self.word_order, self.beta, self.lowercase, self.whitespace)
        for prediction, several in zip(predictions, references):
            [row] = chrf._extract_corpus_statistics([prediction], [[reference] for reference in several])
            yield row

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        precision, recall, score = chrf_from_statistics(states["statistics"].value.tolist(), self.beta)
        return {"chrf": score, "score": 100 * score, "precision": precision, "recall": recall}


def chrf_from_statistics(statistics: Sequence[Sequence[int]], beta: int) -> tuple[float, float, float]:
    """Mean precision, mean recall and their F-score from [n-grams of hypotheses, of references, in both] by order.

    >>> chrf_from_statistics([[2, 4, 2], [1, 3, 0], [0, 2, 0]], beta=1)
    (0.5, 0.25, 0.3333333333333333)
    """
    orders = [row for row in statistics if row[0] > 0 and row[1] > 0]
    if not orders:
        return 0.0, 0.0, 0.0
    precision = sum(matched / hypothesis for hypothesis, _, matched in orders) / len(orders)
    recall = sum(matched / reference for _, reference, matched in orders) / len(orders)
    if precision + recall == 0:
        return 0.0, 0.0, 0.0
    factor = beta * beta
    return precision, recall, (1 + factor) * precision * recall / (factor * precision + recall)
