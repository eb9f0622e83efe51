"""Which rows of a batch count. Rows that do not may hold anything: they are padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import inputs


def rows_of(values: Any, what: str) -> int:
    """B of ``[B, ...]``, without a look at the content."""
    if isinstance(values, (list, tuple)):
        return len(values)
    shape = inputs.tensor_or_array(values, what).shape
    if not shape:
        raise ValueError(f"{what} must have one row a sample, but got {inputs.describe(values)}")
    return int(shape[0])


def counted_rows(mask: Any, rows: int, sample_ids: Any = None) -> np.ndarray:
    """The mask as bool [rows].

    Raises:
        ValueError: If sample ids are given: sums of counts cannot tell samples apart.
    """
    inputs.refuse_sample_ids(sample_ids)
    return np.ones(rows, bool) if mask is None else inputs.boolean_mask(mask, (rows,))


def listed_rows(values: Any, what: str) -> list[Any]:
    """One entry a row, unchecked, from a list, a tuple, or an array or Tensor of texts."""
    return list(values) if isinstance(values, (list, tuple)) else list(inputs.texts(values, what))


def texts_of(rows: list[Any], counted: np.ndarray, what: str) -> list[str]:
    """The texts of the rows that count, and "" in place of the others."""
    return inputs.texts(kept_rows(rows, counted, ""), what)


def kept_rows(values: Any, counted: np.ndarray, filler: Any) -> Any:
    """A list of one entry a row, with ``filler`` in the rows that do not count; other inputs as they are."""
    if not isinstance(values, (list, tuple)) or len(values) != len(counted):
        return values
    return [value if counts else filler for value, counts in zip(values, counted.tolist())]
