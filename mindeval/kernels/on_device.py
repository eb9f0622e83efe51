"""``token_nll`` for tensors outside the host's memory: MindSpore operators, then O(rows) numbers to the host."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .blockwise import statistics
from .rows import TokenStats, check_shapes, effective_vocab_size, kept_rows, labels_array, logits_array, scatter


def token_nll(
    logits: Any, labels: Any, ignore_index: int, vocab_size: int | None, rank: bool, entropy: bool
) -> TokenStats:
    """Statistics in float32 accuracy; the checks and the shapes are those of ``kernels.token_nll``."""
    tensor = logits if isinstance(logits, Tensor) else as_tensor(logits)
    classes = labels_array(labels)
    check_shapes(tuple(tensor.shape), classes.shape)
    size = effective_vocab_size(vocab_size, tensor.shape[-1])
    index, kept = kept_rows(classes, ignore_index, size)
    if not len(index):
        empty = TokenStats(np.empty(0), np.empty(0, np.int64) if rank else None, np.empty(0) if entropy else None)
        return scatter(classes.shape, index, empty)
    safe = np.zeros(classes.size, np.int32)
    safe[index] = kept
    rows = tensor[..., :size].reshape(classes.size, size)
    if rows.dtype == ms.bfloat16 and ms.get_context("device_target") == "CPU":
        rows = rows.astype(ms.float32)  # the CPU has no bfloat16 gather
    outputs = [output.asnumpy()[index] for output in statistics(rows, Tensor(safe), rank, entropy)]
    nll = outputs[0].astype(np.float64)
    ranks = outputs[1].astype(np.int64) if rank else None
    return scatter(classes.shape, index, TokenStats(nll, ranks, outputs[-1].astype(np.float64) if entropy else None))


def as_tensor(logits: Any) -> Tensor:
    array, name = logits_array(logits)
    if name == "bfloat16":
        return Tensor((array.astype(np.uint32) << np.uint32(16)).view(np.float32))
    return Tensor(np.ascontiguousarray(array))
