"""What the name of a value says about it. Names are read word by word: a glossary has no loss."""

from __future__ import annotations

import re


def words(name: str) -> set[str]:
    """The words of a name in lower case, without digits; capitals begin a word, and are read as one word too.

    >>> sorted(words("eval_loss")), sorted(words("rougeL"))
    (['eval', 'loss'], ['l', 'rouge', 'rougel'])
    """
    return {*re.findall("[a-z]+", name.lower()), *map(str.lower, re.findall("[A-Z]*[a-z]+|[A-Z]+", name))}


def is_perplexity(name: str) -> bool:
    return bool(words(name) & {"perplexity", "ppl"})


def is_generation(name: str) -> bool:
    return bool(words(name) & {"bleu", "sacrebleu", "rouge", "chrf"})


def is_accuracy(name: str) -> bool:
    """``acc,none`` and ``mmlu_acc``, but not the standard error ``acc_stderr``."""
    return bool(words(name) & {"accuracy", "acc"}) and not words(name) & {"stderr", "std", "variance"}


def is_yes_rate(name: str) -> bool:
    return re.search("(?<![a-z])yes[_ -]?rate(?![a-z])", name.lower()) is not None


def is_mass(name: str) -> bool:
    """``mean_mass``, but no body mass index."""
    return re.search("(?<![a-z])mass$", name.lower()) is not None


_OF_WHICH_DATA = {"eval", "evaluation", "val", "valid", "validation", "dev", "test", "avg", "average", "mean", "lm"}
_NO_LOSS = {
    "hamming",
    "scale",
    "scaling",
    "aux",
    "auxiliary",
    "rate",
    "zero",
    "z",
    "router",
    "balance",
    "balancing",
    "lr",
}


def evaluation_loss(names: list[str]) -> str | None:
    """The value that is compared with the training loss: ``loss`` or ``eval_loss``, else an NLL or a perplexity, else
    another loss. A Hamming loss is a rate, a loss scale a factor, an auxiliary loss a part."""
    known = [name for name in names if not words(name) & _NO_LOSS]
    ranks = [(rank, place) for place, name in enumerate(known) if (rank := _rank(name)) is not None]
    return known[min(ranks)[1]] if ranks else None


def _rank(name: str) -> int | None:
    found = words(name)
    if "loss" in found:
        plain = all(word.replace("loss", "") in {"", *_OF_WHICH_DATA} for word in found)
        return int(name != "loss") if plain else 5
    return next((rank for rank, word in enumerate(("nll", "perplexity", "ppl"), 2) if word in found), None)
