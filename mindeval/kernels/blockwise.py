"""Token statistics from MindSpore operators, block by block over the vocabulary: for any device, inside graphs too.

They are float32, and so is their error (1.3e-5 nat seen with 151,936 classes); the CPU back ends are far more accurate.
"""

from __future__ import annotations

import mindspore as ms
from mindspore import Tensor, ops

BLOCK = 8192


def statistics(
    logits: Tensor,
    labels: Tensor,
    rank: bool = False,
    entropy: bool = False,
    block: int = BLOCK,
    target: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """nll (float32 ``[N]``), then rank (int32) and entropy (float32) if asked for, of logits ``[N, V]``.

    Labels int32 or int64 ``[N]`` must be in ``[0, V)``: inside a graph that cannot be checked. With ``target``, the
    labels' logits, they need not: the logits are a part of the vocabulary then. An online log-sum-exp: the sums of
    each block are rescaled to the largest logit so far.
    """
    size = logits.shape[1]
    largest, total, weighted, found = block_sums(logits[:, 0:block].astype(ms.float32), labels, 0, entropy)
    for start in range(block, size, block):
        part = logits[:, start : start + block].astype(ms.float32)
        high, sums, products, own = block_sums(part, labels, start, entropy)
        found = found + own
        largest, total, weighted = joined(largest, total, weighted, high, sums, products)
    part = target is not None
    nll = ops.log(total) + (largest - (target if part else found))
    outputs: tuple[Tensor, ...] = (nll,)
    if rank:  # nothing but -inf: no rank for a row, but one for a part of it
        outputs = outputs + (ranks(logits, labels, target if part else found, total if part else nll, block),)
    if entropy:
        outputs = outputs + (ops.log(total) - weighted / total,)
    return outputs


def joined(
    largest: Tensor, total: Tensor, weighted: Tensor, high: Tensor, sums: Tensor, products: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The sums of two blocks, relative to the larger of their maxima."""
    peak = ops.maximum(largest, high)
    old, new = finite(largest) - finite(peak), finite(high) - finite(peak)
    weighted = ops.exp(old) * (weighted + old * total) + ops.exp(new) * (products + new * sums)
    return peak, ops.exp(old) * total + ops.exp(new) * sums, weighted


def linear_statistics(
    hidden: Tensor,
    weight: Tensor,
    labels: Tensor,
    bias: Tensor | None = None,
    logit_scale: float | None = None,
    soft_cap: float | None = None,
    rank: bool = False,
    entropy: bool = False,
    block: int = 4096,
) -> tuple[Tensor, ...]:
    """`statistics` of the logits of a linear head, of which one block ``[N, block]`` exists at a time."""
    size = weight.shape[0]
    first = head_block(hidden, weight, bias, logit_scale, soft_cap, 0, block)
    largest, total, weighted, target = block_sums(first, labels, 0, entropy)
    for start in range(block, size, block):
        part = head_block(hidden, weight, bias, logit_scale, soft_cap, start, block)
        high, sums, products, own = block_sums(part, labels, start, entropy)
        target = target + own
        largest, total, weighted = joined(largest, total, weighted, high, sums, products)
    nll = ops.log(total) + (largest - target)
    outputs: tuple[Tensor, ...] = (nll,)
    if rank:
        above = ops.zeros_like(nll)
        for start in range(0, size, block):
            part = head_block(hidden, weight, bias, logit_scale, soft_cap, start, block)
            above = above + count_above(part, labels, target, start)
        outputs = outputs + (rank_or_nothing(above, nll),)
    if entropy:
        outputs = outputs + (ops.log(total) - weighted / total,)
    return outputs


def head_block(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    logit_scale: float | None,
    soft_cap: float | None,
    start: int,
    block: int,
) -> Tensor:
    """The logits [start, start + block) of a linear head."""
    x = ops.matmul(hidden, weight[start : start + block].T).astype(ms.float32)
    if bias is not None:
        x = x + bias[start : start + block].astype(ms.float32)
    if logit_scale is not None:
        x = x * logit_scale
    if soft_cap is not None:
        x = ops.tanh(x / soft_cap) * soft_cap
    return x


def block_sums(part: Tensor, labels: Tensor, start: int, entropy: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of a block: the largest logit, sums of exp(x - largest) and of it times x - largest, the label's logit or 0."""
    high = part.max(axis=1)
    below = part - finite(high).expand_dims(1)
    exps = ops.exp(below)
    weighted = ops.zeros_like(high)
    if entropy:
        weighted = (exps * ops.select(exps > 0, below, ops.zeros_like(below))).sum(axis=1)
    hit = ops.logical_and(labels >= start, labels < start + part.shape[1])
    place = ops.select(hit, labels - start, ops.zeros_like(labels))
    own = ops.gather_elements(part, 1, place.expand_dims(1)).reshape(-1)
    return high, exps.sum(axis=1), weighted, ops.select(hit, own, ops.zeros_like(own))


def ranks(logits: Tensor, labels: Tensor, target: Tensor, valid: Tensor, block: int) -> Tensor:
    """The number of logits above the label's plus equal ones at lower ids; -1 where ``valid`` is NaN."""
    above = ops.zeros_like(valid)
    for start in range(0, logits.shape[1], block):
        above = above + count_above(logits[:, start : start + block].astype(ms.float32), labels, target, start)
    return rank_or_nothing(above, valid)


def count_above(part: Tensor, labels: Tensor, target: Tensor, start: int) -> Tensor:
    """float32, exact below 2^24: the logits of a block that are above the label's, or equal at lower ids."""
    own, label = target.expand_dims(1), labels.expand_dims(1)
    columns = ops.arange(start, start + part.shape[1], dtype=labels.dtype).expand_dims(0)
    above = ops.logical_or(part > own, ops.logical_and(part == own, columns < label))
    return above.astype(ms.float32).sum(axis=1)


def rank_or_nothing(above: Tensor, valid: Tensor) -> Tensor:
    return ops.select(valid == valid, above, ops.zeros_like(above) - 1).astype(ms.int32)


def finite(x: Tensor) -> Tensor:
    """0 for -inf, so that no difference of two of them is NaN: their sums are 0 anyway."""
    return ops.select(x == -float("inf"), ops.zeros_like(x), x)
