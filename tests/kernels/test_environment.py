"""What the environment says of the kernels, how it is reported, and which names are public."""

from __future__ import annotations

import pytest

import mindeval.distributed
import mindeval.kernels.in_graph
import mindeval.kernels.linear
from mindeval.kernels import info, native
from mindeval.kernels.__main__ import main


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("MINDEVAL_KERNEL", "fast", "MINDEVAL_KERNEL must be one of native, numpy, mindspore, ascend, but got 'fast'"),
        ("MINDEVAL_NUM_THREADS", "²", "MINDEVAL_NUM_THREADS must be a positive integer, but got '²'"),
        ("MINDEVAL_NUM_THREADS", "0", "MINDEVAL_NUM_THREADS must be a positive integer, but got '0'"),
    ],
)
@pytest.mark.parametrize("forced", ["", "native"])
def test_the_report_says_what_is_wrong_with_the_environment(variable, value, message, forced, monkeypatch, capsys):
    if variable == "MINDEVAL_NUM_THREADS" and not native.available():
        pytest.skip("threads are the native kernel's")
    monkeypatch.setenv("MINDEVAL_KERNEL", forced)
    monkeypatch.setenv(variable, value)
    row = next(row for row in info() if (row.device, row.dtype) == ("CPU", "float32"))
    assert (row.name, row.reason) == ("none", message)
    main()
    assert message in capsys.readouterr().out


def test_an_empty_number_of_threads_is_none(monkeypatch):
    monkeypatch.delenv("MINDEVAL_NUM_THREADS", raising=False)
    unset = native.threads()
    monkeypatch.setenv("MINDEVAL_NUM_THREADS", "")
    assert native.threads() == unset
    for wrong in ("²", "٣", "3.0", " 3", "+3", "1" * 5000):
        monkeypatch.setenv("MINDEVAL_NUM_THREADS", wrong)
        with pytest.raises(ValueError, match="MINDEVAL_NUM_THREADS must be a positive integer"):
            native.threads()


def test_the_public_names_are_all_that_is_listed():
    public = ["BackEnd", "TokenNLL", "TokenStats", "info", "linear_token_nll", "token_nll", "vocab_parallel_nll"]
    assert dir(mindeval.kernels) == public


def test_a_module_of_functions_for_users_offers_these_alone():
    for module, names in ((mindeval.kernels.linear, "linear_token_nll"), (mindeval.kernels.in_graph, "TokenNLL")):
        assert module.__all__ == [names]
    assert dir(mindeval.distributed) == [
        "coordinates",
        "data_parallel_group",
        "data_parallel_ranks",
        "is_contributor",
        "shard",
        "valid_mask",
    ]
