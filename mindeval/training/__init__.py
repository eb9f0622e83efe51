"""Where people train: evaluation networks, callbacks and the diagnosis of histories."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "EvalCell": "eval_cell",
    "BestCheckpoint": "best_checkpoint",
    "EarlyStopping": "early_stopping",
    "EvalCallback": "eval_callback",
    "History": "history",
    "Diagnosis": "findings",
    "Finding": "findings",
    "diagnose": "diagnosis",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
