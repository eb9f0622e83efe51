"""Token statistics of logits that never exist: from hidden states and the weight of the language-model head."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dispatch
from .parts import anchors, combine, part_statistics
from .rows import (
    SHORT,
    Rows,
    TokenStats,
    format_of,
    initialised,
    kept_rows,
    labels_array,
    logits_array,
    scatter,
    whole_number,
)

__all__ = ["linear_token_nll"]

COLUMNS, ROWS = 2048, 1024  # the block of logits that exists at a time: 8 MiB


def linear_token_nll(
    hidden: Any,
    weight: Any,
    labels: Any,
    bias: Any = None,
    logit_scale: float | None = None,
    soft_cap: float | None = None,
    ignore_index: int = -100,
    *,
    rank: bool = False,
    entropy: bool = False,
) -> TokenStats:
    r"""`token_nll` of the logits of a linear head, block by block: memory O(block), whatever the vocabulary.

    .. math:: x = c \tanh\bigl(s (h W^T + b) / c\bigr)

    Args:
        hidden: Tensor or array ``[..., H]`` of float32, float16 or bfloat16: the last hidden states.
        weight: Tensor or array ``[V, H]``: the head's weight, as ``nn.Dense`` has it.
        labels: integers ``[...]`` in ``[0, V)``, or `ignore_index`.
        bias: Tensor or array ``[V]``, or None for b = 0.
        logit_scale: finite factor s of the logits (as Cohere's models have it), or None for 1.
        soft_cap: finite bound c > 0 of the logits (as Gemma 2 has it), or None for no bound.
        ignore_index, rank, entropy: see `token_nll`.

    Returns:
        TokenStats of the labels' shape. Products are float32 (of 16-bit inputs too), and their rounding, about 1e-6 of
        the logits, is the error; so ranks may differ where logits are that close. The matrix product is the BLAS of
        NumPy or the device, which may round a row's products otherwise in a batch of other size, with other threads or
        on another processor: that `token_nll` has the same bits everywhere does not hold here.

    Raises:
        ValueError: the shapes do not match, V or H is 0, a label is outside the vocabulary, `soft_cap` is not positive,
            `soft_cap` or `logit_scale` is not finite as a float32.
        TypeError: hidden, weight or bias are not float32, float16 or bfloat16, or are masked arrays; labels or
            `ignore_index` are not integers; `soft_cap` or `logit_scale` is not a number.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    Examples:
        >>> import numpy as np
        >>> from mindeval.kernels import linear_token_nll
        >>> hidden, weight = np.ones((1, 2), np.float32), np.array([[1, 0], [1, 1], [0, 1]], np.float32)
        >>> linear_token_nll(hidden, weight, [1]).nll.round(4)  # of logits 1, 2, 1
        array([0.5514])
    """
    classes = labels_array(labels)
    _check(hidden, weight, bias, classes.shape)
    ignore_index = whole_number(ignore_index, "ignore_index")
    logit_scale, soft_cap = _factor(logit_scale, "logit_scale"), _factor(soft_cap, "soft_cap")
    if soft_cap is not None and not soft_cap > 0:
        raise ValueError(f"soft_cap must be positive, but got {soft_cap}")
    index, kept = kept_rows(classes, ignore_index, int(weight.shape[0]))
    head = (weight, bias, logit_scale, soft_cap)
    device = dispatch.device_of(hidden)
    if device == "Ascend" and dispatch.override() in (None, "ascend"):
        from . import ascend  # imports MindSpore

        plain = bias is None and logit_scale is None and soft_cap is None and not rank and not entropy
        if ascend.can_fuse_linear(hidden, weight, plain=plain):
            return ascend.linear_token_nll(initialised(hidden), initialised(weight), labels, ignore_index)
    if dispatch.choose(device, format_of(hidden)).name in ("mindspore", "ascend"):
        from . import on_device

        return scatter(classes.shape, index, on_device.linear_statistics(hidden, head, index, kept, rank, entropy))
    head = (_values(weight), None if bias is None else _float32(_values(bias)), logit_scale, soft_cap)
    states = _values(hidden).reshape(-1, hidden.shape[-1])
    every = [
        _group(states, head, index[a : a + ROWS], kept[a : a + ROWS], rank, entropy) for a in range(0, len(kept), ROWS)
    ]
    if not every:
        every = [TokenStats(np.zeros(0), np.zeros(0, np.int64) if rank else None, np.zeros(0) if entropy else None)]
    nll, ranks, entropies = (None if column[0] is None else np.concatenate(column) for column in zip(*every))
    assert nll is not None
    return scatter(classes.shape, index, TokenStats(nll, ranks, entropies))


def _check(hidden: Any, weight: Any, bias: Any, labels_shape: tuple[int, ...]) -> None:
    for what, value in (("hidden", hidden), ("weight", weight), ("bias", bias)):
        if value is not None or what != "bias":
            format_of(value, what, SHORT)
    shapes = f"hidden {list(hidden.shape)}, weight {list(weight.shape)}"
    if len(weight.shape) != 2 or not len(hidden.shape) or hidden.shape[-1] != weight.shape[1]:
        raise ValueError(f"hidden must have shape [..., H] to match weight [V, H], but got {shapes}")
    if 0 in weight.shape:
        raise ValueError(f"weight [V, H] must have at least one class and one feature, but got {shapes}")
    if tuple(hidden.shape[:-1]) != labels_shape:
        raise ValueError(
            f"labels must have shape [...] to match hidden [..., H], but got {list(labels_shape)} against {shapes}"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise ValueError(
            f"bias must have shape [V] to match weight [V, H], but got {list(bias.shape)} against {shapes}"
        )


def _factor(value: Any, what: str) -> float | None:
    """The float32 nearest to an option, which must be finite."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{what} must be a number or None, but got {value!r}")
    try:
        with np.errstate(over="ignore"):
            nearest = float(np.float32(value))
    except OverflowError:
        nearest = math.inf
    if not math.isfinite(nearest):
        raise ValueError(f"{what} must be finite as a float32, but got {value}")
    return nearest


def _values(stored: Any) -> np.ndarray:
    """A view of a Tensor or array; bfloat16 as uint16."""
    return logits_array(stored)[0]


def _float32(stored: np.ndarray) -> np.ndarray:
    """As float32 (uint16: bfloat16); no copy of what is float32."""
    if stored.dtype == np.uint16:
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return stored.astype(np.float32, copy=False)


def _finish(products: np.ndarray, bias: np.ndarray | None, scale: float | None, cap: float | None) -> np.ndarray:
    """From products to logits, in place."""
    if bias is not None:
        products += bias
    if scale is not None:
        products *= np.float32(scale)
    if cap is not None:
        products /= np.float32(cap)
        np.tanh(products, out=products)
        products *= np.float32(cap)
    return products


def _group(
    states: np.ndarray, head: tuple, index: np.ndarray, labels: np.ndarray, rank: bool, entropy: bool
) -> TokenStats:
    """Statistics of at most ROWS rows: the vocabulary is done in parts, like one that is spread over ranks."""
    weight, bias, scale, cap = head
    hidden = _float32(states if len(index) == len(states) else states[index])
    size, n = len(weight), len(index)
    # The labels' logits before their blocks are there: what the other blocks count against. Each in its own block
    # has the block's rounding, which is the one that its nll needs.
    early = np.zeros(n, np.float32)
    if rank:
        early = np.einsum("nh,nh->n", hidden, _float32(weight[labels]))
        early = _finish(early, None if bias is None else bias[labels], scale, cap)
    target = np.zeros(n, np.float32)
    room = np.empty(n * min(COLUMNS, size), np.float32)
    parts = []
    with np.errstate(all="ignore"):
        for start in range(0, size, COLUMNS):
            stop = min(size, start + COLUMNS)
            block = room[: n * (stop - start)].reshape(n, stop - start)
            np.matmul(hidden, _float32(weight[start:stop]).T, out=block)
            _finish(block, None if bias is None else bias[start:stop], scale, cap)
            own = labels - start
            mine = (own >= 0) & (own < stop - start)
            target[mine] = block[mine, own[mine]]
            given = np.where(mine, target, early)
            part = part_statistics(Rows(block, "float32", np.arange(n), own, block, given), rank, entropy)
            parts.append(part._replace(log_mass=part.log_mass + np.where(mine, 0.0, anchors(given))))
        relative = []
        for k, part in enumerate(parts):  # all relative to the labels' logits, which are known now
            mine = labels // COLUMNS == k
            relative.append(part._replace(log_mass=part.log_mass - np.where(mine, 0.0, anchors(target))))
        return combine(relative, target.astype(np.float64))
