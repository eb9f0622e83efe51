"""The wire format on simulated ranks: verdicts, errors that are the same on all, and the number of AllReduces."""

from __future__ import annotations

import numpy as np
import pytest
from thread_ranks import ThreadRanks

from mindeval import wire
from mindeval.communicator import from_limbs, limb_bits, to_limbs
from mindeval.state import Count, Counts, ExactSum, Grouped, Rows


def filled(state, contribution):
    state.add(contribution)
    return state


def run(world, states_of, agreement=lambda rank: ["agreed"], error=lambda rank: None, contributes=lambda rank: True):
    """wire.reduce on every rank; results by rank and the number of AllReduces."""
    ranks = ThreadRanks(world)

    def work(communicator):
        rank = communicator.rank
        return wire.reduce({"m": states_of(rank)}, agreement(rank), error(rank), contributes(rank), communicator)["m"]

    return ranks.run(work), ranks.calls


def one_error(results):
    """The text of the error that every rank raised."""
    assert all(isinstance(result, wire.DistributedError) for result in results), results
    assert len({str(result) for result in results}) == 1
    return str(results[0])


@pytest.mark.parametrize("world", [2, 3, 65536])
def test_a_frame_summed_over_agreeing_ranks_is_ok_and_over_others_is_not(world):
    body = np.arange(5)
    mine, other = wire.packed_frame("a", body, None), wire.packed_frame("b", body, None)
    assert wire.verdict(mine * world, world) == "ok"
    assert wire.verdict(mine * (world - 1) + other, world) == "differ"
    assert wire.verdict(mine * (world - 1) + wire.packed_frame("a", body, ValueError()), world) == "failed"
    assert wire.verdict(mine * (world - 1), world) == "foreign"
    assert wire.verdict(np.ones(wire.FRAME, np.int64), world) == "foreign"


@pytest.mark.parametrize("world", [1, 2, 8, 4096, 65536])
def test_float32_limbs_sum_exactly_over_that_many_ranks(world):
    words = np.array([0, 1, -1, 2**62 // world, -(2**62 // world), 2**31 // world], np.int64)
    limbs = to_limbs(words, world)
    assert limbs.dtype == np.float32
    total = limbs.astype(np.float64) * world
    assert total.max() < 2**24  # so every partial sum is exact in float32, in any order
    assert from_limbs(total.astype(np.float32), world).tolist() == [int(word) * world for word in words]


def test_float32_limbs_refuse_a_world_in_which_they_could_round():
    with pytest.raises(ValueError, match="2\\^23"):
        limb_bits(2**24 + 1)


def test_an_error_that_cannot_be_written_down_leaves_no_rank_waiting():
    class Unprintable(Exception):
        def __str__(self):
            raise ValueError

    for error, shown in [
        (ValueError("half \ud800 of a pair"), r"half \ud800 of a pair"),
        (Unprintable(), "Unprintable"),
    ]:
        results, _ = run(3, lambda rank: {"n": Count()}, error=lambda rank, error=error: error if rank == 1 else None)
        assert f"rank 1: {type(error).__name__}" in one_error(results)
        assert shown in one_error(results)


@pytest.mark.parametrize(
    ("make", "fill", "expected", "calls"),
    [
        (lambda: {"n": Count()}, lambda rank: {"n": rank + 1}, 1 + 2 + 3, 1),
        (lambda: {"n": Counts(3000)}, lambda rank: {"n": np.full(3000, rank)}, [3] * 3000, 2),
        (lambda: {"n": Grouped(Count(), "ab")}, lambda rank: {"n": {"a": rank}}, [["a", 3], ["b", 0]], 1),
        (lambda: {"n": Grouped(Count())}, lambda rank: {"n": {f"k{rank}": 1, "all": 1}},
         [["all", 3], ["k0", 1], ["k1", 1], ["k2", 1]], 3),
        (lambda: {"n": Rows(1)}, lambda rank: {"n": np.full((rank, 1), rank)},
         {"ids": False, "rows": [[1], [2], [2]]}, 2),
        (lambda: {"n": Rows(1)}, lambda rank: {"n": (np.array([[7], [rank]]), np.array([0, rank + 1]))},
         {"ids": True, "rows": [[0, 7], [1, 0], [2, 1], [3, 2]]}, 2),
    ],
    ids=["small", "large", "declared groups", "discovered groups", "rows", "rows with ids"],
)  # fmt: skip
def test_states_of_each_kind_take_the_promised_number_of_collectives(make, fill, expected, calls):
    results, made = run(3, lambda rank: {name: filled(state, fill(rank)[name]) for name, state in make().items()})
    assert [result["n"].state() for result in results] == [expected] * 3
    assert made == calls


def test_every_kind_at_once_beside_a_payload_that_does_not_fit_takes_three_collectives():
    def states(rank):
        rows, groups = filled(Rows(1), np.array([[rank]])), filled(Grouped(Counts(2)), {rank: np.array([1, rank])})
        return {
            "big": filled(Counts(5000), np.full(5000, rank)),
            "rows": rows,
            "groups": groups,
            "sum": filled(ExactSum(), 0.1),
        }

    results, made = run(2, states)
    for result in results:
        assert result["big"].value.tolist() == [1] * 5000
        assert result["rows"].value.tolist() == [[0], [1]]
        assert result["groups"].state() == [[0, [1, 0]], [1, [1, 1]]]
        assert result["sum"].over(1) == 0.2
    assert made == 3


def test_more_ranks_than_lengths_fit_the_frame(monkeypatch):
    monkeypatch.setattr(wire, "FRAME", 18)
    results, _ = run(
        5, lambda rank: {"r": filled(Rows(1), np.array([[rank]])), "g": filled(Grouped(Count()), {"x": 1})}
    )
    assert all(result["r"].value.tolist() == [[0], [1], [2], [3], [4]] for result in results)
    assert all(result["g"].state() == [["x", 5]] for result in results)


@pytest.mark.parametrize("state", [Count(), Counts(3000), Grouped(Count()), Rows(1), ExactSum()])
def test_ranks_without_data_add_nothing(state):
    full = {Count: 2, Counts: np.ones(3000, int), Grouped: {"x": 1}, Rows: np.array([[1]]), ExactSum: 0.5}[type(state)]
    results, _ = run(3, lambda rank: {"s": filled(state.zero(), full) if rank == 1 else state.zero()})
    assert all(str(result["s"].state()) == str(filled(state.zero(), full).state()) for result in results)


def test_a_rank_that_does_not_contribute_sends_nothing_and_gets_the_value():
    states = {"n": filled(Count(), 5), "g": filled(Grouped(Count()), {"x": 1}), "r": filled(Rows(1), np.array([[3]]))}
    results, _ = run(2, lambda rank: states, contributes=lambda rank: rank == 1)
    for result in results:
        assert [result[name].state() for name in "ngr"] == [5, [["x", 1]], {"ids": False, "rows": [[3]]}]


def test_an_error_on_one_rank_is_raised_by_all_with_its_text():
    results, _ = run(
        3, lambda rank: {"n": Count()}, error=lambda rank: ValueError("bad label 7") if rank == 2 else None
    )
    assert one_error(results) == "a metric failed on rank 2: ValueError: bad label 7"


def test_states_that_cannot_be_packed_are_an_error_of_all_ranks():
    results, _ = run(2, lambda rank: {"n": filled(Count(), 2**63 if rank else 1), "r": Rows(1)})
    assert "rank 1: OverflowError: a count of 9223372036854775808 does not fit" in one_error(results)


def test_rows_of_two_ranks_that_contradict_each_other_raise_on_all():
    results, _ = run(2, lambda rank: {"r": filled(Rows(1), (np.array([[rank]]), np.array([7])))})
    assert [str(result) for result in results] == ["sample id 7 was given twice with different contents"] * 2


def test_different_layouts_or_agreements_are_named_with_their_ranks():
    results, _ = run(3, lambda rank: {"n": Counts(3) if rank == 1 else Counts(2)})
    assert "ranks [0, 2]: m.n Counts[2]" in one_error(results)
    assert "ranks [1]: m.n Counts[3]" in one_error(results)
    results, _ = run(2, lambda rank: {"n": Count()}, agreement=lambda rank: [f"{rank} evaluations"])
    assert "ranks [0]: 0 evaluations" in one_error(results)


def test_states_given_are_left_as_they_are():
    states = {"n": filled(Count(), 3), "g": filled(Grouped(Count()), {"x": 1}), "r": filled(Rows(1), np.array([[3]]))}
    run(2, lambda rank: states)
    assert [state.state() for state in states.values()] == [3, [["x", 1]], {"ids": False, "rows": [[3]]}]
    assert states["g"].dynamic
    assert states["r"].dynamic
