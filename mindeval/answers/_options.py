"""Scores of options from their log-likelihoods: the normalisations in use, and how gold answers are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindeval import inputs

NORMALISATIONS = ("sum", "token", "char", "byte", "prior", "full")
COLUMNS = ("sum", "tokens", "characters", "bytes", "prior", "full", "full_tokens")


def option_statistics(
    sums: Any,
    tokens: Any = None,
    texts: Sequence[Sequence[str]] | None = None,
    prior: Any = None,
    full: Any = None,
    full_tokens: Any = None,
) -> list[np.ndarray]:
    """The statistics of each question's options, for ``ChoiceAccuracy(mode="loglikelihood")``: a list of [C, 7] arrays.

    Columns: sum, tokens, characters, bytes, prior, full, full_tokens (NaN where not given). Questions may have
    different numbers of options.

    Args:
        sums: Per question, log P(option | question) of each option in nats: a list of sequences, or [B, C].
            From ``kernels.token_nll``: minus the sum of the option's NLL.
        tokens: The number of tokens of each option.
        texts: The texts of the options that were scored, for characters and UTF-8 bytes.
        prior: log P(option) without the question (or after a neutral one).
        full: Log-likelihood of the whole sequence, question and option, without its first token.
        full_tokens: The number of tokens of the whole sequence.

    >>> option_statistics([[-1.0, -2.0]], tokens=[[1, 2]], texts=[["是", "no"]])[0][:, :4]
    array([[-1.,  1.,  1.,  3.],
           [-2.,  2.,  2.,  2.]])
    """
    found = []
    for row, values in enumerate(sums):
        values = np.asarray(values, np.float64)
        table = np.full((len(values), len(COLUMNS)), np.nan)
        table[:, 0] = values
        if texts is not None:
            if len(texts[row]) != len(values):
                raise ValueError(
                    f"question {row} must have one text per option, but got {len(texts[row])} for {len(values)}"
                )
            table[:, 2] = [len(text) for text in texts[row]]
            table[:, 3] = [len(text.encode("utf-8")) for text in texts[row]]
        for column, given in ((1, tokens), (4, prior), (5, full), (6, full_tokens)):
            if given is not None:
                table[:, column] = given[row]
        found.append(table)
    return found


def option_tables(predictions: Any) -> list[np.ndarray]:
    """Given log-likelihoods [B, C] or statistics [B, C, K], or a list of [C] or [C, K], as a list of [C, 7] arrays."""
    if isinstance(predictions, (list, tuple)):
        rows = [inputs.to_numpy(row, "predictions") for row in predictions]
    else:
        rows = list(inputs.to_numpy(predictions, "predictions"))
    tables = []
    for number, row in enumerate(rows):
        row = np.asarray(row, np.float64)
        if row.ndim not in (1, 2) or (row.ndim == 2 and not 1 <= row.shape[1] <= len(COLUMNS)) or row.size == 0:
            raise ValueError(
                f"predictions must have shape [B, C] (log-likelihoods) or [B, C, K] (the first K of "
                f"{list(COLUMNS)}), "
                f"but row {number} has shape {list(row.shape)}"
            )
        row = row.reshape(len(row), -1)
        table = np.full((len(row), len(COLUMNS)), np.nan)
        table[:, : row.shape[1]] = row
        if np.isnan(table[:, 0]).any():
            raise ValueError(f"log-likelihoods must not be NaN, but question {number} has one")
        tables.append(table)
    return tables


def normalised(table: np.ndarray) -> dict[str, np.ndarray]:
    """normalisation -> score of each option, for those that the statistics allow.

    sum: lm-eval's ``acc``; token: mean per token (OpenCompass' PPL of the answer); char: lm-eval's ``acc_norm``; byte:
    ``acc_bytes``; prior: ``acc_mutual_info``; full: MindSpeed-LLM's and OpenCompass' PPL over the whole sequence.
    """
    sums, tokens, characters, octets, prior, full, full_tokens = table.T
    scores = {"sum": sums}
    for name, amount in (("token", tokens), ("char", characters), ("byte", octets)):
        if not np.isnan(amount).any():
            if (amount <= 0).any():
                raise ValueError(f"an option must have at least one {name}, but one has {amount.min():g}")
            scores[name] = sums / amount
    if not np.isnan(prior).any():
        with np.errstate(invalid="ignore"):
            scores["prior"] = np.where(np.isneginf(sums), -np.inf, sums - prior)
    if not (np.isnan(full).any() or np.isnan(full_tokens).any()):
        scores["full"] = full / full_tokens
    return scores


def gold_sets(labels: Any, rows: int, choices: Sequence[str], counts: Sequence[int] | None) -> list[frozenset[int]]:
    """The right options of each question as sets of indices.

    Taken are: indices [B], letters ("B", "BD", "(B)") [B], a list of lists of either, and bool [B, C].
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "UO":
        labels = labels.tolist()
    if not isinstance(labels, (list, tuple)):
        labels = inputs.to_numpy(labels, "labels")
        if labels.dtype.kind == "b":
            if labels.ndim != 2:
                raise ValueError(f"bool labels must have shape [B, C], but got {list(labels.shape)}")
            labels = [np.flatnonzero(row).tolist() for row in labels]
        else:
            labels = inputs.class_ids(labels, "labels").tolist()
    if len(labels) != rows:
        raise ValueError(f"labels must have shape [{rows}] to match predictions, but got {len(labels)}")
    positions = {letter.upper(): place for place, letter in enumerate(choices)}
    found = []
    for row, label in enumerate(labels):
        given = [label] if isinstance(label, (int, np.integer, str)) else list(label)
        indices: set[int] = set()
        for item in given:
            indices |= _letters(item, positions) if isinstance(item, str) else {int(item)}
        limit = len(choices) if counts is None else counts[row]
        if not indices or min(indices) < 0 or max(indices) >= limit:
            raise ValueError(
                f"labels must name options 0 to {limit - 1} (or {list(choices)[:limit]}), but got {label!r}"
            )
        found.append(frozenset(indices))
    return found


def _letters(text: str, positions: dict[str, int]) -> set[int]:
    letters = [c for c in text.upper() if c not in "() ,;、，[]"]
    unknown = [letter for letter in letters if letter not in positions]
    if unknown or not letters:
        raise ValueError(f"labels must be letters of {''.join(positions)!r}, but got {text!r}")
    return {positions[letter] for letter in letters}


def group_names(groups: Any, rows: int) -> list[str | int]:
    """The group (subject) of each question, as str or int."""
    if isinstance(groups, (list, tuple)):
        names = list(groups)
    else:
        names = groups.tolist() if isinstance(groups, np.ndarray) else inputs.class_ids(groups, "groups").tolist()
    if len(names) != rows or not all(isinstance(name, (str, int)) and not isinstance(name, bool) for name in names):
        raise ValueError(f"groups must name the group of each of {rows} questions, but got {inputs.describe(groups)}")
    return names
