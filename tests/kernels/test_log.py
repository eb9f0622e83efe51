"""`float64.log`, the logarithm with the same bits on every processor."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from mindeval.kernels import float64


def test_logarithm():
    random = np.random.default_rng(0)
    normal = random.integers(1, 0x7FF0000000000000, 500).view(np.float64)
    subnormal = random.integers(1, 1 << 52, 100).view(np.float64)
    x = np.concatenate([normal, subnormal, random.random(500), 1 + random.normal(size=500) * 1e-9, [5e-324, 1.0, 0.5]])
    for value, got in zip(x.tolist(), float64.log(x).tolist()):
        exact = Decimal(value).ln()  # 28 digits
        assert abs(Decimal(got) - exact) <= 2 * Decimal(math.ulp(float(exact)))


def test_logarithm_of_what_has_none():
    with np.errstate(all="raise"):
        got = float64.log(np.array([0.0, -0.0, -1.0, -5e-324, np.inf, -np.inf, np.nan, 1.0]))
    np.testing.assert_array_equal(got, [-np.inf, -np.inf, np.nan, np.nan, np.inf, np.nan, np.nan, 0.0])
    assert float64.log(np.float32([[0.5]])).shape == (1, 1)
    assert float64.log(0.5).shape == ()
    # log(1/2) = -0.693147180559945309417... (OEIS A002162)
    assert float(float64.log(np.float16(0.5))) == -0.6931471805599453
