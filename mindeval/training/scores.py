"""What scores alone show: values that no working evaluation gives. Pure functions from values to findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mindeval.training import names
from mindeval.training.findings import Finding, Thresholds
from mindeval.training.numbers import as_float


def of_scores(
    scores: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> tuple[list[Finding], list[str]]:
    """What the values alone show, and the names of those that were looked at."""
    found: list[Finding] = []
    judged: list[str] = []
    for name, given in scores.items():
        if not isinstance(name, str):
            raise TypeError(f"For 'diagnose', names of scores must be str, but got {name!r}")
        parts: dict[str, Any] = dict(given) if isinstance(given, Mapping) else dict(getattr(given, "parts", {}))
        value = as_float(next(iter(parts.values()), None) if isinstance(given, Mapping) else given)
        if isinstance(given, str) and _reads_as_number(given):
            raise TypeError(f"For 'diagnose', scores must be numbers, but got {given!r} as {name!r}")
        signature = str(parts.get("signature") or getattr(given, "signature", ""))
        if value is None:
            continue
        judged.append(name)
        if not math.isfinite(value):
            found.append(Finding("score_not_finite", "error", {"name": name, "value": value}))
        if names.is_generation(name) and value == 0:
            kind = "zero_score_english_tokens" if "tok:13a" in signature or "tok:intl" in signature else "zero_score"
            found.append(Finding(kind, "error", {"name": name, "value": value}))
        told = isinstance(chance, Mapping) and name in chance
        if told or names.is_accuracy(name) or names.is_accuracy(str(next(iter(parts), ""))):
            found += _chance(name, value, parts, limits, chance)
        for part, given_part in {**parts, name: value}.items():
            number = as_float(given_part)
            if number is None or not 0 <= number <= 1:
                continue
            if names.is_yes_rate(part) and (number >= 1 - limits.yes_rate or number <= limits.yes_rate):
                found.append(Finding("yes_rate", "warning", {"name": name, "value": number}))
            if names.is_mass(part) and number < limits.mass:
                found.append(Finding("tiny_mass", "warning", {"name": name, "value": number}))
    return found, judged


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_names(chance: float | Mapping[str, float] | None, known: Sequence[str]) -> None:
    """Raise a ValueError for chances of scores that there are not."""
    unknown = [name for name in chance if name not in known] if isinstance(chance, Mapping) else []
    if unknown:
        raise ValueError(f"For 'diagnose', chance must be named as the scores, {list(known)}, but got {unknown}")


def checked_chance(chance: Any) -> float | dict[str, float] | None:
    """The accuracy of guessing as it was given, for all accuracies or by name."""
    if chance is None:
        return None
    if isinstance(chance, Mapping):
        return {name: _share(level) for name, level in chance.items()}
    return _share(chance)


def _share(level: Any) -> float:
    share = as_float(level)
    if share is None:
        raise TypeError(f"For 'diagnose', chance must be a number between 0 and 1 or a dict of them, but got {level!r}")
    if not 0 < share < 1:
        raise ValueError(f"For 'diagnose', chance must lie between 0 and 1, but got {level!r}")
    return share


def _chance(
    name: str, value: float, parts: Mapping[str, Any], limits: Thresholds, chance: float | Mapping[str, float] | None
) -> list[Finding]:
    given = chance.get(name) if isinstance(chance, Mapping) else chance
    level = as_float(parts.get("chance", given))
    if level is None or not 0 < level < 1:
        return []
    samples = as_float(parts.get("total", parts.get("samples")))
    within = limits.chance
    if samples is not None and samples > 0:
        within = 2 * math.sqrt(level * (1 - level) / samples)
        if within > 0.15:  # too few samples to say anything
            return []
    if not abs(value - level) <= within:  # NaN is near nothing
        return []
    return [Finding("at_chance", "warning", {"name": name, "value": value, "chance": level})]
