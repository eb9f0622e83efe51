"""The native kernel and its NumPy twin give the same bits, whatever the registers, threads, strides and FPU flags."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

import mindspore as ms
import numpy as np
import pytest
from logit_rows import FORMATS, kinds, labels_for, rows, strange, to_format

from mindeval.kernels import TokenStats, native, numpy_twin, token_nll

needs_native = pytest.mark.skipif(not native.available(), reason="the native kernel is not built")
every_format = pytest.mark.parametrize("name", FORMATS)
pytestmark = needs_native

X86 = platform.machine() == "x86_64"
WIDTHS = [w for w in (4, 8, 16) if native.available() and w <= native.library().mindeval_width()]


def words(values: np.ndarray | None) -> list:
    """The bits of an array, all NaNs being alike."""
    return [] if values is None else np.where(np.isnan(values), np.nan, values).view(np.int64).tolist()


def same_bits(a: TokenStats, b: TokenStats) -> bool:
    return all((x is None) == (y is None) and words(x) == words(y) for x, y in zip(a, b))


def check(stored: np.ndarray, labels: np.ndarray) -> None:
    given = rows(stored, labels)
    twin = numpy_twin.token_nll(given, True, True)
    for width in WIDTHS:
        assert same_bits(native.token_nll(given, True, True, width), twin), f"{width} floats in a register"


@every_format
def test_every_tail(name):
    """V from 1 to 70: less than a block of 128 logits, that is."""
    for size in range(1, 71):
        for kind in range(5):
            stored = strange(size, 3, name, 1000 * size + kind)
            check(stored, np.arange(3) % size)


@every_format
@pytest.mark.parametrize("size", [127, 128, 129, 255, 2047, 2048, 2049, 2175, 2176, 2177, 4096, 4225])
def test_every_kind_around_blocks_and_chunks(name, size):
    for _, x in kinds(size, 4, size):
        stored = to_format(x, name)
        check(stored, labels_for(stored, size))
    for kind in range(10):
        check(strange(size, 4, name, kind), np.array([0, size - 1, size // 2, size // 3]))


@every_format
@pytest.mark.parametrize("size", [32000, 151936])
def test_real_vocabularies(name, size):
    for _, x in kinds(size, 2, size):
        stored = to_format(x, name)
        given = rows(stored, labels_for(stored, size))
        assert same_bits(native.token_nll(given, True, True), numpy_twin.token_nll(given, True, True))


@every_format
def test_optional_outputs_leave_the_nll_alone(name):
    stored = to_format(np.concatenate([x for _, x in kinds(5000, 2, 5)]), name)
    given = rows(stored, labels_for(stored, 6))
    full = native.token_nll(given, True, True)
    assert full.rank is not None and full.entropy is not None
    for rank in (False, True):
        for entropy in (False, True):
            want = TokenStats(full.nll, full.rank if rank else None, full.entropy if entropy else None)
            assert same_bits(native.token_nll(given, rank, entropy), want)
            assert same_bits(numpy_twin.token_nll(given, rank, entropy), want)


@every_format
def test_number_of_threads(name, monkeypatch):
    stored = to_format(np.concatenate([x for _, x in kinds(3000, 12, 1)]), name)
    given = rows(stored, labels_for(stored, 2))
    results = []
    for threads in ("1", "2", "3", "5"):
        monkeypatch.setenv("MINDEVAL_NUM_THREADS", threads)
        results.append(native.token_nll(given, True, True))
    assert all(same_bits(result, results[0]) for result in results)


@every_format
def test_batches_and_order(name):
    stored = to_format(np.concatenate([x for _, x in kinds(700, 3, 2)]), name)
    labels = labels_for(stored, 3)
    whole = native.token_nll(rows(stored, labels), True, True)
    for k in range(len(stored)):
        alone = native.token_nll(rows(stored[k : k + 1], labels[k : k + 1]), True, True)
        assert same_bits(alone, TokenStats(*(values[k : k + 1] for values in whole)))


@contextmanager
def fpu(mask: int) -> Iterator[None]:
    """Bits of x86's MXCSR set in this thread, by way of glibc's fenv_t, whose last four bytes it is."""
    libm = ctypes.CDLL("libm.so.6")
    saved, changed = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
    libm.fegetenv(saved)
    libm.fegetenv(changed)
    register = ctypes.c_uint32.from_buffer(changed, 28)
    register.value |= mask
    libm.fesetenv(changed)
    try:
        yield
    finally:
        libm.fesetenv(saved)


@pytest.mark.skipif(not X86 or platform.libc_ver()[0] != "glibc", reason="sets x86's MXCSR by glibc's fesetenv")
@pytest.mark.parametrize(("flags", "mask"), [("flush to zero", 0x8040), ("round toward zero", 0x6000)])
@every_format
def test_flags_of_the_calling_thread(name, flags, mask, monkeypatch):
    cases = [
        to_format(x, name) for kind, x in kinds(1500, 3, 9) if kind in ("normal", "tiny", "first third masked by -inf")
    ]
    cases += [strange(1500, 4, name, seed) for seed in (2, 7)]  # subnormals
    for threads in ("1", "2"):
        monkeypatch.setenv("MINDEVAL_NUM_THREADS", threads)
        for stored in cases:
            given = rows(stored, np.arange(len(stored)))
            want = native.token_nll(given, True, True)
            with fpu(mask):
                tiny = np.float32(1e-38) * np.float32(0.01)
                got = native.token_nll(given, True, True)
                twin = numpy_twin.token_nll(given, True, True) if mask == 0x8040 else want
                third = np.float32(1) / np.float32(3)
            assert (tiny == 0) if mask == 0x8040 else third == np.float32(0.3333333), "the flags must have been on"
            assert same_bits(got, want)
            assert same_bits(twin, want)


def tensor(stored: np.ndarray, name: str) -> ms.Tensor:
    """A MindSpore tensor with these bits."""
    if name != "bfloat16":
        return ms.Tensor(stored)
    return ms.Tensor((stored.astype(np.uint32) << 16).view(np.float32)).astype(ms.bfloat16)


@every_format
def test_tensors_and_their_views(name):
    x = to_format(next(iter(kinds(600, 24, 4)))[1], name)
    labels = np.random.default_rng(0).integers(0, 500, (4, 6))
    cube, given = x.reshape(4, 6, 600), tensor(x.reshape(4, 6, 600), name)
    flat = native.token_nll(rows(x, labels.reshape(-1)), True, True)
    want = TokenStats(*(values.reshape(4, 6) for values in flat))
    assert same_bits(token_nll(given, ms.Tensor(labels), rank=True, entropy=True), want)
    assert same_bits(token_nll(given, ms.Tensor(labels.astype(np.int32)), rank=True, entropy=True), want)

    shifted = token_nll(given[:, :-1], labels[:, :-1], rank=True, entropy=True)
    assert same_bits(shifted, TokenStats(*(values[:, :-1] for values in want)))
    swapped = token_nll(given.transpose(1, 0, 2), labels.T, rank=True, entropy=True)
    assert same_bits(swapped, TokenStats(*(values.T for values in want)))
    last = token_nll(given[3, 5], labels[3, 5], rank=True, entropy=True)
    assert same_bits(last, TokenStats(*(values[3, 5] for values in want)))

    narrow = native.token_nll(rows(np.ascontiguousarray(x[:, :517]), labels.reshape(-1)), True, True)
    padded = token_nll(given, labels, vocab_size=517, rank=True, entropy=True)
    assert same_bits(padded, TokenStats(*(values.reshape(4, 6) for values in narrow)))
    if name != "bfloat16":
        assert same_bits(token_nll(cube, labels, rank=True, entropy=True), want)


@pytest.mark.parametrize("back_end", ["native", "numpy"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_strides_of_arrays(dtype, back_end, monkeypatch):
    monkeypatch.setenv("MINDEVAL_KERNEL", back_end)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 5, 400)).astype(dtype)
    labels = rng.integers(0, 400, (3, 5))
    labels[1, 2] = -100
    want = token_nll(x, labels, rank=True, entropy=True)
    room = np.zeros((3, 5, 801), dtype)
    room[..., 1::2] = x
    views = {
        "columns two apart": room[..., 1::2],
        "Fortran order": np.asfortranarray(x),
        "rows backwards": x[:, ::-1].copy()[:, ::-1],
        "columns backwards": x[..., ::-1].copy()[..., ::-1],
        "big-endian": x.astype(x.dtype.newbyteorder(">")),
        "unaligned": np.frombuffer(b"\0" + x.tobytes(), [("skipped", "u1"), ("x", dtype, x.shape)], 1)["x"][0],
        "read-only": np.broadcast_to(x, x.shape),
    }  # fmt: skip
    for kind, view in views.items():
        np.testing.assert_array_equal(view, x)
        assert same_bits(token_nll(view, labels, rank=True, entropy=True), want), kind
    one = np.broadcast_to(x[0, 0], (3, 5, 400))
    assert same_bits(token_nll(one, labels), token_nll(one.copy(), labels))


@pytest.mark.parametrize(("name", "infinity"), [("bfloat16", 0x7F80), ("float16", 0x7C00)])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_bits_next_to_those_of_infinity_are_nan_in_every_place(name, infinity, width):
    """The maximum of 16-bit logits is found among integers, where NaN lies just outside of the infinities."""
    if width > native.library().mindeval_width():
        pytest.skip(f"this processor has no registers of {width} floats")
    one = 0x3C00 if name == "float16" else 0x3F80
    stored = np.full((4 * 256, 256), 0x8000 | infinity, np.uint16)  # -inf
    stored[:, 255] = one  # the first block is no guide to the row: its maximum is looked for
    labels = np.full(len(stored), 255)
    for k, bits in enumerate((infinity + 1, 0x8000 | (infinity + 1), infinity - 1, 0x8000 | (infinity - 1))):
        stored[256 * k + np.arange(255), np.arange(255)] = bits
    got = native.token_nll(rows(stored if name == "bfloat16" else stored.view(np.float16), labels), False, False, width)
    nan, largest, most_negative = np.isnan(got.nll[:512]), got.nll[512:768], got.nll[768:]
    assert np.flatnonzero(~nan).tolist() == [255, 511]  # the two rows without NaN
    np.testing.assert_allclose(largest[:255], (2.0**128 - 2.0**120 if name == "bfloat16" else 65504) - 1, 1e-12, 1e-7)
    assert (most_negative == 0).all()  # and weighs nothing
