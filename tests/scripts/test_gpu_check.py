"""The report of a machine's GPU, as far as it can be tried without one."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from scripts.gpu_check import arenas, first_run, timing
from scripts.gpu_check.__main__ import NO_GPU, SECTIONS, main
from scripts.gpu_check.duels import is_right
from scripts.gpu_check.examples import EXAMPLES, PROBLEMS, is_as_expected
from scripts.gpu_check.machine import Gpu, complaints, find_gpu, parse_gpu
from scripts.gpu_check.outputs import SEVERAL, are_alike
from scripts.gpu_check.timing import SPIN, asked_ns, is_credible, submissions

from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import Case, Failure, Fault, Mode, RunResult, Vendor, Verdict
from kernelbot.protocol.ratios import duel_workload
from tests.harness.jobs import SORT, a_job
from tests.support.cuda_driver import build_driver
from tests.support.exhaustive import cases

ROOT = Path(__file__).resolve().parents[2]
HOPPER = Gpu("NVIDIA H200", "90a")
NVIDIA_SMI = """#!/bin/sh
case "$1" in
  --query-gpu=name,compute_cap) echo "NVIDIA H200, 9.0" ;;
  *) echo "NVIDIA H200, 580.1, 9.0, 143771 MiB, 345 MHz, 1980 MHz, 3201 MHz, 30, 75 W, $MODE" ;;
esac
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH that begins with a fake of nvidia-smi."""
    (tmp_path / "nvidia-smi").write_text(NVIDIA_SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.parametrize("with_nvcc", [True, False])
def test_what_is_built_is_cuda_wherever_there_is_nvcc(with_nvcc: bool) -> None:
    source = first_run.built(with_nvcc=with_nvcc)
    compile(source, "submission.py", "exec")
    assert with_nvcc is ("<<<" in source)


def test_the_first_gpu_counts() -> None:
    text = "NVIDIA H200, 9.0\nNVIDIA A100-SXM4-80GB, 8.0\n"
    assert HOPPER == parse_gpu(text)


@pytest.mark.parametrize("text", ["", "No devices were found\n", "NVIDIA, [N/A]\n", ",\n"])
def test_anything_else_is_no_gpu(text: str) -> None:
    assert parse_gpu(text) is None


def test_a_gpu_is_a_device_for_jobs() -> None:
    device = HOPPER.device
    assert ("NVIDIA-H200", Vendor.NVIDIA, "90a") == (device.name, device.vendor, device.arch)


@pytest.mark.skipif(find_gpu() is not None, reason="there is a GPU here")
def test_without_a_gpu_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    status, told = main([]), capsys.readouterr()
    assert (NO_GPU, "", "There is no NVIDIA GPU here: nothing was checked.\n") == (
        status,
        told.out,
        told.err,
    )


def test_a_section_that_does_not_exist_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["tiling"])
    assert (1, f"No section 'tiling': there are {', '.join(SECTIONS)}.\n") == (
        status,
        capsys.readouterr().err,
    )


@pytest.mark.exhaustive  # each run has test_the_solutions_of_an_example_behave
@pytest.mark.skipif(find_gpu() is not None, reason="there is a GPU here")
def test_a_gpu_that_processes_cannot_use_is_no_success(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("MODE", "Exclusive_Process")
    status, said = main(["device"]), capsys.readouterr().out
    assert 1 == status
    assert "NVIDIA H200, sm_90" in said
    assert "NO: compute mode Exclusive_Process" in said
    assert "NO: a process couldn't use the GPU" in said
    assert "device   NO" in said


def test_no_complaint_if_all_is_well() -> None:
    found = complaints({"compute_mode": "Default"}, {"torch": "2", "torch's CUDA": "13.0"}, None)
    assert [] == [line for line in found if not line.startswith("nvcc")]


def test_a_daemon_that_shares_the_gpu_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    (tmp_path / "control").touch()
    assert any("MPS is running" in line for line in complaints({}, {}, None))


def test_a_sliced_gpu_needs_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"compute_mode": "Default", "mig.mode.current": "Enabled"}
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    unnamed = complaints(facts, {}, None)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-11111111-2222")
    named = complaints(facts, {}, None)
    assert [1, 0] == [
        sum("is sliced (MIG)" in line for line in lines) for lines in (unnamed, named)
    ]


def test_a_torch_for_cpus_is_recognised() -> None:
    found = complaints({}, {"torch": "2.13.0+cpu", "torch's CUDA": None}, None)
    assert "this torch is built for CPUs only; install the build for your CUDA" in found


@pytest.mark.parametrize(
    ("measured_us", "credible"),
    [(98.5, True), (97, False), (100, True), (101.5, True), (103, False)],
)
def test_a_time_is_credible_if_it_is_no_less_and_little_more(
    measured_us: float, credible: bool
) -> None:
    assert credible == is_credible(100e3, measured_us * 1e3)


def test_memory_is_shared_between_forked_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the stand-in for the driver."""
    build_driver(tmp_path)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert arenas.check(HOPPER)
    assert "shared, in steps of 1024 KiB" in capsys.readouterr().out


@pytest.mark.parametrize(("medians_us", "alike"), [((20, 21, 20.5), True), ((20, 22), False)])
def test_times_are_alike_within_a_clocks_step(medians_us: tuple[float, ...], alike: bool) -> None:
    assert alike == are_alike([one * 1e3 for one in medians_us])


def test_every_section_is_described() -> None:
    text = (ROOT / "docs/how-to/check-a-gpu.md").read_text()
    assert [] == [name for name in SECTIONS if f"| `{name}` |" not in text]


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("built in 30.10 s\nbuilt in 0.20 s\nbuilt in 0.25 s\n", True),
        ("built in 30.10 s\nbuilt in 0.20 s\nbuilt in 29 s\n", False),
        ("built in 30.10 s\n", False),
        ("not built in 3 s\n", False),
    ],
)
def test_a_second_build_is_seen_by_its_time(text: str, once: bool) -> None:
    assert once == first_run.compiled_once(first_run.build_times_s(text))


def test_the_examples_can_be_changed_for_a_first_machine() -> None:
    (case,) = first_run.of_size(64).benchmarks
    assert 2896 == case.args["size"]
    slow = {file.name: file.text for file in first_run.with_gap(0.5).files}["reference.py"]
    assert "time.sleep(0.5)" in slow
    ranks = first_run.on_gpus(2)
    assert {2} == {case.args["world_size"] for case in (*ranks.tests, *ranks.benchmarks)}
    assert any(".cuda(rank)" in file.text for file in ranks.files)


def test_the_problem_of_several_outputs_is_one() -> None:
    assert [1, 2, 4, 8] == [
        case.args["parts"] for case in load_problem(SEVERAL).definition.spec.benchmarks
    ]


def test_what_a_workload_asks_for_is_read_from_its_spec() -> None:
    assert 20e3 == asked_ns(Case({"microseconds": 20, "seed": 4}).spec)


def test_every_length_is_measured() -> None:
    spec = load_problem(SPIN).definition.spec
    assert [5, 20, 100, 1000, 10000] == [case.args["microseconds"] for case in spec.benchmarks]
    assert spec.ranking_by != "last"


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here")
@pytest.mark.parametrize(
    "source", cases(submissions(), always=submissions()[:1]), ids=lambda path: path.name
)
def test_kernels_of_known_length_compile(source: Path, tmp_path: Path) -> None:
    flags = ["-std=c++20", "-arch=sm_90", "--ptx", f"-I{SPIN}", "-Werror", "all-warnings"]
    command = ["nvcc", *flags, "-o", str(tmp_path / "out.ptx"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


@pytest.fixture(scope="module")
def accepted() -> RunResult:
    host = Host()
    try:
        return host.judge(a_job(SORT, mode=Mode.BENCHMARK), lambda _event: None)
    finally:
        host.close()


@pytest.mark.exhaustive  # each run has test_kernels_of_known_length_compile
def test_only_the_correct_examples_are_to_be_accepted(accepted: RunResult) -> None:
    assert Verdict.ACCEPTED == accepted.verdict
    assert (True, False) == (is_as_expected(accepted, "correct"), is_as_expected(accepted, "wrong"))


def test_the_examples_have_both_kinds() -> None:
    kinds = {p: {k.name for k in (EXAMPLES / p / "solutions").iterdir()} for p in PROBLEMS}
    assert {p: {"correct", "wrong"} for p in PROBLEMS} == kinds


def test_what_could_not_be_judged_is_not_credible(accepted: RunResult) -> None:
    lost = Failure(Fault.PLATFORM, "Runners find no GPU.")
    result = replace(accepted, verdict=Verdict.INTERNAL_ERROR, failure=lost)
    (row,) = timing.rows_of(Path("a'; echo x.cu"), result)
    assert ("a'; echo x.cu", "NO: Runners find no GPU.") == (row[0], row[-1])


def test_a_ratio_is_right_within_its_interval_and_what_counts_as_alike() -> None:
    load = duel_workload("", [98.0] * 9, [100.0] * 9, "")
    assert [True, True, False] == [is_right(load, expected) for expected in (0.98, 0.984, 1.0)]
