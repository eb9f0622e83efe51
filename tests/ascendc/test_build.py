"""`python -m mindeval.kernels.build`: what it says where something is missing, and where it puts what it builds."""

from __future__ import annotations

import shutil
import sys

import pytest

from mindeval.kernels import ascend_files, build, dispatch


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    for variable in (*ascend_files.CANN_VARIABLES, "ASCEND_OPP_PATH"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(ascend_files, "CANN_PLACES", ())
    monkeypatch.setenv("MINDEVAL_CACHE", str(tmp_path / "cache"))
    ascend_files.installed_build.cache_clear()
    yield
    ascend_files.installed_build.cache_clear()


@pytest.fixture
def toolkit(tmp_path):
    """A folder that looks like a CANN toolkit, without a line of CANN in it."""
    root = tmp_path / "cann"
    for folder in ("include", "lib64", "opp", "x86_64-linux", "compiler/tikcpp/ascendc_kernel_cmake"):
        (root / folder).mkdir(parents=True)
    (root / "x86_64-linux" / "ascend_toolkit_install.info").write_text(
        "package_name=toolkit\nversion=8.3.RC1\narch=x86\n"
    )
    return root


def test_without_cann_it_says_so_and_fails(capsys):
    assert build.main([]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  CANN toolkit: MISSING: install CANN and source its set_env.sh, or name its folder with --cann" in lines
    assert "  CANN's Ascend C compiler: MISSING: install the CANN toolkit, not only its runtime" in lines
    assert lines[-1].startswith("Nothing was built. On Ascend devices token_nll uses block-wise MindSpore operators")


def test_a_given_folder_that_is_no_toolkit_counts_as_missing(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))  # not asked: the user named another
    assert build.main(["--cann", str(tmp_path / "nowhere")]) == 1
    assert "CANN toolkit: MISSING" in capsys.readouterr().out


@pytest.mark.parametrize("variable", ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"])
def test_the_toolkit_is_found_where_its_script_says(toolkit, monkeypatch, variable):
    monkeypatch.setenv(variable, str(toolkit))
    assert ascend_files.cann_root() == toolkit


def test_the_toolkit_is_found_by_its_operators(toolkit, monkeypatch):
    monkeypatch.setenv("ASCEND_OPP_PATH", str(toolkit / "opp"))
    assert ascend_files.cann_root() == toolkit


def test_missing_tools_are_named(toolkit, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("ninja", "cmake") else f"/usr/bin/{name}")
    assert build.main(["--cann", str(toolkit), "--survey"]) == 1
    output = capsys.readouterr().out
    assert "ninja: MISSING: pip install ninja" in output
    assert "cmake: MISSING: pip install cmake" in output


def test_an_old_mindspore_is_named(toolkit, capsys, monkeypatch):
    monkeypatch.setattr(ascend_files, "mindspore_version", lambda: "2.6.0")
    assert build.main(["--cann", str(toolkit), "--survey"]) == 1
    assert "MindSpore 2.7.1 or newer: MISSING: found 2.6.0" in capsys.readouterr().out


def test_versions_are_read_from_the_toolkit(toolkit, tmp_path):
    assert ascend_files.cann_version(toolkit) == "8.3.RC1"
    bare = tmp_path / "bare"
    (bare / "opp").mkdir(parents=True)
    assert ascend_files.cann_version(bare) == "unknown"
    (bare / "opp" / "version.info").write_text("Version=7.8.0.1\nversion_dir=8.2\n")
    assert ascend_files.cann_version(bare) == "7.8.0.1"


def test_an_operator_is_found_by_its_symbol(toolkit):
    assert not ascend_files.has_symbol(toolkit, ascend_files.FUSED_LINEAR)
    (toolkit / "lib64" / "libopapi.so").write_bytes(b"")
    (toolkit / "lib64" / "libopapi_math.so").write_bytes(b"\0aclnnFusedLinearOnlineMaxSumGetWorkspaceSizeV2\0")
    assert not ascend_files.has_symbol(toolkit, ascend_files.FUSED_LINEAR)
    (toolkit / "lib64" / "libopapi_nn.so").write_bytes(b"\x7fELF\0aclnnFusedLinearOnlineMaxSumGetWorkspaceSize\0")
    assert ascend_files.has_symbol(toolkit, ascend_files.FUSED_LINEAR)
    assert build.why_no_linear(toolkit) is None


def test_each_mindspore_and_each_cann_has_a_build_of_its_own(monkeypatch):
    folder = ascend_files.build_folder("2.10.0", "8.3.RC1")
    assert folder != ascend_files.build_folder("2.9.0", "8.3.RC1")
    assert folder != ascend_files.build_folder("2.10.0", "8.5.0")
    assert folder == ascend_files.build_folder("2.10.0", "8.3.RC1")
    monkeypatch.setattr(ascend_files, "sources_hash", lambda: "00000000")
    assert folder != ascend_files.build_folder("2.10.0", "8.3.RC1")


def test_a_build_for_another_version_is_not_used(toolkit, monkeypatch):
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    monkeypatch.setattr(ascend_files, "mindspore_version", lambda: "2.10.0")
    other = ascend_files.build_folder("2.9.0", "8.3.RC1")
    other.mkdir(parents=True)
    ascend_files.write_record(other, {"missing": {}})
    reason = "not built for MindSpore 2.10.0 and CANN 8.3.RC1: run python -m mindeval.kernels.build"
    assert ascend_files.installed_build() == reason
    assert dispatch.choose("Ascend", "float32").name == "mindspore"
    assert reason in dispatch.choose("Ascend", "float32").reason


def fake_glue(folder, root):
    (folder / "mindeval_ascend.so").write_text("made by a test")


def test_what_was_built_is_recorded_and_found_again(toolkit, monkeypatch, capsys):
    def fake_kernels(folder, root, card):
        assert card == "Ascend910B1"
        return "kernels/lib/libmindeval_kernels.so"

    monkeypatch.setattr(build, "build_glue", fake_glue)
    monkeypatch.setattr(build, "build_kernels", fake_kernels)
    (toolkit / "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake").write_text("")
    assert build.main(["--cann", str(toolkit), "--soc", "Ascend910B1"]) == 0
    assert "logits: built, not checked: there is no card here" in capsys.readouterr().out
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    _, record = ascend_files.installed_build()
    assert record == {
        "card": "Ascend910B1",
        "kernels": "kernels/lib/libmindeval_kernels.so",
        "missing": {"logits": None, "linear": "this CANN has no aclnnFusedLinearOnlineMaxSum"},
    }


def test_without_the_ascend_c_compiler_the_glue_is_still_built(toolkit, monkeypatch, capsys):
    monkeypatch.setattr(build, "build_glue", fake_glue)
    (toolkit / "lib64" / "libopapi.so").write_bytes(b"\0" + ascend_files.FUSED_LINEAR.encode() + b"\0")
    assert build.main(["--cann", str(toolkit), "--soc", "Ascend910B1"]) == 0
    output = capsys.readouterr().out
    assert "logits: the Ascend C kernel was not built: no CANN's Ascend C compiler" in output
    assert "linear: built" in output


@pytest.mark.parametrize(
    ("check", "outcome"),
    [
        ("", "agrees with the NumPy twin on this card"),
        ("print('nll of row 0 is 1'); raise SystemExit(3)", "its check failed (exit code 3): nll of row 0 is 1"),
        ("import os; os.abort()", "its check failed (exit code -6): no word"),
        ("import time; time.sleep(60)", "its check did not end within 2 seconds"),
    ],
)
def test_on_a_card_the_build_is_checked_in_a_process_of_its_own(toolkit, monkeypatch, capsys, check, outcome):
    monkeypatch.setattr(build, "build_glue", fake_glue)
    monkeypatch.setattr(build, "card_name", lambda root: "Ascend910B1")
    monkeypatch.setattr(
        build, "CHECK", (sys.executable, "-c", f"import sys; assert sys.argv[1:] == ['linear']\n{check}")
    )
    monkeypatch.setattr(build, "CHECK_SECONDS", 2 if "sleep" in check else 600)
    (toolkit / "lib64" / "libopapi.so").write_bytes(b"\0" + ascend_files.FUSED_LINEAR.encode() + b"\0")
    assert build.main(["--cann", str(toolkit)]) == 0
    assert f"linear: {outcome}" in capsys.readouterr().out
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit))
    _, record = ascend_files.installed_build()
    assert record["missing"]["linear"] == (outcome if check else None)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_a_kernel_that_does_not_compile_is_reported_and_the_glue_kept(toolkit, monkeypatch, capsys):
    monkeypatch.setattr(build, "build_glue", fake_glue)
    broken = toolkit / "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake"
    broken.write_text('message(FATAL_ERROR "no licence")\n')
    assert build.main(["--cann", str(toolkit), "--soc", "Ascend910B1"]) == 0
    assert "logits: the Ascend C kernel was not built: cmake failed, see " in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_cmake_finds_the_sources_and_the_library(toolkit, monkeypatch):
    """CMakeLists.txt with functions of CANN's names that compile an empty library instead."""
    (toolkit / "compiler/tikcpp/ascendc_kernel_cmake/ascendc.cmake").write_text(
        "function(ascendc_library name kind source)\n"
        "  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source} OR NOT SOC_VERSION STREQUAL Ascend910B1)\n"
        '    message(FATAL_ERROR "wrong arguments")\n'
        "  endif()\n"
        '  file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "int empty;")\n'
        "  add_library(${name} ${kind} ${CMAKE_BINARY_DIR}/empty.cpp)\n"
        "endfunction()\n"
        "function(ascendc_include_directories)\nendfunction()\n"
    )
    folder = ascend_files.build_folder("2.10.0", "8.3.RC1")
    folder.mkdir(parents=True)
    library = folder / build.build_kernels(folder, toolkit, "Ascend910B1")
    assert library.name == "libmindeval_kernels.so"
    assert library.exists()
