"""Per-token statistics from MindSpore operators, block by block over the vocabulary: any device, inside jit too.

Statistics are float32, so errors reach 1e-5 nat; the CPU back ends are far more accurate.
"""

from __future__ import annotations

import mindspore as ms
from mindspore import Tensor, ops

BLOCK = 8192


def token_nll_tensor(logits: Tensor, labels: Tensor, ignore_index: int = -100, block: int = BLOCK) -> Tensor:
    """float32 NLL ``[N]`` of logits ``[N, V]``, 0 at ignored labels; an online log-sum-exp over blocks of the vocabulary.

    Labels must be in ``[0, V)`` or ``ignore_index``: inside a graph this cannot be checked.
    """
    valid = ops.not_equal(labels, ignore_index)
    safe = ops.select(valid, labels, ops.zeros_like(labels))
    target = None
    largest = None
    total = None
    for start in range(0, logits.shape[1], block):
        part = logits[:, start : start + block].astype(ms.float32)
        hit = ops.logical_and(safe >= start, safe < start + part.shape[1])
        place = ops.select(hit, safe - start, ops.zeros_like(safe))
        own = ops.gather_elements(part, 1, place.expand_dims(1)).reshape(-1)
        own = ops.select(hit, own, ops.zeros_like(own))
        high = part.max(axis=1)
        sums = ops.exp(part - high.expand_dims(1)).sum(axis=1)
        if target is None:
            target, largest, total = own, high, sums
        else:
            peak = ops.maximum(largest, high)
            total = total * ops.exp(largest - peak) + sums * ops.exp(high - peak)
            largest, target = peak, target + own
    nll = ops.log(total) + (largest - target)
    return ops.select(valid, nll, ops.zeros_like(nll))
