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
from collections.abc import Iterator, Sequence
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


def score_questions(
    network: nn.Cell, tokenizer: Any, *, window: int = 128, batch_size: int = 8, begin: Sequence[int] = ()
) -> dict[str, dict]:
    """The results of the Yes/No questions, the letters and the option texts, by those names.

    Args:
        network: token ids int32 [B, T] -> logits [B, T, V]; what pads the end of a row must not change what is before.
        tokenizer: an object with `encode(text)` that puts no token before or after.
        window: tokens of a row: every prompt must fit.
        batch_size: rows of a batch. It does not change the results.
        begin: ids before every prompt, such as the beginning-of-text token.
    """
    encode = Encoder(tokenizer, begin, window)
    yes_no, choices = read_questions("yes_no.jsonl"), read_questions("choices.jsonl")
    return {
        "yes_no": score_yes_no(network, encode, yes_no, batch_size),
        "letters": score_letters(network, encode, choices, batch_size),
        "options": score_options(network, encode, choices, batch_size),
    }


def read_questions(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


class Encoder:
    """Texts to rows of one length."""

    def __init__(self, tokenizer: Any, begin: Sequence[int], window: int):
        self.tokenizer, self.begin, self.window = tokenizer, list(begin), window

    def ids(self, text: str) -> list[int]:
        encoded = self.tokenizer.encode(text)
        ids = self.begin + list(getattr(encoded, "ids", encoded))
        if len(ids) > self.window:
            raise ValueError(f"a prompt has {len(ids)} tokens, but the window {self.window}: {text[:60]!r}")
        return ids

    def padded(self, ids: list[int], value: int = 0) -> np.ndarray:
        return np.array(ids + [value] * (self.window - len(ids)), np.int32)


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


def score_yes_no(network: nn.Cell, encode: Encoder, questions: list[dict], batch_size: int) -> dict:
    singles = YesNoAccuracy(encode.tokenizer, context=CONTEXT).candidates  # those that one row of logits can score
    metric = YesNoAccuracy(
        {label: [c.ids for c in singles if c.label == label] for label in ("yes", "no")}, inputs="log_probs"
    )
    evaluator = AtAnswer(network, metric.head())
    prompts = [
        f"Passage: {row['passage']}\nQuestion: {row['question']}? Answer Yes or No.{CONTEXT}" for row in questions
    ]
    for scores, rows, mask in scored(evaluator, encode, prompts, batch_size):
        metric.update(scores, [questions[row]["answer"] for row in rows], mask)
    metric.eval()
    return metric.result()


def score_letters(network: nn.Cell, encode: Encoder, questions: list[dict], batch_size: int) -> dict:
    singles = ChoiceAccuracy(tokenizer_or_ids=encode.tokenizer, context=CONTEXT).candidates
    ids = {letter: [c.ids for c in singles if c.label == letter] for letter in "ABCD"}
    metric = ChoiceAccuracy(tokenizer_or_ids=ids, inputs="log_probs", groups=True)
    evaluator = AtAnswer(network, metric.head())
    prompts = []
    for row in questions:
        options = "\n".join(f"{letter}. {option}" for letter, option in zip("ABCD", row["options"]))
        prompts.append(f"Question: {row['question']}\n{options}{CONTEXT}")
    for scores, rows, mask in scored(evaluator, encode, prompts, batch_size):
        chosen = [questions[row] for row in rows]
        metric.update(scores, [row["answer"] for row in chosen], mask, [row["subject"] for row in chosen])
    metric.eval()
    return metric.result()


def score_options(network: nn.Cell, encode: Encoder, questions: list[dict], batch_size: int) -> dict:
    metric = ChoiceAccuracy(mode="loglikelihood", groups=True)
    evaluator = OverOption(network, OptionHead(4))
    per_batch = max(1, batch_size // 4)
    for first in range(0, len(questions), per_batch):
        part = questions[first : first + per_batch]
        filled = part + [part[-1]] * (per_batch - len(part))
        given, alone = (
            evaluate_options(evaluator, encode, [(prefix.format(**row), row["options"]) for row in filled])
            for prefix in ("Question: {question}" + CONTEXT, CONTEXT.strip())
        )
        texts = np.array([[[len(text), len(text.encode())] for text in row["options"]] for row in filled])
        table = np.concatenate([given, texts, alone[..., :1]], axis=2)  # sum, tokens, characters, bytes, prior
        metric.update(
            table,
            [row["answer"] for row in filled],
            np.arange(per_batch) < len(part),
            [row["subject"] for row in filled],
        )
    metric.eval()
    return metric.result()


def evaluate_options(evaluator: nn.Cell, encode: Encoder, questions: list[tuple[str, list[str]]]) -> np.ndarray:
    """[B, 4, 2]: log P(option | context) and its tokens. Context and option are encoded together."""
    ids, labels = [], []
    for context, options in questions:
        before = len(encode.ids(context))
        for option in options:
            row = encode.ids(f"{context} {option}")
            ids.append(encode.padded(row))
            targets = [IGNORE] * len(row)
            targets[before - 1 : -1] = row[before:]  # position t predicts the token at t + 1
            labels.append(encode.padded(targets, IGNORE))
    return evaluator(ms.Tensor(np.stack(ids)), ms.Tensor(np.stack(labels))).asnumpy()


def scored(
    evaluator: nn.Cell, encode: Encoder, prompts: list[str], batch_size: int
) -> Iterator[tuple[ms.Tensor, list[int], np.ndarray]]:
    """(candidates' log-probabilities, question numbers, mask) by batches of one size; the last is filled and masked."""
    for first in range(0, len(prompts), batch_size):
        rows = list(range(first, min(first + batch_size, len(prompts))))
        mask = np.arange(batch_size) < len(rows)
        rows += [rows[-1]] * (batch_size - len(rows))
        ids = [encode.ids(prompts[row]) for row in rows]
        scores = evaluator(
            ms.Tensor(np.stack([encode.padded(row) for row in ids])),
            ms.Tensor(np.array([len(row) - 1 for row in ids], np.int32)),
        )
        yield scores, rows, mask
