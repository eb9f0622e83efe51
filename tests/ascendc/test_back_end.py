"""`kernels.token_nll` on an Ascend device, without one: tensors on the CPU, the Ascend C kernel on the stand-in.

Everything but the card, CANN and MindSpore's launch is what runs there: dispatch, the check at first use, the view's
strides, the tiling, the kernel, the last steps in float64.
"""

from __future__ import annotations

import sys
import warnings

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor

from mindeval import kernels
from mindeval.kernels import ascend, ascend_files, dispatch, numpy_twin, on_device
from mindeval.kernels.rows import rows_of, scatter

DTYPES = {"float32": ms.float32, "float16": ms.float16, "bfloat16": ms.bfloat16}


class Module:
    """What the build makes, with the stand-in in the place of the card."""

    def __init__(self, stand_in):
        self.stand_in = stand_in
        self.calls = 0

    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        self.calls += 1
        return Tensor(self.stand_in.run_tensor(logits, labels.asnumpy(), vocab, with_rank))

    def mindeval_linear_max_sum(self, hidden, weight, labels, start, end):
        """aclnnFusedLinearOnlineMaxSum from its definition, in float64."""
        logits = hidden.astype(ms.float32).asnumpy().astype(np.float64) @ weight.astype(ms.float32).asnumpy().T
        largest = logits.max(1)
        ids = labels.asnumpy()
        inside = (ids >= start) & (ids <= end)
        own = logits[np.arange(len(ids)), np.where(inside, ids - start, 0)]
        outputs = largest, np.exp(logits - largest[:, None]).sum(1), np.where(inside, own - largest, 0)
        return tuple(Tensor(output.astype(np.float32)) for output in outputs)


class WrongSum(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        statistics = super().mindeval_token_statistics(logits, labels, vocab, with_rank).asnumpy()
        return Tensor(statistics * np.array([[1], [1.001], [1], [1]], np.float32))


class WrongRank(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        statistics = super().mindeval_token_statistics(logits, labels, vocab, with_rank).asnumpy()
        return Tensor(statistics + np.array([[0], [0], [0], [1]], np.float32))


class NotANumber(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        return Tensor(np.full((4, len(labels)), np.nan, np.float32))


class ReadsIgnoredRows(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        read = Tensor(np.maximum(labels.asnumpy(), 0))
        return super().mindeval_token_statistics(logits, read, vocab, with_rank)


class WrongShape(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        return Tensor(super().mindeval_token_statistics(logits, labels, vocab, with_rank).asnumpy().T.copy())


class Fails(Module):
    def mindeval_token_statistics(self, logits, labels, vocab, with_rank):
        raise RuntimeError("aicore exception")


class ExclusiveEnd(Module):
    """A CANN that takes the end of a shard for the first id behind it."""

    def mindeval_linear_max_sum(self, hidden, weight, labels, start, end):
        return super().mindeval_linear_max_sum(hidden, weight, labels, start, end - 1)


class ShardsIgnored(Module):
    def mindeval_linear_max_sum(self, hidden, weight, labels, start, end):
        low = Tensor(np.clip(labels.asnumpy(), start, end))
        return super().mindeval_linear_max_sum(hidden, weight, low, start, end)


@pytest.fixture
def pretend(monkeypatch, tmp_path):
    """Makes the CPU pass for an Ascend device with a build whose module is given."""

    def start(module, missing=None):
        missing = {"logits": None, "linear": None, **(missing or {})}
        monkeypatch.setattr(ascend_files, "installed_build", lambda: (tmp_path, {}))
        monkeypatch.setattr(ascend, "operators", lambda: ascend.Operators(module, missing))
        monkeypatch.setattr(ascend, "on_ascend", lambda: True)
        monkeypatch.setattr(dispatch, "device_of", lambda logits: "Ascend")
        ascend._proved_wrong.cache_clear()
        return module

    yield start
    ascend._proved_wrong.cache_clear()


def random_batch(shape, dtype, seed=0):
    generator = np.random.default_rng(seed)
    logits = Tensor(generator.normal(0, 3, shape).astype(np.float32)).astype(DTYPES[dtype])
    labels = generator.integers(0, shape[-1], shape[:-1])
    labels[..., 0] = -100
    return logits, labels


def by_twin(logits, labels, **options):
    """The same statistics by the NumPy twin, on a NumPy copy of the logits (exact in float32)."""
    values = logits.astype(ms.float32).asnumpy().copy()
    rows, shape = rows_of(values, labels, -100, options.get("vocab_size"))
    return scatter(shape, rows.index, numpy_twin.token_nll(rows, True, False))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7, 300), (3, 5, 1001), (2, 2, 3, 40)])
def test_agrees_with_the_numpy_twin(stand_in, pretend, dtype, shape):
    module = pretend(Module(stand_in))
    logits, labels = random_batch(shape, dtype)
    stats = kernels.token_nll(logits, labels, rank=True)
    assert module.calls == 2  # the check at first use, and the batch
    expected = by_twin(logits, labels)
    assert stats.nll.dtype == np.float64
    assert np.abs(stats.nll - expected.nll).max() < 2e-6
    np.testing.assert_array_equal(stats.rank, expected.rank)


def test_a_view_is_read_where_it_lies(stand_in, pretend):
    pretend(Module(stand_in))
    whole, _ = random_batch((3, 6, 129), "float16", seed=1)
    labels = np.random.default_rng(2).integers(0, 100, (3, 5))
    view = whole[:, :-1]
    assert not view.is_contiguous()
    stats = kernels.token_nll(view, labels, vocab_size=100, rank=True)
    expected = by_twin(view, labels, vocab_size=100)
    assert np.abs(stats.nll - expected.nll).max() < 2e-6
    np.testing.assert_array_equal(stats.rank, expected.rank)


def test_special_rows_are_those_of_every_back_end(stand_in, pretend):
    pretend(Module(stand_in))
    values = np.random.default_rng(3).normal(0, 3, (6, 300)).astype(np.float32)
    values[0, 5] = np.nan
    values[1, 5] = np.inf
    values[2] = -np.inf
    values[3, 7] = -np.inf
    values[4, :200] = -np.inf
    labels = np.array([0, 0, 0, 7, 250, -100])
    stats = kernels.token_nll(Tensor(values), labels, rank=True)
    expected = by_twin(Tensor(values), labels)
    np.testing.assert_allclose(stats.nll, expected.nll, atol=2e-6)
    np.testing.assert_array_equal(stats.rank, expected.rank)


def test_wrong_labels_are_refused_before_the_launch(stand_in, pretend):
    module = pretend(Module(stand_in))
    kernels.token_nll(*random_batch((2, 10), "float32"))
    with pytest.raises(ValueError, match=r"labels must lie in \[0, 10\)"):
        kernels.token_nll(Tensor(np.zeros((2, 10), np.float32)), [0, 10])
    assert module.calls == 2


def test_entropy_comes_from_the_blockwise_operators(stand_in, pretend):
    module = pretend(Module(stand_in))
    stats = kernels.token_nll(Tensor(np.zeros((2, 8), np.float32)), [0, 1], entropy=True)
    np.testing.assert_allclose(stats.entropy, np.log(8), rtol=1e-6)  # a uniform row
    assert module.calls == 1  # the check only


def test_no_row_that_counts_needs_no_launch(stand_in, pretend):
    module = pretend(Module(stand_in))
    stats = kernels.token_nll(Tensor(np.zeros((2, 8), np.float32)), [-100, -100], rank=True)
    assert (stats.nll.tolist(), stats.rank.tolist()) == ([0, 0], [-1, -1])
    assert module.calls == 1


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (WrongSum, "nll of row 2"),
        (WrongRank, "ranks are"),
        (NotANumber, "ranks are"),
        (ReadsIgnoredRows, "the statistics of an ignored row"),
        (WrongShape, "statistics have shape"),
        (Fails, "RuntimeError: aicore exception"),
    ],
)
def test_an_operator_that_fails_its_check_is_reported_once_and_not_used(stand_in, pretend, module, reason):
    pretend(module(stand_in))
    logits, labels = random_batch((3, 50), "float32")
    with pytest.warns(RuntimeWarning, match=f"failed its check at first use: .*{reason}"):
        stats = kernels.token_nll(logits, labels, rank=True)
    expected = on_device.token_nll(logits, labels, -100, None, True, False)
    np.testing.assert_array_equal(stats.nll, expected.nll)
    np.testing.assert_array_equal(stats.rank, expected.rank)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.token_nll(logits, labels)
    assert reason in dispatch.choose("Ascend", "float32").reason


def test_info_says_that_the_kernel_proved_itself(stand_in, pretend):
    pretend(Module(stand_in))
    rows = {row.dtype: row for row in kernels.info() if row.device == "Ascend"}
    assert [rows[dtype].name for dtype in ("float32", "float16", "bfloat16")] == ["ascend"] * 3
    assert rows["float64"].name == "mindspore"
    assert rows["float16"].reason == "the Ascend C kernel agreed with the NumPy twin in this process"


def test_the_override_insists(stand_in, pretend, monkeypatch):
    pretend(Fails(stand_in))
    monkeypatch.setenv("MINDEVAL_KERNEL", "ascend")
    with (
        pytest.warns(RuntimeWarning),
        pytest.raises(RuntimeError, match="MINDEVAL_KERNEL=ascend, but .*aicore exception"),
    ):
        kernels.token_nll(*random_batch((2, 10), "float32"))


def test_the_override_can_decline(stand_in, pretend, monkeypatch):
    module = pretend(Module(stand_in))
    monkeypatch.setenv("MINDEVAL_KERNEL", "mindspore")
    kernels.token_nll(*random_batch((2, 10), "float32"))
    assert module.calls == 0


def test_a_part_that_was_not_built_says_why(stand_in, pretend):
    pretend(Module(stand_in), missing={"logits": "the Ascend C kernel was not built: no cmake"})
    assert ascend.unusable("logits", "float32") == "the Ascend C kernel was not built: no cmake"
    assert ascend.unusable("linear", "float16") is None
    assert ascend.unusable("linear", "float32") == "made for float16, bfloat16 only"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_hidden_states_times_weight(stand_in, pretend, dtype):
    pretend(Module(stand_in))
    generator = np.random.default_rng(4)
    hidden = Tensor(generator.normal(0, 1, (2, 3, 16)).astype(np.float32)).astype(DTYPES[dtype])
    weight = Tensor(generator.normal(0, 1, (50, 16)).astype(np.float32)).astype(DTYPES[dtype])
    labels = np.array([[0, 49, -100], [7, 7, 8]])
    assert ascend.can_fuse_linear(hidden, weight, plain=True)
    stats = ascend.linear_token_nll(hidden, weight, labels)
    logits = hidden.astype(ms.float32).asnumpy().astype(np.float64) @ weight.astype(ms.float32).asnumpy().T
    expected = by_twin(Tensor(logits.astype(np.float32)), labels)
    assert np.abs(stats.nll - expected.nll).max() < 1e-5
    assert stats.nll[0, 2] == 0


@pytest.mark.parametrize("part", ["logits", "linear"])
def test_shards_of_the_vocabulary_combine_to_the_whole(stand_in, pretend, part):
    pretend(Module(stand_in))
    generator = np.random.default_rng(5)
    hidden = generator.integers(-1, 2, (4, 32)).astype(np.float16)
    weight = generator.integers(-1, 2, (90, 32)).astype(np.float16)
    logits = hidden @ weight.T  # small integers: exact
    labels = np.array([0, 29, 30, 89])

    def sums(start, stop):
        if part == "linear":
            return ascend.linear_sums(Tensor(hidden), Tensor(weight[start:stop]), labels, start)
        return ascend.logit_sums(Tensor(logits[:, start:stop]), labels, start)

    parts = [sums(start, start + 30) for start in (0, 30, 60)]
    largest = np.max([part[0] for part in parts], axis=0)
    total = np.sum([part[1] * np.exp(part[0] - largest) for part in parts], axis=0)
    target = np.sum([part[2] for part in parts], axis=0)
    np.testing.assert_array_equal(target, logits[np.arange(4), labels])
    nll = np.log(total) + largest - target
    assert np.abs(nll - by_twin(Tensor(logits.astype(np.float32)), labels).nll).max() < 1e-6


@pytest.mark.parametrize("module", [ExclusiveEnd, ShardsIgnored])
def test_an_operator_with_other_shards_than_documented_is_not_used(stand_in, pretend, module):
    pretend(module(stand_in))
    with pytest.warns(RuntimeWarning, match="failed its check at first use"):
        assert ascend.unusable("linear", "bfloat16") is not None


def test_the_fused_operator_is_only_for_plain_logits_of_its_dtypes(stand_in, pretend):
    pretend(Module(stand_in))
    hidden, weight = Tensor(np.zeros((2, 16), np.float16)), Tensor(np.zeros((5, 16), np.float16))
    assert not ascend.can_fuse_linear(hidden, weight, plain=False)
    assert not ascend.can_fuse_linear(hidden, weight.astype(ms.bfloat16), plain=True)
    assert not ascend.can_fuse_linear(hidden.astype(ms.float32), weight.astype(ms.float32), plain=True)
    wide = Tensor(np.zeros((2, 65_535), np.float16))
    assert not ascend.can_fuse_linear(wide, wide, plain=True)


def test_a_build_that_cannot_be_loaded_says_so(monkeypatch, tmp_path):
    (tmp_path / "mindeval_ascend.py").write_text("raise ImportError('undefined symbol: aclnnInit')\n")
    monkeypatch.setattr(ascend_files, "installed_build", lambda: (tmp_path, {"kernels": None}))
    monkeypatch.syspath_prepend(str(tmp_path))
    ascend.operators.cache_clear()
    try:
        assert "cannot be loaded: undefined symbol: aclnnInit" in ascend.operators()
    finally:
        ascend.operators.cache_clear()


def test_a_build_is_loaded_with_its_kernels(monkeypatch, tmp_path):
    (tmp_path / "mindeval_ascend.py").write_text("opened = []\nopen_kernels = opened.append\n")
    record = {"kernels": "kernels/lib/libmindeval_kernels.so", "missing": {"logits": None, "linear": None}}
    monkeypatch.setattr(ascend_files, "installed_build", lambda: (tmp_path, record))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "mindeval_ascend", raising=False)
    ascend.operators.cache_clear()
    try:
        loaded = ascend.operators()
        assert loaded.module.opened == [str(tmp_path / "kernels/lib/libmindeval_kernels.so")]
    finally:
        ascend.operators.cache_clear()
        sys.modules.pop("mindeval_ascend", None)


# ---- the glue's view of a tensor ----


def test_shape_of_views(stand_in):
    def fields(shape):
        return shape.rows, shape.vocab, shape.group_rows, shape.group_stride, shape.row_stride

    assert fields(stand_in.shape_of([6, 10], [10, 1], 10)) == (6, 10, 6, 0, 10)
    assert fields(stand_in.shape_of([2, 3, 10], [40, 10, 1], 9)) == (6, 9, 3, 40, 10)
    assert fields(stand_in.shape_of([3, 1], [1, 7], 1)) == (3, 1, 3, 0, 1)


@pytest.mark.parametrize(
    ("sizes", "strides", "vocab", "message"),
    [
        ([10], [1], 10, r"must be \[N, V\] or \[B, T, V\]"),
        ([2, 2, 2, 10], [40, 20, 10, 1], 10, r"must be \[N, V\] or \[B, T, V\]"),
        ([2, 10], [1, 2], 10, "must be adjacent in memory"),
        ([2, 10], [10, 1], 11, "between 1 and 16777216 classes"),
        ([2, 10], [10, 1], 0, "between 1 and 16777216 classes"),
        ([2, 2**24 + 1], [2**24 + 1, 1], 2**24 + 1, "between 1 and 16777216 classes"),
        ([2**20, 2**13, 2], [2**14, 2, 1], 2, "too many rows"),
    ],
)
def test_views_that_the_kernel_cannot_address_are_refused(stand_in, sizes, strides, vocab, message):
    with pytest.raises(ValueError, match=message):
        stand_in.shape_of(sizes, strides, vocab)
