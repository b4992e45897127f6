"""Headers that a device's machines have: compilers in the sandbox find them."""

from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.host.host import Host
from kernelbot.protocol import BuildConfig, JobSpec, Lang, Verdict
from tests.harness.jobs import a_job, a_problem

REFERENCE = """
import numpy as np
def generate_input(size, seed):
    return np.random.default_rng(seed).random(size), np.zeros(size), size
def ref_kernel(data):
    return data[0].copy()
def check_implementation(data, output):
    return bool((output == ref_kernel(data)).all()), "other numbers"
"""
COPY = """
#include <cstdint>
#include <parts/copying.h>
extern "C" void custom_kernel(const double* in, double* out, int64_t n) { COPY(in, out, n); }
"""
HEADER = "#define COPY(in, out, n) for (int64_t i = 0; i < n; ++i) out[i] = in[i]\n"


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Below a folder that only root can enter, and that runners cover."""
    folder = tmp_path_factory.mktemp("headers") / "include"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "copying.h").write_text(HEADER)
    return folder


def job(*include_dirs: str) -> JobSpec:
    problem = replace(
        a_problem(reference=REFERENCE),
        lang=Lang.CPP,
        submission_name="submission.cpp",
        config=BuildConfig(sources=("submission.cpp",), outputs=(1,)),
    )
    made = a_job(COPY, problem=problem)
    return replace(made, device=replace(made.device, include_dirs=include_dirs))


@pytest.mark.exhaustive
def test_a_compiler_finds_them_only_if_the_device_has_them(host: Host, headers: Path) -> None:
    found = host.judge(job(str(headers)), lambda _event: None)
    missing = host.judge(job(), lambda _event: None)
    assert (Verdict.ACCEPTED, Verdict.COMPILE_ERROR) == (found.verdict, missing.verdict)


@pytest.mark.parametrize("folder", ["/no/such folder", "relative", "/", "/etc/passwd"])
def test_a_folder_that_is_not_there_is_our_fault(host: Host, folder: str) -> None:
    result = host.judge(job(folder), lambda _event: None)
    assert result.failure is not None
    assert Verdict.INTERNAL_ERROR == result.verdict
    assert f"include_dirs name {folder}, which isn't a folder" in result.failure.message
