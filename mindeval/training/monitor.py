"""Monitor: what the callbacks that decide on evaluations share."""

from __future__ import annotations

import math
from typing import Any

from mindspore import train

from mindeval import wire
from mindeval.training import arguments
from mindeval.training.evaluation import Evaluation, evaluation_of
from mindeval.training.numbers import as_float


class Monitor(train.Callback):
    """What BestCheckpoint and EarlyStopping share: each new value once, the same on every rank, and its direction."""

    def __init__(self, monitor: str, mode: str | None, min_delta: float, group: str | None) -> None:
        super().__init__()
        self._kind = kind = f"For '{type(self).__name__}',"
        self.monitor = arguments.name(monitor, f"{kind} monitor")
        if mode is not None and (not isinstance(mode, str) or mode not in ("min", "max")):
            raise ValueError(f"{kind} mode must be 'min', 'max' or None, but got {mode!r}")
        self.mode = mode
        self.min_delta = arguments.not_negative(min_delta, f"{kind} min_delta")
        self.group = None if group is None else arguments.name(group, f"{kind} group")
        self.best: float | None = None
        self.best_step: int | None = None
        self._seen: Any = None
        self._step = 0

    def on_train_begin(self, run_context: Any) -> None:
        """Another training begins without a best value."""
        self.best = self.best_step = None

    def on_train_step_end(self, run_context: Any) -> None:
        self._step = int(run_context.original_args().cur_step_num)
        self._look(run_context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Here ``Model.fit`` shows its values. Its ``on_eval_end`` leaves callbacks out that are named as its own."""
        self._look(run_context)
        metrics = run_context.original_args().get("metrics")
        if metrics:
            self._take(evaluation_of(self._step, metrics), run_context)

    def _look(self, run_context: Any) -> None:
        evaluation = run_context.original_args().get("mindeval_evaluation")
        if evaluation is not None and evaluation is not self._seen:
            self._seen = evaluation
            self._take(evaluation, run_context)

    def _take(self, evaluation: Evaluation, run_context: Any) -> None:
        if self.monitor not in evaluation.metrics:
            raise ValueError(
                f"{self._kind} monitor must be one of {list(evaluation.metrics)}, but got {self.monitor!r}"
            )
        value = as_float(evaluation.metrics[self.monitor])
        if value is None:
            given = evaluation.metrics[self.monitor]
            raise TypeError(f"{self._kind} '{self.monitor}' must be a number, but got {given!r}")
        everywhere = wire.everywhere(repr(value), self.group)
        if len(set(everywhere)) > 1:
            raise ValueError(
                f"{self._kind} '{self.monitor}' must be the same on all ranks, but got {everywhere}: "
                "call set_distributed(True) of the metrics"
            )
        self._decide(value, evaluation.step, self._direction(evaluation), run_context)

    def _direction(self, evaluation: Evaluation) -> str:
        """``"min"`` or ``"max"``."""
        if self.mode is not None:
            return self.mode
        higher = evaluation.higher_is_better.get(self.monitor)
        if higher is None:
            raise ValueError(
                f"{self._kind} give mode='min' or 'max': '{self.monitor}' does not say whether higher is better"
            )
        return "max" if higher else "min"

    def _is_better(self, value: float, mode: str) -> bool:
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        return value > self.best + self.min_delta if mode == "max" else value < self.best - self.min_delta

    def _decide(self, value: float, step: int, mode: str, run_context: Any) -> None:
        raise TypeError(f"{type(self).__name__} must define _decide()")
