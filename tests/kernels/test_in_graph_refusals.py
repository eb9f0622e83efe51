"""What `TokenNLL` refuses: with shapes known at compile time, with shapes that are not, and in the operator itself."""

from __future__ import annotations

import ctypes

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import initializer

from mindeval.kernels import TokenNLL, native

BACK_ENDS = ["mindspore"] + (["native"] if native.available() else [])
needs_native = pytest.mark.skipif(not native.available(), reason="the native kernel is not built")


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", request.param)
    return request.param


@pytest.fixture(params=["pynative", "jit", "graph"])
def call(request):
    """Calls a network in a mode."""
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)

    def run(network, *inputs):
        if request.param != "jit":
            return network(*inputs).asnumpy()

        @ms.jit
        def compiled(logits, labels):
            return network(logits, labels)

        return compiled(*inputs).asnumpy()

    yield run
    ms.set_context(mode=before)


def zeros(*shape, dtype=np.float32):
    return Tensor(np.zeros(shape, dtype))


@pytest.mark.parametrize("shape", [(2, 5), (2, 2), (3, 2), (6,), (2, 3, 4), (2, 3, 1), (3000, 300), ()])
def test_labels_of_another_shape_are_refused(shape, back_end, call):
    with pytest.raises(ValueError, match="labels must have the shape of the logits without their last axis, but got"):
        call(TokenNLL(), zeros(2, 3, 4), zeros(*shape, dtype=np.int32))


@pytest.mark.parametrize("labels", [(2, 5), (3, 2), (6,), (2, 3)])
@pytest.mark.parametrize("graph", [False, True])
def test_labels_of_another_shape_are_refused_where_shapes_are_not_known_before(labels, graph, back_end):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    try:
        network = TokenNLL()
        network.set_inputs(
            Tensor(shape=[None, None, 4], dtype=ms.float32), Tensor(shape=[None] * len(labels), dtype=ms.int32)
        )
        if labels == (2, 3):
            # all logits are equal: nll = log 4 = 1.3862943611
            got = network(zeros(2, 3, 4), zeros(2, 3, dtype=np.int32)).asnumpy()
            np.testing.assert_allclose(got, np.full((2, 3), 1.3862943611), rtol=1e-6)
        else:
            with pytest.raises(ValueError, match="labels must have the shape"):
                network(zeros(2, 3, 4), zeros(*labels, dtype=np.int32)).asnumpy()
    finally:
        ms.set_context(mode=before)


def test_other_dtypes_ranks_and_vocabularies_are_refused(back_end, call):
    labels = zeros(2, 3, dtype=np.int32)
    with pytest.raises(TypeError, match="logits must be float32, float16 or bfloat16, but got Float64"):
        call(TokenNLL(), zeros(2, 3, 4, dtype=np.float64), labels)
    with pytest.raises(TypeError, match="logits must be float32, float16 or bfloat16, but got Int32"):
        call(TokenNLL(), zeros(2, 3, 4, dtype=np.int32), labels)
    with pytest.raises(TypeError, match="labels must be int32 or int64, but got Float32"):
        call(TokenNLL(), zeros(2, 3, 4), zeros(2, 3))
    with pytest.raises(TypeError, match="labels must be int32 or int64, but got UInt8"):
        call(TokenNLL(), zeros(2, 3, 4), zeros(2, 3, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"logits must have at least 5 classes, but got shape \(2, 3, 4\)"):
        call(TokenNLL(vocab_size=5), zeros(2, 3, 4), labels)
    with pytest.raises(ValueError, match="labels must have the shape of the logits"):
        call(TokenNLL(), Tensor(np.float32(1)), Tensor(np.int32(0)))


def test_arrays_and_lists_are_refused():
    with pytest.raises(TypeError, match="logits must be a Tensor, but got ndarray"):
        TokenNLL()(np.zeros((2, 4), np.float32), zeros(2, dtype=np.int32))
    with pytest.raises(TypeError, match="labels must be a Tensor, but got list"):
        TokenNLL()(zeros(2, 4), [0, 1])


def test_tensors_of_an_initializer_have_their_values(back_end, call):
    logits = initializer("normal", (2, 4), ms.float32)
    got = call(TokenNLL(), logits, initializer("ones", (2,), ms.int32))
    x = logits.asnumpy().astype(np.float64)
    np.testing.assert_allclose(got, np.log(np.exp(x).sum(axis=1)) - x[:, 1], rtol=1e-6)


def test_one_row_without_leading_axes(back_end, call):
    got = call(TokenNLL(), zeros(4), Tensor(np.int32(3)))
    assert got.shape == ()
    assert abs(float(got) - 1.3862943611) < 1e-6  # log 4


@pytest.mark.parametrize(
    "options", [{"ignore_index": 0.5}, {"ignore_index": True}, {"ignore_index": "1"}, {"vocab_size": 2.5}]
)
def test_options_that_are_no_integers_are_refused(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be an integer, but got"):
        TokenNLL(**options)


def test_numpy_integers_are_options(back_end):
    got = TokenNLL(np.int64(-1), np.int32(3))(zeros(2, 4), Tensor(np.int32([-1, 0]))).asnumpy()
    np.testing.assert_allclose(got, [0, 1.0986122887], rtol=1e-6)  # log 3


@needs_native
def test_the_native_operator_says_that_it_has_no_gradient(monkeypatch, call):
    monkeypatch.setenv("MINDEVAL_KERNEL", "native")

    class Gradient(nn.Cell):
        def __init__(self):
            super().__init__()
            self.gradient = ops.GradOperation()
            self.network = TokenNLL()

        def construct(self, logits, labels):
            return self.gradient(self.network)(logits, labels)

    with pytest.raises(RuntimeError, match="Custom's bprop not defined"):
        call(Gradient(), zeros(2, 4), zeros(2, dtype=np.int32))


@needs_native
@pytest.mark.parametrize(
    ("shapes", "dtypes", "options", "code"),
    [
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int32", "int64", "float64"), (-100, 0), 0),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int64", "int64", "float64"), (-100, 4), 0),
        ([(2, 3, 4), (3, 2), (2,), (3, 2)], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(2, 3, 4), (2, 5), (2,), (2, 5)], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(2, 3, 4), (6,), (2,), (6,)], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(2, 3, 4), (2, 3), (2,), (2, 2)], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int32", "int64", "float32"), (-100, 0), 1),
        ([(2, 3, 0), (2, 3), (2,), (2, 3)], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(), (), (2,), ()], ("float32", "int32", "int64", "float64"), (-100, 0), 1),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float64", "int32", "int64", "float64"), (-100, 0), 2),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int8", "int64", "float64"), (-100, 0), 3),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int32", "int64", "float64"), (-100, 5), 4),
        ([(2, 3, 4), (2, 3), (2,), (2, 3)], ("float32", "int32", "int64", "float64"), (-100, -1), 4),
    ],
)
def test_the_operator_itself_checks_all_axes(shapes, dtypes, options, code, monkeypatch):
    """As MindSpore calls it, in buffers large enough for any of the shapes."""
    monkeypatch.setenv("MINDEVAL_NUM_THREADS", "")
    buffers = [np.zeros(64, np.int64) for _ in shapes]
    buffers[2][:2] = options
    data = (ctypes.c_void_p * 4)(*(buffer.ctypes.data for buffer in buffers))
    ranks = (ctypes.c_int * 4)(*map(len, shapes))
    axes = [(ctypes.c_int64 * max(1, len(shape)))(*shape) for shape in shapes]
    pointers = (ctypes.POINTER(ctypes.c_int64) * 4)(*(ctypes.cast(a, ctypes.POINTER(ctypes.c_int64)) for a in axes))
    names = (ctypes.c_char_p * 4)(*(name.encode() for name in dtypes))
    operator = ctypes.CDLL(str(native.LIBRARY)).mindeval_custom_token_nll
    assert operator(4, data, ranks, pointers, names, None, None) == code
    assert operator(3, data, ranks, pointers, names, None, None) == 1
