"""Loss: weights, dtypes, masks and what is refused."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest

from mindeval import Loss


def evaluated(*updates):
    loss = Loss()
    for update in updates:
        loss.update(*update) if isinstance(update, tuple) else loss.update(update)
    return loss.eval(), loss.result()


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_every_dtype_is_summed_exactly(dtype):
    value, result = evaluated(ms.Tensor([1.0, 2.0, 4.0], dtype), ms.Tensor([3.0], dtype))
    assert value == 2.5 and result["exact"] is True and result["weight"] == 4


def test_half_precision_neither_overflows_nor_sticks():
    # 10,000 times 10.0 in float16: mindspore.train.Loss under NumPy 2 gives 3.277; the mean is 10
    assert evaluated(ms.Tensor(np.full(10000, 10.0), ms.float16))[0] == 10.0
    loss = Loss()
    for _ in range(300):  # a bfloat16 running sum of ones sticks at 256
        loss.update(ms.Tensor([1.0], ms.bfloat16))
    assert loss.eval() == 1.0 and loss.result()["weight"] == 300


def test_means_weigh_as_much_as_they_stand_for():
    value, result = evaluated((np.float32(4.0), 1), (np.float32(1.0), 99))
    assert value == 1.03 and result["exact"] is True  # (4 + 99) / 100
    value, result = evaluated((ms.Tensor(1.0), ms.Tensor(4)), (ms.Tensor(5.0), ms.Tensor(1)))
    assert value == 1.8
    assert evaluated((np.float32([2.0]), 3), (4.0, 1))[0] == 2.5  # a loss of shape [1], as MindFormers returns it


def test_a_bare_scalar_is_a_guess_and_says_so():
    value, result = evaluated(1.0, ms.Tensor(3.0))
    assert value == 2.0 and result["exact"] is False
    assert evaluated((1.0, 4), 3.0)[1]["exact"] is False


def test_masked_losses_never_count_not_even_nan():
    losses, mask = np.float32([[1.0, np.nan], [3.0, np.inf]]), np.array([[True, False], [True, False]])
    value, result = evaluated((losses, mask))
    assert value == 2.0 and result["samples"] == 2 and (result["nan"], result["inf"]) == (0, 0)
    assert evaluated((losses, ~mask & (losses != losses)), np.float32([1.0]))[1]["samples"] == 2


def test_nan_and_inf_are_counted():
    value, result = evaluated(np.float32([1.0, np.nan, np.inf]))
    assert math.isnan(value) and (result["nan"], result["inf"]) == (1, 1)
    assert evaluated(np.float32([1.0, np.inf]))[0] == math.inf


def test_a_mean_over_nothing_counts_nothing():
    assert evaluated((float("nan"), 0), 2.0)[0] == 2.0


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ((np.zeros((0,), np.float32),), ValueError, r"at least one value, but got shape \[0\]"),
        ((np.ones(3, np.float32), np.ones(3, np.int64)), TypeError, "mask must be boolean.*write mask != 0"),
        ((np.ones(3, np.float32), np.ones(2, bool)), ValueError, r"mask must have shape \[3\], but got \[2\]"),
        ((1.0, -1), ValueError, "whole number >= 0"),
        ((1.0, 1.5), ValueError, "whole number >= 0"),
        (("1.0",), TypeError, "loss must be a Tensor, an array or a list of numbers, but got str"),
        ((["a"],), TypeError, "loss must be numbers, but got a list of 1 str"),
        (([[1.0], [1.0, 2.0]],), ValueError, "rows of different lengths"),
        ((None,), TypeError, "but got NoneType"),
        ((np.array([True]),), TypeError, "the mask comes second"),
    ],
)
def test_what_is_refused(update, error, message):
    loss = Loss()
    loss.update(2.0)
    with pytest.raises(error, match="For 'Loss.update', .*" + message):
        loss.update(*update)
    assert loss.eval() == 2.0


def test_it_is_routed_as_a_mindspore_loss():
    assert isinstance(Loss(), ms.train.Loss)


def test_labels_in_the_place_of_a_mask_are_not_taken_for_a_count_at_batch_one():
    with pytest.raises(TypeError, match="mask must be boolean"):
        Loss().update(np.float32([1.0]), np.array([7]))
    with pytest.raises(ValueError, match="whole number >= 0"):
        Loss().update(1.0, float("nan"))
    with pytest.raises(TypeError, match="masked array"):
        Loss().update(np.ma.array([1.0, 1000.0], mask=[0, 1]))
