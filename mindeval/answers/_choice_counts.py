"""The counts of ChoiceAccuracy: what one question adds, and the figures that sums of them give."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.answers.options import NORMALISATIONS

_KINDS = len(NORMALISATIONS)
# The columns: questions, then for each normalisation the correct, the tied and the scored ones.
WIDTH = 1 + 3 * _KINDS


def outcome(scores: Mapping[str, np.ndarray], right: frozenset[int]) -> np.ndarray:
    """One question's counts from the scores of its options: the first of the best is chosen."""
    counts = np.zeros(WIDTH, np.int64)
    counts[0] = 1
    for place, name in enumerate(NORMALISATIONS):
        if name in scores:
            best = scores[name].max()
            counts[1 + place] = int(scores[name].argmax()) in right
            counts[1 + _KINDS + place] = (scores[name] == best).sum() > 1
            counts[1 + 2 * _KINDS + place] = 1
    return counts


def chosen(is_right: bool) -> np.ndarray:
    """One question's counts where the choice itself is given."""
    counts = np.zeros(WIDTH, np.int64)
    counts[[0, 1, 1 + 2 * _KINDS]] = 1, int(is_right), 1
    return counts


def totals(groups: Mapping[Any, np.ndarray], normalize: str) -> dict[str, Any]:
    """accuracy, ties and by_normalisation over all groups."""
    total, place = sum(groups.values()), NORMALISATIONS.index(normalize)
    samples = int(total[0])  # type: ignore[index]
    return {
        "accuracy": int(total[1 + place]) / samples,  # type: ignore[index]
        "ties": int(total[1 + _KINDS + place]),  # type: ignore[index]
        "by_normalisation": {
            name: int(total[1 + i]) / samples  # type: ignore[index]
            for i, name in enumerate(NORMALISATIONS)
            if total[1 + 2 * _KINDS + i] == samples  # type: ignore[index]
        },
    }


def group_totals(
    groups: Mapping[str, np.ndarray], normalize: str, weights: Mapping[str, Fraction] | None
) -> dict[str, Any]:
    """micro, macro, weighted and by_group."""
    place = 1 + NORMALISATIONS.index(normalize)
    samples = {name: int(counts[0]) for name, counts in groups.items()}
    correct = {name: int(counts[place]) for name, counts in groups.items()}
    share = {name: Fraction(correct[name], samples[name]) for name in groups}
    for name in groups:
        if weights is not None and name not in weights:
            raise ValueError(f"For 'ChoiceAccuracy', weights must name every group, but {name!r} is missing")
    weight = {name: Fraction(samples[name]) if weights is None else weights[name] for name in groups}
    if not sum(weight.values()):
        raise ValueError("For 'ChoiceAccuracy', weights must not all be 0 for the groups that occurred")
    return {
        "micro": sum(correct.values()) / sum(samples.values()),
        "macro": float(sum(share.values()) / len(share)),
        "weighted": float(sum(share[name] * w for name, w in weight.items()) / sum(weight.values())),
        "by_group": {
            name: {"accuracy": float(share[name]), "correct": correct[name], "samples": samples[name]}
            for name in groups
        },
    }
