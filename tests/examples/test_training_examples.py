"""The examples of evaluating while training: their numbers against float64 NumPy on the networks that they end with."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

import custom_loop
import model_eval
import training_callback


def perplexity_and_accuracy(logits, labels):
    logits = logits.astype(np.float64)
    chosen = np.take_along_axis(logits, labels[..., None], -1)[..., 0]
    nll = np.logaddexp.reduce(logits, -1) - chosen
    return math.exp(nll.mean()), (logits.argmax(-1) == labels).mean()


def test_model_eval_prints_one_value_whatever_the_batch_size(capsys):
    model_eval.main()
    printed = re.findall(r"batch size \d: perplexity ([\d.]+), accuracy ([\d.]+)", capsys.readouterr().out)
    pairs = [(a, b) for row in model_eval.TOKENS for a, b in zip(row, row[1:])]
    chance = [model_eval.NEXT_TOKEN[a][b] for a, b in pairs]
    expected = math.exp(-math.fsum(map(math.log, chance)) / len(chance))
    assert len(printed) == 3 and len(set(printed)) == 1
    assert float(printed[0][0]) == pytest.approx(expected, rel=1e-6)


def test_custom_loop_prints_the_perplexity_of_its_network(capsys):
    network, held_out, history = custom_loop.main(steps=40)
    table = network.embedding_table.asnumpy()
    perplexity, accuracy = perplexity_and_accuracy(table[held_out[:, :-1]], held_out[:, 1:])
    last = history.records[-1]["metrics"]
    assert last["perplexity"] == pytest.approx(perplexity, rel=1e-6)
    assert last["accuracy"] == accuracy
    assert f"step  40: perplexity {perplexity:.4f}" in capsys.readouterr().out
    assert last["loss"] == pytest.approx(math.log(perplexity), abs=1e-6)


@pytest.fixture(scope="module")
def training_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        return training_callback.run(folder, steps=200, every=20, patience=3)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_training_callback_keeps_the_weights_of_its_best_perplexity(training_run):
    network, (evaluate, best, stopping), (ids, labels) = training_run
    series = evaluate.history.series("perplexity")
    assert best.best == min(value for _, value in series)
    assert stopping.stopped_step == series[-1][0] == best.best_step + 3 * 20
    ms.load_param_into_net(network, ms.load_checkpoint(str(best.file)), strict_load=True)
    network.set_train(False)
    perplexity, accuracy = perplexity_and_accuracy(network(ms.Tensor(ids)).asnumpy(), labels)
    assert best.best == pytest.approx(perplexity, rel=1e-5)  # the forward pass of another batch size differs a little
    (record,) = [r for r in evaluate.history.records if r["kind"] == "eval" and r["step"] == best.best_step]
    assert record["metrics"]["accuracy"] == pytest.approx(accuracy, abs=2 / labels.size)


def test_training_callback_ends_with_the_diagnosis_of_overfitting(training_run):
    _, (evaluate, best, _), _ = training_run
    findings = {finding.kind: finding for finding in training_callback.diagnose(evaluate.history)}
    assert findings["overfitting"].evidence["began"] == best.best_step
