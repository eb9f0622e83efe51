"""Counting decisions and labels: native, NumPy and one loop in Python agree."""

from __future__ import annotations

import numpy as np
import pytest

from mindeval.kernels import native
from mindeval.kernels.count import count_classes, count_pairs

BACK_ENDS = [
    "numpy",
    pytest.param("native", marks=pytest.mark.skipif(not native.available(), reason="the native kernel is not built")),
]
every_back_end = pytest.mark.parametrize("back_end", BACK_ENDS)


@pytest.fixture(autouse=True)
def chosen(back_end, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)


def by_hand(decisions, labels, size, ignored, counted):
    """The definition, a position at a time."""
    pairs, classes = np.zeros((size, size), int), np.zeros((size, 3), int)
    for k, (decision, label) in enumerate(zip(decisions.tolist(), labels.tolist())):
        if label == ignored if counted is None else not counted[k]:
            continue
        pairs[label, decision] += 1
        classes[label] += (label == decision, 0, 1)
        classes[decision, 1] += 1
    return pairs.tolist(), classes.tolist()


@every_back_end
@pytest.mark.parametrize(
    "dtypes", [("i8", "i8"), ("i4", "i4"), ("i8", "i4"), ("i4", "i8"), ("u1", "i2"), (">i8", "i8")]
)
@pytest.mark.parametrize(("n", "size"), [(0, 3), (1, 1), (7, 2), (1003, 10), (3001, 33)])  # 33^2 cells: one table
def test_equals_the_definition(dtypes, n, size):
    rng = np.random.default_rng(n)
    decisions, labels = (rng.integers(0, size, n).astype(dtype) for dtype in dtypes)
    kept = labels.copy()
    kept[::5] = 77  # ignored
    mask = rng.random(n) < 0.5
    for truth, counted in ((labels, None), (kept, None), (kept, mask & (kept != 77))):
        pairs, classes = by_hand(decisions, truth, size, 77, counted)
        assert count_pairs(decisions, truth, size, 77, counted).tolist() == pairs
        assert count_classes(decisions, truth, size, 77, counted).tolist() == classes


@every_back_end
def test_views_booleans_and_unaligned_arrays():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 2, (2, 70000))  # more than a block
    decisions, labels = wide[0, ::2], wide[1, ::-2]
    pairs, classes = by_hand(decisions, labels, 2, -100, None)
    assert count_pairs(decisions, labels, 2, -100).tolist() == pairs
    assert count_pairs(decisions.astype(bool), labels, 2, -100).tolist() == pairs
    assert count_classes(decisions, labels, 2, -100).tolist() == classes
    unaligned = np.frombuffer(b"\0" + labels.tobytes(), np.uint8)[1:].view(np.int64)
    assert not unaligned.flags.aligned
    assert count_pairs(decisions, unaligned, 2, -100).tolist() == pairs


@every_back_end
@pytest.mark.parametrize("wrong", [-1, 10, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("place", [0, 5, 1002])
def test_a_class_that_is_out_of_range_is_noticed_where_it_counts(wrong, dtype, place):
    rng = np.random.default_rng(1)
    decisions, labels = rng.integers(0, 10, (2, 1003)).astype(dtype)
    off = decisions.copy()
    off[place] = wrong
    for count in (count_pairs, count_classes):
        assert count(off, labels, 10, -100) is None
        assert count(decisions, np.where(off == wrong, dtype(wrong), labels), 10, -100) is None
    counted = np.arange(1003) != place
    pairs, classes = by_hand(off, labels, 10, -100, counted)
    assert count_pairs(off, labels, 10, -100, counted).tolist() == pairs
    assert count_classes(off, labels, 10, -100, counted).tolist() == classes


@every_back_end
@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_threads_share_the_positions_and_each_notices_a_class_out_of_range(threads, monkeypatch):
    monkeypatch.setenv("MINDEVAL_NUM_THREADS", threads)
    monkeypatch.setattr("mindeval.kernels.count._POSITIONS_PER_THREAD", 10)
    rng = np.random.default_rng(2)
    for n in (9, 50, 1003):
        decisions, labels = rng.integers(0, 10, (2, n))
        counted = rng.random(n) < 0.5
        for flags in (None, counted):
            pairs, classes = by_hand(decisions, labels, 10, 3, flags)
            assert count_pairs(decisions, labels, 10, 3, flags).tolist() == pairs
            assert count_classes(decisions, labels, 10, 3, flags).tolist() == classes
        for place in range(0, n, 7):
            off = decisions.copy()
            off[place] = 10
            assert count_pairs(off, labels, 10, -100) is None
            assert count_classes(off, labels, 10, -100) is None
