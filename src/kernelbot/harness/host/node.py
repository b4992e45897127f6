"""One job on a scheduler's node: a payload comes in, `result.json` goes out.

What must stay secret, the seed and the reference, reaches this process and those it trusts alone:
the payload is gone from files and environment before anything of the author's is started.
"""

import contextlib
import ctypes
import json
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from kernelbot.harness.gpu.lock import WAIT_S, GpuLocks
from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.follow_up import judge_both
from kernelbot.harness.host.processors import RESERVED_CORES
from kernelbot.harness.host.whole_files import write_whole
from kernelbot.harness.judge.result import broken
from kernelbot.harness.judge.system import cpu_model, os_name, system_info
from kernelbot.protocol import (
    MAX_PAYLOAD_BYTES,
    Failure,
    Fault,
    HarnessKind,
    JobSpec,
    Mode,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
    SystemInfo,
    Verdict,
    VersionMismatch,
    WireError,
    decode_payload,
    to_wire,
)
from kernelbot.protocol.environment import passed_on
from kernelbot.protocol.result_size import MAX_TEXT
from kernelbot.protocol.several_results import results_to_wire

EXIT_NO_RESULT = 1
EXIT_BAD_JOB = 2
EXIT_OTHER_VERSION = 3
_STANDARD_INPUT = "-"
_STOPPED = "The node was told to stop before the job was done."


class PayloadSource(Protocol):
    """Where the payload comes from."""

    def take(self) -> bytes:
        """The payload, of which nothing is left there. Raises `OSError` or `WireError`."""


class EventSink(Protocol):
    """Where progress goes."""

    def emit(self, event: ProgressEvent) -> None:
        """Pass it on, or drop it: progress informs, so it neither fails nor waits for long."""

    def close(self) -> None:
        """There is no more."""


@dataclass(frozen=True)
class FilePayload:
    """A file, which is removed; `-` is standard input, which is closed."""

    path: str

    def take(self) -> bytes:
        """Implements `PayloadSource`."""
        if self.path != _STANDARD_INPUT:
            with Path(self.path).open("rb") as file:
                Path(self.path).unlink()
                return file.read(2 * MAX_PAYLOAD_BYTES)
        content = sys.stdin.buffer.read(2 * MAX_PAYLOAD_BYTES)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        return content


@dataclass(frozen=True)
class EnvironmentPayload:
    """A variable, which is wiped with all others that a harness isn't meant to see."""

    name: str

    def take(self) -> bytes:
        """Implements `PayloadSource`."""
        try:
            return os.environb[os.fsencode(self.name)]
        except KeyError:
            raise WireError(f"there is no variable {self.name}") from None


class FileSink:
    """JSON lines at the end of a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", buffering=1)

    def emit(self, event: ProgressEvent) -> None:
        """Implements `EventSink`."""
        with contextlib.suppress(OSError):
            self._file.write(json.dumps(to_wire(event)) + "\n")

    def close(self) -> None:
        """Implements `EventSink`."""
        with contextlib.suppress(OSError):
            self._file.close()


class NoSink:
    """Nobody listens."""

    def emit(self, event: ProgressEvent) -> None:
        """Implements `EventSink`."""

    def close(self) -> None:
        """Implements `EventSink`."""


@dataclass(frozen=True)
class WarmHost:
    """A host that stays on this node for its next jobs."""

    folder: Path
    """Where it is found; this account's alone. Made if its parent is there."""
    idle_s: float
    """How long it waits for a job."""
    limit_s: float
    """After this time it takes no more jobs."""


@dataclass(frozen=True)
class NodeOptions:
    """How this node judges."""

    result: Path
    gpus: tuple[str, ...] | None = None
    """The GPUs by the machine's numbers; None: those that this process may see."""
    locks: Path | None = None
    lock_wait_s: float = WAIT_S
    build_cache: Path | None = None
    reserved_cores: int = RESERVED_CORES
    no_sandbox_ok: bool = False
    warm: WarmHost | None = None
    """None: each job has a host of its own. So has one without a sandbox in any case: what it
    leaves behind must not reach the next."""


def run_node(payload: PayloadSource, sink: EventSink, options: NodeOptions) -> int:
    """Judge one job; the exit code. Whatever happens, there is a result, which says so if judging
    itself failed; but for code 1, if it can't be written."""
    code = 0
    try:
        results = _judged(_job(payload), sink, options)
    except VersionMismatch as error:
        results, code = (_unread(str(error)), None), EXIT_OTHER_VERSION
    except (WireError, OSError) as error:
        results, code = (_unread(f"The job can't be read: {error}"), None), EXIT_BAD_JOB
    finally:
        sink.close()
    try:
        write_whole(options.result, json.dumps(results_to_wire(*results)), durable=True)
    except OSError as error:
        print(f"The result can't be written: {error}", file=sys.stderr)
        return EXIT_NO_RESULT
    return code


def _job(payload: PayloadSource) -> JobSpec:
    try:
        content = payload.take()
    finally:
        forget_environment()
    return decode_payload(content)


def forget_environment() -> None:
    """Keep of the environment what a harness is meant to see. The rest is overwritten as well:
    `/proc/PID/environ` shows the memory that a process began with."""
    kept = passed_on(os.environ)
    getenv = ctypes.CDLL(None).getenv
    getenv.argtypes, getenv.restype = [ctypes.c_char_p], ctypes.c_void_p
    for name, value in list(os.environb.items()):
        if os.fsdecode(name) in kept:
            continue
        if address := getenv(name):
            ctypes.memset(address, 0, len(value))
        del os.environb[name]


_Results = tuple[RunResult, RunResult | None]
"""Of a job, and of what followed it."""


def _judged(job: JobSpec, sink: EventSink, options: NodeOptions) -> _Results:
    """Always a result of this job."""
    if job.sandbox is SandboxMode.NONE and not options.no_sandbox_ok:
        from kernelbot.harness.host.job_folder import NO_SANDBOX_REFUSED

        report = SandboxReport(job.sandbox.value, (), ())
        return broken(job, NO_SANDBOX_REFUSED, system_info(job), report), None
    stopped = Cancellation()
    signal.signal(signal.SIGTERM, lambda _number, _frame: stopped.set())
    try:
        if options.warm is not None and job.sandbox is SandboxMode.REQUIRED:
            return _on_warm_host(job, sink, options, options.warm, stopped)
        return _on_host(job, sink, options, stopped)
    except Cancelled:
        return _lost(job, _STOPPED), None
    except (AttemptLost, OSError) as error:
        return _lost(job, str(error)), None
    except Exception as error:  # noqa: BLE001 (told here, and the platform is told as well)
        traceback.print_exc()
        return _lost(job, f"{type(error).__name__}: {error}"), None


def _on_host(
    job: JobSpec, sink: EventSink, options: NodeOptions, stopped: Cancellation
) -> _Results:
    # Half a second to load, which a node whose host has stayed doesn't need.
    from kernelbot.harness.host.host import Host
    from kernelbot.harness.timing.turns import Turns

    host = Host(
        build_cache=options.build_cache,
        reserved_cores=options.reserved_cores,
        gpus=GpuLocks(options.gpus, options.locks, options.lock_wait_s),
        turns=Turns(wait_s=options.lock_wait_s),
        lasting=False,
    )
    try:
        return judge_both(job, sink.emit, lambda one, emit: host.attempt(one, emit, stopped))
    finally:
        host.close()


def _on_warm_host(
    job: JobSpec, sink: EventSink, options: NodeOptions, warm: WarmHost, stopped: Cancellation
) -> _Results:
    """By a host of its own if that can't be."""
    from kernelbot.harness.host.warm.on_node import NoHost, judge_warm

    def attempt(one: JobSpec, emit: Callable[[ProgressEvent], None]) -> RunResult:
        try:
            return judge_warm(one, emit, stopped, warm, options)
        except NoHost as error:
            if one.job_id == job.job_id:
                raise
            raise AttemptLost(str(error)) from error  # it was there a moment ago

    try:
        return judge_both(job, sink.emit, attempt)
    except NoHost as error:
        print(f"no host stays here: {error}", file=sys.stderr)
        return _on_host(job, sink, options, stopped)


def _lost(job: JobSpec, message: str) -> RunResult:
    report = SandboxReport(job.sandbox.value, (), ())
    return replace(broken(job, message, system_info(job), report), attempt_lost=True)


def _unread(message: str) -> RunResult:
    """The result of a job that nobody knows: its id is empty."""
    return RunResult(
        job_id="",
        problem="",
        mode=Mode.TEST,
        harness=HarnessKind.NATIVE,
        verdict=Verdict.INTERNAL_ERROR,
        system=SystemInfo("", cpu_model(), os_name(), platform.python_version(), None),
        sandbox=SandboxReport(SandboxMode.REQUIRED.value, (), ()),
        failure=Failure(Fault.PLATFORM, message[:MAX_TEXT]),
        attempt_lost=True,
    )
