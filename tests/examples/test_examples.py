"""Every example loads, and its own solutions behave, through the real harness."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernelbot.catalog.competition import load_competition
from kernelbot.catalog.oracle import Expectation, Solution, find_solutions
from kernelbot.catalog.problem import LoadedProblem, load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import (
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProgressEvent,
    SourceFile,
    Vendor,
    Verdict,
)
from kernelbot.server.check import CheckedSolution, check_solutions
from tests.support.exhaustive import cases, first_of_each

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/task.yml"))
CPU = DeviceSpec("CPU", Vendor.CPU)

QUICK = [
    folder
    for folder in FOLDERS
    if folder.name not in {"allreduce_py", "conv2d_py"}
    and not folder.name.endswith(("_cpp", "_cu"))
]
"""Several ranks, convolutions and compilers take longest. Of what is compiled `make test` judges a
submission in `tests/catalog/test_single_cuda.py`."""
NEEDS = {
    "_py": ("torch", find_spec("torch")),
    "_triton": ("triton", find_spec("triton")),
    "_cpp": ("g++", shutil.which("g++")),
    "_cu": ("g++", shutil.which("g++")),
}
"""What the examples with a name's ending need on this machine."""


def ignore(event: ProgressEvent) -> None:
    """Progress is for people."""


def load(folder: Path) -> LoadedProblem:
    for ending, (what, found) in NEEDS.items():
        if folder.name.endswith(ending) and not found:
            pytest.skip(f"{what} isn't installed")
    return load_problem(folder)


def judged(loaded: LoadedProblem, host: Host) -> list[CheckedSolution]:
    checked = check_solutions(
        loaded, lambda job: host.judge(job, ignore), device=CPU, mode=Mode.TEST
    )
    return list(checked)


def solutions(folder: Path) -> tuple[Solution, ...]:
    return find_solutions(folder, load_problem(folder).definition.spec.submission_name)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_loads_natively_and_without_a_word(folder: Path) -> None:
    loaded = load_problem(folder)
    spec = loaded.definition.spec
    assert ((), HarnessKind.NATIVE) == (loaded.warnings, spec.harness)
    assert "CPU" in loaded.definition.devices
    assert loaded.definition.templates


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_an_example_has_two_solutions_of_each_kind(folder: Path) -> None:
    found = [solution.expected for solution in solutions(folder)]
    assert 2 <= min(found.count(Expectation.CORRECT), found.count(Expectation.WRONG))


@pytest.mark.parametrize(
    "folder",
    cases(FOLDERS, always=first_of_each(QUICK, kind=lambda one: one.name.rsplit("_")[-1])),
    ids=lambda folder: folder.name,
)
def test_the_solutions_of_an_example_behave(folder: Path, host: Host) -> None:
    checked = judged(load(folder), host)
    assert [] == [(item.solution.label, item.message) for item in checked if not item.behaved]


def test_cuda_without_a_gpu_is_tested_and_never_timed(host: Host) -> None:
    loaded = load(EXAMPLES / "vectoradd_cu")
    source = SourceFile("mine.cu", loaded.definition.templates["CUDA"])
    job = JobSpec("1", loaded.definition.spec, source, Mode.LEADERBOARD, CPU)
    result = host.judge(job, ignore)
    assert result.failure is not None
    assert (Verdict.INTERNAL_ERROR, None, ()) == (result.verdict, result.score_s, result.phases)
    assert "only `--mode test` is for the device 'CPU'" in result.failure.message


@pytest.mark.parametrize("name", ["example.yaml", "demo.yaml"])
def test_a_competition_names_examples(name: str) -> None:
    competition = load_competition(EXAMPLES / name)
    named = {problem.folder for problem in competition.problems}
    assert () == competition.warnings
    assert named <= set(FOLDERS)
    if name == "example.yaml":
        assert named == set(FOLDERS)


def test_the_demo_needs_neither_torch_nor_a_gpu() -> None:
    for problem in load_competition(EXAMPLES / "demo.yaml").problems:
        spec = load_problem(problem.folder).definition.spec
        assert spec.lang in (Lang.PY, Lang.CPP)
        assert not any("torch" in file.text for file in spec.files)
