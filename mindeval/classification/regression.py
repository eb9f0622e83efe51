"""Errors and correlation of regressed numbers, as of reward heads: exact sums, so nothing cancels."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mindeval import inputs, rounding
from mindeval.classification._decisions import check_weights, spread_weights
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum

_SPLITTER = float(2**27 + 1)
_SPLITS_UP_TO = 2.0**480  # the square of less does not overflow, nor does its splitting


class Pairs(NamedTuple):
    """What counts of a batch: float64 [n] each, weights or None, and the rows of the first axis."""

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
    spread = spread_weights(weights, wanted.shape)
    samples = int(keep.reshape(len(keep), -1).any(axis=1).sum())
    x, y = (array[keep].astype(np.float64) for array in (given, wanted))
    for what, values in (("predictions", x), ("labels", y)):
        if not np.isfinite(values).all():
            raise ValueError(f"{what} must be finite where they count, but got NaN or infinity")
    return Pairs(x, y, None if spread is None else spread[keep.reshape(-1)], samples)


def exact_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """float64 numbers whose sum is that of the products a * b, exactly: the rounded products, then what rounding lost.

    By the algorithm of Dekker (Numer. Math. 18, 1971). Products of numbers beyond 2^480, and what falls below the
    smallest float64, are rounded.

    >>> exact_products(np.array([1 + 2.0**-30]), np.array([1 + 2.0**-30])).tolist() == [1 + 2.0**-29, 2.0**-60]
    True
    """
    products = a * b
    if not a.size or max(np.abs(a).max(), np.abs(b).max()) > _SPLITS_UP_TO:
        return products
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = ((a_high * b_high - products) + a_high * b_low + a_low * b_high) + a_low * b_low
    return np.concatenate([products, lost])


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = values * _SPLITTER
    high = scaled - (scaled - values)
    return high, values - high


class _MeanError(Metric):
    """The mean of an error of each number."""

    higher_is_better = False

    def __init__(self, weighted: bool = False, *, distributed: bool | str = False, name: str | None = None) -> None:
        self.weighted = bool(weighted)
        super().__init__(
            states={"total": ExactSum(), "weight": ExactSum() if self.weighted else Count()},
            settings={"weighted": True} if self.weighted else {},
            distributed=distributed,
            name=name,
        )

    def _errors(self, differences: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        raise TypeError(f"{type(self).__name__} must define _errors()")

    def _contribution(
        self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None, *, weights: Any = None
    ) -> dict[str, Any]:
        check_weights(weights, self.weighted)
        pairs = read_pairs(predictions, labels, mask, weights)
        differences = pairs.predictions - pairs.targets
        if not self.weighted:
            return {
                "total": self._errors(differences, None),
                "weight": differences.size,
                "samples": pairs.samples,
            }
        assert pairs.weights is not None
        weight = np.ascontiguousarray(pairs.weights)
        return {"total": self._errors(differences, weight), "weight": weight, "samples": pairs.samples}

    def _mean(self, states: Any) -> Fraction | float:
        """The mean as an exact fraction; inf if an error exceeds float64, nan if all weights are 0."""
        total = states["total"]
        divisor = states["weight"].fraction() if self.weighted else states["weight"].value
        if not divisor:
            return float("nan")
        return total.non_finite if total.non_finite is not None else total.fraction() / divisor

    def _weight(self, states: Any) -> float | int:
        return states["weight"].over() if self.weighted else states["weight"].value


class MeanAbsoluteError(_MeanError):
    r"""Mean absolute error :math:`\frac1n\sum_i |x_i - y_i|` over all numbers (``mindspore.train.MAE`` divides by
    rows).

    ``update(predictions, labels[, mask])``: numbers of one shape and any dtype (predictions may be ``[N, 1]`` for
    labels ``[N]``); the mask is boolean, of that shape or its first axis. ``result()``: ``mae`` and ``weight``
    (numbers, or the sum of weights).

    Args:
        weighted: True if ``update`` is given ``weights=``: numbers >= 0 of the labels' shape or its first axes.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: ``update``: if shapes differ, or a number that counts is NaN or infinite.
        TypeError: ``update``: for texts, or a mask that is not boolean.

    The definition is that of scikit-learn's ``mean_absolute_error``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> error = MeanAbsoluteError()
    >>> error.update([[0.5, 1.0], [-1.0, 1.0]], [[0.0, 2.0], [-1.0, 2.0]])
    >>> error.eval()
    0.625
    """

    def _errors(self, differences: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        return np.abs(differences) if weights is None else exact_products(np.abs(differences), weights)

    def _compute(self, states: Any) -> dict[str, Any]:
        return {"mae": float(self._mean(states)), "weight": self._weight(states)}


class MeanSquaredError(_MeanError):
    r"""Mean squared error :math:`\frac1n\sum_i (x_i - y_i)^2` over all numbers (``mindspore.train.MSE`` divides by
    rows).

    Squares keep what float64 rounding would lose. Inputs, arguments and errors are those of ``MeanAbsoluteError``.
    ``result()``: ``mse``, ``rmse`` (its root) and ``weight``. The definition is that of scikit-learn's
    ``mean_squared_error``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> error = MeanSquaredError()
    >>> error.update(np.uint8([0, 200]), np.uint8([100, 100]))
    >>> error.eval(), error.result()["rmse"]
    (10000.0, 100.0)
    """

    def _errors(self, differences: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        squares = exact_products(differences, differences)
        if weights is None:
            return squares
        return exact_products(squares, np.resize(weights, squares.size))

    def _compute(self, states: Any) -> dict[str, Any]:
        mean = self._mean(states)
        root = rounding.sqrt(mean) if isinstance(mean, Fraction) else mean
        return {"mse": float(mean), "rmse": root, "weight": self._weight(states)}


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
        sums = {key: ExactSum() for key in ("x", "y", "xx", "yy", "xy")}
        super().__init__(states={**sums, "total": Count()}, distributed=distributed, name=name)

    def _contribution(self, predictions: Any, labels: Any, mask: Any = None, sample_ids: Any = None) -> dict[str, Any]:
        x, y, _, samples = read_pairs(predictions, labels, mask)
        products = {"xx": exact_products(x, x), "yy": exact_products(y, y), "xy": exact_products(x, y)}
        return {"x": x, "y": y, **products, "total": x.size, "samples": samples}

    def _compute(self, states: Any) -> dict[str, Any]:
        n = states["total"].value
        x, y, xx, yy, xy = (states[key].fraction() for key in ("x", "y", "xx", "yy", "xy"))
        covariance, variances = n * xy - x * y, (n * xx - x * x) * (n * yy - y * y)
        overflow = any(states[key].non_finite is not None for key in ("xx", "yy", "xy"))
        if variances <= 0 or overflow:
            warnings.warn(
                f"'{self.name}': predictions or labels are all equal, or their squares exceed float64, so the "
                "correlation is undefined (nan)",
                RuntimeWarning,
                stacklevel=3,
            )
            return {"pearson_corr_coef": float("nan"), "total": n}
        value = min(rounding.sqrt(covariance * covariance / variances), 1.0)
        return {"pearson_corr_coef": -value if covariance < 0 else value, "total": n}
