"""EvalCell: an evaluation network whose logits never leave the device. What is computed is in the kernels."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from mindeval import distributed, inputs, kernels
from mindeval.collection import MetricCollection
from mindeval.kernels import blockwise
from mindeval.language.loss import Loss
from mindeval.language.perplexity import Perplexity
from mindeval.metric import Metric
from mindeval.tokens import TokenBatch, TokenMetric, TokenSums

ROLES = ("inputs", "labels", "mask", "positions", "answers", "texts")
DEFAULT_COLUMNS = {"inputs": 0, "labels": 1, "mask": 2}
GLOBAL_MODES = ("semi_auto_parallel", "auto_parallel")


class EvalCell(nn.Cell):
    """A network for ``Model(..., eval_network=...)`` that gives each metric its small inputs in place of logits.

    Per-token NLL and rank of the label come from ``kernels.TokenNLL`` inside the network, in GRAPH and PYNATIVE mode;
    on the CPU with the bits that the metrics get from logits on the host. The outputs are

    0. the NLL of each token as a masked vector, for ``Loss`` and for ``Model.fit``'s own loss,
    1. what the metrics take (``Prepared``): each ``update`` picks its own,
    2. labels and mask on the host,

    for ``eval_indexes=[0, 1, 2]``, which ``Model.fit`` needs; ``Model.eval`` also works without. In a loop:
    ``metrics.update(*cell(*batch))``. Not for ``dataset_sink_mode=True``, where MindSpore compiles all of it.

    The network's output is logits ``[B, T, V]``, ``[B * T, V]`` or ``[B, V]``, alone or first in a tuple, nested or
    not, before labels and mask: ``(logits, tokens, mask)``, as MindFormers' legacy models give them. A column of the
    batch goes before an output.

    Args:
        network: the Cell to evaluate.
        metrics: the metrics that will be updated: one, a collection, a list or a dict. They say what is computed:
            ``Perplexity`` and ``Accuracy`` with their ``ignore_index``, ``shift`` and ``vocab_size``, metrics with a
            ``head()`` (``YesNoAccuracy``, ``ChoiceAccuracy``) its numbers.
        columns: role -> index of the batch's column. ``"inputs"``: one index or several, what the network is called
            with; ``"labels"``; ``"mask"`` (bool, or numbers that are not 0 where a position counts); ``"positions"``
            ``[B]`` for heads; ``"answers"``: labels of the heads' metrics, where they are not ``"labels"``;
            ``"texts"``, which must be the last column, for bits per byte. By default 0 is inputs, 1 labels and 2 mask,
            as far as there are columns.
        heads: metric name -> ``"argmax"``, for metrics of class ids, or a Cell. The Cell is called with the logits and
            those of ``positions``, ``labels`` and ``mask`` that its ``construct`` names; the metric is updated with its
            output, the answers (else labels), and the mask where that has the answers' shape.
        lm_head: the weight ``[V, H]`` of the language-model head, where the network gives its last hidden states: the
            logits are then made block by block and never whole, in float32.
        reduce: ``"none"``, or ``"graph"``: sums of NLL and tokens are taken inside the graph, for semi-auto and auto
            parallel, where they cover all ranks (simulated, not run on a card). Metrics take them as global: no
            warning, and in a distributed metric one rank hands them over. ``"auto"`` follows the parallel mode.
        reports: with ``reduce="graph"``, whether this rank hands the sums to distributed metrics; by default rank 0
            does. With pipeline stages name one rank of the last.

    Raises:
        ValueError: for metrics or columns that do not fit; when called, if logits are narrower than a metric's
            ``vocab_size``. A label outside of the vocabulary is an error of the metric's ``update``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import mindspore as ms
    >>> from mindspore import nn
    >>> from mindeval import Accuracy, MetricCollection, Perplexity
    >>> table = ms.Tensor(np.log([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]), ms.float32)
    >>> metrics = MetricCollection([Perplexity(), Accuracy()])
    >>> cell = EvalCell(nn.Embedding(3, 3, embedding_table=table), metrics)
    >>> metrics.update(*cell(ms.Tensor([[0, 1]], ms.int32), ms.Tensor([[0, 1]], ms.int32)))
    >>> round(metrics.eval()["perplexity"], 6), metrics.eval()["accuracy"]
    (2.0, 1.0)
    """

    def __init__(
        self,
        network: nn.Cell,
        metrics: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        heads: Mapping[str, Any] | None = None,
        lm_head: Any = None,
        reduce: str = "auto",
        reports: bool | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)  # parameters keep their names: checkpoints depend on them
        members = _members(metrics)
        self.network = network
        self.columns = None if columns is None else _checked_columns(columns)
        self.reduce = _reduction(reduce)
        self.reports = reports
        self.passes = _passes(members)  # the settings of each pass over the logits
        ranked = tuple(any(m.needs_rank for m in members if _is_pass(m, settings)) for settings in self.passes)
        self.ranked = ranked
        named = _heads(members, dict(heads or {}))
        self.head_names = tuple(named)
        self.heads = nn.CellList([_Head(head) if isinstance(head, nn.Cell) else _ArgMax() for head in named.values()])
        if self.reduce == "graph":
            _must_be_sums(members)
        if lm_head is not None and named:
            raise ValueError(f"For 'EvalCell', heads need logits, which lm_head never makes, but got {list(named)}")
        self.lm_head = lm_head
        self.tokens = nn.CellList(
            [kernels.TokenNLL(s[1], s[3], rank=r) for s, r in zip(self.passes, ranked)]
            if lm_head is None
            else [_HiddenNLL(s[1], s[3], r) for s, r in zip(self.passes, ranked)]
        )

    def set_inputs(self, *shapes: Any, **named: Any) -> None:
        """Declare input shapes, as in ``nn.Cell``. Dynamic ones compile once; MindSpore cannot run the native operator
        in such a graph, so that NLL is then of block-wise operators, in float32 (error 1e-5 nat)."""
        if any(dimension is None or dimension < 0 for shape in shapes for dimension in shape.shape or ()):
            for cell in self.tokens:
                cell.native = False
        super().set_inputs(*shapes, **named)

    def construct(self, *batch: Any) -> Any:
        """The part on the device. The same outputs as Tensors: the mean NLL; statistics; labels and masks."""
        outputs = _leaves(self.network(*[batch[place] for place in _input_places(self.columns, len(batch))]))
        scores = outputs[0]
        labels = _chosen(batch, outputs, _place(self.columns, len(batch), "labels"), 1)
        mask = _chosen(batch, outputs, _place(self.columns, len(batch), "mask"), 2)
        if labels is None and len(self.passes) > 0:
            raise ValueError("For 'EvalCell', labels must be a column of the batch or the network's second output")
        token_parts: tuple = ()
        mean = ops.zeros((), ms.float32)
        for place, settings in enumerate(self.passes):
            matrix, wanted, counted = _aligned(scores, labels, mask, settings[1], settings[2])
            width = _width(self.lm_head, scores)
            size = _effective_width(width, settings[3])
            valid = ops.logical_and(counted, ops.logical_and(wanted >= 0, wanted < size))
            safe = ops.select(valid, wanted, ops.zeros_like(wanted) + settings[1])
            if self.lm_head is None:
                part = self.tokens[place](matrix, safe)
            else:
                part = self.tokens[place](matrix, self.lm_head, safe)
            nll = part[0] if self.ranked[place] else part
            tokens = valid.astype(ms.float32).sum()
            total = nll.sum()
            if place == 0:
                mean = (total / ops.maximum(tokens, ops.ones_like(tokens))).astype(ms.float32)
            if self.reduce == "graph":
                rows = valid.reshape((valid.shape[0], -1)).astype(ms.int32).sum(axis=1)
                bad = ops.logical_and(counted, ops.logical_not(valid)).astype(ms.int64).sum()
                part = (total, valid.astype(ms.int64).sum(), (rows > 0).astype(ms.int64).sum(), bad)
            elif not self.ranked[place]:
                part = (part,)
            token_parts = token_parts + ((part, size),)
        head_parts: tuple = ()
        positions = _chosen(batch, (), _place(self.columns, len(batch), "positions"), 0)
        for head in self.heads:
            head_parts = head_parts + (head(scores, labels, mask, positions),)
        if self.reduce == "graph":
            return mean, token_parts
        if labels is None:  # None among the outputs of a graph would have MindSpore leave the graph
            return mean, (token_parts, head_parts), ()
        if mask is None:
            return mean, (token_parts, head_parts), (labels,)
        return mean, (token_parts, head_parts), (labels, mask)

    def __call__(self, *batch: Any) -> tuple:
        """Run the network and bring what the metrics take to the host: O(rows) numbers."""
        roles = _roles(self.columns, len(batch))
        texts = None
        tensors = batch
        if "texts" in roles:
            if roles["texts"] != len(batch) - 1:
                raise ValueError(
                    f"For 'EvalCell', texts must be the last of the {len(batch)} columns, but got {roles['texts']}"
                )
            texts, tensors = batch[-1], batch[:-1]
        if self.reduce == "graph":
            return self._global(super().__call__(*tensors), texts)
        _, (tokens, heads), targets = super().__call__(*tensors)
        labels, mask = (*targets, None, None)[:2]
        ids = None if labels is None else inputs.class_ids(labels, "labels")
        kept = None if mask is None else _as_boolean(inputs.to_numpy(mask, "mask"))
        batches: dict[tuple, TokenBatch | ValueError] = {}
        if ids is not None:
            batches = {s: _token_batch(part, ids, kept, s) for s, part in zip(self.passes, tokens)}
        answers = batch[roles["answers"]] if "answers" in roles else labels
        answers = None if answers is None else inputs.to_numpy(answers, "labels")
        outputs = {
            name: tuple(inputs.to_numpy(x, "scores") for x in (head if isinstance(head, tuple) else (head,)))
            for name, head in zip(self.head_names, heads)
        }
        prepared = Outputs(batches, outputs, ids, kept, answers, texts)
        return prepared.losses(flat=True), prepared, (ids, kept)

    def _global(self, outputs: tuple, texts: Any) -> tuple:
        if texts is not None:
            raise ValueError(
                "For 'EvalCell', texts cannot go with reduce='graph': their bytes are not summed over ranks"
            )
        mean, parts = outputs
        sums: dict[tuple, TokenSums | ValueError] = {}
        for settings, ((total, tokens, rows, bad), size) in zip(self.passes, parts):
            if int(bad):
                sums[settings] = ValueError(f"labels must lie in [0, {size}) or be ignore_index, but {int(bad)} do not")
            else:
                sums[settings] = TokenSums(float(total.asnumpy()), int(tokens), int(rows))
        reports = distributed.this_rank() == 0 if self.reports is None else self.reports
        return mean, GlobalSums(sums, reports), None


class Outputs(inputs.Prepared):
    """The small outputs of an EvalCell for one batch, on the host."""

    def __init__(
        self,
        tokens: dict[tuple, TokenBatch | ValueError],
        heads: dict[str, tuple],
        labels: np.ndarray | None,
        mask: np.ndarray | None,
        answers: np.ndarray | None,
        texts: Any,
    ) -> None:
        self.tokens, self.heads, self.labels, self.mask = tokens, heads, labels, mask
        self.answers, self.texts = answers, texts

    def losses(self, flat: bool = False) -> np.ma.MaskedArray | None:
        """The NLL of each token, masked where it does not count; of the first pass."""
        batch = next(iter(self.tokens.values()), None)
        if batch is None:
            return None
        if isinstance(batch, ValueError):
            return np.ma.MaskedArray([np.nan], mask=[False])
        losses: np.ma.MaskedArray = np.ma.MaskedArray(batch.stats.nll, mask=~batch.counted)
        return losses.reshape(-1) if flat else losses

    def inputs_for(self, metric: Any) -> tuple:
        if metric.name in self.heads:
            fits = self.mask is not None and self.answers is not None and self.mask.shape == self.answers.shape
            return (*self.heads[metric.name], self.answers, *((self.mask,) if fits else ()))
        if isinstance(metric, Loss):
            losses = self.losses()
            if losses is None:
                raise ValueError("the evaluation network computed no NLL: give this metric to EvalCell")
            _raise_if_error(next(iter(self.tokens.values())))
            return (losses,)
        batch = _found(self.tokens, metric)
        if metric.needs_rank and batch.stats.rank is None:
            raise ValueError("the evaluation network did not compute the labels' ranks: give this metric to EvalCell")
        texts = (self.texts,) if self.texts is not None and isinstance(metric, Perplexity) else ()
        return (batch, self.labels, self.mask, *texts)


class GlobalSums(inputs.Prepared):
    """Sums over all ranks, taken inside the graph."""

    is_global = True

    def __init__(self, sums: dict[tuple, TokenSums | ValueError], reports: bool) -> None:
        self.sums, self.reports = sums, reports

    def inputs_for(self, metric: Any) -> tuple | None:
        if isinstance(metric, Loss):
            sums: Any = next(iter(self.sums.values()))
            _raise_if_error(sums)
        else:
            sums = _found(self.sums, metric)
        if metric._scope.distribution.active() and not self.reports:
            return None
        if isinstance(metric, Loss):
            return (sums.nll / sums.tokens if sums.tokens else 0.0, sums.tokens)
        return (sums,)


def _found(computed: Mapping[tuple, Any], metric: Any) -> Any:
    """What was computed for a metric's settings."""
    if not isinstance(metric, TokenMetric) or metric._pass() not in computed:
        wanted = metric._pass()[1:] if isinstance(metric, TokenMetric) else "its own inputs"
        raise ValueError(
            f"the evaluation network computed nothing for this metric (ignore_index, shift, vocab_size: {wanted}; "
            f"there are {[settings[1:] for settings in computed]}): give the metric to EvalCell"
        )
    _raise_if_error(computed[metric._pass()])
    return computed[metric._pass()]


def _raise_if_error(value: Any) -> None:
    if isinstance(value, ValueError):
        raise value


def _token_batch(part: tuple, labels: np.ndarray, mask: np.ndarray | None, settings: tuple) -> TokenBatch | ValueError:
    """The statistics of one pass, or what was wrong with the labels: raised by the metric, on every rank alike."""
    (nll, *rank), size = part
    _, ignore_index, shift, _ = settings
    counted = labels != ignore_index
    if mask is not None:
        if mask.shape != labels.shape:
            return ValueError(f"mask must have shape {list(labels.shape)}, but got {list(mask.shape)}")
        counted = counted & mask
    values = inputs.to_numpy(nll, "nll").astype(np.float64)
    ranks = inputs.to_numpy(rank[0], "rank").astype(np.int64) if rank else None
    if shift:
        if labels.ndim < 2 or labels.shape[-1] < 2:
            return ValueError(f"labels must have shape [B, T] with T >= 2 for shift=True, but got {list(labels.shape)}")
        labels, counted, values = labels[..., 1:], counted[..., 1:], values[..., :-1]
        ranks = None if ranks is None else ranks[..., :-1]
    outside = counted & ((labels < 0) | (labels >= size))
    if outside.any():
        return ValueError(
            f"labels must lie in [0, {size}) or be ignore_index {ignore_index}, but got {int(labels[outside][0])}"
        )
    rows = counted.reshape(len(counted), -1).any(axis=1)
    return TokenBatch(kernels.TokenStats(values, ranks), counted, int(rows.sum()))


def _as_boolean(mask: np.ndarray) -> np.ndarray:
    return mask if mask.dtype == bool else mask != 0


# -- what the metrics need --------------------------------------------------------------------------------------------


def _members(metrics: Any) -> list[Metric]:
    if isinstance(metrics, Metric):
        return [metrics]
    if isinstance(metrics, MetricCollection):
        return [metrics[name] for name in metrics]
    members = list(metrics.values()) if isinstance(metrics, Mapping) else list(metrics)
    for metric in members:
        if not isinstance(metric, Metric):
            raise TypeError(f"For 'EvalCell', metrics must be mindeval metrics, but got {type(metric).__name__}")
    if not members:
        raise ValueError("For 'EvalCell', there must be at least one metric, but got none")
    return members


def _is_pass(metric: Metric, settings: tuple) -> bool:
    return isinstance(metric, TokenMetric) and metric._pass() == settings


def _passes(members: Sequence[Metric]) -> tuple:
    """The settings of every pass over the logits, in the metrics' order. A lone Loss has the usual ones."""
    found = dict.fromkeys(m._pass() for m in members if isinstance(m, TokenMetric))
    if not found and any(isinstance(m, Loss) for m in members):
        found = {("token_nll", -100, False, None): None}
    return tuple(found)


def _heads(members: Sequence[Metric], given: dict[str, Any]) -> dict[str, Any]:
    """The head of every metric that is not one of tokens: a Cell, or "argmax"."""
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


def _must_be_sums(members: Sequence[Metric]) -> None:
    for metric in members:
        if not isinstance(metric, (Perplexity, Loss)):
            raise ValueError(
                f"For 'EvalCell', reduce='graph' gives sums of NLL and tokens, for Perplexity and Loss, but got "
                f"{type(metric).__name__}"
            )


def _reduction(reduce: str) -> str:
    if reduce not in ("none", "graph", "auto"):
        raise ValueError(f"For 'EvalCell', reduce must be 'none', 'graph' or 'auto', but got {reduce!r}")
    if reduce != "auto":
        return reduce
    return "graph" if ms.get_auto_parallel_context("parallel_mode") in GLOBAL_MODES else "none"


def _checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [role for role in columns if role not in ROLES]
    if unknown or "inputs" not in columns:
        raise ValueError(f"For 'EvalCell', columns must name 'inputs' and others of {list(ROLES)}, but got {columns}")
    return dict(columns)


# -- inside the graph: all of this is decided when it is compiled ------------------------------------------------------


def _roles(columns: dict | None, count: int) -> dict:
    if columns is None:
        return {role: place for role, place in DEFAULT_COLUMNS.items() if place < count}
    return {role: place for role, place in columns.items() if role != "inputs"}


@ops.constexpr
def _place(columns: dict | None, count: int, role: str) -> int:
    """The column of a role, -1 if there is none."""
    return _roles(columns, count).get(role, -1)


@ops.constexpr
def _input_places(columns: dict | None, count: int) -> tuple:
    places = DEFAULT_COLUMNS["inputs"] if columns is None else columns["inputs"]
    return (places,) if isinstance(places, int) else tuple(places)


@ops.constexpr
def _effective_width(width: int, vocab_size: int | None) -> int:
    if vocab_size is None:
        return width
    if width < vocab_size:
        raise ValueError(
            f"For 'EvalCell', logits must have at least the vocab_size={vocab_size} columns of the metric, but got "
            f"{width}: is this one rank's slice of the vocabulary?"
        )
    return vocab_size


def _width(lm_head: Any, scores: Any) -> int:
    if lm_head is None:
        return scores.shape[-1]
    return lm_head.shape[0]


def _leaves(outputs: Any) -> tuple:
    """A network's outputs as one flat tuple; graphs cannot recurse, so that four levels are opened."""
    if not isinstance(outputs, (tuple, list)):
        return (outputs,)
    return _opened(_opened(_opened(outputs)))


def _opened(outputs: Any) -> tuple[Any, ...]:
    flat: tuple = ()
    for output in outputs:
        if isinstance(output, (tuple, list)):
            for inner in output:
                flat = flat + (inner,)
        else:
            flat = flat + (output,)
    return flat


def _chosen(batch: tuple, outputs: tuple, column: int, place: int) -> Any:
    """A column of the batch, else an output of the network, else None."""
    if column >= 0:
        return batch[column]
    if place < len(outputs):
        return outputs[place]
    return None


def _aligned(scores: Any, labels: Any, mask: Any, ignore_index: int, shift: bool) -> tuple:
    """Scores ``[..., W]``, labels and counted positions ``[...]`` of one target each.

    To shift, the labels move: a part of the logits would be a copy. The last position then counts for nothing.
    """
    if labels.dtype != ms.int32 and labels.dtype != ms.int64:
        labels = labels.astype(ms.int32)
    counted = labels != ignore_index
    if mask is not None:
        if mask.dtype != ms.bool_:
            mask = mask != 0
        counted = ops.logical_and(counted, mask.reshape(labels.shape))
    if len(scores.shape) != len(labels.shape) + 1:
        scores = scores.reshape(labels.shape + (scores.shape[-1],))
    if shift:
        last = labels[..., :1]
        labels = ops.concat((labels[..., 1:], ops.zeros_like(last) + ignore_index), -1)
        return scores, labels, ops.concat((counted[..., 1:], last != last), -1)
    return scores, labels, counted


class _ArgMax(nn.Cell):
    """Class ids: the first of the largest scores."""

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        return ops.argmax(scores.astype(ms.float32), -1)


class _Head(nn.Cell):
    """Calls a head with those of labels, mask and positions that its construct names."""

    def __init__(self, head: nn.Cell) -> None:
        super().__init__()
        self.head = head
        named = inspect.signature(head.construct).parameters
        self.takes_labels, self.takes_mask = "labels" in named, "mask" in named
        self.takes_positions = "positions" in named

    def construct(self, scores: Any, labels: Any, mask: Any, positions: Any) -> Any:
        given: tuple = (scores,)
        if self.takes_labels:
            given = given + (labels,)
        if self.takes_mask:
            given = given + (mask,)
        if self.takes_positions and positions is not None:
            given = given + (positions,)
        return self.head(*given)


class _HiddenNLL(nn.Cell):
    """As ``TokenNLL``, from hidden states and the head's weight, block by block over the vocabulary."""

    def __init__(self, ignore_index: int, vocab_size: int | None, rank: bool) -> None:
        super().__init__()
        self.ignore_index, self.vocab_size, self.rank = ignore_index, vocab_size, rank

    def construct(self, hidden: Any, weight: Any, labels: Any) -> Any:
        if self.vocab_size is not None:
            weight = weight[: self.vocab_size]
        flat = labels.reshape((-1,)).astype(ms.int32)
        valid = flat != self.ignore_index
        states = hidden.reshape((-1, hidden.shape[-1])).astype(ms.float32)
        safe = ops.select(valid, flat, ops.zeros_like(flat))
        outputs = blockwise.linear_statistics(states, weight.astype(ms.float32), safe, rank=self.rank)
        nll = ops.select(valid, outputs[0], ops.zeros_like(outputs[0])).reshape(labels.shape)
        if not self.rank:
            return nll
        return nll, ops.select(valid, outputs[1], ops.zeros_like(outputs[1]) - 1).reshape(labels.shape)
