"""What an EvalCallback evaluates: a function, or the loop over a data set; and the training mode it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Callable

from mindspore import nn

from mindeval.collection import MetricCollection
from mindeval.metric import Metric


def evaluation_function(given: Any) -> Callable[[], Mapping[str, Any]] | None:
    """What an EvalCallback calls, from its first argument."""
    if isinstance(given, (tuple, list)):
        if len(given) != 3:
            raise ValueError(f"For 'EvalCallback', give (network, dataset, metrics), but got {len(given)} of them")
        return DataSetEvaluation(*given)
    if given is not None and (not callable(given) or isinstance(given, nn.Cell)):
        raise TypeError(
            "For 'EvalCallback', evaluate must be a function, (network, dataset, metrics) or None, but got "
            f"{type(given).__name__}"
        )
    return given


class DataSetEvaluation:
    """The loop over a data set. A rank that fails still takes part in the metrics' communication: the others hear."""

    def __init__(self, network: nn.Cell, dataset: Any, metrics: Any) -> None:
        if not isinstance(network, nn.Cell):
            raise TypeError(f"For 'EvalCallback', the network must be a Cell, but got {type(network).__name__}")
        if not callable(getattr(dataset, "create_tuple_iterator", None)):
            raise TypeError(
                f"For 'EvalCallback', the dataset must be one of MindSpore, but got {type(dataset).__name__}"
            )
        self.network, self.dataset = network, dataset
        if isinstance(metrics, Metric):
            metrics = {metrics.name: metrics}
        self.metrics = metrics if isinstance(metrics, MetricCollection) else MetricCollection(metrics)
        self.higher_is_better = {name: self.metrics[name].higher_is_better for name in self.metrics}

    def __call__(self) -> dict[str, Any]:
        self.metrics.clear()
        self.network.set_train(False)
        try:
            for batch in self.dataset.create_tuple_iterator(num_epochs=1):
                outputs = self.network(*batch)
                self.metrics.update(*(outputs if isinstance(outputs, tuple) else (outputs,)))
        except Exception as error:
            scope = self.metrics._scope
            scope.failed(next(iter(scope.members)), error)  # raises it here where there is one rank
        return self.metrics.eval()


@contextmanager
def training_mode_kept(*networks: nn.Cell | None) -> Iterator[None]:
    """Put the training flag and the phase of every Cell back, each as it was: some may be frozen on purpose."""
    cells = {}
    for network in networks:
        if isinstance(network, nn.Cell):
            cells.update({id(cell): cell for _, cell in network.cells_and_names()})
    saved = [(cell, cell.training, cell.phase) for cell in cells.values()]
    try:
        yield
    finally:
        for cell, training, phase in saved:
            cell.add_flags(training=training)
            cell.phase = phase
