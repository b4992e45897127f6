"""clang is real; torch isn't needed, since the compiler is asked as torch asks hipcc."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernelbot.harness.inside.gpu.hip_compiler import (
    FOLDER,
    TROUBLE,
    _nobodys,
    _undefined,
    kept,
    script,
)
from kernelbot.harness.inside.gpu.hip_toolchain import Clang, header_files
from kernelbot.harness.inside.own_builds import HIP_KERNELS
from tests.support.exhaustive import cases
from tests.support.hip import ARCH, needs_hip

CLANG = Clang("clang++-19", 19)
ROOT = str(Path(__file__).parents[4] / "src")


def hipcc(home: Path, source: str, *flags: str) -> "subprocess.CompletedProcess[str]":
    """As the build file of torch calls it."""
    folder = home / FOLDER / "include"
    for name, content in header_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (home / "k.hip").write_text(source)
    path = home / "hipcc"
    path.write_text(script(ARCH, str(home), ROOT))
    path.chmod(0o755)
    includes = ["-std=c++20", "-isystem", str(folder)]
    command = [str(path), *includes, *flags, "-c", "k.hip", "-o", "k.o"]
    return subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)


def test_the_program_is_this_interpreter() -> None:
    assert f'exec "{sys.executable}" -P -c ' in script(ARCH, "a'b", "/x")


@pytest.mark.exhaustive  # each run has test_whose_an_error_is
@needs_hip
@pytest.mark.parametrize("name", cases(["hip_half", "hip_fp8", "hip_groups"], always=["hip_half"]))
def test_our_headers_give_kernels(tmp_path: Path, name: str) -> None:
    source = (Path(__file__).parent / f"{name}.hip.cpp").read_text()
    ended = hipcc(tmp_path, source)
    assert (0, "") == (ended.returncode, ended.stderr)
    (told,) = kept(tmp_path / HIP_KERNELS)
    assert ["    .private_segment_fixed_size: 0"] == [
        line for line in told.splitlines() if "private_segment_fixed_size" in line
    ]


@needs_hip
@pytest.mark.exhaustive
def test_flags_for_other_gpus_are_left_out(tmp_path: Path) -> None:
    source = "#include <hip/hip_runtime.h>\n__global__ void k(float *x) { *x = 1; }\n"
    flags = ("--offload-arch=gfx90a", "-fno-gpu-rdc", "-O1", "-DANY=1")
    ended = hipcc(tmp_path, source, *flags)
    assert (0, True, 1) == (
        ended.returncode,
        (tmp_path / "k.o").is_file(),
        len(list(kept(tmp_path / HIP_KERNELS))),
    ), ended.stderr


@needs_hip
@pytest.mark.exhaustive
def test_a_name_that_only_rocm_has_is_nobodys_error(tmp_path: Path) -> None:
    source = (
        "#include <hip/hip_fp16.h>\n"
        "__global__ void k(__half *x) { *x = __hmul_rn_fused_any(*x, *x); }\n"
    )
    ended = hipcc(tmp_path, source)
    assert (1, "") == (ended.returncode, ended.stderr)
    assert "stand in for ROCm's" in (tmp_path / TROUBLE).read_text()


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("k.hip:3:1: error: use of undeclared identifier 'height'\n", ""),
        ("k.hip:3:1: error: use of undeclared identifier '__hfma2_relu'\n", "`use of undeclared"),
        (
            (
                "k.hip:3:1: error: use of undeclared identifier '__hfma2_relu'\n"
                "k.hip:4:1: error: expected ';' after expression\n"
            ),
            "",
        ),
        ("k.hip:1:10: fatal error: 'hipcub/hipcub.hpp' file not found\n", "<hipcub/hipcub.hpp> is"),
        ("k.hip:1:10: fatal error: '/etc/shadow' file not found\n", ""),
        ("clang++: error: invalid target ID 'gfx950'; format is\n", "The clang that is"),
        ("PLEASE submit a bug report to\n", "clang 19 crashed"),
        ("", ""),
    ],
)
def test_whose_an_error_is(said: str, begins: str) -> None:
    found = _nobodys(CLANG, "gfx950", said)
    assert (bool(begins), True) == (bool(found), found.startswith(begins))


def test_functions_without_a_library_are_found() -> None:
    called = "s_add_u32 s0, s0, __ocml_pow_f32@rel32@lo+4\ns_x __ockl_y@gotpcrel32@lo\n__ockl_y:\n"
    assert ["__ocml_pow_f32"] == _undefined(called)
