"""`kernelbot run`: judges a file against a problem folder, without a server."""

from dataclasses import replace
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.domain.errors import UserError
from kernelbot.harness.judge.build.on_cpu import has_kernels_on_cpu, why_no_time
from kernelbot.protocol import JobSpec, Mode, ProblemSpec, RunResult, SandboxMode, SourceFile
from kernelbot.protocol.late import dataclass
from kernelbot.server.local_judge import LocalJudge, OnEvent, OnStep
from kernelbot.submissions.source import check_language, source_text


@dataclass(frozen=True)
class LocalRun:
    """What to judge. `device` None: the first that is configured. `cold`: see `LocalJudge`."""

    problem: Path
    submission: Path
    mode: Mode
    device: str | None
    sandbox: SandboxMode
    cold: bool = False
    checked: bool = False
    """Whether each access of memory is looked at: `JobSpec.checked`."""


def run(wanted: LocalRun, on_event: OnEvent, on_step: OnStep) -> RunResult:
    """Judge. `on_step` is told what else happens. Raises `InvalidProblem`, `InvalidSubmission` or
    `UserError` before anything runs."""
    loaded = load_problem(wanted.problem)
    for warning in loaded.warnings:
        on_step(str(warning))
    problem = loaded.definition.spec
    submission = read_submission(wanted.submission, problem)
    local = LocalJudge(on_step, sandbox=wanted.sandbox, cold=wanted.cold)
    settings = local.settings()
    device = settings.device(wanted.device)
    job = settings.job(problem, submission, wanted.mode, device, wanted.sandbox)
    if wanted.checked:
        job = replace(job, checked=True)
        _expect_checkable(job)
    expect_timeable(job)
    return local.judge(job, on_event)


def _expect_checkable(job: JobSpec) -> None:
    """Raises `UserError`."""
    if not has_kernels_on_cpu(job):
        raise UserError(
            "--check looks at the memory of CUDA or HIP kernels that the processor runs.",
            hint="It is for `lang: cu` and for `load_inline`, on the device CPU.",
        )
    if job.mode is not Mode.TEST:
        raise UserError("--check is for tests.", hint="Leave out --mode.")


def expect_timeable(job: JobSpec) -> None:
    """Raises `UserError` if the job would time a GPU's kernels that the processor runs, be they its
    submission's or its opponent's."""
    files = (job.submission, job.opponent or job.submission)
    for why in (why_no_time(replace(job, submission=file)) for file in files):
        if why:
            raise UserError(why)


def read_submission(path: Path, problem: ProblemSpec) -> SourceFile:
    """An author's file under the name that the problem gives it. Raises `InvalidSubmission`."""
    check_language(path.name, problem.lang)
    return SourceFile(problem.submission_name, source_text(read_source(path)))
