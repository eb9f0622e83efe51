"""Per-token NLL inside networks: under ``@mindspore.jit``, in GRAPH mode, and in PyNative mode alike."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from . import dispatch, native
from .blockwise import statistics


def labels_shape(logits: list, labels: list, options: list) -> list:
    return labels


def wide(logits: ms.Type, labels: ms.Type, options: ms.Type) -> ms.Type:
    return ms.float64


class TokenNLL(nn.Cell):
    r"""The nll of each label, for networks that return per-token NLL instead of logits.

    .. math:: \mathrm{nll} = \log \sum_v e^{x_v} - x_y

    On the CPU it is the native kernel, as an operator of the graph, with the same bits as `token_nll`. Elsewhere, and
    where the native kernel is not built, block-wise MindSpore operators.

    Args:
        ignore_index: the label of positions that do not count.
        vocab_size: the number of columns that are classes, or None for all of them.

    Inputs:
        - **logits** (Tensor) - ``[..., V]``, float32, float16 or bfloat16.
        - **labels** (Tensor) - ``[...]``, int32 or int64, in ``[0, V)`` or `ignore_index`.

    Outputs:
        Tensor ``[...]`` of nats: float64 by the native kernel, else float32. 0 at ignored labels. A label outside of
        the vocabulary is an error of the native operator (code 5); block-wise operators cannot see it.

    Raises:
        ValueError: `vocab_size` is not positive.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    Examples:
        >>> import mindspore as ms
        >>> from mindeval.kernels import TokenNLL
        >>> nll = TokenNLL()(ms.Tensor([[1.0, 3.0, 1.0]], ms.float32), ms.Tensor([1], ms.int32))
        >>> nll.asnumpy().round(4).tolist()
        [0.2395]
    """

    def __init__(self, ignore_index: int = -100, vocab_size: int | None = None) -> None:
        super().__init__()
        if vocab_size is not None and vocab_size < 1:
            raise ValueError(f"For 'TokenNLL', vocab_size must be at least 1, but got {vocab_size}")
        self.ignore_index = int(ignore_index)
        self.vocab_size = vocab_size
        device = str(ms.get_context("device_target"))
        self.native = native.available() and dispatch.choose(device, "float32").name == "native"
        if self.native:
            self.options = Tensor(np.array([ignore_index, vocab_size or 0], np.int64))
            path = f"{native.LIBRARY}:mindeval_custom_token_nll"
            self.operator = ops.Custom(path, labels_shape, wide, func_type="aot")

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if self.native:
            return self.operator(logits, labels, self.options)
        rows = logits.reshape((-1, logits.shape[-1]))
        if self.vocab_size is not None:
            rows = rows[:, : self.vocab_size]
        flat = labels.reshape((-1,))
        valid = ops.not_equal(flat, self.ignore_index)
        nll = statistics(rows, ops.select(valid, flat, ops.zeros_like(flat)))[0]
        return ops.select(valid, nll, ops.zeros_like(nll)).reshape(labels.shape)
