"""Which back end computes what: decided by device, dtype and the environment, never by trying an operator."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from . import ascend_files, native
from .rows import FORMATS, is_tensor

__all__ = ["BackEnd", "info"]

BACK_ENDS = ("native", "numpy", "mindspore", "ascend")
OVERRIDE = "MINDEVAL_KERNEL"


class BackEnd(NamedTuple):
    """The back end that ``token_nll`` uses for logits on a device, and why."""

    device: str
    dtype: str
    name: str
    reason: str


def override() -> str | None:
    """The back end named by ``MINDEVAL_KERNEL``, if any."""
    name = os.environ.get(OVERRIDE) or None
    if name is not None and name not in BACK_ENDS:
        raise ValueError(f"{OVERRIDE} must be one of {', '.join(BACK_ENDS)}, but got '{name}'")
    return name


def on_host() -> str:
    """The back end that counts and sorts integers on the host: "native" or "numpy", which give the same."""
    return "native" if override() in (None, "native") and native.available() else "numpy"


def device_of(logits: Any) -> str:
    """Where the logits are: NumPy arrays on the CPU, tensors on MindSpore's device."""
    if not is_tensor(logits):
        return "CPU"
    return str(sys.modules["mindspore"].get_context("device_target"))


def choose(device: str, dtype: str) -> BackEnd:
    """The back end for logits of a dtype on a device."""
    forced = override()
    if dtype == "float64" and device == "CPU" and forced != "mindspore":
        return BackEnd(device, dtype, "float64", "the only one for float64: NumPy, error below 1e-12 nat")
    if forced == "ascend" and device != "Ascend":
        raise RuntimeError(f"{OVERRIDE}=ascend needs logits on an Ascend device, but they are on {device}")
    if forced in (None, "ascend") and device == "Ascend":
        return on_ascend(dtype, forced)
    if forced in ("native", "numpy") and device != "CPU":
        raise RuntimeError(f"{OVERRIDE}={forced} needs logits on the CPU, but they are on {device}")
    if forced == "native":
        if not native.available():
            raise RuntimeError(f"{OVERRIDE}=native, but the native kernel is {native.describe()}")
        return BackEnd(device, dtype, forced, f"{OVERRIDE}=native: {native.describe()}")
    if forced is not None:
        return BackEnd(device, dtype, forced, f"{OVERRIDE}={forced}")
    if device != "CPU":
        return BackEnd(device, dtype, "mindspore", "block-wise MindSpore operators run on every device")
    if native.available():
        return BackEnd(device, dtype, "native", native.describe())
    return BackEnd(device, dtype, "numpy", f"the native kernel is {native.describe()}")


def on_ascend(dtype: str, forced: str | None) -> BackEnd:
    """The compiled kernel once it has agreed with the NumPy twin in this process, else block-wise operators."""
    built = ascend_files.installed_build()
    if isinstance(built, str):
        reason: str | None = built
    else:
        from . import ascend  # imports MindSpore

        reason = ascend.unusable("logits", dtype)
    if reason is None:
        return BackEnd("Ascend", dtype, "ascend", "the Ascend C kernel agreed with the NumPy twin in this process")
    if forced:
        raise RuntimeError(f"{OVERRIDE}=ascend, but the Ascend C kernel cannot be used: {reason}")
    return BackEnd("Ascend", dtype, "mindspore", f"block-wise MindSpore operators; the Ascend C kernel: {reason}")


def info() -> list[BackEnd]:
    """The back end for each device and dtype, and why; "none", where ``MINDEVAL_KERNEL`` or ``MINDEVAL_NUM_THREADS`` is
    such that `token_nll` would raise an error: the reason is its message.

    ``python -m mindeval.kernels`` prints it, for bug reports.

    Supported Platforms:
        ``Ascend`` ``GPU`` ``CPU``

    Examples:
        >>> from mindeval import kernels
        >>> sorted({row.device for row in kernels.info()})
        ['Ascend', 'CPU', 'GPU']
    """
    rows = []
    for device in ("CPU", "GPU", "Ascend"):
        for dtype in FORMATS:
            try:
                rows.append(choose(device, dtype))
            except (RuntimeError, ValueError) as error:
                rows.append(BackEnd(device, dtype, "none", str(error)))
    return rows
