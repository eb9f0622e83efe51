"""Errors and correlation of regressed numbers, as of reward heads: exact sums, so nothing cancels."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mindeval import exact, inputs, rounding
from mindeval.classification._arguments import check_weights, spread_weights
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum, State


class Pairs(NamedTuple):
    """What counts of a batch: numbers [n] each, weights or None, and the rows of the first axis."""

    predictions: np.ndarray
    targets: np.ndarray
    weights: np.ndarray | None
    samples: int


def read_pairs(predictions: Any, targets: Any, mask: Any = None, weights: Any = None) -> Pairs:
    """Check predicted and true numbers, of one shape (predictions may have a last axis of length 1 more)."""
    given, wanted = inputs.to_numpy(predictions, "predictions"), inputs.to_numpy(targets, "labels")
    given, wanted = np.atleast_1d(given), np.atleast_1d(wanted)
    if given.shape == (*wanted.shape, 1):
        given = given[..., 0]
    if given.shape != wanted.shape:
        raise ValueError(
            f"predictions must have the shape of labels {list(wanted.shape)}, but got {list(given.shape)}: nothing is "
            "broadcast"
        )
    if wanted.size == 0:
        raise ValueError(f"a batch must hold at least one number, but got shape {list(wanted.shape)}")
    keep = np.ones(wanted.shape, bool)
    if mask is not None:
        leading = np.shape(mask) == wanted.shape[:1]
        flags = inputs.boolean_mask(mask, wanted.shape[:1] if leading else wanted.shape)
        keep = keep & flags.reshape(flags.shape + (1,) * (wanted.ndim - flags.ndim))
    spread = spread_weights(weights, keep)
    samples = int(keep.reshape(len(keep), -1).any(axis=1).sum())
    x, y = given[keep], wanted[keep]
    for what, values in (("predictions", x), ("labels", y)):
        if not np.isfinite(values).all():
            raise ValueError(f"{what} must be finite where they count, but got NaN or infinity")
    return Pairs(x, y, None if spread is None else spread[keep.reshape(-1)], samples)


def square_products(x: list[np.ndarray], y: list[np.ndarray], *weights: np.ndarray) -> dict[int, np.ndarray]:
    """What the products of two numbers, each a sum of arrays, add to an exact sum."""
    return exact.joined(*(exact.products(a, b, *weights) for a, b in itertools.product(x, y)))


class _MeanError(Metric):
    """The mean of an error of each number."""

    higher_is_better = False
    _factors = 1  # of a product that the sum of errors consists of

    def __init__(self, weighted: bool = False, *, distributed: bool | str = False, name: str | None = None) -> None:
        self.weighted = weighted
        total: State = exact.product_sums(self._factors + self.weighted)
        super().__init__(
            states={"total": total, "weight": ExactSum() if self.weighted else Count()},
            settings={"weighted": True} if self.weighted else {},
            distributed=distributed,
            name=name,
        )

    def _errors(self, x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> dict[int, np.ndarray]:
        """What the errors, times weights if there are any, add to the exact sum of them."""
        raise TypeError(f"{type(self).__name__} must define _errors()")

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        check_weights(weights, self.weighted)
        x, y, kept, samples = read_pairs(predictions, labels, mask, weights)
        if kept is None:
            return {"total": self._errors(x, y), "weight": x.size, "samples": samples}
        return {"total": self._errors(x, y, kept), "weight": kept, "samples": samples}

    def _mean(self, states: Any) -> tuple[Fraction | None, float | int]:
        """The mean as an exact fraction (None if all weights are 0), and the sum of weights."""
        weight = exact.total(states["weight"])
        mean = Fraction(exact.total(states["total"])) / weight if weight else None
        return mean, exact.number(weight) if self.weighted else int(weight)


class MeanAbsoluteError(_MeanError):
    r"""Mean absolute error :math:`\frac1n\sum_i |x_i - y_i|` over all numbers (``mindspore.train.MAE`` divides by
    rows).

    ``update(predictions, labels[, mask])``: numbers of one shape and any dtype (predictions may be ``[N, 1]`` for
    labels ``[N]``), whose differences are exact; the mask is boolean, of that shape or its first axis. ``result()``:
    ``mae`` and ``weight`` (numbers, or the sum of weights).

    Args:
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or its first axes.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: ``update``: if shapes differ, a number that counts is NaN or infinite, or sample ids are given,
            which sums cannot honour.
        TypeError: ``update``: for texts, or a mask that is not boolean.

    The definition is that of scikit-learn's ``mean_absolute_error``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> error = MeanAbsoluteError()
    >>> error.update([[0.5, 1.0], [-1.0, 1.0]], [[0.0, 2.0], [-1.0, 2.0]])
    >>> error.eval()
    0.625
    """

    def _errors(self, x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> dict[int, np.ndarray]:
        signs = exact.signs_of_differences(x, y)
        parts = [signs * part for part in exact.float_parts(x)] + [-signs * part for part in exact.float_parts(y)]
        return exact.joined(*(exact.products(part, *weights) for part in parts))

    def _compute(self, states: Any) -> dict[str, Any]:
        mean, weight = self._mean(states)
        return {"mae": float("nan") if mean is None else exact.number(mean), "weight": weight}


class MeanSquaredError(_MeanError):
    r"""Mean squared error :math:`\frac1n\sum_i (x_i - y_i)^2` over all numbers (``mindspore.train.MSE`` divides by
    rows).

    Differences and squares are exact. Inputs, arguments and errors are those of ``MeanAbsoluteError``.
    ``result()``: ``mse``, ``rmse`` (its root) and ``weight``. The definition is that of scikit-learn's
    ``mean_squared_error``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> error = MeanSquaredError()
    >>> error.update(np.uint8([0, 200]), np.uint8([100, 100]))
    >>> error.eval(), error.result()["rmse"]
    (10000.0, 100.0)
    """

    _factors = 2

    def _errors(self, x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> dict[int, np.ndarray]:
        parts = exact.differences(x, y)
        return square_products(parts, parts, *weights)

    def _compute(self, states: Any) -> dict[str, Any]:
        mean, weight = self._mean(states)
        if mean is None:
            return {"mse": float("nan"), "rmse": float("nan"), "weight": weight}
        return {"mse": exact.number(mean), "rmse": rounding.sqrt(mean), "weight": weight}


class PearsonCorrCoef(Metric):
    r"""Pearson's correlation :math:`\sum (x-\bar x)(y-\bar y) / \sqrt{\sum (x-\bar x)^2 \sum (y-\bar y)^2}`, in [-1,
    1].

    It is made from exact sums of x, y, x^2, y^2 and xy, so large means do not cancel and data may come in any
    batches; the value is rounded once. Where predictions or labels are all equal (or there is one pair) it is nan,
    with a ``RuntimeWarning``.

    Inputs are those of ``MeanAbsoluteError``. ``result()``: ``pearson_corr_coef`` and ``total`` (numbers).

    Args:
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError, TypeError: see ``MeanAbsoluteError``.

    The definition is that of ``scipy.stats.pearsonr``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> correlation = PearsonCorrCoef()
    >>> correlation.update([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    >>> correlation.eval()
    1.0
    """

    higher_is_better = True

    def __init__(self, *, distributed: bool | str = False, name: str | None = None) -> None:
        states: dict[str, State] = {"x": ExactSum(), "y": ExactSum()}
        states |= {key: exact.product_sums(2) for key in ("xx", "yy", "xy")}
        super().__init__(states={**states, "total": Count()}, distributed=distributed, name=name)

    def _contribution(self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        given, wanted, _, samples = read_pairs(predictions, labels, mask)
        x, y = exact.float_parts(given), exact.float_parts(wanted)
        products = {"xx": square_products(x, x), "yy": square_products(y, y), "xy": square_products(x, y)}
        sums = {"x": np.concatenate(x), "y": np.concatenate(y)}
        return {**sums, **products, "total": given.size, "samples": samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        n = states["total"].value
        x, y, xx, yy, xy = (Fraction(exact.total(states[key])) for key in ("x", "y", "xx", "yy", "xy"))
        covariance, variances = n * xy - x * y, (n * xx - x * x) * (n * yy - y * y)
        if not variances:
            warnings.warn(
                f"'{self.name}': predictions or labels are all equal, so the correlation is undefined (nan)",
                RuntimeWarning,
                stacklevel=3,
            )
            return {"pearson_corr_coef": float("nan"), "total": n}
        value = min(rounding.sqrt(covariance * covariance / variances), 1.0)
        return {"pearson_corr_coef": -value if covariance < 0 else value, "total": n}
