"""Board: curves for MindSpore's summaries and TensorBoard."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Mapping
from pathlib import Path

import mindspore as ms


class Board:
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
