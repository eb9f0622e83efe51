"""The base of all metrics over rankings of scores: what is kept of scores and labels, exactly or in bins."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs
from mindeval.classification import _ranking, _score_words
from mindeval.classification._arguments import check_classes, check_task, check_weights
from mindeval.classification._cell_counts import CellCounts, counted_places, is_few
from mindeval.classification._ranking import Problem, Steps
from mindeval.classification._scored import Scored, read_scores
from mindeval.constructors import one_of
from mindeval.kernels.sort import sorted_words
from mindeval.metric import Metric
from mindeval.state import Rows, State
from mindeval.state.rows import check_all_with_ids

_LABELS_OF_A_WORD = 31  # two bits for each label of a multilabel row: its value, and whether it is ignored
_MOST_BINS = 1 << 26
_ROWS_LOOKED_AT = 16  # for a warning: logits of so many rows do not all lie in [0, 1]


class ScoreMetric(Metric):
    """A metric over one ranking for each class. A subclass writes ``_compute`` from ``_problems`` or ``_steps``.

    The arguments are documented at ``AUROC``.
    """

    higher_is_better = True
    _needs = "labels of both kinds are"  # or there is no value

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
        one_of(mode, "mode", ("exact", "binned"))
        if task in ("multiclass", "multilabel") and num_classes is None:
            raise ValueError(f"num_classes is required for task={task!r}: one ranking is kept for each class")
        if weighted and mode == "binned":
            raise ValueError("weights need mode='exact': bins hold integers")
        self.mode, self.weighted = mode, weighted
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
            if self.classes * 2 * _score_words.BINS > _MOST_BINS:
                raise ValueError(f"mode='binned' takes 1 MiB for each class, so num_classes={self.classes} is too many")
            return {"bins": CellCounts((self.classes, 2, _score_words.BINS))}
        if self._kind == "binary":  # the few scores that do not fit into one word are kept in two
            narrow: dict[str, State] = {"packed": Rows(1)} if self._packs else {"rows": Rows(2 + weight)}
            return {**narrow, "wide": Rows(3 + weight)}
        labels = -(-self.classes // _LABELS_OF_A_WORD) if self._kind == "multilabel" else 1
        return {"rows": Rows(labels + self.classes + weight)}

    # -- what an update adds ------------------------------------------------------------------------------------------

    def _contribution(
        self, scores: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        batch = read_scores(
            scores, labels, mask, sample_ids, weights, self._kind, self.num_classes, self.ignore_index, self.task
        )
        if self._kind == "multiclass":
            _warn_of_logits(batch.scores[:_ROWS_LOOKED_AT])
        if self.mode == "binned":
            if sample_ids is not None:
                raise ValueError("sample_ids need mode='exact': bins cannot tell samples apart")
            return {"bins": self._bin_counts(batch), "samples": batch.samples}
        return {**self._rows(batch), "samples": batch.samples}

    def _bin_counts(self, batch: Scored) -> Any:
        """What a batch adds to the counts of bins, [classes, 2, bins]."""
        scores = batch.scores.reshape(len(batch.labels), self.classes)
        size = 2 * _score_words.BINS
        bins = []
        for place in range(self.classes):
            truth, keep = _truth(batch, self._kind, place)
            bins.append(_score_words.bins_of(scores[keep, place]) + truth[keep] * _score_words.BINS)
        if is_few(len(batch.labels), size):
            return counted_places([place * size + part for place, part in enumerate(bins)])
        return np.stack([np.bincount(part, minlength=size).reshape(2, -1) for part in bins])

    def _rows(self, batch: Scored) -> dict[str, Any]:
        if self._kind == "binary":
            return self._binary_rows(batch)
        labels = _words_of_flags(batch) if self._kind == "multilabel" else batch.labels[:, None]
        keys = _score_words.keys_of(batch.scores).reshape(len(batch.labels), self.classes)
        return {"rows": _with_ids(np.column_stack([labels, keys, *_words_of_weights(batch)]), batch.ids)}

    def _binary_rows(self, batch: Scored) -> dict[str, Any]:
        """A word for score and label if it holds them, or with weights a row; else a row with both words of a score."""
        wide = np.zeros(len(batch.labels), bool) if batch.lost is None else batch.lost != 0
        if self._packs:
            packed, left_out = _score_words.pack(batch.scores, batch.labels)
            wide[left_out] = True
            narrow = packed[:, None]
        else:
            narrow = _columns(batch.labels, _score_words.keys_of(batch.scores), *_words_of_weights(batch))
        name = "packed" if self._packs else "rows"
        if not wide.any():
            return {name: _with_ids(narrow, batch.ids)}
        lost = np.zeros(len(wide)) if batch.lost is None else batch.lost
        words = [_score_words.keys_of(batch.scores[wide]), _score_words.keys_of(lost[wide])]
        rest = _columns(batch.labels[wide], *words, *(part[wide] for part in _words_of_weights(batch)))
        ids = (None, None) if batch.ids is None else (batch.ids[~wide], batch.ids[wide])
        return {name: _with_ids(narrow[~wide], ids[0]), "wide": _with_ids(rest, ids[1])}

    def _check_merge(self, added: Mapping[str, State]) -> None:
        super()._check_merge(added)
        (narrow, wide), (more_narrow, more_wide) = _stores(self._states), _stores(added)
        check_all_with_ids([*narrow, *wide, *more_narrow, *more_wide])
        for kept, new in ((narrow, more_wide), (wide, more_narrow), (more_narrow, more_wide)):
            _check_apart(kept, new)

    def _read_states(self, saved: Mapping[str, Any]) -> dict[str, State]:
        states = super()._read_states(saved)
        try:
            _check_ids(states)
        except ValueError as error:
            raise self._with_name(error, "load_state_dict") from error
        return states

    # -- what eval() reads --------------------------------------------------------------------------------------------

    def _samples(self, states: Any) -> int:
        """Samples, those that came with ids counted once."""
        _check_ids(states)  # those that ranks bring together have not met before
        kept = [state for store in _stores(states) for state in store]
        if not any(state.with_ids for state in kept):
            return states["samples"].value
        return sum(len(state.value) for state in kept)

    def _problems(self, states: Any) -> list[Problem]:
        """The ranking problem of each class, in exact mode."""
        if self._kind == "binary" and len(states["wide"].in_any_order):
            return [self._problem_of_two_words(states)]
        return list(self._problems_of_rows(states["rows"].in_any_order))

    def _problem_of_two_words(self, states: Any) -> Problem:
        wide = states["wide"].in_any_order
        if self._packs:
            scores, labels = _score_words.unpack(states["packed"].in_any_order[:, 0])
            narrow = _columns(labels, _score_words.keys_of(scores))
        else:
            narrow = states["rows"].in_any_order
        rows = np.concatenate([np.insert(narrow, 2, 0, axis=1), wide])
        numbers, keys = _score_words.numbered(rows[:, 1], rows[:, 2])
        rows = np.delete(rows, 1, axis=1)
        rows[:, 1] = numbers
        positives, negatives = (rows[rows[:, 0] == label, 1:] for label in (1, 0))
        return _problem(positives, negatives, self.weighted)._replace(scores=_score_words.scores_of(keys))

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
        if self._packs and not len(states["wide"].in_any_order):
            return [_ranking.steps_of_packed(sorted_words(states["packed"].in_any_order))]
        return [_ranking.steps_of(problem) for problem in self._problems(states)]

    def _average(self, values: list[float], supports: list[Any], average: str) -> float:
        """The mean over the classes for which the value is defined, with a warning about the others."""
        undefined = [place for place, value in enumerate(values) if math.isnan(value)]
        if undefined:
            which = "" if self.classes == 1 else f" for classes {undefined[:10]}{'...' if len(undefined) > 10 else ''}"
            warnings.warn(
                f"'{self.name}' is undefined (nan){which}: {self._needs} needed",
                RuntimeWarning,
                stacklevel=3,
            )
        pairs = [(value, support) for value, support in zip(values, supports) if not math.isnan(value)]
        if average == "weighted":
            total = sum(support for _, support in pairs)  # exact, as supports are
            return float(sum(Fraction(value) * support for value, support in pairs) / total) if total else math.nan
        return math.fsum(value for value, _ in pairs) / len(pairs) if pairs else math.nan


def _warn_of_logits(scores: np.ndarray) -> None:
    """A class is ranked over rows, where softmax changes the order of logits."""
    if scores.size and (scores.min() < 0 or scores.max() > 1):
        warnings.warn(
            "scores of several classes lie outside of [0, 1]: each class is ranked over rows by its scores as they "
            "are. If these are logits, give their softmax, which ranks rows otherwise",
            UserWarning,
            stacklevel=2,
        )


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


def _stores(states: Mapping[str, Any]) -> tuple[list[Rows], list[Rows]]:
    """The rows of scores that one word holds, and of the others: one state of each kind, or none."""
    rows = {name: state for name, state in states.items() if isinstance(state, Rows)}
    return [rows[name] for name in rows if name != "wide"], [rows[name] for name in rows if name == "wide"]


def _check_ids(states: Mapping[str, Any]) -> None:
    """Rows that are kept in different places: all must have an id, or none; and no id may be in both."""
    narrow, wide = _stores(states)
    check_all_with_ids([*narrow, *wide])
    _check_apart(narrow, wide)


def _check_apart(kept: list[Rows], new: list[Rows]) -> None:
    for one, other in itertools.product(kept, new):
        one.check_apart(other)


def _with_ids(matrix: np.ndarray, ids: np.ndarray | None) -> Any:
    return matrix if ids is None else (matrix, ids)


def _columns(*words: np.ndarray) -> np.ndarray:
    return np.stack(words, axis=1)


def _words_of_weights(batch: Scored) -> list[np.ndarray]:
    return [] if batch.weights is None else [batch.weights.view(np.int64)]


def _problem(positives: np.ndarray, negatives: np.ndarray, weighted: bool) -> Problem:
    weights = None
    if weighted:
        weights = _weights(positives), _weights(negatives)
    return Problem(positives[:, 0], negatives[:, 0], weights)


def _weights(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows[:, 1]).view(np.float64)
