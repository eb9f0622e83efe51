"""EvalCell: an evaluation network whose logits never leave the device. What is computed is in the kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindspore as ms
from mindspore import nn, ops

from mindeval import distributed, inputs, kernels
from mindeval.tokens import TokenBatch, TokenSums
from mindeval.training import eval_needs
from mindeval.training.eval_graph import (
    ArgMax,
    Head,
    HiddenNLL,
    aligned,
    bad_flags,
    checked_hidden,
    chosen,
    effective_width,
    flat_as,
    input_places,
    leaves,
    place_of,
    row_length,
    wide_statistics,
    width_of,
)
from mindeval.training.eval_outputs import GlobalSums, Outputs, flags, head_outputs, token_batch
from mindeval.training.unranked import ranked


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
    batch goes before an output. A mask that the network returns may be of the numbers 0 and 1, since MindFormers' is;
    a column that is a mask is boolean, as everywhere in mindeval. Logits may be float16, bfloat16, float32 or, on the
    CPU, float64 (with a copy of the logits; the NLL is then that of the host to 1e-12 nat, and not in its bits).

    Args:
        network: the Cell to evaluate.
        metrics: the metrics that will be updated: one, a collection, a list or a dict. They say what is computed:
            ``Perplexity`` and ``Accuracy`` with their ``ignore_index`` and ``shift`` (and ``Perplexity``'s
            ``vocab_size``), metrics with a ``head()`` (``YesNoAccuracy``, ``ChoiceAccuracy``) its numbers. ``Loss``
            takes the NLL of the first of them that reads tokens, with that one's settings.
        columns: role -> index of the batch's column. ``"inputs"``: one index or several, what the network is called
            with; ``"labels"``; ``"mask"`` (bool, True where a position counts); ``"positions"`` ``[B]`` for heads;
            ``"answers"``: labels of the heads' metrics, where they are not ``"labels"``; ``"texts"``, which must be the
            last column, for bits per byte. By default 0 is inputs, 1 labels and 2 mask, as far as there are columns.
        heads: metric name -> ``"argmax"``, for metrics of class ids, or a Cell. The Cell is called with the logits and
            those of ``positions``, ``labels`` and ``mask`` that its ``construct`` names (with ``positions``, logits are
            ``[B, T, V]``); the metric is updated with its output, the answers (else labels), and the mask, as they are:
            ``shift`` is a setting of ``Perplexity`` and ``Accuracy`` alone, as on the host. Of a mask of tokens
            ``[B, T]`` with an answer for each row, a row counts where any of its tokens does.
        lm_head: the weight ``[V, H]`` of the language-model head, where the network gives its last hidden states: the
            logits are then made block by block and never whole, in float32.
        reduce: ``"none"``, or ``"graph"``: sums of NLL and tokens are taken inside the graph, for semi-auto and auto
            parallel, where they cover all ranks (simulated, not run on a card). Metrics take them as global: no
            warning, and in a distributed metric one rank hands them over. ``"auto"`` follows the parallel mode. Counts
            of tokens and samples are the same as with ``"none"``; the sum of the NLL of each batch is rounded by the
            device (float64 with the native operator, else float32), so that the last bits of perplexity and loss may
            differ, also between batch sizes.
        reports: with ``reduce="graph"``, whether this rank hands the sums to distributed metrics; by default rank 0
            does. With pipeline stages name one rank of the last.

    Raises:
        ValueError: for metrics or columns that do not fit; when called, if logits are narrower than a metric's
            ``vocab_size``, or shapes do not match.
        TypeError: if ``lm_head`` is no weight; when called, if a column that is a mask is not boolean, or one is
            neither a Tensor nor an array of numbers.

    What is wrong with the values of a batch is an error of the metric's ``update`` (of a distributed metric, of its
    ``eval`` on every rank): a label outside of the vocabulary, a position outside of its row, a mask of the network
    with other numbers than 0 and 1, a mask that does not fit the answers, NaN under ``"argmax"``. What does not count
    may be anything. Infinite logits are ranked as on the host.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> import mindspore as ms
    >>> import numpy as np
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
        if not isinstance(network, nn.Cell):
            raise TypeError(f"For 'EvalCell', the network must be a Cell, but got {type(network).__name__}")
        if not (reports is None or isinstance(reports, bool)):
            raise TypeError(f"For 'EvalCell', reports must be True, False or None, but got {reports!r}")
        members = eval_needs.members_of(metrics)
        self.network = network
        self.columns = None if columns is None else eval_needs.checked_columns(columns)
        self.reduce = eval_needs.reduction(reduce)
        self.reports = reports
        self.passes = eval_needs.passes_of(members)  # the settings of each pass over the logits
        ranked = tuple(
            any(m.needs_rank for m in members if eval_needs.is_pass(m, settings)) for settings in self.passes
        )
        self.ranked = ranked
        named = eval_needs.heads_of(members, {} if heads is None else heads)
        self.head_names = tuple(named)
        self.heads = nn.CellList([Head(head) if isinstance(head, nn.Cell) else ArgMax() for head in named.values()])
        if self.reduce == "graph":
            eval_needs.must_be_sums(members)
        if lm_head is not None and named:
            raise ValueError(f"For 'EvalCell', heads need logits, which lm_head never makes, but got {list(named)}")
        self.lm_head = lm_head if lm_head is None else eval_needs.weight_of(lm_head)
        self.cast_first = ms.get_context("device_target") == "CPU"  # whose graphs have no Reshape for bfloat16
        self.tokens = nn.CellList(
            [kernels.TokenNLL(s[1], s[3], rank=r) for s, r in zip(self.passes, ranked)]
            if lm_head is None
            else [HiddenNLL(s[1], s[3], r) for s, r in zip(self.passes, ranked)]
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
        outputs = leaves(self.network(*[batch[place] for place in input_places(self.columns, len(batch))]))
        scores = outputs[0]
        labels = chosen(batch, outputs, place_of(self.columns, len(batch), "labels"), 1)
        mask = chosen(batch, outputs, place_of(self.columns, len(batch), "mask"), 2)
        if labels is None and len(self.passes) > 0:
            raise ValueError("For 'EvalCell', labels must be a column of the batch or the network's second output")
        token_parts: tuple = ()
        mean = ops.zeros((), ms.float32)
        for place, settings in enumerate(self.passes):
            wanted, counted = aligned(scores, labels, mask, settings[1], settings[2])
            width = width_of(self.lm_head, scores)
            size = effective_width(width, settings[3])
            valid = ops.logical_and(counted, ops.logical_and(wanted >= 0, wanted < size))
            safe = flat_as(scores, ops.select(valid, wanted, ops.zeros_like(wanted) + settings[1]))
            part = self._statistics(place, scores, safe)
            nll = (part[0] if self.ranked[place] else part).reshape(wanted.shape)
            tokens = valid.astype(ms.float32).sum()
            total = nll.sum()
            if place == 0:
                mean = (total / ops.maximum(tokens, ops.ones_like(tokens))).astype(ms.float32)
            if self.reduce == "graph":
                rows = valid.reshape((valid.shape[0], -1)).astype(ms.int32).sum(axis=1)
                bad = ops.logical_and(counted, ops.logical_not(valid)).astype(ms.int64).sum()
                part = (total, valid.astype(ms.int64).sum(), (rows > 0).astype(ms.int64).sum(), bad, bad_flags(mask))
            elif self.ranked[place]:
                ranks = part[1].reshape(wanted.shape)
                part = (nll, ranked(ranks, valid, scores, self.lm_head, wanted, size))
            else:
                part = (nll,)
            token_parts = token_parts + ((part, size),)
        head_parts: tuple = ()
        positions = chosen(batch, (), place_of(self.columns, len(batch), "positions"), 0)
        for head in self.heads:
            head_parts = head_parts + ((head(scores, labels, mask, positions), row_length(scores, positions)),)
        if self.reduce == "graph":
            return mean, token_parts
        if labels is None:  # None among the outputs of a graph would have MindSpore leave the graph
            return mean, (token_parts, head_parts), ()
        if mask is None:
            return mean, (token_parts, head_parts), (labels,)
        return mean, (token_parts, head_parts), (labels, mask)

    def _statistics(self, place: int, scores: Any, labels: Any) -> Any:
        """What the kernel of a pass gives: NLL, and ranks where they are wanted."""
        if self.lm_head is not None:
            checked_hidden(scores.shape[-1], self.lm_head.shape)
            return self.tokens[place](scores, self.lm_head, labels)
        if scores.dtype == ms.float64:
            return wide_statistics(scores, labels, self.passes[place][1], self.passes[place][3], self.ranked[place])
        if self.cast_first and scores.dtype == ms.bfloat16 and not self.tokens[place].native:
            scores = scores.astype(ms.float32)
        return self.tokens[place](scores, labels)

    def __call__(self, *batch: Any) -> tuple:
        """Run the network and bring what the metrics take to the host: O(rows) numbers."""
        batch = eval_needs.tensors_of(batch, self.columns)
        eval_needs.check_batch(self.columns, batch, bool(self.passes))
        places = eval_needs.roles(self.columns, len(batch))
        texts = None
        tensors = batch
        if "texts" in places:
            if places["texts"] != len(batch) - 1:
                raise ValueError(
                    f"For 'EvalCell', texts must be the last of the {len(batch)} columns, but got {places['texts']}"
                )
            texts, tensors = batch[-1], batch[:-1]
        if self.reduce == "graph":
            return self._global(super().__call__(*tensors), texts)
        _, (tokens, heads), targets = super().__call__(*tensors)
        labels, mask = (*targets, None, None)[:2]
        ids = None if labels is None else inputs.class_ids(labels, "labels")
        kept = None if mask is None else flags(inputs.to_numpy(mask, "mask"))
        if self.passes:  # a dynamic graph takes any mask of so many elements
            eval_needs.check_mask(ids, kept)
        answers = batch[places["answers"]] if "answers" in places else labels
        answers = None if answers is None else inputs.to_numpy(answers, "labels")
        positions = inputs.class_ids(batch[places["positions"]], "positions") if "positions" in places else None
        outputs = {
            name: head_outputs(cell, head, int(length), positions, kept, ids, answers)
            for name, cell, (head, length) in zip(self.head_names, self.heads, heads)
        }
        batches: dict[tuple, TokenBatch | ValueError] = {}
        if ids is not None:
            batches = {s: token_batch(part, ids, kept, s) for s, part in zip(self.passes, tokens)}
        prepared = Outputs(batches, outputs, ids, kept, texts)
        return prepared.losses(flat=True), prepared, (ids, None if isinstance(kept, ValueError) else kept)

    def _global(self, outputs: tuple, texts: Any) -> tuple:
        if texts is not None:
            raise ValueError(
                "For 'EvalCell', texts cannot go with reduce='graph': their bytes are not summed over ranks"
            )
        mean, parts = outputs
        sums: dict[tuple, TokenSums | ValueError] = {}
        for settings, ((total, tokens, rows, bad, bad_mask), size) in zip(self.passes, parts):
            if int(bad_mask):
                sums[settings] = ValueError(f"mask must hold 0 and 1, but {int(bad_mask)} numbers are neither")
            elif int(bad):
                sums[settings] = ValueError(f"labels must lie in [0, {size}) or be ignore_index, but {int(bad)} do not")
            else:
                sums[settings] = TokenSums(float(total.asnumpy()), int(tokens), int(rows))
        reports = distributed.this_rank() == 0 if self.reports is None else self.reports
        return mean, GlobalSums(sums, reports), None
