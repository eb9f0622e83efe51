"""Structural similarity of images."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, rounding
from mindeval.image import _images
from mindeval.metric import Metric
from mindeval.state import ExactSum

FORMATS = ("NCHW", "NHWC", "NHW")


class SSIM(Metric):
    r"""Mean structural similarity, in [-1, 1]; 1 for equal images.

    In each window, with means :math:`\mu`, variances :math:`\sigma^2` and covariance :math:`\sigma_{xy}`,
    :math:`\frac{(2\mu_x\mu_y + C_1)(2\sigma_{xy} + C_2)}{(\mu_x^2 + \mu_y^2 + C_1)(\sigma_x^2 + \sigma_y^2 + C_2)}`,
    :math:`C_i = (K_i R)^2`, R being ``data_range``. An image's SSIM is the mean over all windows that lie in it and
    over channels; the value is the mean over images.

    ``update(images, references[, mask])``: two batches of one shape, uint8 or other integers, or floats. ``mask``: bool
    ``[N]``, False for images that padding repeated. ``result()``: ``ssim`` and ``images``.

    Args:
        data_range: the distance of the lowest and the highest possible value, such as 255 or 1.0. It is not guessed.
        data_format: "NCHW", "NHWC" or "NHW".
        gaussian: False: windows of ``window`` x ``window`` equal weights (scikit-image's default). True: Gaussian
            weights of the paper, of which torchmetrics' default is the ``sample_covariance=False`` form.
        window: the odd size of windows; with ``gaussian`` it follows from ``sigma`` (11 for 1.5).
        sigma: the standard deviation of Gaussian weights, cut off at 3.5 of them.
        sample_covariance: True: variances over n - 1 (scikit-image's default); False: over n, as in the paper.
        k1: :math:`K_1`.
        k2: :math:`K_2`.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes differ or do not suit the format, images are smaller
            than a window, a value is not finite, or values spread over
            more than 1.5 times ``data_range``.
        TypeError: ``update``: if dtypes differ in kind (uint8 against floats).

    The definition is that of Wang et al., *Image quality assessment: from error visibility to structural similarity*
    (IEEE Trans. Image Process. 13, 2004), and of scikit-image's ``structural_similarity``.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    >>> ssim = SSIM(data_range=255)
    >>> image = np.arange(192, dtype=np.uint8).reshape(1, 3, 8, 8)
    >>> ssim.update(image, image)
    >>> ssim.eval()
    1.0
    """

    higher_is_better = True

    def __init__(
        self,
        data_range: float,
        data_format: str = "NCHW",
        gaussian: bool = False,
        window: int = 7,
        sigma: float = 1.5,
        sample_covariance: bool = True,
        k1: float = 0.01,
        k2: float = 0.03,
        *,
        distributed: bool | str = False,
        name: str | None = None,
    ) -> None:
        self.data_range = _images.check_range(data_range)
        if data_format not in FORMATS:
            raise ValueError(f"data_format must be one of {list(FORMATS)}, but got {data_format!r}")
        if not isinstance(window, int) or window < 3 or window % 2 == 0:
            raise ValueError(f"window must be an odd int of at least 3, but got {window!r}")
        if not sigma > 0 or k1 < 0 or k2 < 0:
            raise ValueError(f"sigma must be > 0, k1 and k2 >= 0, but got {sigma}, {k1} and {k2}")
        self.data_format, self.gaussian, self.sample_covariance = data_format, bool(gaussian), bool(sample_covariance)
        self.weights = gaussian_weights(sigma) if gaussian else np.full(window, 1 / window)
        self.constants = (k1 * self.data_range) ** 2, (k2 * self.data_range) ** 2
        settings = {
            "range": self.data_range,
            "window": f"gaussian {sigma:g}" if gaussian else window,
            "covariance": "sample" if sample_covariance else "population",
            "k": f"{k1:g},{k2:g}",
        }
        super().__init__(states={"similarity": ExactSum()}, settings=settings, distributed=distributed, name=name)

    def _contribution(self, images: Any, references: Any, mask: Any = None, sample_ids: Any = None) -> dict[str, Any]:
        inputs.refuse_sample_ids(sample_ids)
        given, wanted = _images.read_pair(images, references, mask, self.data_range)
        if given.ndim != len(self.data_format):
            raise ValueError(f"images must be {self.data_format}, but got shape {list(given.shape)}")
        if self.data_format == "NHWC":
            given, wanted = np.moveaxis(given, -1, 1), np.moveaxis(wanted, -1, 1)
        size = len(self.weights)
        if min(given.shape[-2:]) < size:
            raise ValueError(f"images must be at least {size} x {size} pixels, but got {list(given.shape[-2:])}")
        values = [self._of_image(x, y) for x, y in zip(given, wanted)]
        return {"similarity": values, "samples": len(values)}

    def _of_image(self, image: np.ndarray, reference: np.ndarray) -> float:
        count = len(self.weights) ** 2
        scale = count / (count - 1) if self.sample_covariance else 1.0
        windows = similarity_map(image, reference, self.weights, scale, self.constants)
        total = ExactSum()
        total.add(windows)
        return total.over(windows.size)

    def _compute(self, states: Any) -> dict[str, Any]:
        count = states["samples"].value
        return {"ssim": states["similarity"].over(count), "images": count}


def similarity_map(
    image: np.ndarray, reference: np.ndarray, weights: np.ndarray, scale: float, constants: tuple[float, float]
) -> np.ndarray:
    """The similarity of each window that lies inside images [..., H, W], weighted by ``weights`` along both axes."""
    mean_x, mean_y = smoothed(image, weights), smoothed(reference, weights)
    variance_x = scale * (smoothed(image * image, weights) - mean_x * mean_x)
    variance_y = scale * (smoothed(reference * reference, weights) - mean_y * mean_y)
    covariance = scale * (smoothed(image * reference, weights) - mean_x * mean_y)
    c1, c2 = constants
    above = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    below = (mean_x * mean_x + mean_y * mean_y + c1) * (variance_x + variance_y + c2)
    with np.errstate(invalid="ignore"):  # k1 = k2 = 0 and a window of zeros in both: equal
        return np.where(below == 0, 1.0, above / np.where(below == 0, 1.0, below))


def smoothed(images: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sums along both last axes, of windows inside. Term by term, so its bits depend on the image alone."""
    for axis in (-2, -1):
        moved = np.moveaxis(images, axis, -1)
        length = moved.shape[-1] - len(weights) + 1
        total = weights[0] * moved[..., :length]
        for place in range(1, len(weights)):
            total = total + weights[place] * moved[..., place : place + length]
        images = np.moveaxis(total, -1, axis)
    return images


def gaussian_weights(sigma: float) -> np.ndarray:
    """Weights exp(-x^2 / 2 sigma^2), normalised, out to 3.5 sigma."""
    radius = int(3.5 * sigma + 0.5)
    places = range(-radius, radius + 1)
    powers = [rounding.exp(Fraction(-place * place) / (2 * Fraction(sigma) ** 2)) for place in places]
    return np.array(powers) / math.fsum(powers)
