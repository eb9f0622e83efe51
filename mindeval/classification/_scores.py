"""The base of all metrics over rankings of scores: what is kept of scores and labels, exactly or in bins."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs
from mindeval.classification import _ranking
from mindeval.classification._arguments import check_classes, check_task, check_weights, named_errors, spread_weights
from mindeval.classification._ranking import Problem, Steps
from mindeval.metric import Metric
from mindeval.state import Counts, Rows, State

_LABELS_OF_A_WORD = 31  # two bits for each label of a multilabel row: its value, and whether it is ignored
_MOST_BINS = 1 << 26


class Scored(NamedTuple):
    """Scores and labels of the positions that count.

    ``scores``: numbers [n], or [n, classes]. ``labels``: int64 [n], or for multilabel [n, labels] with ``counted``
    of the same shape. ``weights``: float64 [n] or None. ``ids``: int64 [n] or None. ``samples``: rows of the first
    axis.
    """

    scores: np.ndarray
    labels: np.ndarray
    counted: np.ndarray | None
    weights: np.ndarray | None
    ids: np.ndarray | None
    samples: int


class ScoreMetric(Metric):
    """A metric over one ranking for each class. A subclass writes ``_compute`` from ``_problems`` or ``_steps``.

    The arguments are documented at ``AUROC``.
    """

    higher_is_better = True

    @named_errors
    def __init__(
        self,
        task: str,
        num_classes: int | None,
        mode: str,
        ignore_index: int,
        weighted: bool,
        extra: dict[str, Any],
        distributed: bool | str,
        name: str | None,
    ) -> None:
        self.task, self.num_classes = check_task(task), check_classes(num_classes, task)
        if mode not in ("exact", "binned"):
            raise ValueError(f"mode must be 'exact' or 'binned', but got {mode!r}")
        if task in ("multiclass", "multilabel") and num_classes is None:
            raise ValueError(f"num_classes is required for task={task!r}: one ranking is kept for each class")
        if weighted and mode == "binned":
            raise ValueError("weights need mode='exact': bins hold integers")
        self.mode, self.weighted = mode, bool(weighted)
        self.ignore_index = inputs.whole_number(ignore_index, "ignore_index")
        if task == "classification" and self.num_classes in (None, 2):
            self._kind = "binary"
        else:
            self._kind = "multiclass" if task == "classification" else task
        self._packs = self._kind == "binary" and mode == "exact" and not weighted
        self.classes = 1 if self._kind == "binary" else int(self.num_classes or 0)
        settings = {"task": self._kind, "mode": mode, "ignore": self.ignore_index, **extra}
        if self._kind != "binary":
            settings["num_classes"] = self.classes
        if self.weighted:
            settings["weighted"] = True
        super().__init__(states=self._empty_states(), settings=settings, distributed=distributed, name=name)

    def _empty_states(self) -> dict[str, State]:
        weight = int(self.weighted)
        if self.mode == "binned":
            if self.classes * 2 * _ranking.BINS > _MOST_BINS:
                raise ValueError(f"mode='binned' takes 1 MiB for each class, so num_classes={self.classes} is too many")
            return {"bins": Counts((self.classes, 2, _ranking.BINS))}
        if self._packs:  # score and label in one word, and the few that do not fit into one in two
            return {"packed": Rows(1), "unpacked": Rows(2)}
        labels = -(-self.classes // _LABELS_OF_A_WORD) if self._kind == "multilabel" else 1
        return {"rows": Rows(labels + self.classes + weight)}

    # -- what an update adds ------------------------------------------------------------------------------------------

    def _contribution(
        self, scores: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        batch = read_scores(scores, labels, mask, sample_ids, weights, self._kind, self.num_classes, self.ignore_index)
        if self.mode == "binned":
            if sample_ids is not None:
                raise ValueError("sample_ids need mode='exact': bins cannot tell samples apart")
            return {"bins": self._bin_counts(batch), "samples": batch.samples}
        return {**self._rows(batch), "samples": batch.samples}

    def _bin_counts(self, batch: Scored) -> np.ndarray:
        scores = batch.scores.reshape(len(batch.labels), self.classes)
        counts = np.empty((self.classes, 2, _ranking.BINS), np.int64)
        for place in range(self.classes):
            truth, keep = _truth(batch, self._kind, place)
            bins = _ranking.bins_of(scores[keep, place]) + truth[keep] * _ranking.BINS
            counts[place] = np.bincount(bins, minlength=2 * _ranking.BINS).reshape(2, -1)
        return counts

    def _rows(self, batch: Scored) -> dict[str, Any]:
        if self._packs:
            return _packed_rows(batch)
        columns = [_ranking.keys_of(batch.scores).reshape(len(batch.labels), self.classes)]
        if self.weighted:
            assert batch.weights is not None
            columns.append(batch.weights.view(np.int64)[:, None])
        labels = _words_of_flags(batch) if self._kind == "multilabel" else batch.labels[:, None]
        return {"rows": _with_ids(np.concatenate([labels, *columns], axis=1), batch.ids)}

    # -- what eval() reads --------------------------------------------------------------------------------------------

    def _samples(self, states: Any) -> int:
        """Samples, those that came with ids counted once."""
        kept = [state for state in states.values() if isinstance(state, Rows)]
        if all(state.ids is None for state in kept):
            return states["samples"].value
        return sum(len(state.value) for state in kept)

    def _problems(self, states: Any) -> list[Problem]:
        """The ranking problem of each class, in exact mode."""
        if self._packs:
            scores, labels = _ranking.unpack(states["packed"].value[:, 0])
            _refuse_ids_of_both(states["packed"].ids, states["unpacked"].ids)
            keys, others = _ranking.keys_of(scores), states["unpacked"].value
            parts = [np.concatenate([keys[labels == y], others[others[:, 0] == y, 1]]) for y in (1, 0)]
            return [Problem(parts[0], parts[1])]
        return list(self._problems_of_rows(self._ordered(states["rows"])))

    def _ordered(self, rows: Rows) -> np.ndarray:
        return rows.value if self.weighted else rows.in_any_order  # float sums need one order, integers do not

    def _problems_of_rows(self, matrix: np.ndarray) -> Iterator[Problem]:
        first = matrix.shape[1] - self.classes - int(self.weighted)
        for place in range(self.classes):
            columns = [first + place] + ([matrix.shape[1] - 1] if self.weighted else [])
            if self._kind != "multilabel":
                positive = matrix[:, 0] == (place if self._kind == "multiclass" else 1)
                negative = ~positive
            else:
                word, shift = divmod(place, _LABELS_OF_A_WORD)
                flags = (matrix[:, word] >> (2 * shift)) & 3
                positive, negative = flags == 1, flags == 0
            yield _problem(matrix[positive][:, columns], matrix[negative][:, columns], self.weighted)

    def _steps(self, states: Any) -> list[Steps]:
        """The ranking of each class: of distinct scores, or of bins."""
        if self.mode == "binned":
            return [_ranking.histogram_steps(counts) for counts in states["bins"].value]
        if self._packs and not len(states["unpacked"].value):
            return [_ranking.steps_of_packed(sorted_words(states["packed"]))]
        return [_ranking.steps_of(problem) for problem in self._problems(states)]

    def _average(self, values: list[float], supports: list[float], average: str) -> float:
        """The mean over the classes for which the value is defined, with a warning about the others."""
        undefined = [place for place, value in enumerate(values) if math.isnan(value)]
        if undefined:
            which = "" if self.classes == 1 else f" for classes {undefined[:10]}{'...' if len(undefined) > 10 else ''}"
            warnings.warn(
                f"'{self.name}' is undefined (nan){which}: labels of both kinds are needed",
                RuntimeWarning,
                stacklevel=3,
            )
        pairs = [(value, support) for value, support in zip(values, supports) if not math.isnan(value)]
        if average == "weighted":
            total = math.fsum(support for _, support in pairs)
            return math.fsum(value * support for value, support in pairs) / total if total else math.nan
        return math.fsum(value for value, _ in pairs) / len(pairs) if pairs else math.nan


def sorted_words(rows: Rows) -> np.ndarray:
    """The one column of rows, sorted: rows with ids are in the order of these."""
    words = rows.value[:, 0]
    return words if rows.ids is None else np.sort(words)


def read_scores(
    scores: Any,
    labels: Any,
    mask: Any,
    sample_ids: Any,
    weights: Any,
    kind: str,
    num_classes: int | None,
    ignore_index: int,
) -> Scored:
    """Check a batch of scores and labels and take what counts of it.

    Args:
        scores: binary: [...] as labels, [..., 1], or [..., 2], whose difference (class 1 minus class 0) is the score;
            multiclass: [..., C]; multilabel: [..., L] as labels. Any numbers but NaN; higher is likelier.
        labels: binary: 0, 1 or ignored; multiclass: ids in [0, C) or ignored; multilabel: 0, 1 or ignored.
        mask: bool of the labels' shape (multilabel: or without the last axis), True counts.
        sample_ids: one integer for each label of one axis (for each row, for multilabel).
        weights: see ``spread_weights``.
        kind: "binary", "multiclass" or "multilabel".
    """
    wanted = np.atleast_1d(inputs.class_ids(labels, "labels"))
    given = inputs.to_numpy(scores, "scores")
    if kind == "multilabel" and wanted.ndim == 1:
        wanted, given = wanted[None], given[None] if given.ndim == 1 else given
    elif given.ndim == 0 or (np.ndim(labels) == 0 and given.ndim == 1):
        given = given.reshape(1, -1)[..., 0] if given.size == 1 else given[None]
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one label, but got labels of shape {list(wanted.shape)}")
    given = _of_kind(given, wanted.shape, kind, num_classes)
    rows_shape = wanted.shape[:-1] if kind == "multilabel" else wanted.shape
    limit = int(num_classes or 0) if kind == "multiclass" else 2
    if mask is None and kind != "multilabel" and ignore_index < 0 and int(wanted.view(np.uint64).max()) < limit:
        return _all_of(given, wanted, sample_ids, weights, kind)
    counted = wanted != ignore_index
    if mask is not None:
        per_row = kind == "multilabel" and np.shape(mask) == rows_shape
        flags = inputs.boolean_mask(mask, rows_shape if per_row else wanted.shape)
        counted = counted & (flags[..., None] if per_row else flags)
    _check_labels(wanted[counted], limit, ignore_index)
    ids = _ids_of_rows(sample_ids, rows_shape)
    spread = spread_weights(weights, rows_shape)
    samples = int(counted.reshape(len(wanted), -1).any(axis=1).sum())
    width = () if kind == "binary" else given.shape[-1:]
    flat, truth, keep = given.reshape(-1, *width), wanted.reshape(-1), counted.reshape(-1)
    row_flags: np.ndarray | None = None
    if kind == "multilabel":
        truth, row_flags = truth.reshape(-1, *width), keep.reshape(-1, *width)
        keep = row_flags.any(axis=1)
    if not keep.all():
        flat, truth = flat[keep], truth[keep]
        spread, ids, row_flags = (None if part is None else part[keep] for part in (spread, ids, row_flags))
    _check_scores(flat, row_flags)
    if row_flags is not None:
        flat, truth = np.where(row_flags, flat, 0.0), np.where(row_flags, truth, 0)
    return Scored(flat, truth, row_flags, None if spread is None else np.ascontiguousarray(spread), ids, samples)


def _all_of(given: np.ndarray, wanted: np.ndarray, sample_ids: Any, weights: Any, kind: str) -> Scored:
    """``read_scores`` where every label counts: nothing is copied."""
    ids = _ids_of_rows(sample_ids, wanted.shape)
    scores = given.reshape(-1) if kind == "binary" else given.reshape(-1, given.shape[-1])
    _check_scores(scores, None)
    spread = spread_weights(weights, wanted.shape)
    weight = None if spread is None else np.ascontiguousarray(spread)
    return Scored(scores, wanted.reshape(-1), None, weight, ids, len(wanted))


def _ids_of_rows(sample_ids: Any, shape: tuple) -> np.ndarray | None:
    if sample_ids is not None and len(shape) != 1:
        raise ValueError(f"sample_ids need labels of one row each, but got rows of shape {list(shape)}")
    return None if sample_ids is None else inputs.sample_ids(sample_ids, shape[0])


def _of_kind(given: np.ndarray, shape: tuple, kind: str, num_classes: int | None) -> np.ndarray:
    """The scores in the shape of the kind; two columns of a binary problem become their difference."""
    if kind == "binary":
        if given.shape == shape:
            return given
        if given.shape == (*shape, 1):
            return given[..., 0]
        if given.shape == (*shape, 2):
            return given[..., 1].astype(np.float64) - given[..., 0].astype(np.float64)
        hint = ""
        if given.ndim == len(shape) + 1 and given.shape[:-1] == shape:
            hint = f": for more than two classes say num_classes={given.shape[-1]}"
        expected = f"{list(shape)} (or that with a last axis of 1 or 2)"
    elif kind == "multilabel":
        if given.shape == shape and shape[-1] == num_classes:
            return given
        expected, hint = f"{list(shape[:-1])} + [{num_classes}] as labels", ""
    else:
        if given.shape == (*shape, num_classes):
            return given
        expected, hint = f"{[*shape, num_classes]}", ""
    raise ValueError(f"scores must have shape {expected} for labels {list(shape)}, but got {list(given.shape)}{hint}")


def _check_labels(labels: np.ndarray, limit: int, ignore_index: int) -> None:
    if labels.size and (labels.min() < 0 or labels.max() >= limit):
        wrong = int(labels.min()) if labels.min() < 0 else int(labels.max())
        raise ValueError(f"labels must lie in [0, {limit}) or be {ignore_index} (ignored), but got {wrong}")


def _check_scores(scores: np.ndarray, counted: np.ndarray | None) -> None:
    if scores.dtype.kind in "iu" and scores.size and max(-int(scores.min()), int(scores.max())) > 2**53:
        raise ValueError("integer scores must lie within +-2^53, beyond which float64 cannot tell them apart")
    with np.errstate(invalid="ignore", over="ignore"):
        if scores.dtype.kind != "f" or not np.isnan(scores.sum(dtype=np.float64)):
            return
    bad = np.isnan(scores)  # or infinities of both signs, which are scores
    if bad.any() and (bad if counted is None else bad & counted).any():
        raise ValueError("scores must not be NaN where a label counts")


def _truth(batch: Scored, kind: str, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of one class against the rest, int64, and which rows count."""
    if kind == "multilabel":
        assert batch.counted is not None
        return batch.labels[:, place], batch.counted[:, place]
    truth = batch.labels if kind == "binary" else (batch.labels == place).astype(np.int64)
    return truth, np.ones(len(truth), bool)


def _words_of_flags(batch: Scored) -> np.ndarray:
    """Two bits for each label of a row: 1 or 0, or 2 where it is ignored; int64 [n, words]."""
    assert batch.counted is not None
    codes = np.where(batch.counted, batch.labels, 2)
    words = []
    for first in range(0, codes.shape[1], _LABELS_OF_A_WORD):
        part = codes[:, first : first + _LABELS_OF_A_WORD]
        words.append((part << (2 * np.arange(part.shape[1]))).sum(axis=1))
    return np.stack(words, axis=1)


def _with_ids(matrix: np.ndarray, ids: np.ndarray | None) -> Any:
    return matrix if ids is None else (matrix, ids)


def _packed_rows(batch: Scored) -> dict[str, Any]:
    packed, left_out = _ranking.pack(batch.scores, batch.labels)
    if not left_out.size:
        return {"packed": _with_ids(packed[:, None], batch.ids)}
    rest = np.stack([batch.labels[left_out], _ranking.keys_of(batch.scores[left_out])], axis=1)
    fits = np.ones(len(packed), bool)
    fits[left_out] = False
    ids = (None, None) if batch.ids is None else (batch.ids[fits], batch.ids[left_out])
    return {"packed": _with_ids(packed[fits][:, None], ids[0]), "unpacked": _with_ids(rest, ids[1])}


def _problem(positives: np.ndarray, negatives: np.ndarray, weighted: bool) -> Problem:
    weights = None
    if weighted:
        weights = _weights(positives), _weights(negatives)
    return Problem(positives[:, 0], negatives[:, 0], weights)


def _weights(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[:, 1]).view(np.float64)


def _refuse_ids_of_both(first: np.ndarray | None, second: np.ndarray | None) -> None:
    if first is not None and second is not None and np.intersect1d(first, second).size:
        raise ValueError(f"sample id {int(np.intersect1d(first, second)[0])} was given twice with different contents")
