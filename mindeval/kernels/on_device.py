"""``token_nll`` for tensors outside the host's memory: MindSpore operators, then O(rows) numbers to the host."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from . import blockwise
from .blockwise import statistics
from .parts import Part
from .rows import (
    TokenStats,
    check_shapes,
    effective_vocab_size,
    initialised,
    kept_rows,
    labels_array,
    logits_array,
    scatter,
)


def token_nll(
    logits: Any, labels: Any, ignore_index: int, vocab_size: int | None, rank: bool, entropy: bool
) -> TokenStats:
    """Statistics in float32 accuracy; the checks and the shapes are those of ``kernels.token_nll``."""
    tensor = as_tensor(logits)
    classes = labels_array(labels)
    check_shapes(tuple(tensor.shape), classes.shape)
    size = effective_vocab_size(vocab_size, tensor.shape[-1])
    index, kept = kept_rows(classes, ignore_index, size)
    if not len(index):
        empty = TokenStats(np.empty(0), np.empty(0, np.int64) if rank else None, np.empty(0) if entropy else None)
        return scatter(classes.shape, index, empty)
    safe = np.zeros(classes.size, np.int32)
    safe[index] = kept
    outputs = statistics(_matrix(tensor[..., :size]), Tensor(safe), rank, entropy)
    return scatter(classes.shape, index, _to_host(outputs, rank, entropy, index))


def label_logits(logits: Any, index: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """float64 logits of some labels."""
    rows = _matrix(as_tensor(logits))
    places = Tensor((index * rows.shape[1] + labels).astype(np.int32 if rows.size < 2**31 else np.int64))
    return ops.gather(rows.reshape(-1), places, 0).astype(ms.float32).asnumpy().astype(np.float64)


def part_statistics(
    logits: Any, index: np.ndarray, labels: np.ndarray, targets: np.ndarray, rank: bool, entropy: bool
) -> Part:
    """What `parts.part_statistics` gives, in float32 accuracy."""
    rows = _matrix(as_tensor(logits))
    every, given = np.zeros(rows.shape[0], np.int32), np.zeros(rows.shape[0], np.float32)
    every[index], given[index] = labels, targets
    own = _to_host(statistics(rows, Tensor(every), rank, entropy, target=Tensor(given)), rank, entropy, index)
    if np.isfinite(targets).all():
        return Part(*own)
    given[~np.isfinite(given)] = 0  # the mass relative to -inf says nothing
    relative = _to_host(statistics(rows, Tensor(every), target=Tensor(given)), False, False, index)
    return Part(relative.nll, own.rank, own.entropy)


def linear_statistics(
    hidden: Any, head: tuple, index: np.ndarray, labels: np.ndarray, rank: bool, entropy: bool
) -> TokenStats:
    """Statistics of the rows that count, from hidden states and the head (weight, bias, logit_scale, soft_cap)."""
    if not len(index):
        return TokenStats(np.empty(0), np.empty(0, np.int64) if rank else None, np.empty(0) if entropy else None)
    weight, bias, logit_scale, soft_cap = head
    weight, bias = as_tensor(weight), None if bias is None else as_tensor(bias)
    states = as_tensor(hidden)
    states = ops.gather(_matrix(states), Tensor(index.astype(np.int32)), 0)
    if ms.get_context("device_target") == "CPU":
        states, weight = states.astype(ms.float32), weight.astype(ms.float32)
    classes = Tensor(labels.astype(np.int32))
    outputs = blockwise.linear_statistics(states, weight, classes, bias, logit_scale, soft_cap, rank, entropy)
    return _to_host(outputs, rank, entropy, slice(None))


def _matrix(tensor: Tensor) -> Tensor:
    """``[N, V]`` of ``[..., V]``. The CPU has no bfloat16 gather."""
    rows = tensor.reshape(-1, tensor.shape[-1])
    half = rows.dtype == ms.bfloat16 and ms.get_context("device_target") == "CPU"
    return rows.astype(ms.float32) if half else rows


def _to_host(outputs: tuple[Tensor, ...], rank: bool, entropy: bool, index: np.ndarray | slice) -> TokenStats:
    arrays = [output.asnumpy()[index] for output in outputs]
    return TokenStats(
        arrays[0].astype(np.float64),
        arrays[1].astype(np.int64) if rank else None,
        arrays[-1].astype(np.float64) if entropy else None,
    )


def as_tensor(logits: Any) -> Tensor:
    if isinstance(logits, Tensor):
        return initialised(logits)
    array, name = logits_array(logits)
    if name == "bfloat16":
        return Tensor((array.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return Tensor(np.ascontiguousarray(array))
