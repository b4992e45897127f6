"""`kernelbot run`: judges a file against a problem folder, without a server."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.domain.errors import UserError
from kernelbot.domain.source import check_language, source_text
from kernelbot.main.judge_once import OnEvent, judge_once
from kernelbot.main.settings import read_settings
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
    """What to judge. `device` None: the first that is configured."""

    problem: Path
    submission: Path
    mode: Mode
    device: str | None
    sandbox: SandboxMode


def run(wanted: LocalRun, on_event: OnEvent, on_warning: Callable[[str], None]) -> RunResult:
    """Judge. Raises `InvalidProblem`, `InvalidSubmission` or `UserError` before anything runs."""
    loaded = load_problem(wanted.problem)
    for warning in loaded.warnings:
        on_warning(str(warning))
    settings = read_settings()
    job = JobSpec(
        job_id=uuid.uuid4().hex,
        problem=loaded.definition.spec,
        submission=read_submission(wanted.submission, loaded.definition.spec),
        mode=wanted.mode,
        device=find_device(wanted.device),
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=wanted.sandbox,
    )
    return judge_once(job, on_event)


def find_device(name: str | None) -> DeviceSpec:
    """A configured device, found in upper or lower case. Raises `UserError` if there is none."""
    devices = [device.spec for device in read_settings().device_configs()]
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
