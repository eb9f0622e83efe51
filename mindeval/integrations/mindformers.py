"""mindeval in MindFormers: metrics for its YAML files and Trainer, networks that can be evaluated, results returned.

MindFormers is imported when a function needs it, never by importing this file.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.train
import numpy as np
from mindspore import ops

import mindeval
from mindeval import distributed, inputs
from mindeval.collection import MetricCollection
from mindeval.kernels.blockwise import statistics
from mindeval.metric import Metric
from mindeval.score import Score

__all__ = [
    "MindevalMetrics",
    "MindevalTextMetrics",
    "contributes",
    "data_parallel_group",
    "eval_network",
    "generate_evaluate",
    "periodic_eval",
    "register",
    "results",
]

IGNORE = -100
_LOGIT_FAMILIES = ("mindeval.language.", "mindeval.classification.")
_NO_LOGITS = (".loss", ".regression")
_TEXT_FAMILIES = ("mindeval.text.", "mindeval.answers.answer")
_GRAPH_PARALLEL = ("semi_auto_parallel", "auto_parallel")


# -- metrics that take what MindFormers hands out --------------------------------------------------------------------


class MindevalMetrics(mindspore.train.Metric):
    """Metrics over logits and labels as one metric of MindFormers, for YAML and ``compute_metrics``.

    MindFormers keeps one metric only where its YAML lists several, so several are members of this one. They are reduced
    over the ranks together. ``update`` takes what a network hands out:

    ================================ ==================================================================================
    outputs                          from
    ================================ ==================================================================================
    ``(logits, tokens, mask)``       legacy models: ``[B, S, V]``, ``[B, S]``, 0 or 1 ``[B, S]``. The logits at t are
                                     scored on token t + 1 where mask t + 1 is 1, as ``PerplexityMetric`` does
    ``(logits, labels)``             ``eval_network``: the logits at t are scored on label t
    ``(nll_sum, tokens, rows)``      ``eval_network(reduce="graph")``, for perplexity alone
    ================================ ==================================================================================

    Args:
        metrics: metrics, or as in YAML ``{"type": "Accuracy", "top_k": 5, "name": "top5"}`` with the arguments of the
            metric; a list or, with names, a dict; or a collection, which is then this one's own.
        distributed: ``True`` or the name of a group: the value over all ranks.
        contributes: whether this rank's samples count when distributed. ``"auto"``: in semi-auto and auto parallel
            mode, where outputs are global, only those of the first rank of the last pipeline stage; else those of
            every rank. MindFormers' ``parallel_config`` as a dict: see ``contributes()``.
        expected_samples: the number of samples of the whole data set; ``eval()`` raises if another number was counted.

    Raises:
        ValueError: for arguments that do not fit; ``update``: for outputs that are not listed above.
        RuntimeError: ``eval``: see ``Metric.eval``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> metrics = MindevalMetrics([{"type": "Perplexity"}, {"type": "Accuracy", "name": "next_token"}])
    >>> logits = np.log(np.float32([[[0.25, 0.75], [0.5, 0.5], [0.5, 0.5]]]))
    >>> metrics.update(logits, np.array([[0, 1, 1]]), np.float32([[1, 1, 0]]))
    >>> {name: round(score, 6) for name, score in metrics.eval().items()}
    {'perplexity': 1.333333, 'next_token': 1.0}
    """

    def __init__(
        self,
        metrics: Mapping[str, Any] | Sequence[Any] | MetricCollection,
        *,
        distributed: bool | str = False,
        contributes: bool | str | Mapping[str, int] = "auto",
        expected_samples: int | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(metrics, MetricCollection):
            metrics = MetricCollection(_members(metrics), name=type(self).__name__)
        self.metrics = metrics
        for name, metric in self.metrics._scope.members.items():
            if getattr(metric, "shift", False):
                raise ValueError(
                    f"For '{type(self).__name__}', '{name}' must not have shift: MindFormers' outputs are aligned here"
                )
        if distributed:
            self.metrics.set_distributed(
                True,
                distributed if isinstance(distributed, str) else None,
                contributes=_decided(contributes),
                expected_samples=expected_samples,
            )
        elif contributes != "auto":
            raise ValueError(
                f"For '{type(self).__name__}', contributes={contributes!r} means nothing unless distributed"
            )
        elif expected_samples is not None:
            self.metrics.set_distributed(False, expected_samples=expected_samples)

    def clear(self) -> None:
        """Forget everything that was accumulated."""
        self.metrics.clear()

    def update(self, *outputs: Any) -> None:
        """Add the outputs of one batch."""
        scope = self.metrics._scope
        if not scope.distribution.contributes:
            return
        try:
            batch = self._batch(inputs.flatten(outputs))
        except (TypeError, ValueError) as error:
            named = type(error)(f"For '{type(self).__name__}.update', {error}")
            named.__cause__ = error
            scope.failed(next(iter(self.metrics)), named)
            return
        if len(batch) == 3:
            self._add_sums(*batch)
        else:
            self.metrics.update(*batch)

    def eval(self) -> dict[str, Score]:
        """Every member's value, by name."""
        return self.metrics.eval()

    def result(self) -> dict[str, dict[str, Any]]:
        """Everything that the last ``eval()`` computed, by name, JSON-ready. Never communicates."""
        return self.metrics.result()

    def _batch(self, outputs: Sequence[Any]) -> tuple:
        """(logits, labels), or the three sums."""
        if len(outputs) == 1:
            raise ValueError(
                f"there must be logits and labels, but got only {inputs.describe(outputs[0])}, as from MindFormers' "
                "mcore models in evaluation: evaluate mindeval.integrations.mindformers.eval_network(network) instead"
            )
        if len(outputs) not in (2, 3):
            raise ValueError(
                "outputs must be (logits, tokens, mask), (logits, labels) or (nll_sum, tokens, rows), "
                f"but got {len(outputs)}: {', '.join(inputs.describe(output) for output in outputs)}"
            )
        if len(outputs) == 3 and all(np.size(output) == 1 for output in outputs):
            return tuple(inputs.to_numpy(output, "sums").item() for output in outputs)
        if _outputs_may_be_slices():
            raise ValueError(
                "in semi-auto and auto parallel mode without full_batch a rank may see a slice of the logits: "
                'evaluate eval_network(network, reduce="graph")'
            )
        if len(outputs) == 2:
            return tuple(outputs)
        logits, tokens, mask = outputs
        return logits, next_tokens(tokens, mask)

    def _add_sums(self, nll_sum: float, tokens: float, rows: float) -> None:
        for name, metric in self.metrics._scope.members.items():
            if not isinstance(metric, mindeval.Perplexity):
                error = ValueError(
                    f"For '{type(self).__name__}.update', '{name}' needs logits, but got sums of the graph"
                )
                self.metrics._scope.failed(name, error)
                continue
            part = copy.deepcopy(metric)
            part.clear()
            part._states["nll"].add(float(nll_sum))
            for state in ("tokens", "tokens_without_bytes", "tokens_without_words"):
                part._states[state].add(int(tokens))
            part._states["samples"].add(int(rows))
            metric.merge(part)


class MindevalTextMetrics(MindevalMetrics):
    """Metrics over generated texts and references as one metric of MindFormers; the arguments of ``MindevalMetrics``.

    ``update(predictions, references)`` takes lists of str. ``register()`` makes ``Trainer.evaluate`` generate for it.
    MindFormers drops what ``eval()`` returns there, so it is logged as well, and ``results(trainer)`` gives it.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``
    """

    def eval(self) -> dict[str, Score]:
        """Every member's value, by name."""
        from mindformers.tools.logger import logger

        scores = super().eval()
        logger.info("%s = %s", type(self).__name__, scores)
        return scores

    def _batch(self, outputs: Sequence[Any]) -> tuple:
        if len(outputs) != 2:
            raise ValueError(f"there must be predictions and references, but got {len(outputs)} inputs")
        return tuple(outputs)


def next_tokens(tokens: Any, mask: Any) -> np.ndarray:
    """The label of each position: the token behind it, or -100 where that one is masked or not there.

    Args:
        tokens: ids ``[B, S]`` that the network read.
        mask: 0 or 1 ``[B, S]``, or bool: whether a token is one to predict.

    >>> next_tokens([[5, 6, 7, 0]], [[1, 1, 1, 0]])
    array([[   6,    7, -100, -100]])
    """
    ids, counts = inputs.class_ids(tokens, "tokens"), inputs.to_numpy(mask, "mask")
    if ids.ndim != 2 or counts.shape != ids.shape:
        raise ValueError(
            f"tokens and mask must have one shape [B, S], but got {inputs.describe(ids)} and {inputs.describe(counts)}"
        )
    if not ((counts == 0) | (counts == 1)).all():
        raise ValueError("mask must hold 0 and 1: a token counts or it does not, and cannot weigh something else")
    labels = np.full_like(ids, IGNORE)
    labels[:, :-1] = np.where(counts[:, 1:] != 0, ids[:, 1:], IGNORE)
    return labels


def _members(metrics: Mapping[str, Any] | Sequence[Any]) -> dict[str, Metric] | list[Metric]:
    if isinstance(metrics, Mapping) and "type" not in metrics:
        return {name: _metric(metric) for name, metric in metrics.items()}
    return [_metric(metric) for metric in (metrics if isinstance(metrics, (list, tuple)) else [metrics])]


def _metric(given: Any) -> Metric:
    """A metric as given, or made from ``{"type": ..., **arguments}`` or its class's name alone."""
    if isinstance(given, Metric):
        return given
    arguments = dict(given) if isinstance(given, Mapping) else {"type": given}
    kind = arguments.pop("type", None)
    made = getattr(mindeval, kind) if kind in mindeval.__all__ else None
    if not (isinstance(made, type) and issubclass(made, Metric)):
        raise ValueError(f"a metric must be one of mindeval or name its class as 'type', but got {given!r}")
    return made(**arguments)


# -- which ranks count -------------------------------------------------------------------------------------------------


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


def _decided(given: bool | str | Mapping[str, int]) -> bool:
    if isinstance(given, bool):
        return given
    if isinstance(given, Mapping):
        return contributes(given)
    if given != "auto":
        raise ValueError(f"contributes must be true, false, auto or a parallel_config, but got {given!r}")
    if ms.get_auto_parallel_context("parallel_mode") not in _GRAPH_PARALLEL:
        return True
    world, stages = distributed.world_size(), ms.get_auto_parallel_context("pipeline_stages")
    return distributed.this_rank() == world // stages * (stages - 1)


def _outputs_may_be_slices() -> bool:
    mode = ms.get_auto_parallel_context("parallel_mode")
    return mode in _GRAPH_PARALLEL and not ms.get_auto_parallel_context("full_batch")


# -- MindFormers' register ---------------------------------------------------------------------------------------------


def register() -> dict[str, Any]:
    """Make mindeval's metrics known to MindFormers, for ``metric: {type: MindevalPerplexity}`` in YAML.

    ``MindevalMetrics`` and ``MindevalTextMetrics`` hold several metrics; ``Mindeval`` before the name of a metric is
    one of these with that single metric, whose arguments stand beside ``distributed``, ``contributes`` and
    ``expected_samples``. No name of MindFormers' own is touched. Text metrics are added to the names for which
    ``Trainer.evaluate`` generates. It may be called again.

    Returns:
        What was registered, by name.
    """
    from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
    from mindformers.trainer.causal_language_modeling import causal_language_modeling

    aliases: dict[str, Any] = {"MindevalMetrics": MindevalMetrics, "MindevalTextMetrics": MindevalTextMetrics}
    for name in mindeval.__all__:
        made = getattr(mindeval, name)
        if not (isinstance(made, type) and issubclass(made, Metric)):
            continue
        if made.__module__.startswith(_TEXT_FAMILIES):
            aliases[f"Mindeval{name}"] = _alone(name, MindevalTextMetrics)
        elif made.__module__.startswith(_LOGIT_FAMILIES) and not made.__module__.endswith(_NO_LOGITS):
            aliases[f"Mindeval{name}"] = _alone(name, MindevalMetrics)
    generating = causal_language_modeling.GENERATE_METRIC_NAMES
    for alias, made in aliases.items():
        MindFormerRegister.register_cls(made, MindFormerModuleType.METRIC, alias=alias)
        if getattr(made, "holder", made) is MindevalTextMetrics and alias not in generating:
            generating.append(alias)
    return aliases


def _alone(kind: str, holder: type[MindevalMetrics]) -> Any:
    """What YAML builds for one metric: a holder of it alone."""

    def make(
        *,
        distributed: bool | str = False,
        contributes: bool | str | Mapping[str, int] = "auto",
        expected_samples: int | None = None,
        **arguments: Any,
    ) -> MindevalMetrics:
        return holder(
            [{"type": kind, **arguments}],
            distributed=distributed,
            contributes=contributes,
            expected_samples=expected_samples,
        )

    make.__name__ = make.__qualname__ = f"Mindeval{kind}"
    make.holder = holder  # type: ignore[attr-defined]
    return make


def results(trainer: Any) -> dict[str, dict[str, Any]]:
    """What the mindeval metrics of a ``Trainer`` found in its last ``evaluate()``, which returns nothing itself.

    Args:
        trainer: ``mindformers.Trainer``.

    Returns:
        By metric, what its ``result()`` is.

    Raises:
        ValueError: if the trainer has no metric of mindeval.
    """
    metrics = (trainer.compute_metrics or trainer.trainer.compute_metrics or {}).values()
    found: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        if not isinstance(metric, (MindevalMetrics, Metric)):
            continue
        named = {metric.name: metric.result()} if isinstance(metric, Metric) else metric.result()
        if found.keys() & named.keys():
            raise ValueError(f"For 'results', two metrics are named {sorted(found.keys() & named.keys())}: give names")
        found.update(named)
    if not found:
        raise ValueError(f"For 'results', the trainer has no metric of mindeval, but {list(metrics)}")
    return found


# -- networks ----------------------------------------------------------------------------------------------------------


def eval_network(network: Any, *, labels_shifted: bool | None = None, reduce: str = "auto") -> Any:
    """A network around a causal language model of MindFormers whose outputs metrics can take.

    In evaluation an mcore model returns nothing but logits ``[B * S, V]``, and a legacy model returns the tokens that
    it read, not the labels of the data set. This one returns ``(logits [B, S, V], labels [B, S])``: the label is what
    the logits of its position are scored on, and -100 where nothing counts. Any metric of mindeval over logits takes
    that, without ``shift``. It is for ``Trainer(model=...)``, ``Model(..., eval_network=...)`` and ``periodic_eval``;
    the weights are shared and keep their names.

    ``construct(input_ids, labels, loss_mask, position_ids, attention_mask, actual_seq_len)``, the order of the columns
    of the data set; all but the first may be missing, and ``construct_args_key`` in YAML may name others in any order.
    A position counts where its label is not ``ignore_token_id`` and ``loss_mask`` is not 0; without a ``loss_mask``,
    where the token is no padding: the token to predict, or where labels are shifted the token read, as in training.

    Args:
        network: of MindFormers, legacy or mcore.
        labels_shifted: whether the data set's labels are one token ahead of its input ids. By default True for mcore
            models and ``config.input_sliced_sig`` for legacy ones.
        reduce: ``"none"``: as above; ``"graph"``: ``(nll_sum, tokens, rows)`` summed on the device inside the graph,
            in float32, for perplexity in semi-auto and auto parallel mode, where these are global; ``"auto"``: by the
            mode.

    Raises:
        ValueError: if the network has no configuration of MindFormers, or labels are missing where they are shifted.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``. Semi-auto and auto parallel mode were not run on a card.
    """
    from mindformers.core.context.build_context import is_legacy_model
    from mindformers.models import PreTrainedModel

    config = getattr(network, "config", None)
    if config is None or not hasattr(config, "vocab_size"):
        raise ValueError(
            f"For 'eval_network', the network must be a language model of MindFormers, but got {type(network).__name__}"
        )
    if reduce not in ("auto", "none", "graph"):
        raise ValueError(f"For 'eval_network', reduce must be auto, none or graph, but got {reduce!r}")
    if labels_shifted is None:
        labels_shifted = bool(config.input_sliced_sig) if is_legacy_model() else True
    in_graph = ms.get_auto_parallel_context("parallel_mode") in _GRAPH_PARALLEL

    class EvalNetwork(PreTrainedModel):
        def __init__(self, config: Any, network: Any, shifted: bool, summed: bool) -> None:
            super().__init__(config, auto_prefix=False)
            self.network = network
            self.shifted = shifted
            self.summed = summed
            self.pad = -1 if config.pad_token_id is None else int(config.pad_token_id)
            ignored = getattr(config, "ignore_token_id", None)
            self.ignored = IGNORE if ignored is None else int(ignored)

        def construct(
            self,
            input_ids: Any,
            labels: Any = None,
            loss_mask: Any = None,
            position_ids: Any = None,
            attention_mask: Any = None,
            actual_seq_len: Any = None,
        ) -> Any:
            outputs = self.network(
                input_ids=input_ids,
                labels=labels,
                loss_mask=loss_mask,
                position_ids=position_ids,
                attention_mask=attention_mask,
                actual_seq_len=actual_seq_len,
            )
            logits = outputs[0] if isinstance(outputs, tuple) else outputs
            aligned = self.aligned(input_ids, labels, loss_mask)
            if self.summed:
                return sums(logits.reshape(-1, logits.shape[-1]), aligned)
            return logits.reshape(*input_ids.shape, logits.shape[-1]), aligned

        def aligned(self, input_ids: Any, labels: Any, loss_mask: Any) -> Any:
            if self.shifted and labels is None:
                raise ValueError("For 'eval_network', labels must be given where they are shifted")
            wanted = input_ids if labels is None else labels
            counted = wanted != self.ignored
            if loss_mask is None:
                counted = ops.logical_and(counted, input_ids != self.pad)
            ignore = ops.full_like(wanted, IGNORE)
            wanted = ops.select(counted, wanted, ignore)
            if not self.shifted:
                wanted = ops.concat((wanted[:, 1:], ignore[:, :1]), 1)
            if loss_mask is not None:
                wanted = ops.select(loss_mask != 0, wanted, ignore)
            return wanted

    own = copy.copy(config)
    if getattr(own, "batch_size", None) is None:
        own.batch_size = 1  # MindFormers' checks read it; mcore configurations do not have it
    return EvalNetwork(own, network, labels_shifted, reduce == "graph" or (reduce == "auto" and in_graph))


def sums(logits: ms.Tensor, labels: ms.Tensor) -> tuple[ms.Tensor, ms.Tensor, ms.Tensor]:
    """The sum of the NLL (float32), the number of tokens and of rows that count (int32), of logits ``[B * S, V]``."""
    counted = labels != IGNORE
    wanted = ops.select(counted, labels, ops.zeros_like(labels)).reshape(-1)
    nll = statistics(logits, wanted)[0]
    nll = ops.select(counted.reshape(-1), nll, ops.zeros_like(nll))
    return nll.sum(), counted.astype(ms.int32).sum(), counted.astype(ms.int32).max(axis=1).sum()


# -- evaluation with results -------------------------------------------------------------------------------------------


def periodic_eval(
    network: Any,
    dataset: Any,
    metrics: Mapping[str, Any] | Sequence[Any] | MetricCollection | MindevalMetrics,
    *,
    every_n_steps: int = 100,
    every_n_epochs: int = -1,
) -> Any:
    """MindFormers' public ``EvalCallBack``, evaluating metrics of mindeval while ``Trainer.train`` runs.

    Results are kept in ``callback.history``, a list of ``{"step", "epoch", "results"}`` with the ``result()`` of each
    metric by name, and MindFormers logs the values. Afterwards the network is in training mode if it was before.

    Args:
        network: that is trained; it is evaluated through ``eval_network`` unless it is one.
        dataset: a MindSpore data set, with the columns of ``eval_network`` in their order.
        metrics: over logits, without ``shift``; what ``MindevalMetrics`` takes, or one of these, distributed or not.
        every_n_steps, every_n_epochs: MindFormers' ``step_interval`` and ``epoch_interval``; -1: not by these.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``
    """
    from mindformers.core.callback import EvalCallBack

    metric = metrics if isinstance(metrics, MindevalMetrics) else MindevalMetrics(metrics)
    model: list[ms.Model] = []

    def evaluate() -> dict[str, float]:
        if not model:  # during training, when the parallel mode is set
            cell = network if hasattr(network, "aligned") else eval_network(network)
            model.append(ms.Model(cell, eval_network=cell, metrics={"mindeval": metric}))
        training = network.training
        try:
            scores = model[0].eval(dataset, dataset_sink_mode=False)
        finally:
            network.set_train(training)
        place = {"step": callback.context.cur_step_num, "epoch": callback.context.cur_epoch_num}
        callback.history.append({**place, "results": metric.result()})
        return {name: float(score) for name, score in scores["mindeval"].items()}

    class PeriodicEval(EvalCallBack):
        def __init__(self) -> None:
            super().__init__(evaluate, step_interval=every_n_steps, epoch_interval=every_n_epochs)
            self.history: list[dict[str, Any]] = []

        def on_train_step_end(self, run_context: Any) -> None:
            self.context = run_context.original_args()
            super().on_train_step_end(run_context)

        def on_train_epoch_end(self, run_context: Any) -> None:
            self.context = run_context.original_args()
            super().on_train_epoch_end(run_context)

    callback = PeriodicEval()  # which evaluate() knows by this name
    return callback


def generate_evaluate(
    network: Any,
    tokenizer: Any,
    dataset: Any,
    metrics: Mapping[str, Metric] | Sequence[Metric] | MetricCollection,
    **generation: Any,
) -> dict[str, dict[str, Any]]:
    """Generate for each prompt of a data set, and score the texts.

    Prompts of a batch may have different lengths. Empty generations count, with whatever the metric gives them.

    Args:
        network: with MindFormers' ``generate``.
        tokenizer: with ``pad_token_id`` and ``decode(ids, skip_special_tokens=True)``.
        dataset: with the columns ``input_ids`` ``[B, S]``, prompts padded on the right, and ``labels``: reference ids
            ``[B, T]``, padded or -100 on the right, or texts ``[B]``.
        metrics: over texts.
        generation: for ``generate``, as ``max_new_tokens=32``. ``do_sample`` is False unless given.

    Returns:
        By metric, what its ``result()`` is.

    Raises:
        ValueError: if a prompt is nothing but padding.
    """
    collection = metrics if isinstance(metrics, MetricCollection) else MetricCollection(metrics)
    collection.clear()
    pad = tokenizer.pad_token_id
    for batch in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
        prompts, labels = batch["input_ids"], batch["labels"]
        lengths = [_length(row, pad) for row in prompts]
        if (
            0 in lengths
        ):  # kept until the ranks meet, if there are several: one that stopped alone would leave them waiting
            error = "For 'generate_evaluate', a prompt must hold a token, but is nothing but padding"
            collection._scope.failed(next(iter(collection)), ValueError(error))
            continue
        outputs = network.generate(prompts, **{"do_sample": False, "return_dict_in_generate": False, **generation})
        generated = [np.asarray(row)[length:] for row, length in zip(outputs, lengths)]
        collection.update(_decoded(tokenizer, generated), _references(tokenizer, labels))
    collection.eval()
    return collection.result()


def _length(row: np.ndarray, pad: int) -> int:
    """The number of tokens before the padding at the end."""
    places = np.flatnonzero(row != pad)
    return int(places[-1]) + 1 if places.size else 0


def _references(tokenizer: Any, labels: np.ndarray) -> list[str]:
    if labels.dtype.kind in "US":
        return [str(text) for text in labels.reshape(-1)]
    return _decoded(tokenizer, [row[row != IGNORE] for row in labels])


def _decoded(tokenizer: Any, rows: Iterable[np.ndarray]) -> list[str]:
    return [tokenizer.decode(row.tolist(), skip_special_tokens=True) for row in rows]


if __name__ == "__main__":
    print(Path(__file__).parent)  # for REGISTER_PATH: the folder of mindeval_register.py
