"""TER: translation edit rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindeval.state import Count, ExactSum
from mindeval.text.metric import TextMetric
from mindeval.text.samples import only_texts
from mindeval.text.tokenizers import without_cache


class TER(TextMetric):
    r"""Translation edit rate of a corpus, equal to sacrebleu's: edits / length of the references. Lower is better.

    Edits are insertions, deletions and substitutions of words and shifts of sequences of words, found by Tercom's
    greedy search as sacrebleu has it. Of several references a sample takes the fewest edits and the mean length. Both
    are summed over the corpus before they are divided, so the rate may exceed 1. With nothing but empty references it
    is 1 if there are edits, else 0.

    ``update(predictions, references[, mask])``: texts or ids, as for ``BLEU``. An empty prediction counts: every word
    of the reference is an edit.

    Args:
        normalized: Tercom's normalisation: split off punctuation, resolve XML entities.
        no_punct: leave punctuation out.
        asian_support: with ``normalized``, split Chinese and Japanese into characters; with ``no_punct``, leave their
            punctuation out, too. Without both, a Chinese sentence without spaces is a single word.
        case_sensitive: do not compare in lower case.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``; TypeError also for tokens.

    References:
        Snover et al., "A study of translation edit rate with targeted human annotation", AMTA 2006. sacrebleu 2.6.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> ter = TER()
    >>> ter.update(["on the mat the cat sat"], ["the cat sat on the mat"])
    >>> ter.eval(), ter.result()["edits"]
    (0.16666666666666666, 1)
    """

    higher_is_better = False

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "normalized": normalized,
            "no_punct": no_punct,
            "asian_support": asian_support,
            "case_sensitive": case_sensitive,
        }
        super().__init__(
            states={"edits": Count(), "length": ExactSum()},  # a mean length may be a third
            settings={
                "norm": normalized,
                "punct": not no_punct,
                "asian": asian_support,
                "case": case_sensitive,
            },
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name or "ter",
        )

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        from sacrebleu.metrics import TER as SacreTER

        samples = only_texts(self._read(predictions, references, mask))
        ter = SacreTER(**self._options)
        ter.tokenizer = without_cache(ter.tokenizer)  # type: ignore[assignment]
        edits, lengths = 0, []
        for prediction, several in zip(samples.predictions, samples.references):
            [(fewest, length)] = ter._extract_corpus_statistics([prediction], [[one] for one in several])
            edits += fewest
            lengths.append(length)
        return {"edits": edits, "length": np.array(lengths, np.float64), "samples": len(samples.predictions)}

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        edits, length = states["edits"].value, states["length"].fraction()
        rate = float(edits / length) if length else float(edits > 0)
        return {"ter": rate, "score": 100 * rate, "edits": edits, "reference_length": float(length)}
