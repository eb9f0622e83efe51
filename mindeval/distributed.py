"""Which ranks there are, who contributes, and the reduction of states over them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from mindeval.state import State


@dataclass
class Distribution:
    """How a metric or a collection is spread over ranks: the arguments of ``set_distributed``."""

    enabled: bool = False
    group: str | None = None
    contributes: bool = True
    expected_samples: int | None = None

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


def reduce(
    states: Mapping[str, Mapping[str, State]],
    agreement: list[str],
    error: BaseException | None,
    distribution: Distribution,
) -> dict[str, dict[str, State]]:
    """The states summed over all ranks of the group."""
    raise RuntimeError("states cannot be reduced over ranks yet")
