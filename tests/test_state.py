"""States: exactness against math.fsum and fractions, layouts, and what they refuse."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindeval.state import Count, Counts, ExactSum, Grouped, Rows

finite = st.floats(allow_nan=False, allow_infinity=False)
EXTREMES = [
    [1.7976931348623157e308, -1.7976931348623157e308] * 2 + [1.7976931348623157e308],
    [5e-324, -5e-324, 5e-324],
    [1e308, 5e-324, -1e308],
    [2.0**-1074, 2.0**-1022, 2.0**-1023, -(2.0**-1060)],
    [0.1] * 10,
    [1e16, 1.0, -1e16, 1e-16],
    [-0.0],
    [],
]


def exact(values) -> ExactSum:
    total = ExactSum()
    total.add(np.array(values, np.float64))
    return total


@pytest.mark.parametrize("values", EXTREMES)
def test_exact_sum_equals_fsum_at_the_extremes(values):
    assert exact(values).over(1) == math.fsum(values)


@settings(max_examples=300, deadline=None)
@given(st.lists(finite, max_size=30))
def test_exact_sum_equals_the_sum_of_fractions(values):
    total = exact(values)
    assert total.fraction() == sum((Fraction(value) for value in values), Fraction(0))
    try:
        expected = math.fsum(values)
    except OverflowError:  # an intermediate sum of fsum is out of range; the exact sum may be too
        return
    assert total.over(1) == expected


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_exact_sum_of_every_float_dtype_is_that_of_its_values(dtype):
    values = np.random.default_rng(0).normal(size=5000).astype(dtype)
    assert exact(values).over(1) == math.fsum(values.tolist())
    assert exact(values).over(7) == float(Fraction(sum(map(Fraction, values.tolist()))) / 7)


def test_exact_sum_of_more_values_than_one_chunk_of_a_bincount(monkeypatch):
    from mindeval.state import exact_sum

    monkeypatch.setattr(exact_sum, "_CHUNK", 7)
    values = np.random.default_rng(1).normal(size=100) * 1e9
    assert exact(values).over(1) == math.fsum(values.tolist())


def test_exact_sum_takes_integers_that_float64_cannot_hold():
    total = ExactSum()
    total.add(np.array([2**62 + 1, 2**62 + 1], np.int64))
    assert total.fraction() == 2 * (2**62 + 1)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, math.nan], math.nan),
        ([math.inf, 1e308], math.inf),
        ([-math.inf], -math.inf),
        ([math.inf, -math.inf], math.nan),
    ],
)
def test_exact_sum_keeps_finite_values_beside_nan_and_infinities(values, expected):
    total = exact([*values, 2.5])
    assert total.over(1) == expected or (math.isnan(expected) and math.isnan(total.over(1)))
    assert total.fraction() == sum(Fraction(value) for value in [*values, 2.5] if math.isfinite(value))
    assert total.nan + total.pinf + total.ninf == sum(not math.isfinite(value) for value in values)


def test_exact_sum_beyond_float64_is_inf_and_comes_back():
    total = exact([1.7976931348623157e308] * 4)
    assert total.over(1) == math.inf
    assert total.over(4) == 1.7976931348623157e308
    assert exact([-1.7976931348623157e308] * 4).over(1) == -math.inf


def test_exact_sum_adds_a_mean_as_often_as_it_stands_for():
    total = ExactSum()
    total.add((0.1, 3))
    assert total.fraction() == 3 * Fraction(0.1)
    with pytest.raises(ValueError, match="-1 times"):
        total.add((0.1, -1))


@pytest.mark.parametrize("values", [np.array(["a"]), np.array([1j]), np.array([1.0], np.longdouble)])
def test_exact_sum_refuses_what_it_cannot_hold_exactly(values):
    with pytest.raises(TypeError, match="ExactSum takes"):
        ExactSum().add(values)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(finite, max_size=5), min_size=1, max_size=6))
def test_summed_words_of_exact_sums_are_the_words_of_the_sum(parts):
    words = sum(exact(part).pack(len(parts)) for part in parts)
    total = ExactSum()
    total.unpack(words)
    assert total.units == exact([value for part in parts for value in part]).units


def test_the_longest_possible_words_survive_65536_ranks():
    largest = exact([1.7976931348623157e308] * 1000 + [math.nan, math.inf])
    total = ExactSum()
    total.unpack(largest.pack(65536) * 65536)
    assert (total.units, total.nan, total.pinf) == (largest.units * 65536, 65536, 65536)


@pytest.mark.parametrize(
    "state", [Count(), Counts((2, 3)), ExactSum(), Grouped(Count(), ["a", 1]), Grouped(ExactSum())]
)
def test_a_fresh_state_adds_nothing_and_keeps_its_layout(state):
    assert state.zero().layout == state.layout
    before = json.dumps(state.state())
    state.merge(state.zero())
    assert json.dumps(state.state()) == before
    if not state.dynamic:
        assert state.pack(8).size == state.size


def test_count_refuses_negative_and_broken_numbers():
    for wrong in (-1, 0.5):
        with pytest.raises(ValueError, match=f"whole numbers >= 0, but got {wrong}"):
            Count().add(wrong)


def test_counts_that_an_int64_sum_cannot_hold_are_refused():
    count = Count()
    count.add(2**62)
    assert count.pack(1).tolist() == [2**62]
    with pytest.raises(OverflowError, match="over 2 ranks"):
        count.pack(2)
    counts = Counts(1)
    counts.add(np.array([2**61]))
    with pytest.raises(OverflowError, match="over 4 ranks"):
        counts.pack(4)


def test_counts_refuse_another_shape_or_floats():
    with pytest.raises(ValueError, match=r"shape \[2\], but got int64 \[3\]"):
        Counts(2).add(np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="float64"):
        Counts(2).add(np.array([1.0, 2.0]))


def test_grouped_discovers_keys_or_refuses_undeclared_ones():
    discovered = Grouped(Count())
    discovered.add({"b": 1, np.int64(3): 2})
    discovered.add({"b": 4, "a": 0})
    assert {key: count.value for key, count in discovered.value.items()} == {3: 2, "a": 0, "b": 5}
    with pytest.raises(ValueError, match="'c' is not one of the declared groups"):
        Grouped(Count(), ["a", "b"]).add({"c": 1})
    with pytest.raises(TypeError, match="a str or an int"):
        discovered.add({1.5: 1})
    with pytest.raises(ValueError, match="fixed size"):
        Grouped(Rows(1))


@pytest.mark.parametrize(
    ("state", "saved", "message"),
    [
        (Grouped(Count(), ["a", "b"]), [["a", 1]], r"saved groups must be \['a', 'b'\]: missing are \['b'\]"),
        (Grouped(Count(), ["a"]), [["a", 1], ["c", 1]], r"saved groups must be \['a'\]: unknown are \['c'\]"),
        (Grouped(Count(), range(20)), [[3, 1]], r"missing are \[0, 1, 2, 4, .*, \.\.\. 19 in all\]"),
        (Grouped(Count()), [["a", 1], ["a", 2]], "saved groups must differ, but got 2 with 1 names"),
        (Grouped(Count()), [["a", -1]], "a saved count must be an int >= 0, but got -1"),
        (Rows(1), {"ids": False}, r"saved rows must have \['ids', 'rows'\]: missing are \['rows'\]"),
        (Rows(1), {"ids": False, "rows": [], "n": 0}, r"unknown are \['n'\]"),
        (Rows(1), {"ids": False, "rows": [[1, 2]]}, r"saved rows must be int64 \[n, 1\], but got int64 \[1, 2\]"),
        (Rows(1), {"ids": True, "rows": [[1]]}, r"saved rows must be int64 \[n, 2\], but got int64 \[1, 1\]"),
        (Rows(1), {"ids": False, "rows": [[0.5]]}, r"but got float64 \[1, 1\]"),
        (Rows(1), {"ids": False, "rows": [[2**63]]}, r"but got uint64 \[1, 1\]"),
        (Rows(1), {"ids": 0, "rows": [[1]]}, "with ids or not, but got .* and 0"),
        (Rows(1), {"ids": False, "rows": None}, "saved rows must be a list"),
        (Rows(1), [[1]], r"saved rows must have \['ids', 'rows'\], but got \[\[1\]\]"),
        (ExactSum(), {"units": "0x1", "nan": 0, "pinf": 0}, r"missing are \['ninf'\]"),
        (Counts(2), [1, 2, 3], r"of shape \[2\], but got \[1, 2, 3\]"),
        (Counts(2), [0.5, 1], "must be integers"),
    ],
)
def test_a_state_loads_nothing_but_what_such_a_state_saved(state, saved, message):
    with pytest.raises(ValueError, match=message):
        state.load(saved)


def test_rows_are_sorted_and_repeated_ids_count_once():
    rows = Rows(2)
    rows.add((np.array([[5, 1], [3, 0]]), np.array([9, 4])))
    rows.add((np.array([[5, 1]]), np.array([9])))
    assert rows.value.tolist() == [[3, 0], [5, 1]]
    without = Rows(2)
    without.add(np.array([[5, 1], [3, 0], [5, 1]]))
    assert without.value.tolist() == [[3, 0], [5, 1], [5, 1]]


def test_rows_refuse_one_id_with_two_contents_and_ids_on_some_rows_only():
    rows = Rows(1)
    with pytest.raises(ValueError, match="sample id 7 was given twice"):
        rows.add((np.array([[1], [2]]), np.array([7, 7])))
    rows = Rows(1)
    rows.add(np.array([[1]]))
    other = Rows(1)
    other.add((np.array([[1]]), np.array([7])))
    with pytest.raises(ValueError, match="ids for all or for none"):
        rows.check_merge(other)


def test_rows_refuse_other_shapes():
    with pytest.raises(ValueError, match=r"shape \[n, 2\], but got int64 \[3\]"):
        Rows(2).add(np.array([1, 2, 3]))
    with pytest.raises(ValueError, match="sample ids must be 1 integers"):
        Rows(2).add((np.array([[1, 2]]), np.array([1, 2])))


def test_counts_neither_wrap_nor_take_negative_numbers():
    counts = Counts(1)
    counts.add(np.array([2**63 - 1]))
    with pytest.raises(OverflowError, match="do not fit int64"):
        counts.add(np.array([1]))
    with pytest.raises(ValueError, match=r"numbers in \[0, 2\^63\)"):
        counts.add(np.array([2**64 - 1], np.uint64))
    with pytest.raises(ValueError, match=r"numbers in \[0, 2\^63\)"):
        counts.add(np.array([-1]))
