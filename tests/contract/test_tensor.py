"""Tensors on the host: aliasing, bfloat16, addresses, weak references and late errors."""

from __future__ import annotations

import ctypes
import gc
import weakref

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops

pytestmark = pytest.mark.usefixtures("pynative")


OWN_MEMORY = pytest.mark.skipif(
    ms.__version__.startswith("2.7.0"), reason="MindSpore 2.7.0 copies what asnumpy gives, and has wrong addresses"
)


@OWN_MEMORY
def test_asnumpy_of_an_op_result_is_writeable_and_the_next_asnumpy_sees_what_was_written():
    """Why no metric writes into what ``inputs.to_numpy`` gave."""
    result = ops.add(ms.Tensor(np.float32([1, 2])), ms.Tensor(np.float32([1, 2])))
    result.asnumpy()[0] = 123
    assert result.asnumpy().tolist() == [123, 4]


def test_asnumpy_of_bfloat16_has_a_dtype_that_numpy_does_not_know():
    """Why ``inputs.to_numpy`` casts on the device first."""
    array = ms.Tensor([1.5, 2.5], ms.bfloat16).asnumpy()
    assert array.dtype.kind == "V" and array.dtype.itemsize == 2
    with pytest.raises(TypeError):
        array.mean()


def test_bfloat16_cast_to_float32_is_exact():
    bits = np.array([0x3F80, 0x3F81, 0x0001, 0x7F7F, 0xFF80], np.uint16)  # 1, 1 + 2^-7, 2^-133, the largest, -inf
    values = (bits.astype(np.uint32) << 16).view(np.float32)
    assert ms.Tensor(values, ms.float32).astype(ms.bfloat16).astype(ms.float32).asnumpy().tolist() == values.tolist()


def test_a_tensor_can_be_referred_to_weakly():
    """What the work shared by members of a collection is known by."""
    tensor = ops.add(ms.Tensor([1.0]), ms.Tensor([1.0]))
    reference = weakref.ref(tensor)
    assert reference() is tensor
    del tensor
    gc.collect()
    assert reference() is None


def test_a_tensor_made_of_an_array_is_a_copy():
    array = np.float32([1, 2])
    tensor = ms.Tensor(array)
    array[0] = 5
    assert tensor.asnumpy().tolist() == [1, 2]


def test_shape_and_dtype_names_are_those_of_numpy():
    tensor = ms.Tensor(np.zeros((2, 3), np.float32))
    assert tuple(tensor.shape) == (2, 3) and tensor.ndim == 2 and str(tensor.dtype) == "Float32"
    assert tensor.dtype == ms.float32 and ms.Tensor(True).dtype == ms.bool_


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32], ids=str)
def test_logits_of_any_dtype_can_be_sliced_and_reshaped(dtype):
    """What ``shift=True`` and flattened logits need of a Tensor, bfloat16 included."""
    tensor = ms.Tensor(np.arange(12).reshape(1, 4, 3), ms.float32).astype(dtype)
    assert tensor[..., :-1, :].astype(ms.float32).asnumpy().tolist() == [[[0, 1, 2], [3, 4, 5], [6, 7, 8]]]
    assert tensor.reshape(4, 3).astype(ms.float32).asnumpy()[3].tolist() == [9, 10, 11]


def floats_at(address, count):
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (count,)).copy()


def test_data_ptr_waits_for_the_value_and_points_at_it():
    ones = ms.Tensor(np.ones((700, 700), np.float32))
    product = ops.matmul(ones, ones)
    values = floats_at(product.data_ptr(), 700 * 700)
    assert (values == 700).all()


@OWN_MEMORY
def test_data_ptr_of_a_slice_points_at_its_first_element():
    tensor = ops.add(ms.Tensor(np.arange(12, dtype=np.float32).reshape(4, 3)), ms.Tensor(np.float32(0)))
    rows = tensor[1:]
    assert floats_at(rows.data_ptr(), 9).tolist() == list(range(3, 12)) and rows.is_contiguous()


def test_a_transposed_tensor_says_that_it_is_not_contiguous_and_asnumpy_has_its_order():
    tensor = ops.add(ms.Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), ms.Tensor(np.float32(0)))
    assert not tensor.T.is_contiguous()
    assert tensor.T.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert floats_at(tensor.T.contiguous().data_ptr(), 6).tolist() == [0, 3, 1, 4, 2, 5]


@pytest.mark.parametrize("read", ["asnumpy", "data_ptr"])
def test_the_error_of_an_operation_is_raised_when_its_value_is_read_at_the_latest(read):
    """Operations run later than they are called: a metric that reads its inputs raises their errors inside update."""
    values, index = ms.Tensor(np.zeros((1, 3), np.float32)), ms.Tensor([[99]], ms.int64)
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        getattr(ops.gather_elements(values, 1, index), read)()
