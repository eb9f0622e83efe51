"""Mean absolute and squared error and Pearson's correlation against scikit-learn, SciPy and exact fractions."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from mindeval.classification.regression import MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_errors_equal_scikit_learn(weighted, dtype):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(20, 3)).astype(dtype), rng.normal(size=(20, 3)).astype(dtype)
        weights = rng.random(20) if weighted else None
        options = {"sample_weight": weights}
        wide = y.astype(np.float64), x.astype(np.float64)
        value = MeanAbsoluteError(weighted=weighted)(x, y, weights=weights)
        assert value == pytest.approx(sk.mean_absolute_error(*wide, **options), abs=1e-12)
        value = MeanSquaredError(weighted=weighted)(x, y, weights=weights)
        assert value == pytest.approx(sk.mean_squared_error(*wide, **options), abs=1e-12)


def test_errors_are_the_exact_means_rounded_once():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50) * 10.0 ** rng.integers(-5, 5, 50), rng.normal(size=50)
    differences = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(x, y)]
    metric = MeanSquaredError()
    for place in range(0, 50, 7):
        metric.update(x[place : place + 7], y[place : place + 7])
    assert metric.eval() == float(sum(d * d for d in differences) / 50)
    assert metric.result()["rmse"] == pytest.approx(math.sqrt(metric.eval()), rel=1e-15)
    assert MeanAbsoluteError()(x, y) == float(sum(map(abs, differences)) / 50)


def test_the_mean_is_over_all_numbers_and_integers_do_not_wrap():
    # mindspore.train.MAE divides by rows (0.9319 for 0.3106 on [8, 3]), and uint8 wraps (MSE 16 for 10000)
    assert MeanAbsoluteError()(np.ones((8, 3)), np.zeros((8, 3))) == 1.0
    assert MeanSquaredError()(np.uint8([0, 200]), np.uint8([100, 100])) == 10000.0
    assert MeanAbsoluteError()(ms.Tensor([60000.0, 60000.0], ms.float16), np.zeros(2)) == 60000.0


def fractions_of(values) -> list[Fraction]:
    return [Fraction(value) for value in np.asarray(values).tolist()]


def root(value: Fraction) -> float:
    with localcontext(Context(prec=50, Emax=10**6, Emin=-(10**6))):
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def exact_values(x, y, weights=None) -> tuple[float, float, float]:
    """Mean absolute and squared error and correlation of fractions."""
    xs, ys = fractions_of(x), fractions_of(y)
    ws = [Fraction(1)] * len(xs) if weights is None else fractions_of(weights)
    mae = sum(w * abs(a - b) for w, a, b in zip(ws, xs, ys)) / sum(ws)
    mse = sum(w * (a - b) ** 2 for w, a, b in zip(ws, xs, ys)) / sum(ws)
    n, sx, sy = len(xs), sum(xs), sum(ys)
    covariance = n * sum(a * b for a, b in zip(xs, ys)) - sx * sy
    variances = (n * sum(a * a for a in xs) - sx**2) * (n * sum(b * b for b in ys) - sy**2)
    correlation = root(covariance**2 / variances) * (1 if covariance > 0 else -1)
    return as_float(mae), as_float(mse), correlation


def as_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


SCALES = {
    "ones": lambda rng: rng.normal(size=12),
    "tiny": lambda rng: rng.normal(size=12) * 1e-200,
    "subnormal": lambda rng: rng.integers(-9, 9, 12) * 5e-324,
    "small": lambda rng: rng.normal(size=12) * 1e-160,
    "large": lambda rng: rng.normal(size=12) * 1e160,
    "the largest": lambda rng: rng.choice([-1.7e308, 1.7e308, 1e308], 12),
    "one large among ones": lambda rng: np.append(rng.normal(size=11), 1e200),
    "all magnitudes": lambda rng: rng.normal(size=12) * 10.0 ** rng.integers(-300, 300, 12),
    "int64": lambda rng: rng.integers(-(2**63), 2**63 - 1, 12),
    "int64 neighbours": lambda rng: 2**62 + rng.integers(0, 3, 12),
    "uint64": lambda rng: rng.integers(0, 2**64 - 1, 12, dtype=np.uint64),
    "small integers": lambda rng: rng.integers(-5, 5, 12),
}


@pytest.mark.parametrize("other", ["ones", "the largest", "int64 neighbours", "uint64", "all magnitudes"])
@pytest.mark.parametrize("kind", SCALES)
def test_values_are_those_of_fractions_at_any_magnitude_and_in_any_batches(kind, other):
    rng = np.random.default_rng(5)
    x, y = SCALES[kind](rng), SCALES[other](rng)
    weights = rng.random(12) * 2.0 ** rng.integers(-900, 900, 12)
    makes = (MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef)
    for make, expected in zip(makes, exact_values(x, y)):
        for cuts in ([0, 12], [0, 5, 12], [0, 1, 2, 11, 12]):
            metric = make()
            for start, stop in zip(cuts, cuts[1:]):
                metric.update(x[start:stop], y[start:stop])
            assert metric.eval() == expected
    for make, expected in zip(makes[:2], exact_values(x, y, weights)):
        assert make(weighted=True)(x, y, weights=weights) == expected


def test_the_root_of_a_mean_square_beyond_float64_is_a_number():
    metric = MeanSquaredError()
    metric.update([1e200, 1e200], [0.0, 0.0])
    assert metric.eval() == math.inf
    assert metric.result()["rmse"] == 1e200


def test_integers_that_float64_cannot_tell_apart_differ():
    assert MeanAbsoluteError()(np.array([2**53 + 1]), np.array([2**53])) == 1.0
    assert MeanSquaredError()(np.array([2**63 - 1]), np.array([-(2**63)])) == float((2**64 - 1) ** 2)
    assert MeanAbsoluteError()(np.array([2**53 + 1]), np.array([2.0**53])) == 1.0


def test_correlation_equals_scipy():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=30)
        y = x * rng.normal() + rng.normal(size=30)
        metric = PearsonCorrCoef()
        metric.update(x[:11], y[:11])
        metric.update(x[11:], y[11:])
        assert metric.eval() == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_correlation_does_not_cancel_for_large_means():
    x = 1e9 + np.arange(5.0)
    y = 1e9 + np.array([0.0, 2.0, 1.0, 4.0, 3.0])
    exact = 8 / 10  # of 0..4 and 0, 2, 1, 4, 3: covariance 8, both sums of squares 10
    assert PearsonCorrCoef()(x, y) == exact
    assert PearsonCorrCoef()(x, -y) == -exact


def test_correlation_is_never_beyond_1():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.random(7)
        assert PearsonCorrCoef()(x, 3 * x) == pytest.approx(1.0, abs=1e-15)
        assert PearsonCorrCoef()(x, x) == 1.0


def test_constant_or_single_values_are_nan_with_a_warning():
    for x, y in (([1.0, 1.0], [1.0, 2.0]), ([1.0], [2.0])):
        with pytest.warns(RuntimeWarning, match="undefined"):
            assert math.isnan(PearsonCorrCoef()(x, y))


@pytest.mark.parametrize("make", [MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef])
def test_masks_and_heads_of_one_output(make):
    x, y = np.array([[1.0], [2.0], [4.0], [np.nan]]), np.array([1.0, 3.0, 3.0, 0.0])
    mask = np.array([True, True, True, False])
    assert make()(x, y, mask) == make()(x[:3, 0], y[:3])


@pytest.mark.parametrize("make", [MeanAbsoluteError, MeanSquaredError, PearsonCorrCoef])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, math.nan], [1.0, 2.0], "predictions must be finite"),
        ([1.0, 2.0], [1.0, math.inf], "labels must be finite"),
        ([[1.0, 2.0]], [1.0, 2.0], "nothing is broadcast"),
        ([1.0, 2.0, 3.0], [1.0, 2.0], "must have the shape of labels"),
    ],
)
def test_bad_input_is_refused(make, x, y, message):
    with pytest.raises(ValueError, match=message):
        make().update(x, y)


def test_texts_are_refused():
    with pytest.raises(TypeError, match="predictions must be"):
        MeanSquaredError().update(["a"], [1.0])
