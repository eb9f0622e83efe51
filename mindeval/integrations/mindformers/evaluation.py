"""Evaluations that return what they found: during training, and of generated texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np

from mindeval import inputs
from mindeval.collection import MetricCollection
from mindeval.metric import Metric

from .labels import IGNORE
from .metrics import MindevalMetrics
from .networks import eval_network


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

    Raises:
        TypeError, ValueError: if these are no whole numbers from 1 on or -1, or both are -1.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``
    """
    from mindformers.core.callback import EvalCallBack

    intervals = {"every_n_steps": every_n_steps, "every_n_epochs": every_n_epochs}
    for name, interval in intervals.items():
        if inputs.whole_number(interval, f"For 'periodic_eval', {name}") < 1 and interval != -1:
            raise ValueError(f"For 'periodic_eval', {name} must be at least 1, or -1 for never, but got {interval}")
    if set(intervals.values()) == {-1}:
        raise ValueError("For 'periodic_eval', give every_n_steps or every_n_epochs, but both are -1")
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
        DistributedError: where metrics are distributed: on all ranks, if the data set, the network or a metric failed
            on any of them.
    """
    collection = metrics if isinstance(metrics, MetricCollection) else MetricCollection(metrics)
    collection.clear()
    settings = {"do_sample": False, "return_dict_in_generate": False, **generation}
    try:
        for batch in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            prompts, labels = batch["input_ids"], batch["labels"]
            lengths = [_length(row, tokenizer.pad_token_id) for row in prompts]
            if 0 in lengths:
                raise ValueError("For 'generate_evaluate', a prompt must hold a token, but is nothing but padding")
            outputs = network.generate(prompts, **settings)
            generated = [np.asarray(row)[length:] for row, length in zip(outputs, lengths)]
            collection.update(_decoded(tokenizer, generated), _references(tokenizer, labels))
    except Exception as error:  # the other ranks, if there are any, hear of it where the metrics are reduced
        collection._scope.failed(next(iter(collection)), error)
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
