"""Evaluation: what one evaluation gave. How it is made, kept and decided on is in the callbacks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any, Callable, NamedTuple

import numpy as np

from mindeval.inputs import describe
from mindeval.training.agreement import described
from mindeval.training.numbers import as_float
from mindeval.wire import DistributedError


class Evaluation(NamedTuple):
    """What one evaluation gave: its step, values by name, which of them are better when higher (None: unknown), and
    what evaluated, an ``EvalCallback`` or ``"Model.fit"``."""

    step: int
    metrics: dict[str, Any]
    higher_is_better: dict[str, bool | None]
    source: Any


def evaluation_of(
    step: int, values: Mapping[str, Any], source: Any = "Model.fit", higher: Mapping[str, bool | None] | None = None
) -> Evaluation:
    """Of values by name; ``higher`` says which are better when higher, where the values do not say it themselves."""
    metrics = {name: _number(value) for name, value in values.items()}
    directions = {n: (higher or {}).get(n, getattr(value, "higher_is_better", None)) for n, value in metrics.items()}
    return Evaluation(step, metrics, directions, source)


def checked(values: Any) -> dict[str, Any]:
    """Values by name as a history keeps them: numbers, flags, or None where there is none.

    Raises:
        TypeError: for something else, which no curve could show.
        ValueError: for a whole number that no float can hold.
    """
    if not isinstance(values, Mapping):
        raise TypeError(
            f"For 'EvalCallback', an evaluation must give a dict of name -> number, but got {type(values).__name__}"
        )
    for name, value in values.items():
        if not isinstance(name, str):
            raise TypeError(f"For 'EvalCallback', names of evaluated values must be str, but got {name!r}")
        if value is None or isinstance(value, (bool, np.bool_)):
            continue
        number = as_float(value)
        if number is None:
            raise TypeError(
                f"For 'EvalCallback', evaluated values must be numbers, but got {describe(value)} as {name!r}"
            )
        if isinstance(value, Integral) and math.isinf(number):
            raise ValueError(f"For 'EvalCallback', {name!r} is a whole number that no float can hold")
    return dict(values)


class Outcome(NamedTuple):
    """What came of an evaluation, the same on all ranks: what failed on any of them (nothing if nothing did), how long
    it took on rank 0, and the names of values that differ between the ranks."""

    errors: str
    seconds: float
    differing: list[str]


def outcome_of(
    failure: Exception | None, seconds: float, values: Mapping[str, Any], exchange: Callable[[str], list[str]]
) -> Outcome:
    own = described(failure)
    if isinstance(failure, DistributedError):
        return Outcome(own, seconds, [])  # the ranks cannot communicate any more, and each of them knows
    words = {name: repr(value if as_float(value) is None else as_float(value)) for name, value in values.items()}
    ranks = [json.loads(text) for text in exchange(json.dumps([own, round(seconds, 6), words]))]
    names = dict.fromkeys(name for _, _, found in ranks for name in found)
    differing = [name for name in names if len({found.get(name) for _, _, found in ranks}) > 1]
    return Outcome("; ".join(dict.fromkeys(error for error, _, _ in ranks if error)), ranks[0][1], differing)


def _number(value: Any) -> Any:
    """A Score or a number of Python as it is; what is one number as a float."""
    number = None if isinstance(value, (int, float)) else as_float(value)
    return value if number is None else number


def publish(evaluation: Evaluation, context: Any) -> None:
    """For BestCheckpoint and EarlyStopping: beside those of other callbacks at the same step of MindSpore's count."""
    at, before = published(context)
    now = int(context.cur_step_num)
    context.mindeval_evaluations = (now, [*(before if at == now else []), evaluation])


def published(context: Any) -> tuple[int, list[Evaluation]]:
    """The step of MindSpore's count at which callbacks evaluated last, and what they found; -1 if they have not."""
    return context.get("mindeval_evaluations") or (-1, [])
