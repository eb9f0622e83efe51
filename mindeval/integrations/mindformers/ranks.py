"""Which ranks count, and MindFormers' data-parallel groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindspore as ms

from mindeval import distributed

GRAPH_PARALLEL = ("semi_auto_parallel", "auto_parallel")


def contributes(parallel_config: Mapping[str, int], rank: int | None = None) -> bool:
    """Whether a rank is the one of its data-parallel replica whose outputs count, the group being all ranks.

    That is the first rank of the tensor- and context-parallel ranks in the last pipeline stage. The others hold copies
    or no outputs; with ``set_distributed(True, contributes=...)`` they get the value all the same.

    Args:
        parallel_config: MindFormers' ``data_parallel``, ``model_parallel``, ``pipeline_stage``, ``context_parallel``;
            those left out are 1, other keys are ignored.
        rank: by default this process's.

    >>> [rank for rank in range(8) if contributes({"data_parallel": 2, "model_parallel": 2, "pipeline_stage": 2}, rank)]
    [4, 6]
    """
    sizes = _sizes(parallel_config)
    place = distributed.coordinates(distributed.this_rank() if rank is None else rank, **sizes)
    return place["tp"] == 0 and place["cp"] == 0 and place["pp"] == sizes["pp"] - 1


def data_parallel_group(parallel_config: Mapping[str, int], rank: int | None = None) -> str:
    """The name of MindFormers' own data-parallel group of a rank, for ``distributed=`` and ``set_distributed``.

    Its training graph lays ranks out as ``distributed.coordinates`` does by default. The groups of its
    ``parallel_state`` have the pipeline stages in between, so that sums over them mix stages: they are not used.

    Raises:
        RuntimeError: if MindFormers' ranks are not those of ``distributed.data_parallel_ranks``.
    """
    from mindformers.parallel_core.training_graph.communication import get_dp_group_name

    sizes = _sizes(parallel_config)
    rank = distributed.this_rank() if rank is None else rank
    name, ranks = get_dp_group_name(rank, dp=sizes["dp"], tp=sizes["tp"], cp=sizes["cp"])
    expected = distributed.data_parallel_ranks(rank, **sizes)
    if list(ranks) != expected:
        raise RuntimeError(f"MindFormers' data-parallel group of rank {rank} is {list(ranks)}, expected was {expected}")
    return name


def _sizes(parallel_config: Mapping[str, int]) -> dict[str, Any]:
    names = {"dp": "data_parallel", "tp": "model_parallel", "pp": "pipeline_stage", "cp": "context_parallel"}
    return {axis: int(parallel_config.get(name) or 1) for axis, name in names.items()}


def decided(given: bool | str | Mapping[str, int]) -> bool:
    if isinstance(given, bool):
        return given
    if isinstance(given, Mapping):
        return contributes(given)
    if given != "auto":
        raise ValueError(f"contributes must be true, false, auto or a parallel_config, but got {given!r}")
    if ms.get_auto_parallel_context("parallel_mode") not in GRAPH_PARALLEL:
        return True
    world, stages = distributed.world_size(), ms.get_auto_parallel_context("pipeline_stages")
    return distributed.this_rank() == world // stages * (stages - 1)


def outputs_may_be_slices() -> bool:
    mode = ms.get_auto_parallel_context("parallel_mode")
    return mode in GRAPH_PARALLEL and not ms.get_auto_parallel_context("full_batch")
