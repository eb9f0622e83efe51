"""What MindFormers imports for ``auto_register: mindeval_register.MindevalMetrics``, so that a YAML file is enough.

``REGISTER_PATH`` must be this file's folder: ``python -m mindeval.integrations.mindformers`` prints it.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if not name.startswith("Mindeval"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mindeval.integrations.mindformers import register

    return register()[name]
