"""Yes/No and four-choice questions, scored from the logits of a causal language model with mindeval.

The questions of `data/yes_no.jsonl` and `data/choices.jsonl` were written for this repository. Four numbers are
computed, each in the way that its kind of benchmark uses:

    yes_no    one forward per question: the summed probability of the forms of Yes and of No after "Answer:"
    letters   one forward per question: the probability of the letters A to D after "Answer:"
    options   one forward per option: the log-likelihood of the option's text, by five normalisations

`score_questions(network, tokenizer)` does all of it; a network is any Cell from token ids [B, T] to logits [B, T, V].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from mindeval.answers.choice import ChoiceAccuracy
from mindeval.answers.heads import CandidateHead, OptionHead
from mindeval.answers.yes_no import YesNoAccuracy

DATA = Path(__file__).parent / "data"
CONTEXT = "\nAnswer:"  # the end of every prompt
IGNORE = -100
Encode = Callable[[str], "list[int]"]


def score_questions(
    network: nn.Cell, tokenizer: Any, *, batch_size: int = 8, begin: Sequence[int] = ()
) -> dict[str, dict]:
    """The results of the Yes/No questions, the letters and the option texts, by those names.

    Args:
        network: token ids int32 [B, T] -> logits [B, T, V]; what pads the end of a row must not change what is before.
        tokenizer: an object with `encode(text)` that puts no token before or after.
        batch_size: rows of a batch. It does not change the answers.
        begin: ids before every prompt, such as the beginning-of-text token.
    """

    def encode(text: str) -> list[int]:
        encoded = tokenizer.encode(text)
        return [*begin, *getattr(encoded, "ids", encoded)]

    yes_no, choices = read_questions("yes_no.jsonl"), read_questions("choices.jsonl")
    return {
        "yes_no": score_yes_no(network, tokenizer, encode, yes_no, batch_size),
        "letters": score_letters(network, tokenizer, encode, choices, batch_size),
        "options": score_options(network, encode, choices, batch_size),
    }


def read_questions(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def padded(rows: list[list[int]], value: int = 0) -> np.ndarray:
    """Rows of one length, a multiple of 8 so that few shapes occur."""
    length = -(-max(map(len, rows)) // 8) * 8
    return np.array([row + [value] * (length - len(row)) for row in rows], np.int32)


class AtAnswer(nn.Cell):
    """Token ids and the place of each prompt's last token to the candidates' log-probabilities."""

    def __init__(self, network: nn.Cell, head: CandidateHead):
        super().__init__()
        self.network, self.head = network, head

    def construct(self, ids, positions):
        return self.head(self.network(ids), positions)


class OverOption(nn.Cell):
    """Token ids and labels (the option's tokens, shifted to where they are predicted) to sums and token counts."""

    def __init__(self, network: nn.Cell, head: OptionHead):
        super().__init__()
        self.network, self.head = network, head

    def construct(self, ids, labels):
        return self.head(self.network(ids), labels)


def score_yes_no(network: nn.Cell, tokenizer: Any, encode: Encode, questions: list[dict], batch_size: int) -> dict:
    found = YesNoAccuracy(tokenizer, context=CONTEXT).candidates
    ids = {label: [c.ids for c in found if c.label == label] for label in ("yes", "no")}
    metric = YesNoAccuracy(ids, inputs="log_probs")
    prompts = [
        f"Passage: {row['passage']}\nQuestion: {row['question']}? Answer Yes or No.{CONTEXT}" for row in questions
    ]
    for scores, rows, mask in batches(AtAnswer(network, metric.head()), [encode(text) for text in prompts], batch_size):
        metric.update(scores, [questions[row]["answer"] for row in rows], mask)
    metric.eval()
    return metric.result()


def score_letters(network: nn.Cell, tokenizer: Any, encode: Encode, questions: list[dict], batch_size: int) -> dict:
    found = ChoiceAccuracy(tokenizer_or_ids=tokenizer, context=CONTEXT).candidates
    ids = {letter: [c.ids for c in found if c.label == letter] for letter in "ABCD"}
    metric = ChoiceAccuracy(tokenizer_or_ids=ids, inputs="log_probs", groups=True)
    prompts = []
    for row in questions:
        options = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", row["options"]))
        prompts.append(f"Question: {row['question']}\n{options}{CONTEXT}")
    for scores, rows, mask in batches(AtAnswer(network, metric.head()), [encode(text) for text in prompts], batch_size):
        chosen = [questions[row] for row in rows]
        metric.update(scores, [row["answer"] for row in chosen], mask, [row["subject"] for row in chosen])
    metric.eval()
    return metric.result()


def batches(
    evaluator: nn.Cell, prompts: list[list[int]], batch_size: int
) -> Iterator[tuple[ms.Tensor, list[int], np.ndarray]]:
    """(candidates' log-probabilities, question numbers, mask) by batches of one size; the last is filled and masked."""
    ids, last = padded(prompts), np.array([len(prompt) - 1 for prompt in prompts], np.int32)
    for first in range(0, len(prompts), batch_size):
        rows = np.arange(first, first + batch_size)
        mask = rows < len(prompts)
        rows = np.minimum(rows, len(prompts) - 1)
        yield evaluator(ms.Tensor(ids[rows]), ms.Tensor(last[rows])), rows.tolist(), mask


def score_options(network: nn.Cell, encode: Encode, questions: list[dict], batch_size: int) -> dict:
    evaluator = OverOption(network, OptionHead(4))
    contexts = [f"Question: {row['question']}{CONTEXT}" for row in questions]
    given = option_scores(evaluator, encode, contexts, questions, batch_size)
    alone = option_scores(evaluator, encode, [CONTEXT.strip()] * len(questions), questions, batch_size)
    lengths = np.array([[[len(text), len(text.encode())] for text in row["options"]] for row in questions])
    metric = ChoiceAccuracy(mode="loglikelihood", groups=True)
    metric.update(
        np.concatenate([given, lengths, alone[..., :1]], axis=2),  # sum, tokens, characters, bytes, prior
        [row["answer"] for row in questions],
        None,
        [row["subject"] for row in questions],
    )
    metric.eval()
    return metric.result()


def option_scores(
    evaluator: nn.Cell, encode: Encode, contexts: list[str], questions: list[dict], batch_size: int
) -> np.ndarray:
    """[questions, 4, 2]: log P(option | context) and its tokens. Context and option are encoded together."""
    rows, targets = [], []
    for context, question in zip(contexts, questions):
        before = len(encode(context))
        for option in question["options"]:
            ids = encode(f"{context} {option}")
            rows.append(ids)
            targets.append([IGNORE] * (before - 1) + ids[before:])  # position t predicts the token at t + 1
    ids = padded(rows)
    labels = padded([*targets, [IGNORE] * ids.shape[1]], IGNORE)[:-1]
    step = max(1, batch_size // 4) * 4
    parts = [
        evaluator(ms.Tensor(ids[first : first + step]), ms.Tensor(labels[first : first + step])).asnumpy()
        for first in range(0, len(ids), step)
    ]
    return np.concatenate(parts)
