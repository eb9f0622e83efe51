"""A vocabulary in parts, over ranks or block by block: the statistics of the whole."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import mindspore as ms
import numpy as np
import pytest
from logit_rows import FORMATS, kinds, labels_for, reference, to_format
from thread_ranks import ThreadRanks

from mindeval.kernels import linear_token_nll, native, numpy_twin, on_device, token_nll, vocab_parallel_nll
from mindeval.kernels.rows import Rows
from mindeval.kernels.vocab_parallel import over_ranks

inf, nan = math.inf, math.nan
LOCK = threading.Lock()


def split(
    x, cuts: list[int], labels, *, ignore_index: int = -100, carrier: str = "int64", other: dict | None = None
) -> list:
    """What each rank returns or raises, columns [cuts[r], cuts[r + 1]) being rank r's."""
    ranks = ThreadRanks(len(cuts) - 1, carrier)

    def work(rank):
        start, stop = cuts[rank.rank], cuts[rank.rank + 1]
        own = (other or {}).get(rank.rank, labels)
        return over_ranks(x[..., start:stop], own, start, rank, ignore_index, True, True)

    return ranks.run(work)


def one_at_a_time(function: Callable) -> Callable:
    """MindSpore's operators do not bear several threads, which stand for processes here."""

    def locked(*arguments):
        with LOCK:
            return function(*arguments)

    return locked


def whole_tensor(stored: np.ndarray) -> ms.Tensor:
    if stored.dtype != np.uint16:
        return ms.Tensor(stored)
    return ms.Tensor((stored.astype(np.uint32) << 16).view(np.float32)).astype(ms.bfloat16)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("world", [2, 3, 4, 8, 16])
def test_shards_are_within_1e_7_of_the_whole(name, world):
    size = 5003
    cuts = [size * r // world for r in range(world + 1)]
    for kind, x in kinds(size, 9, world):
        stored = to_format(x, name)
        labels = labels_for(stored, world)
        want = reference(stored, labels)
        results = split(whole_tensor(stored), cuts, labels)
        for got in results:
            assert np.abs(got.nll - want.nll).max() <= 1e-7, kind
            assert (got.nll >= 0).all(), kind
            np.testing.assert_array_equal(got.rank, want.rank, kind)
            assert np.abs(got.entropy - want.entropy).max() <= 4e-6, kind
            assert got.nll.tobytes() == results[0].nll.tobytes(), "every rank has the same bits"


def test_float64_shards_keep_float64_accuracy():
    x = np.random.default_rng(0).standard_normal((6, 1000)) * 5
    labels = labels_for(x, 0)
    got, want = split(x, [0, 10, 700, 1000], labels)[1], reference(x, labels)
    np.testing.assert_allclose(got.nll, want.nll, rtol=1e-15, atol=1e-12)
    np.testing.assert_array_equal(got.rank, want.rank)
    np.testing.assert_allclose(got.entropy, want.entropy, atol=2e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("back_end", ["numpy", "mindspore"] + (["native"] if native.available() else []))
def test_special_rows_are_those_of_the_whole(dtype, back_end, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    for name in ("label_logits", "part_statistics"):
        monkeypatch.setattr(on_device, name, one_at_a_time(getattr(on_device, name)))
    x = np.zeros((8, 6), dtype)
    x[0, :3] = -inf  # the first shard is masked
    x[1, 3:] = -inf  # the second is
    x[2] = -inf
    x[3, 4] = nan
    x[4, 1] = inf
    x[5, 5] = -inf  # the label's logit
    x[6, [0, 3, 5]] = -inf  # as many -inf before the label, which is -inf too
    labels = [4, 1, 0, 0, 0, 5, 5, -100]
    whole = token_nll(x, labels, rank=True, entropy=True)
    np.testing.assert_array_equal(np.isnan(whole.nll), [False, False, True, True, True, False, False, False])
    for cuts in ([0, 3, 6], [0, 1, 2, 6], [0, 5, 6], [0, 0, 6], [0, 6, 6]):
        for got in split(x, cuts, labels):
            np.testing.assert_allclose(got.nll, whole.nll, rtol=1e-6, atol=1e-12)
            np.testing.assert_array_equal(got.rank, whole.rank)
            np.testing.assert_allclose(got.entropy, whole.entropy, rtol=1e-5, atol=1e-12)
    assert whole.rank.tolist() == [1, 1, -1, -1, -1, 5, 5, -1]


def test_ranks_may_hold_any_contiguous_part_in_any_order():
    x = np.random.default_rng(3).standard_normal((4, 12)).astype(np.float32)
    labels = [0, 5, 11, 7]
    places = [(8, 12), (0, 3), (3, 8)]

    def work(rank):
        start, stop = places[rank.rank]
        return over_ranks(x[:, start:stop], labels, start, rank, -100, True, False)

    want = token_nll(x, labels, rank=True)
    for got in ThreadRanks(3).run(work):
        np.testing.assert_allclose(got.nll, want.nll, atol=1e-7)
        assert got.rank.tolist() == want.rank.tolist()
        assert got.entropy is None


def test_small_whole_numbers_carry_the_words_too():
    """Devices that cannot sum int64."""
    x = np.random.default_rng(3).standard_normal((4, 12)).astype(np.float32)
    exact, limbs = (split(x, [0, 5, 12], [0, 5, 11, 7], carrier=carrier)[0] for carrier in ("int64", "float32"))
    assert exact.nll.tobytes() == limbs.nll.tobytes()
    assert exact.entropy.tobytes() == limbs.entropy.tobytes()


def test_every_rank_raises_alike():
    x = np.zeros((2, 10), np.float32)
    for error in split(x, [0, 5, 10], [0, 10]):
        assert isinstance(error, ValueError)
        assert "labels must lie in [0, 10), the vocabulary of all ranks, or be ignore_index -100, but got 10" in str(
            error
        )
    for error in split(x, [0, 5, 10], [0, 1], other={1: [0, 2]}):
        assert isinstance(error, RuntimeError)
        assert "the ranks of the group must have the same labels" in str(error)
    refused, other = split(x, [0, 5, 10], [0, 1], other={0: [0.5, 1.0]})
    assert isinstance(refused, TypeError)
    assert "labels must be integers" in str(refused)
    assert "the inputs of 1 of the group's 2 ranks were refused" in str(other)

    def gap(rank):
        return over_ranks(x[:, :4], [0, 1], 5 * rank.rank, rank, -100, False, False)

    for error in ThreadRanks(2).run(gap):
        assert isinstance(error, ValueError)
        assert "must cover the vocabulary from 0 on, each once, but got [0, 4), [5, 9)" in str(error)


def test_alone_it_is_token_nll():
    x = np.random.default_rng(3).standard_normal((2, 3, 12)).astype(np.float32)
    labels = np.array([[0, 5, -100], [7, 7, 7]])
    got, want = vocab_parallel_nll(x, labels, 0, rank=True, entropy=True), token_nll(x, labels, rank=True, entropy=True)
    for a, b in zip(got, want):
        np.testing.assert_array_equal(a == 0, b == 0)
        np.testing.assert_allclose(a, b, atol=1e-12)
    with pytest.raises(ValueError, match=r"cover the vocabulary from 0 on, each once, but got \[4, 16\)"):
        vocab_parallel_nll(x, labels, 4)


@pytest.mark.skipif(not native.available(), reason="the native kernel is not built")
@pytest.mark.parametrize("name", FORMATS)
def test_parts_have_the_same_bits_in_both_back_ends(name):
    rng = np.random.default_rng(0)
    for size in (5, 128, 2050, 4500):
        for _, x in kinds(size, 6, size):
            stored = to_format(x, name)
            labels = rng.integers(-size, 2 * size, 6)
            targets = (rng.standard_normal(6) * 20).astype(np.float32)
            targets[5] = -inf
            given = Rows(stored, name, np.arange(6), labels, stored, targets)
            for a, b in zip(native.token_nll(given, True, True), numpy_twin.token_nll(given, True, True)):
                np.testing.assert_array_equal(a.view(np.int64), b.view(np.int64))


# -- hidden states and the weight of the head -------------------------------------------------------------------------


def head(n: int, size: int, width: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal((n, width)).astype(np.float32)
    weight = (rng.standard_normal((size, width)) / 4).astype(np.float32)
    labels = rng.integers(0, size, n)
    labels[::3] = (hidden @ weight.T).argmax(axis=1)[::3]
    return hidden, weight, labels


def expected(hidden, weight, labels, bias=0.0, scale=1.0, cap=inf):
    z = (hidden.astype(np.float64) @ weight.T.astype(np.float64) + bias) * scale
    return reference(z if cap == inf else cap * np.tanh(z / cap), labels)


@pytest.mark.parametrize("back_end", ["numpy", "mindspore"] + (["native"] if native.available() else []))
@pytest.mark.parametrize("size", [3, 2048, 5003])
@pytest.mark.parametrize("options", [{}, {"scale": 0.0625}, {"cap": 3.0}, {"bias": True, "scale": 1.5, "cap": 5.0}])
def test_linear_head(back_end, size, options, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    hidden, weight, labels = head(11, size, 24)
    bias = np.random.default_rng(1).standard_normal(size).astype(np.float32) if options.get("bias") else None
    scale, cap = options.get("scale"), options.get("cap")
    want = expected(hidden, weight, labels, 0 if bias is None else bias, scale or 1, cap or inf)
    for convert in (lambda a: a, lambda a: None if a is None else ms.Tensor(a)):
        args = convert(hidden), convert(weight), labels, convert(bias), scale, cap
        got = linear_token_nll(*args, rank=True, entropy=True)
        np.testing.assert_allclose(got.nll, want.nll, atol=1e-5)
        assert (got.nll >= 0).all()
        np.testing.assert_array_equal(got.rank, want.rank)  # no two of these logits are within a rounding
        np.testing.assert_allclose(got.entropy, want.entropy, atol=2e-5)
        np.testing.assert_allclose(linear_token_nll(*args).nll, got.nll, atol=1e-5)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_linear_head_of_16_bits_has_float32_products(dtype):
    hidden, weight, labels = head(5, 4000, 64)
    h, w = ms.Tensor(hidden).astype(dtype), ms.Tensor(weight).astype(dtype)
    want = expected(h.astype(ms.float32).asnumpy(), w.astype(ms.float32).asnumpy(), labels)
    np.testing.assert_allclose(linear_token_nll(h, w, labels).nll, want.nll, atol=1e-5)


def test_linear_head_with_masked_classes_shapes_and_ignored_labels():
    hidden, weight, _ = head(6, 2500, 8)
    bias = np.zeros(2500, np.float32)
    bias[2100:] = -inf
    labels = np.array([[0, -100, 2200], [1, 2, 3]])
    got = linear_token_nll(hidden.reshape(2, 3, 8), weight, labels, bias, rank=True, entropy=True)
    z = (hidden @ weight.T + bias).reshape(2, 3, 2500)
    want = token_nll(z, labels, rank=True, entropy=True)
    np.testing.assert_allclose(got.nll, want.nll, atol=1e-5)
    assert got.nll[0, 2] == inf
    np.testing.assert_array_equal(got.rank, want.rank)
    np.testing.assert_allclose(got.entropy, want.entropy, atol=2e-5)
    assert linear_token_nll(hidden, weight, np.full(6, -100)).nll.tolist() == [0] * 6


def test_a_likely_label_of_a_linear_head_keeps_its_accuracy():
    hidden, weight = np.full((1, 4), 5, np.float32), np.zeros((6000, 4), np.float32)
    weight[3000] = 1.5  # logits: 30 for the label, 0 for 5,999 others: nll = log1p(5999 exp(-30))
    got = linear_token_nll(hidden, weight, [3000]).nll[0]
    np.testing.assert_allclose(got, np.log1p(5999 * np.exp(-30.0)), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"hidden": np.zeros((2, 5), np.float32)}, ValueError, r"hidden must have .* hidden \[2, 5\], weight \[7, 4\]"),
        ({"labels": [0]}, ValueError, r"labels must have shape .* \[1\] against hidden \[2, 4\]"),
        ({"labels": [0, 7]}, ValueError, r"labels must lie in \[0, 7\).* but got 7"),
        ({"bias": np.zeros(3, np.float32)}, ValueError, r"bias must have shape \[V\] .* \[3\] against"),
        ({"soft_cap": 0.0}, ValueError, "soft_cap must be positive, but got 0.0"),
        ({"weight": np.zeros((7, 4))}, TypeError, "weight must be float32, float16 or bfloat16, but got float64"),
        ({"hidden": [[1.0] * 4] * 2}, TypeError, "hidden must be a Tensor or a NumPy array, but got list"),
    ],
)  # fmt: skip
def test_linear_head_refusals(change, error, message):
    given = {"hidden": np.zeros((2, 4), np.float32), "weight": np.zeros((7, 4), np.float32), "labels": [0, 1]}
    with pytest.raises(error, match=message):
        linear_token_nll(**{**given, **change})
