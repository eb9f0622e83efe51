"""What `token_nll` accepts, returns and refuses, with every back end of the CPU."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tracemalloc

import mindspore as ms
import numpy as np
import pytest

from mindeval import kernels
from mindeval.kernels import native, token_nll
from mindeval.kernels.rows import rows_of

BACK_ENDS = ["numpy", "mindspore"] + (["native"] if native.available() else [])
inf, nan = math.inf, math.nan


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", request.param)
    return request.param


FLOATS = pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16, ms.float64])

# log(e^1 + e^3 + e^1) - 3 = 0.2395447662..., - 1 = 2.2395447662...; log 3 = 1.0986122886...
LOGITS = [[1.0, 3.0, 1.0], [1.0, 3.0, 1.0], [0.0, 0.0, 0.0]]
NLL = [0.2395447662218847, 2.2395447662218847, 1.0986122886681098]
# the softmax of 1, 3, 1 is p, q, p with q = e^2 / (2 + e^2): entropy = 0.2395447662 + 2 (1 - q)
ENTROPY = [0.2395447662218847 + 4 / (2 + math.e**2)] * 2 + [1.0986122886681098]


@FLOATS
def test_known_values(dtype, back_end):
    stats = token_nll(ms.Tensor(LOGITS, dtype), [1, 2, 2], rank=True, entropy=True)
    np.testing.assert_allclose(stats.nll, NLL, rtol=0, atol=2e-6 if back_end == "mindspore" else 1e-7)
    np.testing.assert_allclose(stats.entropy, ENTROPY, rtol=0, atol=4e-6)
    assert stats.rank.tolist() == [0, 2, 2]  # equal logits at lower ids come first
    assert (stats.nll.dtype, stats.rank.dtype, stats.entropy.dtype) == (np.float64, np.int64, np.float64)


def test_what_is_not_asked_for_is_none():
    stats = token_nll(np.zeros((2, 3), np.float32), [0, 1])
    assert stats.rank is None
    assert stats.entropy is None


@FLOATS
def test_masked_vocabulary_nan_and_infinity(dtype, back_end):
    rows = [
        [0.0, -inf, 0.0, 0.0],  # a masked class weighs nothing
        [0.0, -inf, 0.0, 0.0],  # and has infinite nll
        [0.0, nan, 0.0, 0.0],
        [0.0, inf, 0.0, 0.0],
        [-inf, -inf, -inf, -inf],
        [inf, nan, 0.0, 0.0],
        [-inf, -inf, 2.0, -inf],  # certain
        [nan, nan, nan, nan],  # ignored
    ]
    labels = [0, 1, 0, 1, 0, 2, 2, -100]
    stats = token_nll(ms.Tensor(np.array(rows, np.float32)).astype(dtype), labels, rank=True, entropy=True)
    np.testing.assert_allclose(stats.nll, [math.log(3), inf, nan, nan, nan, nan, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(stats.entropy, [math.log(3)] * 2 + [nan] * 4 + [0, 0], rtol=1e-6)
    assert stats.rank.tolist() == [0, 3, -1, -1, -1, -1, 0, -1]


def test_nan_anywhere_in_a_long_row_shows(back_end):
    for place in (0, 127, 128, 2047, 2048, 4999):
        x = np.zeros((2, 5000), np.float32)
        x[1, place] = nan
        stats = token_nll(x, [0, 0], rank=True)
        assert not math.isnan(stats.nll[0])
        assert math.isnan(stats.nll[1])
        assert stats.rank[1] == -1


@FLOATS
def test_any_leading_shape(dtype, back_end):
    for shape in ((), (3,), (2, 3), (2, 1, 3)):
        stats = token_nll(
            ms.Tensor(np.zeros((*shape, 5), np.float32)).astype(dtype), np.zeros(shape, np.int32), rank=True
        )
        assert stats.nll.shape == stats.rank.shape == shape
        np.testing.assert_allclose(stats.nll, math.log(5), rtol=1e-6)


def test_no_rows(back_end):
    stats = token_nll(np.zeros((0, 5), np.float32), np.zeros(0, np.int64), rank=True, entropy=True)
    assert [values.shape for values in stats] == [(0,)] * 3
    stats = token_nll(np.zeros((2, 0, 5), np.float16), np.zeros((2, 0), np.int32), rank=True)
    assert stats.nll.shape == stats.rank.shape == (2, 0)
    stats = token_nll(np.zeros((2, 5), np.float32), [-100, -100], rank=True, entropy=True)
    assert (stats.nll.tolist(), stats.rank.tolist(), stats.entropy.tolist()) == ([0, 0], [-1, -1], [0, 0])


def test_ignore_index_may_be_a_class(back_end):
    stats = token_nll(np.zeros((3, 4), np.float32), [0, 1, 2], 0, rank=True)
    assert (stats.nll > 0).tolist() == [False, True, True]
    assert stats.rank.tolist() == [-1, 1, 2]


def test_columns_beyond_the_vocabulary_are_not_read(back_end):
    x = np.zeros((2, 6), np.float32)
    x[:, 4:] = nan
    np.testing.assert_allclose(token_nll(x, [0, 3], vocab_size=4).nll, math.log(4), rtol=1e-6)


@pytest.mark.parametrize(
    ("logits", "labels", "options", "error", "message"),
    [
        (
            np.zeros((3, 8)),
            [0, 8, 0],
            {},
            ValueError,
            r"labels must lie in \[0, 8\), the vocabulary, .* -100, but got 8",
        ),
        (np.zeros((3, 8)), [0, -1, 0], {}, ValueError, r"labels must lie in \[0, 8\).* but got -1"),
        (np.zeros((1, 8)), [6], {"vocab_size": 6}, ValueError, r"labels must lie in \[0, 6\).* but got 6"),
        (np.zeros((1, 8)), [0], {"vocab_size": 9}, ValueError, "vocab_size must be between 1 and the 8 columns .* 9"),
        (np.zeros((1, 8)), [0], {"vocab_size": 0}, ValueError, "vocab_size must be between 1 and"),
        (np.zeros((1, 8)), [0], {"vocab_size": 2.5}, TypeError, "vocab_size must be an integer, but got 2.5"),
        (np.zeros((3, 8, 4)), np.zeros((3, 7), int), {}, ValueError, r"labels must .* \[3, 7\] against \[3, 8, 4\]"),
        (np.zeros((3, 0)), [0, 0, 0], {}, ValueError, "at least one class"),
        (np.float32(1), 0, {}, TypeError, "logits must be a Tensor or a NumPy array, but got float32"),
        (
            np.zeros((1, 8), int),
            [0],
            {},
            TypeError,
            "logits must be float32, float16, bfloat16 or float64, but got int64",
        ),
        ([[0.0, 1.0]], [0], {}, TypeError, "logits must be a Tensor or a NumPy array, but got list"),
        (np.zeros((1, 8)), [0.0], {}, TypeError, "labels must be integers, but got float64"),
        (np.zeros((1, 8)), [True], {}, TypeError, "labels must be integers, but got bool"),
    ],
)
def test_refusals(logits, labels, options, error, message, back_end):
    with pytest.raises(error, match=message):
        token_nll(logits, labels, **options)


def test_integer_tensors_are_refused():
    with pytest.raises(TypeError, match="logits must be float32, float16, bfloat16 or float64, but got int32"):
        token_nll(ms.Tensor([[1, 2]], ms.int32), [0])


@pytest.mark.skipif(
    ms.__version__.startswith("2.7.0"), reason="MindSpore 2.7.0 gives wrong addresses: logits are copied"
)
def test_logits_are_read_where_they_are():
    x = np.zeros((4, 6, 300), np.float32)
    rows, _ = rows_of(x[:, :-1], np.zeros((4, 5), int), -100, 200)
    assert np.shares_memory(rows.logits, x)
    given = ms.Tensor(x)
    view = given[:, :-1]
    rows, _ = rows_of(view, np.zeros((4, 5), int), -100, 200)
    assert rows.logits.ctypes.data == view.data_ptr()
    assert rows.logits.strides == (6 * 300 * 4, 300 * 4, 4)


@pytest.mark.parametrize("back_end", [name for name in BACK_ENDS if name != "mindspore"])
@pytest.mark.parametrize("kind", ["whole", "shifted", "every other column"])
def test_extra_memory_is_below_two_mebibytes(back_end, kind, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    x = np.zeros((4, 40, 32000), np.float16)
    view = {"whole": x, "shifted": x[:, :-1], "every other column": x[..., ::2]}[kind]
    labels = np.zeros(view.shape[:2], np.int64)
    token_nll(view[:1, :1], labels[:1, :1])
    tracemalloc.start()
    try:
        token_nll(view, labels, rank=True, entropy=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20


def test_a_pending_result_is_waited_for():
    a = ms.Tensor(np.ones((400, 3000), np.float32))
    b = ms.Tensor(np.full((3000, 2000), 1 / 3000, np.float32))
    for _ in range(3):
        product = ms.ops.matmul(a, b)
        # all logits are equal: nll = log(2000) = 7.600902459542082
        np.testing.assert_allclose(token_nll(product, np.zeros(400, int)).nll, 7.600902459542082, atol=1e-4)


def test_the_override_is_obeyed_and_checked(monkeypatch):
    def of(dtype):
        return next(row for row in kernels.info() if (row.device, row.dtype) == ("CPU", dtype))

    monkeypatch.setenv("MINDEVAL_KERNEL", "numpy")
    assert of("float32").name == "numpy"
    assert of("float32").reason == "MINDEVAL_KERNEL=numpy"
    assert of("float64").name == "float64"
    monkeypatch.setenv("MINDEVAL_KERNEL", "ascend")
    with pytest.raises(
        RuntimeError, match="MINDEVAL_KERNEL=ascend needs logits on an Ascend device, but they are on CPU"
    ):
        token_nll(np.zeros((1, 3), np.float32), [0])
    monkeypatch.setenv("MINDEVAL_KERNEL", "fast")
    with pytest.raises(
        ValueError, match="MINDEVAL_KERNEL must be one of native, numpy, mindspore, ascend, but got 'fast'"
    ):
        token_nll(np.zeros((1, 3), np.float32), [0])


def test_without_the_library_numpy_computes_and_says_why(monkeypatch):
    monkeypatch.setattr(native, "library", lambda: "not built: there was no C++ compiler when mindeval was installed")
    row = next(row for row in kernels.info() if (row.device, row.dtype) == ("CPU", "float16"))
    assert row.name == "numpy"
    assert "no C++ compiler" in row.reason
    assert abs(token_nll(np.zeros((1, 4), np.float32), [0]).nll[0] - math.log(4)) < 1e-7
    monkeypatch.setenv("MINDEVAL_KERNEL", "native")
    with pytest.raises(RuntimeError, match="MINDEVAL_KERNEL=native, but the native kernel is not built"):
        token_nll(np.zeros((1, 4), np.float32), [0])


def test_number_of_threads_is_the_affinity_or_the_variable(monkeypatch):
    monkeypatch.delenv("MINDEVAL_NUM_THREADS", raising=False)
    if hasattr(os, "sched_getaffinity"):
        assert native.threads() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("MINDEVAL_NUM_THREADS", "3")
    assert native.threads() == 3
    for wrong in ("0", "-1", "two"):
        monkeypatch.setenv("MINDEVAL_NUM_THREADS", wrong)
        with pytest.raises(ValueError, match=f"MINDEVAL_NUM_THREADS must be a positive integer, but got '{wrong}'"):
            native.threads()


def test_the_command_prints_a_line_for_each_device_and_dtype():
    done = subprocess.run([sys.executable, "-m", "mindeval.kernels"], capture_output=True, text=True, check=True)
    lines = [line.split()[:3] for line in done.stdout.splitlines()]
    assert [line[:2] for line in lines[:4]] == [["CPU", d] for d in ("float32", "bfloat16", "float16", "float64")]
    assert [line[0] for line in lines[4:]] == ["GPU"] * 4 + ["Ascend"] * 4
