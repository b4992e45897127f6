"""`check_solutions` through the real harness."""

import shutil
from pathlib import Path

import pytest

from kernelbot.catalog.oracle import find_solutions
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.skeleton import new_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Lang,
    Mode,
    RunResult,
    SandboxMode,
    Vendor,
    Verdict,
)
from kernelbot.server.check import CheckedSolution, check_configured, check_solutions

CPU = DeviceSpec("CPU", Vendor.CPU)

CHEATS_WHEN_LARGE = """
import numpy as np


def custom_kernel(data):
    array, factor = data
    return array * np.float32(factor) if array.size < 12000 else np.zeros_like(array)
"""


class RecordingJudge:
    """The real harness, which notes what it was asked."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.asked: list[tuple[str, Mode]] = []

    def __call__(self, job: JobSpec) -> RunResult:
        self.asked.append((job.job_id, job.mode))
        return self.host.judge(job, lambda event: None)


@pytest.fixture
def judge(host: Host) -> RecordingJudge:
    return RecordingJudge(host)


def check(folder: Path, judge: RecordingJudge) -> dict[str, CheckedSolution]:
    checked = check_solutions(load_problem(folder), judge, device=CPU)
    return {item.solution.label: item for item in checked}


def behaviour(checked: dict[str, CheckedSolution]) -> dict[str, bool | None]:
    return {label: item.behaved for label, item in checked.items()}


@pytest.mark.exhaustive
def test_a_new_problem_behaves(tmp_path: Path, judge: RecordingJudge) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    checked = check(tmp_path / "scale", judge)
    assert set(behaviour(checked).values()) == {True}
    labels = [item.label for item in find_solutions(tmp_path / "scale", "submission.py")]
    assert labels == list(checked)


@pytest.mark.exhaustive  # each run has test_a_broken_reference_says_nothing_about_the_solutions
def test_a_solution_in_the_wrong_folder_is_reported(tmp_path: Path, judge: RecordingJudge) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    solutions = tmp_path / "scale" / "solutions"
    (solutions / "wrong" / "off_by_one.py").rename(solutions / "correct" / "off_by_one.py")
    checked = check(tmp_path / "scale", judge)["correct/off_by_one.py"]
    assert checked.result is not None
    assert (False, Verdict.WRONG_ANSWER) == (checked.behaved, checked.result.verdict)
    assert "elements are off" in checked.message


@pytest.mark.exhaustive
def test_a_wrong_solution_gets_a_second_chance_to_be_caught(
    tmp_path: Path, judge: RecordingJudge
) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    cheat = tmp_path / "scale" / "solutions" / "wrong" / "cheats_when_large.py"
    cheat.write_text(CHEATS_WHEN_LARGE)
    checked = check(tmp_path / "scale", judge)
    assert checked["wrong/cheats_when_large.py"].behaved
    assert [Mode.TEST, Mode.BENCHMARK] == [
        mode for job_id, mode in judge.asked if "cheats_when_large" in job_id
    ]


def test_a_file_that_cant_be_submitted_counts_as_failing(
    tmp_path: Path, judge: RecordingJudge
) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    for kind in ("correct", "wrong"):
        for solution in (tmp_path / "scale" / "solutions" / kind).iterdir():
            solution.unlink()
        (tmp_path / "scale" / "solutions" / kind / "binary.py").write_bytes(b"\xff\xfe\0")
    checked = check(tmp_path / "scale", judge)
    assert {"correct/binary.py": False, "wrong/binary.py": True} == behaviour(checked)
    assert [] == judge.asked


def test_a_broken_reference_says_nothing_about_the_solutions(
    tmp_path: Path, judge: RecordingJudge
) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    reference = tmp_path / "scale" / "reference.py"
    reference.write_text(reference.read_text() + "\nraise RuntimeError('broken')\n")
    assert {None} == set(behaviour(check(tmp_path / "scale", judge)).values())


@pytest.mark.exhaustive
def test_cuda_that_the_processor_runs_is_only_tested(tmp_path: Path, judge: RecordingJudge) -> None:
    folder = tmp_path / "vectoradd_cu"
    shutil.copytree(Path("examples/vectoradd_cu"), folder)
    for solutions in (folder / "solutions").iterdir():  # each takes a compiler two seconds
        for further in sorted(solutions.iterdir())[:-1]:
            further.unlink()
    assert {True} == set(behaviour(check(folder, judge)).values())
    assert {Mode.TEST} == {mode for _, mode in judge.asked}


@pytest.mark.exhaustive  # each run has test_a_broken_reference_says_nothing_about_the_solutions
def test_the_configured_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_problem(tmp_path / "scale", "scale", Lang.PY)
    (noisy,) = (tmp_path / "scale" / "solutions" / "correct").iterdir()
    noisy.write_text(noisy.read_text() + "\nprint('x' * 5000)\n")
    (tmp_path / "kernelbot.toml").write_text("[limits]\noutput_limit_bytes = 1000\n")
    monkeypatch.setenv("KERNELBOT_CONFIG", str(tmp_path / "kernelbot.toml"))
    found = check_configured(
        load_problem(tmp_path / "scale"), device=None, sandbox=SandboxMode.REQUIRED
    )
    checked = next(iter(found))
    assert checked.result is not None
    assert Verdict.OUTPUT_LIMIT == checked.result.verdict
