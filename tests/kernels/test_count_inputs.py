"""What the counting loops refuse before any memory is read."""

from __future__ import annotations

import numpy as np
import pytest

from mindeval.kernels import native
from mindeval.kernels.count import count_classes, count_pairs

FUNCTIONS = pytest.mark.parametrize("function", [count_pairs, count_classes])


@pytest.fixture(params=["numpy"] + (["native"] if native.available() else []), autouse=True)
def back_end(request, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", request.param)


@FUNCTIONS
def test_inputs_of_different_lengths_are_refused(function):
    ids, fewer = np.zeros(5, np.int64), np.zeros(3, np.int64)
    for given in ((fewer, ids), (ids, fewer), (ids.reshape(1, 5), ids.reshape(1, 5))):
        with pytest.raises(ValueError, match="must be flat and of one length, but got"):
            function(*given, 2, -1)
    with pytest.raises(ValueError, match=r"must be flat and of one length, but got \[\(5,\), \(5,\), \(3,\)\]"):
        function(ids, ids, 2, -1, np.ones(3, bool))


@FUNCTIONS
def test_unsigned_labels_do_not_become_the_ignored_one(function):
    labels = np.array([1, 2**64 - 100], np.uint64)  # as int64 the second is -100
    assert function(np.array([1, 1]), labels, 2, ignored=-100) is None
