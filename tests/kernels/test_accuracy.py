"""Errors of the kernels against extended precision, and the exact rank."""

from __future__ import annotations

import numpy as np
import pytest
from logit_rows import FORMATS, kinds, labels_for, reference, rows, to_format

from mindeval.kernels import float64, native, numpy_math, numpy_twin, token_nll

every_format = pytest.mark.parametrize("name", FORMATS)


def cpu(given):
    """The back end that is there; test_same_bits.py shows that there is no difference."""
    return (native if native.available() else numpy_twin).token_nll(given, True, True)


@every_format
@pytest.mark.parametrize(("size", "n"), [(2, 12), (17, 12), (1003, 12), (32000, 6), (151936, 2)])
def test_error_is_below_1e_7_nat(name, size, n):
    for kind, x in kinds(size, n, size):
        stored = to_format(x, name)
        labels = labels_for(stored, 1)
        got, want = cpu(rows(stored, labels)), reference(stored, labels)
        assert np.abs(got.nll - want.nll).max() <= 1e-7, kind
        assert (got.nll >= 0).all(), kind
        np.testing.assert_array_equal(got.rank, want.rank, kind)
        assert np.abs(got.entropy - want.entropy).max() <= 4e-6, kind
        assert (got.entropy >= 0).all(), kind


@every_format
def test_a_likely_label_keeps_its_relative_accuracy(name):
    """A label that is far ahead: nll is tiny, not noise of 1e-8 around zero."""
    lead = np.array([5, 10, 20, 30, 40], np.float32)
    x = np.zeros((5, 1000), np.float32)
    x[:, 7] = lead
    got = cpu(rows(to_format(x, name), np.full(5, 7)))
    # log1p(999 exp(-lead)): 5 -> 2.0444586..., from the definition in float64
    np.testing.assert_allclose(got.nll, np.log1p(999 * np.exp(-lead.astype(np.float64))), rtol=2e-7, atol=1e-15)


@every_format
def test_never_negative_where_the_label_is_all_there_is(name):
    x = np.full((4, 300), -np.inf, np.float32)
    for k, value in enumerate((0.0, 3.14159, -77.7, 9999.0)):
        x[k, 131 * k % 300] = value
    got = cpu(rows(to_format(x, name), np.array([0, 131, 262, 393 % 300])))
    assert got.nll.tolist() == [0, 0, 0, 0]
    assert got.rank.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("size", "n"), [(1, 3), (2, 12), (17, 12), (2049, 6), (32000, 3)])
def test_float64_logits_have_float64_answers(size, n):
    for kind, x in kinds(size, n, size):
        wide = x.astype(np.float64) * 1.0000001
        labels = labels_for(wide, 1)
        got, want = float64.token_nll(rows(wide, labels), True, True), reference(wide, labels)
        np.testing.assert_allclose(got.nll, want.nll, rtol=1e-15, atol=1e-12, err_msg=kind)
        np.testing.assert_array_equal(got.rank, want.rank, kind)
        np.testing.assert_allclose(got.entropy, want.entropy, rtol=0, atol=2e-12, err_msg=kind)
        assert (got.nll >= 0).all(), kind


def test_exp_of_float64_is_within_three_units_in_the_last_place():
    x = -np.concatenate([np.linspace(0, 1, 20001), np.linspace(0, 699, 200001), np.geomspace(1e-300, 1, 1001)])
    want = np.exp(x.astype(np.longdouble))
    assert (np.abs(float64.exp_of(x) - want) / want).max() < 3 * 2.0**-53
    assert float64.exp_of(np.array([0.0, -0.0, -701.0, -np.inf])).tolist() == [1, 1, 0, 0]


def test_single_exponentials_are_within_the_bound_of_the_documentation():
    """Every 997th float32 of both signs with |x| <= 160, and every finite 16-bit logit in range."""
    bits = np.arange(0, np.float32(160).view(np.int32), 997, np.int32)
    x = bits.view(np.float32)
    halves = np.arange(65536).astype(np.uint16)
    cases = {
        "float32": np.concatenate([x, -x]),
        "bfloat16": (halves.astype(np.uint32) << 16).view(np.float32),
        "float16": halves.view(np.float16).astype(np.float32),
    }
    for name, bound in (("float32", 8.3e-8), ("bfloat16", 8.3e-8), ("float16", 1.03e-7)):
        form = numpy_math.FORMATS[name]
        logits = cases[name][np.abs(cases[name]) <= form.largest]
        frame = numpy_math.Frame.around(logits, np.zeros_like(logits))  # each its own reference
        got = numpy_math.scaled_exp(logits, frame.magic, form)[0].astype(np.float64)
        log_scale = numpy_math.LOG_LAMBDA - frame.eighths.astype(np.float64) * numpy_twin.STEP
        exact = np.exp(logits.astype(np.longdouble) + log_scale)
        assert (np.abs(got - exact) / exact).max() < bound, name


def test_uniform_logits_have_the_logarithm_of_the_vocabulary():
    for size in (1, 2, 3, 50257):
        for dtype in (np.float32, np.float16, np.float64):
            stats = token_nll(np.zeros((1, size), dtype), [0], entropy=True)
            assert abs(stats.nll[0] - np.log(size)) <= 1e-7
            assert abs(stats.entropy[0] - np.log(size)) <= 1e-6
