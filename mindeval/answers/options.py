"""Scores of options from their log-likelihoods: the normalisations in use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindeval import inputs

NORMALISATIONS = ("sum", "token", "char", "byte", "prior", "full")
_ROUNDING = 1e-3  # how far above 0 rounding may lift a log-likelihood
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

    Raises:
        ValueError: If questions or their options differ in number, or numbers of tokens are no whole numbers.
        TypeError: If texts are not str, or the rest is not numbers.

    >>> option_statistics([[-1.0, -2.0]], tokens=[[1, 2]], texts=[["是", "no"]])[0][:, :4]
    array([[-1.,  1.,  1.,  3.],
           [-2.,  2.,  2.,  2.]])
    """
    given = _rows(sums, "sums")
    rows = [_numbers(values, "sums", row, None) for row, values in enumerate(given)]
    tables = [np.full((len(values), len(COLUMNS)), np.nan) for values in rows]
    for table, values in zip(tables, rows):
        table[:, 0] = values
    for column, name, values in (
        (1, "tokens", tokens), (4, "prior", prior), (5, "full", full), (6, "full_tokens", full_tokens)
    ):  # fmt: skip
        for row, of_row in enumerate([] if values is None else _rows(values, name, len(tables))):
            tables[row][:, column] = _numbers(of_row, name, row, len(tables[row]))
    for row, of_row in enumerate([] if texts is None else _rows(texts, "texts", len(tables))):
        spelled = inputs.texts(of_row, f"texts of question {row}")
        _check_length(len(spelled), "texts", row, len(tables[row]))
        tables[row][:, 2] = [len(text) for text in spelled]
        tables[row][:, 3] = [len(text.encode("utf-8")) for text in spelled]
    return tables


def _rows(values: Any, name: str, expected: int | None = None) -> list[Any]:
    """One entry a question."""
    if isinstance(values, str) or (isinstance(values, np.ndarray) and values.ndim == 0):
        raise TypeError(f"{name} must have one row a question, but got {inputs.describe(values)}")
    rows = list(values if isinstance(values, (list, tuple, np.ndarray)) else inputs.to_numpy(values, name))
    if expected is not None and len(rows) != expected:
        raise ValueError(f"{name} must have one row a question, but got {len(rows)} for {expected} of sums")
    return rows


def _numbers(values: Any, name: str, row: int, expected: int | None) -> np.ndarray:
    """The numbers of one question's options; of tokens, whole ones."""
    place = f"{name} of question {row}"
    array = inputs.to_numpy(list(values) if isinstance(values, tuple) else values, place)
    if array.ndim != 1 or array.dtype.kind == "b":
        raise ValueError(f"{place} must be one number for each option, but got {inputs.describe(values)}")
    if expected is not None:
        _check_length(len(array), name, row, expected)
    return inputs.class_ids(array, place, "counts") if name.endswith("tokens") else array.astype(np.float64)


def _check_length(found: int, name: str, row: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"question {row} must have one entry of {name} per option, but got {found} for {expected}")


def option_tables(predictions: Any, counted: Any = None) -> list[np.ndarray]:
    """Given log-likelihoods [B, C] or statistics [B, C, K], or a list of [C] or [C, K], as a list of [C, 7] arrays.

    Rows that do not count are not looked at: their tables are empty.
    """
    if isinstance(predictions, (list, tuple)):
        rows: list[Any] = list(predictions)
    else:
        rows = list(inputs.to_numpy(predictions, "predictions"))
    tables = []
    for number, given in enumerate(rows):
        if counted is not None and not counted[number]:
            tables.append(np.zeros((0, len(COLUMNS))))
            continue
        row = np.asarray(inputs.to_numpy(given, "predictions"), np.float64)
        if row.ndim not in (1, 2) or (row.ndim == 2 and not 1 <= row.shape[1] <= len(COLUMNS)) or row.size == 0:
            raise ValueError(
                f"predictions must have shape [B, C] (log-likelihoods) or [B, C, K] (the first K of "
                f"{list(COLUMNS)}), "
                f"but row {number} has shape {list(row.shape)}"
            )
        row = row.reshape(len(row), -1)
        table = np.full((len(row), len(COLUMNS)), np.nan)
        table[:, : row.shape[1]] = row
        tables.append(table)
    return tables


def check_table(table: np.ndarray, number: int) -> None:
    """Raise a ValueError, naming the question and the option, where statistics cannot be what they are said to be."""
    for column, name in enumerate(COLUMNS):
        values = table[:, column]
        missing = np.isnan(values)
        if column and missing.all():
            continue
        if name in ("sum", "prior", "full"):
            wrong, rule = missing | (values > _ROUNDING), "must be a log-likelihood (<= 0, not NaN)"
            if name == "prior":
                wrong, rule = wrong | np.isinf(values), "must be a finite log-likelihood (<= 0, not NaN)"
        else:
            wrong, rule = ~(values >= 1) | np.isinf(values), "must be at least one for each option, and finite"
        if wrong.any():
            option = int(wrong.argmax())
            raise ValueError(f"{name} {rule}, but option {option} of question {number} has {values[option]:g}")
        if np.isneginf(values).all():
            raise ValueError(f"{name} must be finite for one option, but question {number} has -inf for all")


def normalised(table: np.ndarray) -> dict[str, np.ndarray]:
    """normalisation -> score of each option, for those that the statistics allow.

    sum: lm-eval's ``acc``; token: mean per token (OpenCompass' PPL of the answer); char: lm-eval's ``acc_norm``; byte:
    ``acc_bytes``; prior: ``acc_mutual_info``; full: MindSpeed-LLM's and OpenCompass' PPL over the whole sequence.
    """
    sums, tokens, characters, octets, prior, full, full_tokens = table.T
    scores = {"sum": sums}
    for name, amount in (("token", tokens), ("char", characters), ("byte", octets)):
        if not np.isnan(amount).any():
            scores[name] = sums / amount
    if not np.isnan(prior).any():
        with np.errstate(invalid="ignore"):
            scores["prior"] = np.where(np.isneginf(sums), -np.inf, sums - prior)
    if not (np.isnan(full).any() or np.isnan(full_tokens).any()):
        scores["full"] = full / full_tokens
    return scores
