"""Peak signal-to-noise ratio of images."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import exact, inputs, rounding
from mindeval.constructors import one_of
from mindeval.image import _images
from mindeval.metric import Metric
from mindeval.state import Count, ExactSum

AVERAGES = ("images", "pixels")


class PSNR(Metric):
    r"""Peak signal-to-noise ratio :math:`10 \log_{10}(R^2 / \mathrm{MSE})` in dB, R being ``data_range``.

    ``update(images, references[, mask])``: two batches of one shape, ``[N, C, H, W]``, ``[N, H, W, C]`` or any ``[N,
    ...]`` (the order of axes does not matter), uint8 or other integers, or floats. ``mask``: bool ``[N]``, False for
    images that padding repeated. Differences, squares and sums are exact, at any magnitude.

    ``result()``: ``psnr``, ``mse`` (over all pixels) and ``images``. Equal images have PSNR inf, as in scikit-image.

    Args:
        data_range: the distance of the lowest and the highest possible value, such as 255 or 1.0, from 1e-300 to 1e300.
            It is not guessed.
        average: "images": the mean of each image's PSNR, which for one image is scikit-image's
            ``peak_signal_noise_ratio``. "pixels": the PSNR of the mean squared error over all pixels of all images.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes differ, there are no pixels, a value is not finite,
            or those of one image spread over more than 1.5 times ``data_range``.
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
        self.average = one_of(average, "average", AVERAGES)
        super().__init__(
            states={"decibels": ExactSum(), "squares": exact.product_sums(2), "pixels": Count()},
            settings={"range": self.data_range, "average": average},
            distributed=distributed,
            name=name,
        )

    def _contribution(self, images: Any, references: Any, mask: Any = None, sample_ids: Any = None) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        given, wanted = _images.read_pair(images, references, mask, self.data_range)
        decibels = []
        if self.average == "images":
            decibels = [self._decibels(x.reshape(-1), y.reshape(-1)) for x, y in zip(given, wanted)]
        squares = squared_errors(given.reshape(-1), wanted.reshape(-1))
        return {"decibels": decibels, "squares": squares, "pixels": given.size, "samples": len(given)}

    def _decibels(self, x: np.ndarray, y: np.ndarray) -> float:
        total = exact.product_sums(2)
        total.add(squared_errors(x, y))
        return decibels(Fraction(exact.total(total)) / x.size, self.data_range)

    def _compute(self, states: Any) -> dict[str, Any]:
        count, pixels = states["samples"].value, states["pixels"].value
        mean_square = Fraction(exact.total(states["squares"])) / pixels
        if self.average == "images":
            value = states["decibels"].over(count)
        else:
            value = decibels(mean_square, self.data_range)
        return {"psnr": value, "mse": exact.number(mean_square), "images": count}


def squared_errors(x: np.ndarray, y: np.ndarray) -> dict[int, np.ndarray]:
    """What (x - y)^2 of each pixel adds to an exact sum of products."""
    if x.dtype.kind in "iu" and x.dtype.itemsize <= 2 and y.dtype.kind in "iu" and y.dtype.itemsize <= 2:
        differences = x.astype(np.float64) - y  # whole numbers below 2^17
        return {0: differences * differences}
    parts = exact.differences(x, y)
    return exact.joined(*(exact.products(a, b) for a, b in itertools.product(parts, parts)))


def decibels(mean_square: Fraction, data_range: float) -> float:
    """10 log10(range^2 / mean square), rounded once; inf for 0."""
    if not mean_square:
        return float("inf")
    return 10 * rounding.log(Fraction(data_range) ** 2 / mean_square, base=10)
