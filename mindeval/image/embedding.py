"""Cosine similarity of pairs of embeddings, as CLIPScore takes it of images and their captions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.constructors import finite_number
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum


class EmbeddingSimilarity(Metric):
    r"""The mean over pairs of :math:`w \cos(x_i, y_i) = w \, x_i \cdot y_i / (\lVert x_i\rVert \lVert y_i\rVert)`.

    The embeddings are yours: no model is downloaded or run. ``update(embeddings, references[, mask])``: floats ``[N,
    D]`` each, or ``[..., D]``; ``mask``: bool ``[N]`` (the shape without D), True counts. Sums over D are float64,
    in an order that depends on D alone. ``result()``: ``similarity`` and ``pairs``.

    Args:
        scale: w. CLIPScore is ``scale=2.5, floor=True``; torchmetrics reports it with 100.
        floor: True: a negative cosine counts as 0, as in CLIPScore.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: if ``scale`` is not a finite number > 0; ``update``: if shapes differ, or an embedding that
            counts is zero (it has no direction) or not finite.

    The definition is that of Hessel et al., *CLIPScore: A Reference-free Evaluation Metric for Image Captioning* (EMNLP
    2021).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> similarity = EmbeddingSimilarity()
    >>> similarity.update(np.float32([[1.0, 0.0], [3.0, 4.0]]), np.float32([[2.0, 0.0], [4.0, 3.0]]))
    >>> similarity.eval()  # (1 + 24/25) / 2
    0.98
    """

    higher_is_better = True

    def __init__(
        self, scale: float = 1.0, floor: bool = False, *, distributed: bool | str = False, name: str | None = None
    ) -> None:
        self.scale, self.floor = finite_number(scale, "scale"), floor
        if self.scale <= 0:
            raise ValueError(f"scale must be a finite number > 0, but got {scale!r}")
        super().__init__(
            states={"similarity": ExactSum(), "pairs": Count()},
            settings={"scale": self.scale, "floor": self.floor},
            distributed=distributed,
            name=name,
        )

    def _contribution(
        self, embeddings: Any, references: Any, mask: Any = None, sample_ids: Any = None
    ) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        given, wanted = inputs.to_numpy(embeddings, "embeddings"), inputs.to_numpy(references, "references")
        if given.ndim < 2 or given.shape != wanted.shape or given.size == 0:
            raise ValueError(
                "embeddings and references must have one shape [N, D], but got "
                f"{list(given.shape)} and {list(wanted.shape)}"
            )
        keep = np.ones(given.shape[:-1], bool) if mask is None else inputs.boolean_mask(mask, given.shape[:-1])
        values = cosines(given[keep].astype(np.float64), wanted[keep].astype(np.float64))
        if self.floor:
            values = np.maximum(values, 0.0)
        samples = int(keep.reshape(len(keep), -1).any(axis=1).sum())
        return {"similarity": values, "pairs": values.size, "samples": samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        count = states["pairs"].value
        return {"similarity": self.scale * states["similarity"].over(count), "pairs": count}


def cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The cosine of each row of two float64 matrices [n, D], in [-1, 1]."""
    for what, rows in (("embeddings", x), ("references", y)):
        if not np.isfinite(rows).all():
            raise ValueError(f"{what} must be finite where they count, but got NaN or infinity")
    # the largest entry first becomes 1, so that squares neither overflow nor vanish
    largest = [np.abs(rows).max(axis=1, keepdims=True) for rows in (x, y)]
    for what, part in zip(("embeddings", "references"), largest):
        if (part == 0).any():
            raise ValueError(f"{what} must not be zero vectors where they count: row {int((part == 0).argmax())} is")
    x, y = x / largest[0], y / largest[1]
    dots, x_norms, y_norms = (_sums(a * b) for a, b in ((x, y), (x, x), (y, y)))
    return np.clip(dots / np.sqrt(x_norms * y_norms), -1.0, 1.0)


def _sums(values: np.ndarray) -> np.ndarray:
    """Sums of rows, halving them: the order of additions depends on their length alone."""
    while values.shape[1] > 1:
        if values.shape[1] % 2:
            values = np.concatenate([values, np.zeros((len(values), 1))], axis=1)
        half = values.shape[1] // 2
        values = values[:, :half] + values[:, half:]
    return values[:, 0]
