"""`kernelbot compare`: judges two files against each other, without a server."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.domain.errors import UserError
from kernelbot.harness.judge.authors import why_no_duel
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    Mode,
    Phase,
    ProgressEvent,
    RunResult,
    SandboxMode,
    Verdict,
)
from kernelbot.server.judging_settings import JudgingSettings
from kernelbot.server.local_judge import LocalJudge, OnStep
from kernelbot.server.run import expect_timeable, read_submission

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
class ComparisonResult:
    result: RunResult
    failed: Path | None
    """The file that was refused, in its test or when it was timed; None if neither was."""


def compare(
    wanted: LocalDuel, on_event: Callable[[str, ProgressEvent], None], on_step: OnStep
) -> ComparisonResult:
    """Have the two judged as a duel. `on_event` gets what is being judged, and what happened;
    `on_step` is told what else happens. Raises `InvalidProblem`, `InvalidSubmission` or `UserError`
    before anything runs."""
    local = LocalJudge(on_step, sandbox=wanted.sandbox, cold=wanted.cold)
    job = _job(wanted, local.settings(), on_step)
    result = local.judge(job, lambda event: on_event(_what(wanted, event), event))
    if result.verdict in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR):
        return ComparisonResult(result, None)
    return ComparisonResult(result, wanted.second if result.opponent_failed else wanted.first)


def _what(wanted: LocalDuel, event: ProgressEvent) -> str:
    """What an event is about: the file that is built or tested, or both."""
    if event.kind is not EventKind.COMPILED and event.phase is not Phase.TEST:
        return "duel"
    return str(wanted.second if event.of_opponent else wanted.first)


def _job(wanted: LocalDuel, settings: JudgingSettings, on_step: OnStep) -> JobSpec:
    loaded = load_problem(wanted.problem or find_problem(wanted.first))
    for warning in loaded.warnings:
        on_step(str(warning))
    spec = loaded.definition.spec
    first, second = read_submission(wanted.first, spec), read_submission(wanted.second, spec)
    device = settings.device(wanted.device)
    job = settings.job(spec, first, Mode.LEADERBOARD, device, wanted.sandbox)
    duel = replace(job, opponent=second)
    if why := why_no_duel(duel):
        raise UserError(why, hint="`kernelbot run --mode leaderboard` gives each file its score.")
    expect_timeable(duel)
    return duel


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
