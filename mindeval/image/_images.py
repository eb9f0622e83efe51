"""Pairs of images from what users give, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindeval import exact, inputs
from mindeval.constructors import finite_number

_SLACK = 1.5  # outputs of a network overshoot a little; values of another scale by far more
_LEAST, _MOST = 1e-300, 1e300


def check_range(data_range: float) -> float:
    """A range above 0. It is never guessed from dtypes or values: the same pixels would mean another score."""
    value = finite_number(data_range, "data_range (such as 255 or 1.0)")
    if not _LEAST <= value <= _MOST:
        raise ValueError(f"data_range must be a number from {_LEAST:g} to {_MOST:g}, but got {data_range!r}")
    return value


def read_pair(images: Any, references: Any, mask: Any, data_range: float) -> tuple[np.ndarray, np.ndarray]:
    """Two batches of numbers [N, ...] of their own dtypes, without those that a mask [N] leaves out."""
    given, wanted = inputs.to_numpy(images, "images"), inputs.to_numpy(references, "references")
    if given.shape != wanted.shape:
        raise ValueError(
            f"images and references must have one shape, but got {list(given.shape)} and {list(wanted.shape)}"
        )
    if given.ndim < 2 or given.size == 0:
        raise ValueError(f"images must have shape [N, ...] with pixels in them, but got {list(given.shape)}")
    if (given.dtype.kind == "f") != (wanted.dtype.kind == "f"):
        raise TypeError(
            f"images and references must both be integers or both floats, but got {given.dtype} and {wanted.dtype}"
        )
    if mask is not None:
        keep = inputs.boolean_mask(mask, given.shape[:1])
        given, wanted = given[keep], wanted[keep]
    _check_values(given, "images", data_range)
    _check_values(wanted, "references", data_range)
    return given.astype(np.uint8) if given.dtype.kind == "b" else given, (
        wanted.astype(np.uint8) if wanted.dtype.kind == "b" else wanted
    )


def offsets(values: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """values - origin as float64, rounded once, of integers of 64 bits as of others; origin is one of the values."""
    if not exact.beyond_float(values):
        return values.astype(np.float64) - origin.astype(np.float64)
    (high, low), (high_origin, low_origin) = (_halves(part) for part in (values, origin))
    return (high - high_origin) + (low - low_origin)  # the first difference is exact


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low = values & values.dtype.type(2047)
    return (values - low).astype(np.float64), low.astype(np.float64)


def _check_values(values: np.ndarray, what: str, data_range: float) -> None:
    """Each image by itself, so that whether it is taken does not depend on the batch it comes in."""
    if not values.size:
        return
    axes = tuple(range(1, values.ndim))
    lowest, highest = (bound.astype(np.float64) for bound in (values.min(axis=axes), values.max(axis=axes)))
    if not (np.isfinite(lowest) & np.isfinite(highest)).all():
        raise ValueError(f"{what} must be finite, but got NaN or infinity")
    wide = np.flatnonzero(highest / 2 - lowest / 2 > _SLACK / 2 * data_range)  # halves, which cannot overflow
    if wide.size:
        raise ValueError(
            f"{what} must each hold values that lie within data_range={data_range:g} or a little more, but one holds "
            f"values from {lowest[wide[0]]:g} to {highest[wide[0]]:g}"
        )
