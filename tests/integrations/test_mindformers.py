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
from mindformers.core.metric import EmF1Metric, PerplexityMetric, build_metric
from mindformers.core.metric.metric import ADGENMetric
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from tiny_models import PAD, ROWS, legacy_llama, mcore_qwen3, nll_of_next_tokens

import mindeval
from mindeval import BLEU, ROUGE, Accuracy, ExactMatch, Metric, Perplexity, TokenF1, distributed
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
PAGE = (ROOT / "docs/mindformers.md").read_text(encoding="utf-8")
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
    lines = []
    for batch_size, mode in ((1, ms.GRAPH_MODE), (2, ms.PYNATIVE_MODE)):  # each shape of a batch is compiled anew
        ms.set_context(mode=mode)
        mindformers_eval.main((batch_size,))
        lines.append(capsys.readouterr().out.splitlines()[-1])
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

    assert all(line in PAGE for line in [*lines, *mindformers_eval.OURS.strip().splitlines()])


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


@pytest.fixture(scope="module")
def llama():
    return legacy_llama().set_train(False)


@pytest.fixture(scope="module")
def outputs(llama):
    """What the legacy model gives for all rows: logits, tokens and mask."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return llama(ms.Tensor(ROWS))


@pytest.fixture(scope="module")
def nll(outputs):
    """In float64, of each token of ``outputs`` that counts."""
    return nll_of_next_tokens(outputs[0].asnumpy(), ROWS)


def test_legacy_outputs_have_one_perplexity_where_mindformers_has_one_for_each_batch_size(llama, nll):
    ours, theirs = [], []
    for batch_size in (1, 2, 5):
        metrics = {"theirs": PerplexityMetric(), "ours": MindevalMetrics([Perplexity()])}
        found = Model(llama, metrics=metrics, eval_network=llama).eval(batches({"input_ids": ROWS}, batch_size))
        ours.append(found["ours"]["perplexity"])
        theirs.append(found["theirs"]["PPL"])
    assert ours == pytest.approx([math.exp(nll.mean())] * 3, rel=1e-5)  # what the float32 network may differ by
    assert max(theirs) > 1.02 * min(theirs)


@pytest.mark.parametrize("batch_size", [1, 2, 5])
def test_the_same_logits_in_other_batches_give_the_same_bits(outputs, batch_size):
    whole, split = MindevalMetrics([Perplexity()]), MindevalMetrics([Perplexity()])
    whole.update(*outputs)
    for start in range(0, len(ROWS), batch_size):
        split.update(*(output[start : start + batch_size] for output in outputs))
    assert whole.eval() == split.eval()


def test_a_wholly_masked_batch_changes_nothing(llama, outputs):
    ours, theirs = MindevalMetrics([Perplexity()]), PerplexityMetric()
    theirs.clear()
    for row in range(len(ROWS)):
        batch = [output[row : row + 1] for output in outputs]
        ours.update(*batch)
        theirs.update(*batch)
    before, their_before = ours.eval(), theirs.eval()["PPL"]
    padding = llama(ms.Tensor(np.full_like(ROWS[:1], PAD)))
    ours.update(*padding)
    theirs.update(*padding)
    their_after = theirs.eval()["PPL"]
    assert ours.eval() == before
    assert their_after < 0.9 * their_before
    assert f"a perplexity of {their_before:.4g} becomes {their_after:.4g}" in PAGE


def test_a_list_of_metrics_keeps_the_last_one_alone_under_the_name_of_the_first():
    from mindformers.trainer import BaseTrainer

    register()
    trainer = BaseTrainer.__new__(BaseTrainer)
    trainer.compute_metrics = None
    trainer.config = MindFormerConfig(metric=[{"type": "PerplexityMetric"}, {"type": "MindevalAccuracy"}])
    (kept,) = trainer.create_metrics().items()
    assert kept[0] == "PerplexityMetric" and list(kept[1].metrics) == ["accuracy"]


def test_metrics_of_mindformers_over_texts_skip_empty_ones_and_compare_letters():
    texts = ["the cat sat", "", ""], ["the cat sat", "a b c", "d e f"]
    theirs = ADGENMetric()
    theirs.clear()
    theirs.update(*texts)
    assert theirs.eval() == {"rouge-1": 100, "rouge-2": 100, "rouge-l": 100, "bleu-4": 100}
    assert ROUGE()(*texts) == pytest.approx(1 / 3)
    words = sacrebleu.BLEU(max_ngram_order=2).corpus_score(texts[0], [texts[1]]).score / 100
    assert BLEU(n_gram=2)(*texts) == pytest.approx(words, rel=1e-12) and words < 0.5

    english = ["the dog ran"], ["the cat sat"]  # one of three words
    theirs.clear()
    theirs.update(*english)
    assert theirs.eval()["bleu-4"] == pytest.approx(26, abs=0.5)  # sentence BLEU of letters
    words = sacrebleu.BLEU(max_ngram_order=1).corpus_score(english[0], [english[1]]).score / 100
    assert BLEU(n_gram=1)(*english) == pytest.approx(words, rel=1e-12) == pytest.approx(1 / 3)

    theirs = EmF1Metric()
    theirs.clear()
    theirs.update(["Hello."], ["Hello"])
    assert theirs.eval() == {"F1": pytest.approx(200 / 3), "Em": 0}
    assert ExactMatch()(["Hello."], ["Hello"]) == TokenF1()(["Hello."], ["Hello"]) == 1


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_sums_of_the_graph_are_those_of_the_logits(mode, llama, nll):
    ms.set_context(mode=mode)
    total, tokens, rows = eval_network(llama, reduce="graph").set_train(False)(ms.Tensor(ROWS))
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
    rows = ROWS[[0, 1, 3, 4]]  # two batches of one shape: each shape is compiled
    labels = np.concatenate([rows[:, 1:], np.full_like(rows[:, :1], PAD)], axis=1)
    columns = {"input_ids": rows, "labels": labels, "loss_mask": (labels != PAD).astype(np.float32)}
    with pytest.raises(AttributeError, match="no attribute 'batch_size'"):
        Trainer(args=config, task="text_generation", model=network, eval_dataset=batches(columns, 2)).evaluate()

    trainer = Trainer(
        args=config, task="text_generation", model=eval_network(network), eval_dataset=batches(columns, 2)
    )
    assert trainer.evaluate() is None

    logits = network(ms.Tensor(rows), labels=ms.Tensor(labels))
    assert logits.shape == (48, 100)  # all that it returns: neither labels nor a mask
    with pytest.raises(TypeError, match="requires 3 positional argument, but got 1"):
        PerplexityMetric().update(logits)
    logits = logits.asnumpy().reshape(4, 12, 100)
    nll = nll_of_next_tokens(logits, rows)
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
    held_out = batches({"input_ids": rows[:4, :12]}, 2)

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
    ms.set_context(mode=ms.PYNATIVE_MODE)
    nll = nll_of_next_tokens(network.set_train(False)(ms.Tensor(rows[:4, :12]))[0].asnumpy(), rows[:4, :12])
    assert values[2] == pytest.approx(math.exp(nll.mean()), rel=1e-5)


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ({"every_n_steps": 0}, "every_n_steps must be at least 1, or -1 for never, but got 0"),
        ({"every_n_steps": True}, "every_n_steps must be an int, but got True"),
        ({"every_n_epochs": 1.0}, "every_n_epochs must be an int, but got 1.0"),
        ({"every_n_steps": -1}, "give every_n_steps or every_n_epochs, but both are -1"),
    ],
)
def test_intervals_of_periodic_eval_are_checked(intervals, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'periodic_eval', {message}"):
        periodic_eval(nn.Dense(2, 2), None, [Perplexity()], **intervals)


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


def test_two_ranks_have_the_value_of_one_where_mindformers_has_one_for_each(tmp_path, outputs, nll):
    launch(2, Path(__file__).parent / "ranks_mindformers.py", [str(tmp_path)], tmp_path / "logs")
    last = nll_of_next_tokens(outputs[0].asnumpy()[1::2], ROWS[1::2])
    found = [json.loads((tmp_path / f"rank{rank}.json").read_text()) for rank in (0, 1)]
    assert found[0]["ours"] == found[1]["ours"]
    assert found[0]["ours"] == pytest.approx([math.exp(nll.mean()), math.exp(last.mean())], rel=1e-5)
    first, second = (rank["theirs"] for rank in found)
    assert f"| {first:.4g} on one, {second:.4g} on the other | one value, {math.exp(nll.mean()):.4g} |" in PAGE
