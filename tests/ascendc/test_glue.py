"""The glue between MindSpore and CANN compiles, where a CANN toolkit (or its headers) is there."""

from __future__ import annotations

import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from mindspore.ops import CustomOpBuilder

from mindeval.kernels import ascend_files, build


@pytest.fixture
def cann(monkeypatch):
    root = ascend_files.cann_root()
    if root is None:
        pytest.skip(
            "no CANN headers on this machine: source CANN's set_env.sh, or set ASCEND_HOME_PATH to a folder with them"
        )
    monkeypatch.setenv("ASCEND_OPP_PATH", str(root / "opp"))
    return root


@pytest.mark.parametrize("source", ["glue.cc", "graph.cc"])
def test_compiles_against_mindspore_and_cann(cann, source, tmp_path):
    path = str(ascend_files.SOURCES / source)
    builder = CustomOpBuilder(ascend_files.MODULE, [path], backend="Ascend", build_dir=str(tmp_path))
    folders = [*builder.get_include_paths(), str(ascend_files.SOURCES), sysconfig.get_path("include")]
    command = [
        "g++",
        "-fsyntax-only",
        *shlex.split(" ".join(builder.get_cflags())),
        *(f"-I{folder}" for folder in folders),
    ]
    done = subprocess.run([*command, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]


def test_mindspore_understands_the_operator_definition(tmp_path):
    folder = build.mindspore_folder()
    definition = tmp_path / "yaml"
    definition.mkdir()
    (definition / "op_def.yaml").write_text((ascend_files.SOURCES / "op_def.yaml").read_text())
    script = Path(folder) / "ops_generate" / "gen_custom_ops.py"
    if not script.exists():
        pytest.skip("this MindSpore has no custom operators in graph mode")
    command = [
        sys.executable,
        str(script),
        "-i",
        str(definition),
        "-o",
        str(tmp_path / "out"),
        "-m",
        ascend_files.MODULE,
        "-d",
        "",
    ]
    (tmp_path / "out").mkdir()
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    generated = (tmp_path / "out" / "gen_custom_ops_def.cc").read_text()
    arguments = [f'"{name}", {place}' for place, name in enumerate(["logits", "labels", "vocab", "with_rank"])]
    assert all(argument in generated for argument in arguments)  # the places that graph.cc reads
