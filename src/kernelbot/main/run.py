"""`kernelbot run`: judges a file against a problem folder, without a server."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.domain.errors import UserError
from kernelbot.domain.source import check_language, source_text
from kernelbot.harness.warm.folder import NotOurs, PrivateFolder, default_folder
from kernelbot.harness.warm.turns import turn
from kernelbot.main.judging_settings import (
    JudgingSettings,
    kept_judging_settings,
    read_judging_settings,
)
from kernelbot.main.warm.client import WarmJudge
from kernelbot.main.warm.connection import WAITS, NoWarmJudge
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProblemSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SourceFile,
)

OnEvent = Callable[[ProgressEvent], None]
OnStep = Callable[[str], None]


@dataclass(frozen=True)
class LocalRun:
    """What to judge. `device` None: the first that is configured. `cold`: by processes of its own,
    as it is without a sandbox in any case: what such a file leaves behind must not reach the next.
    """

    problem: Path
    submission: Path
    mode: Mode
    device: str | None
    sandbox: SandboxMode
    cold: bool = False


def run(wanted: LocalRun, on_event: OnEvent, on_step: OnStep) -> RunResult:
    """Judge, with the warm judge if there can be one. `on_step` is told what else happens. Raises
    `InvalidProblem`, `InvalidSubmission` or `UserError` before anything runs."""
    loaded = load_problem(wanted.problem)
    for warning in loaded.warnings:
        on_step(str(warning))
    problem = loaded.definition.spec
    submission = read_submission(wanted.submission, problem)
    folder = _private_folder(on_step)
    if folder is None:
        return _judge_cold(_job(wanted, problem, submission, read_judging_settings()), on_event)
    if wanted.cold or wanted.sandbox is SandboxMode.NONE:
        job = _job(wanted, problem, submission, read_judging_settings())
    else:
        job = _job(wanted, problem, submission, kept_judging_settings(folder))
        try:
            return WarmJudge(folder).judge(job, on_event, on_step)
        except NoWarmJudge as error:
            on_step(f"{error} Judging with a new one.")
    with turn(folder, lambda: on_step(WAITS)):
        return _judge_cold(job, on_event)


def _private_folder(on_step: OnStep) -> PrivateFolder | None:
    """None, and the reason told, if there can't be one."""
    path = default_folder()
    try:
        return PrivateFolder.open(path)
    except NotOurs as error:
        on_step(f"No judge is kept warm: {error}")
    except OSError as error:
        on_step(f"No judge is kept warm: {path} can't be made ({error.strerror}).")
    return None


def _judge_cold(job: JobSpec, on_event: OnEvent) -> RunResult:
    from kernelbot.main.judge_once import judge_once  # what it loads isn't needed beside a warm one

    return judge_once(job, on_event)


def _job(
    wanted: LocalRun, problem: ProblemSpec, submission: SourceFile, settings: JudgingSettings
) -> JobSpec:
    return JobSpec(
        job_id=uuid.uuid4().hex,
        problem=problem,
        submission=submission,
        mode=wanted.mode,
        device=choose_device(wanted.device, settings.devices),
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=wanted.sandbox,
    )


def find_device(name: str | None) -> DeviceSpec:
    """A configured device, found in upper or lower case. Raises `UserError` if there is none."""
    return choose_device(name, read_judging_settings().devices)


def choose_device(name: str | None, devices: tuple[DeviceSpec, ...]) -> DeviceSpec:
    """Of these; None: the first. Raises `UserError` if there is none of that name."""
    if name is None:
        return devices[0]
    for device in devices:
        if device.name.casefold() == name.casefold():
            return device
    known = ", ".join(device.name for device in devices)
    raise UserError(f"There is no device {name!r} here.", hint=f"There is: {known}.")


def read_submission(path: Path, problem: ProblemSpec) -> SourceFile:
    """An author's file under the name that the problem gives it. Raises `InvalidSubmission`."""
    check_language(path.name, problem.lang)
    return SourceFile(problem.submission_name, source_text(read_source(path)))
