"""Token statistics from MindSpore operators, block by block over the vocabulary: for any device, inside graphs too.

They are float32, and so is their error (1e-5 nat at worst); the CPU back ends are far more accurate.
"""

from __future__ import annotations

import mindspore as ms
from mindspore import Tensor, ops

BLOCK = 8192


def statistics(
    logits: Tensor, labels: Tensor, rank: bool = False, entropy: bool = False, block: int = BLOCK
) -> tuple[Tensor, ...]:
    """nll (float32 ``[N]``), then rank (int32) and entropy (float32) if asked for, of logits ``[N, V]``.

    Labels int32 or int64 ``[N]`` must be in ``[0, V)``: inside a graph that cannot be checked. An online log-sum-exp:
    the sums of each block are rescaled to the largest logit so far.
    """
    size = logits.shape[1]
    largest, total, weighted, target = block_sums(logits[:, 0:block].astype(ms.float32), labels, 0, entropy)
    for start in range(block, size, block):
        part = logits[:, start : start + block].astype(ms.float32)
        high, sums, products, own = block_sums(part, labels, start, entropy)
        peak = ops.maximum(largest, high)
        old, new = finite(largest) - finite(peak), finite(high) - finite(peak)
        if entropy:
            weighted = ops.exp(old) * (weighted + old * total) + ops.exp(new) * (products + new * sums)
        total = ops.exp(old) * total + ops.exp(new) * sums
        largest, target = peak, target + own
    nll = ops.log(total) + (largest - target)
    outputs: tuple[Tensor, ...] = (nll,)
    if rank:
        outputs = outputs + (ranks(logits, labels, target, nll, block),)
    if entropy:
        outputs = outputs + (ops.log(total) - weighted / total,)
    return outputs


def block_sums(part: Tensor, labels: Tensor, start: int, entropy: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of a block: the largest logit, sums of exp(x - largest) and of it times x - largest, the label's logit or 0."""
    high = part.max(axis=1)
    below = part - finite(high).expand_dims(1)
    exps = ops.exp(below)
    weighted = high
    if entropy:
        weighted = (exps * ops.select(exps > 0, below, ops.zeros_like(below))).sum(axis=1)
    hit = ops.logical_and(labels >= start, labels < start + part.shape[1])
    place = ops.select(hit, labels - start, ops.zeros_like(labels))
    own = ops.gather_elements(part, 1, place.expand_dims(1)).reshape(-1)
    return high, exps.sum(axis=1), weighted, ops.select(hit, own, ops.zeros_like(own))


def ranks(logits: Tensor, labels: Tensor, target: Tensor, nll: Tensor, block: int) -> Tensor:
    """The number of logits above the label's plus equal ones at lower ids; -1 where the nll is NaN."""
    count = ops.zeros_like(nll)
    own, label = target.expand_dims(1), labels.expand_dims(1)
    for start in range(0, logits.shape[1], block):
        part = logits[:, start : start + block].astype(ms.float32)
        columns = ops.arange(start, start + part.shape[1], dtype=labels.dtype).expand_dims(0)
        above = ops.logical_or(part > own, ops.logical_and(part == own, columns < label))
        count = count + above.astype(ms.float32).sum(axis=1)  # exact: below 2^24
    return ops.select(nll == nll, count, ops.zeros_like(count) - 1).astype(ms.int32)


def finite(x: Tensor) -> Tensor:
    """0 for -inf, so that no difference of two of them is NaN: their sums are 0 anyway."""
    return ops.select(x == -float("inf"), ops.zeros_like(x), x)
