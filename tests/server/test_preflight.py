from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.preflight.gpus import find_gpu
from kernelbot.preflight.model import Preflight, PreflightOutcome
from kernelbot.protocol import (
    CompileReport,
    JobSpec,
    Mode,
    RunResult,
    SandboxReport,
    SourceFile,
    SystemInfo,
    Verdict,
)
from kernelbot.server.judging_settings import read_judging_settings
from kernelbot.server.preflight import Preflights, preflight_job, why_never
from tests.harness.jobs import a_problem

SOURCE = SourceFile("submission.py", "import triton\nimport cutlass\n")
CUTE = SourceFile("submission.py", "import cutlass.cute\n")
MISSING = "When it was imported:\nTraceback\nModuleNotFoundError: No module named 'cutlass'"


def judged(job: JobSpec) -> RunResult:
    """One kernel was compiled."""
    kernel = {"name": "k", "registers": "40", "shared_bytes": "0", "threads": "128"}
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=Mode.TEST,
        harness=job.problem.harness,
        verdict=Verdict.ACCEPTED,
        system=SystemInfo("H100", "", "", "", None),
        sandbox=SandboxReport("required", (), ()),
        compile=CompileReport("import", "", 1.5, cached=False, kernels=(kernel,)),
    )


def without_its_package(job: JobSpec) -> RunResult:
    return replace(judged(job), compile=CompileReport("import", MISSING, 0.1, cached=False))


@pytest.fixture
def compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[JobSpec], RunResult]], Preflight]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = read_judging_settings()

    def compile_once(judge: Callable[[JobSpec], RunResult]) -> Preflight:
        with closing(Preflights(tmp_path / "mine.py", (find_gpu("H100"),))) as preflights:
            (found,) = preflights.compile(settings, a_problem(), SOURCE, judge, lambda _step: None)
        return found

    return compile_once


def test_what_was_compiled_is_found_again(
    compiled: Callable[[Callable[[JobSpec], RunResult]], Preflight],
) -> None:
    assert [False, True] == [compiled(judged).cached for _time in range(2)]


def test_what_a_missing_package_prevented_is_compiled_once_it_is_there(
    compiled: Callable[[Callable[[JobSpec], RunResult]], Preflight],
) -> None:
    found = [compiled(without_its_package), compiled(judged)]
    assert [(PreflightOutcome.UNKNOWN, False), (PreflightOutcome.COMPILED, False)] == [
        (one.report.outcome, one.cached) for one in found
    ]


@pytest.mark.parametrize(
    ("gpu", "source", "is_never"),
    [
        ("T4", CUTE, True),
        ("MI300X", CUTE, True),
        ("A100", CUTE, False),
        ("B200", CUTE, False),
        ("T4", SOURCE, False),
    ],
)
def test_a_gpu_that_cute_does_not_know_is_told(
    gpu: str, source: SourceFile, is_never: bool
) -> None:
    """A file that has Triton compile as well is compiled, as far as that goes."""
    job = preflight_job(read_judging_settings(), a_problem(), source, find_gpu(gpu))
    assert is_never == ("CuTe DSL" in why_never(job))
