"""Callbacks for ``Model.train`` and ``Model.fit``: evaluate on the way, keep a history, the best weights, and stop."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, NamedTuple

import mindspore as ms
import numpy as np
from mindspore import nn, train

from mindeval import distributed, inputs, wire
from mindeval.collection import MetricCollection
from mindeval.metric import Metric
from mindeval.state import ExactSum
from mindeval.training.history import History

logger = logging.getLogger("mindeval")


class Evaluation(NamedTuple):
    """What one evaluation gave: its step, values by name, and which of them are better when higher (None: unknown)."""

    step: int
    metrics: dict[str, Any]
    higher_is_better: dict[str, bool | None]


class EvalCallback(train.Callback):
    """Evaluates while ``Model.train`` runs and keeps a history of losses, speed and values.

    The training mode of every Cell is put back after each evaluation. All ranks must have this callback: they evaluate
    at the same steps; rank 0 writes. Training losses are averaged over the ranks; speeds are summed.

    Args:
        evaluate: a function without arguments that returns name -> value, or ``(network, dataset, metrics)``:
            ``network(*batch)`` gives what ``metrics.update`` takes, as ``EvalCell`` does; metrics are a metric, a
            ``MetricCollection`` or a dict. None records training losses alone, for ``Model.fit``, whose own
            evaluations are recorded as well.
        every_n_steps: evaluate when the number of steps passes a multiple of this.
        every_n_epochs: evaluate at the end of every n-th epoch.
        history: a path, a ``History``, or None for memory alone. An existing file is continued.
        log_every_n_steps: the window of training losses and speed.
        tokens_per_step: the tokens of a batch on this rank, for tokens per second.
        first_step: steps that were done before this run, for a run that is resumed.
        summary: a folder for MindSpore summary scalars and, where the package ``tensorboard`` is installed, its events
            (in the folder ``tensorboard`` within).
        on_error: ``"raise"``, or ``"log"``: an evaluation that fails is recorded as an error, and training goes on. All
            ranks do the same if any of them fails; a function must fail on all ranks or come back on all.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError: if it is not said when to evaluate, or a number is not positive.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> callback = EvalCallback(lambda: {"accuracy": 0.5}, every_n_steps=100, history=None)
    >>> callback.evaluate_now(step=100)["accuracy"]
    0.5
    >>> callback.history.series("accuracy")
    [(100, 0.5)]
    """

    def __init__(
        self,
        evaluate: Callable[[], Mapping[str, Any]] | tuple | None,
        *,
        every_n_steps: int | None = None,
        every_n_epochs: int | None = None,
        history: str | os.PathLike | History | None = "eval.jsonl",
        log_every_n_steps: int = 10,
        tokens_per_step: int | None = None,
        first_step: int = 0,
        summary: str | os.PathLike | None = None,
        on_error: str = "raise",
        group: str | None = None,
    ) -> None:
        super().__init__()
        if evaluate is not None and every_n_steps is None and every_n_epochs is None:
            raise ValueError("For 'EvalCallback', give every_n_steps or every_n_epochs, but got neither")
        counts = {
            "every_n_steps": every_n_steps,
            "every_n_epochs": every_n_epochs,
            "log_every_n_steps": log_every_n_steps,
            "tokens_per_step": tokens_per_step,
        }
        for name, number in counts.items():
            if number is not None and (not isinstance(number, int) or number < 1):
                raise ValueError(f"For 'EvalCallback', {name} must be an int of at least 1, but got {number!r}")
        if on_error not in ("raise", "log"):
            raise ValueError(f"For 'EvalCallback', on_error must be 'raise' or 'log', but got {on_error!r}")
        self.evaluate = _Evaluator(*evaluate) if isinstance(evaluate, tuple) else evaluate
        self.every_n_steps, self.every_n_epochs = every_n_steps, every_n_epochs
        self.first_step, self.on_error, self.group = first_step, on_error, group
        writes = distributed.this_rank(group) == 0
        self.history = history if isinstance(history, History) else History(history, write=writes)
        self.last: Evaluation | None = None
        self._window = _Window(log_every_n_steps, tokens_per_step)
        self._board = _Board(summary) if summary is not None and writes else None
        self._step = first_step
        self._training = False

    # -- hooks of MindSpore ------------------------------------------------------------------------------------------

    def on_train_begin(self, run_context: Any) -> None:
        # Nobody writes before all have read, and what counts is what rank 0 has read.
        known = int(wire.everywhere(str(len(self.history.records)), self.group)[0])
        resumed = known > 0
        self.first_step = self._step  # MindSpore counts the steps of another run from 1 again
        ranks = distributed.world_size(self.group)
        self.history.append({"kind": "start", "step": self.first_step, "resumed": resumed, "ranks": ranks})
        self._window.start(self.first_step)
        self._training = True

    def on_train_step_end(self, run_context: Any) -> None:
        context = run_context.original_args()
        before, self._step = self._step, self.first_step + int(context.cur_step_num)
        self._window.add(context.net_outputs, self._step)
        if self._window.due(self._step):
            self._log(context)
        if self.evaluate is not None and _passes(before, self._step, self.every_n_steps):
            self._log(context)
            self._evaluate(context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        context = run_context.original_args()
        done_at_this_step = self.last is not None and self.last.step == self._step
        due = self.every_n_epochs is not None and int(context.cur_epoch_num) % self.every_n_epochs == 0
        if self.evaluate is not None and due and not done_at_this_step:
            self._log(context)
            self._evaluate(context)

    def on_eval_begin(self, run_context: Any) -> None:
        """``Model.fit`` evaluates in the middle of a window: its time is not one of training."""
        self._window.pause()

    def on_eval_end(self, run_context: Any) -> None:
        """The evaluations of ``Model.fit``."""
        context = run_context.original_args()
        metrics = context.get("metrics")
        if self.evaluate is None and metrics and self._training:
            self._record(_evaluation(self._step, metrics), context)
        self._window.go_on()

    def on_train_end(self, run_context: Any) -> None:
        self._log(run_context.original_args())
        self._training = False
        if self._board is not None:
            self._board.close()

    # -- evaluations ---------------------------------------------------------------------------------------------------

    def evaluate_now(self, step: int = 0) -> dict[str, Any] | None:
        """Evaluate and record outside of training; the values, or None if it failed with ``on_error="log"``."""
        if self.evaluate is None:
            raise ValueError("For 'EvalCallback', there is nothing to evaluate: evaluate is None")
        self._step = step
        self._evaluate(None)
        return None if self.last is None or self.last.step != step else self.last.metrics

    def _evaluate(self, context: Any) -> None:
        assert self.evaluate is not None
        networks = [] if context is None else [context.get("train_network"), context.get("network")]
        started, values, failure = time.perf_counter(), {}, None
        with training_mode_kept(*networks, getattr(self.evaluate, "network", None)):
            try:
                values = dict(self.evaluate())
            except Exception as error:
                failure = error
        errors = self._errors_everywhere(failure)
        self._window.start(self._step)
        if not errors:
            higher = getattr(self.evaluate, "higher_is_better", {})
            evaluation = _evaluation(self._step, values, higher)
            if context is not None:  # for BestCheckpoint and EarlyStopping
                context.mindeval_evaluation = evaluation
                context.mindeval_evaluated_at = int(context.cur_step_num)
            self._record(evaluation, context, time.perf_counter() - started)
            return
        if self.on_error == "raise":
            raise failure or RuntimeError(f"the evaluation at step {self._step} failed on other ranks: {errors}")
        logger.error("the evaluation at step %d failed; training goes on: %s", self._step, errors, exc_info=failure)
        self.history.append({"kind": "error", "step": self._step, "epoch": _epoch(context), "error": errors})

    def _errors_everywhere(self, failure: Exception | None) -> str:
        """What failed on any rank, the same text on all; empty if nothing did."""
        own = "" if failure is None else "".join(traceback.format_exception_only(type(failure), failure)).strip()
        if isinstance(failure, wire.DistributedError):
            return own  # the ranks cannot communicate any more, and each of them knows
        texts = wire.everywhere(own, self.group)
        return "; ".join(dict.fromkeys(text for text in texts if text))

    def _record(self, evaluation: Evaluation, context: Any, seconds: float | None = None) -> None:
        self.last = evaluation
        values = {name: value for name, value in evaluation.metrics.items() if isinstance(value, (int, float))}
        record: dict[str, Any] = {"kind": "eval", "step": evaluation.step, "epoch": _epoch(context), "metrics": values}
        if seconds is not None:
            record["seconds"] = self._from_rank_0(round(seconds, 6))
        self.history.append({**record, "higher_is_better": evaluation.higher_is_better})
        if self._board is not None:
            self._board.write({f"eval/{name}": value for name, value in values.items()}, evaluation.step)

    def _log(self, context: Any) -> None:
        figures = self._window.close(self._step, self.group)
        if figures is None:
            return
        self.history.append({"kind": "train", "step": self._step, "epoch": _epoch(context), **figures})
        if self._board is not None:
            names = ("loss", "tokens_per_second", "steps_per_second")
            self._board.write({f"train/{name}": figures[name] for name in names if name in figures}, self._step)

    def _from_rank_0(self, value: float) -> float:
        return float(wire.everywhere(repr(value), self.group)[0])


def _epoch(context: Any) -> int | None:
    number = None if context is None else context.get("cur_epoch_num")
    return None if number is None else int(number)


def _passes(before: int, step: int, every: int | None) -> bool:
    """Whether a multiple of ``every`` lies in (before, step]: in sink mode many steps pass at once."""
    return every is not None and step // every > before // every


def _evaluation(step: int, values: Mapping[str, Any], higher: Mapping[str, bool | None] | None = None) -> Evaluation:
    metrics = {name: _number(value) for name, value in values.items()}
    directions = {n: (higher or {}).get(n, getattr(value, "higher_is_better", None)) for n, value in metrics.items()}
    return Evaluation(step, metrics, directions)


def _number(value: Any) -> Any:
    """A Score as it is; what is one number as a float."""
    if isinstance(value, float):
        return value
    if isinstance(value, (ms.Tensor, np.ndarray, np.generic)) and np.size(inputs.to_numpy(value, "a value")) == 1:
        return float(inputs.to_numpy(value, "a value").reshape(()))
    return value


class _Evaluator:
    """The loop over a data set. A rank that fails still takes part in the metrics' communication: the others hear."""

    def __init__(self, network: nn.Cell, dataset: Any, metrics: Any) -> None:
        if not isinstance(network, nn.Cell):
            raise TypeError(f"For 'EvalCallback', the network must be a Cell, but got {type(network).__name__}")
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


class _Window:
    """Training losses since the last record. Tensors are fetched when the window ends: one wait for many steps."""

    def __init__(self, size: int, tokens_per_step: int | None) -> None:
        self.size, self.tokens_per_step = size, tokens_per_step
        self.start(0)

    def start(self, step: int) -> None:
        self.first, self.started = step, time.perf_counter()
        self.paused: float | None = None
        self.losses: list[Any] = []

    def pause(self) -> None:
        self.paused = time.perf_counter()

    def go_on(self) -> None:
        if self.paused is not None:
            self.started += time.perf_counter() - self.paused
        self.paused = None

    def add(self, outputs: Any, step: int) -> None:
        while isinstance(outputs, (tuple, list)) and outputs:
            outputs = outputs[0]
        if isinstance(outputs, (ms.Tensor, np.ndarray, float)):
            self.losses.append(outputs)

    def due(self, step: int) -> bool:
        return step - self.first >= self.size

    def close(self, step: int, group: str | None) -> dict[str, Any] | None:
        """Figures of the window over all ranks, which are in step with each other; None if there was no step."""
        steps = step - self.first
        if steps == 0:
            return None
        means = [float(np.mean(inputs.to_numpy(loss, "loss"), dtype=np.float64)) for loss in self.losses]
        seconds = time.perf_counter() - self.started
        texts = wire.everywhere(json.dumps([means, seconds, self.tokens_per_step]), group)
        ranks = [json.loads(text) for text in texts]
        losses = [loss for rank in ranks for loss in rank[0]]
        seconds = max(rank[1] for rank in ranks)
        total = ExactSum()
        total.add(losses)
        figures: dict[str, Any] = {"steps": steps}
        if losses:
            figures.update(loss=total.over(len(losses)), loss_max=_largest(losses))
        figures.update(seconds=round(seconds, 6), steps_per_second=steps / seconds if seconds else math.inf)
        if all(rank[2] is not None for rank in ranks):
            figures["tokens_per_second"] = steps * sum(rank[2] for rank in ranks) / seconds if seconds else math.inf
        self.start(step)
        return figures


def _largest(values: list[float]) -> float:
    return math.nan if any(math.isnan(value) for value in values) else max(values)


class _Board:
    """MindSpore summary scalars, and TensorBoard's where it is installed."""

    def __init__(self, folder: str | os.PathLike) -> None:
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.summary = ms.SummaryRecord(log_dir=str(folder), file_prefix="mindeval")
        self.events = None
        if importlib.util.find_spec("tensorboard") is not None:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter

            self.events = EventFileWriter(str(Path(folder) / "tensorboard"))

    def write(self, values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            self.summary.add_value("scalar", name, ms.Tensor(float(value), ms.float32))
        self.summary.record(step)
        if self.events is not None:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary

            scalars = [Summary.Value(tag=name, simple_value=float(value)) for name, value in values.items()]
            self.events.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=scalars)))
            self.events.flush()

    def close(self) -> None:
        self.summary.close()
        if self.events is not None:
            self.events.close()


# -- decisions on evaluations ----------------------------------------------------------------------------------------


class _Monitor(train.Callback):
    """What BestCheckpoint and EarlyStopping share: each new value once, the same on every rank, and its direction."""

    def __init__(self, monitor: str, mode: str | None, min_delta: float, group: str | None) -> None:
        super().__init__()
        if mode not in (None, "min", "max"):
            raise ValueError(f"For '{type(self).__name__}', mode must be 'min', 'max' or None, but got {mode!r}")
        if not min_delta >= 0:
            raise ValueError(f"For '{type(self).__name__}', min_delta must be >= 0, but got {min_delta}")
        self.monitor, self.mode, self.min_delta, self.group = monitor, mode, min_delta, group
        self.best: float | None = None
        self.best_step: int | None = None
        self._seen: Any = None
        self._step = 0

    def on_train_step_end(self, run_context: Any) -> None:
        self._step = int(run_context.original_args().cur_step_num)
        self._look(run_context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Here ``Model.fit`` shows its values. Its ``on_eval_end`` leaves callbacks out that are named as its own."""
        self._look(run_context)
        metrics = run_context.original_args().get("metrics")
        if metrics:
            self._take(_evaluation(self._step, metrics), run_context)

    def _look(self, run_context: Any) -> None:
        evaluation = run_context.original_args().get("mindeval_evaluation")
        if evaluation is not None and evaluation is not self._seen:
            self._seen = evaluation
            self._take(evaluation, run_context)

    def _take(self, evaluation: Evaluation, run_context: Any) -> None:
        if self.monitor not in evaluation.metrics:
            raise ValueError(
                f"For '{type(self).__name__}', monitor must be one of {list(evaluation.metrics)}, "
                f"but got {self.monitor!r}"
            )
        value = evaluation.metrics[self.monitor]
        if not isinstance(value, (int, float)):
            raise TypeError(f"For '{type(self).__name__}', '{self.monitor}' must be a number, but got {value!r}")
        value = float(value)
        everywhere = wire.everywhere(repr(value), self.group)
        if len(set(everywhere)) > 1:
            raise ValueError(
                f"For '{type(self).__name__}', '{self.monitor}' must be the same on all ranks, but got {everywhere}: "
                "call set_distributed(True) of the metrics"
            )
        self._decide(value, evaluation.step, self._is_better(value, evaluation), run_context)

    def _is_better(self, value: float, evaluation: Evaluation) -> bool:
        mode = self.mode
        if mode is None:
            higher = evaluation.higher_is_better.get(self.monitor)
            if higher is None:
                raise ValueError(
                    f"For '{type(self).__name__}', give mode='min' or 'max': '{self.monitor}' does not say whether "
                    "higher is better"
                )
            mode = "max" if higher else "min"
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        return value > self.best + self.min_delta if mode == "max" else value < self.best - self.min_delta

    def _decide(self, value: float, step: int, better: bool, run_context: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define _decide()")


class BestCheckpoint(_Monitor):
    """Saves the weights whenever an evaluation is the best so far.

    It reads the values of an ``EvalCallback`` before it in the list of callbacks, or those of ``Model.fit``. Ranks
    compare what they see, so that all decide alike or raise. The file is replaced as a whole: a process that dies
    while it writes leaves the one before. ``<name>.json`` beside it holds step and value, and a resumed run goes on
    from there.

    Args:
        monitor: the name of the value.
        mode: ``"min"``, ``"max"``, or None: as the metric says.
        path: the checkpoint file.
        min_delta: by how much a value must be better to count.
        every_rank: save on every rank, as ``<name>_rank<r>.ckpt``, where ranks hold different parameters; by default
            rank 0 saves.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError: if the metric's direction is not known and no mode is given, the monitored name is unknown, ranks
            see different values, or the evaluation is of an earlier step.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``
    """

    def __init__(
        self,
        monitor: str,
        mode: str | None = None,
        *,
        path: str | os.PathLike = "best.ckpt",
        min_delta: float = 0.0,
        every_rank: bool = False,
        group: str | None = None,
    ) -> None:
        super().__init__(monitor, mode, min_delta, group)
        self.path, self.every_rank = Path(path), every_rank

    @property
    def file(self) -> Path:
        """This rank's checkpoint file."""
        if not self.every_rank:
            return self.path
        return self.path.with_name(f"{self.path.stem}_rank{distributed.this_rank(self.group)}{self.path.suffix}")

    def on_train_begin(self, run_context: Any) -> None:
        note = self.path.with_suffix(".json")
        kept = note.exists() and self.file.exists()  # a note without its weights says nothing
        own = note.read_text() if distributed.this_rank(self.group) == 0 and kept else ""
        text = wire.everywhere(own, self.group)[0]
        if text:
            saved = json.loads(text)
            if saved["monitor"] == self.monitor:
                self.best, self.best_step = float(saved["value"]), saved["step"]

    def _decide(self, value: float, step: int, better: bool, run_context: Any) -> None:
        if not better:
            return
        context = run_context.original_args()
        self.best, self.best_step = value, step
        first = distributed.this_rank(self.group) == 0
        if first or self.every_rank:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = self.file.with_name(f".{self.file.stem}.unfinished.ckpt")
            network = context.get("network") or context.train_network
            ms.save_checkpoint(network, str(unfinished))
            os.replace(unfinished, self.file)
        if first:
            note = self.path.with_suffix(".json")
            unfinished = note.with_name(f".{note.name}.unfinished")
            unfinished.write_text(json.dumps({"monitor": self.monitor, "value": repr(value), "step": step}))
            os.replace(unfinished, note)

    def _look(self, run_context: Any) -> None:
        context = run_context.original_args()
        evaluation = context.get("mindeval_evaluation")
        fresh = evaluation is not None and evaluation is not self._seen
        if fresh and context.get("mindeval_evaluated_at") not in (None, self._step):
            raise ValueError("For 'BestCheckpoint', put it behind EvalCallback in the list of callbacks")
        super()._look(run_context)


class EarlyStopping(_Monitor):
    """Ends the training when a value has not become better for some evaluations.

    As ``mindspore.train.EarlyStopping``, but 0.0 is a value, the direction is the metric's own, evaluations need not be
    at the ends of epochs, and all ranks stop at the same step. NaN is never better.

    Args:
        monitor: the name of the value, of an ``EvalCallback`` or of ``Model.fit``.
        mode: ``"min"``, ``"max"``, or None: as the metric says.
        patience: the number of evaluations without improvement that end the training.
        min_delta: by how much a value must be better to count.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError: see ``BestCheckpoint``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``
    """

    def __init__(
        self,
        monitor: str,
        mode: str | None = None,
        *,
        patience: int = 3,
        min_delta: float = 0.0,
        group: str | None = None,
    ) -> None:
        super().__init__(monitor, mode, min_delta, group)
        if not isinstance(patience, int) or patience < 1:
            raise ValueError(f"For 'EarlyStopping', patience must be an int of at least 1, but got {patience!r}")
        self.patience, self.waited = patience, 0
        self.stopped_step: int | None = None

    def _decide(self, value: float, step: int, better: bool, run_context: Any) -> None:
        if better:
            self.best, self.best_step, self.waited = value, step, 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.stopped_step = step
            run_context.request_stop()
