"""Token statistics of logits whose vocabulary is spread over ranks, as tensor parallelism leaves them."""

from __future__ import annotations

import zlib
from typing import Any, Protocol

import numpy as np

from . import dispatch
from .parts import Part, combine, part_statistics
from .rows import Rows, TokenStats, check_shapes, format_of, labels_array, logits_array, scatter, whole_number

__all__ = ["vocab_parallel_nll"]


class Ranks(Protocol):
    """What is needed of a group of ranks."""

    rank: int
    world: int

    def all_reduce(self, words: np.ndarray) -> np.ndarray:
        """The int64 words summed over all ranks, exactly."""
        ...


class OneRank:
    """A group of one, without communication."""

    rank, world = 0, 1

    def all_reduce(self, words: np.ndarray) -> np.ndarray:
        return words


def vocab_parallel_nll(
    local_logits: Any,
    labels: Any,
    vocab_start: int,
    group: str | None = None,
    ignore_index: int = -100,
    *,
    rank: bool = False,
    entropy: bool = False,
) -> TokenStats:
    r"""`token_nll` of logits ``[..., V]`` of which each rank of a group holds some columns.

    Each rank computes the log of its sum of exponentials, .. math:: \ell_r = \log \sum_{v \in r} e^{x_v}, relative to
    the label's logit; then nll is the log-sum-exp of these. Three AllReduce of int64 words (what the ranks hold; the
    labels' logits; the parts' statistics), whose sums are exact, so that every rank has the same bits.

    Args:
        local_logits: Tensor or array ``[..., V_r]``, this rank's columns, as for `token_nll`.
        labels: integers ``[...]`` in ``[0, V)`` or `ignore_index`; the same on every rank.
        vocab_start: the id of this rank's first column. The ranks' columns must cover ``[0, V)``, each once.
        group: name of the communication group; by default all ranks. Without communication this rank is alone.
        ignore_index, rank, entropy: see `token_nll`.

    Returns:
        TokenStats, the same on every rank. The error of nll is that of `token_nll`: no part adds to it.

    Raises:
        ValueError: on every rank, if the columns do not cover a vocabulary or a label is outside of it; on this one, if
            its inputs are refused as by `token_nll` (so is TypeError).
        RuntimeError: on every rank, if the ranks' labels or options differ, or another rank's inputs were refused;
            the process was launched as one of several, but communication is not initialised.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    Examples:
        >>> import numpy as np
        >>> from mindeval.kernels import vocab_parallel_nll
        >>> vocab_parallel_nll(np.zeros((2, 4)), [0, 3], vocab_start=0).nll.round(4)
        array([1.3863, 1.3863])
    """
    return over_ranks(local_logits, labels, vocab_start, ranks_of(group), ignore_index, rank, entropy)


def ranks_of(group: str | None) -> Ranks:
    """The ranks of a group, or this one alone where nothing communicates."""
    from mindeval import distributed
    from mindeval.communicator import MindSporeCommunicator

    if distributed.Distribution(enabled=True, group=group).active():
        return MindSporeCommunicator(group)
    return OneRank()


def over_ranks(
    local_logits: Any, labels: Any, vocab_start: int, ranks: Ranks, ignore_index: int, rank: bool, entropy: bool
) -> TokenStats:
    """`vocab_parallel_nll` by any means of summing words."""
    try:
        width, classes, start, ignore_index = _checked(local_logits, labels, vocab_start, ignore_index)
        error = None
    except (TypeError, ValueError) as failure:
        width, classes, start, error = 0, np.zeros(0, np.int64), 0, failure
    starts, widths = _agree(classes, (ignore_index, bool(rank), bool(entropy)), start, width, error, ranks)
    total = _vocab_size(starts, widths)

    flat = classes.reshape(-1)
    index = np.flatnonzero(flat != ignore_index)
    kept = flat[index]
    outside = kept[(kept < 0) | (kept >= total)]
    if outside.size:
        raise ValueError(
            f"labels must lie in [0, {total}), the vocabulary of all ranks, or be ignore_index {ignore_index}, "
            f"but got {outside[0]}"
        )

    own = kept - start
    mine = (own >= 0) & (own < width)
    words = np.zeros(len(index), np.int64)
    words[mine] = _label_logits(local_logits, index[mine], own[mine]).view(np.int64)
    targets = ranks.all_reduce(words).view(np.float64)  # each label is on one rank: the others add 0

    part = _local_part(local_logits, index, own, targets, rank, entropy)
    columns = [column.astype(np.float64).view(np.int64) for column in part if column is not None]
    words = np.zeros((ranks.world, len(columns), len(index)), np.int64)
    words[ranks.rank] = columns
    everyone = ranks.all_reduce(words.reshape(-1)).view(np.float64).reshape(words.shape)
    parts = [_unpacked(everyone[k], rank, entropy) for k in np.argsort(starts, kind="stable") if widths[k]]
    return scatter(classes.shape, index, combine(parts, targets))


def _checked(local_logits: Any, labels: Any, vocab_start: int, ignore_index: int) -> tuple[int, np.ndarray, int, int]:
    format_of(local_logits)
    classes = labels_array(labels)
    check_shapes(tuple(local_logits.shape), classes.shape)
    start = whole_number(vocab_start, "vocab_start")
    if start < 0:
        raise ValueError(f"vocab_start must be >= 0, but got {start}")
    return int(local_logits.shape[-1]), classes, start, whole_number(ignore_index, "ignore_index")


def _agree(
    classes: np.ndarray, options: tuple, start: int, width: int, error: Exception | None, ranks: Ranks
) -> tuple[np.ndarray, np.ndarray]:
    """Where each rank's columns start and how many they are, once all ranks agree on everything else.

    A sum of h and of its square tell whether all h are equal: ``(sum h)^2 == W sum h^2`` only then.
    """
    known = (classes.shape, *options, zlib.crc32(np.ascontiguousarray(classes).tobytes()))
    agreement = zlib.crc32(repr(known).encode()) & 0x1FFFFF
    places = np.zeros((ranks.world, 2), np.int64)
    places[ranks.rank] = start, width
    mine = [error is not None, agreement, agreement**2]
    words = ranks.all_reduce(np.concatenate([np.array(mine, np.int64), places.reshape(-1)]))
    failed, once, squared = (int(word) for word in words[:3])
    if error is not None:
        raise error
    if failed:
        raise RuntimeError(f"the inputs of {failed} of the group's {ranks.world} ranks were refused: see their errors")
    if once**2 != ranks.world * squared:
        raise RuntimeError("the ranks of the group must have the same labels, ignore_index, rank and entropy")
    places = words[3:].reshape(ranks.world, 2)
    return places[:, 0], places[:, 1]


def _vocab_size(starts: np.ndarray, widths: np.ndarray) -> int:
    end = 0
    for start, width in sorted(zip(starts.tolist(), widths.tolist())):
        if start != end and width:
            spans = ", ".join(f"[{s}, {s + w})" for s, w in zip(starts.tolist(), widths.tolist()))
            raise ValueError(f"the ranks' columns must cover the vocabulary from 0 on, each once, but got {spans}")
        end += width
    if end == 0:
        raise ValueError("logits must have at least one class, but no rank has any")
    return end


def _label_logits(logits: Any, index: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """float64 logits of labels that this rank holds."""
    if not index.size:
        return np.zeros(0)
    if dispatch.choose(dispatch.device_of(logits), format_of(logits)).name in ("mindspore", "ascend"):
        from . import on_device

        return on_device.label_logits(logits, index, labels)
    array, name = logits_array(logits)
    return Rows(array, name, index, labels, logits).label_values().astype(np.float64)


def _local_part(
    logits: Any, index: np.ndarray, labels: np.ndarray, targets: np.ndarray, rank: bool, entropy: bool
) -> Part:
    """This rank's part; one without columns is masked wholly."""
    n = len(index)
    if not logits.shape[-1] or not n:
        nothing = np.full(n, -np.inf)
        return Part(nothing, np.zeros(n, np.int64) if rank else None, np.zeros(n) if entropy else None)
    if dispatch.choose(dispatch.device_of(logits), format_of(logits)).name in ("mindspore", "ascend"):
        from . import on_device

        return on_device.part_statistics(logits, index, labels, targets, rank, entropy)
    array, name = logits_array(logits)
    given = targets.astype(np.float64 if name == "float64" else np.float32)
    return part_statistics(Rows(array, name, index, labels, logits, given), rank, entropy)


def _unpacked(columns: np.ndarray, rank: bool, entropy: bool) -> Part:
    ranks = columns[1].astype(np.int64) if rank else None
    return Part(columns[0], ranks, columns[-1] if entropy else None)
