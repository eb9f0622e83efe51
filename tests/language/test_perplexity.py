"""Perplexity against float64 formulas, over shapes, dtypes, masks, shifts, texts, and what is refused."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
import pytest

from mindeval import Perplexity

RNG = np.random.default_rng(0)
B, T, V = 3, 5, 8
LOGITS = RNG.normal(scale=3, size=(B, T, V)).astype(np.float32)
LABELS = RNG.integers(0, V, (B, T))
LABELS[1, 2:] = -100
RNG_WIDE = RNG.normal(scale=5, size=(4, 6, 3001)).astype(np.float32)
WIDE_LABELS = RNG.integers(0, 3001, (4, 6))


def reference(logits, labels, keep=None):
    """Mean NLL in float64; logits of the labels' shape and V."""
    x = np.asarray(logits, np.float64).reshape(-1, np.shape(logits)[-1])
    y = np.asarray(labels).reshape(-1)
    keep = (y != -100) if keep is None else np.asarray(keep).reshape(-1)
    x, y = x[keep], y[keep]
    top = x.max(-1, keepdims=True)
    return float(np.mean(np.log(np.exp(x - top).sum(-1)) + top[:, 0] - x[np.arange(len(y)), y]))


def evaluated(*inputs, options=None, **named):
    metric = Perplexity(**(options or {}))
    metric.update(*inputs, **named)
    metric.eval()
    return metric.result()


@pytest.mark.parametrize(
    "wrap", [ms.Tensor, np.asarray, lambda x: np.asarray(x).tolist()], ids=["Tensor", "array", "list"]
)
@pytest.mark.parametrize("label_dtype", [np.int32, np.int64, np.float32])
def test_logits_of_three_and_two_axes_and_flattened_ones(wrap, label_dtype):
    labels, expected = LABELS.astype(label_dtype), reference(LOGITS, LABELS)
    for logits, ids in (
        (LOGITS, labels),
        (LOGITS.reshape(-1, V), labels.reshape(-1)),
        (LOGITS.reshape(-1, V), labels),
    ):
        result = evaluated(wrap(logits), wrap(ids))
        assert result["nll"] == pytest.approx(expected, abs=1e-6)
        assert result["perplexity"] == pytest.approx(math.exp(expected), rel=1e-6)
        assert result["bits_per_token"] == pytest.approx(expected / math.log(2), abs=2e-6)
        assert result["tokens"] == 12


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_every_dtype_is_scored_on_the_values_that_it_holds(dtype):
    tensor = ms.Tensor(LOGITS).astype(dtype)
    held = tensor.astype(ms.float32).asnumpy()
    assert evaluated(tensor, LABELS)["nll"] == pytest.approx(reference(held, LABELS), abs=1e-6)


def test_samples_are_rows_with_any_position_that_counts():
    labels = LABELS.copy()
    labels[2] = -100
    assert evaluated(LOGITS, labels)["samples"] == 2
    assert evaluated(LOGITS.reshape(-1, V), labels.reshape(-1))["samples"] == 7


def test_a_mask_and_an_ignored_label_are_the_same():
    mask = LABELS != -100
    clean = np.where(mask, LABELS, 3)
    assert evaluated(LOGITS, clean, mask) == evaluated(LOGITS, LABELS)
    assert evaluated(LOGITS, clean, ms.Tensor(mask)) == evaluated(LOGITS, LABELS)


def test_nan_and_wild_labels_at_positions_that_do_not_count_do_not_matter():
    logits, labels = LOGITS.copy(), LABELS.copy()
    logits[1, 2:] = np.nan
    assert evaluated(logits, labels) == evaluated(LOGITS, LABELS)
    labels[1, 2:] = 12345
    assert evaluated(logits, labels, LABELS != -100) == evaluated(LOGITS, LABELS)


def test_shift_scores_each_position_on_the_next_label():
    ids = RNG.integers(0, V, (B, T))
    expected = reference(LOGITS[:, :-1], ids[:, 1:])
    for logits in (LOGITS, ms.Tensor(LOGITS), LOGITS.reshape(-1, V), ms.Tensor(LOGITS.reshape(-1, V))):
        assert evaluated(logits, ids, options={"shift": True})["nll"] == pytest.approx(expected, abs=1e-6)


def test_padding_columns_of_the_vocabulary_are_left_out():
    padded = np.concatenate([LOGITS, np.full((B, T, 3), 50.0, np.float32)], axis=-1)
    assert evaluated(padded, LABELS, options={"vocab_size": V})["nll"] == evaluated(LOGITS, LABELS)["nll"]
    with pytest.raises(ValueError, match=r"\[0, 8\).*but got 9"):
        evaluated(padded, np.full((B, T), 9), options={"vocab_size": V})


def test_probabilities_on_request():
    probabilities = np.exp(LOGITS.astype(np.float64))
    probabilities /= probabilities.sum(-1, keepdims=True)
    options = {"from_probabilities": True}
    result = evaluated(probabilities, LABELS, options=options)
    assert result["nll"] == pytest.approx(reference(LOGITS, LABELS), abs=1e-12)
    assert "input:probabilities" in result["signature"]
    certain = evaluated(np.float32([[0.0, 1.0]]), [0], options=options)
    assert certain["perplexity"] == math.inf and certain["inf"] == 1
    with pytest.raises(ValueError, match=r"probabilities must lie in \[0, 1\]"):
        evaluated(LOGITS, LABELS, options=options)
    ids = np.abs(LABELS)  # shifted, flattened, masked
    ids[ids == 100] = 1
    shifted = evaluated(probabilities.reshape(-1, V), ids, ids != 1, options={**options, "shift": True})
    keep = (ids != 1)[:, 1:]
    assert shifted["nll"] == pytest.approx(reference(LOGITS[:, :-1], ids[:, 1:], keep), abs=1e-12)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_nll_computed_elsewhere_is_summed_exactly(dtype):
    nll = ms.Tensor([[0.5, 1.5], [4.0, np.nan]], dtype)
    mask = np.array([[True, True], [True, False]])
    for inputs in ((nll, mask), (nll, ms.Tensor(mask)), (nll, None, mask)):
        result = evaluated(*inputs)
        assert result["nll"] == 2.0 and result["tokens"] == 3 and result["samples"] == 2


def test_texts_or_their_sizes_give_bits_per_byte_and_words():
    nll = np.array([[math.log(2.0)] * 4, [math.log(2.0)] * 4])
    texts = ["ab cd ef", "你好 x"]  # 8 bytes, 3 words; 8 bytes, 2 words
    expected = {"bytes": 16, "bits_per_byte": 0.5, "words": 5}
    mask = np.ones((2, 4), bool)
    for result in (
        evaluated(nll, texts=texts),
        evaluated(nll, mask, texts),
        evaluated(nll, mask, np.array(texts)),
        evaluated(nll, None, None, texts),
        evaluated(nll, n_bytes=[8, 8], n_words=[3, 2]),
        evaluated(nll, n_bytes=16, n_words=ms.Tensor(5)),
    ):
        assert {name: result[name] for name in expected} == pytest.approx(expected)
        assert result["byte_perplexity"] == pytest.approx(2**0.5)
        assert result["word_perplexity"] == pytest.approx(2 ** (8 / 5))
    by_column = evaluated(nll, mask, np.array([8, 8]))
    assert by_column["bytes"] == 16 and "words" not in by_column


def test_a_row_that_is_wholly_masked_adds_no_bytes():
    mask = np.array([[True, True], [False, False]])
    assert evaluated(np.ones((2, 2), np.float32), mask, ["abc", "repeated to fill the batch"])["bytes"] == 3


def test_bytes_given_for_some_batches_only_give_no_figures_per_byte():
    metric = Perplexity()
    metric.update(np.float32([1.0]), texts=["abc"])
    metric.update(np.float32([1.0]))
    metric.eval()
    assert "bits_per_byte" not in metric.result()


def test_overflow_of_the_exponential_keeps_the_finite_nll():
    result = evaluated(np.float32([[0.0, 2000.0]]), [0])
    assert result["perplexity"] == math.inf and result["nll"] == pytest.approx(2000.0, abs=1e-7) and result["inf"] == 0
    # 110 nats: float32 softmax gives inf; e^110 by the float64 library
    assert evaluated(np.float32([[110.0, 0.0, 0.0, 0.0]]), [1])["perplexity"] == pytest.approx(
        math.exp(110.0), rel=1e-6
    )


def test_nan_logits_give_nan_and_are_counted():
    logits = LOGITS.copy()
    logits[0, 0, 0] = np.nan
    result = evaluated(logits, LABELS)
    assert math.isnan(result["perplexity"]) and result["nan"] == 1 and result["tokens"] == 12


def test_a_batch_with_nothing_to_count_adds_nothing():
    metric = Perplexity()
    metric.update(LOGITS, LABELS)
    value = metric.eval()
    metric.update(LOGITS, np.full((B, T), -100))
    assert metric.eval() == value
    metric.clear()
    metric.update(LOGITS, np.full((B, T), -100))
    with pytest.raises(RuntimeError, match="no data"):
        metric.eval()


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        (
            (LOGITS.transpose(0, 2, 1).copy(), LABELS),
            ValueError,
            r"vocabulary last.*\[3, 8, 5\] against labels \[3, 5\]",
        ),
        ((LOGITS, LABELS[:, :3]), ValueError, r"\[3, 5, 8\] against labels \[3, 3\]"),
        ((LOGITS, LABELS + 0.5), ValueError, "labels must be class ids.*not whole numbers"),
        ((LOGITS, np.full((B, T), V)), ValueError, r"labels must lie in \[0, 8\).*but got 8"),
        ((LOGITS, np.full((B, T), -1)), ValueError, "but got -1"),
        ((LOGITS, LABELS, np.ones((B, T + 1), bool)), ValueError, r"mask must have shape \[3, 5\], but got \[3, 6\]"),
        ((LOGITS, LABELS, np.ones((B, T), np.int32)), TypeError, "mask must be boolean.*int32"),
        ((np.zeros((0, V), np.float32), np.zeros(0, np.int32)), ValueError, "batch must not be empty"),
        ((LOGITS.astype(np.int32), LABELS), TypeError, "logits"),
        (([[1.0, 2.0], [1.0]], [0, 1]), ValueError, "rows of different lengths"),
        (("text", LABELS), TypeError, "but got str"),
        ((LOGITS, ["a"]), TypeError, "labels must be numbers, but got a list of 1 str"),
        ((LOGITS[0, 0], LABELS[0, 0]), ValueError, r"\[N, V\] or \[B, T, V\]"),
        ((LABELS,), ValueError, "per-token NLL"),
        ((np.float32(1.0),), ValueError, "per-token NLL"),
        (
            (np.ones((2, 2), np.float32), np.ones((2, 2), np.int32)),
            TypeError,
            r"must be a boolean mask \(mask != 0\), but is int32",
        ),
        ((LOGITS, LABELS, None, ["one text"] * 2), ValueError, "one number for each of the 3 rows"),
        ((LOGITS, LABELS, None, [-1, 2, 3]), ValueError, "n_bytes must be >= 0"),
    ],
)
def test_what_is_refused(inputs, error, message):
    metric = Perplexity()
    metric.update(LOGITS, LABELS)
    before = metric.state_dict()
    with pytest.raises(error, match="For 'Perplexity.update', .*" + message):
        metric.update(*inputs)
    assert metric.state_dict() == before


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="vocab_size must be at least 1"):
        Perplexity(vocab_size=0)
    with pytest.raises(ValueError, match="shift=True"):
        evaluated(LOGITS[0], LABELS[0], options={"shift": True})
    with pytest.raises(ValueError, match="texts come without n_bytes"):
        evaluated(np.float32([1.0]), texts=["a"], n_bytes=1)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32])
def test_native_kernel_and_its_numpy_twin_give_the_same_bits(dtype, monkeypatch):
    from mindeval import kernels

    if not any(end.name == "native" for end in kernels.info()):
        pytest.skip("the native kernel was not built: its twin is what runs here")
    states = {}
    for name in ("native", "numpy"):
        monkeypatch.setenv("MINDEVAL_KERNEL", name)
        metric = Perplexity()
        metric.update(ms.Tensor(RNG_WIDE).astype(dtype), WIDE_LABELS)
        states[name] = metric.state_dict()
    assert states["native"] == states["numpy"]


@pytest.mark.parametrize(
    ("inputs", "named", "message"),
    [
        ((LOGITS,), {}, r"without labels the input must be the per-token NLL.*\[3, 5, 8\]"),
        ((np.float32([-1.5, -2.5]),), {}, "NLL must be >= 0, but got -2.5: log-probabilities have the other sign"),
        ((np.float32([-np.inf, 1]),), {}, "NLL must be >= 0"),
        ((np.float32([1.0]), [True], [True]), {"texts": ["a"]}, "takes one mask"),
        ((np.ones((2, 3), np.float32), np.eye(3)[:2]), {}, "for one-hot labels give their argmax"),
        ((np.float32([1.0]),), {"n_bytes": 3.5}, "n_bytes must be whole numbers"),
        ((np.float32([1.0]),), {"texts": ["\ud800"]}, "must be valid Unicode"),
    ],
)
def test_inputs_that_look_like_others_are_refused(inputs, named, message):
    with pytest.raises((TypeError, ValueError), match="For 'Perplexity.update', .*" + message):
        evaluated(*inputs, **named)


def test_a_log_probability_that_half_precision_rounded_above_zero_is_taken():
    assert evaluated(np.float16([-0.0005, 1.0005]))["nll"] == pytest.approx(0.5, abs=1e-3)


def test_fewer_probabilities_than_the_declared_vocabulary_are_refused():
    with pytest.raises(ValueError, match="vocab_size is 9, but there are only 4"):
        evaluated(np.full((1, 4), 0.25), [0], options={"from_probabilities": True, "vocab_size": 9})
