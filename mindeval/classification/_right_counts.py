"""What Accuracy keeps: how many are right and how many there are, in all and of each class."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval.classification._totals import Total, by_class
from mindeval.state import Count, Counts, ExactSum, Grouped, State


def states_of(by_classes: bool, weighted: bool) -> dict[str, State]:
    """What ``counts_of`` adds to: counts, or exact sums of weights."""
    number: State = ExactSum() if weighted else Count()
    states = {"correct": number, "total": number.zero()}
    if by_classes:
        states["classes"] = Grouped(ExactSum() if weighted else Counts(2))
    return states


def counts_of(right: np.ndarray, labels: np.ndarray | None, weights: np.ndarray | None) -> dict[str, Any]:
    """What the flags of the positions that count add to the states, by class if labels are given."""
    if weights is None:
        added: dict[str, Any] = {"correct": int(np.count_nonzero(right)), "total": right.size}
    else:
        added = {"correct": weights[right], "total": weights}
    if labels is None:
        return added
    if weights is None:
        places, groups = np.unique(labels, return_inverse=True)
        counts = [np.bincount(part, minlength=places.size) for part in (groups[right], groups)]
        added["classes"] = dict(zip(places.tolist(), np.stack(counts, axis=1)))
    else:
        added["classes"] = {
            2 * place + column: part
            for column, kept in enumerate((right, np.ones_like(right)))
            for place, part in by_class(labels[kept], weights[kept])
        }
    return added


def read_classes(state: Any) -> dict[int, tuple[Total, Total]]:
    """Class -> right ones and labels."""
    if isinstance(state.template, Counts):
        return {place: tuple(member.value.tolist()) for place, member in state.value.items()}
    table: dict[int, list[Fraction]] = {}
    for key, member in state.value.items():
        table.setdefault(key // 2, [Fraction(0), Fraction(0)])[key % 2] = member.fraction()
    return {place: (row[0], row[1]) for place, row in table.items()}
