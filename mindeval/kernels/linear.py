"""Token statistics of logits that never exist: from hidden states and the weight of the language-model head."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import dispatch
from .parts import anchors, combine, part_statistics
from .rows import FORMATS, Rows, TokenStats, format_of, is_tensor, kept_rows, labels_array, logits_array, scatter

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
        logit_scale: factor s of the logits (as Cohere's models have it), or None for 1.
        soft_cap: bound c of the logits (as Gemma 2 has it), or None for no bound.
        ignore_index, rank, entropy: see `token_nll`.

    Returns:
        TokenStats of the labels' shape. Products are float32 (of 16-bit inputs too), and their rounding, about 1e-6 of
        the logits, is the error; so ranks may differ where logits are that close.

    Raises:
        ValueError: the shapes do not match, a label is outside the vocabulary, `soft_cap` is not positive.
        TypeError: hidden, weight or bias are not float32, float16 or bfloat16, labels are not integers.

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
    _check(hidden, weight, bias, classes.shape, soft_cap)
    index, kept = kept_rows(classes, ignore_index, int(weight.shape[0]))
    head = (weight, bias, logit_scale, soft_cap)
    device = dispatch.device_of(hidden)
    if device == "Ascend" and dispatch.override() in (None, "ascend"):
        from . import ascend  # imports MindSpore

        plain = bias is None and logit_scale is None and soft_cap is None and not rank and not entropy
        if ascend.can_fuse_linear(hidden, weight, plain=plain):
            return ascend.linear_token_nll(hidden, weight, labels, ignore_index)
    if dispatch.choose(device, format_of(hidden)).name in ("mindspore", "ascend"):
        from . import on_device

        return scatter(classes.shape, index, on_device.linear_statistics(hidden, head, index, kept, rank, entropy))
    states = _values(hidden).reshape(-1, hidden.shape[-1])
    every = [
        _group(states, head, index[a : a + ROWS], kept[a : a + ROWS], rank, entropy) for a in range(0, len(kept), ROWS)
    ]
    if not every:
        every = [TokenStats(np.zeros(0), np.zeros(0, np.int64) if rank else None, np.zeros(0) if entropy else None)]
    nll, ranks, entropies = (None if column[0] is None else np.concatenate(column) for column in zip(*every))
    assert nll is not None
    return scatter(classes.shape, index, TokenStats(nll, ranks, entropies))


def _check(hidden: Any, weight: Any, bias: Any, labels_shape: tuple[int, ...], soft_cap: float | None) -> None:
    for what, value in (("hidden", hidden), ("weight", weight), ("bias", bias)):
        if value is None and what == "bias":
            continue
        if not is_tensor(value) and not isinstance(value, np.ndarray):
            raise TypeError(f"{what} must be a Tensor or a NumPy array, but got {type(value).__name__}")
        name = str(value.dtype).lower()
        if name not in FORMATS[:3]:
            raise TypeError(f"{what} must be float32, float16 or bfloat16, but got {name}")
    shapes = f"hidden {list(hidden.shape)}, weight {list(weight.shape)}"
    if len(weight.shape) != 2 or not len(hidden.shape) or hidden.shape[-1] != weight.shape[1] or not weight.shape[0]:
        raise ValueError(f"hidden must have shape [..., H] to match weight [V, H], but got {shapes}")
    if tuple(hidden.shape[:-1]) != labels_shape:
        raise ValueError(
            f"labels must have shape [...] to match hidden [..., H], but got {list(labels_shape)} against {shapes}"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise ValueError(
            f"bias must have shape [V] to match weight [V, H], but got {list(bias.shape)} against {shapes}"
        )
    if soft_cap is not None and not soft_cap > 0:
        raise ValueError(f"soft_cap must be positive, but got {soft_cap}")


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
    weight, bias = _values(head[0]), None if head[1] is None else _float32(_values(head[1]))
    scale, cap = head[2:]
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
