"""What all tests share: the CPU as device, and the folder of handed cases where it lies beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("GLOG_v", "3")

import mindspore as ms

ms.set_device(os.environ.get("MINDEVAL_TEST_DEVICE", "CPU"))  # Ascend: make test-ascend

ROOT = Path(__file__).resolve().parents[1]


def shared_folder() -> Path:
    """The folder with cases and fixtures that are not part of the repository."""
    return Path(os.environ.get("MINDEVAL_SHARED", ROOT.parent / "shared"))


@pytest.fixture
def shared_dir() -> Path:
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip("no folder 'shared' beside the checkout: handed cases are not part of the repository")
    return folder


@pytest.fixture(autouse=True)
def pynative_mode() -> None:
    """MindSpore's default mode at the start of each test, whatever the one before it set."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
