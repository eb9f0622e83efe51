"""Board: curves for MindSpore's summaries and TensorBoard."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mindspore as ms


class Board:
    """MindSpore summary scalars, and TensorBoard's where it is installed.

    MindSpore writes in another process, which is forked when this is opened: not in the middle of a step if it can be
    helped. After ``close()`` new files are opened: another training may follow.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._summary: ms.SummaryRecord | None = None
        self._events: Any = None
        self._times_opened = 0
        self.open()

    def write(self, values: Mapping[str, float], step: int) -> None:
        summary = self.open()
        for name, value in values.items():
            summary.add_value("scalar", name, ms.Tensor(float(value), ms.float32))
        summary.record(step)
        if self._events is not None:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary

            scalars = [Summary.Value(tag=name, simple_value=float(value)) for name, value in values.items()]
            self._events.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=scalars)))
            self._events.flush()

    def open(self) -> ms.SummaryRecord:
        if not self.folder.is_dir():  # which MindSpore's process would tell nobody
            raise FileNotFoundError(f"the folder of the summary is gone: {self.folder}")
        if self._summary is None:
            self._times_opened += 1  # MindSpore's names differ by the second alone
            prefix = f"mindeval{self._times_opened if self._times_opened > 1 else ''}"
            self._summary = ms.SummaryRecord(log_dir=str(self.folder), file_prefix=prefix)
            if importlib.util.find_spec("tensorboard") is not None:
                from tensorboard.summary.writer.event_file_writer import EventFileWriter

                self._events = EventFileWriter(str(self.folder / "tensorboard"))
        return self._summary

    def close(self) -> None:
        summary, events = self._summary, self._events
        self._summary = self._events = None
        if summary is not None:
            summary.close()
        if events is not None:
            events.close()
