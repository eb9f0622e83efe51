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
    return "accuracy" in words(name) or name.lower() in ("acc", "acc_norm")


def is_yes_rate(name: str) -> bool:
    return re.search("(?<![a-z])yes[_ -]?rate(?![a-z])", name.lower()) is not None


def is_mass(name: str) -> bool:
    """``mean_mass``, but no body mass index."""
    return re.search("(?<![a-z])mass$", name.lower()) is not None


def evaluation_loss(names: list[str]) -> str | None:
    """The value that is compared with the training loss; a Hamming loss is a rate and not one."""
    for word in ("loss", "nll", "perplexity", "ppl"):
        for name in names:
            if word in words(name) and "hamming" not in words(name):
                return name
    return None
