"""Which ranks there are, which samples are whose, and over which group a metric is reduced (wire.py does that)."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "coordinates",
    "data_parallel_group",
    "data_parallel_ranks",
    "is_contributor",
    "shard",
    "valid_mask",
]


def __dir__() -> list[str]:
    return sorted(__all__)


@dataclass
class Distribution:
    """How a metric or a collection is spread over ranks: the arguments of ``set_distributed``."""

    enabled: bool = False
    group: str | None = None
    contributes: bool = True
    expected_samples: int | None = None
    serial: int = 0  # see next_serial
    told: bool = False  # set_distributed was called: a value of this rank alone is meant

    def active(self) -> bool:
        """Whether there is anything to reduce: asked for, and more than one rank."""
        if not self.enabled:
            return False
        if not initialised():
            if launched():
                raise RuntimeError(
                    "this process was launched as one of several, but communication is not initialised: "
                    "call mindspore.communication.init() before a distributed metric is used"
                )
            return False
        return world_size(self.group) > 1


def next_serial(group: str | None) -> int:
    """The number of the next metric or collection that is distributed over a group, counted from 1.

    Ranks run the same program, so they give the same numbers to the same metrics. Two metrics that are alike in all
    else and that ranks evaluate in another order give themselves away by it.
    """
    _serials[group] = _serials.get(group, 0) + 1
    return _serials[group]


def initialised() -> bool:
    """Whether this process can communicate. A collective before that would be a segmentation fault."""
    from mindspore.communication import GlobalComm

    return os.environ.get("MS_ROLE") != "MS_SCHED" and bool(GlobalComm.INITED)


def launched() -> bool:
    """Whether this process was started as one of several."""
    worker = os.environ.get("MS_ROLE") == "MS_WORKER" and int(os.environ.get("MS_WORKER_NUM", "1")) > 1
    return worker or int(os.environ.get("RANK_SIZE", "1")) > 1


def world_size(group: str | None = None) -> int:
    """The number of ranks of a group; 1 without communication."""
    if not initialised():
        return 1
    from mindspore.communication import GlobalComm, get_group_size

    return get_group_size(group or GlobalComm.WORLD_COMM_GROUP)


def this_rank(group: str | None = None) -> int:
    """This process's rank in a group; 0 without communication."""
    if not initialised():
        return 0
    from mindspore.communication import GlobalComm, get_rank

    return get_rank(group or GlobalComm.WORLD_COMM_GROUP)


def shard(n: int, rank: int | None = None, world: int | None = None) -> range:
    """The samples of this rank when ``n`` are dealt out in turn, none twice and none left out.

    The shards differ by one sample at most, so ranks may have different numbers of batches: use them where the
    network has no collectives of its own; otherwise pad and use ``valid_mask``.

    Args:
        n: samples of the whole data set.
        rank, world: by default those of this process.

    Returns:
        The indices, for ``mindspore.dataset.SubsetSampler(list(...))`` (which crashes on an empty list) or slicing.

    >>> [list(shard(10, rank, 4)) for rank in range(4)]
    [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]
    """
    rank, world = _place(rank, world)
    return range(rank, _samples(n), world)


def valid_mask(
    first_row: int, rows: int, n: int, rank: int | None = None, world: int | None = None, *, blocks: bool = False
) -> np.ndarray:
    """Which of the rows that a MindSpore sampler gave this rank are real, and not repeated to even the shards out.

    ``GeneratorDataset``, ``NumpySlicesDataset``, ``MindDataset`` and ``DistributedSampler`` deal ``n`` samples out in
    turn (also shuffled ones, with the same seed on all ranks), so that row j of rank r is real if ``r + j * world <
    n``. ``TextFileDataset`` and ``CSVDataset`` give each rank a block of ``ceil(n / world)`` rows; they need
    ``shuffle=False, num_parallel_workers=1``, as several workers mix the end of a file with the repeated rows.

    Args:
        first_row: the number of rows that this rank has seen before.
        rows: the number of rows of this batch.
        n: samples of the whole data set.
        rank, world: by default those of this process.
        blocks: the rule of ``TextFileDataset`` and ``CSVDataset``.

    Returns:
        bool ``[rows]``, True for real rows: a mask, or where to keep labels and put ``ignore_index`` elsewhere.

    >>> [valid_mask(0, 3, 10, rank, 4).tolist() for rank in (1, 2)]
    [[True, True, True], [True, True, False]]
    """
    rank, world = _place(rank, world)
    if first_row < 0 or rows < 0:
        raise ValueError(f"For 'valid_mask', first_row and rows must be >= 0, but got {first_row} and {rows}")
    row = first_row + np.arange(rows)
    per_rank = -(-_samples(n) // world)
    return (rank * per_rank + row < n) & (row < per_rank) if blocks else rank + row * world < n


def _place(rank: int | None, world: int | None) -> tuple[int, int]:
    if world is None:
        world = world_size()
    if rank is None:
        rank = this_rank()
    if not 0 <= rank < world:
        raise ValueError(f"rank must lie in [0, {world}) for a world of {world}, but got {rank}")
    return rank, world


def _samples(n: int) -> int:
    if n < 0:
        raise ValueError(f"the number of samples must be >= 0, but got {n}")
    return n


# -- groups of a parallel layout -------------------------------------------------------------------------------------


def coordinates(
    rank: int, *, dp: int, tp: int = 1, pp: int = 1, cp: int = 1, order: str = "tp-cp-dp-pp"
) -> dict[str, int]:
    """Where a rank stands on each axis of a parallel layout.

    Args:
        rank: in ``[0, dp * tp * pp * cp)``.
        dp, tp, pp, cp: sizes of data, tensor, pipeline and context parallelism.
        order: the axes from the one that changes fastest from rank to rank to the slowest. The default is that of
            MindFormers' training graph; its inference groups have ``"tp-pp-dp"``.

    >>> coordinates(6, dp=2, tp=2, pp=2)
    {'tp': 0, 'cp': 0, 'dp': 1, 'pp': 1}
    """
    sizes = {"dp": dp, "tp": tp, "pp": pp, "cp": cp}
    axes = order.split("-")
    if len(set(axes)) != len(axes) or any(axis not in sizes for axis in axes):
        raise ValueError(f"order must name axes out of dp, tp, pp, cp once each, as 'tp-cp-dp-pp', but got {order!r}")
    if any(size < 1 for size in sizes.values()):
        raise ValueError(f"sizes must be >= 1, but got {sizes}")
    missing = [axis for axis, size in sizes.items() if size > 1 and axis not in axes]
    if missing:
        raise ValueError(f"order {order!r} leaves out {missing}, whose size is above 1")
    if not 0 <= rank < math.prod(sizes.values()):
        raise ValueError(f"rank must lie in [0, {math.prod(sizes.values())}) for {sizes}, but got {rank}")
    found = {}
    for axis in axes:
        rank, found[axis] = divmod(rank, sizes[axis])
    return found


def data_parallel_ranks(
    rank: int, *, dp: int, tp: int = 1, pp: int = 1, cp: int = 1, order: str = "tp-cp-dp-pp"
) -> list[int]:
    """The ranks that differ from ``rank`` in their share of the data alone: the group that a metric is reduced over.

    >>> data_parallel_ranks(1, dp=2, tp=2, pp=2)
    [1, 3]
    """
    layout: dict[str, Any] = {"dp": dp, "tp": tp, "pp": pp, "cp": cp, "order": order}
    mine = {**coordinates(rank, **layout), "dp": None}
    ranks = range(dp * tp * pp * cp)
    return [other for other in ranks if {**coordinates(other, **layout), "dp": None} == mine]


def data_parallel_group(*, dp: int, tp: int = 1, pp: int = 1, cp: int = 1, order: str = "tp-cp-dp-pp") -> str:
    """The name of the group of this rank's data-parallel peers, created at the first call, for ``set_distributed``.

    The peers hold the other shares of the data and the same place on every other axis, so each sample is in the group
    once. With pipeline stages only the last has outputs: there reduce over all ranks, with
    ``contributes=is_contributor(...)``.

    Args:
        dp, tp, pp, cp, order: see ``coordinates``. Their product must be the number of ranks.

    Raises:
        RuntimeError: if communication is not initialised.
        ValueError: if the sizes do not match the number of ranks.
    """
    if not initialised():
        raise RuntimeError("For 'data_parallel_group', call mindspore.communication.init() first")
    if dp * tp * pp * cp != world_size():
        raise ValueError(
            f"For 'data_parallel_group', dp * tp * pp * cp must be the {world_size()} ranks, "
            f"but got {dp} * {tp} * {pp} * {cp}"
        )
    ranks = data_parallel_ranks(this_rank(), dp=dp, tp=tp, pp=pp, cp=cp, order=order)
    name = "mindeval-dp-" + "-".join(str(rank) for rank in ranks)
    if len(name) > _LONGEST_GROUP_NAME:
        name = f"mindeval-dp-{ranks[0]}-{ranks[-1]}-by-{ranks[1] - ranks[0]}"
    if name not in _created_groups:
        from mindspore.communication import create_group

        create_group(name, ranks)
        _created_groups.add(name)
    return name


def is_contributor(
    rank: int | None = None, *, dp: int, tp: int = 1, pp: int = 1, cp: int = 1, order: str = "tp-cp-dp-pp"
) -> bool:
    """Whether a rank should contribute when a metric is reduced over all ranks.

    That is one of each tensor-parallel group, on the last pipeline stage. Context-parallel ranks each hold other tokens
    of a sample, so all of them contribute token sums.

    >>> [rank for rank in range(8) if is_contributor(rank, dp=2, tp=2, pp=2)]
    [4, 6]
    """
    at = coordinates(this_rank() if rank is None else rank, dp=dp, tp=tp, pp=pp, cp=cp, order=order)
    return at.get("tp", 0) == 0 and at.get("pp", 0) == pp - 1


_LONGEST_GROUP_NAME = 120  # HCCL allows 128 characters
_created_groups: set[str] = set()
_serials: dict[str | None, int] = {}
