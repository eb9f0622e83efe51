"""Every metric with a generator of inputs. A new metric joins all laws by a row here.

A row makes an empty metric, draws samples (one item for each sample), and turns a list of samples into the arguments
of one update. Samples must be such that batches of any size can be made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from answer_rows import ANSWER_ROWS
from rows_classification import ROWS as CLASSIFICATION

from mindeval import (
    BLEU,
    ROUGE,
    TER,
    Accuracy,
    CharErrorRate,
    ChrF,
    DistinctN,
    EditSimilarity,
    ExactMatch,
    Loss,
    Metric,
    Perplexity,
    RepetitionRate,
    SentenceBLEU,
    TokenF1,
    WordErrorRate,
)


@dataclass(frozen=True)
class Row:
    """``make()``, ``sample(rng)`` for one sample, and ``batch(samples)`` for the positional arguments of an update."""

    make: Callable[[], Metric]
    sample: Callable[[np.random.Generator], Any]
    batch: Callable[[list], tuple]


def stacked(samples: list) -> tuple:
    """Samples that are tuples of arrays, stacked to one array for each place."""
    return tuple(np.stack([sample[place] for sample in samples]) for place in range(len(samples[0])))


def wild_float(rng: np.random.Generator) -> float:
    """A float of any magnitude, subnormals included, now and then NaN or infinite."""
    special = rng.random()
    if special < 0.02:
        return float(rng.choice([np.nan, np.inf, -np.inf]))
    return float(np.ldexp(rng.normal(), int(rng.integers(-1080, 1000))))


def token_sample(rng: np.random.Generator, vocabulary: int = 11, length: int = 3) -> tuple:
    """Logits with ties and masked entries, labels with ignored positions (the first is always counted)."""
    logits = rng.normal(scale=4, size=(length, vocabulary)).astype(np.float32).round(1)
    logits[rng.random(logits.shape) < 0.05] = -np.inf
    labels = rng.integers(0, vocabulary, length)
    logits[np.arange(length), labels] = rng.normal(size=length).round(1)
    labels = np.where(rng.random(length) < 0.2, -100, labels)
    labels[0] = max(labels[0], 0)
    return np.where(np.isneginf(logits[0]) & (np.arange(vocabulary) == labels[0]), 0.0, logits).astype(
        np.float32
    ), labels


def masked_loss(rng: np.random.Generator) -> tuple:
    mask = rng.random(3) < 0.7
    mask[0] = True
    return np.array([wild_float(rng) for _ in range(3)]), mask


def nll_with_bytes(rng: np.random.Generator) -> tuple:
    nll, mask = abs(rng.normal(size=4)), rng.random(4) < 0.8
    mask[0] = True
    return nll, mask, "語" * int(rng.integers(1, 5)) + " words here"


FRAGMENTS = ["the", "cat", "sat.", "3.5%", "今天", "天气", "很好", "，", "👍", "\n", " ", "ไทย", "É", "don't", ""]


def some_text(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(FRAGMENTS, size=rng.integers(0, 9)).tolist())


def text_sample(rng: np.random.Generator) -> tuple[str, list[str]]:
    """A prediction, now and then empty, and one to three references."""
    return some_text(rng), [some_text(rng) for _ in range(rng.integers(1, 4))]


def text_batch(samples: list) -> tuple[list[str], list[list[str]]]:
    return [prediction for prediction, _ in samples], [references for _, references in samples]


LAWS: dict[str, Row] = {
    "Loss": Row(Loss, lambda rng: (np.float64(wild_float(rng)),), stacked),
    "Loss masked": Row(Loss, masked_loss, stacked),
    "Loss with counts": Row(
        Loss, lambda rng: (np.float32(rng.normal(size=2)), np.bool_([True, rng.random() < 0.5])), stacked
    ),
    "Perplexity": Row(Perplexity, token_sample, stacked),
    "Perplexity float16": Row(
        Perplexity, lambda rng: (token_sample(rng)[0].astype(np.float16), token_sample(rng)[1]), stacked
    ),
    "Perplexity shifted": Row(
        lambda: Perplexity(shift=True),
        lambda rng: (token_sample(rng)[0], rng.integers(0, 11, 3)),
        stacked,
    ),
    "Perplexity of a given NLL with texts": Row(Perplexity, nll_with_bytes, stacked),
    "Perplexity from probabilities": Row(
        lambda: Perplexity(from_probabilities=True),
        lambda rng: (rng.dirichlet(np.ones(5), size=2), rng.integers(0, 5, 2)),
        stacked,
    ),
    "Accuracy": Row(Accuracy, lambda rng: (rng.integers(0, 3), rng.integers(0, 3)), stacked),
    "Accuracy top 2 of tokens": Row(lambda: Accuracy(top_k=2), token_sample, stacked),
    "BLEU": Row(BLEU, text_sample, text_batch),
    "BLEU of characters": Row(lambda: BLEU(2, "char", "add-k", effective_order=True), text_sample, text_batch),
    "SentenceBLEU": Row(SentenceBLEU, text_sample, text_batch),
    "ROUGE": Row(ROUGE, text_sample, text_batch),
    "ROUGE of all types": Row(
        lambda: ROUGE(["rouge-1", "rouge-4", "rouge-l", "rouge-lsum"], "zh", multiple="average"),
        text_sample,
        text_batch,
    ),
    "ChrF": Row(lambda: ChrF(word_order=2), text_sample, text_batch),
    "TER": Row(TER, text_sample, text_batch),
    "ExactMatch": Row(ExactMatch, text_sample, text_batch),
    "TokenF1": Row(TokenF1, text_sample, text_batch),
    "WordErrorRate": Row(WordErrorRate, text_sample, text_batch),
    "CharErrorRate": Row(CharErrorRate, text_sample, text_batch),
    "EditSimilarity": Row(EditSimilarity, text_sample, text_batch),
    "DistinctN": Row(DistinctN, text_sample, text_batch),
    "DistinctN of samples": Row(lambda: DistinctN(1, "sample"), text_sample, text_batch),
    "RepetitionRate": Row(lambda: RepetitionRate(1), text_sample, text_batch),
}

LAWS.update({name: Row(*case) for name, case in CLASSIFICATION.items()})
LAWS.update({name: Row(*row) for name, row in ANSWER_ROWS.items()})
