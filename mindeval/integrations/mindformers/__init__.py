"""mindeval in MindFormers: metrics for its YAML files and Trainer, networks that can be evaluated, results returned.

MindFormers is imported when a function needs it, never by importing this package.
"""

from __future__ import annotations

from .evaluation import generate_evaluate, periodic_eval
from .labels import next_tokens
from .metrics import MindevalMetrics, MindevalTextMetrics
from .networks import eval_network
from .ranks import contributes, data_parallel_group
from .registry import register, results

__all__ = [
    "MindevalMetrics",
    "MindevalTextMetrics",
    "contributes",
    "data_parallel_group",
    "eval_network",
    "generate_evaluate",
    "next_tokens",
    "periodic_eval",
    "register",
    "results",
]
