"""Submissions under the vendors' profilers: real sandbox, real interpreters, fake tools."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy
import pytest

from kernelbot.harness.data.encode import encode
from kernelbot.harness.inside.own_builds import pack
from kernelbot.harness.judge.profiling.findings import File, ProfilerFindings
from kernelbot.harness.judge.profiling.tools import Installed, RunAgain, find_tool
from kernelbot.harness.judge.profiling.watched import Subject, ToolProfiler
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, SourceFile, Vendor
from tests.fakes.toolkits import TORCH, cuda_toolkit
from tests.harness.jobs import a_job, a_problem
from tests.harness.judge.profiling.conftest import runners

SUBMISSION = """
import torch
from task import unit
calls = 0
def custom_kernel(data):
    global calls
    calls += 1
    assert data == [unit, "a'; echo x"]
    for at in range(12):
        torch.launch(f"void call_{calls}_kernel_{at}<64, 128>(const float *, int)")
"""
DATA = [7, "a'; echo x"]


def job(vendor: Vendor, submission: str = SUBMISSION) -> JobSpec:
    files = (SourceFile("task.py", "import torch\nunit = 7\n"), SourceFile("torch.py", TORCH))
    problem = a_problem(files=files)
    wanted = a_job(submission, mode=Mode.PROFILE, problem=problem)
    return replace(wanted, device=DeviceSpec("a GPU", vendor))


def profile(
    client: RunnerClient,
    wanted: JobSpec,
    *,
    data: object = DATA,
    binary: bytes | None = None,
    builds: bytes = b"",
    seconds: float = 60,
) -> ProfilerFindings:
    tool = find_tool(wanted)
    assert isinstance(tool, Installed)
    subject = Subject(wanted, frozenset({"task"}), binary, builds)
    encoded = encode(data, subject.modules, of_input=True)
    return ToolProfiler(tool, subject, client, monotonic() + seconds).profile(encoded)


def test_ncu_sees_the_second_call_only_and_of_it_ten_kernels(client: RunnerClient) -> None:
    found = profile(client, job(Vendor.NVIDIA))
    (report,) = found.files
    assert ("ncu-rep", "application/octet-stream") == (report.suffix, report.media_type)
    kernels = [f"void call_2_kernel_{at}<64, 128>(const float *, int)" for at in range(10)]
    assert {"kernels": kernels, "set": "full", "source": "1"} == json.loads(report.content)


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_the_text_has_three_tables_and_the_occupancy_of_each_kernel(client: RunnerClient) -> None:
    text = profile(client, job(Vendor.NVIDIA)).text
    assert text.startswith("void call_2_kernel_0<64, 128>(const float *, int) (112, 1, 1)x(256")
    assert 10 == text.count("  GPU Throughput\n")
    assert 10 == text.count("  Pipe Utilization (% of active cycles)\n")
    assert 10 == text.count("  Warp State (All Cycles)\n")
    occupancy = [line.split() for line in text.splitlines() if "Occupancy" in line][:3]
    assert [
        ["Occupancy"],
        ["Theoretical", "Occupancy", "%", "50"],
        ["Achieved", "Occupancy", "%", "48.25"],
    ] == occupancy
    left_out = ("Memory Chart", "SM Frequency", "at length", "Block Limit")
    assert not any(word in text for word in left_out)


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_the_submission_knows_that_it_is_watched(client: RunnerClient) -> None:
    source = (
        "import os, torch\ndef custom_kernel(data):\n    torch.launch(os.environ['POPCORN_NCU'])\n"
    )
    assert profile(client, job(Vendor.NVIDIA, source)).text.startswith("1 (112, 1, 1)x")


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_a_range_of_the_authors_own_hides_nothing(client: RunnerClient) -> None:
    source = (
        "import torch\ndef custom_kernel(data):\n    torch.cuda.nvtx.range_push('mine')\n"
        "    torch.launch('k')\n    torch.cuda.nvtx.range_pop()\n"
    )
    assert profile(client, job(Vendor.NVIDIA, source)).text.startswith("k (112, 1, 1)x")


def test_a_kernel_that_launches_nothing_is_reported_with_the_tools_message(
    client: RunnerClient,
) -> None:
    found = profile(client, job(Vendor.NVIDIA, "def custom_kernel(data): pass\n"))
    assert (
        ProfilerFindings("Nsight Compute", "It left no report: No kernels were profiled.") == found
    )


def test_a_submission_that_dies_under_the_tool_is_no_failure(client: RunnerClient) -> None:
    found = profile(client, job(Vendor.NVIDIA, "raise ValueError('not here')\n"))
    assert () == found.files
    assert "It left no report: No kernels were profiled." == found.text


@pytest.mark.exhaustive  # each run has test_a_submission_that_dies_under_the_tool_is_no_failure
def test_one_that_hangs_is_stopped_in_half_of_the_time(client: RunnerClient) -> None:
    found = profile(client, job(Vendor.NVIDIA, "while True: pass\n"), seconds=2)
    assert "It left no report: it was stopped, because it took too long." == found.text


def test_arrays_arrive_in_the_fresh_interpreter(client: RunnerClient) -> None:
    source = (
        "import torch\ndef custom_kernel(data):\n    torch.launch(f'{data.dtype} {data.sum()}')\n"
    )
    data = numpy.arange(5, dtype=numpy.float32)
    assert profile(client, job(Vendor.NVIDIA, source), data=data).text.startswith("float32 10.0 (")


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_a_compiled_submission_is_watched_too(client: RunnerClient, tmp_path: Path) -> None:
    source = (
        "#include <cstdint>\n#include <cstdio>\n"
        'extern "C" void custom_kernel(const float *in, int64_t n, float *out) {\n'
        '    FILE *diary = fopen("gpu.log", "a");\n'
        '    fprintf(diary, "launch doubled<%d>\\n", (int)(2 * in[n - 1]));\n'
        "    fclose(diary); out[0] = in[0];\n}\n"
    )
    (tmp_path / "a.cpp").write_text(source)
    command = ["g++", "-shared", "-fPIC", str(tmp_path / "a.cpp"), "-o", str(tmp_path / "a.so")]
    subprocess.run(command, check=True)
    data = (numpy.arange(5, dtype=numpy.float32), 5, numpy.zeros(1, numpy.float32))
    binary = (tmp_path / "a.so").read_bytes()
    found = profile(client, job(Vendor.NVIDIA), data=data, binary=binary)
    assert found.text.startswith("doubled<8> (112, 1, 1)x")


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_what_was_compiled_before_is_found_again(client: RunnerClient, tmp_path: Path) -> None:
    built = tmp_path / ".triton" / "cache" / "k.bin"
    built.parent.mkdir(parents=True)
    built.write_text("kept")
    source = (
        "import pathlib, torch\ndef custom_kernel(data):\n"
        "    torch.launch(pathlib.Path.home().joinpath('.triton/cache/k.bin').read_text())\n"
    )
    found = profile(client, job(Vendor.NVIDIA, source), builds=pack(tmp_path))
    assert found.text.startswith("kept (112, 1, 1)x")


@pytest.mark.exhaustive  # each run has test_rocprof_sums_up_by_kernel_and_leaves_its_files
def test_without_permission_it_is_said_who_can_give_it(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_HOME", str(cuda_toolkit(tmp_path / "cuda", restricted=True)))
        with runners() as client:
            text = profile(client, job(Vendor.NVIDIA)).text
    assert "The GPU's counters may not be read here (ERR_NVGPUCTRPERM)." in text
    assert "NVreg_RestrictProfilingToAdminUsers=0" in text


def test_rocprof_sums_up_by_kernel_and_leaves_its_files(client: RunnerClient) -> None:
    source = (
        "import torch\ndef custom_kernel(data):\n    torch.launch('fill')\n"
        "    torch.launch('gemm')\n"
    )
    found = profile(client, job(Vendor.AMD, source))
    assert ["gemm", "fill"] == [line.split()[0] for line in found.text.splitlines()[3:]]
    assert ["gemm", "2", "6.00", "3.00", "60.0", "%"] == found.text.splitlines()[3].split()
    kinds = {file.suffix: file.media_type for file in found.files}
    assert {
        "results.pftrace": "application/octet-stream",
        "kernel_stats.csv": "text/csv",
        "kernel_trace.csv": "text/csv",
    } == kinds


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_rocprof_that_saw_nothing_says_so(client: RunnerClient) -> None:
    found = profile(client, job(Vendor.AMD, "def custom_kernel(data): pass\n"))
    assert "It left no statistics: W1234 no kernel dispatches were traced" == found.text


@pytest.mark.parametrize(
    ("vendor", "sentence"),
    [
        (Vendor.NVIDIA, "ncu is not installed where this was judged: install NVIDIA Nsight"),
        (Vendor.AMD, "rocprofv3 is not installed where this was judged: install ROCprofiler-SDK"),
    ],
)
def test_a_missing_tool_is_one_sentence(
    vendor: Vendor, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CUDA_HOME", "ROCM_PATH", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    found = find_tool(job(vendor))
    assert isinstance(found, ProfilerFindings)
    assert found.text.startswith(sentence)


class Watching:
    """A tool of somebody else's, for CPUs: it says of itself what it was started with."""

    title = "Watching"
    program = "env"
    package = "coreutils"
    environment: dict[str, str] = {"WATCHED": "yes"}  # noqa: RUF012 (nobody writes to it)
    leaves: tuple[str, ...] = ("seen",)

    def command(self, program: str, argv: list[str]) -> list[str]:
        return [program, "BY=their tool", *argv]

    def findings(self, result: CommandResult, program: str, run: RunAgain) -> ProfilerFindings:
        seen = result.collected["seen"]
        again = run([program, "cat", "given"], {"given": seen}).stdout
        return ProfilerFindings(self.title, again, (File("seen", "text/plain", seen),))


@pytest.mark.exhaustive  # each run has test_ncu_sees_the_second_call_only_and_of_it_ten_kernels
def test_another_tool_is_one_more_entry(client: RunnerClient) -> None:
    source = (
        "import os\ndef custom_kernel(data):\n"
        "    with open('seen', 'w') as file: print(os.environ['BY'], data[0], file=file)\n"
        "    return os.environ['WATCHED']\n"
    )
    wanted = job(Vendor.CPU, source)
    tool = find_tool(wanted, {Vendor.CPU: Watching()})
    assert isinstance(tool, Installed)
    subject = Subject(wanted, frozenset({"task"}), None, b"")
    encoded = encode(DATA, subject.modules, of_input=True)
    found = ToolProfiler(tool, subject, client, monotonic() + 60).profile(encoded)
    seen = b"their tool 7\n"
    assert ProfilerFindings("Watching", seen.decode(), (File("seen", "text/plain", seen),)) == found


def test_a_cpu_has_no_tool() -> None:
    assert find_tool(job(Vendor.CPU)) is None
