"""Structural similarity of images."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from mindeval import inputs, rounding
from mindeval.constructors import finite_number, one_of
from mindeval.image import _images
from mindeval.metric import Metric
from mindeval.state import ExactSum

FORMATS = ("NCHW", "NHWC", "NHW")
_WIDEST = 1 << 15  # of windows, in pixels


class SSIM(Metric):
    r"""Mean structural similarity, in [-1, 1]; 1 for equal images.

    In each window, with means :math:`\mu`, variances :math:`\sigma^2` and covariance :math:`\sigma_{xy}`,
    :math:`\frac{(2\mu_x\mu_y + C_1)(2\sigma_{xy} + C_2)}{(\mu_x^2 + \mu_y^2 + C_1)(\sigma_x^2 + \sigma_y^2 + C_2)}`,
    :math:`C_i = (K_i R)^2`, R being ``data_range``. An image's SSIM is the mean over all windows that lie in it and
    over channels; the value is the mean over images.

    ``update(images, references[, mask])``: two batches of one shape, uint8 or other integers, or floats. ``mask``: bool
    ``[N]``, False for images that padding repeated. ``result()``: ``ssim`` and ``images``.

    Args:
        data_range: the distance of the lowest and the highest possible value, such as 255 or 1.0, from 1e-300 to 1e300.
            It is not guessed.
        data_format: "NCHW", "NHWC" or "NHW".
        gaussian: False: windows of ``window`` x ``window`` equal weights (scikit-image's default). True: Gaussian
            weights of the paper, of which torchmetrics' default is the ``sample_covariance=False`` form.
        window: the odd size of windows, from 3; with ``gaussian`` it follows from ``sigma`` (11 for 1.5).
        sigma: the standard deviation of Gaussian weights, cut off at 3.5 of them; from 1/7 (windows of 3) to 1,000.
        sample_covariance: True: variances over n - 1 (scikit-image's default); False: over n, as in the paper.
        k1: :math:`K_1`, finite and >= 0. With 0, means of 0 in both are alike.
        k2: :math:`K_2`, finite and >= 0. With 0, variances of 0 in both are alike.
        distributed: ``True`` or the name of a group; see ``Metric.set_distributed``.
        name: the metric's name in messages.

    Raises:
        ValueError: for unknown arguments; ``update``: if shapes differ or do not suit the format, images are smaller
            than a window, a value is not finite, or those of one image spread over more than 1.5 times
            ``data_range``.
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
        self.data_format = one_of(data_format, "data_format", FORMATS)
        window, sigma = inputs.whole_number(window, "window"), finite_number(sigma, "sigma")
        if not 3 <= window < _WIDEST or window % 2 == 0:
            raise ValueError(f"window must be an odd int from 3 to {_WIDEST - 1}, but got {window}")
        if not 1 / 7 <= sigma <= 1000:
            raise ValueError(f"sigma must be a number from 1/7 to 1000, but got {sigma}")
        self.gaussian, self.sample_covariance = gaussian, sample_covariance
        self.weights = gaussian_weights(sigma) if gaussian else np.full(window, 1 / window)
        k1, k2 = finite_number(k1, "k1"), finite_number(k2, "k2")
        self.roots = _root(k1, "k1", self.data_range), _root(k2, "k2", self.data_range)
        settings = {
            "range": self.data_range,
            "window": f"gaussian {sigma}" if gaussian else window,
            "covariance": "sample" if sample_covariance else "population",
            "k": f"{k1},{k2}",
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
        windows = similarity_map(image, reference, self.weights, scale, self.roots)
        total = ExactSum()
        total.add(windows)
        return total.over(windows.size)

    def _compute(self, states: Any) -> dict[str, Any]:
        count = states["samples"].value
        return {"ssim": states["similarity"].over(count), "images": count}


def similarity_map(
    image: np.ndarray, reference: np.ndarray, weights: np.ndarray, scale: float, roots: tuple[float, float]
) -> np.ndarray:
    """The similarity of each window that lies inside images [..., H, W], weighted by ``weights`` along both axes.

    Variances are those of differences from a pixel, which cancel nothing however far from 0 the pixels are.

    Args:
        scale: what variances over n are multiplied by.
        roots: the roots of C1 and C2.
    """
    origins = [part[..., :1, :1] for part in (image, reference)]
    x, y = (_images.offsets(part, origin) for part, origin in zip((image, reference), origins))
    mean_x, mean_y = smoothed(x, weights), smoothed(y, weights)
    means = _comparison(origins[0] + mean_x, origins[1] + mean_y, roots[0])
    (x, mean_x, y, mean_y), root = _scaled(roots[1], x, mean_x, y, mean_y)
    variances = scale * (smoothed(x * x, weights) - mean_x * mean_x + (smoothed(y * y, weights) - mean_y * mean_y))
    covariance = scale * (smoothed(x * y, weights) - mean_x * mean_y)
    return means * _quotient(2 * covariance + root * root, variances + root * root)


def _comparison(x: np.ndarray, y: np.ndarray, root: float) -> np.ndarray:
    """(2 x y + c) / (x^2 + y^2 + c)."""
    (x, y), root = _scaled(root, x, y)
    return _quotient(2 * x * y + root * root, x * x + y * y + root * root)


def _scaled(root: float, *parts: np.ndarray) -> tuple[list[np.ndarray], float]:
    """All divided by a power of two, so that the largest lies in [1/2, 1): no square overflows, nor do all vanish."""
    power = -int(np.frexp(max(root, *(np.abs(part).max() for part in parts)))[1])
    return [np.ldexp(part, power) for part in parts], float(np.ldexp(root, power))


def _quotient(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below; 1 where nothing differs and nothing is added: 0 / 0."""
    return np.where(below == 0, 1.0, above / np.where(below == 0, 1.0, below))


def _root(k: float, what: str, data_range: float) -> float:
    root = k * data_range
    if not 0 <= root < math.inf:
        raise ValueError(f"{what} must be >= 0, and {what} * data_range finite, but got {what}={k!r}")
    return root


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
