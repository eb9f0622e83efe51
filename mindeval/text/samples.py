"""From what ``update`` was given to one prediction and its references for each sample."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mindspore as ms
import numpy as np

from mindeval import inputs

Decode = Callable[[list], "list[str]"]


class Samples(NamedTuple):
    """The samples of a batch that count.

    ``predictions`` holds N texts, or N lists of tokens where ``tokenised``; ``references`` one or more such for each.
    """

    predictions: list
    references: list[list]
    tokenised: bool


def read_samples(
    predictions: Any, references: Any, mask: Any = None, *, decode: Decode | None = None, nfkc: bool = False
) -> Samples:
    """Check and convert a batch.

    Args:
        predictions: list of str or NumPy string array [N]; N lists of tokens; or ids, integer [N, T], with ``decode``.
        references: one or more for each prediction: list of str or string array [N]; N lists of str or string array
            [N, R]; the same of tokens if the predictions are tokens; ids [N, T] or [N, R, T], or lists of them of any
            lengths, with ``decode``.
        mask: boolean [N], True for the samples that count; None: all.
        decode: from a list of N lists of ids to N texts, such as ``tokenizer.batch_decode``. Negative ids, with which
            labels are padded, are left out before it.
        nfkc: whether to bring all text to Unicode normalisation form NFKC first.

    Raises:
        TypeError: for a bare string, ids without ``decode``, or anything that is not text.
        ValueError: if the numbers of predictions and references differ, or a sample has no reference.

    >>> read_samples(["a", "b"], [["a", "c"], "b"])
    Samples(predictions=['a', 'b'], references=[['a', 'c'], ['b']], tokenised=False)
    """
    found = read_predictions(predictions, decode=decode, what="predictions")
    tokenised = bool(found) and not isinstance(found[0], str)
    given = _as_lists(references, decode, "references")
    if len(given) != len(found):
        raise ValueError(_different_lengths(found, given))
    several = [_of_one_sample(one, row, tokenised) for row, one in enumerate(given)]
    if mask is not None:
        counts = inputs.boolean_mask(mask, (len(found),)).tolist()
        found = [one for one, kept in zip(found, counts) if kept]
        several = [one for one, kept in zip(several, counts) if kept]
    if nfkc:
        found, several = _nfkc(found), _nfkc(several)
    return Samples(found, several, tokenised)


def read_predictions(
    predictions: Any, mask: Any = None, *, decode: Decode | None = None, nfkc: bool = False, what: str = "predictions"
) -> list:
    """Predictions alone: N texts, or N lists of tokens."""
    if isinstance(predictions, np.ndarray) and predictions.dtype.kind in "UO" and predictions.ndim != 1:
        raise ValueError(f"{what} must be a string array of shape [N], but got {list(predictions.shape)}")
    found = _as_lists(predictions, decode, what)
    tokenised = bool(found) and not isinstance(found[0], str)
    for row, one in enumerate(found):
        if not (_is_tokens(one) if tokenised else isinstance(one, str)):
            found_here = inputs.describe(one)
            raise TypeError(
                f"{what} must be a list of str, or of lists of str (tokens), but {what}[{row}] is {found_here}"
            )
    if mask is not None:
        counts = inputs.boolean_mask(mask, (len(found),)).tolist()
        found = [one for one, kept in zip(found, counts) if kept]
    return _nfkc(found) if nfkc else found


def only_texts(samples: Samples) -> Samples:
    """Refuse tokens where a metric needs the text itself."""
    if samples.tokenised:
        raise TypeError(
            "predictions must be texts (a list of str), but got lists of tokens: this metric needs the text"
        )
    return samples


def _as_lists(given: Any, decode: Decode | None, what: str) -> list:
    """Arrays and tuples as lists, ids as texts."""
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{what} must be a list with a text for each sample, but got {inputs.describe(given)}")
    only_empty = isinstance(given, (list, tuple)) and len(given) > 0 and all(_is_empty(item) for item in given)
    if _is_ids(given) or (decode is not None and only_empty):
        return _decoded(given, decode, what)
    if isinstance(given, np.ndarray) and given.dtype.kind in "UO" and given.ndim >= 1:
        return given.tolist()
    if isinstance(given, (list, tuple)):
        return list(given)
    raise TypeError(f"{what} must be a list with a text for each sample, but got {inputs.describe(given)}")


def _is_empty(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and not item


def _is_ids(given: Any) -> bool:
    if isinstance(given, (ms.Tensor, np.ndarray)):
        return isinstance(given, ms.Tensor) or given.dtype.kind in "iufb"
    if isinstance(given, (list, tuple)):
        return any(_is_ids(item) for item in [item for item in given if not _is_empty(item)][:1])
    return isinstance(given, (int, float, np.integer, np.floating))


def _decoded(given: Any, decode: Decode | None, what: str) -> list:
    if decode is None:
        raise TypeError(
            f"{what} must be texts, but got {inputs.describe(given)}: to score token ids, give the metric "
            "decode=tokenizer.batch_decode"
        )
    if isinstance(given, (list, tuple)):
        return _decoded_lists(given, decode, what)
    ids = inputs.class_ids(given, what)
    if ids.ndim not in (2, 3):
        raise ValueError(f"{what} must be ids of shape [N, T] (or [N, R, T] for references), but got {list(ids.shape)}")
    rows = [[token for token in row if token >= 0] for row in ids.reshape(-1, ids.shape[-1]).tolist()]
    texts = _decoded_rows(rows, decode, what)
    if ids.ndim == 2:
        return texts
    return [texts[start : start + ids.shape[1]] for start in range(0, len(texts), ids.shape[1])]


def _decoded_lists(given: Sequence, decode: Decode, what: str) -> list:
    """Rows of ids of any lengths; among references also lists of such rows, the references of one sample."""
    several = [what == "references" and _holds_rows(item) for item in given]
    rows = [row for item, holds in zip(given, several) for row in (item if holds else [item])]
    texts = iter(_decoded_rows([_ids_of_row(row, what) for row in rows], decode, what))
    return [[next(texts) for _ in item] if holds else next(texts) for item, holds in zip(given, several)]


def _holds_rows(item: Any) -> bool:
    if isinstance(item, (ms.Tensor, np.ndarray)):
        return item.ndim == 2
    return isinstance(item, (list, tuple)) and any(
        isinstance(row, (list, tuple, ms.Tensor, np.ndarray)) for row in item
    )


def _ids_of_row(row: Any, what: str) -> list[int]:
    ids = inputs.class_ids(list(row) if isinstance(row, tuple) else row, what)
    if ids.ndim != 1:
        raise ValueError(f"each of {what} must be a row of ids, but got shape {list(ids.shape)}")
    return [token for token in ids.tolist() if token >= 0]


def _decoded_rows(rows: list[list[int]], decode: Decode, what: str) -> list[str]:
    texts = decode(rows)
    if not isinstance(texts, (list, tuple)) or len(texts) != len(rows) or not all(isinstance(t, str) for t in texts):
        raise TypeError(
            f"decode must turn {len(rows)} rows of ids ({what}) into as many texts, but gave {inputs.describe(texts)}"
        )
    return list(texts)


def _is_tokens(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and all(isinstance(token, str) for token in item)


def _of_one_sample(given: Any, row: int, tokenised: bool) -> list:
    """The references of one sample as a list of them."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    one = _is_tokens(given) if tokenised else isinstance(given, str)
    if one:
        return [given]
    several = [item for item in given if item is not None] if isinstance(given, (list, tuple)) else []
    if not several and isinstance(given, (list, tuple)):
        raise ValueError(f"references[{row}] must hold at least one reference, but it is empty")
    if not several or not all(_is_tokens(item) if tokenised else isinstance(item, str) for item in several):
        kind = (
            "tokens (a list of str) or a list of them, as the predictions are"
            if tokenised
            else "a str or a list of str"
        )
        raise TypeError(f"references[{row}] must be {kind}, but got {inputs.describe(given)}")
    return several


def _different_lengths(predictions: Sequence, references: Sequence) -> str:
    lengths = {len(one) for one in references if isinstance(one, (list, tuple))}
    message = (
        f"references must hold one entry for each prediction, but got {len(references)} references "
        f"for {len(predictions)} predictions"
    )
    if lengths == {len(predictions)}:
        message = (
            f"references must have shape [{len(predictions)}, R], a list of references for each of the "
            f"{len(predictions)} predictions, but got [{len(references)}, {len(predictions)}]: this is transposed, one "
            "list for each stream as sacrebleu takes it; use list(zip(*references))"
        )
    return message


def _nfkc(item: Any) -> Any:
    if isinstance(item, str):
        return unicodedata.normalize("NFKC", item)
    return [_nfkc(part) for part in item]
