"""Monitor: what the callbacks that decide on evaluations share."""

from __future__ import annotations

import logging
import math
from typing import Any

from mindspore import train

from mindeval.training import arguments
from mindeval.training.agreement import Agreement
from mindeval.training.evaluation import Evaluation, evaluation_of, published
from mindeval.training.numbers import as_float

logger = logging.getLogger("mindeval")


class Monitor(train.Callback):
    """What BestCheckpoint and EarlyStopping share: each new value once, the same on every rank, and its direction."""

    def __init__(
        self, monitor: str, mode: str | None, min_delta: float, group: str | None, on_error: str = "raise"
    ) -> None:
        super().__init__()
        self._kind = kind = f"For '{type(self).__name__}',"
        self.monitor = arguments.name(monitor, f"{kind} monitor")
        if mode is not None and (not isinstance(mode, str) or mode not in ("min", "max")):
            raise ValueError(f"{kind} mode must be 'min', 'max' or None, but got {mode!r}")
        self.mode = mode
        self.min_delta = arguments.not_negative(min_delta, f"{kind} min_delta")
        self.group = None if group is None else arguments.name(group, f"{kind} group")
        self._agreement = Agreement(self.group, arguments.on_error(on_error, f"{kind} on_error"))
        self.best: float | None = None
        self.best_step: int | None = None
        self._begin()

    def _begin(self) -> None:
        self._step = 0  # of MindSpore's count
        self._seen = (-1, 0)  # at which step of that count, and how many of its evaluations
        self._found = self._late = False
        self._others: list[str] | None = None  # the names of an evaluation without the monitored one
        self._source: Any = None  # what evaluates the monitored value
        self._sources_differ = False

    def on_train_begin(self, run_context: Any) -> None:
        """Another training begins without a best value."""
        self.best = self.best_step = None
        self._begin()

    def on_train_step_end(self, run_context: Any) -> None:
        self._step = int(run_context.original_args().cur_step_num)
        self._look(run_context)

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Here ``Model.fit`` shows its values. Its ``on_eval_end`` leaves callbacks out that are named as its own."""
        self._look(run_context)
        context = run_context.original_args()
        metrics = context.get("metrics")
        if metrics:
            done_before = context.get("mindeval_first_step") or 0  # as EvalCallback was told
            self._take(evaluation_of(done_before + self._step, metrics), run_context)

    def on_train_end(self, run_context: Any) -> None:
        """Say what the training never showed. It is done: an exception would only keep the script from saving it."""
        if self._fresh(run_context):
            self._misplaced()
        elif not self._found and self._others is not None:
            logger.error("%s monitor must be one of %s, but got '%s'", self._kind, self._others, self.monitor)
        elif not self._found:
            logger.warning("%s there was no evaluation: '%s' was never seen", self._kind, self.monitor)

    def _fresh(self, run_context: Any) -> list[Evaluation]:
        """The evaluations of callbacks that were not seen yet."""
        at, evaluations = published(run_context.original_args())
        return evaluations[self._seen[1] if at == self._seen[0] else 0 :]

    def _look(self, run_context: Any) -> None:
        fresh = self._fresh(run_context)
        if not fresh:
            return
        at, evaluations = published(run_context.original_args())
        self._seen = (at, len(evaluations))
        if at != self._step:
            self._misplaced()
        for evaluation in fresh:
            self._take(evaluation, run_context)

    def _misplaced(self) -> None:
        """An evaluation is seen a step late, or never where the training ended with it."""
        if not self._late:
            logger.warning("%s put it behind EvalCallback in the list of callbacks: it sees values late", self._kind)
        self._late = True

    def _take(self, evaluation: Evaluation, run_context: Any) -> None:
        if self._source not in (None, evaluation.source):  # so do all ranks
            self._leave_out(evaluation)
            return
        given = evaluation.metrics.get(self.monitor)
        value = as_float(given)
        known = self.monitor in evaluation.metrics
        everywhere = self._agreement.exchange(repr(value) if known else "")
        if len(set(everywhere)) > 1:
            raise ValueError(
                f"{self._kind} '{self.monitor}' must be the same on all ranks, but got {everywhere}: "
                "call set_distributed(True) of the metrics"
            )
        if not known:  # of another EvalCallback, or a value that this evaluation has not
            if self._others is None:
                names = list(evaluation.metrics)
                logger.warning("%s an evaluation without '%s' is left out: it has %s", self._kind, self.monitor, names)
            self._others = list(evaluation.metrics)
            return
        if value is None:
            raise TypeError(f"{self._kind} '{self.monitor}' must be a number, but got {given!r}")
        self._found, self._source = True, evaluation.source
        self._decide(value, evaluation.step, self._direction(evaluation), run_context)

    def _leave_out(self, evaluation: Evaluation) -> None:
        """A value of the same name that something else evaluates, on other data: the two cannot be compared."""
        if self.monitor in evaluation.metrics and not self._sources_differ:
            logger.warning(
                "%s '%s' is evaluated by %s, which is followed, and by %s, which is left out: give one another name",
                self._kind,
                self.monitor,
                _name(self._source),
                _name(evaluation.source, "another "),
            )
            self._sources_differ = True

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


def _name(source: Any, other: str = "") -> str:
    return source if isinstance(source, str) else f"{other}{type(source).__name__}"
