"""Log-probabilities of a few candidates from next-token logits, and sums of their probabilities, bit for bit the same
on every host and in every batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindspore as ms
import numpy as np

from mindeval import inputs, kernels

INPUTS = ("logits", "log_probs", "nll")
_IGNORED = -100
_ROUNDING = 1e-3  # how far above 0 rounding may lift a log-probability
_MOST = 1.05  # what probabilities sum to at most whose logarithms were rounded to bfloat16
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_TAYLOR = [1.0]
for _n in range(1, 15):
    _TAYLOR.append(_TAYLOR[-1] / _n)


def exp(values: np.ndarray) -> np.ndarray:
    """exp of float64 values <= 0 within 2 ulp, from additions and multiplications only: processors agree on those,
    and not on their exp.

    >>> exp(np.array([0.0, -1.0, -np.inf])).round(12)
    array([1.        , 0.36787944, 0.        ])
    """
    values = np.maximum(np.asarray(values, np.float64), -745.2)
    powers = np.rint(values * 1.4426950408889634)
    rest = (values - powers * _LN2_HIGH) - powers * _LN2_LOW
    total = np.full(rest.shape, _TAYLOR[-1])
    for coefficient in _TAYLOR[-2::-1]:
        total = total * rest + coefficient
    return np.where(values <= -745.2, 0.0, np.ldexp(total, powers.astype(np.int64)))


def read(
    predictions: Any,
    ids: Sequence[int],
    counted: np.ndarray,
    kind: str,
    positions: Any = None,
    nll: Callable[..., Any] | None = None,
    vocab_size: int | None = None,
) -> np.ndarray:
    """log P of each candidate: float64 [B, C], from logits, or from given log-probabilities or NLL.

    Rows that do not count are not looked at, and give 0.
    """
    if kind != "logits":
        return summed_log_probs(predictions, len(ids), kind, counted)
    logits = at_positions(inputs.tensor_or_array(predictions, "logits"), positions, counted)
    return candidate_log_probs(logits, ids, counted, nll, vocab_size)


def check_vocabulary(vocab_size: Any, ids: Sequence[int]) -> int | None:
    """The size of a vocabulary that holds all ids, if one is given."""
    if vocab_size is None:
        return None
    size = inputs.whole_number(vocab_size, "vocab_size", at_least=1)
    if ids and max(ids) >= size:
        raise ValueError(f"vocab_size must be above all candidate ids, but got {size} and id {max(ids)}")
    return size


def candidate_log_probs(
    logits: Any,
    ids: Sequence[int],
    counted: np.ndarray,
    nll: Callable[..., Any] | None = None,
    vocab_size: int | None = None,
) -> np.ndarray:
    """log P of each candidate id under the softmax of each row: float64 [B, C].

    The logits are read once where they are (``kernels.token_nll``); only the candidates' own columns are copied.

    Args:
        logits: Tensor or array [B, V].
        ids: C token ids.
        counted: bool [B]: the rows that are looked at; others give 0.
        nll: For logits that are sharded over the vocabulary: a function ``(logits, labels [B]) -> nll [B]`` (or
            statistics with ``.nll``) that takes global ids, called once per candidate.
        vocab_size: The number of real columns of a padded vocabulary.
    """
    rows = int(logits.shape[0])
    if nll is not None:
        given = [nll(logits, np.full(rows, token, np.int64)) for token in ids]
        columns = np.stack([np.asarray(getattr(column, "nll", column), np.float64) for column in given], axis=1)
        return summed_log_probs(columns, len(ids), "nll", counted)
    width = int(logits.shape[1]) if vocab_size is None else vocab_size
    if max(ids) >= width:
        raise ValueError(
            f"candidate ids must lie in the logits' vocabulary of {width}, but got id {max(ids)}: logits "
            f"narrower than "
            "the vocabulary are a slice of it"
        )
    columns = np.where(counted[:, None], _columns(logits, ids), 0.0)
    best = columns.argmax(axis=1)
    top = columns[np.arange(rows), best]
    labels = np.where(counted, np.asarray(ids)[best], _IGNORED)
    found = kernels.token_nll(logits, labels, ignore_index=_IGNORED, vocab_size=vocab_size).nll
    broken = np.isnan(found) & counted
    if broken.any():
        raise ValueError(f"logits must not be NaN or +inf, but row {int(broken.argmax())} is")
    with np.errstate(invalid="ignore"):
        scores = columns - (found + top)[:, None]
    scores = np.where(np.isneginf(top)[:, None], -np.inf, scores)  # no candidate is possible at all
    return np.where(counted[:, None], scores, 0.0)


def _columns(logits: Any, ids: Sequence[int]) -> np.ndarray:
    if isinstance(logits, ms.Tensor):
        return inputs.to_numpy(_taken(logits, list(ids), 1), "logits").astype(np.float64)
    return np.asarray(logits[:, list(ids)], np.float64)


def _taken(tensor: ms.Tensor, places: Sequence[int], axis: int) -> ms.Tensor:
    """Rows or columns of a Tensor. The CPU has no Gather for bfloat16, but slices."""
    if tensor.dtype != ms.bfloat16:
        return ms.ops.gather(tensor, ms.Tensor(places, ms.int32), axis)
    pieces = [tensor[place : place + 1] if axis == 0 else tensor[:, place : place + 1] for place in places]
    return ms.ops.cat(pieces, axis)


def at_positions(logits: Any, positions: Any, counted: np.ndarray) -> Any:
    """The row of logits [B, T, V] at each answer's position: [B, V]. Logits [B, V] are taken as they are."""
    if logits.ndim == 2 and positions is None:
        return logits
    if logits.ndim != 3 or positions is None:
        raise ValueError(
            f"logits must have shape [B, V], or [B, T, V] with positions [B], but got {list(logits.shape)} "
            f"{'without' if positions is None else 'with'} positions"
        )
    batch, length, width = logits.shape
    places = inputs.class_ids(positions, "positions", "places")
    if places.shape != (batch,):
        raise ValueError(f"positions must have shape [{batch}], but got {list(places.shape)}")
    if inputs.to_numpy(positions, "positions").dtype.kind == "b":
        raise TypeError("positions must be places in the sequence, but got bool: a mask goes to mask=")
    places = np.where(counted, places, 0)
    outside = (places < 0) | (places >= length)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(f"positions must be places in [0, {length}), but row {row} has {places[row]}")
    flat = np.arange(batch) * length + places
    if isinstance(logits, ms.Tensor):
        return _taken(logits.reshape(batch * length, width), flat.tolist(), 0)
    return logits.reshape(batch * length, width)[flat]


def summed_log_probs(values: Any, count: int, kind: str, counted: np.ndarray) -> np.ndarray:
    """Given log-probabilities or NLL [B, C], or [B, C, T] of the candidates' tokens, as log-probabilities [B, C]."""
    array = inputs.to_numpy(values, kind).astype(np.float64)
    if array.ndim not in (2, 3) or array.shape[1] != count:
        raise ValueError(
            f"{kind} must have shape [B, {count}] or [B, {count}, T], one column per candidate, but got "
            f"{list(array.shape)}"
        )
    total = array.reshape(len(array), count, -1)
    total = np.where(counted[:, None, None], -total if kind == "nll" else total, 0.0)
    wrong = np.isnan(total) | (total > _ROUNDING)
    if wrong.any():
        row, column = (int(axis[0]) for axis in np.nonzero(wrong.any(axis=2)))
        value = array.reshape(total.shape)[wrong][0]
        bound = ">= 0" if kind == "nll" else "<= 0"
        raise ValueError(f"{kind} must be {bound} and not NaN, but row {row} has {value:g} for candidate {column}")
    summed = np.zeros(total.shape[:2])
    for place in range(total.shape[2]):
        summed += total[..., place]
    return np.minimum(summed, 0.0)


def class_masses(
    log_probs: np.ndarray, members: Sequence[Sequence[int]], exclusive: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(relative mass of each class [B, K], mass of all candidates [B]).

    A class's mass is the sum over its candidates, scaled by the row's largest so that tiny ones do not vanish.

    Args:
        exclusive: bool [B]: the rows where only one candidate can come next, so that the probabilities sum to at most
            1. Forms of several tokens may begin with another form of their class.
    """
    top = log_probs.max(axis=1)
    safe = np.where(np.isneginf(top), 0.0, top)
    relative = exp(log_probs - safe[:, None])
    masses = np.zeros((len(log_probs), len(members)))
    for place, columns in enumerate(members):
        for column in columns:
            masses[:, place] += relative[:, column]
    total = masses[:, 0].copy()
    for place in range(1, len(members)):
        total += masses[:, place]
    total = np.where(np.isneginf(top), 0.0, exp(safe) * total)
    above = exclusive & (total > _MOST)
    if above.any():
        row = int(above.argmax())
        raise ValueError(
            f"candidates must have probabilities that sum to at most 1, but those of row {row} sum to {total[row]:.3g}"
        )
    return masses, np.minimum(total, 1.0)
