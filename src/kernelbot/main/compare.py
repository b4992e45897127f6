"""`kernelbot compare`: judges two files against each other, without a server."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.harness.judge.authors import why_no_duel
from kernelbot.main.judging_settings import JudgingSettings
from kernelbot.main.local_judge import LocalJudge, OnStep
from kernelbot.main.run import read_submission
from kernelbot.protocol import JobSpec, Mode, ProgressEvent, RunResult, SandboxMode, Verdict

_PROBLEM_FILE = "task.yml"


@dataclass(frozen=True)
class LocalDuel:
    """What to compare. `problem` None: the nearest folder with a task.yml; `device` None: the first
    that is configured. `cold`: see `LocalJudge`."""

    first: Path
    second: Path
    problem: Path | None
    device: str | None
    sandbox: SandboxMode
    cold: bool = False


@dataclass(frozen=True)
class Compared:
    """The last result: of the duel, or of the test that a file didn't pass."""

    result: RunResult
    failed: Path | None
    """The file that was refused; None if there was a duel, or judging itself failed."""


def compare(
    wanted: LocalDuel,
    on_event: Callable[[str, ProgressEvent], None],
    on_step: OnStep,
) -> Compared:
    """Test each file, then have both judged in turn. `on_event` gets what is being judged, and what
    happened; `on_step` is told what else happens. Raises `InvalidProblem`, `InvalidSubmission` or
    `UserError` before anything runs."""
    local = LocalJudge(on_step, sandbox=wanted.sandbox, cold=wanted.cold)
    *tests, duel = _jobs(wanted, local.settings(), on_step)
    for path, job in zip((wanted.first, wanted.second), tests, strict=True):
        result = local.judge(job, partial(on_event, str(path)))
        if result.verdict is not Verdict.ACCEPTED:
            return Compared(result, _whose(result, path))
    result = local.judge(duel, partial(on_event, "duel"))
    return Compared(
        result, _whose(result, wanted.second if result.opponent_failed else wanted.first)
    )


def _whose(result: RunResult, path: Path) -> Path | None:
    """`path` if its author is to blame for how it ended."""
    is_refused = result.verdict not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)
    return path if is_refused else None


def _jobs(
    wanted: LocalDuel, settings: JudgingSettings, on_step: OnStep
) -> tuple[JobSpec, JobSpec, JobSpec]:
    """The test of each, and the duel."""
    loaded = load_problem(wanted.problem or find_problem(wanted.first))
    for warning in loaded.warnings:
        on_step(str(warning))
    spec = loaded.definition.spec
    first, second = read_submission(wanted.first, spec), read_submission(wanted.second, spec)
    job = partial(settings.job, spec, device=settings.device(wanted.device), sandbox=wanted.sandbox)
    duel = replace(job(first, Mode.LEADERBOARD), opponent=second)
    if why := why_no_duel(duel):
        raise UserError(why, hint="`kernelbot run --mode benchmark` times one file.")
    return job(first, Mode.TEST), job(second, Mode.TEST), duel


def find_problem(file: Path) -> Path:
    """The nearest folder with a task.yml: the file's or one above it, else the working folder.
    Raises `UserError` if there is none."""
    for folder in (*file.absolute().parents, Path.cwd()):
        if (folder / _PROBLEM_FILE).is_file():
            return folder
    raise UserError(
        f"There is no {_PROBLEM_FILE} beside {file} or above it, nor in this folder.",
        hint="--problem DIR names the problem's folder.",
    )
