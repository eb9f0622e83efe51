"""The parts of an EvalCell inside the graph. All decisions are made when it is compiled."""

from __future__ import annotations

import inspect
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.ops import functional as F

from mindeval.answers.heads import CandidateHead
from mindeval.kernels import blockwise
from mindeval.tokens import check_logits
from mindeval.training.eval_needs import DEFAULT_COLUMNS, roles


@ops.constexpr
def place_of(columns: dict | None, count: int, role: str) -> int:
    """The column of a role, -1 if there is none."""
    return roles(columns, count).get(role, -1)


@ops.constexpr
def input_places(columns: dict | None, count: int) -> tuple:
    places = DEFAULT_COLUMNS["inputs"] if columns is None else columns["inputs"]
    return (places,) if isinstance(places, int) else tuple(places)


@ops.constexpr
def effective_width(width: int, vocab_size: int | None) -> int:
    if vocab_size is None:
        return width
    if width < vocab_size:
        raise ValueError(
            f"For 'EvalCell', logits must have at least the vocab_size={vocab_size} columns of the metric, but got "
            f"{width}: is this one rank's slice of the vocabulary?"
        )
    return vocab_size


@ops.constexpr
def checked_hidden(size: int, weight: tuple) -> bool:
    if size != weight[1]:
        raise ValueError(
            f"For 'EvalCell', lm_head must have shape [V, H] with H={size} as the hidden states, but got {list(weight)}"
        )
    return True


def width_of(lm_head: Any, scores: Any) -> int:
    if lm_head is None:
        return scores.shape[-1]
    return lm_head.shape[0]


def leaves(outputs: Any) -> tuple:
    """A network's outputs as one flat tuple, of whatever depth."""
    if not isinstance(outputs, (tuple, list)):
        return (outputs,)
    while nested(outputs):
        outputs = opened(outputs)
    return outputs


def nested(outputs: Any) -> bool:
    for output in outputs:  # noqa: SIM110 - graphs have no any() of a generator
        if isinstance(output, (tuple, list)):
            return True
    return False


def opened(outputs: Any) -> tuple[Any, ...]:
    flat: tuple = ()
    for output in outputs:
        if isinstance(output, (tuple, list)):
            for inner in output:
                flat = flat + (inner,)
        else:
            flat = flat + (output,)
    return flat


def chosen(batch: tuple, outputs: tuple, column: int, place: int) -> Any:
    """A column of the batch, else an output of the network, else None."""
    if column >= 0:
        return batch[column]
    if place < len(outputs):
        return outputs[place]
    return None


@ops.constexpr
def checked_shapes(scores: tuple, labels: tuple, mask: tuple | None) -> bool:
    """Raise what the metrics raise on the host, before anything is reshaped."""
    try:
        check_logits(np.broadcast_to(np.float32(0), scores), np.broadcast_to(np.int32(0), labels))
    except ValueError as error:
        raise ValueError(f"For 'EvalCell', {error}") from error
    if mask is not None and mask != labels:
        raise ValueError(f"For 'EvalCell', mask must have shape {list(labels)} as the labels, but got {list(mask)}")
    return True


def row_length(scores: Any, positions: Any) -> Any:
    """T of scores ``[B, T, W]`` or ``[B * T, W]``, given positions ``[B]``; 0 without positions."""
    if positions is None:
        return 0
    if F.isconstant(scores.shape) and F.isconstant(positions.shape):
        return checked_length(scores.shape, positions.shape)
    if len(scores.shape) == 2:
        return scores.shape[0] // positions.shape[0]
    return scores.shape[1]


@ops.constexpr
def checked_length(scores: tuple, positions: tuple) -> int:
    if len(positions) == 1:
        if len(scores) == 3 and scores[0] == positions[0]:
            return scores[1]
        if len(scores) == 2 and scores[0] % positions[0] == 0:
            return scores[0] // positions[0]
    raise ValueError(
        f"For 'EvalCell', positions must have shape [B] for logits [B, T, V], but got {list(positions)} against "
        f"{list(scores)}"
    )


def aligned(scores: Any, labels: Any, mask: Any, ignore_index: int, shift: bool) -> tuple:
    """Labels and counted positions ``[...]``, of the target of each position of the scores.

    To shift, the labels move: a part of the logits would be a copy. The last position then counts for nothing.
    """
    if not (isinstance(scores, ms.Tensor) and isinstance(labels, ms.Tensor)):
        raise TypeError(
            "For 'EvalCell', the network must give a Tensor of logits, alone or first in a tuple, before labels, and "
            "the batch Tensors, but got others"
        )
    if labels.dtype != ms.int32 and labels.dtype != ms.int64:
        labels = labels.astype(ms.int32)
    if F.isconstant(scores.shape) and F.isconstant(labels.shape):
        if mask is None:
            checked_shapes(scores.shape, labels.shape, None)
        else:
            checked_shapes(scores.shape, labels.shape, mask.shape)
    counted = labels != ignore_index
    if mask is not None:
        if mask.dtype != ms.bool_:
            mask = mask != 0
        counted = ops.logical_and(counted, mask.reshape(labels.shape))
    if shift:
        last = labels[..., :1]
        labels = ops.concat((labels[..., 1:], ops.zeros_like(last) + ignore_index), -1)
        return labels, ops.concat((counted[..., 1:], last != last), -1)
    return labels, counted


def flat_as(scores: Any, labels: Any) -> Any:
    """Labels of the scores' shape without their last axis: logits ``[B * T, V]`` stay as they are."""
    if len(scores.shape) != len(labels.shape) + 1:
        return labels.reshape((-1,))
    return labels


def bad_flags(mask: Any) -> Any:
    """How many numbers of a network's mask are neither 0 nor 1."""
    if mask is None or mask.dtype == ms.bool_:
        return ops.zeros((), ms.int64)
    return ops.logical_and(mask != 0, mask != 1).astype(ms.int64).sum()


class ArgMax(nn.Cell):
    """Class ids: the first of the largest scores; -1 where one of them is NaN."""

    takes_mask = takes_positions = False

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        if scores.dtype != ms.float64:
            scores = scores.astype(ms.float32)
        ids = ops.argmax(scores, -1)
        return ops.select((scores != scores).any(-1), ops.zeros_like(ids) - 1, ids)


@ops.constexpr
def checked_candidates(axes: int, positions: bool) -> bool:
    """Raise what the metrics of candidates raise on the host."""
    if axes != 2 and not positions:
        raise ValueError(
            f"For 'EvalCell', logits must have shape [B, V], or [B, T, V] with positions [B], for candidates, but got "
            f"{axes} axes without positions: name their column in columns"
        )
    return True


class Head(nn.Cell):
    """Calls a head with those of labels, mask and positions that its construct names."""

    def __init__(self, head: nn.Cell) -> None:
        super().__init__()
        self.head = head
        self.of_candidates = isinstance(head, CandidateHead)
        named = inspect.signature(head.construct).parameters
        self.takes_labels, self.takes_mask = "labels" in named, "mask" in named
        self.takes_positions = "positions" in named
        self.cast_first = ms.get_context("device_target") == "CPU"  # whose graphs have no Reshape for bfloat16

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        if self.of_candidates:
            checked_candidates(len(scores.shape), positions is not None)
        if self.takes_positions and positions is not None:
            length = row_length(scores, positions)
            if len(scores.shape) == 2:
                if self.cast_first and scores.dtype == ms.bfloat16:
                    scores = scores.astype(ms.float32)
                scores = scores.reshape((-1, length, scores.shape[-1]))
            inside = ops.logical_and(positions >= 0, positions < length)  # the others are refused on the host
            positions = ops.select(inside, positions, ops.zeros_like(positions))
        given: tuple = (scores,)
        if self.takes_labels:
            given = given + (labels,)
        if self.takes_mask:
            given = given + (mask,)
        if self.takes_positions and positions is not None:
            given = given + (positions,)
        return self.head(*given)


def wide_statistics(scores: Any, labels: Any, ignore_index: int, vocab_size: int | None, rank: bool) -> Any:
    """As ``TokenNLL``, of float64 logits, which its operator does not take: in float64, with a copy of the logits."""
    rows = scores.reshape((-1, scores.shape[-1]))
    if vocab_size is not None:
        rows = rows[:, :vocab_size]
    flat = labels.reshape((-1,))
    valid = flat != ignore_index
    safe = ops.select(valid, flat, ops.zeros_like(flat))
    largest, total, _, target = blockwise.block_sums(rows, safe, 0, False)
    nll = ops.log(total) + (largest - target)
    counted_nll = ops.select(valid, nll, ops.zeros_like(nll)).reshape(labels.shape)
    if not rank:
        return counted_nll
    ranks = blockwise.rank_or_nothing(blockwise.count_above(rows, safe, target, 0), nll)
    return counted_nll, ops.select(valid, ranks, ops.zeros_like(ranks) - 1).reshape(labels.shape)


class HiddenNLL(nn.Cell):
    """As ``TokenNLL``, from hidden states and the head's weight, block by block over the vocabulary."""

    def __init__(self, ignore_index: int, vocab_size: int | None, rank: bool) -> None:
        super().__init__()
        self.ignore_index, self.vocab_size, self.rank = ignore_index, vocab_size, rank

    def construct(self, hidden: Any, weight: Any, labels: Any) -> Any:
        weight = weight.astype(ms.float32)  # before all else: CPU graphs do not cut or reshape bfloat16
        if self.vocab_size is not None:
            weight = weight[: self.vocab_size]
        flat = labels.reshape((-1,)).astype(ms.int32)
        valid = flat != self.ignore_index
        states = hidden.astype(ms.float32).reshape((-1, hidden.shape[-1]))
        safe = ops.select(valid, flat, ops.zeros_like(flat))
        outputs = blockwise.linear_statistics(states, weight, safe, rank=self.rank)
        nll = ops.select(valid, outputs[0], ops.zeros_like(outputs[0])).reshape(labels.shape)
        if not self.rank:
            return nll
        return nll, ops.select(valid, outputs[1], ops.zeros_like(outputs[1]) - 1).reshape(labels.shape)
