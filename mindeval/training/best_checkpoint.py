"""BestCheckpoint: the weights of the best evaluation so far."""

from __future__ import annotations

import glob
import json
import logging
import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import mindspore as ms

from mindeval import distributed
from mindeval.training import arguments
from mindeval.training.monitor import Monitor

logger = logging.getLogger("mindeval")


class BestCheckpoint(Monitor):
    """Saves the weights whenever an evaluation is the best so far.

    It reads the values of an ``EvalCallback`` before it in the list of callbacks, or those of ``Model.fit``. Where
    several evaluations have the monitored name, the one seen first is followed, with a warning. Ranks compare what they
    see, so that all decide alike or raise. The file is replaced as a whole: a process that dies while it writes leaves
    the one before. A note beside it, ``<name>.json`` for ``<name>.ckpt``, holds monitor, mode, value and step, and a
    resumed run goes on from there, with a warning unless ``EvalCallback`` knows by its ``first_step`` that it is
    resumed. A note of another monitor or mode is not taken over: a warning names both, and the first evaluation
    replaces it.

    Args:
        monitor: the name of the value.
        mode: ``"min"``, ``"max"``, or None: as the metric says.
        path: the checkpoint file; ``.ckpt`` is put behind names that do not end so, as MindSpore does.
        min_delta: by how much a value must be better to count.
        every_rank: save on every rank, as ``<name>_rank<r>.ckpt``, where ranks hold different parameters; by default
            rank 0 saves.
        on_error: ``"raise"``, or ``"log"``: where weights cannot be saved on one rank (its disk is full), all ranks
            keep the files before, and training goes on; the next evaluation that is better than those is saved.
        group: the communication group of the ranks that train together; by default all.

    Raises:
        ValueError: if the metric's direction is not known and no mode is given, ranks see different values, or the
            evaluation is of an earlier step; also at the end of the training, where the last was not seen because this
            stands before EvalCallback. An evaluation without the monitored name is left out, with a warning; if none
            had it, that is logged as an error at the end of the training, and no evaluation at all as a warning.
        TypeError: for an argument of another type, or a monitored value that is no number.
        OSError: if a rank cannot read the note or, unless ``on_error="log"``, save the weights; the other ranks raise
            a RuntimeError with the reason.

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
        on_error: str = "raise",
        group: str | None = None,
    ) -> None:
        super().__init__(monitor, mode, min_delta, group, on_error)
        self.every_rank = arguments.flag(every_rank, f"{self._kind} every_rank")
        self.path = Path(arguments.file_path(path, f"{self._kind} path"))
        if not self.path.name or os.fspath(path).endswith(("/", os.sep)):
            raise ValueError(f"{self._kind} path must be that of a file, but got {path!r}")
        self._given = self.path
        if self.path.suffix != ".ckpt":  # "v1.0" and "v1.1" are two names
            self.path = self.path.with_name(f"{self.path.name}.ckpt")
        self._mode_of_best: str | None = None

    @property
    def file(self) -> Path:
        """This rank's checkpoint file."""
        if not self.every_rank:
            return self.path
        return self.path.with_name(f"{self.path.stem}_rank{distributed.this_rank(self.group)}.ckpt")

    @property
    def _note(self) -> Path:
        return self.path.with_suffix(".json")

    @property
    def _unfinished(self) -> Path:
        """What becomes ``file``; the note's, and what MindSpore writes first, differ from it in the suffix."""
        return self.file.with_name(f".{self.file.stem}.unfinished.ckpt")

    def on_train_begin(self, run_context: Any) -> None:
        super().on_train_begin(run_context)
        own = ""
        with self._agreement.attempt(f"looking for {self.path}", on_error="raise"):
            if self._given.is_dir():
                raise IsADirectoryError(f"{self._kind} path must be that of a file, but got the folder {self._given}")
        with self._agreement.attempt(f"reading the note {self._note}", on_error="raise"):
            if distributed.this_rank(self.group) == 0 and self._note.exists() and self.file.exists():
                own = self._note.read_bytes().decode(errors="replace")  # without its weights it says nothing
        text = self._agreement.exchange(own)[0]
        if not text:
            return
        try:
            saved = json.loads(text)
            monitor, mode, value, step = saved["monitor"], saved["mode"], float(saved["value"]), int(saved["step"])
            if math.isnan(value):
                raise ValueError("NaN is never the best")
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            logger.warning("%s %s is not a note of this callback, and its value is not used", self._kind, self._note)
            return
        if monitor == self.monitor and self.mode in (None, mode):
            self.best, self.best_step, self._mode_of_best = value, step, mode
            if not run_context.original_args().get("mindeval_first_step"):  # which a run that is resumed gives
                logger.warning(
                    "%s the best '%s' so far is taken from %s: %r of step %d; a run that is not resumed should have "
                    "another path, or remove the files",
                    self._kind,
                    monitor,
                    self._note,
                    value,
                    step,
                )
        else:
            self._warn_of_another(monitor, mode, self.mode)

    def _warn_of_another(self, monitor: str, mode: str, wanted: str | None) -> None:
        logger.warning(
            "%s %s is of the best '%s' (mode %s), not of '%s' (mode %s): its value is not used, and the first "
            "evaluation replaces it and the weights beside it",
            self._kind,
            self._note,
            monitor,
            mode,
            self.monitor,
            wanted or "as the metric says",
        )

    def _decide(self, value: float, step: int, mode: str, run_context: Any) -> None:
        if self.best is not None and self._mode_of_best != mode:  # only now the metric says its direction
            self._warn_of_another(self.monitor, str(self._mode_of_best), mode)
            self.best = self.best_step = None
        if not self._is_better(value, mode):
            return
        note = {"monitor": self.monitor, "mode": mode, "value": repr(value), "step": step}
        what = f"saving the best weights of step {step}"
        try:
            with self._agreement.attempt(what):
                self._write(run_context.original_args(), json.dumps(note))
            if not self._agreement.succeeded():
                return  # the files before are all there: those of several ranks are of one evaluation
            with self._agreement.attempt(what):
                self._replace()
            if self._agreement.succeeded():
                self.best, self.best_step, self._mode_of_best = value, step, mode
        finally:
            if self._saves:
                self._remove_unfinished()

    @property
    def _saves(self) -> bool:
        return self.every_rank or distributed.this_rank(self.group) == 0

    def _remove_unfinished(self) -> None:
        """So that a full disk gets its space back."""
        for part in self._unfinished.parent.glob(f"{glob.escape(self._unfinished.stem)}.*"):
            with suppress(OSError):
                part.unlink()

    def _write(self, context: Any, note: str) -> None:
        if self._saves:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ms.save_checkpoint(context.get("network") or context.train_network, str(self._unfinished))
        if distributed.this_rank(self.group) == 0:
            self._unfinished.with_suffix(".json").write_text(note)

    def _replace(self) -> None:
        if self._saves:
            os.replace(self._unfinished, self.file)
        if distributed.this_rank(self.group) == 0:
            os.replace(self._unfinished.with_suffix(".json"), self._note)

    def _misplaced(self) -> None:
        """The weights of now are not those that were evaluated."""
        raise ValueError("For 'BestCheckpoint', put it behind EvalCallback in the list of callbacks")
