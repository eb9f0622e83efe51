"""The notebooks run from top to bottom, print what is kept in them, and are the same in both languages."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ["quickstart.ipynb", "quickstart.zh.ipynb"]
TRAINING = ("model.train(", "diagnose(callback")  # numbers of a training run differ from processor to processor


def cells(name: str, kind: str) -> list[dict]:
    content = json.loads((ROOT / "examples" / name).read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def source(cell: dict) -> str:
    return "".join(cell["source"])


def shown(outputs: list[dict], numbers: bool) -> str:
    """What a cell printed and showed as text and as HTML."""
    parts = []
    for output in outputs:
        data = output.get("data", {})
        parts += [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
    text = "".join("".join(part) for part in parts)
    return text if numbers else re.sub(r"\d+(\.\d+)?", "0", text)


def test_both_languages_have_the_same_code():
    english, chinese = ([source(cell) for cell in cells(name, "code")] for name in NOTEBOOKS)
    assert [code.replace('text("zh")', 'text("en")') for code in chinese] == english
    assert len(cells(NOTEBOOKS[0], "markdown")) == len(cells(NOTEBOOKS[1], "markdown"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_kept_and_name_no_file_of_a_machine(name):
    for cell in cells(name, "code"):
        assert cell["outputs"], source(cell)
        assert not re.search(r"/(tmp|home|root|work|usr)/", json.dumps(cell["outputs"]))
        assert all(output["output_type"] != "error" and output.get("name") != "stderr" for output in cell["outputs"])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_run_shows_what_is_kept(name, tmp_path, monkeypatch):
    pytest.importorskip("ipykernel", reason="notebooks need nbclient and ipykernel: pip install 'mindeval[test]'")
    nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient and ipykernel")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(ROOT / "examples" / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    run = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(run) == len(cells(name, "code"))
    for before, cell in zip(cells(name, "code"), run):
        exact = not any(mark in source(before) for mark in TRAINING)
        if "model.train(" in source(before):
            steps = re.findall(r"^ *(\d+) [\d.]+$", shown(cell.outputs, True), re.MULTILINE)
            assert len(steps) >= 5, shown(cell.outputs, True)  # patience 4 and the best one before
        else:
            assert shown(cell.outputs, exact) == shown(before["outputs"], exact), source(before)
