"""YesNoAccuracy and ChoiceAccuracy against float64 formulas written out here."""

from __future__ import annotations

import math
import warnings

import mindspore as ms
import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from mindeval.answers._scores import exp
from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.heads import CandidateHead, OptionHead
from mindeval.answers.options import option_statistics
from mindeval.answers.yes_no import YesNoAccuracy

IDS = {"yes": [3, 5], "no": [1, 7]}
LETTERS = {"A": [0, 4], "B": [1], "C": [2, 6], "D": [3]}


def log_softmax(rows):
    rows = np.asarray(rows, np.float64)
    top = rows.max(axis=-1, keepdims=True)
    return rows - top - np.log(np.exp(rows - top).sum(axis=-1, keepdims=True))


def expected_yes_no(logits, gold):
    probability = np.exp(log_softmax(logits))
    yes, no = probability[:, IDS["yes"]].sum(1), probability[:, IDS["no"]].sum(1)
    said = yes > no
    return {
        "accuracy": (said == gold).mean(),
        "balanced_accuracy": balanced_accuracy_score(gold, said),
        "yes_rate": said.mean(),
        "mass": (yes + no).mean(),
        "majority_baseline": max(gold.mean(), 1 - gold.mean()),
    }


@pytest.fixture
def batch():
    rng = np.random.default_rng(5)
    return rng.normal(scale=3, size=(40, 11)).astype(np.float32), rng.random(40) < 0.4


@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16])
def test_yes_no_equals_the_float64_formula_on_tensors_of_each_dtype(batch, dtype):
    logits, gold = ms.Tensor(batch[0]).astype(dtype), batch[1]
    metric = YesNoAccuracy(IDS)
    metric.update(logits, ms.Tensor(gold))
    metric.eval()
    expected = expected_yes_no(logits.astype(ms.float32).asnumpy(), gold)
    for name, value in expected.items():
        assert metric.result()[name] == pytest.approx(value, abs=1e-6), name


def test_log_probs_nll_tokens_and_the_head_say_the_same_as_logits(batch):
    logits, gold = batch
    whole = YesNoAccuracy(IDS)(logits, gold)
    columns = log_softmax(logits)[:, [3, 5, 1, 7]]
    assert YesNoAccuracy(IDS, inputs="log_probs")(columns, gold).parts["mass"] == pytest.approx(whole.parts["mass"])
    assert YesNoAccuracy(IDS, inputs="nll")(-columns, gold) == whole
    tokens = np.stack([-columns / 4, -columns * 3 / 4, np.zeros_like(columns)], axis=2)
    assert YesNoAccuracy(IDS, inputs="nll")(tokens, gold) == whole
    head = YesNoAccuracy(IDS).head()(ms.Tensor(logits))
    assert head.shape == (40, 4)
    assert YesNoAccuracy(IDS, inputs="log_probs")(head, gold) == whole


def test_positions_pick_the_last_token_of_each_prompt(batch):
    logits, gold = batch
    padded = np.random.default_rng(0).normal(size=(40, 4, 11)).astype(np.float32)
    positions = np.arange(40) % 4
    padded[np.arange(40), positions] = logits
    whole = YesNoAccuracy(IDS)(logits, gold)
    assert YesNoAccuracy(IDS)(padded, gold, None, positions) == whole
    assert YesNoAccuracy(IDS)(ms.Tensor(padded), gold, None, ms.Tensor(positions)).parts == whole.parts
    half = ms.Tensor(padded).astype(ms.bfloat16)
    rounded = half.astype(ms.float32).asnumpy()[np.arange(40), positions]
    assert YesNoAccuracy(IDS)(half, gold, None, positions) == YesNoAccuracy(IDS)(rounded, gold)
    head = CandidateHead([3, 5, 1, 7])(ms.Tensor(padded), ms.Tensor(positions))
    assert YesNoAccuracy(IDS, inputs="log_probs")(head, gold) == whole
    assert CandidateHead([3])(half, ms.Tensor(positions)).dtype == ms.float32


def sharded_nll(logits, labels):
    """What a kernel over two vocabulary shards gives, in float64: here the shards are the halves of the rows."""
    halves = np.asarray(logits[:, :6], np.float64), np.asarray(logits[:, 6:], np.float64)
    top = np.maximum(halves[0].max(1), halves[1].max(1))
    total = sum(np.exp(half - top[:, None]).sum(1) for half in halves)
    return top + np.log(total) - np.asarray(logits, np.float64)[np.arange(len(labels)), labels]


def test_vocabulary_sharded_logits_are_read_through_the_given_kernel(batch):
    logits, gold = batch
    whole = YesNoAccuracy(IDS)(logits, gold)
    sharded = YesNoAccuracy(IDS, nll=sharded_nll)(logits, gold)
    assert sharded == whole
    assert sharded.parts["mass"] == pytest.approx(whole.parts["mass"], abs=1e-9)
    labels = np.arange(40) % 4
    assert ChoiceAccuracy(tokenizer_or_ids=LETTERS, nll=sharded_nll)(logits, labels) == ChoiceAccuracy(
        tokenizer_or_ids=LETTERS
    )(logits, labels)


def test_ties_are_counted_and_never_yes():
    logits = np.zeros((4, 11), np.float32)
    metric = YesNoAccuracy(IDS)
    metric.update(logits, [True, True, False, True])
    assert metric.eval() == 0.25
    assert (metric.result()["ties"], metric.result()["yes_rate"]) == (4, 0.0)
    assert metric.result()["balanced_accuracy"] == 0.5
    assert metric.result()["majority_baseline"] == 0.75


def test_impossible_candidates_are_a_tie_without_mass():
    logits = np.zeros((1, 11), np.float32)
    logits[0, [1, 3, 5, 7]] = -np.inf
    metric = YesNoAccuracy(IDS)
    metric.update(logits, [False])
    with pytest.warns(UserWarning, match="mean probability of 0 together"):
        assert metric.eval() == 1.0
    assert (metric.result()["ties"], metric.result()["mass"]) == (1, 0.0)


def test_masses_far_below_the_smallest_float_are_still_compared():
    columns = np.array([[-900.0, -900.0, -899.5, -2000.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # e^-900 + e^-900 > e^-899.5
        assert YesNoAccuracy(IDS, inputs="log_probs")(columns, [True]) == 1.0


def test_tiny_mass_warns_of_wrong_ids():
    logits = np.full((2, 11), 0.0, np.float32)
    logits[:, 0] = 9.0
    for metric, labels in (
        (YesNoAccuracy(IDS), [True, False]),
        (ChoiceAccuracy("AB", tokenizer_or_ids={"A": 1, "B": 2}), [0, 1]),
    ):
        metric.update(logits, labels)
        with pytest.warns(UserWarning, match="Are these the token ids"):
            metric.eval()


def test_exp_is_within_two_ulp_of_libm():
    values = -np.abs(np.random.default_rng(1).normal(scale=200, size=5000))
    expected = np.array([math.exp(value) for value in values])
    normal = expected > 1e-300
    assert (np.abs(exp(values) - expected)[normal] <= 2 * np.spacing(expected)[normal]).all()
    assert exp(np.array([0.0, -np.inf, -1e9])).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((np.zeros((2, 11)), [True]), r"labels must have shape \[2\]"),
        ((np.zeros((2, 11)), [1, 2]), "labels must be bool"),
        ((np.zeros((2, 3, 11)), [True, True]), "with positions"),
        ((np.zeros((2, 5)), [True, True]), "logits' vocabulary of 5, but got id 7"),
        ((np.full((2, 11), np.nan), [True, True]), "must not be NaN"),
        ((np.zeros((2, 3, 11)), [True, True], None, [0, 3]), r"places in \[0, 3\), but row 1 has 3"),
        ((np.zeros((2, 3, 11)), [True, True], None, [-1, 2]), r"places in \[0, 3\), but row 0 has -1"),
        ((np.zeros((2, 3, 11)), [True, True], None, [2]), r"positions must have shape \[2\], but got \[1\]"),
    ],
)
def test_bad_yes_no_inputs_are_refused(inputs, message):
    with pytest.raises(ValueError, match=f"For 'YesNoAccuracy.update', .*{message}"):
        YesNoAccuracy(IDS).update(*inputs)


@pytest.mark.parametrize("kind", [np.asarray, ms.Tensor])
def test_a_mask_is_no_position(kind):
    for metric in (YesNoAccuracy(IDS), ChoiceAccuracy("AB", tokenizer_or_ids={"A": 1, "B": 2})):
        with pytest.raises(TypeError, match="positions must be places in the sequence, but got bool"):
            metric.update(kind(np.zeros((2, 3, 11), np.float32)), [0, 1], positions=kind(np.array([True, False])))


def test_settings_that_do_not_fit_the_ids_are_refused():
    for make in (
        lambda **how: YesNoAccuracy(IDS, **how),
        lambda **how: ChoiceAccuracy("AB", tokenizer_or_ids={"A": 1, "B": 7}, **how),
    ):
        with pytest.raises(ValueError, match="variants must be one of"):
            make(variants="x")
        with pytest.raises(ValueError, match="vocab_size must be above all candidate ids, but got 7 and id 7"):
            make(vocab_size=7)
        make(vocab_size=8)


SUMS = [[-1.0, -2.0], [-3.0, -4.0, -5.0]]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (lambda: {"sums": None}, TypeError, "sums must be"),
        (lambda: {"sums": [-1.0, -2.0]}, ValueError, "sums of question 0 must be one number for each option"),
        (lambda: {"sums": [["a"]]}, TypeError, "sums of question 0 must be numbers"),
        *(
            (lambda name=name, rows=rows: {"sums": SUMS, name: rows}, ValueError, f"{name} {message}")
            for name in ("tokens", "prior", "full", "full_tokens", "texts")
            for rows, message in (
                ([["1", "2"]], "must have one row a question, but got 1 for 2 of sums"),
                ([["1", "2"], ["1", "2", "3"], ["1"]], "must have one row a question, but got 3 for 2"),
            )
        ),
        *(
            (lambda name=name, row=row: {"sums": SUMS, name: [[1, 2], row]}, ValueError, message)
            for name in ("tokens", "prior", "full", "full_tokens")
            for row, message in (
                ([1], f"question 1 must have one entry of {name} per option, but got 1 for 3"),
                ([1, 2, 3, 4], f"question 1 must have one entry of {name} per option, but got 4 for 3"),
                (1, f"{name} of question 1 must be one number for each option"),
                ([True, False, True], f"{name} of question 1 must be one number for each option"),
            )
        ),
        (lambda: {"sums": SUMS, "texts": [["a", "b"], ["a"]]}, ValueError, "one entry of texts per option, but got 1"),
        (lambda: {"sums": SUMS, "texts": ["ab", "abc"]}, TypeError, "texts of question 0 must be a list of str"),
        (lambda: {"sums": SUMS, "texts": [[1, 2], [1, 2, 3]]}, TypeError, "texts of question 0 must be a list of str"),
        (lambda: {"sums": SUMS, "texts": "ab"}, TypeError, "texts must have one row a question"),
        (lambda: {"sums": SUMS, "tokens": [[1.5, 1], [1, 1, 1]]}, ValueError, "tokens of question 0 must be counts"),
    ],
)
def test_statistics_that_do_not_fit_the_options_are_refused(arguments, kind, message):
    with pytest.raises(kind, match=message):
        option_statistics(**arguments())


def test_statistics_are_taken_from_lists_tuples_arrays_and_tensors():
    expected = option_statistics([[-1.0, -2.0]], tokens=[[1, 2]], texts=[["a", "bc"]])[0]
    for kind in (list, tuple, np.asarray, ms.Tensor):
        texts = (np.asarray if kind is np.asarray else list)([["a", "bc"]])
        found = option_statistics(kind([[-1.0, -2.0]]), tokens=kind([[1, 2]]), texts=texts)[0]
        np.testing.assert_array_equal(found, expected)


def test_given_log_probs_are_checked():
    for kind, values, message in (
        ("log_probs", np.ones((1, 4)), "log_probs must be <= 0 and not NaN, but row 0 has 1 for candidate 0"),
        ("nll", -np.ones((1, 4)), "nll must be >= 0 and not NaN, but row 0 has -1 for candidate 0"),
        ("log_probs", np.zeros((1, 4)), "sum to at most 1, but those of row 0 sum to 4"),
        ("nll", np.ones((1, 3)), r"must have shape \[B, 4\]"),
        ("nll", [[0.5, 0.5, np.nan, 0.5]], "nll must be >= 0 and not NaN, but row 0 has nan for candidate 2"),
    ):
        with pytest.raises(ValueError, match=message):
            YesNoAccuracy(IDS, inputs=kind).update(values, [True])


# ---------------------------------------------------------------------------------------------------- choices


def test_letters_equal_the_float64_formula(batch):
    logits, labels = batch[0], np.arange(40) % 4
    probability = np.exp(log_softmax(logits))
    scores = np.stack([probability[:, ids].sum(1) for ids in LETTERS.values()], axis=1)
    metric = ChoiceAccuracy(tokenizer_or_ids=LETTERS)
    metric.update(ms.Tensor(logits), labels)
    assert metric.eval() == (scores.argmax(1) == labels).mean()
    assert metric.result()["mass"] == pytest.approx(scores.sum(1).mean(), abs=1e-6)
    assert (
        ChoiceAccuracy(tokenizer_or_ids=LETTERS, inputs="log_probs")(metric.head()(ms.Tensor(logits)), labels)
        == metric.eval()
    )
    counts = [2 + row % 3 for row in range(40)]
    fewer = [row[:count].argmax() for row, count in zip(scores, counts)]
    few = np.minimum(labels, np.array(counts) - 1)
    assert ChoiceAccuracy(tokenizer_or_ids=LETTERS)(logits, few, None, None, counts) == (fewer == few).mean()


def random_options(rng, questions=60):
    """Option texts of mixed scripts with log-likelihoods, and a reference choice by each normalisation."""
    rows, texts, best = [], [], []
    for _ in range(questions):
        count = int(rng.integers(2, 7))
        words = [
            str(rng.choice(["yes", "由于地球自转", "Schadenfreude", "a b c d"])) * int(rng.integers(1, 4))
            for _ in range(count)
        ]
        tokens = rng.integers(1, 12, count)
        sums, prior, full = (-rng.random(count) * 20 for _ in range(3))
        whole = tokens + 30
        rows.append((sums, tokens, prior, full, whole))
        texts.append(words)
        best.append(
            {
                "sum": max(range(count), key=lambda i: sums[i]),
                "token": max(range(count), key=lambda i: sums[i] / tokens[i]),
                "char": max(range(count), key=lambda i: sums[i] / len(words[i])),
                "byte": max(range(count), key=lambda i: sums[i] / len(words[i].encode())),
                "prior": max(range(count), key=lambda i: sums[i] - prior[i]),
                "full": min(range(count), key=lambda i: -full[i] / whole[i]),
            }
        )
    sums, tokens, prior, full, whole = zip(*rows)
    return option_statistics(sums, tokens, texts, prior, full, whole), best


def test_all_normalisations_come_from_one_pass():
    rng = np.random.default_rng(11)
    tables, best = random_options(rng)
    labels = [int(rng.integers(len(table))) for table in tables]
    metric = ChoiceAccuracy(mode="loglikelihood", normalize="char")
    metric.update(tables[:25], labels[:25])
    metric.update(tables[25:], labels[25:])
    expected = {name: np.mean([row[name] == label for row, label in zip(best, labels)]) for name in best[0]}
    assert metric.eval() == expected["char"]
    assert metric.result()["by_normalisation"] == expected


def test_only_normalisations_whose_columns_are_known_are_reported():
    metric = ChoiceAccuracy(mode="loglikelihood")
    metric.update([[-1.0, -2.0, -3.0], [-2.0, -1.0]], [0, 0])
    assert metric.eval() == 0.5 and metric.result()["by_normalisation"] == {"sum": 0.5}
    with pytest.raises(ValueError, match="allows only"):
        ChoiceAccuracy(mode="loglikelihood", normalize="token").update([[-1.0, -2.0]], [0])


def test_option_head_gives_sums_and_tokens():
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(6, 4, 9)).astype(np.float32)
    labels = rng.integers(0, 9, (6, 4))
    labels[:, 0] = -100
    labels[3, 1:3] = -100
    counted = labels != -100
    picked = np.take_along_axis(log_softmax(logits), np.where(counted, labels, 0)[..., None], 2)[..., 0]
    found = OptionHead(3)(ms.Tensor(logits), ms.Tensor(labels)).asnumpy()
    assert found.shape == (2, 3, 2)
    np.testing.assert_allclose(found[..., 0].reshape(-1), (picked * counted).sum(1), atol=1e-5)
    assert (found[..., 1].reshape(-1) == counted.sum(1)).all()
    assert 0 <= ChoiceAccuracy(mode="loglikelihood", normalize="token")(found, [0, 1]) <= 1


def test_ties_go_to_the_first_option_and_are_counted():
    metric = ChoiceAccuracy(mode="loglikelihood")
    metric.update([[-1.0, -1.0], [-2.0, -1.0]], ["A", "A"])
    assert (metric.eval(), metric.result()["ties"]) == (0.5, 1)


@pytest.mark.parametrize(
    "labels",
    [
        [1, 3],
        ["B", "D"],
        ["(B)", "d"],
        [[1], [3, 0]],
        [["B"], ["A", "D"]],
        np.array(["B", "D"]),
        np.bool_([[0, 1, 0, 0], [1, 0, 0, 1]]),
    ],
)
def test_gold_answers_in_each_form(labels):
    scores = np.array([[-2.0, -1, -3, -4], [-4.0, -3, -2, -1]])
    assert ChoiceAccuracy(mode="loglikelihood")(scores, labels) == 1.0


def test_texts_are_read_and_invalid_ones_are_counted_by_reason():
    metric = ChoiceAccuracy(mode="text")
    texts = ["The answer is B.", "A or C", "", "<think>B", "无法确定", "故选D"]
    metric.update(texts, list("BAAAAC"))
    assert metric.eval() == 1 / 6
    assert metric.result()["invalid"] == {"ambiguous": 1, "empty text": 1, "no answer": 1, "unclosed reasoning": 1}
    assert metric.result()["answered"] == 2 / 6
    options = [["Oxygen", "Iron"], ["Iron", "Oxygen"]]
    assert ChoiceAccuracy(mode="text")(["Oxygen", "Oxygen"], ["A", "B"], None, None, options) == 1.0


def test_multi_select_wants_exactly_the_right_set():
    metric = ChoiceAccuracy(mode="text", multiple=True)
    texts = ["答案：ACD", "答案：AC", "ANSWER: A, B", "B"]
    assert metric(texts, ["ACD", "ACD", ["A", "B"], "B"]) == 0.75
    assert ChoiceAccuracy(mode="text")(["答案：C"], ["ACD"]) == 1.0  # any of several right answers


SUBJECTS = {"law": [1, 1, 0, 1], "art": [1, 0], "history": [0]}  # right or wrong by question


def test_groups_have_micro_macro_and_weighted_totals():
    groups = [name for name, rows in SUBJECTS.items() for _ in rows]
    texts = ["A" if right else "B" for rows in SUBJECTS.values() for right in rows]
    metric = ChoiceAccuracy("AB", "text", groups=True)
    metric.update(texts[:5], ["A"] * 5, None, groups[:5])
    metric.update(texts[5:], ["A"] * 2, None, groups[5:])
    assert metric.eval() == 4 / 7
    result = metric.result()
    assert result["micro"] == result["weighted"] == 4 / 7
    assert result["macro"] == pytest.approx((3 / 4 + 1 / 2 + 0) / 3, abs=1e-16)
    assert result["by_group"]["law"] == {"accuracy": 0.75, "correct": 3, "samples": 4}
    weighted = ChoiceAccuracy("AB", "text", groups=list(SUBJECTS), weights={"law": 1, "art": 3, "history": 0})
    weighted.update(texts, ["A"] * 7, None, np.array(groups))
    weighted.eval()
    assert weighted.result()["weighted"] == (0.75 + 3 * 0.5) / 4
    with pytest.raises(ValueError, match="not one of the declared groups"):
        weighted.update(["A"], ["A"], None, ["music"])
    with pytest.raises(ValueError, match="groups must be given"):
        metric.update(["A"], ["A"])


def test_masked_questions_do_not_count():
    metric = ChoiceAccuracy("AB", "text", groups=True)
    metric.update(["A", "", "B"], ["A", "A", "A"], np.array([True, False, True]), ["x", "y", "x"])
    assert metric.eval() == 0.5
    assert metric.result()["samples"] == 2 and list(metric.result()["by_group"]) == ["x"]
    assert sum(metric.result()["invalid"].values()) == 0
    yes_no = YesNoAccuracy(IDS)
    logits = np.eye(11, dtype=np.float32)[[3, 3, 1]] * 9
    assert yes_no(logits, [True, False, False], np.array([True, False, True])) == 1.0


GARBAGE = [np.nan, np.inf, 7.0]  # what padded rows may hold


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize("of", [np.asarray, ms.Tensor, lambda array: array.tolist()], ids=["array", "tensor", "list"])
def test_rows_that_do_not_count_may_hold_anything(batch, garbage, of):
    mask = np.arange(40) % 3 != 1
    logits, gold = batch[0].copy(), batch[1]
    logits[~mask] = garbage
    positions = np.where(mask, 0, 99)
    whole = YesNoAccuracy(IDS)(batch[0][mask], gold[mask])
    assert YesNoAccuracy(IDS)(of(logits), of(np.where(mask, gold, 5)), mask) == whole
    assert YesNoAccuracy(IDS)(of(logits[:, None]), gold, mask, positions) == whole
    columns = log_softmax(batch[0])[:, [3, 5, 1, 7]]
    columns[~mask] = garbage
    assert YesNoAccuracy(IDS, inputs="log_probs")(columns, gold, mask) == whole
    with np.errstate(invalid="ignore"):
        assert YesNoAccuracy(IDS, nll=sharded_nll)(logits, gold, mask) == whole
    labels, groups = np.where(mask, np.arange(40) % 4, -1), ["x" if counts else None for counts in mask]
    letters = ChoiceAccuracy(tokenizer_or_ids=LETTERS, groups=["x"])
    right = ChoiceAccuracy(tokenizer_or_ids=LETTERS)(batch[0][mask], labels[mask])
    assert letters(of(logits), of(labels), mask, groups) == right
    assert letters(of(logits), labels, mask, groups, np.where(mask, 4, 0)) == right
    options = ChoiceAccuracy(mode="loglikelihood", groups=["x"])
    scores = log_softmax(batch[0][:, :4])
    best = ChoiceAccuracy(mode="loglikelihood")(scores[mask], labels[mask])
    scores[~mask] = garbage
    assert options(of(scores), of(labels), mask, groups) == best
    texts = ["A" if counts else None for counts in mask]
    assert ChoiceAccuracy(mode="text")(texts, [label if label >= 0 else None for label in labels], mask) == 7 / 27


def test_sample_ids_are_refused_with_advice():
    for metric, inputs in (
        (YesNoAccuracy(IDS), (np.zeros((1, 11)), [True])),
        (ChoiceAccuracy(mode="text"), (["A"], ["A"])),
    ):
        with pytest.raises(ValueError, match="leave repeated samples out by a mask"):
            metric.update(*inputs, sample_ids=[0])


def test_an_int_names_the_same_group_as_its_digits():
    metric = ChoiceAccuracy("AB", "text", groups=True, weights={1: 3, "law": 1})
    metric.update(["A", "B"], ["A", "A"], None, [1, "1"])
    metric.update(["A"], ["A"], None, ["law"])
    metric.update(["B"], ["A"], None, np.array([1]))
    metric.eval()
    assert metric.result()["by_group"]["1"] == {"accuracy": 1 / 3, "correct": 1, "samples": 3}
    assert metric.result()["macro"] == pytest.approx((1 / 3 + 1) / 2, abs=1e-16)
    assert metric.result()["weighted"] == (1 / 3 * 3 + 1) / 4
    declared = ChoiceAccuracy("AB", "text", groups=[1, 2])
    assert declared(["A"], ["A"], None, ms.Tensor([2])) == 1.0


def test_options_cut_padded_scores():
    scores = np.array([[-3.0, -2.0, 0.0], [-1.0, -2.0, -0.5]])  # the first question has two options
    assert ChoiceAccuracy(mode="loglikelihood")(scores, ["B", "C"], None, None, [2, 3]) == 1.0
    with pytest.raises(ValueError, match="a question must have 1 to 3 options"):
        ChoiceAccuracy(mode="loglikelihood").update(scores, ["B", "C"], None, None, [2, 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "ppl"}, "mode must be one of"),
        ({"normalize": "length"}, "normalize must be one of"),
        ({"normalize": "char", "tokenizer_or_ids": LETTERS}, "needs mode='loglikelihood'"),
        ({"multiple": True, "tokenizer_or_ids": LETTERS}, "needs mode='text'"),
        ({}, "needs tokenizer_or_ids"),
        ({"tokenizer_or_ids": {"A": 1}}, "'B'"),
        ({"mode": ["text"]}, "mode must be one of"),
        ({"mode": "text", "multiple": 1}, "multiple must be True or False"),
        ({"mode": "text", "language": "fr"}, "language must be one of"),
        ({"mode": "text", "choices": "AA"}, "different letters of one character"),
        ({"mode": "text", "choices": ["Yes", "No"]}, "different letters of one character"),
        ({"mode": "text", "choices": 4}, "choices must be a str or a list"),
        ({"mode": "text", "groups": "law"}, "groups must be None, True or the groups' names"),
        ({"mode": "text", "groups": []}, "groups must be different names"),
        ({"mode": "text", "groups": [1, "1"]}, "groups must be different names"),
        ({"mode": "text", "groups": [1.5]}, "groups must be named by str or int"),
        ({"mode": "text", "groups": ["a"], "weights": {"a": -1}}, "finite numbers >= 0, but 'a' has -1"),
        ({"mode": "text", "groups": ["a"], "weights": {"a": math.nan}}, "finite numbers >= 0, but 'a' has nan"),
        ({"mode": "text", "groups": ["a"], "weights": {"a": math.inf}}, "finite numbers >= 0"),
        ({"mode": "text", "groups": ["a"], "weights": {"a": True}}, "finite numbers >= 0"),
        ({"mode": "text", "groups": ["a"], "weights": {"a": 0}}, "must not all be 0"),
        ({"mode": "text", "groups": ["a", "b"], "weights": {"a": 1}}, "'b' is missing"),
        ({"mode": "text", "groups": True, "weights": {1: 1, "1": 2}}, "'1' has two"),
        ({"mode": "text", "weights": {"a": 1}}, "weights need groups"),
        ({"tokenizer_or_ids": LETTERS, "vocab_size": True}, "vocab_size must be an int"),
        ({"tokenizer_or_ids": LETTERS, "vocab_size": 0}, "vocab_size must be at least 1"),
        ({"tokenizer_or_ids": {**LETTERS, "A": True}}, "token ids"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'ChoiceAccuracy', .*{message}"):
        ChoiceAccuracy(**arguments)


@pytest.mark.parametrize(
    ("mode", "inputs", "message"),
    [
        ("loglikelihood", ([[-1.0, -2.0]], [2]), "labels must name options 0 to 1"),
        ("loglikelihood", ([[-1.0, np.nan]], [0]), "not NaN.*option 1 of question 0 has nan"),
        ("loglikelihood", ([[-1.0, -2.0]], ["X"]), "labels must be letters"),
        ("loglikelihood", ([[-1.0, -2.0]], [0, 1]), r"labels must have shape \[1\]"),
        ("loglikelihood", (np.zeros((1, 2, 9)), [0]), "the first K of"),
        (
            "loglikelihood",
            ([[[-1.0, 0], [-2.0, 3]]], [0]),
            "tokens must be at least one for each option, and finite, but option 0 of question 0 has 0",
        ),
        ("text", (["A"], [4]), "labels must name options"),
        ("text", (["A"], ["A"], None, None, [["one"] * 5]), "1 to 4 options"),
        ("text", (["A"], ["A"], None, None, [-1]), "1 to 4 options"),
        ("text", (["A"], ["A"], None, None, [True]), "options must be an int, but got True"),
        # flags are bool [B, C] and nothing else
        ("text", (["A", "B"], [True, False]), "one flag for each of the 4 options, as .B, C., but got True"),
        ("text", (["A", "B"], np.array([True, False])), "one flag for each of the 4 options"),
        ("text", (["A"], [[True, False]]), "one flag for each of the 4 options"),
        ("text", (["A"], [[True, 0, 1, 0]]), "one flag for each of the 4 options"),
        ("text", (["A"], [[1, 0, 0, 0]]), "must name an option once.*flags of options must be bool"),
        ("text", (["A"], [[False] * 4]), "labels must name options 0 to 3"),
        ("text", (["A"], [[0.5]]), "class ids"),
        ("loglikelihood", ([[-1.0, 0.5]], [0]), "but option 1 of question 0 has 0.5"),
        ("loglikelihood", ([[-1.0, -2.0], [-1.0, np.inf]], [0, 0]), "but option 1 of question 1 has inf"),
        ("loglikelihood", ([[-np.inf, -np.inf]], [0]), "question 0 has -inf for all"),
        ("loglikelihood", ([[[-1.0, 2], [-2.0, np.inf]]], [0]), "option 1 of question 0 has inf"),
        ("loglikelihood", ([[[-1.0, 2], [-2.0, np.nan]]], [0]), "option 1 of question 0 has nan"),
        ("loglikelihood", (option_statistics([[-1.0, -2]], prior=[[0.5, -1]]), [0]), "prior must be a finite log"),
        ("loglikelihood", (option_statistics([[-1.0, -2]], prior=[[-np.inf, -1]]), [0]), "prior must be a finite log"),
        (
            "loglikelihood",
            (option_statistics([[-1.0, -2]], full=[[-3.0, -4]], full_tokens=[[0, 2]]), [0]),
            "full_tokens must be at least one",
        ),
    ],
)
def test_bad_choice_inputs_are_refused(mode, inputs, message):
    with pytest.raises((TypeError, ValueError), match=f"For 'ChoiceAccuracy.update', .*{message}"):
        ChoiceAccuracy(mode=mode).update(*inputs)


def test_an_impossible_option_is_never_chosen():
    assert ChoiceAccuracy(mode="loglikelihood")([[-np.inf, -9.0], [-9.0, -np.inf]], ["B", "A"]) == 1.0
    with pytest.raises(TypeError, match="groups must be named by str or int, but got True"):
        ChoiceAccuracy(mode="text", groups=True).update(["A"], ["A"], None, [True])


@pytest.mark.parametrize(
    ("arguments", "row", "message"),
    [
        ({"mode": "text"}, (["A"], ["A"], None, ["law"]), "groups were given, but the metric has none"),
        ({"mode": "loglikelihood"}, ([[-1.0, -2.0]], [0], None, ["law"]), "groups were given, but the metric has none"),
        ({"mode": "text"}, (["A"], ["A"], None, None, None, [0]), "positions need mode='letter'.*'text'"),
        ({"mode": "loglikelihood"}, ([[-1.0, -2.0]], [0], None, None, None, [0]), "positions need mode='letter'"),
        (
            {"tokenizer_or_ids": LETTERS, "inputs": "log_probs"},
            ([[-1.0, -2.0, -3.0, -4.0]], [0], None, None, None, [0]),
            "positions need mode='letter' and inputs='logits'.*'log_probs'",
        ),
    ],
)
def test_inputs_that_a_metric_would_ignore_are_refused(arguments, row, message):
    metric = ChoiceAccuracy(**arguments)
    with pytest.raises(ValueError, match=f"For 'ChoiceAccuracy.update', {message}"):
        metric.update(*row)


def test_log_probabilities_of_positions_are_no_tokens_of_candidates_of_one_token_each():
    for metric in (
        YesNoAccuracy(IDS, inputs="log_probs"),
        ChoiceAccuracy(tokenizer_or_ids=LETTERS, inputs="log_probs"),
    ):
        count = len(metric.candidates)
        with pytest.raises(
            ValueError, match=rf"log_probs must have shape \[B, {count}\], .* but got \[2, {count}, 9\]"
        ):
            metric.update(-np.ones((2, count, 9)), [0, 1])


def test_a_head_refuses_logits_of_positions_that_are_not_given():
    head = CandidateHead([0, 2])
    with pytest.raises(ValueError, match=r"or \[B, T, V\] with positions \[B\], but got 3 axes without positions"):
        head(ms.ops.zeros((2, 4, 4)))
    with pytest.raises(ValueError, match="but got 2 axes with positions"):
        head(ms.ops.zeros((2, 4)), ms.Tensor([0, 1], ms.int32))
