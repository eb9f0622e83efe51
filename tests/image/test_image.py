"""PSNR and SSIM against scikit-image and plain definitions, embedding similarity against NumPy."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mindspore as ms
import numpy as np
import pytest

from mindeval.image.embedding import EmbeddingSimilarity
from mindeval.image.psnr import PSNR
from mindeval.image.ssim import SSIM

LAYOUTS = {"NCHW": (0, 3, 1, 2), "NHWC": (0, 1, 2, 3)}


def pair(seed: int, dtype: str, shape=(2, 17, 20, 3)) -> tuple[np.ndarray, np.ndarray, float]:
    """A batch NHWC, a noisy copy, and the range."""
    rng = np.random.default_rng(seed)
    image = rng.random(shape) if seed % 2 else np.broadcast_to(np.linspace(0, 1, shape[2])[:, None], shape)
    noisy = np.clip(image + 0.1 * rng.normal(size=shape), 0, 1)
    if dtype == "uint8":
        return (255 * image).astype(np.uint8), (255 * noisy).astype(np.uint8), 255.0
    return image.astype(dtype), noisy.astype(dtype), 1.0


dtypes = pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
layouts = pytest.mark.parametrize("layout", LAYOUTS)


@dtypes
@layouts
def test_psnr_equals_scikit_image(dtype, layout):
    metrics = pytest.importorskip("skimage.metrics")
    for seed in range(4):
        image, noisy, data_range = pair(seed, dtype)
        expected = np.mean([metrics.peak_signal_noise_ratio(a, b, data_range=data_range) for a, b in zip(image, noisy)])
        order = LAYOUTS[layout]
        value = PSNR(data_range)(noisy.transpose(order), image.transpose(order))
        assert value == pytest.approx(expected, abs=1e-6)
        whole = metrics.peak_signal_noise_ratio(image, noisy, data_range=data_range)
        assert PSNR(data_range, average="pixels")(noisy, image) == pytest.approx(whole, abs=1e-6)


@dtypes
@layouts
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {}),
        ({"window": 11}, {"win_size": 11}),
        ({"sample_covariance": False}, {"use_sample_covariance": False}),
        ({"gaussian": True}, {"gaussian_weights": True}),
        (
            {"gaussian": True, "sigma": 1.0, "sample_covariance": False},
            {"gaussian_weights": True, "sigma": 1.0, "use_sample_covariance": False},
        ),
        ({"k1": 0.02, "k2": 0.05}, {"K1": 0.02, "K2": 0.05}),
    ],
)
def test_ssim_equals_scikit_image(dtype, layout, ours, theirs):
    metrics = pytest.importorskip("skimage.metrics")
    for seed in range(4):
        image, noisy, data_range = pair(seed, dtype)
        wide = image.astype(np.float64), noisy.astype(np.float64)  # scikit-image computes float32 images in float32
        expected = np.mean(
            [
                metrics.structural_similarity(a, b, data_range=data_range, channel_axis=-1, **theirs)
                for a, b in zip(*wide)
            ]
        )
        order = LAYOUTS[layout]
        value = SSIM(data_range, layout, **ours)(noisy.transpose(order), image.transpose(order))
        assert value == pytest.approx(expected, abs=1e-6)


def test_ssim_is_the_definition_on_every_window():
    image, noisy, _ = pair(1, "float64", (1, 9, 8, 1))
    x, y = image[0, :, :, 0], noisy[0, :, :, 0]
    values = []
    for row in range(9 - 6):
        for column in range(8 - 6):
            a, b = (part[row : row + 7, column : column + 7].ravel() for part in (x, y))
            covariance = np.cov(a, b)
            above = (2 * a.mean() * b.mean() + 1e-4) * (2 * covariance[0, 1] + 9e-4)
            below = (a.mean() ** 2 + b.mean() ** 2 + 1e-4) * (covariance[0, 0] + covariance[1, 1] + 9e-4)
            values.append(above / below)
    assert SSIM(1.0, "NHW")(y[None], x[None]) == pytest.approx(np.mean(values), abs=1e-12)


def test_psnr_of_a_known_error():
    # uint8 differences of 200 do not wrap: MSE 40000, 10 log10(65025 / 40000) = 2.1102...
    value = PSNR(255)(np.full((1, 4, 4), 220, np.uint8), np.full((1, 4, 4), 20, np.uint8))
    assert value == pytest.approx(10 * math.log10(65025 / 40000), rel=1e-15)


def test_equal_images_have_the_documented_values():
    image = pair(1, "uint8")[0]
    assert PSNR(255)(image, image) == math.inf
    assert SSIM(255, "NHWC")(image, image) == 1.0
    flat = np.zeros((1, 1, 8, 8), np.float32)
    assert SSIM(1.0)(flat, flat) == 1.0
    assert SSIM(1.0, k1=0, k2=0)(flat, flat) == 1.0


@pytest.mark.parametrize("make", [lambda: PSNR(1.0), lambda: PSNR(1.0, average="pixels"), lambda: SSIM(1.0, "NHWC")])
def test_batches_order_and_padding_do_not_matter(make):
    image, noisy, _ = pair(3, "float32", (5, 12, 12, 3))
    whole = make()
    whole.update(noisy, image)
    parts = make()
    for place in (4, 1, 0, 3, 2):
        parts.update(ms.Tensor(noisy[place : place + 1]), ms.Tensor(image[place : place + 1]))
    padded = make()
    repeated = np.concatenate([np.arange(5), [0, 1]])
    padded.update(noisy[repeated], image[repeated], np.arange(7) < 5)
    assert float(whole.eval()) == float(parts.eval()) == float(padded.eval())
    assert padded.result()["samples"] == 5


def test_images_of_different_sizes_weigh_the_same_in_the_mean_over_images():
    small, large = pair(1, "float64", (1, 10, 10, 1)), pair(3, "float64", (1, 30, 30, 1))
    metric = SSIM(1.0, "NHWC")
    for image, noisy, _ in (small, large):
        metric.update(noisy, image)
    each = [SSIM(1.0, "NHWC")(noisy, image) for image, noisy, _ in (small, large)]
    assert metric.eval() == pytest.approx(sum(each) / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("make", "images", "references", "message"),
    [
        (lambda: PSNR(1.0), np.zeros((1, 4, 4)), np.zeros((1, 4, 5)), "must have one shape"),
        (
            lambda: PSNR(1.0),
            np.zeros((1, 2)),
            np.array([[0.0, 255.0]]),
            "but one holds values from 0 to 255",
        ),
        (lambda: PSNR(1.0), np.zeros((1, 2)), np.array([[0.0, np.nan]]), "must be finite"),
        (lambda: SSIM(1.0), np.zeros((1, 3, 6, 9)), np.zeros((1, 3, 6, 9)), "at least 7 x 7 pixels"),
        (lambda: SSIM(1.0), np.zeros((1, 9, 9)), np.zeros((1, 9, 9)), "must be NCHW"),
        (lambda: PSNR(1.0), np.zeros((0, 4, 4)), np.zeros((0, 4, 4)), "with pixels in them"),
    ],
)
def test_bad_images_are_refused(make, images, references, message):
    with pytest.raises(ValueError, match=message):
        make().update(images, references)


def test_images_of_two_kinds_are_refused():
    with pytest.raises(TypeError, match="both be integers or both floats"):
        PSNR(255).update(np.zeros((1, 4, 4), np.uint8), np.zeros((1, 4, 4), np.float32))


@pytest.mark.parametrize(
    "make",
    [
        lambda: PSNR(0),
        lambda: PSNR(1.0, average="all"),
        lambda: SSIM(1.0, "CHW"),
        lambda: SSIM(1.0, window=8),
        lambda: SSIM(math.nan),
        lambda: EmbeddingSimilarity(scale=0),
    ],
)
def test_unknown_arguments_are_refused(make):
    with pytest.raises(ValueError, match="but got"):
        make()


# -- embeddings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 512])
def test_similarity_is_the_mean_cosine(dtype, width):
    rng = np.random.default_rng(width)
    x, y = rng.normal(size=(9, width)).astype(dtype), rng.normal(size=(9, width)).astype(dtype)
    wide = x.astype(np.float64), y.astype(np.float64)
    cosine = (wide[0] * wide[1]).sum(1) / np.linalg.norm(wide[0], axis=1) / np.linalg.norm(wide[1], axis=1)
    assert EmbeddingSimilarity()(x, y) == pytest.approx(cosine.mean(), abs=1e-12)
    assert EmbeddingSimilarity(2.5, floor=True)(x, y) == pytest.approx(2.5 * np.maximum(cosine, 0).mean(), abs=1e-12)


def test_similarity_neither_overflows_nor_vanishes():
    assert EmbeddingSimilarity()(np.array([[1e200, 1e200]]), np.array([[1e-200, 1e-200]])) == pytest.approx(1.0)


def test_padded_pairs_do_not_count():
    metric = EmbeddingSimilarity()
    metric.update([[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]], np.array([True, False]))
    assert metric.eval() == 1.0
    assert metric.result()["pairs"] == 1


def test_bfloat16_embeddings_are_taken():
    x = ms.Tensor([[1.0, 2.0]], ms.bfloat16)
    assert EmbeddingSimilarity()(x, x) == pytest.approx(1.0)


@pytest.mark.parametrize("make", [lambda: PSNR(255), lambda: SSIM(255), EmbeddingSimilarity])
def test_sample_ids_that_sums_cannot_honour_are_refused(make):
    images = np.zeros((1, 3, 16, 16), np.uint8)
    with pytest.raises(ValueError, match="sample_ids were given, .* leave repeated samples out by a mask"):
        make().update(images, images, None, [0])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[1.0, 0.0]], [[0.0, 0.0]], "references must not be zero vectors"),
        ([[1.0, math.nan]], [[1.0, 0.0]], "embeddings must be finite"),
        ([[1.0, 0.0]], [[1.0]], "must have one shape"),
        ([1.0, 0.0], [1.0, 0.0], "must have one shape"),
    ],
)
def test_bad_embeddings_are_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingSimilarity().update(x, y)


def exact_ssim(x: np.ndarray, y: np.ndarray, data_range: float, window: int, k1: float, k2: float) -> Fraction:
    """The definition in fractions, of images [H, W] with windows of equal weights and sample covariance."""
    first, second = ((Fraction(k) * Fraction(data_range)) ** 2 for k in (k1, k2))
    values = []
    for top, left in itertools.product(*(range(size - window + 1) for size in x.shape)):
        a, b = (
            [Fraction(v) for v in part[top : top + window, left : left + window].reshape(-1).tolist()]
            for part in (x, y)
        )
        n = len(a)
        mean_a, mean_b = sum(a) / n, sum(b) / n
        var_a, var_b = sum((v - mean_a) ** 2 for v in a) / (n - 1), sum((v - mean_b) ** 2 for v in b) / (n - 1)
        covariance = sum((v - mean_a) * (w - mean_b) for v, w in zip(a, b)) / (n - 1)
        above = (2 * mean_a * mean_b + first) * (2 * covariance + second)
        values.append(above / ((mean_a**2 + mean_b**2 + first) * (var_a + var_b + second)))
    return sum(values) / len(values)


@pytest.mark.parametrize("k", [(0.01, 0.03), (0.0, 0.0)])
@pytest.mark.parametrize(
    ("offset", "data_range"),
    [(0, 1.0), (1e8, 1.0), (-1e12, 1.0), (1e100, 1e90), (0, 1e200), (0, 1e-200), (1e250, 1e250), (1e-150, 1e-160)],
)
def test_ssim_is_that_of_fractions_at_any_magnitude_and_distance_from_0(offset, data_range, k):
    rng = np.random.default_rng(0)
    image, other = (offset + data_range * rng.random((5, 6)) for _ in range(2))
    other = (image + other) / 2
    value = SSIM(data_range, "NHW", window=3, k1=k[0], k2=k[1])(image[None], other[None])
    assert value == pytest.approx(float(exact_ssim(image, other, data_range, 3, *k)), abs=1e-9)


@pytest.mark.parametrize(("dtype", "offset"), [(np.int64, 2**62), (np.uint64, 2**63), (np.int64, -(2**60)), (int, 0)])
def test_ssim_and_psnr_of_integers_that_float64_cannot_hold_are_those_of_fractions(dtype, offset):
    rng = np.random.default_rng(1)
    image, other = (rng.integers(0, 256, (5, 6)).astype(dtype) + dtype(offset) for _ in range(2))
    value = SSIM(255, "NHW", window=3)(image[None], other[None])
    assert value == pytest.approx(float(exact_ssim(image, other, 255, 3, 0.01, 0.03)), abs=1e-9)
    square = sum((a - b) ** 2 for a, b in zip(image.reshape(-1).tolist(), other.reshape(-1).tolist()))
    for average in ("images", "pixels"):
        psnr = PSNR(255, average=average)
        assert psnr(image[None], other[None]) == pytest.approx(10 * math.log10(255**2 * 30 / square), rel=1e-14)


def test_psnr_tells_integers_apart_that_are_one_float():
    # a difference of 1 in one of four pixels: 10 log10(255^2 / (1/4))
    image = np.array([[2**62, 2**62, 2**62, 2**62 + 1]])
    assert PSNR(255)(image, np.full((1, 4), 2**62)) == pytest.approx(10 * math.log10(255**2 * 4), rel=1e-15)
    unsigned = np.uint64([[2**64 - 1, 2**64 - 1, 2**64 - 1, 2**64 - 2]])
    assert PSNR(255)(unsigned, np.full((1, 4), 2**64 - 1, np.uint64)) == pytest.approx(
        10 * math.log10(255**2 * 4), rel=1e-15
    )


@pytest.mark.parametrize("average", ["images", "pixels"])
@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e300, 1e-300, 1.0])
def test_psnr_is_that_of_fractions_at_any_magnitude(average, scale):
    image, other = scale * np.array([[0.25, 0.5, 1.0]]), scale * np.array([[0.5, 0.5, 0.75]])
    mean = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(image[0].tolist(), other[0].tolist())) / 3
    expected = 10 * math.log10(float(Fraction(scale) ** 2 / mean))
    assert PSNR(scale, average=average)(image, other) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PSNR(None), "For 'PSNR', data_range .* must be a finite number, but got None"),
        (lambda: PSNR([255]), r"For 'PSNR', data_range .* must be a finite number, but got \[255\]"),
        (lambda: PSNR("255"), "For 'PSNR', data_range .* must be a finite number, but got '255'"),
        (lambda: PSNR(True), "For 'PSNR', data_range .* must be a finite number, but got True"),
        (lambda: PSNR(10**400), "For 'PSNR', data_range .* must be a finite number, but got 1"),
        (lambda: SSIM(1e301), "For 'SSIM', data_range must be a number from 1e-300 to 1e"),
        (lambda: PSNR(255, average=["images"]), "For 'PSNR', average must be one of"),
        (lambda: SSIM(255, np.zeros(2)), "For 'SSIM', data_format must be one of"),
        (lambda: SSIM(255, k1="a"), "For 'SSIM', k1 must be a finite number, but got 'a'"),
        (lambda: SSIM(255, k1=math.nan), "For 'SSIM', k1 must be a finite number, but got nan"),
        (lambda: SSIM(255, k2=math.inf), "For 'SSIM', k2 must be a finite number, but got inf"),
        (lambda: SSIM(255, k2=-0.1), r"For 'SSIM', k2 must be >= 0"),
        (lambda: SSIM(1e300, k2=1e10), r"For 'SSIM', k2 must be >= 0, and k2 \* data_range finite"),
        (lambda: SSIM(255, gaussian=True, sigma=math.inf), "For 'SSIM', sigma must be a finite number, but got inf"),
        (lambda: SSIM(255, gaussian=True, sigma=1e9), "For 'SSIM', sigma must be a number from 1/7 to 1000"),
        (lambda: SSIM(255, gaussian=True, sigma=0.1), "For 'SSIM', sigma must be a number from 1/7 to 1000"),
        (lambda: SSIM(255, window=1), "For 'SSIM', window must be an odd int from 3"),
        (lambda: SSIM(255, window=10**12 + 1), "For 'SSIM', window must be an odd int from 3"),
        (lambda: EmbeddingSimilarity(None), "For 'EmbeddingSimilarity', scale must be a finite number, but got None"),
        (lambda: EmbeddingSimilarity("a"), "For 'EmbeddingSimilarity', scale must be a finite number, but got 'a'"),
        (lambda: EmbeddingSimilarity(True), "For 'EmbeddingSimilarity', scale must be a finite number, but got True"),
    ],
)
def test_arguments_that_are_no_such_numbers_are_refused_by_name(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_numpy_integers_are_windows_and_the_smallest_gaussian_window_has_3_pixels():
    image, noisy, data_range = pair(1, "float64")
    assert SSIM(data_range, "NHWC", window=np.int64(5))(noisy, image) == SSIM(data_range, "NHWC", window=5)(
        noisy, image
    )
    assert len(SSIM(data_range, gaussian=True, sigma=1 / 7).weights) == 3
