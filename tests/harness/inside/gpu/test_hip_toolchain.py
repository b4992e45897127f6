"""Which clang compiles HIP, and what is said if none can."""

from pathlib import Path

import pytest

from kernelbot.harness.inside.gpu.hip_toolchain import (
    Clang,
    NoHipToolchain,
    find_clang,
    find_toolchain,
    header_files,
)


def program(folder: Path, name: str, said: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _nothing_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))


def test_the_newest_that_is_named_by_its_version_is_taken(tmp_path: Path) -> None:
    program(tmp_path, "clang++")
    program(tmp_path, "clang++-18")
    newest = program(tmp_path, "clang++-21")
    program(tmp_path, "clang++-9")
    assert Clang(str(newest), 21) == find_clang()


def test_rocms_comes_first_and_says_its_version(tmp_path: Path) -> None:
    program(tmp_path, "clang++-21")
    rocms = program(tmp_path, "rocm/llvm/bin/clang++", "AMD clang version 20.0.0git (roc-7.1)")
    assert Clang(str(rocms), 20) == find_clang()


def test_one_without_a_version_is_asked(tmp_path: Path) -> None:
    path = program(tmp_path, "clang++", "Debian clang version 14.0.6")
    assert Clang(str(path), 14) == find_clang()


def test_no_clang_is_said() -> None:
    with pytest.raises(NoHipToolchain, match="clang 20 or later, and none was found"):
        find_toolchain("gfx950")


def test_a_clang_that_is_too_old_for_the_gpu_is_said(tmp_path: Path) -> None:
    program(tmp_path, "clang++-19")
    with pytest.raises(NoHipToolchain, match=r"\(19\) doesn't know gfx950: clang 20 or later"):
        find_toolchain("gfx950")


def test_missing_headers_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "clang++-19")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(NoHipToolchain, match="HIP's headers were not found here: install Triton"):
        find_toolchain("gfx942")


def test_rocms_headers_and_libraries_are_taken(tmp_path: Path) -> None:
    program(tmp_path, "clang++-19")
    for name in ("include/hip/hip_runtime.h", "amdgcn/bitcode/ocml.bc", "amdgcn/bitcode/ockl.bc"):
        program(tmp_path / "rocm", name)
    found = find_toolchain("gfx942")
    places = (found.headers, *found.libraries)
    assert ["include", "amdgcn/bitcode/ocml.bc", "amdgcn/bitcode/ockl.bc"] == [
        str(Path(place).relative_to(tmp_path / "rocm")) for place in places
    ]


def test_each_header_leads_to_one_of_ours() -> None:
    files = header_files()
    led = {text.decode().split('"')[1] for name, text in files.items() if "/" in name}
    assert led == {name for name in files if "/" not in name}
