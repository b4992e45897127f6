"""Judges one job with a harness process of its own: no server, no database."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO

import platformdirs

from kernelbot.protocol import (
    Failure,
    Fault,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    from_wire,
    to_wire,
)
from kernelbot.protocol.environment import passed_on
from kernelbot.protocol.phases import LONGEST_TURN_WAIT_S

OnEvent = Callable[[ProgressEvent], None]

# -P: the current folder may hold an author's file that shadows a module.
HARNESS = (sys.executable, "-P", "-m", "kernelbot.harness")

SLACK_S = 120.0
"""What a job may take beyond the sum of its time-outs before the harness counts as hung."""


def judge_once(
    job: JobSpec,
    on_event: OnEvent | None = None,
    *,
    command: Sequence[str] = HARNESS,
    slack_s: float = SLACK_S + LONGEST_TURN_WAIT_S,
) -> RunResult:
    """Judge and wait. `on_event` is called from another thread. Without a result from the harness
    this returns an `internal_error`, our fault. On return every process of it has ended, also if
    an exception such as KeyboardInterrupt ends it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8", errors="replace") as events:
        try:
            harness = _start(command, writing)
        finally:
            os.close(writing)
        on_each = on_event or _nobody
        listener = threading.Thread(target=_listen, args=(events, on_each), daemon=True)
        listener.start()
        try:
            output, errors = harness.communicate(
                json.dumps(to_wire(job)).encode(), job.longest_s + slack_s
            )
        except subprocess.TimeoutExpired:
            return no_result(job, "The harness didn't answer in time and was stopped.")
        finally:
            _stop(harness)
            listener.join(timeout=5.0)
    return _read(job, harness.returncode, output, errors)


def _nobody(_event: ProgressEvent) -> None:
    return


def _start(command: Sequence[str], events_fd: int) -> subprocess.Popen[bytes]:
    cache = platformdirs.user_cache_path("kernelbot") / "builds"
    # A session of its own, so that Ctrl-C reaches only us and we can stop all of it.
    return subprocess.Popen(
        [*command, "--events-fd", str(events_fd), "--build-cache", str(cache)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=(events_fd,),
        env=passed_on(os.environ),
        start_new_session=True,
    )


def _stop(harness: subprocess.Popen[bytes]) -> None:
    """Ask it to end, so that it can clean up, then kill its whole process group."""
    if harness.poll() is None:
        harness.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            harness.wait(5.0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(harness.pid, signal.SIGKILL)
    harness.wait()
    for stream in (harness.stdin, harness.stdout, harness.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _listen(lines: IO[str], on_event: OnEvent) -> None:
    for line in lines:
        # An event that can't be read is lost, and only that: events inform, they don't decide.
        with contextlib.suppress(ValueError, RecursionError):
            on_event(from_wire(ProgressEvent, json.loads(line)))


def _read(job: JobSpec, exit_code: int, output: bytes, errors: bytes) -> RunResult:
    try:
        return from_wire(RunResult, json.loads(output))
    except (ValueError, RecursionError):  # not JSON, or not a result of this version
        how = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
        last_words = errors.decode("utf-8", "replace").strip()[-4000:]
        return no_result(job, f"The harness ended without a result ({how}).", last_words)


def no_result(job: JobSpec, message: str, evidence: str = "") -> RunResult:
    """The `internal_error` of a job that has no result, our fault."""
    uname = os.uname()
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=job.problem.harness,
        verdict=Verdict.INTERNAL_ERROR,
        system=SystemInfo(
            device=job.device.name,
            cpu=uname.machine,
            os=f"{uname.sysname} {uname.release}",
            python=sys.version.split()[0],
            torch=None,
        ),
        sandbox=SandboxReport(job.sandbox.value, (), ()),
        failure=Failure(Fault.PLATFORM, message, evidence),
    )
