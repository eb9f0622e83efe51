"""The package as a whole: what importing it loads, which NumPy it refuses, what its public docstrings hold."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy
import pytest

import mindeval

PUBLIC = [name for name in mindeval.__all__ if name != "__version__"]


def loaded_by(statement: str) -> set[str]:
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    return set(json.loads(done.stdout))


def test_import_loads_neither_mindspore_nor_any_part_of_the_library() -> None:
    added = loaded_by("import mindeval") - loaded_by("import numpy, importlib.metadata")
    assert added == {"mindeval"}


def test_import_with_mindspore_adds_the_package_alone() -> None:
    assert loaded_by("import mindspore, mindeval") - loaded_by("import mindspore, importlib.metadata") == {"mindeval"}


def test_using_a_metric_loads_no_heavy_dependency() -> None:
    loaded = loaded_by("from mindeval import Perplexity, Accuracy, Loss, MetricCollection; Perplexity()")
    before = loaded_by("import mindspore")
    heavy = {"sacrebleu", "rouge_score", "nltk", "rapidfuzz", "jieba", "sklearn", "matplotlib", "torch", "mindformers"}
    assert not (loaded - before) & heavy


def test_an_unknown_name_is_an_attribute_error_that_says_it() -> None:
    with pytest.raises(AttributeError, match="module 'mindeval' has no attribute 'Perplexty'"):
        _ = mindeval.Perplexty


def test_public_names_are_seen_by_dir() -> None:
    assert set(PUBLIC) <= set(dir(mindeval))


@pytest.mark.parametrize(
    ("numpy_version", "mindspore_version", "refused"),
    [
        ("2.0.0", "2.7.0", True),
        ("2.3.1", "2.10.0", True),
        ("2.3.1", "2.7.1.post1", True),
        ("1.26.4", "2.10.0", False),
        ("1.26.4", "2.7.0", False),
        ("2.3.1", "2.11.0", False),  # not known to be bad
        ("2.3.1", "3.0.0", False),
        ("2.3.1", None, False),  # another distribution's MindSpore: nothing is known about it
    ],
)
def test_numpy_2_is_refused_for_mindspore_builds_known_to_be_bad(
    monkeypatch: pytest.MonkeyPatch, numpy_version: str, mindspore_version: str | None, refused: bool
) -> None:
    import importlib.metadata

    def version(name: str) -> str:
        if mindspore_version is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return mindspore_version

    monkeypatch.setattr(numpy, "__version__", numpy_version)
    monkeypatch.setattr(importlib.metadata, "version", version)
    if not refused:
        mindeval._refuse_broken_numpy()
        return
    with pytest.raises(ImportError) as caught:
        mindeval._refuse_broken_numpy()
    for part in (numpy_version, mindspore_version, 'pip install "numpy>=1.25,<2"'):
        assert part in str(caught.value)


def test_the_repair_command_asks_for_the_numpy_that_the_package_requires() -> None:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        requirements = requires("mindeval") or []
    except PackageNotFoundError:
        pytest.skip("mindeval is not installed, only on the path")
    numpy_bounds = [line[len("numpy") :] for line in requirements if line.startswith("numpy")]
    assert [set(bounds.split(",")) for bounds in numpy_bounds] == [{">=1.25", "<2"}]


FAMILIES = ("answers", "classification", "image", "language", "text")
ABOVE = {"training", "integrations"}
BELOW = (
    "state",
    "kernels",
    "score.py",
    "display.py",
    "distributed.py",
    "communicator.py",
    "wire.py",
    "rounding.py",
    "exact.py",
    "inputs.py",
)


def imported(path: Path) -> set[str]:
    """The parts of the package that a source file imports, wherever in it."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "mindeval":
            parts |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").startswith("mindeval."):
            parts.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            parts |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mindeval.")}
    return parts


def sources(part: str) -> list[Path]:
    path = Path(mindeval.__file__).parent / part
    return [path] if path.suffix else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_imports_no_other_family_and_nothing_above_it(family: str) -> None:
    assert sources(family)
    for path in sources(family):
        assert not imported(path) & ({*FAMILIES} - {family} | ABOVE), path


@pytest.mark.parametrize("part", BELOW)
def test_what_metrics_rest_on_knows_no_metric(part: str) -> None:
    assert sources(part)
    for path in sources(part):
        assert not imported(path) & {*FAMILIES, *ABOVE, "metric", "collection"}, path


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstrings_have_an_example_and_the_platforms(name: str) -> None:
    documented = getattr(mindeval, name)
    if isinstance(documented, types.ModuleType):
        pytest.skip("a module: its functions are documented one by one")
    text = inspect.getdoc(documented) or ""
    assert doctest.DocTestParser().get_examples(text), "no example"
    assert "Supported Platforms:" in text


@pytest.mark.parametrize("name", PUBLIC)
def test_public_classes_document_every_public_method_of_their_own(name: str) -> None:
    documented = getattr(mindeval, name)
    for method, function in vars(documented).items():
        if inspect.isfunction(function) and not method.startswith("_"):
            assert inspect.getdoc(getattr(documented, method)), f"{name}.{method}"
