"""The small outputs of an EvalCell on the host, and which of them each metric takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mindeval import inputs, kernels
from mindeval.language.loss import Loss
from mindeval.language.perplexity import Perplexity
from mindeval.tokens import TokenBatch, TokenMetric, TokenSums
from mindeval.training.eval_graph import ArgMax


class Outputs(inputs.Prepared):
    """The small outputs of an EvalCell for one batch, on the host; in the place of some, what is wrong with them."""

    def __init__(
        self,
        tokens: Mapping[tuple, TokenBatch | ValueError],
        heads: Mapping[str, tuple | ValueError],
        labels: np.ndarray | None,
        mask: np.ndarray | ValueError | None,
        texts: Any,
    ) -> None:
        self.tokens, self.heads, self.labels, self.mask, self.texts = tokens, heads, labels, mask, texts

    def losses(self, flat: bool = False) -> np.ma.MaskedArray | None:
        """The NLL of each token, masked where it does not count; of the first pass."""
        batch = next(iter(self.tokens.values()), None)
        if batch is None:
            return None
        if isinstance(batch, ValueError):
            return np.ma.MaskedArray([np.nan], mask=[False])
        losses: np.ma.MaskedArray = np.ma.MaskedArray(batch.stats.nll, mask=~batch.counted)
        return losses.reshape(-1) if flat else losses

    def inputs_for(self, metric: Any) -> tuple:
        if metric.name in self.heads:
            outputs: Any = self.heads[metric.name]
            _raise_if_error(outputs)
            return outputs
        if isinstance(metric, Loss):
            losses = self.losses()
            if losses is None:
                raise ValueError("the evaluation network computed no NLL: give this metric to EvalCell")
            _raise_if_error(next(iter(self.tokens.values())))
            return (losses,)
        batch = _found(self.tokens, metric)
        if metric.needs_rank and batch.stats.rank is None:
            raise ValueError("the evaluation network did not compute the labels' ranks: give this metric to EvalCell")
        texts = (self.texts,) if self.texts is not None and isinstance(metric, Perplexity) else ()
        return (batch, self.labels, self.mask, *texts)


class GlobalSums(inputs.Prepared):
    """Sums over all ranks, taken inside the graph."""

    is_global = True

    def __init__(self, sums: dict[tuple, TokenSums | ValueError], reports: bool) -> None:
        self.sums, self.reports = sums, reports

    def inputs_for(self, metric: Any) -> tuple | None:
        if isinstance(metric, Loss):
            sums: Any = next(iter(self.sums.values()))
            _raise_if_error(sums)
        else:
            sums = _found(self.sums, metric)
        if metric._scope.distribution.active() and not self.reports:
            return None
        if isinstance(metric, Loss):
            return (sums.nll / sums.tokens if sums.tokens else 0.0, sums.tokens)
        return (sums,)


def _found(computed: Mapping[tuple, Any], metric: Any) -> Any:
    """What was computed for a metric's settings."""
    if not isinstance(metric, TokenMetric) or metric._pass() not in computed:
        wanted = metric._pass()[1:] if isinstance(metric, TokenMetric) else "its own inputs"
        raise ValueError(
            f"the evaluation network computed nothing for this metric (ignore_index, shift, vocab_size: {wanted}; "
            f"there are {[settings[1:] for settings in computed]}): give the metric to EvalCell"
        )
    _raise_if_error(computed[metric._pass()])
    return computed[metric._pass()]


def _raise_if_error(value: Any) -> None:
    if isinstance(value, ValueError):
        raise value


def token_batch(
    part: tuple, labels: np.ndarray, mask: np.ndarray | ValueError | None, settings: tuple
) -> TokenBatch | ValueError:
    """The statistics of one pass, or what was wrong with labels or mask: raised by the metric, on every rank alike."""
    (nll, *rank), size = part
    _, ignore_index, shift, _ = settings
    counted = labels != ignore_index
    if isinstance(mask, ValueError):
        return mask
    if mask is not None:
        counted = counted & mask
    values = inputs.to_numpy(nll, "nll").astype(np.float64)
    ranks = inputs.to_numpy(rank[0], "rank").astype(np.int64) if rank else None
    if shift:
        if labels.ndim < 2 or labels.shape[-1] < 2:
            return ValueError(f"labels must have shape [B, T] with T >= 2 for shift=True, but got {list(labels.shape)}")
        labels, counted, values = labels[..., 1:], counted[..., 1:], values[..., :-1]
        ranks = None if ranks is None else ranks[..., :-1]
    outside = counted & ((labels < 0) | (labels >= size))
    if outside.any():
        return ValueError(
            f"labels must lie in [0, {size}) or be ignore_index {ignore_index}, but got {int(labels[outside][0])}"
        )
    rows = counted.reshape(len(counted), -1).any(axis=1)
    return TokenBatch(kernels.TokenStats(values, ranks), counted, int(rows.sum()))


def flags(mask: np.ndarray) -> np.ndarray | ValueError:
    """A network's mask, which may be of the numbers 0 and 1, as in MindFormers' legacy models, as a boolean one."""
    wrong = mask[(mask != 0) & (mask != 1)]
    if wrong.size:
        return ValueError(f"mask must hold 0 and 1, but got {wrong[0]}: a position counts or it does not")
    return mask != 0


def head_outputs(
    cell: Any,
    head: Any,
    length: int,
    positions: np.ndarray | None,
    mask: np.ndarray | ValueError | None,
    labels: np.ndarray | None,
    answers: np.ndarray | None,
) -> tuple | ValueError:
    """What the metric of a head takes, or what is wrong with it: raised by the metric, on every rank alike."""
    if isinstance(mask, ValueError):
        return mask
    outputs = [inputs.to_numpy(x, "scores") for x in (head if isinstance(head, tuple) else (head,))]
    if isinstance(cell, ArgMax) and answers is not None and outputs[0].shape == (answers.size,):
        outputs[0] = outputs[0].reshape(answers.shape)  # of logits [B * T, V]
    counted = _mask_of_answers(mask, labels, answers)
    if isinstance(counted, ValueError) and cell.takes_mask:
        counted = None  # the head itself has used it
    if isinstance(counted, ValueError):
        return counted
    if isinstance(cell, ArgMax):
        nan = outputs[0] < 0
        outputs[0] = np.where(nan, 0, outputs[0])
        if counted is not None and counted.shape == nan.shape:
            nan = nan & counted
        if nan.any():
            return ValueError(f"scores must not be NaN for 'argmax', but {int(nan.sum())} of {nan.size} rows hold NaN")
    if positions is not None and cell.takes_positions:
        outside = (positions < 0) | (positions >= length)
        if counted is not None and counted.shape == outside.shape:
            outside = outside & counted
        if outside.any():
            return ValueError(f"positions must lie in [0, {length}), but got {int(positions[outside][0])}")
    return (*outputs, answers) if counted is None else (*outputs, answers, counted)


def _mask_of_answers(
    mask: np.ndarray | None, labels: np.ndarray | None, answers: np.ndarray | None
) -> np.ndarray | ValueError | None:
    """Which answers count; one for a whole row counts where any position of the row does."""
    if mask is None or answers is None or mask.shape == answers.shape:
        return None if answers is None else mask
    if labels is not None and mask.shape == labels.shape and answers.shape == mask.shape[:1]:
        return mask.reshape(len(mask), -1).any(axis=1)
    return ValueError(f"mask must have shape {list(answers.shape)} as the answers, but got {list(mask.shape)}")
