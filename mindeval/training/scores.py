"""What scores alone show: values that no working evaluation gives. Pure functions from values to findings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mindeval.training.findings import Finding, Thresholds
from mindeval.training.names import is_generation


def of_scores(
    scores: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> tuple[list[Finding], list[str]]:
    """What the values alone show, and the names of those that were looked at."""
    found: list[Finding] = []
    judged: list[str] = []
    for name, given in scores.items():
        parts: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict(getattr(given, "parts", {}))
        value = next(iter(parts.values()), None) if isinstance(given, Mapping) else given
        signature = str(parts.get("signature") or getattr(given, "signature", ""))
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        judged.append(name)
        value, lower = float(value), name.lower()
        if not math.isfinite(value):
            found.append(Finding("score_not_finite", "error", {"name": name, "value": value}))
        if is_generation(name) and value == 0:
            kind = "zero_score_english_tokens" if "tok:13a" in signature or "tok:intl" in signature else "zero_score"
            found.append(Finding(kind, "error", {"name": name, "value": value}))
        if "accuracy" in lower or lower in ("acc", "acc_norm"):
            found += _chance(name, value, parts, limits, chance)
        for part, number in {**parts, name: value}.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            if "yes_rate" in part.lower() and (number >= 1 - limits.yes_rate or number <= limits.yes_rate):
                found.append(Finding("yes_rate", "warning", {"name": name, "value": float(number)}))
            if "mass" in part.lower() and number < limits.mass:
                found.append(Finding("tiny_mass", "warning", {"name": name, "value": float(number)}))
    return found, judged


def _chance(
    name: str, value: float, parts: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> list[Finding]:
    level = chance.get(name) if isinstance(chance, Mapping) else chance
    level = parts.get("chance", level)
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        return []
    samples = parts.get("total", parts.get("samples"))
    within = limits.chance
    if isinstance(samples, int) and samples > 0:
        within = 2 * math.sqrt(level * (1 - level) / samples)
        if within > 0.15:  # too few samples to say anything
            return []
    if abs(value - level) > within:
        return []
    return [Finding("at_chance", "warning", {"name": name, "value": value, "chance": float(level)})]
