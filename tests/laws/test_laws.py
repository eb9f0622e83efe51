"""Laws of every metric, bit for bit: how the samples are split, ordered and spread cannot be seen in the value."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table import LAWS
from thread_ranks import ThreadRanks

from mindeval import Metric, wire

FEW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
every_metric = pytest.mark.parametrize("name", LAWS)
seeds = st.integers(0, 2**32 - 1)


def drawn(name: str, seed: int, most: int = 12) -> list:
    rng = np.random.default_rng(seed)
    return [LAWS[name].sample(rng) for _ in range(int(rng.integers(1, most + 1)))]


def fed(name: str, samples: list, cuts: list[int] | None = None) -> Metric:
    """A metric updated with the samples, cut into batches at the given places."""
    metric = LAWS[name].make()
    places = [0, *sorted(cut % (len(samples) + 1) for cut in cuts or []), len(samples)]
    for start, stop in zip(places, places[1:]):
        if start < stop:
            metric.update(*LAWS[name].batch(samples[start:stop]))
    return metric


def bits(metric: Metric) -> str:
    """Everything the metric says, as text in which floats keep all their bits (and NaN equals NaN)."""
    return json.dumps([metric.eval(), metric.result()])


@every_metric
@FEW
@given(seed=seeds, data=st.data())
def test_any_split_order_and_number_of_parts_gives_the_value_of_the_whole(name, seed, data):
    samples = drawn(name, seed)
    whole = bits(fed(name, samples))
    order = data.draw(st.permutations(range(len(samples))))
    parts = data.draw(st.integers(1, 8))
    owners = data.draw(st.lists(st.integers(0, parts - 1), min_size=len(samples), max_size=len(samples)))
    cuts = data.draw(st.lists(st.integers(0, 100), max_size=4))
    merged = LAWS[name].make()
    for part in range(parts):
        merged.merge(fed(name, [samples[place] for place in order if owners[place] == part], cuts))
    assert bits(merged) == whole


@every_metric
@pytest.mark.parametrize("carrier", ["int64", "float32"])
@settings(FEW, max_examples=6)
@given(seed=seeds, world=st.integers(1, 8), data=st.data())
def test_any_number_of_ranks_gives_the_value_of_one(name, carrier, seed, world, data):
    samples = drawn(name, seed)
    whole = fed(name, samples)
    owners = data.draw(st.lists(st.integers(0, world - 1), min_size=len(samples), max_size=len(samples)))
    metrics = [fed(name, [s for s, owner in zip(samples, owners) if owner == rank]) for rank in range(world)]

    def reduced(communicator):
        states = {"metric": metrics[communicator.rank]._states}
        return wire.reduce(states, ["the same"], None, True, communicator)["metric"]

    expected = json.dumps(whole._compute(whole._states))
    for states in ThreadRanks(world, carrier).run(reduced):
        if isinstance(states, Exception):
            raise states
        assert json.dumps(whole._compute(states)) == expected
        assert whole._samples(states) == whole._samples(whole._states)


@every_metric
@FEW
@given(seed=seeds)
def test_merge_is_associative_and_commutative(name, seed):
    a, b, c = (fed(name, drawn(name, seed + place)) for place in range(3))
    left = copy.deepcopy(a).merge(b).merge(c)
    right = copy.deepcopy(a).merge(copy.deepcopy(b).merge(c))
    turned = copy.deepcopy(c).merge(b).merge(a)
    assert bits(left) == bits(right) == bits(turned)


@every_metric
@FEW
@given(seed=seeds)
def test_clear_forgets_everything(name, seed):
    metric, samples = fed(name, drawn(name, seed)), drawn(name, seed + 1)
    metric.eval()
    metric.clear()
    with pytest.raises(RuntimeError, match="no data"):
        metric.eval()
    with pytest.raises(RuntimeError, match="call eval"):
        metric.result()
    metric.update(*LAWS[name].batch(samples))
    assert bits(metric) == bits(fed(name, samples))


@every_metric
@FEW
@given(seed=seeds)
def test_state_dict_pickle_and_copies_keep_every_bit(name, seed):
    samples = drawn(name, seed)
    metric = fed(name, samples)
    value = bits(metric)
    loaded = fed(name, drawn(name, seed + 1))
    loaded.load_state_dict(json.loads(json.dumps(metric.state_dict())))
    for other in (loaded, pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), copy.copy(metric)):
        assert bits(other) == value
        other.update(*LAWS[name].batch(samples))
        assert bits(metric) == value


def dicts_in(saved: object) -> list[dict]:
    """Every dict of a state dictionary, at any depth."""
    inner = saved.values() if isinstance(saved, dict) else saved if isinstance(saved, list) else []
    return [saved] * isinstance(saved, dict) + [found for part in inner for found in dicts_in(part)]


@every_metric
def test_a_state_dict_of_which_entries_are_missing_or_unknown_is_refused_by_name(name):
    metric = fed(name, drawn(name, 0))
    before = json.dumps(metric.state_dict())
    places = [(depth, key) for depth, part in enumerate(dicts_in(metric.state_dict())) for key in [*part, "stranger"]]
    assert len(places) >= 5
    for depth, key in places[:100]:  # some keep hundreds of sums, all alike
        saved = json.loads(before)
        part = dicts_in(saved)[depth]
        if key == "stranger":
            part[key] = 0
        else:
            del part[key]
        with pytest.raises(ValueError, match=f"(missing|unknown) are .*'{key}'"):
            metric.load_state_dict(saved)
        assert json.dumps(metric.state_dict()) == before


@every_metric
@FEW
@given(seed=seeds)
def test_a_call_gives_the_value_of_its_inputs_and_leaves_the_state_alone(name, seed):
    metric, samples = fed(name, drawn(name, seed)), drawn(name, seed + 1)
    before = json.dumps(metric.state_dict())
    value = metric(*LAWS[name].batch(samples))
    assert json.dumps(metric.state_dict()) == before
    assert json.dumps([value, value.parts]) == json.dumps([alone := fed(name, samples).eval(), alone.parts])


@every_metric
@FEW
@given(seed=seeds)
def test_result_agrees_with_eval(name, seed):
    metric = fed(name, drawn(name, seed))
    score, result = metric.eval(), metric.result()
    assert json.dumps(score) == json.dumps(next(iter(result.values())))
    assert {name: part for name, part in result.items() if name in score.parts}.keys() == score.parts.keys()
    assert result["signature"] == score.signature
    assert result["samples"] == metric.state_dict()["states"]["samples"]
