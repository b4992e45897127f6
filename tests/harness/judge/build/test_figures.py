"""What is read of kernels in a file's build folders; Triton's own files are tried with Triton in
`test_building_ahead.py`."""

import io
import json
import tarfile
from itertools import islice

import pytest

from kernelbot.harness.inside.built_kernels import MOST
from kernelbot.harness.judge.build.figures import _by_cute, _by_hip, _in_library, described_in
from kernelbot.harness.sandbox import RunnerClient

TOLD = {"name": "k", "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "num_warps": 4, "num_stages": 3, "shared": 2048}  # fmt: skip
PTXAS = (
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "    8 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 0 barriers\n"
)
AMDGCN = """
amdhsa.kernels:
  - .agpr_count:     0
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 24
    .sgpr_count:     20
    .vgpr_count:     96
    .vgpr_spill_count: 6
"""


def archive(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as made:
        for name, text in files.items():
            found = tarfile.TarInfo(name)
            found.size = len(text.encode())
            made.addfile(found, io.BytesIO(text.encode()))
    return packed.getvalue()


def triton(told: str, words: str = "", amdgcn: str = "") -> bytes:
    return archive(
        {
            ".triton/cache/AAAA/k.json": told,
            ".triton/cache/AAAA/__grp__k.json": told,
            ".triton/cache/AAAA/kernelbot.ptxas": words,
            **({".triton/cache/AAAA/k.amdgcn": amdgcn} if amdgcn else {}),
        }
    )


def test_a_kernel_of_triton_for_nvidia(client: RunnerClient) -> None:
    expected = {
        "name": "k",
        "arch": "90",
        "registers": "40",
        "stack_bytes": "8",
        "spill_store_bytes": "8",
        "spill_load_bytes": "16",
        "barriers": "0",
        "shared_bytes": "2048",
        "threads": "128",
        "stages": "3",
    }
    assert (expected,) == described_in(
        triton(json.dumps(TOLD), PTXAS), client, sandboxed=True
    ).kernels


def test_a_kernel_of_triton_for_amd(client: RunnerClient) -> None:
    told = {**TOLD, "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}}
    (row,) = described_in(triton(json.dumps(told), amdgcn=AMDGCN), client, sandboxed=True).kernels
    assert ("96", "24", "24", "256", "gfx942") == (
        row["registers"],
        row["spill_store_bytes"],
        row["stack_bytes"],
        row["threads"],
        row["arch"],
    )


HIP = """
  - .agpr_count:     8
    .args:
      - .name:           pretended
        .value_kind:     global_buffer
    .group_segment_fixed_size: 512
    .max_flat_workgroup_size: 256
    .name:           _Z1kPf
    .private_segment_fixed_size: 16
    .sgpr_count:     102
    .vgpr_count:     104
    .vgpr_spill_count: 3
  - .max_flat_workgroup_size: 1024
    .name:           'second'
    .vgpr_count:     7
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
"""


def test_kernels_of_hip(client: RunnerClient) -> None:
    """A block's threads are known where the author has bounded them."""
    packed = archive({".cache/kernelbot/hip/a.metadata": HIP})
    first, second = described_in(packed, client, sandboxed=True).kernels
    assert {
        "name": "k(float*)",
        "registers": "104",
        "accumulation_registers": "8",
        "scalar_registers": "102",
        "spill_store_bytes": "12",
        "stack_bytes": "16",
        "shared_bytes": "512",
        "threads": "256",
    } == first
    assert {"name": "second", "registers": "7"} == second


@pytest.mark.parametrize("told", ["", "  - .name:", "  - " * 100_000, "    .name: " + "x" * 99_999])
def test_what_is_no_kernel_of_hip_costs_no_time(told: str) -> None:
    found = list(islice(_by_hip({"metadata": told}), MOST))
    assert all(len(row["name"]) <= 16384 for row in found)


@pytest.mark.parametrize(
    "told",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        json.dumps({**TOLD, "target": None}),
        json.dumps({**TOLD, "num_warps": "x"}),
    ],
)
def test_what_is_no_kernel_is_left_out(client: RunnerClient, told: str) -> None:
    assert () == described_in(triton(told), client, sandboxed=True).kernels


def test_what_is_no_archive_has_no_kernels(client: RunnerClient) -> None:
    assert () == described_in(b"\x00" * 2000, client, sandboxed=True).kernels


def test_figures_that_are_no_numbers_are_left_out(client: RunnerClient) -> None:
    told = json.dumps({**TOLD, "shared": "9" * 4000})
    (row,) = described_in(
        triton(told, "Used " + "9" * 100 + " registers"), client, sandboxed=True
    ).kernels
    assert {"name", "arch", "threads", "stages"} == set(row)


def test_no_kernel_has_the_rest_of_a_long_text_looked_through() -> None:
    found = list(islice(_in_library("Function a: " * 1_000_000), MOST))
    assert [{"name": "a"}] * MOST == found


def test_a_librarys_figures_are_those_of_the_next_line() -> None:
    told = " Function k:\n  REG:40 STACK:8 SHARED:2048\n Function other:\n  REG:1\n"
    first, second = _in_library(told)
    assert {"name": "k", "registers": "40", "stack_bytes": "8", "shared_bytes": "2048"} == first
    assert {"name": "other", "registers": "1"} == second


def test_a_program_of_the_authors_is_not_taken_for_cuobjdump(client: RunnerClient) -> None:
    forged = "#!/bin/sh\necho 'Function forged:'\necho ' REG:1'\n"
    files = {
        "triton/__init__.py": "",
        "triton/backends/nvidia/bin/cuobjdump": forged,
        ".cache/torch_extensions/x/x.so": "",
    }
    assert () == described_in(archive(files), client, sandboxed=True).kernels


def test_no_more_kernels_are_read_than_are_shown(client: RunnerClient) -> None:
    files = {f".triton/cache/{i}/k.json": json.dumps(TOLD) for i in range(MOST + 5)}
    assert MOST == len(described_in(archive(files), client, sandboxed=True).kernels)


def cute(*launches: object) -> dict[str, str]:
    resources = "arch = sm_90a\n Function k_0:\n  REG:40 STACK:8 SHARED:3072\n"
    return {"resources": resources, "launches": "\n".join(json.dumps(one) for one in launches)}


def test_a_kernel_of_cute_has_a_row_for_each_kind_of_launch() -> None:
    loaded, launches = ["k_0", 0, 0, "k"], (["k_0", 128, 512, "k"], ["k_0", 64, 0, "k"])
    rows = list(_by_cute(cute(loaded, *launches, ["other", 1, 1, "o"])))
    known = {"name": "k", "registers": "40", "stack_bytes": "8"}
    assert [
        known | {"shared_bytes": "2560", "threads": "128"},
        known | {"shared_bytes": "2048", "threads": "64"},
    ] == rows


def test_of_a_kernel_that_was_only_loaded_no_launch_is_told() -> None:
    known = {"name": "k", "registers": "40", "stack_bytes": "8", "threads": "0"}
    assert [known] == list(_by_cute(cute(["k_0", 0, 0, "k"])))


@pytest.mark.parametrize(
    "launch",
    [None, 1, [], {}, "k_0", ["k_0", "128", 0, "k"], ["k_0", -1, 0, "k"], ["k_0", 10**99, 0, "k"]],
)
def test_what_is_no_launch_is_left_out(launch: object) -> None:
    assert ["k_0"] == [row["name"] for row in _by_cute(cute(launch))]


def test_what_the_system_reserves_is_not_the_kernels() -> None:
    told = "arch = sm_90a\n Function a:\n  SHARED:2048\narch = sm_80\n Function b:\n  SHARED:2048\n"
    assert ["1024", "2048"] == [row["shared_bytes"] for row in _in_library(told)]


def test_what_nvcc_said_of_extensions(client: RunnerClient) -> None:
    """Of what was compiled for a report alone: an empty library says nothing."""
    built = ".cache/torch_extensions/py311_cpu/mine"
    warned = 'k.cu(3): warning #177-D: variable "x" was declared but never referenced\n'
    files = {f"{built}/cuda.cuda.o.said": PTXAS + warned, f"{built}/mine.so": ""}
    told = described_in(archive(files), client, sandboxed=True)
    (row,) = told.kernels
    assert ("k", "sm_90a", "40", "8", "16", PTXAS + warned) == (
        row["name"],
        row["arch"],
        row["registers"],
        row["spill_store_bytes"],
        row["spill_load_bytes"],
        told.said,
    )
