"""Cohen's kappa, plain or weighted by distance."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import exact
from mindeval.classification._agreement import Agreement, margins
from mindeval.classification._decisions import Decisions
from mindeval.classification._totals import ClassTotals, Total
from mindeval.constructors import one_of
from mindeval.state import ExactSum, State

_SMALL = 1 << 23  # squares of less, of a whole block, add up below 2^63


class CohenKappa(Agreement):
    r"""Cohen's kappa, agreement beyond chance: :math:`1 - \sum w_{ij} x_{ij} / \sum w_{ij} e_{ij}`.

    :math:`x_{ij}` counts label i decided as j, :math:`e_{ij} = t_i p_j / s` is what chance would give, and
    :math:`w_{ij}` is 1 for i != j, or the distance :math:`|i - j|` or its square. Both sums come from totals of each
    class and one integer, so nothing overflows and memory is that of the classes. Where the sum for chance is 0 (all
    labels and decisions of one class) it is nan, with a warning.

    Inputs are those of ``Precision``; for multilabel each label of each row is one binary decision. ``result()``:
    ``cohen_kappa`` and ``total``.

    Args:
        task: "classification", "binary", "multiclass" or "multilabel".
        num_classes: the number of classes, if it is to be checked; it never changes the value.
        weights: None, "linear" or "quadratic". Distances are those of class ids, as in scikit-learn where all
            classes up to the highest occur (it counts places among the classes that occur).
        threshold: see ``Precision``.
        ignore_index: the label of positions that do not count.
        weighted: True if ``update`` is given ``weights=`` of samples, see ``Precision``.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``Precision``.

    The definition is that of Cohen, *Weighted kappa* (Psychol. Bull. 70, 1968), and of scikit-learn's
    ``cohen_kappa_score``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> kappa = CohenKappa()
    >>> kappa.update([0, 0, 1, 1], [0, 1, 1, 1])
    >>> kappa.eval()
    0.5
    """

    def __init__(
        self,
        task: str = "classification",
        num_classes: int | None = None,
        weights: str | None = None,
        threshold: float = 0.5,
        ignore_index: int = -100,
        weighted: bool = False,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.weights = one_of(weights, "weights", (None, "linear", "quadratic"))
        super().__init__(task, num_classes, threshold, ignore_index, weighted, distributed=distributed, name=name)

    def _own_settings(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def _empty_states(self) -> dict[str, State]:
        return {**super()._empty_states(), "disagreement": exact.product_sums(3) if self.weighted else ExactSum()}

    def _of_decisions(self, decisions: Decisions) -> dict[str, Any]:
        costs = _costs(decisions, self.weights) if self.weighted else exact.whole_parts(_cost(decisions, self.weights))
        return {**super()._of_decisions(decisions), "disagreement": costs}

    def _results(self, states: Any) -> dict[str, Any]:
        table, total = margins(states)
        rows, observed = list(table.values()), exact.total(states["disagreement"])
        chance = {None: _chance_of_difference, "linear": _linear_chance, "quadratic": _quadratic_chance}[self.weights](
            list(table), rows, total
        )
        if not chance:
            warnings.warn(
                f"'{self.name}': labels and decisions are all of one class, so kappa is undefined (nan)",
                RuntimeWarning,
                stacklevel=3,
            )
        value = float(1 - Fraction(observed) * total / chance) if chance else float("nan")
        return {"cohen_kappa": value, "total": exact.number(total) if self.weighted else int(total)}


def _cost(decisions: Decisions, weights: str | None) -> int:
    """The sum of what the distances of decisions from their labels cost."""
    cost = 0
    for block in decisions.blocks():
        distances = np.abs(block.labels - block.predictions)
        if weights is None:
            cost += int(np.count_nonzero(distances))
        elif int(distances.max()) < _SMALL:
            cost += int((distances if weights == "linear" else distances * distances).sum())
        else:  # Python's integers do not overflow
            cost += sum(d if weights == "linear" else d * d for d in distances.tolist())
    return cost


def _costs(decisions: Decisions, weights: str | None) -> dict[int, np.ndarray]:
    """The same, each cost times the weight of its sample: what it adds to an exact sum of products."""
    parts = []
    for block in decisions.blocks():
        assert block.weights is not None
        distances = np.abs(block.labels - block.predictions)
        if weights is None:
            distances = np.minimum(distances, 1)
        factors = exact.float_parts(distances)
        pairs = itertools.product(factors, factors if weights == "quadratic" else [np.ones(1)])
        parts += [exact.products(a, b, block.weights) for a, b in pairs]
    return exact.joined(*parts)


def _chance_of_difference(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    return total * total - sum(row.labelled * row.predicted for row in rows)


def _quadratic_chance(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    """sum (i - j)^2 t_i p_j, from the first two moments of both margins."""
    label_moment, label_square = _moments(places, [row.labelled for row in rows])
    decision_moment, decision_square = _moments(places, [row.predicted for row in rows])
    return total * label_square + total * decision_square - 2 * label_moment * decision_moment


def _moments(places: list[int], counts: list[Total]) -> tuple[Total, Total]:
    return sum(i * n for i, n in zip(places, counts)), sum(i * i * n for i, n in zip(places, counts))


def _linear_chance(places: list[int], rows: list[ClassTotals], total: Total) -> Total:
    """sum |i - j| t_i p_j: between two neighbouring classes pass all pairs with one end on either side."""
    chance: Total = 0
    labels_below: Total = 0
    decisions_below: Total = 0
    for place, row, following in zip(places, rows, places[1:]):
        labels_below += row.labelled
        decisions_below += row.predicted
        crossing = labels_below * (total - decisions_below) + decisions_below * (total - labels_below)
        chance += (following - place) * crossing
    return chance
