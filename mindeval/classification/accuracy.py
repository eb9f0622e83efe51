"""Accuracy: the share of right predictions, among class ids or the top scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.state import Count
from mindeval.tokens import TokenBatch, TokenMetric, check_labels

TASKS = ("classification", "binary", "multiclass")


class Accuracy(TokenMetric):
    """The share of samples (or tokens) whose label is predicted, or is among the ``top_k`` highest scores.

    ``update(predictions, labels[, mask])``:

    =========== ============================================ =========================================================
    input       shape                                        meaning
    =========== ============================================ =========================================================
    predictions ``[...]``, as labels                         class ids: integers, or floats that are whole numbers
    predictions ``[..., C]``, one axis more than labels      logits, probabilities or other scores; higher is likelier
    predictions ``[N, C]`` for labels of N elements in all   the same, flattened
    labels      ``[...]``                                    class ids in [0, C), or ``ignore_index``
    mask        as labels                                    bool, True counts
    =========== ============================================ =========================================================

    Logits ``[B, T, V]`` against labels ``[B, T]`` give token accuracy. Equal scores are ordered by class index: the
    lower index ranks higher, as in ``argmax``. Ids and scores are told apart by shape alone.

    Args:
        task: ``"classification"`` (binary or multiclass), ``"binary"`` (labels must be 0 or 1) or ``"multiclass"``.
        top_k: a label among the k highest scores is right. Above 1 it needs scores.
        ignore_index: the label of positions that do not count.
        shift: True if labels are the input ids of a language model: logits at t are scored on the label at t + 1.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: if shapes do not match, ids are not whole numbers, a label is out of range, a batch is empty, or a
            row of scores holds NaN.

    The definition is that of scikit-learn's ``accuracy_score`` and ``top_k_accuracy_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> accuracy = Accuracy()
    >>> accuracy.update(np.array([0, 1, 1]), np.array([0, 1, 0]))
    >>> accuracy.update(np.float32([[0.9, 0.1]]), np.array([0]))
    >>> accuracy.eval(), accuracy.result()["correct"]
    (0.75, 3)
    """

    higher_is_better = True
    needs_rank = True

    def __init__(
        self,
        task: str = "classification",
        top_k: int = 1,
        ignore_index: int = -100,
        shift: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        if task not in TASKS:
            raise ValueError(f"For 'Accuracy', task must be one of {list(TASKS)}, but got {task!r}")
        if not isinstance(top_k, int) or top_k < 1:
            raise ValueError(f"For 'Accuracy', top_k must be an int of at least 1, but got {top_k!r}")
        self.task, self.top_k = task, top_k
        super().__init__(
            ignore_index,
            shift,
            None,
            states={"correct": Count(), "total": Count()},
            settings={"task": task, "top_k": top_k, "ignore": ignore_index, "shift": bool(shift)},
            distributed=distributed,
            name=name,
        )

    def _contribution(self, predictions: Any, labels: Any, mask: Any = None) -> dict[str, Any]:
        ids = inputs.class_ids(labels, "labels")
        if not isinstance(predictions, TokenBatch):
            predictions = inputs.tensor_or_array(predictions, "predictions")
        if not isinstance(predictions, TokenBatch) and tuple(predictions.shape) == ids.shape:
            right, counted = self._of_ids(inputs.class_ids(predictions, "predictions"), ids, mask)
        else:
            batch = self._token_batch(predictions, labels, mask)
            right, counted = self._of_ranks(batch.stats.rank, batch.counted)
        if self.task == "binary":
            check_labels(ids[ids != self.ignore_index], 2)
        rows = counted.reshape(len(counted), -1).any(axis=1)
        return {"correct": int(right[counted].sum()), "total": int(counted.sum()), "samples": int(rows.sum())}

    def _of_ids(self, predicted: np.ndarray, ids: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.top_k > 1 or self.shift:
            raise ValueError(f"top_k > 1 and shift need scores [..., C], but got class ids {list(predicted.shape)}")
        if ids.size == 0 or ids.ndim == 0:
            raise ValueError(f"a batch must hold at least one label, as [N], but got labels {list(ids.shape)}")
        counted = ids != self.ignore_index
        if mask is not None:
            counted &= inputs.boolean_mask(mask, ids.shape)
        if (ids[counted] < 0).any():
            raise ValueError(
                f"labels must be >= 0 or ignore_index {self.ignore_index}, but got {int(ids[counted].min())}"
            )
        return predicted == ids, counted

    def _of_ranks(self, ranks: np.ndarray | None, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert ranks is not None
        if (ranks[counted] < 0).any():
            raise ValueError("scores must not be NaN or infinite, but a row of scores that counts is")
        return ranks < self.top_k, counted

    def _compute(self, states: Any) -> dict[str, Any]:
        correct, total = states["correct"].value, states["total"].value
        return {"accuracy": correct / total, "correct": correct, "total": total}
