"""Ninja's commands are those that the installed torch writes. Compilers are tried by the tests of
the terminal's `preflight`."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kernelbot.harness.inside.gpu.compile_extensions import for_a_report, is_known

pytest.importorskip("torch", reason="torch isn't installed")
pytestmark = pytest.mark.torch

HEADERS = Path("/h")
FEW = "-isystem /h/few -isystem /h/cudas"
KERNELS = "$cuda_cflags -fatbin -Xptxas -v $in -o $out $cuda_post_cflags 2> $out.said"


def commands(
    folder: Path, *, with_cuda: bool = True, cuda_flags: Sequence[str] = (), linked: bool = False
) -> str:
    """As torch writes them."""
    extension: Any = importlib.import_module("torch.utils.cpp_extension")
    path = folder / "build.ninja"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTORCH_NVCC", "nvcc")
        extension._write_ninja_file(
            path=str(path),
            cflags=["-O2"],
            post_cflags=[],
            cuda_cflags=list(cuda_flags),
            cuda_post_cflags=[],
            cuda_dlink_post_cflags=["-dlink"] if linked else [],
            sycl_cflags=[],
            sycl_post_cflags=[],
            sycl_dlink_post_cflags=[],
            sources=["main.cpp", "k.cu"] if with_cuda else ["main.cpp"],
            objects=["main.o", "k.cuda.o"] if with_cuda else ["main.o"],
            ldflags=["-ltorch"],
            library_target="mine.so",
            with_cuda=with_cuda,
            with_sycl=False,
        )
    return path.read_text()


_NOTED = " -MD -MF $out.d"
"""What a torch with CUDA has nvcc do besides, and one for processors doesn't: note what it read."""


def changed(before: str, after: str) -> list[str]:
    """The lines that `after` has in place of others."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=True)
    return [there for here, there in pairs if here != there]


@pytest.mark.parametrize(("has_cuda", "whole"), [(True, ""), (False, "-isystem /h/cudas ")])
def test_the_hosts_code_is_read_alone(tmp_path: Path, has_cuda: bool, whole: str) -> None:
    """And what a torch without CUDA lacks is found where all of torch is read."""
    before = commands(tmp_path)
    after = for_a_report(before, HEADERS, has_cuda=has_cuda)
    check, kernels, link = changed(before, after)
    checked = f"$cxx -MMD -MF $out.d -MT $out {whole}$cflags -fsyntax-only $in $post_cflags"
    tried = f"$nvcc {FEW} {KERNELS} || $nvcc {whole}{KERNELS}"
    assert (
        f"  command = {checked} && : > $out",
        f"  command = {tried} || {{ cat $out.said; false; }}",
        "  command = : > $out",
    ) == (check, kernels.replace(_NOTED, "").replace("  $cuda", " $cuda"), link)


def test_what_torch_writes_for_cuda_is_known(tmp_path: Path) -> None:
    assert is_known(commands(tmp_path))


@pytest.mark.parametrize("flag", ["-dc", "-rdc=true", "--relocatable-device-code=true"])
def test_kernels_that_are_linked_are_built_whole(tmp_path: Path, flag: str) -> None:
    found = [
        is_known(commands(tmp_path, cuda_flags=[flag])),
        is_known(commands(tmp_path, linked=True)),
    ]
    assert [False, False] == found


def test_an_extension_without_kernels_is_built_whole(tmp_path: Path) -> None:
    assert not is_known(commands(tmp_path, with_cuda=False))
