"""`host`: many jobs over a long life, asked for in JSON lines on stdin.

A job is a folder that holds `jobspec.json`, which is emptied once it was read: it holds what its
author must not know. Its events go to `events.jsonl`, its result to `result.json`, written whole or
not at all, so that whoever finds the folder after a crash knows.
"""

import json
import os
import signal
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from kernelbot.harness.host.cancellation import Cancellation, Cancelled
from kernelbot.harness.host.host import AttemptLost, Host
from kernelbot.harness.judge.result import broken
from kernelbot.harness.system import system_info
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

NO_SANDBOX_REFUSED = (
    "This host only judges in the sandbox; start it with --no-sandbox-ok to allow otherwise."
)


def read_job(text: str | bytes) -> JobSpec:
    """Parse a JobSpec. Raises `VersionMismatch` or `WireError`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not JSON: {error}") from error
    return from_wire(JobSpec, value)


@dataclass
class Server:
    """Judges what it is asked for, `slots` jobs at a time."""

    host: Host
    slots: int
    no_sandbox_ok: bool
    _cancelled: dict[str, Cancellation] = field(default_factory=dict)
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def serve(self) -> None:
        """Until stdin ends or SIGTERM comes; what runs then is killed and has no result."""
        signal.signal(signal.SIGTERM, _leave)
        pool = ThreadPoolExecutor(self.slots)
        try:
            for line in sys.stdin:
                self._handle_command(line, pool)
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for event in list(self._cancelled.values()):
                event.set()
            self.host.close()
            sys.stdout.flush()
            os._exit(0)  # threads that still wait for a dead judge have nothing left to say

    def _handle_command(self, line: str, pool: ThreadPoolExecutor) -> None:
        try:
            order = json.loads(line)
            if "ping" in order:
                self._say({"pong": order["ping"]})
                return
            folder = order.get("run") or order["cancel"]
        except (ValueError, AttributeError, KeyError, TypeError):
            print(f"not understood: {line[:200]!r}", file=sys.stderr)
            return
        if "run" in order:
            cancelled = self._cancelled[folder] = Cancellation()
            pool.submit(self._run, folder, cancelled)
        elif folder in self._cancelled:
            self._cancelled[folder].set()

    def _run(self, folder: str, cancelled: Cancellation) -> None:
        ending: dict[str, Any] = {"job": folder, "finished": True}
        try:
            job = read_job(_taken(Path(folder, "jobspec.json")))
            result = self._judge(job, folder, cancelled)
            write_whole(Path(folder, "result.json"), json.dumps(to_wire(result)))
        except Cancelled:
            ending["cancelled"] = True
        except (AttemptLost, VersionMismatch, WireError) as error:
            ending["error"] = str(error)
        except OSError as error:  # of the job's folder: a full disk, say
            print(f"{folder}: {error!r}", file=sys.stderr)
            ending["error"] = in_words(error)
        except Exception as error:  # noqa: BLE001 (told here, and the platform is told as well)
            traceback.print_exc()
            ending["error"] = f"{type(error).__name__}: {error}"
        finally:
            self._cancelled.pop(folder, None)
            self._say(ending)

    def _judge(self, job: JobSpec, folder: str, cancelled: Cancellation) -> RunResult:
        if cancelled.is_set():
            raise Cancelled
        if job.sandbox is SandboxMode.NONE and not self.no_sandbox_ok:
            report = SandboxReport(job.sandbox.value)
            return broken(job, NO_SANDBOX_REFUSED, system_info(job), report)
        with Path(folder, "events.jsonl").open("a", buffering=1) as events:

            def emit(event: ProgressEvent) -> None:
                wire = to_wire(event)
                events.write(json.dumps(wire) + "\n")
                self._say({"job": folder, "event": wire})

            return self.host.attempt(job, emit, cancelled)

    def _say(self, message: dict[str, Any]) -> None:
        with self._writing:
            print(json.dumps(message), flush=True)


def _taken(path: Path) -> bytes:
    content = path.read_bytes()
    os.truncate(path, 0)
    return content


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def write_whole(path: Path, text: str) -> None:
    """The file is there in full, on disk, or not there."""
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
