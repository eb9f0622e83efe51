"""Window: the training losses and the speed of some steps, over all ranks."""

from __future__ import annotations

import json
import math
import time
from typing import Any, Callable

import mindspore as ms
import numpy as np

from mindeval import inputs
from mindeval.state import ExactSum


class Window:
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
        if isinstance(outputs, (ms.Tensor, np.ndarray, np.floating, float)):
            self.losses.append(outputs)

    def due(self, step: int) -> bool:
        return step - self.first >= self.size

    def close(self, step: int, exchange: Callable[[str], list[str]]) -> dict[str, Any] | None:
        """Figures of the window over all ranks, which are in step with each other; None if there was no step."""
        steps = step - self.first
        if steps == 0:
            return None
        means = [float(np.mean(inputs.to_numpy(loss, "loss"), dtype=np.float64)) for loss in self.losses]
        seconds = time.perf_counter() - self.started
        texts = exchange(json.dumps([means, seconds, self.tokens_per_step]))
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
