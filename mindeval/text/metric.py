"""What all metrics over texts share: how texts are read, normalised and decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mindeval.metric import Metric
from mindeval.state import State
from mindeval.text.samples import Samples, read_samples


class TextMetric(Metric):
    """A metric whose ``update`` takes ``(predictions, references[, mask])`` as texts, tokens or token ids.

    Args:
        states: as for ``Metric``.
        settings: as for ``Metric``; ``nfkc`` is added.
        nfkc: bring all text to Unicode normalisation form NFKC first.
        decode: makes texts of ids, such as ``tokenizer.batch_decode``; None: ids are refused.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        TypeError: if ``decode`` is not a function.
    """

    def __init__(
        self,
        *,
        states: Mapping[str, State],
        settings: Mapping[str, Any],
        nfkc: bool,
        decode: Callable | None,
        distributed: bool | str,
        name: str | None,
    ) -> None:
        if decode is not None and not callable(decode):
            raise TypeError(f"decode must be a function such as tokenizer.batch_decode, but got {decode!r}")
        self.nfkc, self.decode = nfkc, decode
        super().__init__(states=states, settings={**settings, "nfkc": nfkc}, distributed=distributed, name=name)

    def _read(self, predictions: Any, references: Any, mask: Any) -> Samples:
        return read_samples(predictions, references, mask, decode=self.decode, nfkc=self.nfkc)
