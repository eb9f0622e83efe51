"""Ranks simulated by threads: the real packing and judging code over a sum that is made in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from mindeval.communicator import DistributedError, from_limbs, to_limbs


class ThreadRanks:
    """``world`` ranks whose AllReduce adds up what all threads bring; ``calls`` counts the AllReduces."""

    def __init__(self, world: int, carrier: str = "int64") -> None:
        self.world, self.carrier, self.calls = world, carrier, 0
        self._barrier = threading.Barrier(world, timeout=600)
        self._brought: list[Any] = [None] * world

    def sum(self, rank: int, words: np.ndarray) -> np.ndarray:
        self._brought[rank] = to_limbs(words, self.world) if self.carrier == "float32" else words.copy()
        if self._barrier.wait() == 0:
            self.calls += 1
        total = self._brought[0]
        for part in self._brought[1:]:
            total = total + part  # float32 limbs stay float32, as on a device
        self._barrier.wait()
        return from_limbs(total, self.world) if self.carrier == "float32" else total

    def run(self, work: Callable[[Any], Any]) -> list[Any]:
        """``work(communicator)`` on every rank; results or exceptions by rank."""
        results: list[Any] = [None] * self.world

        def one(rank: int) -> None:
            try:
                results[rank] = work(ThreadCommunicator(self, rank))
            except Exception as error:
                results[rank] = error
                self._barrier.abort() if isinstance(error, threading.BrokenBarrierError) else None

        threads = [threading.Thread(target=one, args=(rank,)) for rank in range(self.world)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


class ThreadCommunicator:
    def __init__(self, ranks: ThreadRanks, rank: int) -> None:
        self.ranks, self.rank, self.world = ranks, rank, ranks.world

    def all_reduce(self, words: np.ndarray) -> np.ndarray:
        return self.ranks.sum(self.rank, words)

    def give_up(self, reason: str) -> NoReturn:
        raise DistributedError(reason)
