"""Torch's header, compiled before any author's file is."""

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host import precompiled
from kernelbot.harness.host.precompiled import MOST, PrecompiledHeaders, flags_of
from kernelbot.harness.inside.cuda_on_cpu.inline import cpu_flags
from kernelbot.harness.inside.precompiled import COMPILED, FOLDER, variant
from kernelbot.harness.sandbox import RunnerClient, Zygote, run_command
from kernelbot.harness.sandbox.runner_tree import children_of
from kernelbot.harness.words.sandbox import Flavour, ZygoteConfig
from kernelbot.protocol import DeviceSpec, Vendor
from tests.harness.jobs import a_job

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ isn't installed")
BUILDS = "from torch.utils.cpp_extension import load_inline\nload_inline('a', '')\n"
KERNEL = "SOURCE = '__global__ void f() {}'\n"


def wanted() -> bool:
    return False


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (BUILDS, [()]),
        (BUILDS.replace("''", "'', extra_cflags=['-O3', \"-std=c++20\"]"), [("-O3", "-std=c++20")]),
        (BUILDS.replace("''", "'', extra_cflags = [ ]"), [()]),
        (BUILDS.replace("''", "'', extra_cflags=FLAGS"), []),
        (BUILDS.replace("''", "'', extra_cflags=['-fplugin=/box/mine.so']"), []),
        (BUILDS.replace("''", "'', extra_cflags=['-I/box']"), []),
        (BUILDS.replace("''", "'', no_implicit_headers=True"), []),
        (BUILDS.replace("load_inline", "load"), []),
        (BUILDS.replace("load_inline", "load") + "# <torch/extension.h>", [()]),
        ("# load_inline\n", []),
        ("import torch\n", []),
        ("extra_cflags=['-O3']" * 3, []),
        (BUILDS + "extra_cflags=['-O1'] extra_cflags=['-O2'] extra_cflags=['-O3']",
         [("-O1",), ("-O2",)]),
        (BUILDS + "extra_cflags=[" * 100_000, []),
    ],
)  # fmt: skip
def test_flags_are_those_that_the_file_says_if_they_are_known(
    source: str, expected: list[tuple[str, ...]]
) -> None:
    job = replace(a_job(source), device=DeviceSpec("H100", Vendor.NVIDIA, "90a"))
    assert expected == list(flags_of(job))


@pytest.mark.parametrize("checked", [False, True])
def test_flags_of_kernels_on_the_processor_are_ours_and_the_files(checked: bool) -> None:
    source = KERNEL + BUILDS.replace("''", "'', extra_cflags=['-O3', '-DNDEBUG']")
    job = replace(a_job(source), checked=checked)
    assert [cpu_flags(["-DNDEBUG"], checked=checked)] == list(flags_of(job))


def test_flags_of_hips_kernels_on_the_processor_are_known() -> None:
    job = a_job(KERNEL.replace("__global__", "#include <hip/hip_runtime.h>\n__global__") + BUILDS)
    assert [cpu_flags((), hip=True)] == list(flags_of(job))


def test_nothing_is_made_without_a_cache_or_in_one_that_others_write(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert [None, None] == [PrecompiledHeaders.below(cache) for cache in (None, shared)]


def test_what_is_there_is_not_made_again_and_what_failed_neither(tmp_path: Path) -> None:
    headers = PrecompiledHeaders(tmp_path)
    for name, flags in ((COMPILED, ("-O2",)), (precompiled._FAILED, ("-O3",))):
        path = headers.folder / variant(flags) / name
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        headers.make(flags, wanted)
        assert "mine" == path.read_text()


def test_who_is_not_wanted_any_more_leaves_nothing(tmp_path: Path) -> None:
    headers = PrecompiledHeaders(tmp_path)
    headers.make(("-O2",), lambda: True)
    assert [] == list(headers.folder.iterdir())


@pytest.mark.exhaustive
@pytest.mark.torch
def test_a_compiler_that_refuses_is_asked_once(tmp_path: Path) -> None:
    headers, flags = PrecompiledHeaders(tmp_path), ("-fno-such-flag",)
    (tmp_path / "making-1" / "made").mkdir(parents=True)  # left by a host that was killed
    headers.make(flags, wanted)
    place = headers.folder / variant(flags)
    assert [precompiled._FAILED] == [path.name for path in place.iterdir()]
    assert {"lock", headers.folder.name} == {path.name for path in tmp_path.iterdir()}


@pytest.mark.torch
def test_a_compiler_that_takes_too_long_is_asked_again_another_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = PrecompiledHeaders(tmp_path)
    mark = headers.folder / variant(()) / precompiled._FAILED
    monkeypatch.setattr(precompiled, "_LIMIT_S", 0.0)
    headers.make((), wanted)
    assert mark.exists()
    os.utime(mark, (1, 1))
    headers.make((), wanted)
    assert mark.stat().st_mtime > 1


def test_what_was_not_used_for_longest_is_deleted(tmp_path: Path) -> None:
    headers = PrecompiledHeaders(tmp_path)
    for age in range(MOST + 2):
        place = headers.folder / str(age)
        place.mkdir()
        os.utime(place, (1000 - age, 1000 - age))
    headers._prune()
    assert {str(age) for age in range(MOST)} == {path.name for path in headers.folder.iterdir()}


def used_up(base: Path, *, used_s_ago: float) -> PrecompiledHeaders:
    """With as many lists of flags as are kept."""
    headers, used_s = PrecompiledHeaders(base), time.time() - used_s_ago
    for number in range(MOST):
        place = headers.folder / str(number)
        place.mkdir()
        os.utime(place, (used_s, used_s))
    return headers


def test_another_list_of_flags_takes_no_place_of_one_that_was_just_used(tmp_path: Path) -> None:
    headers = used_up(tmp_path, used_s_ago=precompiled._STAYS_S - 60)
    headers.make(("-fno-such-flag",), wanted)
    assert {str(number) for number in range(MOST)} == {
        path.name for path in headers.folder.iterdir()
    }


@pytest.mark.torch
@pytest.mark.exhaustive
def test_another_list_of_flags_is_tried_if_one_was_not_used_for_long(tmp_path: Path) -> None:
    headers = used_up(tmp_path, used_s_ago=precompiled._STAYS_S + 60)
    headers.make(("-fno-such-flag",), wanted)
    assert (headers.folder / variant(("-fno-such-flag",))).exists()


def test_runners_read_what_was_made_and_cannot_write_there(tmp_path: Path) -> None:
    headers = PrecompiledHeaders(tmp_path)
    zygote = Zygote.start(ZygoteConfig(Flavour.BARE, precompiled=str(headers.folder)))
    try:
        zygote.wait_ready(60)
        client = RunnerClient(zygote.connect())
        (headers.folder / "later").write_text("made")
        read = run_command(client, ["cat", f"{FOLDER}/later"], timeout_s=60)
        written = run_command(client, ["touch", f"{FOLDER}/mine"], timeout_s=60)
        client.close()
    finally:
        zygote.close()
    assert "made" == read.stdout
    assert "Read-only file system" in written.stderr


_SOURCE = """#include <torch/extension.h>
torch::Tensor twice(torch::Tensor a) { TORCH_CHECK(a.dim() == 1, "one"); return a + a; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
"""


def test_a_compiler_stands_still_while_somebody_measures(tmp_path: Path) -> None:
    states: list[str] = []
    may_end = tmp_path / "may_end"

    def is_measured() -> bool:
        folders = [Path(f"/proc/{pid}") for pid in children_of(os.getpid())]
        states.extend(
            (folder / "stat").read_text().rpartition(") ")[2][0]
            for folder in folders  # other tests may have left some
            if os.fsencode(may_end) in (folder / "cmdline").read_bytes()
        )
        if len(states) == 3:
            may_end.touch()
        return len(states) < 3

    waits = (
        "import pathlib, sys, time\nwhile not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.01)"
    )
    command = [sys.executable, "-I", "-c", waits, str(may_end)]
    assert precompiled._ended_well(command, tmp_path, tmp_path / "said", wanted, is_measured)
    assert ["T", "T"] == states[1:3]


@pytest.mark.torch
@pytest.mark.long
@pytest.mark.timeout(900)  # two minutes of a processor, which others may share
def test_what_is_built_with_it_is_the_same_code(tmp_path: Path) -> None:
    headers, flags = PrecompiledHeaders(tmp_path / "headers"), ("-O2",)
    headers.make(flags, wanted)
    place = headers.folder / variant(flags)
    assert (place / COMPILED).stat().st_mtime == 1
    said = tmp_path / "flags"
    command = [sys.executable, "-I", "-c", precompiled._SAY_FLAGS, *flags]
    assert precompiled._ended_well(command, tmp_path, said, wanted)
    told = shlex.split(said.read_text().partition(" = ")[2])
    (tmp_path / "main.cpp").write_text(_SOURCE)
    objects = []
    for name, more in (("with", ["-isystem", str(place), "-H"]), ("without", [])):
        built = ["g++", *more, *told, "-c", "main.cpp", "-o", f"{name}.o"]
        done = subprocess.run(built, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert (name == "with") == (f"! {place}/{COMPILED}" in done.stderr)
        shown = ["objdump", "-d", "-r", "--no-addresses", f"{name}.o"]
        text = subprocess.run(shown, cwd=tmp_path, capture_output=True, text=True, check=True)
        objects.append(text.stdout.partition("\n\n\n")[2])
    assert objects[0] == objects[1] != ""
