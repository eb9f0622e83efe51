"""Where the compiled Ascend operators lie, and what of CANN is on this machine. MindSpore is not imported here."""

from __future__ import annotations

import functools
import hashlib
import json
import mmap
import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

MODULE = "mindeval_ascend"
SOURCES = Path(__file__).resolve().parent.parent / "csrc" / "ascend"
FUSED_LINEAR = "aclnnFusedLinearOnlineMaxSumGetWorkspaceSize"
CANN_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
CANN_PLACES = ("/usr/local/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/cann", "/usr/local/Ascend/latest")


def cann_root(given: str | None = None) -> Path | None:
    """The root of the CANN toolkit: as given, as its environment script says, or in the usual place."""
    named = [given] if given else [os.environ.get(variable) for variable in CANN_VARIABLES]
    operators = os.environ.get("ASCEND_OPP_PATH")
    if operators and not given:
        named.append(str(Path(operators).parent))
    for place in [*named, *([] if given else CANN_PLACES)]:
        if place and (Path(place) / "include").is_dir():
            return Path(place)
    return None


def cann_version(root: Path) -> str:
    """What the toolkit says of itself, for example 8.3.RC1; "unknown" if it says nothing."""
    for pattern in ("ascend_toolkit_install.info", "*-linux/ascend_toolkit_install.info", "opp/version.info"):
        for file in sorted(root.glob(pattern)):
            found = re.search(r"^version=(\S+)", file.read_text(errors="replace"), re.MULTILINE | re.IGNORECASE)
            if found:
                return found.group(1)
    return "unknown"


def operator_libraries(root: Path) -> Iterator[Path]:
    """The libraries in which CANN keeps its operators; newer releases split them by family."""
    for folder in ("lib64", f"{platform.machine()}-linux/lib64", "opp/lib64"):
        yield from sorted((root / folder).glob("libopapi*.so"))


def has_symbol(root: Path, symbol: str) -> bool:
    """Whether CANN has an operator, asked of the libraries themselves and not of a version number."""
    for library in operator_libraries(root):
        if library.stat().st_size == 0:
            continue
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as names:
            if names.find(b"\0" + symbol.encode() + b"\0") >= 0:
                return True
    return False


def mindspore_version() -> str | None:
    """The installed MindSpore's version, without importing it."""
    try:
        return metadata.version("mindspore")
    except metadata.PackageNotFoundError:
        return None


def sources_hash() -> str:
    digest = hashlib.sha256()
    for file in sorted(SOURCES.iterdir()):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def cache_root() -> Path:
    """``MINDEVAL_CACHE``, or ``~/.cache/mindeval``."""
    return Path(os.environ.get("MINDEVAL_CACHE") or Path.home() / ".cache" / "mindeval")


def build_folder(mindspore: str, cann: str) -> Path:
    """The folder of one build: another MindSpore, CANN, Python or source is another build."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    name = f"mindspore-{mindspore}_cann-{cann}_python-{python}_{platform.machine()}_{sources_hash()}"
    return cache_root() / "ascend" / name


def read_record(folder: Path) -> dict[str, Any] | None:
    """What ``python -m mindeval.kernels.build`` noted of the build in a folder."""
    record = folder / "build.json"
    if not record.is_file():
        return None
    content: dict[str, Any] = json.loads(record.read_text())
    return content


def write_record(folder: Path, record: dict[str, Any]) -> None:
    (folder / "build.json").write_text(json.dumps(record, indent=2) + "\n")


@functools.cache
def installed_build() -> tuple[Path, dict[str, Any]] | str:
    """The build for this MindSpore and this CANN, or in plain words why there is none."""
    version = mindspore_version()
    root = cann_root()
    if version is None:
        return "MindSpore is not installed"
    if root is None:
        return "no CANN toolkit on this machine (source its set_env.sh)"
    cann = cann_version(root)
    folder = build_folder(version, cann)
    record = read_record(folder)
    if record is None:
        return f"not built for MindSpore {version} and CANN {cann}: run python -m mindeval.kernels.build"
    return folder, record
