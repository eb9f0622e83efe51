"""Diagnosis of generated histories (see benchmarks/diagnosis.py), of curves made by hand, and of final scores."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import pytest

from mindeval import Score
from mindeval.training import History, diagnose
from mindeval.training.advice import TEXTS

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "diagnosis.py"
spec = importlib.util.spec_from_file_location("diagnosis_benchmark", BENCHMARK)
assert spec is not None and spec.loader is not None
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)

HELD_OUT = 500_000  # seeds that the thresholds were not looked at with


@pytest.mark.parametrize("kind", generator.KINDS)
def test_each_kind_of_history_gives_its_findings_and_no_others(kind):
    for seed in range(HELD_OUT, HELD_OUT + 25):
        records, expected = generator.generate(kind, seed)
        assert set(diagnose(records, chance=0.25).kinds) == expected, seed


def test_precision_and_recall_over_generated_histories():
    rows = generator.measure(200, seed=HELD_OUT + 1000)
    right, wrong, missed = (sum(row[column] for row in rows) for column in (1, 2, 3))
    assert right / (right + wrong) >= 0.99 and right / (right + missed) >= 0.99


def train(losses, every=10):
    return [{"kind": "train", "step": (i + 1) * every, "loss": loss} for i, loss in enumerate(losses)]


def evals(name, values, every=50):
    return [{"kind": "eval", "step": (i + 1) * every, "metrics": {name: v}} for i, v in enumerate(values)]


FALLING = [5 * 0.985**i + 0.5 for i in range(50)]  # still falls by 13 % from the last but one fifth to the last
STEADY = [1 + 3 / (1 + i) ** 0.4 for i in range(50)]


def test_overfitting_names_the_step_at_which_it_began():
    values = [2.0, 1.6, 1.4, 1.3, 1.35, 1.45, 1.6, 1.7, 1.8, 1.9]
    (finding,) = diagnose(train(STEADY) + evals("loss", values))
    assert finding.kind == "overfitting" and finding.evidence["began"] == 200
    assert finding.evidence["lowest"] == 1.3 and finding.evidence["end"] == pytest.approx(1.85)
    assert "step 200" in finding.message() and "200" in finding.message("zh")


def test_a_rise_of_the_evaluation_loss_is_no_overfitting_where_the_training_loss_does_not_fall():
    values = [2.0, 1.6, 1.4, 1.3, 1.35, 1.45, 1.6, 1.7, 1.8, 1.9]
    assert diagnose(train([3.0] * 50) + evals("loss", values)).kinds == ["not_falling"]


def test_perplexity_is_compared_by_its_logarithm():
    values = [math.exp(v) for v in [2.0, 1.6, 1.4, 1.3, 1.35, 1.45, 1.6, 1.7, 1.8, 1.9]]
    (finding,) = diagnose(train(STEADY) + evals("perplexity", values))
    assert finding.kind == "overfitting" and finding.evidence["lowest"] == pytest.approx(1.3)


def test_the_first_step_that_is_not_finite_is_named():
    (finding,) = diagnose(train([*STEADY[:30], math.nan, math.inf, *STEADY[32:]]))
    assert (finding.kind, finding.severity) == ("not_finite", "error")
    assert finding.evidence == {"first_step": 310, "windows": 2, "names": ["loss"]}


def test_spikes_are_named_with_their_steps():
    losses = list(STEADY)
    losses[20], losses[40] = 9.0, 5.0
    (finding,) = diagnose(train(losses))
    assert finding.kind == "spikes" and finding.evidence["steps"] == [210, 410] and finding.evidence["loss"] == 9.0


def test_a_loss_that_still_falls_is_underfitting():
    (finding,) = diagnose(train(FALLING))
    assert finding.kind == "still_falling" and "Underfitting" in finding.message()


def test_what_a_resumed_run_repeats_is_looked_at_once():
    """The run went back from step 500 to 300: what had been recorded behind it, a rise to 40, is void."""
    wild = train([*STEADY[:30], *[40.0 + i for i in range(20)]])
    again = [{"kind": "start", "step": 300}] + train(STEADY)[30:]
    assert diagnose(wild + again).kinds == []
    assert "spikes" in diagnose(wild).kinds or "rising" in diagnose(wild).kinds


@pytest.mark.parametrize("records", [[], train(STEADY[:5]), evals("loss", [3, 2, 1])])
def test_nothing_is_found_in_too_little_data(records):
    assert not diagnose(records)


def test_thresholds_are_arguments():
    records = train(FALLING)
    assert diagnose(records, thresholds={"still_falling": 0.5}).kinds == []
    with pytest.raises(ValueError, match="thresholds must be named .*but got \\['patience'\\]"):
        diagnose(records, thresholds={"patience": 3})
    with pytest.raises(ValueError, match="loss must be one of \\['bleu'\\], but got 'loss'"):
        diagnose(evals("bleu", [0.1]), loss="loss")


@pytest.mark.parametrize(
    ("scores", "kinds"),
    [
        ({"bleu": 0.0}, ["zero_score"]),
        ({"bleu": Score(0.0, {"bleu": 0.0}, "bleu|n:4|tok:13a|def:1|mindeval:0.1.0")}, ["zero_score_english_tokens"]),
        ({"bleu": 0.31, "rouge_l": 0.4, "accuracy": 0.9, "f1": 0.8, "loss": 2.0}, []),
        ({"accuracy": 0.251}, ["at_chance"]),
        ({"accuracy": 0.28}, []),
        ({"accuracy": Score(0.28, {"accuracy": 0.28, "total": 400})}, ["at_chance"]),  # two standard errors: 0.043
        ({"accuracy": Score(0.28, {"accuracy": 0.28, "total": 4000})}, []),  # 0.014
        ({"accuracy": Score(0.25, {"accuracy": 0.25, "total": 20})}, []),  # 0.19: nothing can be said
        ({"yes_no": Score(0.5, {"accuracy": 0.5, "yes_rate": 0.99})}, ["yes_rate"]),
        ({"yes_no": Score(0.5, {"accuracy": 0.5, "yes_rate": 0.6, "mean_mass": 0.01})}, ["tiny_mass"]),
        ({"perplexity": math.nan}, ["score_not_finite"]),
        ({"perplexity": {"perplexity": math.inf, "nll": 800.0}}, ["score_not_finite"]),
    ],
)
def test_final_scores(scores, kinds):
    assert diagnose(scores, chance=0.25).kinds == kinds


def test_text_and_json_in_two_languages():
    found = diagnose(train([*STEADY[:30], math.nan]) + evals("bleu", [0.0]))
    english, chinese = found.text(), found.text("zh")
    assert english.startswith("1. [error] loss became NaN or infinite, first at step 310 (1 values).\n   Advice: ")
    assert chinese.startswith("1. [错误] loss 出现 NaN 或无穷大，首次在第 310 步")
    content = json.loads(found.json("zh"))
    assert [finding["kind"] for finding in content["findings"]] == ["not_finite", "zero_score"]
    assert content["findings"][0]["evidence"]["first_step"] == 310
    assert diagnose([]).text() == "Nothing found (looked at: nothing, there is too little data)."
    assert diagnose({"f1": 0.7}).text("zh") == "未发现问题（检查了：f1）。"
    with pytest.raises(ValueError, match="language must be"):
        found.text("fr")


def test_every_text_exists_in_both_languages_with_the_same_numbers():
    import string

    for kind, texts in TEXTS.items():
        assert set(texts) == {"en", "zh"}, kind
        named = [{f for t in texts[lang] for _, f, _, _ in string.Formatter().parse(t) if f} for lang in ("en", "zh")]
        assert named[0] == named[1], kind


def test_a_history_a_path_and_records_give_the_same(tmp_path):
    history = History(tmp_path / "history.jsonl")
    for record in train(FALLING):
        history.append(record)
    assert diagnose(history) == diagnose(history.path) == diagnose(history.records)
