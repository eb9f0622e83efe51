"""What all constructors have in common: flags are flags, and an error says which metric refused."""

import inspect

import pytest

import mindeval
from mindeval import Metric


def without_arguments(kind):
    return all(
        parameter.default is not inspect.Parameter.empty or parameter.kind is inspect.Parameter.VAR_KEYWORD
        for parameter in inspect.signature(kind).parameters.values()
    )


METRICS = [
    kind
    for kind in (getattr(mindeval, name) for name in mindeval.__all__)
    if inspect.isclass(kind) and issubclass(kind, Metric) and kind is not Metric and without_arguments(kind)
]
FLAGS = [
    (kind, name)
    for kind in METRICS
    for name, parameter in inspect.signature(kind).parameters.items()
    if parameter.annotation == "bool"
]
TEXT_METRICS = [kind for kind in METRICS if "decode" in inspect.signature(kind).parameters]


def test_the_tables_are_not_empty():
    assert len(METRICS) > 25
    assert len(FLAGS) > 15
    assert len(TEXT_METRICS) > 8


@pytest.mark.parametrize(("kind", "flag"), FLAGS)
@pytest.mark.parametrize("value", ["no", 1, None])
def test_a_flag_takes_nothing_but_true_and_false(kind, flag, value):
    with pytest.raises(TypeError, match=f"For '{kind.__name__}', {flag} must be True or False, but got {value!r}"):
        kind(**{flag: value})


@pytest.mark.parametrize("kind", METRICS)
def test_an_unknown_argument_names_the_metric(kind):
    with pytest.raises(TypeError, match=f"For '{kind.__name__}', got an unexpected keyword argument 'unheard_of'"):
        kind(unheard_of=1)


@pytest.mark.parametrize("kind", TEXT_METRICS)
def test_decode_must_be_a_function(kind):
    with pytest.raises(TypeError, match=f"For '{kind.__name__}', decode must be a function"):
        kind(decode=5)


def test_a_subclass_is_named_and_not_its_base():
    class Mine(mindeval.BLEU):
        def __init__(self):
            super().__init__(n_gram=0)

    with pytest.raises(ValueError, match="For 'Mine', n_gram must be at least 1, but got 0"):
        Mine()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mindeval.BLEU(n_gram=True), "For 'BLEU', n_gram must be an int, but got True"),
        (lambda: mindeval.ChrF(char_order=2.5), "For 'ChrF', char_order must be an int, but got 2.5"),
        (lambda: mindeval.ChrF(beta=float("nan")), "For 'ChrF', beta must be an int, but got nan"),
        (lambda: mindeval.DistinctN(n="2"), "For 'DistinctN', n must be an int, but got '2'"),
    ],
)
def test_orders_must_be_whole_numbers(make, message):
    with pytest.raises(TypeError, match=message):
        make()
