"""Compiles the Ascend operators on an Ascend host, or says what is missing: ``python -m mindeval.kernels.build``.

Never run at pip install. Each combination of MindSpore, CANN, Python and source has a folder of its own below
``~/.cache/mindeval`` (``MINDEVAL_CACHE``), so an upgrade asks for a new build and never loads an old one.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

from . import ascend_files
from .ascend_files import MODULE, SOURCES

KERNELS = "libmindeval_kernels.so"
OLDEST_MINDSPORE = (2, 7, 1)
CHECK = (sys.executable, "-m", "mindeval.kernels.ascend_check")
CHECK_SECONDS = 600


class Need(NamedTuple):
    """Something that the build needs: what it is, where it was found, or what to do about it."""

    what: str
    found: str | None
    advice: str


def mindspore_folder() -> Path | None:
    """Where MindSpore is installed, without importing it."""
    spec = util.find_spec("mindspore")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def card_name(root: Path | None) -> str | None:
    """The card as CANN names it, for example Ascend910B1; None without a card or its driver."""
    if root is None:
        return None
    for folder in ("lib64", f"{platform.machine()}-linux/lib64"):
        library = root / folder / "libascendcl.so"
        if not library.exists():
            continue
        try:
            runtime = ctypes.CDLL(str(library))
        except OSError:
            continue
        if hasattr(runtime, "aclrtGetSocName"):
            runtime.aclrtGetSocName.restype = ctypes.c_char_p
            name = runtime.aclrtGetSocName()
            if name:
                return str(name.decode())
    return None


def ascendc_compiler(root: Path | None) -> str | None:
    """The CMake entrance of CANN's Ascend C compiler."""
    if root is None:
        return None
    for folder in ("compiler/tikcpp", "tools/tikcpp", f"{platform.machine()}-linux/tikcpp"):
        entrance = root / folder / "ascendc_kernel_cmake" / "ascendc.cmake"
        if entrance.is_file():
            return str(entrance)
    return None


def survey(root: Path | None, card: str | None) -> dict[str, list[Need]]:
    """What each part of the build needs, and what of it is here."""
    version = ascend_files.mindspore_version()
    folder = mindspore_folder()
    numbers = tuple(int(number) for number in (version or "0").split(".")[:3] if number.isdigit())
    recent = version if version is not None and numbers >= OLDEST_MINDSPORE else None
    plugin = folder / "lib" / "plugin" / "ascend" / "libmindspore_extension_ascend_aclnn.a" if folder else None
    python_header = Path(sysconfig.get_path("include")) / "Python.h"
    oldest = ".".join(map(str, OLDEST_MINDSPORE))
    set_env = "install CANN and source its set_env.sh, or name its folder with --cann"
    common = [
        Need(f"MindSpore {oldest} or newer", recent, f"found {version}: pip install 'mindspore>={oldest}'"),
        Need("CANN toolkit", str(root) if root else None, set_env),
        Need("C++ compiler g++", shutil.which(os.environ.get("CXX", "g++")), "install g++ 9 or newer"),
    ]
    glue = [
        Need("MindSpore's Ascend plugin", str(plugin) if plugin and plugin.exists() else None, "reinstall MindSpore"),
        Need("ninja", shutil.which("ninja"), "pip install ninja"),
        Need("Python headers", str(python_header) if python_header.exists() else None, "install python3-dev"),
    ]
    kernels = [
        Need("cmake", shutil.which("cmake"), "pip install cmake"),
        Need("CANN's Ascend C compiler", ascendc_compiler(root), "install the CANN toolkit, not only its runtime"),
        Need("name of the card", card, "install the driver, or name the card with --soc, for example Ascend910B1"),
    ]
    return {"glue to MindSpore": common + glue, "Ascend C kernel": kernels}


def report(needs: dict[str, list[Need]]) -> list[str]:
    """The survey in plain words, one line a need."""
    lines = []
    for part, list_of_needs in needs.items():
        lines.append(f"For the {part}:")
        for need in list_of_needs:
            state = need.found if need.found else f"MISSING: {need.advice}"
            lines.append(f"  {need.what}: {state}")
    return lines


def complete(needs: list[Need]) -> bool:
    return all(need.found for need in needs)


def build_glue(folder: Path, root: Path) -> None:
    """Compiles glue.cc (and graph.cc with its operator definition) against the installed MindSpore."""
    os.environ.setdefault("ASCEND_OPP_PATH", str(root / "opp"))
    from mindspore.ops import CustomOpBuilder

    CustomOpBuilder(
        MODULE,
        [str(SOURCES / "glue.cc"), str(SOURCES / "graph.cc")],
        backend="Ascend",
        include_paths=[str(SOURCES)],
        ldflags="-ldl",
        build_dir=str(folder),
        op_def=str(SOURCES / "op_def.yaml"),
    ).build()


def build_kernels(folder: Path, root: Path, card: str) -> str:
    """Compiles nll_kernel.cpp for the card; the path of the library below `folder`."""
    work = folder / "kernels"
    log = folder / "kernels.log"
    commands = [
        ["cmake", "-S", str(SOURCES), "-B", str(work), f"-DCANN={root}", f"-DSOC_VERSION={card}"],
        ["cmake", "--build", str(work), "--parallel", "4"],
    ]
    with log.open("w") as output:
        for command in commands:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT)
            if done.returncode != 0:
                raise RuntimeError(f"{command[0]} failed, see {log}")
    libraries = sorted(work.rglob(KERNELS))
    if not libraries:
        raise RuntimeError(f"{KERNELS} was not made, see {log}")
    return str(libraries[0].relative_to(folder))


def why_no_linear(root: Path) -> str | None:
    """Whether CANN has the fused operator that the "linear" part calls."""
    if ascend_files.has_symbol(root, ascend_files.FUSED_LINEAR):
        return None
    return "this CANN has no aclnnFusedLinearOnlineMaxSum"


def build(root: Path, card: str | None, needs: dict[str, list[Need]]) -> tuple[Path, dict[str, Any]]:
    """Builds what can be built; the folder and what was made of it."""
    version = ascend_files.mindspore_version()
    assert version is not None
    folder = ascend_files.build_folder(version, ascend_files.cann_version(root))
    folder.mkdir(parents=True, exist_ok=True)
    build_glue(folder, root)
    record: dict[str, Any] = {"card": card, "kernels": None, "missing": {"logits": None, "linear": why_no_linear(root)}}
    if card is not None and complete(needs["Ascend C kernel"]):
        try:
            record["kernels"] = build_kernels(folder, root, card)
        except RuntimeError as error:
            record["missing"]["logits"] = f"the Ascend C kernel was not built: {error}"
    else:
        absent = ", ".join(need.what for need in needs["Ascend C kernel"] if not need.found)
        record["missing"]["logits"] = f"the Ascend C kernel was not built: no {absent}"
    ascend_files.write_record(folder, record)
    return folder, record


def prove(folder: Path, root: Path, record: dict[str, Any]) -> None:
    """Runs the check of each part that was built in a process of its own, and notes in the record what failed.

    An operator that brings its process down does so here and never in a user's evaluation.
    """
    environment = {**os.environ, "ASCEND_HOME_PATH": str(root)}
    for part, missing in record["missing"].items():
        if missing is not None:
            continue
        try:
            done = subprocess.run(
                [*CHECK, part], capture_output=True, text=True, timeout=CHECK_SECONDS, env=environment
            )
        except subprocess.TimeoutExpired:
            record["missing"][part] = f"its check did not end within {CHECK_SECONDS} seconds"
            continue
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines()
            record["missing"][part] = (
                f"its check failed (exit code {done.returncode}): {said[-1] if said else 'no word'}"
            )
    ascend_files.write_record(folder, record)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mindeval.kernels.build", description=__doc__.split("\n")[0])
    parser.add_argument("--cann", help="root of the CANN toolkit (default: as its set_env.sh says)")
    parser.add_argument("--soc", help="the card to compile for, such as Ascend910B1 (default: the one that is there)")
    parser.add_argument("--survey", action="store_true", help="only say what is here and what is missing")
    options = parser.parse_args(arguments)

    root = ascend_files.cann_root(options.cann)
    present = card_name(root)
    card = options.soc or present
    needs = survey(root, card)
    print("\n".join(report(needs)))
    if root is None or not complete(needs["glue to MindSpore"]):
        print(
            "Nothing was built. On Ascend devices token_nll uses block-wise MindSpore operators, which need no build."
        )
        return 1
    if options.survey:
        return 0
    try:
        folder, record = build(root, card, needs)
    except RuntimeError as error:
        print(f"The build failed, block-wise MindSpore operators stay in use.\n{error}")
        return 1
    if present is not None:
        prove(folder, root, record)
    print(f"Built in {folder}")
    state = "agrees with the NumPy twin on this card" if present else "built, not checked: there is no card here"
    for part, missing in record["missing"].items():
        print(f"  {part}: {missing or state}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
