"""Per-token NLL inside networks: PyNative, jit and GRAPH mode; the native operator and block-wise operators."""

from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from logit_rows import kinds, labels_for, to_format
from mindspore import nn

from mindeval.kernels import TokenNLL, native, token_nll
from mindeval.kernels.blockwise import statistics

BACK_ENDS = ["mindspore"] + (["native"] if native.available() else [])
DTYPES = {"float32": ms.float32, "float16": ms.float16, "bfloat16": ms.bfloat16}


class Head(nn.Cell):
    """A network whose output is the nll of a doubled input: the logits exist in the graph alone."""

    def __init__(self, **options):
        super().__init__()
        self.nll = TokenNLL(**options)

    def construct(self, logits, labels):
        return self.nll(logits + logits, labels)


@pytest.fixture(params=["pynative", "jit", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield request.param
    ms.set_context(mode=before)


def run(network, mode, *inputs):
    if mode == "jit":

        @ms.jit
        def compiled(logits, labels):
            return network(logits, labels)

        return compiled(*inputs).asnumpy()
    return network(*inputs).asnumpy()


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("name", DTYPES)
def test_a_network_returns_the_nll_of_its_logits(name, back_end, mode, monkeypatch):
    if (name, back_end) == ("bfloat16", "mindspore"):
        pytest.skip("MindSpore's CPU operators have no bfloat16")
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    x = np.concatenate([x for _, x in kinds(300, 2, 3)][:5])
    logits = ms.Tensor(x.reshape(2, 5, 300) / 4).astype(DTYPES[name])
    labels = np.random.default_rng(0).integers(0, 250, (2, 5))
    labels[1, 3] = -1
    doubled = logits + logits
    for label_type in (np.int32, np.int64):
        got = run(Head(ignore_index=-1, vocab_size=257), mode, logits, ms.Tensor(labels.astype(label_type)))
        if back_end == "native":
            want = token_nll(doubled, labels, -1, vocab_size=257).nll
            assert got.dtype == np.float64
            assert got.tobytes() == want.tobytes(), "the bits of token_nll"
        else:
            monkeypatch.setenv("MINDEVAL_KERNEL", "numpy")
            np.testing.assert_allclose(got, token_nll(doubled, labels, -1, vocab_size=257).nll, atol=2e-5)
            monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
        assert got[1, 3] == 0


@pytest.mark.skipif(not native.available(), reason="the native kernel is not built")
def test_a_label_outside_of_the_vocabulary_is_an_error_of_the_operator(monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", "native")
    with pytest.raises(RuntimeError):
        TokenNLL()(ms.Tensor(np.zeros((1, 3), np.float32)), ms.Tensor(np.array([3]))).asnumpy()


def test_refused_vocabulary():
    with pytest.raises(ValueError, match="For 'TokenNLL', vocab_size must be at least 1, but got 0"):
        TokenNLL(vocab_size=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("block", [128, 1000])
def test_blockwise_operators_in_and_out_of_graphs(dtype, block):
    x = to_format(np.concatenate([x for _, x in kinds(300, 1, 5)]), np.dtype(dtype).name)
    labels = labels_for(x, 0)
    want = token_nll(x, labels, rank=True, entropy=True)
    for function in (statistics, ms.jit(statistics)):
        nll, rank, entropy = function(ms.Tensor(x), ms.Tensor(labels.astype(np.int32)), True, True, block)
        np.testing.assert_allclose(nll.asnumpy(), want.nll, rtol=2e-7, atol=2e-5)
        np.testing.assert_array_equal(rank.asnumpy(), want.rank)
        np.testing.assert_allclose(entropy.asnumpy(), want.entropy, atol=1e-4)
        assert (nll.asnumpy() >= 0).all()
