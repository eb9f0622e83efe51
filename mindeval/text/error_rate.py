"""Edit distances: word and character error rate, and edit similarity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rapidfuzz.distance import Indel, Levenshtein

from mindeval.state import Count, ExactSum
from mindeval.text import tokenizers
from mindeval.text.metric import TextMetric
from mindeval.text.samples import Samples, only_texts


def edit_distance(first: Sequence, second: Sequence) -> int:
    """Insertions, deletions and substitutions (each 1) between two texts or two lists of tokens.

    >>> edit_distance("kitten", "sitting"), edit_distance(["a", "b"], ["b"])
    (3, 1)
    """
    if not isinstance(first, str):
        numbers: defaultdict[Any, int] = defaultdict()  # rapidfuzz compares hashes, and only numbers are their own
        numbers.default_factory = numbers.__len__
        first, second = list(map(numbers.__getitem__, first)), list(map(numbers.__getitem__, second))
    return Levenshtein.distance(first, second)


class _ErrorRate(TextMetric):
    """Edits over the length of the references, both summed over the corpus."""

    higher_is_better = False
    _key: str

    def __init__(
        self,
        settings: Mapping[str, Any],
        lowercase: bool,
        nfkc: bool,
        decode: Callable | None,
        distributed: bool | str,
        name: str | None,
    ) -> None:
        self.lowercase = lowercase
        super().__init__(
            states={"edits": Count(), "length": Count(), "prediction_length": Count()},
            settings={**settings, "lowercase": lowercase},
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _units(self, samples: Samples) -> list[tuple[Any, list]]:
        """What is counted of each sample's prediction and references."""
        raise TypeError(f"{type(self).__name__} must define _units()")

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        samples = self._read(predictions, references, mask)
        edits = length = prediction_length = 0
        for prediction, several in self._units(samples):
            fewest, negative_length = min((edit_distance(prediction, one), -len(one)) for one in several)
            edits += fewest
            length -= negative_length
            prediction_length += len(prediction)
        return {
            "edits": edits,
            "length": length,
            "prediction_length": prediction_length,
            "samples": len(samples.predictions),
        }

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        edits, length = states["edits"].value, states["length"].value
        return {
            self._key: edits / length if length else float(edits > 0),
            "edits": edits,
            "reference_length": length,
            "prediction_length": states["prediction_length"].value,
        }

    def _cased(self, text: str) -> str:
        return text.lower() if self.lowercase else text


class WordErrorRate(_ErrorRate):
    r"""Word error rate :math:`\sum \text{edits} / \sum \text{words of the references}`. Lower is better; may exceed 1.

    Edits are insertions, deletions and substitutions of words. Of several references a sample takes the one that needs
    the fewest edits, of equal ones the longest.

    ``update(predictions, references[, mask])``: texts, tokens or ids, as for ``BLEU``. An empty prediction counts:
    every word of the reference is an edit. Every word against an empty reference is an edit, too; with nothing but
    empty references the rate is 1 if there are edits, else 0.

    Args:
        tokenize: "auto": "zh" for samples whose references hold any CJK character (one token for each, other words
            whole: the mixed error rate), else "words" (split at white space); or always one of them.
        lowercase: compare in lower case.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> wer = WordErrorRate()
    >>> wer.update(["the cat sat on mat", "a dog"], ["the cat sat on the mat", "the dog"])
    >>> wer.eval(), wer.result()["edits"]
    (0.25, 2)
    """

    _key = "word_error_rate"

    def __init__(
        self,
        tokenize: str = "auto",
        lowercase: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        tokenizers.check_name(tokenize, ("auto", "words", "zh"))
        self.tokenize = tokenize
        super().__init__({"tok": tokenize}, lowercase, nfkc, decode, distributed, name)

    def _units(self, samples: Samples) -> list[tuple[Any, list]]:
        if samples.tokenised:
            return list(zip(samples.predictions, samples.references))
        units = []
        for prediction, several in zip(samples.predictions, samples.references):
            first, *others = (
                tokenizers.words(self._cased(text), self.tokenize, several) for text in (prediction, *several)
            )
            units.append((first, others))
        return units


class CharErrorRate(_ErrorRate):
    r"""Character error rate :math:`\sum \text{edits} / \sum \text{characters of the references}`. Lower is better.

    A character is a Unicode code point; a letter with a combining mark is two unless ``nfkc`` joins them. All else is
    as in ``WordErrorRate``, but tokens are refused.

    Args:
        whitespace: whether white space counts as characters.
        lowercase: compare in lower case.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``; TypeError also for tokens.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> cer = CharErrorRate()
    >>> cer.update(["今天天气很好"], ["今天天气真好啊"])
    >>> cer.eval(), cer.result()["edits"]
    (0.2857142857142857, 2)
    """

    _key = "char_error_rate"

    def __init__(
        self,
        whitespace: bool = True,
        lowercase: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.whitespace = whitespace
        super().__init__({"space": whitespace}, lowercase, nfkc, decode, distributed, name)

    def _units(self, samples: Samples) -> list[tuple[Any, list]]:
        only_texts(samples)
        return [
            (self._characters(prediction), [self._characters(one) for one in several])
            for prediction, several in zip(samples.predictions, samples.references)
        ]

    def _characters(self, text: str) -> str:
        text = self._cased(text)
        return text if self.whitespace else "".join(text.split())


class EditSimilarity(TextMetric):
    r"""The mean over samples of how similar prediction and reference are by edits, in [0, 1].

    With characters as units, m and n the lengths and d the edit distance:
    "levenshtein": :math:`1 - d / \max(m, n)`;
    "indel": :math:`2 \cdot \text{LCS} / (m + n)`, where a substitution is two edits, as ``fuzz.ratio`` of rapidfuzz has
    it (the edit similarity of RepoBench and of LongBench's code tasks).

    Of several references a sample takes the most similar. Two empty texts have similarity 1.

    ``update(predictions, references[, mask])``: texts or ids, as for ``BLEU``.

    Args:
        distance: "levenshtein" or "indel".
        lowercase: compare in lower case.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError, ValueError: ``update``: as ``BLEU``; TypeError also for tokens.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> similarity = EditSimilarity()
    >>> similarity.update(["return x+1"], ["return y+1"])
    >>> similarity.eval()
    0.9
    """

    higher_is_better = True

    def __init__(
        self,
        distance: str = "levenshtein",
        lowercase: bool = False,
        *,
        nfkc: bool = False,
        decode: Callable | None = None,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if distance not in ("levenshtein", "indel"):
            raise ValueError(f'distance must be "levenshtein" or "indel", but got {distance!r}')
        self.distance, self.lowercase = distance, lowercase
        super().__init__(
            states={"total": ExactSum()},
            settings={"distance": distance, "lowercase": lowercase},
            nfkc=nfkc,
            decode=decode,
            distributed=distributed,
            name=name,
        )

    def _contribution(self, predictions: Any, references: Any, mask: Any = None) -> dict[str, Any]:
        samples = only_texts(self._read(predictions, references, mask))
        values = [
            max(self._similarity(prediction, one) for one in several)
            for prediction, several in zip(samples.predictions, samples.references)
        ]
        return {"total": np.array(values, np.float64), "samples": len(values)}

    def _similarity(self, prediction: str, reference: str) -> float:
        if self.lowercase:
            prediction, reference = prediction.lower(), reference.lower()
        if self.distance == "levenshtein":
            longest = max(len(prediction), len(reference))
            return (longest - Levenshtein.distance(prediction, reference)) / longest if longest else 1.0
        both = len(prediction) + len(reference)
        return (both - Indel.distance(prediction, reference)) / both if both else 1.0

    def _compute(self, states: Mapping[str, Any]) -> dict[str, Any]:
        return {"edit_similarity": states["total"].over(states["samples"].value)}
