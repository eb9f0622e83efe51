"""From scores to classes: thresholds, the highest score, ranks; infinities are scores, NaN are refused."""

from __future__ import annotations

import numpy as np

_SCORES_OF_A_BLOCK = 1 << 20


def above_threshold(scores: np.ndarray, threshold: float, counted: np.ndarray) -> np.ndarray:
    """Which scores lie above the threshold (a score that equals it does not), as float64 numbers of any dtype.

    A threshold strictly between 0 and 1 is one of probabilities, and scores outside [0, 1] are an error: nothing is
    guessed. Any other threshold takes scores of any range, as 0.0 for logits.
    """
    values = scores[counted]
    if np.isnan(values).any():
        raise ValueError("predictions must not be NaN where a label counts")
    if 0 < threshold < 1 and values.size and (values.min() < 0 or values.max() > 1):
        raise ValueError(
            f"predictions must be probabilities in [0, 1] for threshold={threshold}, but got values from "
            f"{values.min().item()!r} to {values.max().item()!r}: for logits say threshold=0.0"
        )
    return np.greater(scores, threshold, signature="dd->?")  # in float16 a threshold of 0.9999 would be 1


def highest(scores: np.ndarray, labels: np.ndarray, counted: np.ndarray, top_k: int = 1) -> np.ndarray:
    """The class with the highest score on the last axis; the label itself where it is among the ``top_k`` highest.

    Equal scores rank by id, the lower first. Rows that do not count may hold anything.
    """
    if scores.dtype.kind not in "fiub":
        raise TypeError(f"scores must be numbers, but got {scores.dtype}")
    rows, wanted, valid = scores.reshape(-1, scores.shape[-1]), labels.reshape(-1), counted.reshape(-1)
    decided = np.empty(len(rows), np.int64)
    step = max(1, _SCORES_OF_A_BLOCK // rows.shape[1])
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        decided[part] = _highest_of_block(rows[part], wanted[part], valid[part], top_k)
    return decided.reshape(labels.shape)


def _highest_of_block(rows: np.ndarray, labels: np.ndarray, valid: np.ndarray, top_k: int) -> np.ndarray:
    best = rows.argmax(axis=1)
    _refuse_nan(rows[np.arange(len(rows)), best][valid])  # argmax stops at the first NaN
    if top_k == 1:
        return best
    inside = valid & (labels >= 0) & (labels < rows.shape[1])
    places = np.where(inside, labels, 0)
    return np.where(inside & (_ranks_of_block(rows, places) < top_k), places, best)


def label_ranks(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """How many classes rank above the label's, int64 [n], from scores [n, C] of any dtype and labels in [0, C).

    Higher scores rank above, and of equal ones those of lower ids. Infinities are scores, NaN are refused.
    """
    ranks = np.empty(len(scores), np.int64)
    step = max(1, _SCORES_OF_A_BLOCK // scores.shape[1])
    for start in range(0, len(scores), step):
        rows = scores[start : start + step]
        _refuse_nan(rows.max(axis=1))
        ranks[start : start + step] = _ranks_of_block(rows, labels[start : start + step])
    return ranks


def _ranks_of_block(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    own = rows[np.arange(len(rows)), places][:, None]
    return (rows > own).sum(axis=1) + ((rows == own) & (np.arange(rows.shape[1]) < places[:, None])).sum(axis=1)


def _refuse_nan(peaks: np.ndarray) -> None:
    if peaks.dtype.kind == "f" and np.isnan(peaks).any():
        rows = int(np.isnan(peaks).sum())
        raise ValueError(f"predictions must not be NaN where a label counts, but {rows} rows hold NaN")
