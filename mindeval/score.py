"""Score: the float that eval() returns, with its parts; Signature: how it was made. No metric is known here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindeval import __version__, display


class Signature(str):
    """How a value was made: the metric, its settings, the version of the definition, and the library's version.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> Signature.build("perplexity", {"ignore": -100, "shift": False}, version=1)
    'perplexity|ignore:-100|shift:no|def:1|mindeval:0.1.0'
    """

    @classmethod
    def build(cls, metric: str, settings: Mapping[str, Any], version: int) -> Signature:
        """Put a signature together from the settings in the order in which they are given."""
        parts = [metric, *(f"{name}:{_plain(value)}" for name, value in settings.items())]
        return cls("|".join([*parts, f"def:{version}", f"mindeval:{__version__}"]))

    @property
    def definition(self) -> str:
        """The part that two states must share to be merged: all but the library's version.

        >>> Signature("loss|def:1|mindeval:0.1.0").definition
        'loss|def:1'
        """
        return self.rsplit("|mindeval:", 1)[0]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    plain = value.item() if isinstance(value, np.generic) else value
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return json.dumps(text, ensure_ascii=False).replace("|", "\\u007c") if "|" in text else text


class Score(float):
    """A float that remembers its parts and its signature.

    It is a ``float`` in every use: ``EarlyStopping``, ``History``, JSON and f-strings take it. Only ``bool(score)`` is
    always True, because MindSpore's ``EarlyStopping`` and ``ReduceLROnPlateau`` take a value that is false for missing.

    Args:
        value: the number.
        parts: all figures that were computed with it, JSON-ready.
        signature: how it was made.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> score = Score(0.5, {"accuracy": 0.5, "correct": 1}, Signature("accuracy|def:1|mindeval:0.1.0"))
    >>> score, score.parts["correct"], f"{score:.2f}", score.asnumpy()
    (0.5, 1, '0.50', array(0.5))
    """

    parts: dict[str, Any]
    signature: Signature

    def __new__(cls, value: float = 0.0, parts: Mapping[str, Any] | None = None, signature: str = "") -> Score:
        score = super().__new__(cls, value)
        score.parts = dict(parts or {})
        score.signature = Signature(signature)
        return score

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple:
        return type(self), (float(self), self.parts, self.signature)

    def item(self) -> float:
        """The plain float, as ``Tensor.item`` gives it."""
        return float(self)

    def asnumpy(self) -> np.ndarray:
        """A 0-d float64 array, as ``Tensor.asnumpy`` gives it."""
        return np.array(float(self))

    def describe(self) -> str:
        """The value, its parts and its signature as text.

        >>> print(Score(0.5, {"accuracy": 0.5, "correct": 1}, "accuracy|def:1|mindeval:0.1.0").describe())
        accuracy    0.5
        correct     1
        signature   accuracy|def:1|mindeval:0.1.0
        """
        return display.text_pairs({**self.parts, "signature": str(self.signature)})

    def _repr_html_(self) -> str:
        title = self.signature.split("|", 1)[0] or "score"
        return display.html_card(title, float(self), self.parts, str(self.signature))
