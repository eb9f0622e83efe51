"""EarlyStopping: end a training that no longer gets better."""

from __future__ import annotations

from typing import Any

from mindeval.training import arguments
from mindeval.training.monitor import Monitor


class EarlyStopping(Monitor):
    """Ends the training when a value has not become better for some evaluations.

    As ``mindspore.train.EarlyStopping``, but 0.0 is a value, the direction is the metric's own, evaluations need not be
    at the ends of epochs, and all ranks stop at the same step. NaN is never better. Another training begins anew.

    Args:
        monitor: the name of the value, of an ``EvalCallback`` or of ``Model.fit``.
        mode: ``"min"``, ``"max"``, or None: as the metric says.
        patience: the number of evaluations without improvement that end the training.
        min_delta: by how much a value must be better to count.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError, TypeError: see ``BestCheckpoint``; where it stands before EvalCallback, it sees values a step late
            and warns.

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
        self.patience = arguments.whole(patience, 1, f"{self._kind} patience")
        self.waited = 0
        self.stopped_step: int | None = None

    def on_train_begin(self, run_context: Any) -> None:
        super().on_train_begin(run_context)
        self.waited, self.stopped_step = 0, None

    def _decide(self, value: float, step: int, mode: str, run_context: Any) -> None:
        if self._is_better(value, mode):
            self.best, self.best_step, self.waited = value, step, 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.stopped_step = step
            run_context.request_stop()
