"""Accuracy: the share of right predictions, among class ids or the top scores; over samples or over classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import exact, inputs
from mindeval.classification import _totals
from mindeval.classification._arguments import (
    check_classes,
    check_task,
    check_threshold,
    check_threshold_of_classes,
    check_top_k,
    check_weights,
    spread_weights,
)
from mindeval.classification._class_scores import label_ranks
from mindeval.classification._decisions import check_counted, check_range, read_decided
from mindeval.classification._flags import decide_flags
from mindeval.classification._labels import whole_labels
from mindeval.classification._right_counts import counts_of, read_classes, states_of
from mindeval.classification._task_metric import unusual
from mindeval.classification._widths import check_widths, widths_added, widths_states
from mindeval.constructors import one_of
from mindeval.tokens import TokenBatch, TokenMetric, check_logits, shifted

AVERAGES = ("micro", "macro", "weighted", "none")


class Accuracy(TokenMetric):
    """The share of samples (or tokens) whose label is predicted, or is among the ``top_k`` highest scores.

    ``update(predictions, labels[, mask])``, and ``weights=`` by keyword:

    =========== ============================================ =========================================================
    input       shape                                        meaning
    =========== ============================================ =========================================================
    predictions ``[...]``, as labels                         class ids: integers, or floats that are whole numbers; for
                                                             binary and multilabel floats are scores, see ``threshold``
    predictions ``[..., C]``, one axis more than labels      logits, probabilities or other scores; higher is likelier
    predictions ``[N, C]`` for labels of N elements in all   the same, flattened
    labels      ``[...]``                                    class ids in [0, C), or ``ignore_index``; for multilabel
                                                             ``[..., L]`` of 0 and 1
    mask        as labels                                    bool, True counts
    =========== ============================================ =========================================================

    Logits ``[B, T, V]`` against labels ``[B, T]`` give token accuracy. Equal scores are ordered by class index: the
    lower index ranks higher, as in ``argmax``. Ids and scores are told apart by shape alone.

    ``average="macro"`` is balanced accuracy: the mean over classes of the share of right ones among the class's labels
    (its recall), over the classes that have labels. For multilabel a row is right if all of its labels are that count
    (subset accuracy); for the share of single labels see ``HammingLoss``.

    ``result()``: ``accuracy``, ``correct`` and ``total`` (numbers, or sums of weights); for averages over classes also
    ``per_class``: columns ``class``, ``accuracy``, ``correct`` and ``support``.

    Args:
        task: ``"classification"`` (binary or multiclass), ``"binary"`` (labels must be 0 or 1), ``"multiclass"`` or
            ``"multilabel"``.
        num_classes: the number of classes (or labels), if it is to be checked.
        average: "micro" (over samples), "macro" (balanced accuracy), "weighted" (over classes, each weighing its
            labels: the value of micro) or "none" (the value is that of macro; read ``per_class``).
        top_k: a label among the k highest scores is right. Above 1 it needs scores.
        threshold: decides scores of class 1 for binary and multilabel, see ``Precision``.
        ignore_index: the label of positions that do not count.
        shift: True if labels are the input ids of a language model: logits at t are scored on the label at t + 1.
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or of its first axes.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: if shapes do not match, ids are not whole numbers, a label or an id is out of range, a batch is
            empty, a row of scores holds NaN, or sample ids are given (counts cannot tell repeated samples: mask them).

    The definition is that of scikit-learn's ``accuracy_score``, ``top_k_accuracy_score`` and
    ``balanced_accuracy_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> accuracy = Accuracy()
    >>> accuracy.update(np.array([0, 1, 1]), np.array([0, 1, 0]))
    >>> accuracy.update(np.float32([[0.9, 0.1]]), np.array([0]))
    >>> accuracy.eval(), accuracy.result()["correct"]
    (0.75, 3)
    >>> Accuracy(average="macro")([0, 0, 0, 0], [0, 0, 0, 1])
    0.5
    >>> Accuracy(task="multilabel")([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.5
    """

    higher_is_better = True
    needs_rank = True

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        average: str = "micro",
        top_k: int = 1,
        threshold: float = 0.5,
        ignore_index: int = -100,
        shift: bool = False,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        self.top_k, self.threshold = check_top_k(top_k, self.num_classes), check_threshold(threshold)
        one_of(average, "average", AVERAGES)
        if task == "multilabel" and (average != "micro" or top_k != 1 or shift):
            raise ValueError("task='multilabel' has no average, top_k or shift: a row is right or wrong")
        self.average, self.weighted = average, weighted
        settings = {"task": task, "top_k": self.top_k, "ignore": ignore_index, "shift": shift}
        rare = {
            "average": (average, "micro"),
            "num_classes": (num_classes, None),
            "threshold": (self.threshold, 0.5),
            "weighted": (self.weighted, False),
        }
        settings |= unusual(rare)
        states = {**states_of(average != "micro", self.weighted), **widths_states(task, self.num_classes)}
        super().__init__(
            ignore_index, shift, None, states=states, settings=settings, distributed=distributed, name=name
        )

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        check_weights(weights, self.weighted)
        if self.task == "multilabel":
            return self._of_flags(predictions, labels, mask, weights)
        ids = whole_labels(labels, mask).astype(np.int64, copy=False)
        if mask is not None and inputs.to_numpy(labels, "labels").dtype.kind in "fu":
            labels = ids  # which hold nothing that does not count
        if ids.ndim == 0 and not isinstance(predictions, TokenBatch):
            ids, predictions = ids[None], _of_one_label(predictions, self.task)
            labels = ids
        if isinstance(predictions, TokenBatch):
            check_threshold_of_classes(self.threshold, "logits")
            right, counted = self._of_ranks(predictions.stats.rank, predictions.counted)
        else:
            right, counted = self._of_predictions(predictions, ids, labels, mask)
        part = None
        if weights is not None:
            part = _kept_weights(weights, counted, self.shift)
        if self.shift:
            ids = ids[..., 1:]
        if self.num_classes is not None:
            check_counted(ids, counted, self.num_classes, "labels", self.ignore_index)
        samples = np.count_nonzero(counted if counted.ndim == 1 else counted.reshape(len(counted), -1).any(axis=1))
        return {
            **counts_of(right[counted], ids[counted] if self.average != "micro" else None, part),
            "samples": samples,
        }

    def _of_predictions(
        self, predictions: Any, ids: np.ndarray, labels: Any, mask: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        predictions = inputs.tensor_or_array(predictions, "predictions")
        if self.task == "binary" and tuple(predictions.shape) == (*ids.shape, 1):
            predictions = predictions.reshape(ids.shape)
        if tuple(predictions.shape) == ids.shape:
            return self._of_ids(predictions, ids, mask)
        if predictions.ndim < 2:
            raise ValueError(
                f"predictions must be class ids in the labels' shape {list(ids.shape)}, or scores with one axis more, "
                f"but got {list(predictions.shape)}"
            )
        classes = predictions.shape[-1]
        if classes == 1:
            raise ValueError(
                "scores of at least 2 classes are needed on the last axis, but got predictions "
                f"{list(predictions.shape)} for labels {list(ids.shape)}; see task='binary'"
            )
        if self.num_classes is not None and classes != self.num_classes:
            raise ValueError(
                f"predictions must have {self.num_classes} scores on the last axis, but got {list(predictions.shape)}"
            )
        if 0 < classes < self.top_k:
            raise ValueError(f"top_k must be at most the {classes} classes that have scores, but is {self.top_k}")
        check_threshold_of_classes(self.threshold, f"predictions {list(predictions.shape)}")
        return self._of_scores(predictions, ids, labels, mask)

    def _of_scores(self, scores: Any, ids: np.ndarray, labels: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        """Floats are ranked where they are, by the fused kernel; integers, and rows that hold inf, on the host."""
        if str(scores.dtype).lower().startswith(("float", "bfloat")):
            batch = self._token_batch(scores, labels, mask)
            assert batch.stats.rank is not None
            ranks, counted = batch.stats.rank, batch.counted
        else:
            check_logits(scores, ids)
            counted = ids != self.ignore_index
            if mask is not None:
                counted &= inputs.boolean_mask(mask, ids.shape)
            counted = counted[..., 1:] if self.shift else counted
            ranks = np.full(counted.shape, -1)
        unranked = counted & (ranks < 0)
        if unranked.any():
            rows = inputs.to_numpy(scores, "predictions").reshape(*ids.shape, -1)
            if self.shift:
                rows, ids, _ = shifted(rows, ids, ids)
            check_range(ids[unranked], rows.shape[-1], "labels", self.ignore_index)
            ranks = ranks.copy()
            ranks[unranked] = label_ranks(rows[unranked], ids[unranked])
        return ranks < self.top_k, counted

    def _of_flags(self, predictions: Any, labels: Any, mask: Any, weights: Any) -> dict[str, Any]:
        flags = decide_flags(
            predictions,
            labels,
            mask,
            weights,
            num_classes=self.num_classes,
            threshold=self.threshold,
            ignore_index=self.ignore_index,
        )
        right = ((flags.predictions == flags.labels) | ~flags.counted).all(axis=1)
        width = widths_added(self._states, flags.labels.shape[1])
        return {**counts_of(right, None, flags.weights), **width, "samples": flags.samples}

    def _of_ids(self, predictions: Any, ids: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.top_k > 1 or self.shift:
            raise ValueError(f"top_k > 1 and shift need scores [..., C], but got class ids {list(predictions.shape)}")
        if ids.size == 0 or ids.ndim == 0:
            raise ValueError(f"a batch must hold at least one label, as [N], but got labels {list(ids.shape)}")
        counted = ids != self.ignore_index
        if mask is not None:
            counted &= inputs.boolean_mask(mask, ids.shape)
        given = inputs.to_numpy(predictions, "predictions")
        predicted = read_decided(given, predictions, ids, self.ignore_index, counted, self.task, self.threshold)
        check_counted(predicted, counted, self.num_classes, "predictions", None)
        check_counted(ids, counted, self.num_classes, "labels", self.ignore_index)
        return predicted == ids, counted

    def _of_ranks(self, ranks: np.ndarray | None, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert ranks is not None
        if (ranks[counted] < 0).any():
            raise ValueError("scores must not be NaN or infinite, but a row of scores that counts is")
        return ranks < self.top_k, counted

    def _compute(self, states: Any) -> dict[str, Any]:
        check_widths(states)
        if self.weighted:
            correct, total = (states[key].fraction() for key in ("correct", "total"))
            plain: Any = exact.number
        else:
            correct, total = states["correct"].value, states["total"].value
            plain = int
        whole = {
            "accuracy": _totals.ratio(correct, total, float("nan")),
            "correct": plain(correct),
            "total": plain(total),
        }
        if self.average == "micro":
            return whole
        rows = {place: row for place, row in read_classes(states["classes"]).items() if row[1]}
        if self.average != "weighted":  # weighing each class by its labels gives the whole back
            whole["accuracy"] = _totals.mean_ratio(rows.values(), float("nan"))
        table = {
            "class": list(rows),
            "accuracy": [_totals.ratio(*row, float("nan")) for row in rows.values()],
            "correct": [plain(row[0]) for row in rows.values()],
            "support": [plain(row[1]) for row in rows.values()],
        }
        return {**whole, "per_class": table}


def _of_one_label(predictions: Any, task: str) -> np.ndarray:
    """The class id, or the scores, of a label without axes as those of a batch of one."""
    given = inputs.to_numpy(predictions, "predictions")
    return given.reshape(1) if given.ndim == 0 or (given.size == 1 and task != "multiclass") else given[None]


def _kept_weights(weights: Any, counted: np.ndarray, shift: bool) -> np.ndarray:
    """Weights of the labels that count, flat; with ``shift`` there is one more label in front of those."""
    if shift:
        counted = np.concatenate([np.zeros((*counted.shape[:-1], 1), bool), counted], axis=-1)
    spread = spread_weights(weights, counted)
    assert spread is not None
    return spread[counted.reshape(-1)]
