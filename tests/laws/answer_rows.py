"""The rows of the answer-scoring metrics in the table of laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval.answers.answer import AnswerAccuracy
from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.pass_at_k import PassAtK
from mindeval.answers.yes_no import YesNoAccuracy

SUBJECTS = ["law", "physics", "历史", "art"]
TEXTS = ["The answer is {}.", "{}", "故选{}", "Not {}", "", "A or {}", "<think>{}", "It is unclear."]
IDS = {letter: [place, place + 4] for place, letter in enumerate("ABCD")}


def logits_row(rng: np.random.Generator) -> np.ndarray:
    """Logits of 11 tokens with ties, and now and then impossible candidates."""
    row = rng.normal(scale=4, size=11).round(1).astype(np.float32)
    row[: 8 * (rng.random() < 0.1)] = -np.inf
    return row


def yes_no_sample(rng: np.random.Generator) -> tuple:
    return logits_row(rng), bool(rng.random() < 0.5)


def letter_sample(rng: np.random.Generator) -> tuple:
    return logits_row(rng), int(rng.integers(4)), str(rng.choice(SUBJECTS))


def option_sample(rng: np.random.Generator) -> tuple:
    """Log-likelihoods, tokens, characters and bytes of two to five options."""
    count = int(rng.integers(2, 6))
    tokens = rng.integers(1, 9, count)
    table = np.stack([-abs(rng.normal(size=count)).round(1) * tokens, tokens, tokens * 4, tokens * 5], axis=1)
    return table, int(rng.integers(count)), str(rng.choice(SUBJECTS))


def text_sample(rng: np.random.Generator) -> tuple:
    text = str(rng.choice(TEXTS)).format(rng.choice(list("ABCD")))
    return text, str(rng.choice(list("ABCD"))), str(rng.choice(SUBJECTS))


def number_sample(rng: np.random.Generator) -> tuple:
    text = str(rng.choice(["The answer is {}.", "#### {}", "{} or 7", "nothing", "\\boxed{{{}}}"]))
    return text.format(int(rng.integers(4))), str(int(rng.integers(4)))


def several_sample(rng: np.random.Generator) -> tuple:
    chosen, right = ("".join(sorted(rng.choice(list("ABCD"), 1 + rng.integers(2), replace=False))) for _ in range(2))
    return str(rng.choice(["The answer is {}.", "故选{}", "", "{}"])).format(chosen), right


def math_sample(rng: np.random.Generator) -> tuple:
    forms = ["x={}", r"\frac{{{}}}{{2}}", "{} cm", r"\sqrt{{{}}}", "9^{{9^{{{}}}}}", "({}, 1)", "@{}"]
    texts = [str(rng.choice(forms)).format(int(rng.integers(3))) for _ in range(2)]
    return rf"\boxed{{{texts[0]}}}", texts[1]


def pass_sample(rng: np.random.Generator) -> tuple:
    return rng.random(5) < rng.random(), [str(answer) for answer in rng.choice(["5", "7", ""], 5)]


def listed(samples: list) -> tuple:
    return tuple([sample[place] for sample in samples] for place in range(len(samples[0])))


def arrays(samples: list) -> tuple:
    return tuple(np.array(column) for column in listed(samples))


def grouped(samples: list) -> tuple:
    predictions, labels, groups = listed(samples)
    if isinstance(predictions[0], np.ndarray) and len({row.shape for row in predictions}) == 1:
        predictions = np.stack(predictions)
    return predictions, labels, None, groups


# name -> (make, one sample, a batch of samples)
ANSWER_ROWS: dict[str, tuple[Any, Any, Any]] = {
    "YesNoAccuracy": (lambda: YesNoAccuracy({"yes": [0, 4], "no": [1, 5, 6]}), yes_no_sample, arrays),
    "ChoiceAccuracy letter": (lambda: ChoiceAccuracy(tokenizer_or_ids=IDS, groups=SUBJECTS), letter_sample, grouped),
    "ChoiceAccuracy loglikelihood": (
        lambda: ChoiceAccuracy(mode="loglikelihood", normalize="token", groups=True),
        option_sample,
        grouped,
    ),
    "ChoiceAccuracy text": (lambda: ChoiceAccuracy(mode="text", groups=True), text_sample, grouped),
    "AnswerAccuracy": (lambda: AnswerAccuracy(match="number"), number_sample, listed),
    "AnswerAccuracy choices": (lambda: AnswerAccuracy(match="choice", multiple=True), several_sample, listed),
    "AnswerAccuracy math": (lambda: AnswerAccuracy(match="math"), math_sample, listed),
    "PassAtK": (lambda: PassAtK((1, 3), 5), pass_sample, listed),
}
