"""The parts of an EvalCell inside the graph. All decisions are made when it is compiled."""

from __future__ import annotations

import inspect
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from mindeval.kernels import blockwise
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


def width_of(lm_head: Any, scores: Any) -> int:
    if lm_head is None:
        return scores.shape[-1]
    return lm_head.shape[0]


def leaves(outputs: Any) -> tuple:
    """A network's outputs as one flat tuple; graphs cannot recurse, so that four levels are opened."""
    if not isinstance(outputs, (tuple, list)):
        return (outputs,)
    return opened(opened(opened(outputs)))


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


def aligned(scores: Any, labels: Any, mask: Any, ignore_index: int, shift: bool) -> tuple:
    """Scores ``[..., W]``, labels and counted positions ``[...]`` of one target each.

    To shift, the labels move: a part of the logits would be a copy. The last position then counts for nothing.
    """
    if labels.dtype != ms.int32 and labels.dtype != ms.int64:
        labels = labels.astype(ms.int32)
    counted = labels != ignore_index
    if mask is not None:
        if mask.dtype != ms.bool_:
            mask = mask != 0
        counted = ops.logical_and(counted, mask.reshape(labels.shape))
    if len(scores.shape) != len(labels.shape) + 1:
        scores = scores.reshape(labels.shape + (scores.shape[-1],))
    if shift:
        last = labels[..., :1]
        labels = ops.concat((labels[..., 1:], ops.zeros_like(last) + ignore_index), -1)
        return scores, labels, ops.concat((counted[..., 1:], last != last), -1)
    return scores, labels, counted


class ArgMax(nn.Cell):
    """Class ids: the first of the largest scores."""

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        return ops.argmax(scores.astype(ms.float32), -1)


class Head(nn.Cell):
    """Calls a head with those of labels, mask and positions that its construct names."""

    def __init__(self, head: nn.Cell) -> None:
        super().__init__()
        self.head = head
        named = inspect.signature(head.construct).parameters
        self.takes_labels, self.takes_mask = "labels" in named, "mask" in named
        self.takes_positions = "positions" in named

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        given: tuple = (scores,)
        if self.takes_labels:
            given = given + (labels,)
        if self.takes_mask:
            given = given + (mask,)
        if self.takes_positions and positions is not None:
            given = given + (positions,)
        return self.head(*given)


class HiddenNLL(nn.Cell):
    """As ``TokenNLL``, from hidden states and the head's weight, block by block over the vocabulary."""

    def __init__(self, ignore_index: int, vocab_size: int | None, rank: bool) -> None:
        super().__init__()
        self.ignore_index, self.vocab_size, self.rank = ignore_index, vocab_size, rank

    def construct(self, hidden: Any, weight: Any, labels: Any) -> Any:
        if self.vocab_size is not None:
            weight = weight[: self.vocab_size]
        flat = labels.reshape((-1,)).astype(ms.int32)
        valid = flat != self.ignore_index
        states = hidden.reshape((-1, hidden.shape[-1])).astype(ms.float32)
        safe = ops.select(valid, flat, ops.zeros_like(flat))
        outputs = blockwise.linear_statistics(states, weight.astype(ms.float32), safe, rank=self.rank)
        nll = ops.select(valid, outputs[0], ops.zeros_like(outputs[0])).reshape(labels.shape)
        if not self.rank:
            return nll
        return nll, ops.select(valid, outputs[1], ops.zeros_like(outputs[1]) - 1).reshape(labels.shape)
