"""Per-token NLL inside networks: under ``@mindspore.jit``, in GRAPH mode, and in PyNative mode alike."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.ops import functional as F

from . import dispatch, native
from .blockwise import statistics
from .rows import initialised, whole_number

__all__ = ["TokenNLL"]


def _labels_shape(logits: list, labels: list, options: list) -> list:
    return labels


def _float64(logits: ms.Type, labels: ms.Type, options: ms.Type) -> ms.Type:
    return ms.float64


def _two_labels_shapes(logits: list, labels: list, options: list) -> tuple:
    return labels, labels


def _float64_and_int64(logits: ms.Type, labels: ms.Type, options: ms.Type) -> tuple:
    return ms.float64, ms.int64


class TokenNLL(nn.Cell):
    r"""The nll of each label, for networks that return per-token NLL instead of logits.

    .. math:: \mathrm{nll} = \log \sum_v e^{x_v} - x_y

    On the CPU it is the native kernel, as an operator of the graph, with the same bits as `token_nll`. Elsewhere, where
    the native kernel is not built, and in graphs compiled for shapes that are not known (``set_inputs`` with None),
    block-wise MindSpore operators in float32 (1.3e-5 nat of error seen for a vocabulary of 151,936).

    For evaluation only: the native operator has no gradient, and MindSpore says so where one is asked for.

    Args:
        ignore_index: the label of positions that do not count.
        vocab_size: the number of columns that are classes, or None for all of them.
        rank: also give the rank of the label (see `token_nll`), as a second output.

    Inputs:
        - **logits** (Tensor) - ``[..., V]``, float32, float16 or bfloat16.
        - **labels** (Tensor) - ``[...]``, int32 or int64, in ``[0, V)`` or `ignore_index`.

    Outputs:
        Tensor ``[...]`` of nats: float64 by the native kernel, else float32. 0 at ignored labels. With `rank` a tuple
        of this and of the ranks, int64 by the native kernel, else int32; -1 at ignored labels.

    Raises:
        ValueError: `vocab_size` is not positive or, at the call, above V; the labels' shape is not the logits' without
            their last axis. In graphs, when they are compiled (if shapes are not known then, when they run).
        TypeError: `ignore_index` or `vocab_size` is no integer; logits or labels are no Tensors, or of
            another dtype.
        RuntimeError: "Return value from CPU AOT kernel(...) is N": the native operator refuses its inputs. 5: a label
            is outside of the vocabulary, which is seen only where labels are read (not by block-wise operators). 6: too
            little memory. 1, 2, 3, 4: shapes, dtype of logits, dtype of labels, `vocab_size`; these have the errors
            above before.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    Examples:
        >>> import mindspore as ms
        >>> from mindeval.kernels import TokenNLL
        >>> nll = TokenNLL()(ms.Tensor([[1.0, 3.0, 1.0]], ms.float32), ms.Tensor([1], ms.int32))
        >>> nll.asnumpy().round(4).tolist()
        [0.2395]
    """

    def __init__(self, ignore_index: int = -100, vocab_size: int | None = None, rank: bool = False) -> None:
        super().__init__()
        self.ignore_index = whole_number(ignore_index, "ignore_index")
        self.vocab_size = None if vocab_size is None else whole_number(vocab_size, "vocab_size")
        if self.vocab_size is not None and self.vocab_size < 1:
            raise ValueError(f"For 'TokenNLL', vocab_size must be at least 1, but got {vocab_size}")
        self.rank = bool(rank)
        device = str(ms.get_context("device_target"))
        self.native = native.available() and dispatch.choose(device, "float32").name == "native"
        if self.native:
            self.options = Tensor(np.array([self.ignore_index, self.vocab_size or 0], np.int64))
            path = f"{native.LIBRARY}:mindeval_custom_token_nll{'_rank' if rank else ''}"
            shape, kind = (_two_labels_shapes, _float64_and_int64) if rank else (_labels_shape, _float64)
            self.operator = ops.Custom(path, shape, kind, func_type="aot")

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """Called by Python, not within graphs: a custom operator would not initialise its inputs."""
        for what, value in (("logits", logits), ("labels", labels)):
            if not isinstance(value, Tensor):
                raise TypeError(f"For 'TokenNLL', {what} must be a Tensor, but got {type(value).__name__}")
        return super().__call__(initialised(logits), initialised(labels))

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        self._check(logits, labels)
        # A graph has no operator of the "aot" kind for shapes that are unknown when it is compiled.
        if self.native and F.isconstant(logits.shape) and F.isconstant(labels.shape):
            if labels.ndim == 0:  # a graph would make a Python number of the operator's scalar
                outputs = self.operator(logits.reshape((1, -1)), labels.reshape((1,)), self.options)
                return (outputs[0].reshape(()), outputs[1].reshape(())) if self.rank else outputs.reshape(())
            return self.operator(logits, labels, self.options)
        rows = logits.reshape((-1, logits.shape[-1]))
        if self.vocab_size is not None:
            rows = rows[:, : self.vocab_size]
        flat = labels.reshape((-1,))
        valid = ops.not_equal(flat, self.ignore_index)
        outputs = statistics(rows, ops.select(valid, flat, ops.zeros_like(flat)), self.rank)
        nll = ops.select(valid, outputs[0], ops.zeros_like(outputs[0])).reshape(labels.shape)
        if not self.rank:
            return nll
        ranks = outputs[1]
        return nll, ops.select(valid, ranks, ops.zeros_like(ranks) - 1).reshape(labels.shape)

    def _check(self, logits: Tensor, labels: Tensor) -> None:
        """Also compiled: with shapes that are known it leaves nothing in the graph."""
        if logits.dtype not in (ms.float32, ms.float16, ms.bfloat16):
            raise TypeError(f"For 'TokenNLL', logits must be float32, float16 or bfloat16, but got {logits.dtype}")
        if labels.dtype not in (ms.int32, ms.int64):
            raise TypeError(f"For 'TokenNLL', labels must be int32 or int64, but got {labels.dtype}")
        if logits.ndim < 1 or logits.shape[:-1] != labels.shape:
            raise ValueError(
                "For 'TokenNLL', labels must have the shape of the logits without their last axis, "
                f"but got {labels.shape} against {logits.shape}"
            )
        if logits.shape[-1] < (self.vocab_size or 1):
            raise ValueError(
                f"For 'TokenNLL', logits must have at least {self.vocab_size or 1} classes, "
                f"but got shape {logits.shape}"
            )
