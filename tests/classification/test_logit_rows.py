"""Log loss, Brier score and calibration error of logits that stay where they are: values, memory, layouts."""

from __future__ import annotations

import math
import tracemalloc

import mindspore as ms
import numpy as np
import pytest

from mindeval import BrierScore, CalibrationError, LogLoss
from mindeval.classification import _logit_rows

METRICS = pytest.mark.parametrize("make", [LogLoss, BrierScore, CalibrationError])


def result(make, *batches, **options) -> dict:
    metric = make(from_logits=True, **options)
    for batch in batches:
        metric.update(*batch)
    metric.eval()
    return {key: value for key, value in metric.result().items() if key != "signature"}


def batch(classes: int, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """float32 logits whose values float16 and bfloat16 hold as well, and labels."""
    rng = np.random.default_rng(classes)
    return np.round(rng.normal(size=(rows, classes)) * 8).astype(np.float32) / 4, rng.integers(0, classes, rows)


def softmax(logits: np.ndarray) -> np.ndarray:
    """The plain definition in NumPy's widest floats."""
    powers = np.exp(logits.astype(np.longdouble) - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def as_float32(logits):
    return logits


def as_float16(logits):
    return logits.astype(np.float16)


def as_float64(logits):
    return logits.astype(np.float64)


def as_tensor(logits):
    return ms.Tensor(logits)


def as_bfloat16_tensor(logits):
    return ms.Tensor(logits).astype(ms.bfloat16)


def as_whole_numbers(logits):
    return np.round(logits).astype(np.int32)


KINDS = [as_float32, as_float16, as_float64, as_tensor, as_bfloat16_tensor]


@pytest.mark.parametrize("kind", [*KINDS, as_whole_numbers])
@pytest.mark.parametrize("classes", [3, 17, 1000, 40000])
def test_values_are_those_of_the_softmax_of_any_dtype(kind, classes):
    logits, labels = batch(classes)
    if kind is as_whole_numbers:
        logits = np.round(logits)
    p = softmax(logits)
    own = p[np.arange(len(labels)), labels]
    error = 1e-12 if kind in (as_float64, as_whole_numbers) else 3.2e-7  # the kernel's, see docs/kernels.md
    assert result(LogLoss, (kind(logits), labels))["log_loss"] == pytest.approx(float(-np.log(own).mean()), abs=error)
    expected = float(((p - np.eye(classes)[labels]) ** 2).sum(axis=1).mean()) if classes <= 1000 else None
    if expected is None:
        expected = float(((p**2).sum(axis=1) - 2 * own + 1).mean())
    assert result(BrierScore, (kind(logits), labels))["brier_score"] == pytest.approx(expected, abs=1e-12)
    bins = result(CalibrationError, (kind(logits), labels), n_bins=10)["bins"]
    highest, best = p.max(axis=1).astype(np.float64), p.argmax(axis=1)
    for place in range(10):
        inside = (highest > place / 10) & (highest <= (place + 1) / 10)
        assert bins["count"][place] == inside.sum()
        if inside.any():
            assert bins["accuracy"][place] == (best == labels)[inside].mean()
            assert bins["confidence"][place] == pytest.approx(highest[inside].mean(), rel=error)


def test_losses_of_likely_labels_keep_their_digits():
    # 50-digit value of log(1 + 2 e^-30)
    logits = np.float32([[30.0, 0.0, 0.0]])
    assert result(LogLoss, (logits, [0]))["log_loss"] == pytest.approx(1.8715245937680347e-13, rel=1e-6)


@METRICS
def test_memory_does_not_grow_with_the_vocabulary(make):
    logits, labels = np.zeros((512, 20000), np.float32), np.zeros(512, np.int64)  # 39 MiB
    metric = make(from_logits=True)
    metric.update(logits[:1], labels[:1])
    tracemalloc.start()
    metric.update(logits, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < logits.nbytes / 8


@METRICS
@pytest.mark.parametrize("kind", KINDS)
def test_layouts_and_batches_give_the_same_bits(make, kind):
    logits, labels = batch(300, rows=24)
    expected = result(make, (kind(logits), labels))
    cut = [(kind(logits[a:b]), labels[a:b]) for a, b in ((0, 1), (1, 9), (9, 24))]
    assert result(make, *cut) == expected
    whole = {**expected, "samples": 4}
    assert result(make, (kind(logits.reshape(4, 6, 300)), labels.reshape(4, 6))) == whole
    assert result(make, (kind(logits), labels.reshape(4, 6))) == whole
    padded = np.full((24, 2, 300), np.nan, np.float32)
    padded[:, 1] = logits
    assert result(make, (kind(padded)[:, 1], labels)) == expected
    if not isinstance(kind(logits), ms.Tensor):
        assert result(make, (np.asfortranarray(kind(logits)), labels)) == expected
        assert result(make, (kind(logits).astype(kind(logits).dtype.newbyteorder(">")), labels)) == expected


@METRICS
@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_do_not_count_are_not_read(make, kind):
    logits, labels = batch(50, rows=12)
    expected = result(make, (kind(logits[:9]), labels[:9]))
    logits[9:] = [[math.nan], [math.inf], [-math.inf]]
    mask = np.arange(12) < 9
    assert result(make, (kind(logits), np.where(mask, labels, -100))) == expected
    assert result(make, (kind(logits), labels, mask)) == expected
    nothing = make(from_logits=True)
    nothing.update(kind(logits), labels, np.zeros(12, bool))
    with pytest.raises(RuntimeError, match="no data"):
        nothing.eval()


@METRICS
def test_an_ignored_label_may_be_a_class(make):
    logits, labels = batch(4)
    kept = labels != 2
    expected = result(make, (logits[kept], labels[kept]))
    assert result(make, (logits, labels), ignore_index=2) == expected


@METRICS
@pytest.mark.parametrize("back_end", ["numpy", "mindspore"])
def test_other_back_ends_agree(make, back_end, monkeypatch):
    logits, labels = batch(1000)
    expected = result(make, (logits, labels))
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    got = result(make, (logits, labels))
    if back_end == "numpy":
        assert got == expected
    name = next(iter(expected))
    assert got[name] == pytest.approx(expected[name], rel=2e-5)


@METRICS
def test_logits_on_a_device_give_the_same_values(make, monkeypatch):
    logits, labels = batch(1000)
    expected = result(make, (logits, labels))
    monkeypatch.setattr(_logit_rows, "device_of", lambda logits: "Ascend")  # only MindSpore's operators read them then
    assert result(make, (ms.Tensor(logits), labels)) == expected
    with pytest.raises(ValueError, match="logits must not be NaN"):
        make(from_logits=True).update(ms.Tensor(np.float32([[0.0, math.nan, 1.0]])), [0])


@METRICS
def test_differences_beyond_float64_are_no_warning(make, recwarn):
    # the label's own logit is 1e308 above 0 and 2e308 above the other: its probability is 1
    assert make(from_logits=True)(np.array([[1e308, -1e308, 0.0]]), [0]) == 0.0
    assert not recwarn.list
