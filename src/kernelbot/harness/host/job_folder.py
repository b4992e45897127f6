"""One job in a folder: `jobspec.json` comes in, `events.jsonl` and `result.json` go out.

The job is emptied once it was read: it holds what its author must not know. The result is written
whole or not at all, so that whoever finds the folder after a crash knows.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.follow_up import judge_both
from kernelbot.harness.host.host import Host
from kernelbot.harness.host.whole_files import write_whole
from kernelbot.harness.judge.result import broken
from kernelbot.harness.judge.system import system_info
from kernelbot.protocol import (
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
    VersionMismatch,
    WireError,
    from_wire,
    to_wire,
)
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.several_results import results_to_wire

NO_SANDBOX_REFUSED = (
    "This host only judges in the sandbox; start it with --no-sandbox-ok to allow otherwise."
)
Tell = Callable[[dict[str, Any]], None]
"""Takes an event as it is on the wire."""


@dataclass(frozen=True)
class JobEnding:
    """How a job ended. It has a result exactly if it was neither cancelled nor has an error."""

    cancelled: bool = False
    error: str = ""


def read_job(text: str | bytes) -> JobSpec:
    """Parse a JobSpec. Raises `VersionMismatch` or `WireError`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error
    return from_wire(JobSpec, value)


@dataclass(frozen=True)
class FolderJudge:
    """Judges what lies in folders."""

    host: Host
    no_sandbox_ok: bool
    durable: bool
    """Whether results are on disk once they are said to be there: other machines read them. On this
    one they needn't be: who finds none after a power cut has the job judged again."""

    def judge(self, folder: Path, cancelled: Cancellation, tell: Tell) -> JobEnding:
        """Judge the folder's job, and return once it has ended; raises nothing."""
        try:
            job = read_job(_read_and_empty(folder / "jobspec.json"))
            text = json.dumps(results_to_wire(*self._results(job, folder, cancelled, tell)))
            write_whole(folder / "result.json", text, durable=self.durable)
        except Cancelled:
            return JobEnding(cancelled=True)
        except (AttemptLost, VersionMismatch, WireError) as error:
            return JobEnding(error=str(error))
        except OSError as error:  # of the job's folder: a full disk, say
            print(f"{folder}: {error!r}", file=sys.stderr)
            return JobEnding(error=in_words(error))
        except Exception as error:  # noqa: BLE001 (told here, and the platform is told as well)
            traceback.print_exc()
            return JobEnding(error=f"{type(error).__name__}: {error}")
        return JobEnding()

    def _results(
        self, job: JobSpec, folder: Path, cancelled: Cancellation, tell: Tell
    ) -> tuple[RunResult, RunResult | None]:
        """The job's, and that of what followed it."""
        if cancelled.is_set():
            raise Cancelled
        if job.sandbox is SandboxMode.NONE and not self.no_sandbox_ok:
            report = SandboxReport(job.sandbox.value, (), ())
            return broken(job, NO_SANDBOX_REFUSED, system_info(job), report), None
        with (folder / "events.jsonl").open("a", buffering=1) as events:

            def emit(event: ProgressEvent) -> None:
                wire = to_wire(event)
                events.write(json.dumps(wire) + "\n")
                tell(wire)

            return judge_both(
                job, emit, lambda one, hears: self.host.attempt(one, hears, cancelled)
            )


def _read_and_empty(path: Path) -> bytes:
    content = path.read_bytes()
    os.truncate(path, 0)
    return content
