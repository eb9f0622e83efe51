"""Values as users have them: lazily initialised, of the other byte order, masked, unsigned; options of other types."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest
from mindspore.common.initializer import initializer

from mindeval.kernels import linear_token_nll, native, token_nll, vocab_parallel_nll

BACK_ENDS = ["numpy", "mindspore"] + (["native"] if native.available() else [])


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", request.param)
    return request.param


def identity_head(logits, labels, **options):
    return linear_token_nll(logits, np.eye(logits.shape[-1], dtype=np.float32), labels, **options)


def one_rank(logits, labels, **options):
    return vocab_parallel_nll(logits, labels, 0, **options)


EVERY = pytest.mark.parametrize("function", [token_nll, identity_head, one_rank])


@EVERY
def test_a_tensor_of_an_initializer_has_its_values(function, back_end):
    ms.ops.add(ms.Tensor(np.full((2, 4), 9, np.float32)), 1).asnumpy()  # memory to be found again
    tensor = initializer("zeros", (2, 4), ms.float32)
    assert tensor.has_init
    # all logits are equal: nll = log 4 = 1.3862943611
    np.testing.assert_allclose(function(tensor, [0, 3]).nll, [1.3862943611] * 2, rtol=1e-6)
    tensor = initializer("normal", (2, 4), ms.float32)
    nll = function(tensor, [0, 3]).nll
    x = tensor.asnumpy().astype(np.float64)
    np.testing.assert_allclose(nll, np.log(np.exp(x).sum(axis=1)) - x[[0, 1], [0, 3]], rtol=1e-5)


def test_every_input_of_a_head_may_come_from_an_initializer(back_end):
    hidden, weight, bias = (initializer("normal", shape, ms.float32) for shape in ((2, 3), (5, 3), (5,)))
    nll = linear_token_nll(hidden, weight, [0, 4], bias).nll
    x = hidden.asnumpy().astype(np.float64) @ weight.asnumpy().T + bias.asnumpy()
    np.testing.assert_allclose(nll, np.log(np.exp(x).sum(axis=1)) - x[[0, 1], [0, 4]], rtol=1e-5)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_arrays_of_the_other_byte_order_have_the_same_values(function, dtype, back_end):
    if function is identity_head and dtype is np.float64:
        pytest.skip("a head has no float64")
    x = np.arange(15, dtype=dtype).reshape(3, 5)
    other = x.astype(x.dtype.newbyteorder())
    labels = np.array([0, 4, 2])
    options = {"rank": True, "entropy": True}
    want = function(x, labels, **options)
    for got in (
        function(other, labels.astype(labels.dtype.newbyteorder()), **options),
        function(x[:], labels, **options),
    ):
        for have, expected in zip(got, want):
            np.testing.assert_array_equal(have, expected)


@EVERY
def test_masked_arrays_are_refused(function, back_end):
    x = np.zeros((2, 4), np.float32)
    with pytest.raises(TypeError, match="must not be a masked array"):
        function(np.ma.array(x, mask=x == 0), [0, 1])
    with pytest.raises(TypeError, match="labels must not be a masked array"):
        function(x, np.ma.array([0, 1], mask=[True, False]))


def test_masked_weights_are_refused():
    x = np.zeros((2, 4), np.float32)
    with pytest.raises(TypeError, match="weight must not be a masked array"):
        linear_token_nll(x, np.ma.array(x), [0, 1])
    with pytest.raises(TypeError, match="bias must not be a masked array"):
        linear_token_nll(x, x, [0, 1], np.ma.array([0.0, 1.0], dtype=np.float32))


@EVERY
def test_unsigned_labels_do_not_become_ignore_index(function, back_end):
    labels = np.array([1, 2**64 - 100], np.uint64)  # as int64 the second is -100
    with pytest.raises(ValueError, match="labels must lie in .* but got 18446744073709551516"):
        function(np.zeros((2, 4), np.float32), labels)
    assert function(np.zeros((2, 4), np.float32), np.array([1, 3], np.uint64)).nll.shape == (2,)


@EVERY
@pytest.mark.parametrize("wrong", [[0], "0", 0.5, -100.0, True, None, np.True_, np.array([-100])])
def test_an_ignore_index_that_is_no_integer_is_refused(function, wrong, back_end):
    with pytest.raises(TypeError, match="ignore_index must be an integer, but got"):
        function(np.zeros((2, 4), np.float32), [0, 1], ignore_index=wrong)
    with pytest.raises(ValueError, match="ignore_index must fit into 64 bits, but got 18446744073709551616"):
        function(np.zeros((2, 4), np.float32), [0, 1], ignore_index=2**64)
    assert function(np.zeros((2, 4), np.float32), [0, 1], ignore_index=np.int32(1)).nll[1] == 0


def test_options_of_a_head():
    x = np.ones((2, 4), np.float32)
    for wrong in (math.inf, math.nan, 1e39, 10**400):
        for option in ("soft_cap", "logit_scale"):
            with pytest.raises(ValueError, match=f"{option} must be finite as a float32, but got"):
                linear_token_nll(x, x, [0, 1], **{option: wrong})
    for wrong in ("30", True, [30.0]):
        for option in ("soft_cap", "logit_scale"):
            with pytest.raises(TypeError, match=f"{option} must be a number or None, but got"):
                linear_token_nll(x, x, [0, 1], **{option: wrong})
    for wrong in (0, -1, 1e-60):
        with pytest.raises(ValueError, match="soft_cap must be positive"):
            linear_token_nll(x, x, [0, 1], soft_cap=wrong)
    with pytest.raises(ValueError, match=r"weight \[V, H\] must have at least one class and one feature, .* \[3, 0\]"):
        linear_token_nll(np.ones((2, 0), np.float32), np.ones((3, 0), np.float32), [0, 1])
