"""Problems with a script of their own under a vendor's profiler: fake tools, real sandbox."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.script.judge import judge_script
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import (
    BuildConfig,
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Mode,
    SourceFile,
    Timeouts,
    Vendor,
    Verdict,
)
from tests.fakes.toolkits import TORCH, cuda_toolkit
from tests.harness.jobs import a_job, a_problem
from tests.harness.judge.profiling.conftest import runners

EVAL = """
import os, sys, torch
from submission import custom_kernel
fd, watched = int(os.environ["POPCORN_FD"]), "POPCORN_NCU" in os.environ
def log(key, value):
    os.write(fd, f"{key}: {value}\\n".encode())
cases = open(sys.argv[2]).read().splitlines()
for i, case in enumerate(cases):
    if sys.argv[1] == "test":
        log(f"test.{i}.status", "pass")
    else:
        custom_kernel(case)
        torch.cuda.nvtx.range_push("custom_kernel")
        custom_kernel(case)
        torch.cuda.nvtx.range_pop()
        if not watched:
            log(f"benchmark.{i}.report", "dGFibGU=")
log("check", "pass")
"""
KERNEL = """
import os, torch
def custom_kernel(case):
    torch.launch("k of " + case)
"""


def job(vendor: Vendor, source: str = KERNEL) -> JobSpec:
    files = (SourceFile("eval.py", EVAL), SourceFile("torch.py", TORCH))
    problem = replace(
        a_problem(files=files), harness=HarnessKind.SCRIPT, config=BuildConfig(main="eval.py")
    )
    wanted = a_job(source, mode=Mode.PROFILE, problem=problem)
    return replace(wanted, device=DeviceSpec("a GPU", vendor))


def files(outcome: Collected) -> dict[str, bytes]:
    return {item.name: base64.b64decode(item.content_base64) for item in outcome.artifacts.all()}


# Each run has test_a_script_that_fails_only_under_the_tool_is_believed_without_it
@pytest.mark.exhaustive
def test_the_script_marks_what_ncu_looks_at(client: RunnerClient) -> None:
    outcome = judge_script(job(Vendor.NVIDIA), client, lambda _event: None)
    assert Verdict.ACCEPTED == outcome.phases[-1].verdict
    found = files(outcome)
    assert ["profile.0.txt", "profile.0.ncu-rep"] == list(found)
    assert ["k of size: 5000; seed: 2"] == json.loads(found["profile.0.ncu-rep"])["kernels"]
    text = found["profile.0.txt"].decode()
    assert text.startswith("== Nsight Compute ==\nk of size: 5000; seed: 2 (112, 1, 1)x")
    assert "The problem's script" not in text  # under ncu it has no report of its own


@pytest.mark.exhaustive  # each run has test_without_the_tool_too
def test_without_permission_the_scripts_own_report_is_there(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_HOME", str(cuda_toolkit(tmp_path / "cuda", restricted=True)))
        with runners() as client:
            outcome = judge_script(job(Vendor.NVIDIA), client, lambda _event: None)
    assert Verdict.ACCEPTED == outcome.phases[-1].verdict
    text = files(outcome)["profile.0.txt"].decode()
    assert "The GPU's counters may not be read here" in text
    assert text.endswith("== The problem's script ==\ntable")


def test_without_the_tool_too(
    client: RunnerClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    outcome = judge_script(job(Vendor.NVIDIA), client, lambda _event: None)
    text = files(outcome)["profile.0.txt"].decode()
    assert text.startswith("== Nsight Compute ==\nncu is not installed where this was judged")
    assert text.endswith("== The problem's script ==\ntable")


def test_a_tool_that_the_sandbox_does_not_show_is_reported(
    client: RunnerClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(cuda_toolkit(tmp_path / "made later")))
    outcome = judge_script(job(Vendor.NVIDIA), client, lambda _event: None)
    text = files(outcome)["profile.0.txt"].decode()
    assert "could not be started" in text
    assert text.endswith("table")


def test_rocprof_watches_the_script(client: RunnerClient) -> None:
    outcome = judge_script(job(Vendor.AMD), client, lambda _event: None)
    found = files(outcome)
    assert "profile.0.kernel_stats.csv" in found
    assert "k of size: 5000; seed: 2      2" in found["profile.0.txt"].decode()
    assert found["profile.0.txt"].decode().endswith("== The problem's script ==\ntable")


def test_a_submission_that_fails_under_the_tool_is_refused_by_the_plain_run(
    client: RunnerClient,
) -> None:
    outcome = judge_script(
        job(Vendor.NVIDIA, "def custom_kernel(case): raise ValueError('no')\n"),
        client,
        lambda _event: None,
    )
    assert Verdict.RUNTIME_ERROR == outcome.phases[-1].verdict


def test_a_script_that_fails_only_under_the_tool_is_believed_without_it(
    client: RunnerClient,
) -> None:
    source = KERNEL + "if 'POPCORN_NCU' in os.environ: os.close(int(os.environ['POPCORN_FD']))\n"
    outcome = judge_script(job(Vendor.NVIDIA, source), client, lambda _event: None)
    assert Verdict.ACCEPTED == outcome.phases[-1].verdict
    assert files(outcome)["profile.0.txt"].decode().endswith("== The problem's script ==\ntable")


# Each run has test_a_script_that_fails_only_under_the_tool_is_believed_without_it
@pytest.mark.exhaustive
def test_a_tool_that_hangs_leaves_time_for_the_plain_run(client: RunnerClient) -> None:
    source = KERNEL + "while 'POPCORN_NCU' in os.environ: pass\n"
    wanted = job(Vendor.NVIDIA, source)
    problem = replace(wanted.problem, timeouts=Timeouts(benchmark_s=6))
    outcome = judge_script(replace(wanted, problem=problem), client, lambda _event: None)
    assert Verdict.ACCEPTED == outcome.phases[-1].verdict
    text = files(outcome)["profile.0.txt"].decode()
    assert "It left no report: it was stopped, because it took too long." in text
    assert text.endswith("table")
