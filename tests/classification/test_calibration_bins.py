"""Which bin of ((m-1)/M, m/M] a confidence is in, decided by fractions and by decimals of 50 digits."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest

from mindeval import CalibrationError

DIGITS = Context(prec=50)


def counts(bins: int, probabilities, **options) -> list[int]:
    metric = CalibrationError(n_bins=bins, **options)
    metric.update(probabilities, np.zeros(len(probabilities), np.int64))
    metric.eval()
    return metric.result()["bins"]["count"]


def bin_of(probability: float, bins: int) -> int:
    """The m of the bin: of the exact value of the float64, but that nearest to m/M stands for it, as 0.1 for 1/10."""
    place = Fraction(probability) * bins
    nearest = round(place)
    if Fraction(probability) != Fraction(nearest, bins) and probability == float(Fraction(nearest, bins)):
        return max(nearest, 1)
    return max(-(-place.numerator // place.denominator), 1)  # ceil


@pytest.mark.parametrize("bins", [1, 2, 3, 6, 7, 8, 10, 15, 49, 98, 255, 1000])
def test_bins_are_those_of_fractions(bins):
    edges = [float(Fraction(m, bins)) for m in range(bins + 1)]
    near = [float(np.nextafter(edge, side)) for edge in edges for side in (0.0, 1.0)]
    given = [p for p in (*edges, *near, *np.random.default_rng(bins).random(50)) if 0 <= p <= 1]
    expected = np.bincount([bin_of(p, bins) for p in given], minlength=bins + 1)[1:]
    assert counts(bins, given, task="binary") == expected.tolist()
    two = np.array([[1 - p, p] for p in given if p >= 0.5])  # multiclass: the confidence is that of class 1
    expected = np.bincount([bin_of(max(row), bins) for row in two.tolist()], minlength=bins + 1)[1:]
    assert counts(bins, two, task="multiclass") == expected.tolist()


def test_an_edge_belongs_to_the_bin_below_it():
    # np.linspace(0, 1, 50)[5] is an ulp below 5/49
    assert counts(49, [5 / 49], task="binary").index(1) == 4
    # the float64 0.1 is above 1/10 and 0.3 below 3/10: both stand for the edge, as in scikit-learn
    assert counts(10, [0.1, 0.3], task="binary") == [1, 0, 1] + [0] * 7


@pytest.mark.parametrize("classes", [3, 8, 10, 49, 128, 1000])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("logit", [0.0, 0.2998046875, -17.0])
def test_equal_logits_have_the_confidence_one_in_c(classes, dtype, logit):
    logits = np.full((2, classes), logit)
    given = ms.Tensor(logits, ms.bfloat16) if dtype == "bfloat16" else logits.astype(dtype)
    metric = CalibrationError(n_bins=classes, from_logits=True)
    metric.update(given, [0, 1])
    metric.eval()
    bins = metric.result()["bins"]
    assert bins["count"] == [2] + [0] * (classes - 1)
    assert (bins["confidence"][0], bins["accuracy"][0]) == (1 / classes, 0.5)


def test_two_equal_logits_share_the_probability_when_the_others_are_left_out():
    logits = np.float32([[2.0, -np.inf, 2.0, -np.inf]])
    assert counts(2, logits, from_logits=True) == [1, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("edge", [5, 6, 8, 9])
def test_logits_near_an_edge_are_in_the_bin_of_50_digits(dtype, edge):
    """p = 1 / (1 + e^-x + e^-x / 4): the kernel's error is larger than what separates these from the edge."""
    centre = dtype(np.log(1.25 * edge / (10 - edge)))
    ulp = np.spacing(np.abs(centre)) * (1 if dtype == np.float32 else 1000)
    logits = np.array([[centre + step * ulp, 0.0, np.log(0.25)] for step in range(-20, 21) if step], dtype)
    expected = np.zeros(10, np.int64)
    for row in logits.tolist():
        powers = [DIGITS.exp(Decimal(x)) for x in row]
        highest = DIGITS.divide(max(powers), sum(powers))
        expected[int(DIGITS.multiply(highest, Decimal(10)).to_integral_value("ROUND_CEILING")) - 1] += 1
    assert (expected > 0).sum() == 2  # the rows do lie on both sides
    assert counts(10, logits, from_logits=True) == expected.tolist()
