"""The ranks of a group and their one collective: the exact sum of int64 words. What the words mean is wire.py's."""

from __future__ import annotations

import os
from typing import ClassVar, NoReturn, Protocol

import numpy as np


class DistributedError(RuntimeError):
    """Ranks disagree, one of them failed, or communication did. Every rank raises the same."""


class Communicator(Protocol):
    """What the wire format needs of a group of ranks."""

    rank: int
    world: int

    def all_reduce(self, words: np.ndarray) -> np.ndarray:
        """The int64 words summed over all ranks, exactly."""
        ...

    def give_up(self, reason: str) -> NoReturn:
        """The ranks are out of step: refuse this and every later use of the group with a DistributedError."""
        ...


class MindSporeCommunicator:
    """A MindSpore communication group.

    The words travel as int64 through ``mint.distributed.all_reduce``. With the environment variable
    ``MINDEVAL_CARRIER=float32`` they travel as small whole numbers in float32 through ``ops.AllReduce``, for devices
    that cannot sum int64 (Atlas 300I Duo); the result is the same. Nothing here has run on an Ascend card.
    """

    _broken: ClassVar[dict[str, str]] = {}  # group -> why: after an error its ranks may be out of step

    def __init__(self, group: str | None = None) -> None:
        from mindspore.communication import GlobalComm, get_group_size, get_rank

        self.group = group or GlobalComm.WORLD_COMM_GROUP
        if self.group in self._broken:
            raise DistributedError(f"the ranks of group {self.group} are out of step since: {self._broken[self.group]}")
        self.rank, self.world = get_rank(self.group), get_group_size(self.group)

    def give_up(self, reason: str) -> NoReturn:
        self._broken[self.group] = reason
        raise DistributedError(f"{reason} (group {self.group})")

    def all_reduce(self, words: np.ndarray) -> np.ndarray:
        carrier = os.environ.get("MINDEVAL_CARRIER", "int64")
        if carrier not in ("int64", "float32"):
            raise ValueError(f"MINDEVAL_CARRIER must be int64 or float32, but got {carrier!r}")
        try:
            return self._sum_of_limbs(words) if carrier == "float32" else self._sum(words)
        except Exception as failure:
            self._broken[self.group] = f"{type(failure).__name__}: {failure}"
            raise DistributedError(
                f"the AllReduce of the metrics over group {self.group} failed on rank {self.rank} of {self.world}. Did "
                "every rank call eval() of the same metrics (not only rank 0), and are all ranks alive? A slow rank "
                "may need a longer timeout: MS_CPU_COMM_OP_TIMEOUT or MS_NODE_TIMEOUT (seconds) on CPU, "
                f"HCCL_EXEC_TIMEOUT on Ascend. Cause: {failure}"
            ) from failure

    def _sum(self, words: np.ndarray) -> np.ndarray:
        import mindspore.mint.distributed as mint
        from mindspore import Tensor

        tensor = Tensor(np.array(words, np.int64))  # fresh and contiguous: a reduction into a view is lost
        mint.all_reduce(tensor, group=self.group)
        return tensor.asnumpy().copy()

    def _sum_of_limbs(self, words: np.ndarray) -> np.ndarray:
        from mindspore import Tensor, ops

        return from_limbs(ops.AllReduce(group=self.group)(Tensor(to_limbs(words, self.world))).asnumpy(), self.world)


def limb_bits(world: int) -> int:
    """Bits of a limb, so that any sum of ``world`` limbs stays below 2^24: exact in float32."""
    bits = 24 - (world - 1).bit_length()
    if bits < 1:
        raise ValueError(f"float32 limbs can sum at most 2^23 ranks exactly, but got {world}")
    return bits


def to_limbs(words: np.ndarray, world: int) -> np.ndarray:
    """int64 words [n] as float32 limbs [limbs, n] of their two's complement."""
    bits = limb_bits(world)
    unsigned = np.ascontiguousarray(words, np.int64).view(np.uint64)
    shifts = np.arange(0, 64, bits, dtype=np.uint64)[:, None]
    return ((unsigned >> shifts) & np.uint64((1 << bits) - 1)).astype(np.float32)


def from_limbs(sums: np.ndarray, world: int) -> np.ndarray:
    """The int64 words whose summed limbs these are; the sum is taken modulo 2^64, as int64 sums are."""
    bits = limb_bits(world)
    total = np.zeros(sums.shape[1], np.uint64)
    for place, limb in enumerate(sums):
        total += limb.astype(np.uint64) << np.uint64(bits * place)
    return total.view(np.int64)
