"""What an EvalCell is asked for: passes over the logits, heads of its metrics, columns, reduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
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


def check_batch(columns: dict | None, batch: Sequence[Any]) -> None:
    """Raise a ValueError for a column that is not there, a TypeError for a mask that is not boolean."""
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
