"""The handed cases of answer scoring, where they lie beside the checkout; conventions are options, named here."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from mindeval.answers.answer import AnswerAccuracy, same_text
from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.extraction import (
    extract_choice,
    extract_code,
    extract_number,
    extract_text,
    extract_yes_no,
    strip_reasoning,
)
from mindeval.answers.pass_at_k import PassAtK, g_pass_at_k, pass_at_k
from mindeval.answers.yes_no import YesNoAccuracy

# The option that reproduces a convention-dependent case.
CONVENTIONS = {
    "number_match-0014": {"decimal": ","},
    "number_match-0059": {"percent": "divide"},
    "number_match-0069": {"prefer": "last"},
}


def cases(folder, topic):
    return json.loads((folder / "cases" / f"cases_handed_{topic}.json").read_text(encoding="utf-8"))["cases"]


def bugs(folder, task):
    items = json.loads((folder / "cases" / "bug_inputs_handed.json").read_text(encoding="utf-8"))["items"]
    return [item for item in items if item["task"] == task]


def lines(folder, name):
    with gzip.open(folder / "corpora" / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("told", [True, False], ids=["language told", "language untold"])
def test_choices_of_the_handed_texts(shared_dir, told):
    inputs = [(case["id"], case["inputs"], case["expected"]) for case in cases(shared_dir, "choice_extract")]
    inputs += [(item["id"], item["input"], item["expected"]) for item in bugs(shared_dir, "choice_extract")]
    for name, given, expected in inputs:
        options = given.get("choices")
        found = extract_choice(
            given["text"],
            given["options"],
            options=options if options and len(options) == len(given["options"]) else None,
            multiple=given.get("multiple", False),
            language=given.get("lang") if told else None,
        )
        assert found.answer == expected, (name, given, found)


def test_scores_of_options_choose_as_handed(shared_dir):
    for case in cases(shared_dir, "choice_logprob"):
        given, expected = case["inputs"], case["expected"]
        scores = np.array(given["scores"])
        columns = [np.log(scores) if scores.max() > 0 else scores]  # some of the cases are given as probabilities
        if "unconditional" in given:
            nan = [np.nan] * len(given["scores"])
            columns += [nan, nan, nan, given["unconditional"]]
        metric = ChoiceAccuracy(mode="loglikelihood")
        metric.update([np.array(columns).T], [given["gold"]])
        accuracy = metric.eval()
        if isinstance(expected, dict):
            by_normalisation = metric.result()["by_normalisation"]
            assert {"acc": accuracy, "acc_mutual_info": by_normalisation["prior"]} == expected, case["id"]
        else:
            assert accuracy == expected, case["id"]


def test_normalisations_choose_as_handed(shared_dir):
    for item in bugs(shared_dir, "choice_normalisation"):
        given, expected = item["input"], item["expected"]
        table = np.array(
            [
                given["sum_logprob"],
                given["n_tokens"],
                [len(text) for text in given["choices"]],
                [len(text.encode()) for text in given["choices"]],
            ],
            np.float64,
        ).T
        names = {"raw": "sum", "per_token": "token", "per_char": "char", "per_byte": "byte"}
        for key, name in names.items():
            if key in expected:
                metric = ChoiceAccuracy(mode="loglikelihood", normalize=name)
                assert metric([table], [expected[key]]) == 1.0, (item["id"], key)


def test_ids_that_render_as_one_letter_count_together(shared_dir):
    (item,) = bugs(shared_dir, "option_token_scoring")
    logits = np.full((1, 30000), -50.0, np.float32)
    for token, value in item["input"]["next_token_logits"].items():
        logits[0, int(token)] = value
    metric = ChoiceAccuracy("AB", tokenizer_or_ids=item["input"]["candidate_ids"])
    assert metric(logits, [item["expected"]]) == 1.0


def test_yes_and_no_of_the_handed_texts(shared_dir):
    for case in cases(shared_dir, "yes_no_text"):
        assert extract_yes_no(case["inputs"]["text"]).answer == case["expected"], case["id"]


def test_numbers_of_the_handed_texts(shared_dir):
    for case in cases(shared_dir, "number_extract"):
        prefer = "first" if case["task"] == "first_number" else "statement"
        found, expected = extract_number(case["inputs"]["text"], prefer=prefer).answer, case["expected"]
        assert (found is None) == (expected is None), case["id"]
        assert found is None or Fraction(found) == Fraction(str(expected)), case["id"]


def test_numbers_match_as_handed(shared_dir):
    for case in cases(shared_dir, "number_match"):
        options = CONVENTIONS.get(case["id"], {})
        extract = partial(extract_number, **options)
        metric = AnswerAccuracy("number", extract=extract, percent=options.get("percent", "keep"))
        assert metric([case["inputs"]["text"]], [case["inputs"]["gold"]]) == case["expected"], case["id"]


def test_gsm8k_answers_match_as_handed(shared_dir):
    for item in bugs(shared_dir, "gsm8k_number"):
        found, expected = extract_number(item["input"]["text"]).answer, item["expected"]
        value = None if expected["value"] is None else Fraction(str(expected["value"]))
        assert (None if found is None else Fraction(found)) == value, item["id"]
        assert AnswerAccuracy("number")([item["input"]["text"]], [item["input"]["gold"]]) == expected["correct"]


@pytest.mark.parametrize("marker", ["A:", None], ids=["answer line", "any statement"])
def test_all_gsm8k_labels_are_reproduced(shared_dir, marker):
    rows = lines(shared_dir, "gsm8k_model_solutions.jsonl.gz")
    extract = partial(extract_number, marker=marker)
    golds = [extract(row["ground_truth"]).answer for row in rows]
    for field in ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"):
        for row, gold in zip(rows, golds):
            found = extract(row[field]["solution"]).answer
            right = found is not None and gold is not None and Fraction(found) == Fraction(gold)
            assert right == row[field]["is_correct"], row[field]["solution"][-80:]
        metric = AnswerAccuracy("number", extract=extract)
        metric.update([row[field]["solution"] for row in rows], [row["ground_truth"] for row in rows])
        assert metric.eval() == sum(row[field]["is_correct"] for row in rows) / len(rows)


def test_all_published_bbh_accuracies_are_reproduced(shared_dir):
    published = json.loads((shared_dir / "corpora" / "bbh_published_accuracy.json").read_text())["published"]
    rows = [row for row in lines(shared_dir, "bbh_davinci002_outputs.jsonl.gz") if "task" in row]
    for kind, tasks in published.items():
        for task, figure in tasks.items():
            mine = [row for row in rows if (row["kind"], row["task"]) == (kind, task)]
            metric = AnswerAccuracy("text")
            metric.update([row["prediction"] for row in mine], [row["target"] for row in mine])
            assert 100 * metric.eval() == pytest.approx(figure["accuracy"], abs=1e-9), (kind, task)
            assert metric.result()["samples"] == figure["n"]


def test_choice_extraction_is_precise_on_real_generations(shared_dir):
    """The options that the published procedure reads ("the answer is (X)"); nothing may be read differently."""
    rows = [row for row in lines(shared_dir, "bbh_davinci002_outputs.jsonl.gz") if "task" in row]
    lettered = {row["task"] for row in rows if row["target"] == "(A)"}
    read, wrong, stated = 0, [], 0
    for row in rows[::7]:
        if row["task"] not in lettered:
            continue
        said = row["prediction"].split("the answer is")[-1].strip().rstrip(".")
        single = len(said) == 3 and said[0] + said[2] == "()"
        found = extract_choice(row["prediction"], "ABCDEFGHIJKLMNOPQR").answer
        stated += single
        read += found is not None
        if found is not None and single and said != f"({found})":
            wrong.append(row)
    assert not wrong and read >= stated > 1000


def test_bbh_answers_match_as_handed(shared_dir):
    for case in cases(shared_dir, "bbh"):
        if case["task"] == "bbh_freeform_normalise":
            assert same_text(str(extract_text(case["inputs"]["text"]).answer), case["expected"]), case["id"]
        elif case["task"] == "bbh_match":
            metric = AnswerAccuracy("text")
            assert metric([case["inputs"]["prediction"]], [case["inputs"]["target"]]) == case["expected"], case["id"]
    for item in bugs(shared_dir, "bbh_match"):
        given, expected = item["input"], item["expected"]
        texts = given.get("texts", [given.get("text")])
        for text, right in zip(texts, expected if isinstance(expected, list) else [expected]):
            assert AnswerAccuracy("text")([text], [given["target"]]) == right, item["id"]


def test_pass_at_k_as_handed(shared_dir):
    for case in cases(shared_dir, "pass_at_k"):
        given = case["inputs"]
        if case["task"] == "g_pass_at_k":
            value = g_pass_at_k(given["n"], given["c"], given["k"], given["threshold"])
        else:
            values = [pass_at_k(n, c, given["k"]) for n, c in zip(given["n"], given["c"])]
            value = sum(values) / len(values)
        assert float(value) == pytest.approx(case["expected"], abs=max(case["tolerance"], 1e-12)), case["id"]
    for item in bugs(shared_dir, "pass_at_k"):
        given, expected = item["input"], item["expected"]["value"]
        if expected is None:
            with pytest.raises(ValueError, match="no unbiased estimate"):
                PassAtK(given["k"], given["n"])
        else:
            assert float(pass_at_k(given["n"], given["c"], given["k"])) == pytest.approx(expected, abs=1e-15)


def test_code_of_the_handed_texts(shared_dir):
    for item in [*cases(shared_dir, "code_extract"), *bugs(shared_dir, "code_extract")]:
        given = {**item.get("inputs", {}), **item.get("params", {}), **item.get("input", {})}
        completion = given.get("mode") == "completion"
        found = extract_code(given["text"], entry_point=given.get("entry_point"), completion=completion).answer
        if isinstance(item["expected"], dict):
            exec(f"{given['prompt']}{found}\n{item['expected']['test']}", {})
        else:
            assert found == item["expected"], item["id"]


def test_reasoning_of_the_handed_texts(shared_dir):
    for case in cases(shared_dir, "think_strip"):
        assert strip_reasoning(case["inputs"]["text"]).answer == case["expected"]


def rebuilt_logits(known: dict[int, float], log_sum: float, width: int = 49152) -> np.ndarray:
    """A row of float64 logits with the known ones and the known log-sum-exp: the rest of the mass lies on token 0."""
    row = np.full(width, -np.inf)
    for token, logit in known.items():
        row[token] = logit
    rest = np.exp(log_sum) - sum(np.exp(logit) for logit in known.values())
    row[0] = np.log(rest)
    return row


@pytest.mark.filterwarnings("ignore:.*mean probability")  # the forms without a space are what the model never says
def test_real_yes_no_rows_are_reproduced(shared_dir):
    fixture = json.loads((shared_dir / "lm_fixtures" / "yes_no_real.json").read_text(encoding="utf-8"))
    ids = {form: tokens for form, tokens in fixture["ids"].items() if len(tokens) == 1}
    by_class = {label: [i[0] for form, i in ids.items() if form.strip().lower() == label] for label in ("yes", "no")}
    metrics = {
        "all_variants": YesNoAccuracy(by_class),
        "space_pair": YesNoAccuracy({"yes": ids[" Yes"], "no": ids[" No"]}),
        "no_space_pair": YesNoAccuracy({"yes": ids["Yes"], "no": ids["No"]}),
    }
    for row in fixture["rows"]:
        known = {ids[form][0]: logit for form, logit in row["candidate_logits"].items()}
        logits = rebuilt_logits(known, row["logsumexp"])[None]
        expected = row["expected"]
        for name, metric in metrics.items():
            metric(logits, [True])
            assert metric(logits, [True]).parts["yes_rate"] == (expected[name] == "Yes"), row["prompt"]
        mass = metrics["all_variants"](logits, [True]).parts["mass"]
        assert mass == pytest.approx(np.exp(expected["log_mass_yes"]) + np.exp(expected["log_mass_no"]), abs=1e-6)
        yes = YesNoAccuracy({"yes": by_class["yes"], "no": [1]})(logits, [True]).parts["mass"]
        assert np.log(yes) == pytest.approx(expected["log_mass_yes"], abs=1e-6)
        assert yes / mass == pytest.approx(expected["p_yes"], abs=1e-6)


@pytest.mark.filterwarnings("ignore:.*mean probability")
def test_real_choice_rows_are_reproduced(shared_dir):
    fixture = json.loads((shared_dir / "lm_fixtures" / "choice_real.json").read_text(encoding="utf-8"))
    names = {
        "raw": "sum", "per_token": "token", "per_char": "char", "per_byte": "byte", "mutual_info": "prior",
    }  # fmt: skip
    forms = ["A", "B", "C", "D", " A", " B", " C", " D"]
    for row in fixture["rows"]:
        keys = ("sum_logprob", "n_tokens", "n_chars", "n_bytes", "unconditional_logprob")
        table = np.array([[option[key] for key in keys] for option in row["continuation"]])
        for key, name in names.items():
            metric = ChoiceAccuracy(mode="loglikelihood", normalize=name)
            assert metric([table], [row["expected"][key]]) == 1.0, (row["question"], key)
        known = {place + 1: row["letter_logits"][form] for place, form in enumerate(forms)}
        logits = rebuilt_logits(known, row["logsumexp"], 64)[None]
        for key, first in (("letters_no_space", 1), ("letters_space", 5)):
            ids = {letter: first + place for place, letter in enumerate("ABCD")}
            metric = ChoiceAccuracy(tokenizer_or_ids=ids)
            assert metric(logits, [row["expected"][key]]) == 1.0, (row["question"], key)
            mass = sum(np.exp(known[token] - row["logsumexp"]) for token in ids.values())
            assert metric(logits, ["A"]).parts["mass"] == pytest.approx(mass, abs=1e-6)


def test_totals_over_subjects_as_handed(shared_dir):
    (item,) = bugs(shared_dir, "aggregate")
    metric = ChoiceAccuracy("AB", "text", groups=True)
    for subject, (right, total) in item["input"]["subjects"].items():
        metric.update(["A"] * right + ["B"] * (total - right), ["A"] * total, None, [subject] * total)
    assert metric.eval() == item["expected"]["micro"] == metric.result()["micro"]
    assert metric.result()["macro"] == pytest.approx(item["expected"]["macro"], abs=1e-15)
