"""Accuracy: the share of right predictions, among class ids or the top scores; over samples or over classes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification import _totals
from mindeval.classification._decisions import (
    above_threshold,
    check_classes,
    check_task,
    check_threshold,
    check_weights,
    decide_flags,
    named_errors,
    spread_weights,
    warn_of_one_hot,
)
from mindeval.state import Count, Counts, ExactSum, Grouped, State
from mindeval.tokens import TokenMetric, check_labels

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
        top_k: a label among the k highest scores is right. Above 1 it needs scores.
        ignore_index: the label of positions that do not count.
        shift: True if labels are the input ids of a language model: logits at t are scored on the label at t + 1.
        average: "micro" (over samples), "macro" (balanced accuracy), "weighted" (over classes, each weighing its
            labels: the value of micro) or "none" (the value is that of macro; read ``per_class``).
        num_classes: the number of classes (or labels), if it is to be checked.
        threshold: decides scores of class 1 for binary and multilabel, see ``Precision``.
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or of its first axes.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: if shapes do not match, ids are not whole numbers, a label is out of range, a batch is empty, or a
            row of scores holds NaN.

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

    @named_errors
    def __init__(
        self,
        task: str = "classification",
        top_k: int = 1,
        ignore_index: int = -100,
        shift: bool = False,
        average: str = "micro",
        num_classes: int | None = None,
        threshold: float = 0.5,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        top_k = inputs.whole_number(top_k, "For 'Accuracy', top_k")
        if top_k < 1:
            raise ValueError(f"For 'Accuracy', top_k must be at least 1, but got {top_k}")
        if average not in AVERAGES:
            raise ValueError(f"For 'Accuracy', average must be one of {list(AVERAGES)}, but got {average!r}")
        if task == "multilabel" and (average != "micro" or top_k != 1 or shift):
            raise ValueError(
                "For 'Accuracy', task='multilabel' has no average, top_k or shift: a row is right or wrong"
            )
        self.top_k, self.average, self.threshold, self.weighted = (
            top_k,
            average,
            check_threshold(threshold),
            bool(weighted),
        )
        settings = {"task": task, "top_k": top_k, "ignore": ignore_index, "shift": bool(shift)}
        rare = {
            "average": (average, "micro"),
            "num_classes": (num_classes, None),
            "threshold": (self.threshold, 0.5),
            "weighted": (self.weighted, False),
        }
        settings |= {key: value for key, (value, default) in rare.items() if value != default}
        number: State = ExactSum() if self.weighted else Count()
        states: dict[str, State] = {"correct": number, "total": number.zero()}
        if average != "micro":
            states["classes"] = Grouped(ExactSum()) if self.weighted else Grouped(Counts(2))
        super().__init__(
            ignore_index, shift, None, states=states, settings=settings, distributed=distributed, name=name
        )

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        if self.task == "multilabel":
            check_weights(weights, self.weighted)
            return self._of_flags(predictions, labels, mask, weights)
        ids = inputs.class_ids(labels, "labels")
        inputs.sample_ids(sample_ids, len(ids) if ids.ndim else 0)  # counts cannot tell repeated samples: mask them
        predictions = inputs.tensor_or_array(predictions, "predictions")
        if self.task == "binary" and tuple(predictions.shape) == (*ids.shape, 1):
            predictions = predictions.reshape(ids.shape)
        if tuple(predictions.shape) == ids.shape:
            right, counted = self._of_ids(predictions, ids, mask)
        else:
            if self.num_classes is not None and predictions.shape[-1:] != (self.num_classes,):
                raise ValueError(
                    f"predictions must have {self.num_classes} scores on the last axis, but got "
                    f"{list(predictions.shape)}"
                )
            classes = predictions.shape[-1] if predictions.ndim else 0
            if self.task == "binary" and classes != 2:
                raise ValueError(
                    f"scores for task='binary' must be [...] or [..., 2], but got {list(predictions.shape)}"
                )
            if 0 < classes < self.top_k:
                raise ValueError(f"top_k must be at most the {classes} classes that have scores, but is {self.top_k}")
            batch = self._token_batch(predictions, labels, mask)
            right, counted = self._of_ranks(batch.stats.rank, batch.counted)
        if self.shift:
            ids = ids[..., 1:]
        if self.num_classes is not None:
            check_labels(ids[counted], self.num_classes)
        samples = np.count_nonzero(counted if counted.ndim == 1 else counted.reshape(len(counted), -1).any(axis=1))
        if self.weighted:
            check_weights(weights, True)
            part = _kept_weights(weights, inputs.class_ids(labels, "labels").shape, self.shift)[counted.reshape(-1)]
        else:
            check_weights(weights, False)
            part = None
        return {
            **self._counts(right[counted], ids[counted] if self.average != "micro" else None, part),
            "samples": samples,
        }

    def _counts(self, right: np.ndarray, labels: np.ndarray | None, weights: np.ndarray | None) -> dict[str, Any]:
        """What the flags of the positions that count add to the states, by class if labels are given."""
        if weights is None:
            added: dict[str, Any] = {"correct": int(np.count_nonzero(right)), "total": right.size}
        else:
            added = {"correct": weights[right], "total": weights}
        if labels is None:
            return added
        places, groups = np.unique(labels, return_inverse=True)
        if weights is None:
            counts = [np.bincount(part, minlength=places.size) for part in (groups[right], groups)]
            added["classes"] = dict(zip(places.tolist(), np.stack(counts, axis=1)))
        else:
            added["classes"] = {
                2 * place + column: part
                for group, place in enumerate(places.tolist())
                for column, part in enumerate((weights[(groups == group) & right], weights[groups == group]))
            }
        return added

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
        part = None
        if self.weighted:
            part = np.ones(right.size) if flags.weights is None else np.ascontiguousarray(flags.weights)
        return {**self._counts(right, None, part), "samples": flags.samples}

    def _of_ids(self, predictions: Any, ids: np.ndarray, mask: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.top_k > 1 or self.shift:
            raise ValueError(f"top_k > 1 and shift need scores [..., C], but got class ids {list(predictions.shape)}")
        if ids.size == 0 or ids.ndim == 0:
            raise ValueError(f"a batch must hold at least one label, as [N], but got labels {list(ids.shape)}")
        counted = ids != self.ignore_index
        if mask is not None:
            counted &= inputs.boolean_mask(mask, ids.shape)
        if self.task == "binary":
            given = inputs.to_numpy(predictions, "predictions")
            predicted = above_threshold(given, self.threshold, counted) if given.dtype.kind == "f" else given
        else:
            predicted = inputs.class_ids(predictions, "predictions")
            if self.task == "classification":
                warn_of_one_hot(predicted, ids)
        if self.num_classes is not None:
            _check_ids(predicted[counted], self.num_classes)
        wanted = ids[counted]
        if wanted.size and wanted.min() < 0:
            raise ValueError(f"labels must be >= 0 or ignore_index {self.ignore_index}, but got {int(wanted.min())}")
        return predicted == ids, counted

    def _of_ranks(self, ranks: np.ndarray | None, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert ranks is not None
        if (ranks[counted] < 0).any():
            raise ValueError("scores must not be NaN or infinite, but a row of scores that counts is")
        return ranks < self.top_k, counted

    def _compute(self, states: Any) -> dict[str, Any]:
        if self.weighted:
            correct, total = (states[key].fraction() for key in ("correct", "total"))
            plain: Any = float
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
        rows = {place: row for place, row in _read_classes(states["classes"]).items() if row[1]}
        if self.average != "weighted":  # weighing each class by its labels gives the whole back
            whole["accuracy"] = _totals.mean_ratio(rows.values(), float("nan"))
        table = {
            "class": list(rows),
            "accuracy": [_totals.ratio(*row, float("nan")) for row in rows.values()],
            "correct": [plain(row[0]) for row in rows.values()],
            "support": [plain(row[1]) for row in rows.values()],
        }
        return {**whole, "per_class": table}


def _kept_weights(weights: Any, shape: tuple, shift: bool) -> np.ndarray:
    """Weights of the labels that are scored, flat; 1 where none were given."""
    spread = spread_weights(np.ones(shape[:1]) if weights is None else weights, shape)
    assert spread is not None
    return spread.reshape(shape)[..., 1:].reshape(-1) if shift else spread


def _check_ids(predicted: np.ndarray, classes: int) -> None:
    if predicted.size and (predicted.min() < 0 or predicted.max() >= classes):
        wrong = int(predicted.min()) if predicted.min() < 0 else int(predicted.max())
        raise ValueError(f"predictions must be class ids in [0, {classes}), but got {wrong}")


def _read_classes(state: Any) -> dict[int, tuple[_totals.Total, _totals.Total]]:
    """Class -> right ones and labels."""
    if isinstance(state.template, Counts):
        return {place: tuple(member.value.tolist()) for place, member in state.value.items()}
    table: dict[int, list[Fraction]] = {}
    for key, member in state.value.items():
        table.setdefault(key // 2, [Fraction(0), Fraction(0)])[key % 2] = member.fraction()
    return {place: (row[0], row[1]) for place, row in table.items()}
