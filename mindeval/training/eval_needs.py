"""What an EvalCell is asked for: passes over the logits, heads of its metrics, columns, reduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from mindeval.collection import MetricCollection
from mindeval.inputs import describe
from mindeval.language.loss import Loss
from mindeval.language.perplexity import Perplexity
from mindeval.metric import Metric
from mindeval.tokens import TokenMetric

ROLES = ("inputs", "labels", "mask", "positions", "answers", "texts")
DEFAULT_COLUMNS = {"inputs": 0, "labels": 1, "mask": 2}
GLOBAL_MODES = ("semi_auto_parallel", "auto_parallel")


def members_of(metrics: Any) -> list[Metric]:
    if isinstance(metrics, Metric):
        return [metrics]
    if isinstance(metrics, MetricCollection):
        return [metrics[name] for name in metrics]
    if not isinstance(metrics, (Mapping, list, tuple)):
        raise TypeError(f"For 'EvalCell', metrics must be mindeval metrics, but got {type(metrics).__name__}")
    members = list(metrics.values()) if isinstance(metrics, Mapping) else list(metrics)
    for metric in members:
        if not isinstance(metric, Metric):
            raise TypeError(f"For 'EvalCell', metrics must be mindeval metrics, but got {type(metric).__name__}")
    if not members:
        raise ValueError("For 'EvalCell', there must be at least one metric, but got none")
    return members


def is_pass(metric: Metric, settings: tuple) -> bool:
    return isinstance(metric, TokenMetric) and metric._pass() == settings


def passes_of(members: Sequence[Metric]) -> tuple:
    """The settings of every pass over the logits, in the metrics' order. A lone Loss has the usual ones."""
    found = dict.fromkeys(m._pass() for m in members if isinstance(m, TokenMetric))
    if not found and any(isinstance(m, Loss) for m in members):
        found = {("token_nll", -100, False, None): None}
    return tuple(found)


def heads_of(members: Sequence[Metric], given: Mapping[str, Any]) -> dict[str, Any]:
    """The head of every metric that is not one of tokens: a Cell, or "argmax"."""
    if not isinstance(given, Mapping):
        raise TypeError(f"For 'EvalCell', heads must be a dict of metric name -> head, but got {given!r}")
    names = [metric.name for metric in members]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(f"For 'EvalCell', heads must be named as metrics, {names}, but got {unknown}")
    found: dict[str, Any] = {}
    for metric in members:
        head = given.get(metric.name)
        if head is None and isinstance(metric, (TokenMetric, Loss)):
            continue
        if head is None and callable(getattr(metric, "head", None)):
            if getattr(metric, "inputs", "log_probs") != "log_probs":
                raise ValueError(f"For 'EvalCell', '{metric.name}' must be made with inputs='log_probs' for its head")
            head = metric.head()
        if not isinstance(head, nn.Cell) and head != "argmax":
            raise ValueError(
                f"For 'EvalCell', heads must say what '{metric.name}' ({type(metric).__name__}) takes: 'argmax' for "
                f"class ids, or a Cell from logits to its inputs, but got {head!r}"
            )
        if metric.name in found:
            raise ValueError(f"For 'EvalCell', two metrics are named '{metric.name}': put them into a MetricCollection")
        found[metric.name] = head
    return found


def must_be_sums(members: Sequence[Metric]) -> None:
    for metric in members:
        if not isinstance(metric, (Perplexity, Loss)):
            raise ValueError(
                f"For 'EvalCell', reduce='graph' gives sums of NLL and tokens, for Perplexity and Loss, but got "
                f"{type(metric).__name__}"
            )


def reduction(reduce: str) -> str:
    if reduce not in ("none", "graph", "auto"):
        raise ValueError(f"For 'EvalCell', reduce must be 'none', 'graph' or 'auto', but got {reduce!r}")
    if reduce != "auto":
        return reduce
    return "graph" if ms.get_auto_parallel_context("parallel_mode") in GLOBAL_MODES else "none"


def checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(columns, Mapping):
        raise TypeError(f"For 'EvalCell', columns must be a dict of role -> index, but got {columns!r}")
    unknown = [role for role in columns if role not in ROLES]
    if unknown or "inputs" not in columns:
        raise ValueError(f"For 'EvalCell', columns must name 'inputs' and others of {list(ROLES)}, but got {columns}")
    for role, place in columns.items():
        several = list(place) if role == "inputs" and isinstance(place, (tuple, list)) else [place]
        if not several or not all(isinstance(p, int) and not isinstance(p, bool) and p >= 0 for p in several):
            raise ValueError(f"For 'EvalCell', columns must be indexes from 0 on, but got {place!r} for {role!r}")
    return dict(columns)


def roles(columns: dict | None, count: int) -> dict:
    if columns is None:
        return {role: place for role, place in DEFAULT_COLUMNS.items() if place < count}
    return {role: place for role, place in columns.items() if role != "inputs"}


def tensors_of(batch: Sequence[Any], columns: dict | None) -> tuple:
    """The batch with its arrays as Tensors; texts, which do not go into the graph, as they are.

    Raises:
        TypeError: for a column that is neither a Tensor nor an array of numbers.
    """
    texts = roles(columns, len(batch)).get("texts")
    given = list(batch)
    for place, column in enumerate(batch):
        if place == texts or isinstance(column, ms.Tensor):
            continue
        if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
            raise TypeError(
                f"For 'EvalCell', columns of the batch must be Tensors or arrays of numbers, but got "
                f"{describe(column)} as column {place}"
            )
        given[place] = ms.Tensor(column)
    return tuple(given)


def weight_of(lm_head: Any) -> ms.Tensor:
    """The weight ``[V, H]`` of a language-model head."""
    if isinstance(lm_head, np.ndarray) and lm_head.dtype.kind == "f":
        lm_head = ms.Tensor(lm_head)
    if not isinstance(lm_head, ms.Tensor):
        weight = "its weight" if isinstance(lm_head, nn.Cell) else "a Parameter or a Tensor [V, H]"
        raise TypeError(f"For 'EvalCell', lm_head must be a weight, but got {describe(lm_head)}: give {weight}")
    if lm_head.ndim != 2:
        raise ValueError(f"For 'EvalCell', lm_head must have shape [V, H], but got {list(lm_head.shape)}")
    return lm_head


def check_mask(labels: Any, mask: Any) -> None:
    """Raise a ValueError for a mask of tokens that has not the labels' shape."""
    if labels is None or mask is None or isinstance(mask, ValueError) or tuple(mask.shape) == tuple(labels.shape):
        return
    raise ValueError(
        f"For 'EvalCell', mask must have shape {list(labels.shape)} as the labels, but got {list(mask.shape)}"
    )


def check_batch(columns: dict | None, batch: Sequence[Any], tokens: bool) -> None:
    """Raise a ValueError for a column that is not there or a mask of tokens that does not fit, a TypeError for a mask
    that is not boolean."""
    for role, place in ({"inputs": 0} if columns is None else columns).items():
        if max(place if isinstance(place, (tuple, list)) else [place]) >= len(batch):
            raise ValueError(f"For 'EvalCell', the batch has {len(batch)} columns, but {role!r} is column {place}")
    place = roles(columns, len(batch)).get("mask")
    mask = None if place is None else batch[place]
    if mask is not None and "bool" not in str(getattr(mask, "dtype", type(mask).__name__)).lower():
        raise TypeError(
            f"For 'EvalCell', mask must be boolean (True where a position counts), but got {describe(mask)}: "
            "write mask != 0"
        )
    labels = roles(columns, len(batch)).get("labels")
    if tokens and labels is not None:
        check_mask(batch[labels], mask)
