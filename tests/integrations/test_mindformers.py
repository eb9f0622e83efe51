"""mindeval in MindFormers itself: YAML, Trainer, callbacks, generation, legacy and mcore models, ranks."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
import sacrebleu
from mindspore import nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model

os.environ.setdefault("LOCAL_DEFAULT_PATH", tempfile.mkdtemp())  # where MindFormers writes its logs
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("mindformers", reason="MindFormers is not installed: make test-mindformers runs this")

import mindformers
import mindformers_eval
from launcher import launch
from mindformers import MindFormerConfig, Trainer, build_context, set_context
from mindformers.core.metric import PerplexityMetric, build_metric
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from tiny_models import PAD, ROWS, legacy_llama, mcore_qwen3, nll_of_next_tokens

import mindeval
from mindeval import Accuracy, Metric, Perplexity, distributed
from mindeval.integrations.mindformers import (
    MindevalMetrics,
    data_parallel_group,
    eval_network,
    generate_evaluate,
    periodic_eval,
    register,
    results,
)
from mindeval.state import Count

ROOT = Path(__file__).resolve().parents[2]
GENERAL = Path(mindformers.__file__).parents[1] / "configs/general/run_general_task.yaml"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """MindFormers writes logs, strategies and checkpoints where it runs."""
    monkeypatch.chdir(tmp_path)


def general_config(*, legacy: bool) -> MindFormerConfig:
    config = MindFormerConfig(str(GENERAL))
    config.context.device_target, config.context.mode = "CPU", ms.GRAPH_MODE
    config.use_parallel, config.use_legacy, config.runner_config.sink_mode = False, legacy, False
    build_context(config)
    set_context(use_legacy=legacy, mode=ms.GRAPH_MODE)  # build_context has an effect but once in a process
    return config


def batches(columns, batch_size):
    return NumpySlicesDataset(columns, shuffle=False).batch(batch_size, drop_remainder=False)


class Equal(Metric):
    """The share of predictions that equal their reference; it keeps the pairs."""

    def __init__(self):
        super().__init__(states={"equal": Count()})
        self.pairs = []

    def _contribution(self, predictions, references):
        self.pairs += zip(predictions, references)
        return {"equal": sum(a == b for a, b in zip(predictions, references)), "samples": len(references)}

    def _compute(self, states):
        return {"equal": states["equal"].value / states["samples"].value}


# -- YAML --------------------------------------------------------------------------------------------------------------


def counted_chances():
    """What the example's model believes, counted anew: {letter: {next letter: probability}}."""
    text = mindformers_eval.LEARNT_FROM
    pairs, firsts = Counter(zip(text, text[1:])), Counter(text[:-1])
    return {
        a: {chr(b): (pairs[a, chr(b)] + 0.01) / (firsts[a] + 1.28) for b in range(128)}
        for a in set("".join(mindformers_eval.TEXTS))
    }


def test_the_example_prints_what_counting_gives_and_mindformers_a_number_for_each_batch_size(capsys):
    general_config(legacy=True)
    mindformers_eval.main((1, 2))
    lines = capsys.readouterr().out.splitlines()[-2:]
    rows = [line.split() for line in lines]

    chances = counted_chances()
    nll = [[-math.log(chances[a][b]) for a, b in zip(text, text[1:])] for text in mindformers_eval.TEXTS]
    places = []
    for text in mindformers_eval.TEXTS:
        for a, b in zip(text, text[1:]):
            ranked = sorted(chances[a], key=lambda letter: (-chances[a][letter], letter))
            places.append(ranked.index(b))
    tokens = sum(len(values) for values in nll)
    perplexity = math.exp(math.fsum(sum(nll, [])) / tokens)
    right = [f"{sum(place < k for place in places) / tokens:.5f}" for k in (1, 3)]

    means = [sum(values) / len(values) for values in nll]
    first_two = sum(nll[0] + nll[1]) / (len(nll[0]) + len(nll[1]))
    theirs = {"1": math.exp(sum(means) / 3), "2": math.exp((first_two + means[2]) / 2)}
    assert theirs["1"] > 2 * theirs["2"]
    for batch_size, of_mindformers, of_mindeval, *accuracies in rows:
        assert float(of_mindformers) == pytest.approx(theirs[batch_size], rel=1e-5)
        assert float(of_mindeval) == pytest.approx(perplexity, rel=1e-6)
        assert accuracies == right
    assert rows[0][2:] == rows[1][2:]

    page = (ROOT / "docs/mindformers.md").read_text(encoding="utf-8")
    assert all(line in page for line in [*lines, *mindformers_eval.OURS.strip().splitlines()])


def test_auto_register_needs_nothing_but_yaml(monkeypatch):
    monkeypatch.setenv("REGISTER_PATH", str(Path(mindeval.__file__).parent / "integrations"))
    monkeypatch.delitem(MindFormerRegister.registry[MindFormerModuleType.METRIC], "MindevalAccuracy", raising=False)
    made = build_metric(
        {"type": "MindevalAccuracy", "auto_register": "mindeval_register.MindevalAccuracy", "top_k": 2, "name": "top2"}
    )
    made.update(np.float32([[[0.2, 0.3, 0.5]]]), np.array([[1]]))
    assert made.eval() == {"top2": 1.0}


def test_no_name_of_mindformers_is_taken():
    metrics = MindFormerRegister.registry[MindFormerModuleType.METRIC]
    before = {name: made for name, made in metrics.items() if not name.startswith("Mindeval")}
    aliases = register()
    assert {name: made for name, made in metrics.items() if not name.startswith("Mindeval")} == before
    assert all(metrics[name] is made for name, made in aliases.items())
    assert {"MindevalMetrics", "MindevalTextMetrics", "MindevalPerplexity", "MindevalAccuracy"} <= set(aliases)
    assert {"MindevalF1Score", "MindevalBLEU", "MindevalROUGE", "MindevalAnswerAccuracy"} <= set(aliases)
    # They take losses, values and images, which MindFormers' networks do not return in evaluation.
    assert not {"MindevalLoss", "MindevalMeanSquaredError", "MindevalPSNR"} & set(aliases)


# -- models ------------------------------------------------------------------------------------------------------------


def test_legacy_outputs_have_one_perplexity_where_mindformers_has_one_for_each_batch_size():
    network = legacy_llama()
    ours, theirs = [], []
    for batch_size in (1, 2, 5):
        metrics = {"theirs": PerplexityMetric(), "ours": MindevalMetrics([Perplexity()])}
        found = Model(network, metrics=metrics, eval_network=network).eval(batches({"input_ids": ROWS}, batch_size))
        ours.append(found["ours"]["perplexity"])
        theirs.append(found["theirs"]["PPL"])
    nll = nll_of_next_tokens(network(ms.Tensor(ROWS))[0].asnumpy(), ROWS)
    assert ours == pytest.approx([math.exp(nll.mean())] * 3, rel=1e-5)  # what the float32 network may differ by
    assert max(theirs) > 1.02 * min(theirs)


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_the_same_logits_in_other_batches_give_the_same_bits(batch_size):
    outputs = legacy_llama().set_train(False)(ms.Tensor(ROWS))
    whole, split = MindevalMetrics([Perplexity()]), MindevalMetrics([Perplexity()])
    whole.update(*outputs)
    for start in range(0, len(ROWS), batch_size):
        split.update(*(output[start : start + batch_size] for output in outputs))
    assert whole.eval() == split.eval()


def test_a_wholly_masked_batch_changes_nothing():
    network = legacy_llama().set_train(False)
    with_empty = np.concatenate([ROWS, np.full_like(ROWS[:1], PAD)])
    values = []
    for rows in (ROWS, with_empty):
        metrics = {"ours": MindevalMetrics([Perplexity()]), "theirs": PerplexityMetric()}
        values.append(Model(network, metrics=metrics, eval_network=network).eval(batches({"input_ids": rows}, 1)))
    assert values[0]["ours"] == values[1]["ours"]
    assert values[1]["theirs"]["PPL"] < 0.9 * values[0]["theirs"]["PPL"]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_sums_of_the_graph_are_those_of_the_logits(mode):
    ms.set_context(mode=mode)
    network = legacy_llama().set_train(False)
    total, tokens, rows = eval_network(network, reduce="graph").set_train(False)(ms.Tensor(ROWS))
    nll = nll_of_next_tokens(network(ms.Tensor(ROWS))[0].asnumpy(), ROWS)
    assert (tokens.asnumpy(), rows.asnumpy()) == (len(nll), 5)
    assert total.asnumpy() == pytest.approx(nll.sum(), rel=1e-5)


class Logits(nn.Cell):
    """Stands in for a model: it only has to return logits."""

    def __init__(self, config):
        super().__init__()
        self.config = config

    def construct(self, input_ids, labels, loss_mask, position_ids, attention_mask, actual_seq_len):
        return ops.zeros((input_ids.size, 100), ms.float32)


IDS, LABELS, LOSS_MASK = [[5, 6, 7, PAD]], [[5, -100, 7, 9]], [[0, 1, 1, 1]]


@pytest.mark.parametrize(
    ("shifted", "columns", "expected"),
    [
        (False, [IDS], [[6, 7, -100, -100]]),
        (False, [IDS, LABELS], [[-100, 7, -100, -100]]),
        (False, [IDS, LABELS, LOSS_MASK], [[-100, 7, 9, -100]]),
        (True, [IDS, LABELS], [[5, -100, 7, -100]]),
        (True, [IDS, LABELS, LOSS_MASK], [[-100, -100, 7, 9]]),
    ],
)
def test_labels_are_aligned_with_the_logits(shifted, columns, expected):
    network = eval_network(Logits(legacy_llama().config), labels_shifted=shifted)
    logits, labels = network(*(ms.Tensor(column, ms.int32) for column in columns))
    assert logits.shape == (1, 4, 100)
    assert labels.asnumpy().tolist() == expected


def test_labels_of_legacy_models_that_are_shifted_already_have_their_own_mask():
    network = legacy_llama(input_sliced_sig=True).set_train(False)
    labels, loss_mask = np.roll(ROWS[:1], -1, axis=1), np.zeros((1, 12), np.float32)
    loss_mask[:, 2:5] = 1  # the tokens at 3, 4 and 5 count
    columns = [ms.Tensor(ROWS[:1]), ms.Tensor(labels), ms.Tensor(loss_mask)]
    ours, theirs = Perplexity(), PerplexityMetric()
    ours.update(*eval_network(network).set_train(False)(*columns))
    outputs = network(columns[0], labels=columns[1], loss_mask=columns[2])
    theirs.clear()
    theirs.update(*outputs)
    nll = nll_of_next_tokens(outputs[0].asnumpy(), ROWS[:1])
    assert ours.eval() == pytest.approx(math.exp(nll[2:5].mean()), rel=1e-5)
    assert theirs.eval()["PPL"] == pytest.approx(math.exp(nll[1:4].mean()), rel=1e-5)  # the tokens at 2, 3 and 4


def test_results_need_metrics_with_different_names():
    class Evaluated:
        compute_metrics = {name: MindevalMetrics([Perplexity()]) for name in "ab"}

    for metrics in Evaluated.compute_metrics.values():
        metrics.update(np.zeros((1, 2, 4)), np.zeros((1, 2), np.int64))
        metrics.eval()
    with pytest.raises(ValueError, match=r"two metrics are named \['perplexity'\]"):
        results(Evaluated())
    Evaluated.compute_metrics = {"theirs": PerplexityMetric()}
    with pytest.raises(ValueError, match="the trainer has no metric of mindeval"):
        results(Evaluated())


def test_a_network_that_is_none_of_mindformers_is_refused():
    with pytest.raises(ValueError, match="must be a language model of MindFormers, but got Dense"):
        eval_network(nn.Dense(2, 2))
    with pytest.raises(ValueError, match="reduce must be auto, none or graph, but got 'sum'"):
        eval_network(legacy_llama(), reduce="sum")


@pytest.fixture
def mcore_config():
    yield general_config(legacy=False)
    general_config(legacy=True)


def test_trainer_evaluates_an_mcore_model_in_its_wrapper_and_not_without(mcore_config, monkeypatch):
    """Shimmed: see ``mcore_qwen3``."""
    network, config = mcore_qwen3(monkeypatch), mcore_config
    register()
    config.metric = [{"type": "MindevalMetrics", "metrics": [{"type": "Perplexity"}, {"type": "Accuracy"}]}]
    labels = np.concatenate([ROWS[:, 1:], np.full_like(ROWS[:, :1], PAD)], axis=1)
    columns = {"input_ids": ROWS, "labels": labels, "loss_mask": (labels != PAD).astype(np.float32)}
    with pytest.raises(AttributeError, match="no attribute 'batch_size'"):
        Trainer(args=config, task="text_generation", model=network, eval_dataset=batches(columns, 2)).evaluate()

    trainer = Trainer(
        args=config, task="text_generation", model=eval_network(network), eval_dataset=batches(columns, 2)
    )
    trainer.evaluate()

    logits = network(ms.Tensor(ROWS), labels=ms.Tensor(labels)).asnumpy()
    assert logits.shape == (60, 100)  # all that it returns: neither labels nor a mask
    logits = logits.reshape(5, 12, 100)
    nll = nll_of_next_tokens(logits, ROWS)
    right = (logits.argmax(-1) == labels)[labels != PAD]
    found = results(trainer)
    assert found["perplexity"]["perplexity"] == pytest.approx(math.exp(nll.mean()), rel=1e-5)
    assert found["perplexity"]["tokens"] == len(nll)
    assert found["accuracy"]["accuracy"] == right.mean()


# -- training ----------------------------------------------------------------------------------------------------------


def test_periodic_eval_keeps_the_results_of_a_training_run(monkeypatch):
    from mindformers.wrapper import MFTrainOneStepCell

    class TrainOnCpu(MFTrainOneStepCell):
        def get_overflow_status(self, status, compute_output):
            return ms.Tensor(False)  # the CPU has no such status

    MindFormerRegister.register_cls(TrainOnCpu, MindFormerModuleType.WRAPPER)
    config = general_config(legacy=True)
    config.runner_config.epochs, config.runner_config.batch_size = 1, 4
    config.lr_schedule = MindFormerConfig(type="ConstantWarmUpLR", learning_rate=1e-2, warmup_steps=0, total_steps=10)
    config.runner_wrapper = MindFormerConfig(type="TrainOnCpu", use_clip_grad=True)
    config.callbacks = [MindFormerConfig(type="MFLossMonitor")]
    config.train_dataset.data_loader = MindFormerConfig(type="given")
    config.train_dataset.input_columns, config.train_dataset.batch_size = ["input_ids"], 4
    rows = np.tile(np.arange(3, 16, dtype=np.int32), (24, 1))
    held_out = batches({"input_ids": rows[:3, :12]}, 2)

    network = legacy_llama()
    callback = periodic_eval(network, held_out, [Perplexity(), Accuracy()], every_n_steps=2)
    modes = []

    class Watch(ms.train.Callback):
        def on_train_step_end(self, run_context):
            modes.append(network.training)

    trainer = Trainer(
        args=config,
        task="text_generation",
        model=network,
        train_dataset=NumpySlicesDataset({"input_ids": rows}, shuffle=False).batch(4, drop_remainder=True),
        callbacks=[callback, Watch()],
    )
    trainer.train()
    assert [(entry["step"], entry["epoch"]) for entry in callback.history] == [(2, 1), (4, 1), (6, 1)]
    values = [entry["results"]["perplexity"]["perplexity"] for entry in callback.history]
    assert values[0] > values[1] > values[2]
    assert modes == [True] * 6
    nll = nll_of_next_tokens(network.set_train(False)(ms.Tensor(rows[:3, :12]))[0].asnumpy(), rows[:3, :12])
    assert values[2] == pytest.approx(math.exp(nll.mean()), rel=1e-5)


# -- generation --------------------------------------------------------------------------------------------------------


class Letters:
    """The tokenizer of the example's model."""

    pad_token_id = 0

    def decode(self, ids, skip_special_tokens):
        assert skip_special_tokens
        if len(ids) and isinstance(ids[0], (list, np.ndarray)):
            return [self.decode(row, skip_special_tokens) for row in ids]
        return "".join(chr(letter) for letter in ids if letter > 0)


@pytest.fixture
def letter_model():
    from mindformers.models import build_network

    config = mindformers_eval.load_config(1, mindformers_eval.THEIRS)
    mindformers_eval.write_checkpoint(config)
    network = build_network(config.model)
    ms.load_checkpoint("bigram.ckpt", network)
    network.argmax = lambda values, axis: ops.argmax(values, dim=axis)  # the CPU lacks the operator of mint.argmax
    return network


PROMPTS, FOLLOWERS = ["the c", "zebras on the m", "s"], 4


def letters(texts, length, pad):
    rows = np.full((len(texts), length), pad, np.int32)
    for row, text in zip(rows, texts):
        row[: len(text)] = [ord(letter) for letter in text]
    return rows


def greedy(prompt):
    chances, text = counted_chances(), prompt
    for _ in range(FOLLOWERS):
        text += min(chances[text[-1]], key=lambda letter: (-chances[text[-1]][letter], letter))
    return text[len(prompt) :]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_generate_evaluate_scores_the_greedy_continuations(letter_model, batch_size):
    references = [greedy(PROMPTS[0]), "nope", greedy(PROMPTS[2])]
    columns = {"input_ids": letters(PROMPTS, 20, 0), "labels": letters(references, 8, -100)}
    metric = Equal()
    found = generate_evaluate(letter_model, Letters(), batches(columns, batch_size), [metric], max_new_tokens=FOLLOWERS)
    assert metric.pairs == [(greedy(prompt), reference) for prompt, reference in zip(PROMPTS, references)]
    assert found["equal"]["equal"] == 2 / 3
    assert found["equal"]["samples"] == 3


def test_a_prompt_of_padding_is_refused(letter_model):
    columns = {"input_ids": np.zeros((1, 20), np.int32), "labels": letters(["a"], 4, 0)}
    with pytest.raises(ValueError, match="a prompt must hold a token, but is nothing but padding"):
        generate_evaluate(letter_model, Letters(), batches(columns, 1), [Equal()], max_new_tokens=2)


def test_trainer_generates_for_text_metrics(letter_model):
    register()
    config = general_config(legacy=True)
    config.metric = [
        {"type": "MindevalTextMetrics", "metrics": [{"type": "ExactMatch"}, {"type": "BLEU", "n_gram": 1}]}
    ]
    config.model.model_config.max_decode_length, config.model.model_config.do_sample = 9, False
    prompts, references = ["the c", "the m"], [greedy("the c"), "at on"]
    columns = {"input_ids": letters(prompts, 20, 0), "labels": letters(references, 8, 0)}
    trainer = Trainer(args=config, task="text_generation", model=letter_model, eval_dataset=batches(columns, 2))
    trainer.evaluate(tokenizer=Letters())

    predictions = [greedy(prompt) for prompt in prompts]
    bleu = sacrebleu.BLEU(max_ngram_order=1).corpus_score(predictions, [references]).score / 100
    assert 0 < bleu < 1
    found = results(trainer)
    assert found["exact_match"]["exact_match"] == 0.5
    assert found["bleu"]["bleu"] == pytest.approx(bleu, rel=1e-12)


# -- ranks -------------------------------------------------------------------------------------------------------------


def test_groups_are_those_of_mindformers_training_graph(monkeypatch):
    from mindformers.parallel_core.training_graph import communication

    made = {}
    monkeypatch.setattr(communication, "DP_GROUP_NAME", {})
    monkeypatch.setattr(
        communication,
        "create_communication_group",
        lambda ranks: made.setdefault(f"group{ranks}", ranks) and str(ranks),
    )
    for dp, tp, pp, cp in [(2, 2, 2, 1), (4, 1, 2, 1), (2, 2, 1, 2), (2, 2, 2, 2), (1, 4, 2, 1), (3, 1, 1, 1)]:
        communication.DP_GROUP_NAME.clear()
        layout = {"data_parallel": dp, "model_parallel": tp, "pipeline_stage": pp, "context_parallel": cp}
        for rank in range(dp * tp * pp * cp):
            expected = distributed.data_parallel_ranks(rank, dp=dp, tp=tp, pp=pp, cp=cp)
            assert data_parallel_group(layout, rank) == str(expected)


def test_two_ranks_have_the_value_of_one(tmp_path):
    launch(2, Path(__file__).parent / "ranks_mindformers.py", [str(tmp_path)], tmp_path / "logs")
    network = legacy_llama().set_train(False)
    nll = nll_of_next_tokens(network(ms.Tensor(ROWS))[0].asnumpy(), ROWS)
    last = nll_of_next_tokens(network(ms.Tensor(ROWS[1::2]))[0].asnumpy(), ROWS[1::2])
    found = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in (0, 1)]
    assert found[0] == found[1]
    assert found[0] == pytest.approx([math.exp(nll.mean()), math.exp(last.mean())], rel=1e-5)
