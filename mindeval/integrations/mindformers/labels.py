"""Which label each position is scored on, where a network returns the tokens that it read."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs

IGNORE = -100


def next_tokens(tokens: Any, mask: Any) -> np.ndarray:
    """The label of each position: the token behind it, or -100 where that one is masked or not there.

    Args:
        tokens: ids ``[B, S]`` that the network read.
        mask: 0 or 1 ``[B, S]``, or bool: whether a token is one to predict.

    >>> next_tokens([[5, 6, 7, 0]], [[1, 1, 1, 0]])
    array([[   6,    7, -100, -100]])
    """
    ids, counts = inputs.class_ids(tokens, "tokens"), inputs.to_numpy(mask, "mask")
    if ids.ndim != 2 or counts.shape != ids.shape:
        raise ValueError(
            f"tokens and mask must have one shape [B, S], but got {inputs.describe(ids)} and {inputs.describe(counts)}"
        )
    if not ((counts == 0) | (counts == 1)).all():
        raise ValueError("mask must hold 0 and 1: a token counts or it does not, and cannot weigh something else")
    labels = np.full_like(ids, IGNORE)
    labels[:, :-1] = np.where(counts[:, 1:] != 0, ids[:, 1:], IGNORE)
    return labels
