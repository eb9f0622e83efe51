"""Functions rounded once, against mpmath-free closed forms and the float64 library."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindeval import rounding


@settings(deadline=None)
@given(st.floats(-700, 700))
def test_exp_log_and_sqrt_are_within_one_unit_of_the_c_library(value):
    exact = Fraction(value)
    assert rounding.exp(exact) == pytest.approx(math.exp(value), rel=2**-52, abs=0)
    if value > 0:
        assert rounding.log(exact) == pytest.approx(math.log(value), rel=2**-52, abs=0)
        assert rounding.sqrt(exact) == math.sqrt(value)


def test_known_values():
    # e to 30 digits, and closed forms
    assert rounding.exp(1) == float(Decimal("2.71828182845904523536028747135"))
    assert rounding.log(Fraction(1, 1024), base=2) == -10.0
    assert rounding.root(Fraction(1, 10000), 4) == 0.1
    assert rounding.root(0, 4) == 0.0
    assert rounding.bits(0) == 0.0
    getcontext().prec = 40
    assert rounding.bits(1) == float(1 / Decimal(2).ln())


def test_out_of_range_is_inf_or_zero_and_never_raises():
    assert rounding.exp(10**400) == math.inf
    assert rounding.exp(-(10**400)) == 0.0
    assert rounding.log(0) == -math.inf
    assert math.isnan(rounding.log(-1))
