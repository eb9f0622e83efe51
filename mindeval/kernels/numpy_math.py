"""exp and log of the NumPy twin by fixed sequences of IEEE operations, and the scale that a row's exp is taken in.

mindeval/csrc/nll_rows.h explains the algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

f32, f64 = np.float32, np.float64


def _f32(text: str) -> np.float32:
    return f32(float.fromhex(text))


# exp(x) = 2^(n/8) exp(r), n = round(8x / ln2), r = x - n ln2/8; UNIT is the ulp of floats in [2, 4)
WINDOW, CENTRE, UNIT = 1024, 512, _f32("0x1p-22")
WINDOW_BITS = 0x40000000  # of floats in [2, 2 + 1024 UNIT): in the window
EIGHTHS = _f32("0x1.715476p-19")  # 8 / ln2 * UNIT
STEP_HIGH, STEP_LOW = _f32("0x1.62ep18"), _f32("0x1.0bfbe8p4")  # ln2 / 8 / UNIT = high + low
STEP, LOG_LAMBDA = float.fromhex("0x1.62e42fefa39efp-4"), float.fromhex("0x1.586353a557428p-4")
C2, C3 = _f32("0x1.000a42p-1"), _f32("0x1.555d8ap-3")
D1, D2, D3 = _f32("0x1.62e43p18"), _f32("0x1.ec0f96p35"), _f32("0x1.c6bb7cp52")
LOG2_E = f32(1.44269504)

_POWERS = np.array(  # bits of the floats lambda 2^(j/8)
    [0x3F8B3A3E, 0x3F97D424, 0x3FA59202, 0x3FB48E45, 0x3FC4E5BE, 0x3FD6B7DA, 0x3FEA26DE, 0x3FFF5829], np.uint32
)
TABLE = _POWERS - np.uint32(CENTRE // 8 << 23) - (np.arange(8, dtype=np.uint32) << np.uint32(20))


class Format(NamedTuple):
    half: bool  # 16 bits: x * high is exact
    largest: np.float32  # a larger reference needs a shift
    high: np.float32
    low: np.float32


FORMATS = {
    "float32": Format(False, f32(160), f32(1), f32(0)),
    "bfloat16": Format(True, f32(160), _f32("0x1.7154p-19"), _f32("0x1.d94aep-37")),
    "float16": Format(True, f32(128), _f32("0x1.715p-19"), _f32("0x1.1d94aep-33")),
}


@dataclass
class Frame:
    """The scale of each row of a group, all of shape [R]."""

    reference: np.ndarray
    shift: np.ndarray
    eighths: np.ndarray
    magic: np.ndarray
    lowest: np.ndarray

    @classmethod
    def around(cls, reference: np.ndarray, shift: np.ndarray) -> Frame:
        eighths = f32(8) * np.floor(reference * LOG2_E + f32(0.5))
        magic = f32(2) + (f32(CENTRE) - eighths) * UNIT
        lowest = ((eighths.astype(f64) - CENTRE + 2) * STEP).astype(f32)
        return cls(reference, shift, eighths, magic, lowest)

    def __getitem__(self, rows: np.ndarray) -> Frame:
        return Frame(*(values[rows] for values in vars(self).values()))


def scaled_exp(x: np.ndarray, magic: np.ndarray, form: Format) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """exp(x) in the row's scale, the bits that tell whether x was in the window, and x for the entropy."""
    logit = x * form.high if form.half else x
    rounded = (logit if form.half else x * EIGHTHS) + magic
    n = rounded - magic
    bits = rounded.view(np.uint32)
    s = ((bits << np.uint32(20)) + TABLE[bits & np.uint32(7)]).view(f32)
    if form.half:
        r = (logit - n) + x * form.low
        q = ((r * D3 + D2) * r + D1) * r
    else:
        r = (x - n * STEP_HIGH) - n * STEP_LOW
        q = (r * r) * (r * C3 + C2) + r
    return s + s * q, bits, logit


def log_of(x: np.ndarray) -> np.ndarray:
    """log(x) for finite x > 0, by a fixed sequence of operations (the coefficients are fdlibm's)."""
    bits = x.view(np.int64)
    k = (bits >> 52) - 1023
    m = ((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(f64)
    large = m > 1.4142135623730951
    m = np.where(large, m * 0.5, m)
    k = (k + large).astype(f64)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    series: np.ndarray = np.full_like(z, 1.479819860511658591e-01)
    for coefficient in (
        1.531383769920937332e-01,
        1.818357216161805012e-01,
        2.222219843214978396e-01,
        2.857142874366239149e-01,
        3.999999999940941908e-01,
        6.666666666666735130e-01,
    ):
        series = coefficient + z * series
    series = z * series
    return k * 6.93147180369123816490e-01 - (
        (half_square - (s * (half_square + series) + k * 1.90821492927058770002e-10)) - f
    )


def log_of_one_plus(x: np.ndarray) -> np.ndarray:
    u = 1.0 + x
    return np.where(u == 1.0, x, log_of(u) + (x - (u - 1.0)) / u)
