"""Pairs of images from what users give, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindeval import inputs

_SLACK = 1.5  # outputs of a network overshoot a little; values of another scale by far more


def check_range(data_range: float) -> float:
    """A finite range above 0. It is never guessed from dtypes or values: the same pixels would mean another score."""
    value = float(data_range)
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"data_range must be a finite number > 0, such as 255 or 1.0, but got {data_range}")
    return value


def read_pair(images: Any, references: Any, mask: Any, data_range: float) -> tuple[np.ndarray, np.ndarray]:
    """Two batches of images [N, ...] as float64, without those that a mask [N] leaves out."""
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
    pair = given.astype(np.float64), wanted.astype(np.float64)
    for what, values in zip(("images", "references"), pair):
        if not np.isfinite(values).all():
            raise ValueError(f"{what} must be finite, but got NaN or infinity")
        if values.size and values.max() - values.min() > _SLACK * data_range:
            raise ValueError(
                f"{what} hold values from {values.min():g} to {values.max():g}, too far apart for data_range="
                f"{data_range:g}"
            )
    return pair
