"""Token statistics by the compiled Ascend operators: loading, the check at first use, and the last steps in float64.

The operators are built on the Ascend host by ``python -m mindeval.kernels.build``. Two parts, each used only after it
has agreed with the NumPy twin on a small batch in this process: "logits" (mindeval's Ascend C kernel) and "linear"
(CANN's ``aclnnFusedLinearOnlineMaxSum``: hidden states times weight, without the logits). None of this has run on a
card yet: docs/ascend-status.md says what was checked and how.
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import Tensor

from . import ascend_files, on_device
from .ascend_check import check_linear, check_logits
from .rows import TokenStats, check_shapes, effective_vocab_size, kept_rows, labels_array, scatter

FORMATS = {"logits": ("float32", "float16", "bfloat16"), "linear": ("float16", "bfloat16")}
MAX_VOCAB = 1 << 24  # ranks travel as float32
MAX_HIDDEN = 65534  # of aclnnFusedLinearOnlineMaxSum
IGNORED, ELSEWHERE = -1, 2**31 - 1  # nll_tiling.h: the row is not read; the label is in another shard


class Operators(NamedTuple):
    """The loaded module, and why a part of it is missing (None: it is there)."""

    module: Any
    missing: dict[str, str | None]


@functools.cache
def operators() -> Operators | str:
    """The operators built for this MindSpore and CANN, or the reason why there are none."""
    build = ascend_files.installed_build()
    if isinstance(build, str):
        return build
    folder, record = build
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        module = importlib.import_module(ascend_files.MODULE)
        if record["kernels"]:
            module.open_kernels(str(folder / record["kernels"]))
    except (ImportError, RuntimeError) as error:
        return f"{folder} cannot be loaded: {error}"
    return Operators(module, record["missing"])


def on_ascend() -> bool:
    return str(ms.get_context("device_target")) == "Ascend"


def unusable(part: str, dtype: str) -> str | None:
    """Why a part is not used for a dtype; None if it has agreed with the NumPy twin in this process."""
    if dtype not in FORMATS[part]:
        return f"made for {', '.join(FORMATS[part])} only"
    if not on_ascend():
        return f"MindSpore's device is {ms.get_context('device_target')}"
    return _proved_wrong(part, dtype)


@functools.cache
def _proved_wrong(part: str, dtype: str) -> str | None:
    """The check at first use. A failure is reported by a warning: the reason belongs in a bug report."""
    loaded = operators()
    if isinstance(loaded, str):
        return loaded
    if loaded.missing[part] is not None:
        return loaded.missing[part]
    try:
        wrong = (check_logits if part == "logits" else check_linear)(loaded.module, dtype)
    except Exception as error:  # whatever an unproven operator does, the evaluation goes on
        wrong = f"{type(error).__name__}: {error}"
    if wrong is None:
        return None
    reason = f"failed its check at first use: {wrong}"
    warnings.warn(
        f"mindeval: the compiled Ascend operator for {part} ({dtype}) {reason}. Block-wise MindSpore operators are "
        "used instead. Please report this with the output of `make test-ascend`.",
        RuntimeWarning,
    )
    return reason


def finish(statistics: np.ndarray, rank: bool) -> TokenStats:
    """nll = log(sum) + (maximum - logit) in float64; ``statistics [4, N]``: maximum, sum, label's logit, rank."""
    largest, total, target = statistics[:3].astype(np.float64)
    good = np.isfinite(largest) & (total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        nll = np.where(good, np.maximum(np.log(total) + (largest - target), 0.0), np.nan)
    return TokenStats(nll, np.where(good, statistics[3], -1).astype(np.int64) if rank else None)


def token_nll(
    logits: Tensor, labels: Any, ignore_index: int, vocab_size: int | None, rank: bool, entropy: bool
) -> TokenStats:
    """``kernels.token_nll`` for logits on an Ascend device, by the Ascend C kernel. Entropy it does not compute."""
    shape = tuple(logits.shape)
    classes = labels_array(labels)
    check_shapes(shape, classes.shape)
    size = effective_vocab_size(vocab_size, shape[-1])
    index, kept = kept_rows(classes, ignore_index, size)
    if entropy or not len(index) or size > MAX_VOCAB:
        return on_device.token_nll(logits, labels, ignore_index, vocab_size, rank, entropy)
    if len(shape) not in (2, 3):
        logits = logits.reshape(-1, shape[-1])
    device_labels = np.full(classes.size, IGNORED, np.int32)
    device_labels[index] = kept
    statistics = loaded_module().mindeval_token_statistics(logits, Tensor(device_labels), size, rank)
    return scatter(classes.shape, index, finish(statistics.asnumpy()[:, index], rank))


def can_fuse_linear(hidden: Tensor, weight: Tensor, *, plain: bool) -> bool:
    """Whether CANN's fused operator can take these: `plain` says that only the nll of unmodified logits is wanted."""
    dtype = str(hidden.dtype).lower()
    return (
        plain and hidden.dtype == weight.dtype and hidden.shape[-1] <= MAX_HIDDEN and unusable("linear", dtype) is None
    )


def logit_sums(logits: Tensor, labels: np.ndarray, start: int = 0) -> np.ndarray:
    """Largest logit, sum of exp(logit - largest) and label's logit of the rows of ``[N, V]``: float64 ``[3, N]``.

    For logits of a shard of the vocabulary, `start` is the id of their first column; the third is 0 where the label is
    in another shard. Labels are ids of the whole vocabulary, none of them ignored. By the Ascend C kernel.
    """
    local = labels - start
    inside = (local >= 0) & (local < logits.shape[1])
    device_labels = np.where(inside, local, ELSEWHERE).astype(np.int32)
    outputs = loaded_module().mindeval_token_statistics(logits, Tensor(device_labels), logits.shape[1], False)
    sums: np.ndarray = outputs.asnumpy()[:3].astype(np.float64)
    return sums


def linear_sums(hidden: Tensor, weight: Tensor, labels: np.ndarray, start: int = 0) -> np.ndarray:
    """The same of the logits ``hidden [N, H] @ weight [V, H].T``, which are never stored; by CANN's fused operator."""
    end = start + weight.shape[0] - 1
    device_labels = Tensor(labels.astype(np.int32))
    outputs = loaded_module().mindeval_linear_max_sum(hidden, weight, device_labels, start, end)
    largest, total, below = (output.asnumpy().astype(np.float64) for output in outputs)
    inside = (labels >= start) & (labels <= end)
    return np.array([largest, total, np.where(inside, largest + below, 0.0)])


def linear_token_nll(hidden: Tensor, weight: Tensor, labels: Any, ignore_index: int = -100) -> TokenStats:
    """nll of ``hidden[..., H] @ weight[V, H].T`` by CANN's fused operator; the logits are never stored.

    The operator knows no ignore_index: ignored rows get label 0 and are dropped afterwards.
    """
    classes = labels_array(labels)
    check_shapes((*hidden.shape[:-1], weight.shape[0]), classes.shape)
    index, kept = kept_rows(classes, ignore_index, weight.shape[0])
    every = np.zeros(classes.size, np.int64)
    every[index] = kept
    sums = linear_sums(hidden.reshape(-1, hidden.shape[-1]), weight, every)[:, index]
    return scatter(classes.shape, index, finish(sums, False))


def loaded_module() -> Any:
    """The module of the operators; a RuntimeError where there is no build for this MindSpore and CANN."""
    loaded = operators()
    if isinstance(loaded, str):
        raise RuntimeError(f"the Ascend operators are not there: {loaded}")
    return loaded.module


def graph_operator() -> Any:
    """``mindeval_token_statistics`` for networks under ``@ms.jit`` and in GRAPH mode: MindSpore's from op_def.yaml.

    A function of contiguous logits, labels (int32, ignored ones -1), vocab and with_rank; `finish` explains its result.

    Raises:
        RuntimeError: there is no build for this MindSpore and CANN.
    """
    loaded_module()
    return importlib.import_module(f"{ascend_files.MODULE}_auto_generate.gen_ops_def").mindeval_token_statistics
