"""What the name of a value says about it."""

from __future__ import annotations


def is_generation(name: str) -> bool:
    return any(word in name.lower() for word in ("bleu", "rouge", "chrf"))
