"""`kernelbot run`: judges a file against a problem folder, without a server."""

import os
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.domain.errors import UserError
from kernelbot.domain.source import check_language, source_text
from kernelbot.main.judging_settings import JudgingSettings, read_judging_settings
from kernelbot.main.local_judge import LocalJudge, OnEvent, OnStep
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProblemSpec,
    RunResult,
    SandboxMode,
    SourceFile,
)


@dataclass(frozen=True)
class LocalRun:
    """What to judge. `device` None: the first that is configured. `cold`: see `LocalJudge`."""

    problem: Path
    submission: Path
    mode: Mode
    device: str | None
    sandbox: SandboxMode
    cold: bool = False


def run(wanted: LocalRun, on_event: OnEvent, on_step: OnStep) -> RunResult:
    """Judge. `on_step` is told what else happens. Raises `InvalidProblem`, `InvalidSubmission` or
    `UserError` before anything runs."""
    loaded = load_problem(wanted.problem)
    for warning in loaded.warnings:
        on_step(str(warning))
    problem = loaded.definition.spec
    submission = read_submission(wanted.submission, problem)
    local = LocalJudge(on_step, sandbox=wanted.sandbox, cold=wanted.cold)
    return local.judge(_job(wanted, problem, submission, local.settings()), on_event)


def _job(
    wanted: LocalRun, problem: ProblemSpec, submission: SourceFile, settings: JudgingSettings
) -> JobSpec:
    return JobSpec(
        job_id=os.urandom(16).hex(),
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
