"""Monitor: what the callbacks that decide on evaluations share."""

from __future__ import annotations

import math
from typing import Any

from mindspore import train

from mindeval import wire
from mindeval.training.evaluation import Evaluation, evaluation_of


class Monitor(train.Callback):
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
            self._take(evaluation_of(self._step, metrics), run_context)

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
