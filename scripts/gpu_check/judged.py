"""Judging a submission of a folder's problem on the GPU itself, sandbox on."""

import time
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.harness.host.host import Host
from kernelbot.protocol import DeviceSpec, JobSpec, Mode, ProgressEvent, RunResult, SourceFile


def judge(
    host: Host,
    folder: Path,
    submission: Path,
    device: DeviceSpec,
    mode: Mode,
    *,
    secret: bool,
    opponent: SourceFile | None = None,
) -> RunResult:
    """The result of one run. `opponent`: makes it a duel."""
    job = JobSpec(
        job_id=submission.stem,
        problem=load_problem(folder).definition.spec,
        submission=SourceFile(submission.name, submission.read_text(encoding="utf-8")),
        mode=mode,
        device=device,
        secret=secret,
        seed=time.time_ns() & 0x7FFFFFFF if secret else None,
        opponent=opponent,
    )
    return host.judge(job, _quiet)


def reason(result: RunResult, width: int = 70) -> str:
    """The first line of why it failed; empty if it didn't."""
    return result.failure.message.splitlines()[0][:width] if result.failure else ""


def _quiet(_event: ProgressEvent) -> None:
    """Progress is for people."""
