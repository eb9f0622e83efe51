"""Metrics that take what MindFormers' networks hand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindspore.train
import numpy as np

import mindeval
from mindeval import inputs
from mindeval.collection import MetricCollection
from mindeval.metric import Metric
from mindeval.score import Score
from mindeval.tokens import TokenSums

from .labels import next_tokens
from .ranks import decided, outputs_may_be_slices


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
                contributes=decided(contributes),
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
        self.metrics.update(*batch)

    def eval(self) -> dict[str, Score]:
        """Every member's value, by name."""
        return self.metrics.eval()

    def result(self) -> dict[str, dict[str, Any]]:
        """Everything that the last ``eval()`` computed, by name, JSON-ready. Never communicates."""
        return self.metrics.result()

    def _batch(self, outputs: Sequence[Any]) -> tuple:
        """(logits, labels), or sums."""
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
            nll, tokens, samples = (inputs.to_numpy(output, "sums").item() for output in outputs)
            return (Sums(TokenSums(float(nll), int(tokens), int(samples))),)
        if outputs_may_be_slices():
            raise ValueError(
                "in semi-auto and auto parallel mode without full_batch a rank may see a slice of the logits: "
                'evaluate eval_network(network, reduce="graph")'
            )
        if len(outputs) == 2:
            return tuple(outputs)
        logits, tokens, mask = outputs
        return logits, next_tokens(tokens, mask)


class Sums(inputs.Prepared):
    """The sums of one batch that a network has taken, for perplexity alone."""

    def __init__(self, sums: TokenSums) -> None:
        self.sums = sums

    def inputs_for(self, metric: Any) -> tuple:
        if not isinstance(metric, mindeval.Perplexity):
            raise ValueError("there must be logits and labels, but got sums of the graph, which give perplexity alone")
        return (self.sums,)


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
