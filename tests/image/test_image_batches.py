"""What is taken of images, and what settings are told apart, whatever the batch."""

from __future__ import annotations

import numpy as np
import pytest

from mindeval.image.psnr import PSNR
from mindeval.image.ssim import SSIM

MAKE = pytest.mark.parametrize(
    ("make", "scale"),
    [
        (lambda: PSNR(1.0), 1.0),
        (lambda: PSNR(1.0, average="pixels"), 1.0),
        (lambda: SSIM(1.0), 1.0),
        (lambda: PSNR(20), 20),
        (lambda: SSIM(20), 20),
    ],
)


def images(scale: float, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """Two images of a range, and noisy ones, far from 0; of whole numbers where the range is one."""
    rng = np.random.default_rng(int(offset))
    kind = np.float32 if scale == 1.0 else np.uint8
    image, noise = scale * rng.random((2, 1, 8, 8)), scale * 0.1 * rng.random((2, 1, 8, 8))
    return (image + offset).astype(kind), (image + noise + offset).astype(kind)


@MAKE
def test_images_of_one_batch_may_lie_apart(make, scale):
    near, far = images(scale, 0), images(scale, 100)
    cut, whole, mixed = make(), make(), make()
    for part in (near, far):
        cut.update(*part)
    whole.update(*(np.concatenate(parts) for parts in zip(near, far)))
    mixed.update(*(np.concatenate(parts)[[2, 0, 3]] for parts in zip(near, far)))
    mixed.update(near[0][1:], near[1][1:])
    assert float(cut.eval()) == float(whole.eval()) == float(mixed.eval())


@MAKE
@pytest.mark.parametrize("pixel", [3.0, np.nan, np.inf])
@pytest.mark.parametrize("side", [0, 1])
def test_a_bad_image_is_refused_in_any_batch(make, scale, pixel, side):
    good = images(scale, 0)
    bad = [part[:1].copy() for part in good]
    bad[side][0, 0, 2, 3] = pixel if scale == 1.0 else 255
    metric = make()
    for place in (0, 1, 2):
        batch = [np.insert(part, place, wrong[0], axis=0) for part, wrong in zip(good, bad)]
        with pytest.raises(ValueError, match="(images|references) must (each hold values that lie within|be finite)"):
            metric.update(*batch)
        metric.update(*batch, np.arange(3) != place)
    with pytest.raises(ValueError, match="images|references"):
        metric.update(*bad)
    metric.eval()
    assert metric.result()["images"] == 6


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"gaussian": True, "sigma": 1.5}, {"gaussian": True, "sigma": np.nextafter(1.5, 2)}),
        ({"k1": 0.01}, {"k1": np.nextafter(0.01, 1)}),
        ({"k2": 0.03}, {"k2": np.nextafter(0.03, 0)}),
        ({"data_range": 1.0}, {"data_range": np.nextafter(1.0, 2)}),
    ],
)
def test_settings_an_ulp_apart_are_two_definitions(one, other):
    image, noisy = images(1.0, 0)
    made = [SSIM(**{"data_range": 1.0, **options}) for options in (one, other)]
    if "gaussian" in one:
        image, noisy = (np.tile(part, (1, 1, 2, 2)) for part in (image, noisy))
    for metric in made:
        metric.update(noisy, image)
    assert str(made[0].signature) != str(made[1].signature)
    with pytest.raises(ValueError, match="the state must be of"):
        made[0].merge(made[1])


def test_one_number_of_any_type_is_one_definition():
    made = [SSIM(1, k1=k1, k2=k2) for k1, k2 in ((0, 1), (0.0, 1.0), (np.float32(0), np.float64(1)))]
    assert len({str(metric.signature) for metric in made}) == 1
    made = [SSIM(1, gaussian=True, sigma=sigma) for sigma in (1, 1.0, np.float32(1), np.int64(1))]
    assert len({str(metric.signature) for metric in made}) == 1
