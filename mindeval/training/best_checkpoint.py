"""BestCheckpoint: the weights of the best evaluation so far."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import mindspore as ms

from mindeval import distributed, wire
from mindeval.training.monitor import Monitor


class BestCheckpoint(Monitor):
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
