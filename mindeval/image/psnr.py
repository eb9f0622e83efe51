"""Peak signal-to-noise ratio of images."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, rounding
from mindeval.image import _images
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum

AVERAGES = ("images", "pixels")


class PSNR(Metric):
    r"""Peak signal-to-noise ratio :math:`10 \log_{10}(R^2 / \mathrm{MSE})` in dB, R being ``data_range``.

    ``update(images, references[, mask])``: two batches of one shape, ``[N, C, H, W]``, ``[N, H, W, C]`` or any ``[N,
    ...]`` (the order of axes does not matter), uint8 or other integers, or floats. ``mask``: bool ``[N]``, False for
    images that padding repeated. Squared errors of integers are exact; sums always are.

    ``result()``: ``psnr``, ``mse`` (over all pixels) and ``images``. Equal images have PSNR inf, as in scikit-image.

    Args:
        data_range: the distance of the lowest and the highest possible value, such as 255 or 1.0. It is not guessed.
        average: "images": the mean of each image's PSNR, which for one image is scikit-image's
            ``peak_signal_noise_ratio``. "pixels": the PSNR of the mean squared error over all pixels of all images.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes differ, there are no pixels, a value is not finite,
            or values spread over
            more than 1.5 times ``data_range``.
        TypeError: ``update``: if dtypes differ in kind (uint8 against floats).

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> psnr = PSNR(data_range=255)
    >>> psnr.update(np.full((1, 1, 2, 2), 10, np.uint8), np.full((1, 1, 2, 2), 35, np.uint8))
    >>> round(psnr.eval(), 6), psnr.result()["mse"]  # 10 log10(65025 / 625)
    (20.172003, 625.0)
    """

    higher_is_better = True

    def __init__(
        self,
        data_range: float,
        average: str = "images",
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.data_range = _images.check_range(data_range)
        if average not in AVERAGES:
            raise ValueError(f"average must be one of {list(AVERAGES)}, but got {average!r}")
        self.average = average
        super().__init__(
            states={"decibels": ExactSum(), "squares": ExactSum(), "pixels": Count()},
            settings={"range": self.data_range, "average": average},
            distributed=distributed,
            name=name,
        )

    def _contribution(self, images: Any, references: Any, mask: Any = None, sample_ids: Any = None) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        given, wanted = _images.read_pair(images, references, mask, self.data_range)
        differences = given.reshape(len(given), -1) - wanted.reshape(len(wanted), -1)
        squares = differences * differences
        decibels = [self._decibels(row) for row in squares] if self.average == "images" else []
        return {"decibels": decibels, "squares": squares, "pixels": squares.size, "samples": len(given)}

    def _decibels(self, squares: np.ndarray) -> float:
        total = ExactSum()
        total.add(squares)
        return decibels(total.fraction(squares.size), self.data_range)

    def _compute(self, states: Any) -> dict[str, Any]:
        count, pixels = states["samples"].value, states["pixels"].value
        mean_square = states["squares"].fraction(pixels)
        if self.average == "images":
            value = states["decibels"].over(count)
        else:
            value = decibels(mean_square, self.data_range)
        return {"psnr": value, "mse": float(mean_square), "images": count}


def decibels(mean_square: Fraction, data_range: float) -> float:
    """10 log10(range^2 / mean square), rounded once; inf for 0."""
    if not mean_square:
        return float("inf")
    return 10 * rounding.log(Fraction(data_range) ** 2 / mean_square, base=10)
