"""Diagnosis of generated histories (see benchmarks/diagnosis.py), of curves made by hand, and of final scores."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest

from mindeval import Score
from mindeval.training import History, diagnose
from mindeval.training.advice import TEXTS
from mindeval.training.diagnosis import Thresholds

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


@pytest.mark.parametrize("noise", [0.025, 0.05, 0.1, 0.25])
@pytest.mark.parametrize("windows", [12, 30, 100])
def test_a_loss_that_never_falls_is_found_however_noisy_it_is(noise, windows):
    found = [
        diagnose(train(2 * (1 + np.random.default_rng(seed).normal(0, noise, windows)))).kinds for seed in range(100)
    ]
    assert sum(bool({"not_falling", "rising"} & set(kinds)) for kinds in found) >= 97


@pytest.mark.parametrize(("memory", "noise"), [(0.5, 0.05), (0.9, 0.05), (0.97, 0.02)])
@pytest.mark.parametrize("windows", [50, 200])
def test_a_healthy_loss_with_slow_swings_is_hardly_ever_called_ill(memory, noise, windows):
    """Each window keeps a part of the deviation of the one before, as where data is not well shuffled."""
    ill = 0
    for seed in range(100):
        losses = 2 + 3 / np.sqrt(np.arange(1, windows + 1))
        deviation, rng = 0.0, np.random.default_rng(seed)
        for place in range(windows):
            deviation = memory * deviation + rng.normal(0, noise)
            losses[place] += deviation
        ill += any(finding.severity != "note" for finding in diagnose(train(losses)))
    assert ill <= 5


@pytest.mark.parametrize(
    ("values", "began"),
    [
        ([2.5, 2.3, 4.0, 8.0], 100),
        ([1.25, 1.2, 1.35, 1.6], 100),
        ([1.2, 1.3, 1.4, 1.5], 50),
        ([2.0, 1.5, 1.2, 1.4, 1.9], 150),
    ],
)
def test_few_evaluations_show_overfitting_where_each_is_worse_than_the_one_before(values, began):
    (finding,) = diagnose(train(np.linspace(3, 1, 50)) + evals("loss", values))
    assert finding.kind == "overfitting" and finding.evidence["began"] == began


@pytest.mark.parametrize("values", [[1.3, 1.25, 1.35, 1.28], [1.3, 1.25, 1.26, 1.27], [1.3, 1.2, 1.25, 1.22]])
def test_few_evaluations_that_rise_a_little_or_go_up_and_down_are_no_overfitting(values):
    assert "overfitting" not in diagnose(train(np.linspace(3, 1, 50)) + evals("loss", values)).kinds


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        ([1.0, 0.8, 0.65, 0.6], ["still_falling"]),  # longer training helps
        ([1.3, 1.25, 1.25, 1.26], ["gap"]),  # it does not: the training data is remembered
        ([0.65, 0.64, 0.64, 0.645], []),  # nor here
    ],
)
def test_longer_training_is_advised_only_where_the_evaluation_gets_better(values, kinds):
    stairs = np.concatenate([np.linspace(1.6, 1.3, 17), np.linspace(1.0, 0.95, 17), np.linspace(0.6, 0.5, 16)])
    assert diagnose(train(stairs) + evals("loss", values, every=125)).kinds == kinds


def test_what_a_resumed_run_repeats_is_looked_at_once():
    """The run went back from step 500 to 300: what had been recorded behind it, a rise to 40, is void."""
    wild = train([*STEADY[:30], *[40.0 + i for i in range(20)]])
    again = [{"kind": "start", "step": 300}] + train(STEADY)[30:]
    assert diagnose(wild + again).kinds == []
    assert diagnose(wild).kinds == ["rising_again"]


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
        ({"accuracy": math.nan}, ["score_not_finite"]),
        ({"accuracy": np.float32(0.251)}, ["at_chance"]),
        ({"accuracy": ms.Tensor(0.251)}, ["at_chance"]),
        ({"bleu": np.float64(0)}, ["zero_score"]),
        ({"yes_no": Score(0.5, {"accuracy": 0.5, "yes_rate": np.float32(1), "total": np.int64(9)})}, ["yes_rate"]),
        ({"loss": 10**400}, ["score_not_finite"]),
        ({"rougeL": 0.0, "chrF++": 0.0, "SacreBLEU": 0.0}, ["zero_score"] * 3),
        ({"mass": 0.05, "mean_mass": 0.05}, ["tiny_mass"] * 2),
        ({"yesRate": 1.0, "Yes rate": 0.99}, ["yes_rate"] * 2),
        ({"Massachusetts": 0.05, "body_mass_index": 0.05, "eyes_rated": 1.0, "inaccuracy": 0.25}, []),
        ({"yes_rate": math.nan, "mean_mass": math.nan}, ["score_not_finite"] * 2),
    ],
)
def test_final_scores(scores, kinds):
    assert diagnose(scores, chance=0.25).kinds == kinds


RISING_EVALUATION = [2.0, 1.6, 1.4, 1.3, 1.35, 1.45, 1.6, 1.7, 1.8, 1.9]


@pytest.mark.parametrize("kind", [np.float32, np.float64, ms.Tensor, lambda x: np.array([x])])
def test_numbers_of_numpy_and_mindspore_are_looked_at(kind):
    records = train(map(kind, STEADY), every=np.int64(10)) + evals("loss", map(kind, RISING_EVALUATION))
    (finding,) = diagnose(records)
    assert finding.kind == "overfitting" and finding.evidence["began"] == 200
    assert finding.evidence["end"] == pytest.approx(1.85)
    json.loads(diagnose(records).json())


@pytest.mark.parametrize("name", ["glossary", "apple", "lossless_ratio", "hamming_loss", "dllnlls"])
def test_a_name_that_only_contains_the_letters_of_a_loss_is_none(name):
    assert diagnose(train(STEADY) + evals(name, RISING_EVALUATION)).kinds == []


@pytest.mark.parametrize("name", ["loss", "eval_loss", "validLoss", "Loss/eval", "token_nll", "val-ppl"])
def test_a_loss_is_known_by_a_word_of_its_name(name):
    values = [math.exp(v) for v in RISING_EVALUATION] if "ppl" in name else RISING_EVALUATION
    assert diagnose(train(STEADY) + evals("glossary", RISING_EVALUATION) + evals(name, values)).kinds == ["overfitting"]


def test_records_in_reversed_order_are_read_from_the_end():
    records = [{"kind": "start", "step": 0}] + train(STEADY) + evals("loss", RISING_EVALUATION)
    ordered = diagnose(records)
    assert ordered.kinds == ["overfitting"]
    assert diagnose(records[::-1]) == ordered
    assert diagnose(train(STEADY)[::-1]).kinds == []


def test_records_of_one_run_may_come_in_any_order():
    records = train(STEADY) + evals("loss", RISING_EVALUATION)
    shuffled = [records[place] for place in np.random.default_rng(0).permutation(len(records))]
    assert diagnose([{"kind": "start", "step": 0}, *shuffled]) == diagnose(records)


@pytest.mark.parametrize(
    ("losses", "kinds"),
    [
        ([0.01 * i for i in range(50)], ["rising"]),
        ([0.0] * 20 + [1.0] * 30, ["rising", "spikes"]),  # a jump
        ([0.0] * 50, ["not_falling"]),
        ([0.0] + STEADY[1:], []),
        ([4.0 * 0.5**i for i in range(20)] + [0.0] * 30, ["plateau"]),
        ([-v for v in STEADY], ["rising"]),
    ],
)
def test_losses_of_0_and_below(losses, kinds):
    assert diagnose(train(losses)).kinds == kinds


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (3, "record 2 must be a dict, but got 3"),
        ("kind", "record 2 must be a dict, but got 'kind'"),
        ({"kind": "train", "loss": 1.0}, r"'step' of record 2 \(train\) must be a whole number, but got None"),
        ({"kind": "train", "step": "x"}, r"'step' of record 2 \(train\) must be a whole number, but got 'x'"),
        ({"kind": "eval", "step": math.nan}, r"'step' of record 2 \(eval\) must be a whole number, but got nan"),
        ({"kind": "eval", "step": 1.5}, r"'step' of record 2 \(eval\) must be a whole number, but got 1.5"),
        ({"kind": "start", "step": []}, r"'step' of record 2 \(start\) must be a whole number, but got \[\]"),
        ({"kind": "train", "step": 1, "loss": "low"}, r"'loss' of record 2 \(train\) must be a number, but got 'low'"),
        ({"kind": "eval", "step": 1, "metrics": [1]}, r"'metrics' of record 2 \(eval\) must be a dict .*got \[1\]"),
        ({"kind": "eval", "step": 1, "metrics": {1: 1}}, r"'metrics' of record 2 \(eval\) must be a dict .*got {1: 1}"),
    ],
)
def test_a_malformed_record_is_named(record, message):
    with pytest.raises(TypeError, match=f"For 'diagnose', {message}"):
        diagnose([{"kind": "start", "step": 0}, record])


def test_records_as_json_gives_them_are_read():
    """Non-finite numbers by name, steps as floats, missing values as None; values that are no numbers are left."""
    records = json.loads(json.dumps(train([*STEADY[:30], "NaN", None, *STEADY[32:]])))
    records.append({"kind": "eval", "step": 500.0, "metrics": {"loss": "-Infinity", "text": "so so", "none": None}})
    (finding,) = diagnose(records)
    assert finding.evidence == {"first_step": 310, "windows": 2, "names": ["loss"]}


@pytest.mark.parametrize("threshold", list(Thresholds.__dataclass_fields__))
@pytest.mark.parametrize("value", [math.nan, -1, "0.3", None, True])
def test_a_threshold_that_is_no_number_from_0_on_is_refused_by_its_name(threshold, value):
    with pytest.raises((TypeError, ValueError), match=f"For 'diagnose', the threshold '{threshold}' must be"):
        diagnose(train(STEADY), thresholds={threshold: value})


@pytest.mark.parametrize("never", [math.inf, 10**400])
def test_an_infinite_threshold_is_never_reached(never):
    records = train([*STEADY[:30], 9.0, *STEADY[31:]]) + evals("loss", RISING_EVALUATION)
    assert diagnose(records).kinds == ["spikes", "overfitting"]
    off = {"spike": never, "overfit_rise": never, "gap": never}
    assert diagnose(records, thresholds=off).kinds == []


def test_thresholds_of_0_are_shares_like_others_but_for_numbers_of_points():
    shares = [name for name in Thresholds.__dataclass_fields__ if name not in ("points", "evaluations")]
    diagnose(train(STEADY) + evals("loss", RISING_EVALUATION), thresholds=dict.fromkeys(shares, 0))
    for name in ("points", "evaluations"):
        with pytest.raises(ValueError, match=f"the threshold '{name}' must be >= 2, but got 0"):
            diagnose([], thresholds={name: 0})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"thresholds": 0}, "thresholds must be Thresholds or a dict, but got 0"),
        ({"chance": "0.25"}, "chance must be a number between 0 and 1 or a dict of them, but got '0.25'"),
        ({"chance": {"accuracy": None}}, "chance must be a number between 0 and 1 or a dict of them, but got None"),
        ({"chance": 25}, "chance must lie between 0 and 1, but got 25"),
        ({"history_or_scores": {1: 0.5}}, "names of scores must be str, but got 1"),
        ({"history_or_scores": {"kind": "train", "step": 1}}, "records must be in a list, but got one record alone"),
        ({"history_or_scores": 3}, "a history must be a History, a path or a list of records, but got int"),
    ],
)
def test_refused_arguments(arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'diagnose', {message}"):
        diagnose(**{"history_or_scores": [], **arguments})


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


LATE = [STEADY[i] if i < 40 else STEADY[40] + 0.12 * (i - 40) for i in range(50)]


@pytest.mark.parametrize(
    ("losses", "since", "last"),
    [
        (LATE, 390, LATE[47]),  # the median of the last five; the lowest five are windows 37 to 41
        ([2 + abs(i - 25) / 25 for i in range(50)], 260, 2 + 22 / 25),  # ends where it began
        ([8 / (1 + i) ** 0.5 if i < 35 else 8 / 6 + (i - 35) * 0.1 for i in range(50)], 350, 8 / 6 + 1.2),
    ],
)
def test_a_loss_that_rises_again_after_a_fall_is_no_plateau_and_its_step_is_named(losses, since, last):
    (finding,) = diagnose(train(losses))
    assert finding.kind == "rising_again" and finding.severity == "error"
    assert abs(finding.evidence["since"] - since) <= 20 and finding.evidence["last"] == pytest.approx(last)
    assert finding.evidence["last_step"] == 500
    assert f"since step {finding.evidence['since']}" in finding.message()


def test_a_flat_loss_with_noise_is_still_a_plateau():
    noise = np.random.default_rng(0).normal(0, 0.003, 60)
    flat = [1.5 + 3 * math.exp(-i / 3) + float(noise[i]) for i in range(60)]
    assert diagnose(train(flat)).kinds == ["plateau"]


@pytest.mark.parametrize(
    "other", ["loss_scale", "aux_loss", "zero_one_loss", "log_loss", "router_z_loss", "hit_rate_loss"]
)
@pytest.mark.parametrize("own", ["loss", "eval_loss", "perplexity", "val_nll"])
def test_the_loss_is_compared_whatever_else_has_the_word_in_its_name(other, own):
    values = [math.exp(v) if own == "perplexity" else v for v in RISING_EVALUATION]
    records = [{"kind": "eval", "step": 50 * (i + 1), "metrics": {other: 0.5, own: v}} for i, v in enumerate(values)]
    (finding,) = diagnose(train(STEADY) + records)
    assert finding.kind == "overfitting" and finding.evidence["name"] == own


def test_a_loss_of_a_name_of_its_own_is_taken_where_there_is_no_other():
    (finding,) = diagnose(train(STEADY) + evals("log_loss", RISING_EVALUATION))
    assert finding.kind == "overfitting"
    assert diagnose(train(STEADY) + evals("loss_scale", RISING_EVALUATION)).kinds == []


@pytest.mark.parametrize("kind", [None, "Train", " eval", "TRAIN"])
def test_records_whose_kind_is_missing_or_misspelt_are_named(kind):
    records = [*train(STEADY), {"kind": kind, "step": 9, "loss": 1.0}]
    with pytest.raises(TypeError, match=rf"'kind' of record 51 must be one of \['start', .* but got {kind!r}"):
        diagnose(records)


def test_records_of_other_kinds_are_left_out_unless_there_are_no_others():
    note = {"kind": "note", "text": "a new learning rate"}
    assert diagnose([*train(FALLING), note]).kinds == ["still_falling"]
    with pytest.raises(TypeError, match="'kind' of record 1 must be one of .* but got 'note', and no other is"):
        diagnose([note])


@pytest.mark.parametrize("name", ["acc,none", "mmlu_acc", "top1_acc", "acc_norm,none", "eval/acc"])
def test_accuracies_are_known_by_a_word_of_their_name(name):
    assert diagnose({name: 0.25}, chance=0.25).kinds == ["at_chance"]
    assert diagnose({"acc_stderr,none": 0.25}, chance=0.25).kinds == []


def test_scores_that_are_texts_are_refused_and_other_texts_are_none():
    with pytest.raises(TypeError, match="scores must be numbers, but got '0.0' as 'bleu'"):
        diagnose({"bleu": "0.0"})
    assert diagnose({"bleu": 0.5, "signature": "bleu|n:4"}).judged == ("bleu",)


def test_a_chance_that_is_given_by_name_says_that_the_score_is_an_accuracy():
    assert diagnose({"mmlu": 0.25, "law": 0.25}, chance={"mmlu": 0.25}).findings[0].evidence["name"] == "mmlu"
    assert diagnose({"mmlu": 0.25}, chance=0.25).kinds == []  # nothing says that it is one
    assert diagnose({"mmlu": Score(0.25, {"accuracy": 0.25})}, chance=0.25).kinds == ["at_chance"]


def test_a_chance_of_a_score_that_is_not_there_is_refused():
    message = r"chance must be named as the scores, \['accuracy'\], but got \['nope'\]"
    for given in ({"accuracy": 0.25}, evals("accuracy", [0.25])):
        with pytest.raises(ValueError, match=message):
            diagnose(given, chance={"nope": 0.25})
        assert diagnose(given, chance={"accuracy": 0.25}).kinds == ["at_chance"]


def test_the_largest_loss_of_a_window_may_be_what_is_not_finite():
    records = [{**record, "loss_max": math.inf if record["step"] == 300 else 9.0} for record in train(STEADY)]
    (finding,) = diagnose(records)
    assert finding.evidence == {"first_step": 300, "windows": 1, "names": ["loss_max"]}
    both = [{**record, "loss": math.nan, "loss_max": math.nan} for record in train(STEADY)]
    assert diagnose(both).findings[0].evidence == {"first_step": 10, "windows": 50, "names": ["loss"]}


def test_a_value_that_is_not_finite_at_the_end_is_reported_once():
    assert diagnose(evals("accuracy", [0.5, math.nan])).kinds == ["not_finite"]
    assert diagnose({"accuracy": math.nan}).kinds == ["score_not_finite"]
