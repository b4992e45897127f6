"""What runs on the cluster: the keeper, and the task that judges.

Ray sends this module to the nodes by value, so that nothing of ours has to be installed there: it
imports the standard library and Ray alone.
"""

import contextlib
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

_LAST_WORDS = 500
_ANSWER_BYTES = 64 << 20
"""So many bytes of results are told at once, or one result."""
_PR_SET_PDEATHSIG = 1
_GRACE_S = 10.0


def keeper_name(source: bytes | None = None) -> str:
    """Under which a cluster knows the keeper that this module makes. A keeper outlives its workers,
    and with them their version: one of another version is left alone, since it may say something
    else. `source`: of the module; None: this one's."""
    content = Path(__file__).read_bytes() if source is None else source
    return f"kernelbot-keeper-{hashlib.sha256(content).hexdigest()[:12]}"


class EndedWithoutResult(Exception):
    """The harness ended without one."""


class TaskStage(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class AttemptState:
    stage: TaskStage
    size: int = 0
    """Bytes of the result."""
    result: bytes | None = None
    """If it is done and isn't too large."""
    reason: str = ""
    """Why it failed."""
    ours: bool = True
    """Whether that was our failure, and not the cluster's."""


@dataclass(frozen=True)
class TaskJob:
    attempt: str
    payload: str
    events_url: str
    python: str
    """Empty: the one that Ray's worker runs with."""
    no_sandbox_ok: bool
    limit_s: float
    num_gpus: float
    num_cpus: float
    resources: dict[str, float]


@dataclass
class KeeperEntry:
    reference: Any
    running: bool = False
    result: bytes | None = None
    reason: str = ""
    ours: bool = True

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.result is not None or bool(self.reason)


class Keeper:
    """Starts the tasks, and keeps what became of them until that is forgotten."""

    def __init__(self) -> None:
        self._id = uuid.uuid4().hex[:12]
        self._entries: dict[str, KeeperEntry] = {}
        self._harnesses: dict[str, Any] = {}

    def id(self) -> str:
        """Tells this keeper from others."""
        return self._id

    def kept(self) -> int:
        """How many attempts are known."""
        return len(self._entries)

    def has_harness(self, sha256: str) -> bool:
        """Whether it needn't be brought."""
        return sha256 in self._harnesses

    def keep_harness(self, content: bytes) -> None:
        """The file that tasks run."""
        import ray

        self._harnesses[hashlib.sha256(content).hexdigest()] = ray.put(content)

    def launch(self, job: TaskJob, sha256: str) -> None:
        """Start the attempt's task; once, however often it is asked for."""
        import ray

        if job.attempt in self._entries:
            return
        me = ray.get_runtime_context().current_actor
        task = ray.remote(judge).options(
            num_gpus=job.num_gpus,
            num_cpus=job.num_cpus,
            resources=job.resources,
            max_retries=0,
            name=f"kernelbot-{job.attempt}",
        )
        self._entries[job.attempt] = KeeperEntry(task.remote(job, self._harnesses[sha256], me))

    def begun(self, attempt: str) -> None:
        """The task's own word."""
        if (entry := self._entries.get(attempt)) is not None:
            entry.running = True

    def poll(self, attempts: dict[str, int]) -> dict[str, AttemptState]:
        """By attempt: with results that have at most so many bytes, and with as many of them as go
        into one answer. The others are told as running."""
        told: dict[str, AttemptState] = {}
        room = _ANSWER_BYTES
        for name, most in attempts.items():
            entry = self._entries.get(name)
            one = AttemptState(TaskStage.UNKNOWN) if entry is None else self._state(entry, most)
            size = len(one.result or b"")
            if size > room < _ANSWER_BYTES:  # the first goes in any case
                one, size = AttemptState(TaskStage.RUNNING), 0
            room -= size
            told[name] = one
        return told

    def _state(self, entry: KeeperEntry, most: int) -> AttemptState:
        if not entry.is_over:
            self._look(entry)
        if entry.reason:
            return AttemptState(TaskStage.FAILED, reason=entry.reason, ours=entry.ours)
        if entry.result is None:
            return AttemptState(TaskStage.RUNNING if entry.running else TaskStage.WAITING)
        size = len(entry.result)
        return AttemptState(TaskStage.DONE, size, entry.result if size <= most else None)

    @staticmethod
    def _look(entry: KeeperEntry) -> None:
        import ray
        from ray import exceptions

        if not ray.wait([entry.reference], timeout=0)[0]:
            return
        try:
            entry.result = ray.get(entry.reference)
        except exceptions.RayTaskError as error:
            entry.reason = str(error.cause)[-_LAST_WORDS:] or "its task failed"
        except exceptions.OutOfMemoryError:
            entry.reason = "Ray ended it: its node had no more memory"
        except exceptions.RayError as error:  # cancelled, its node lost, its process killed
            entry.reason, entry.ours = f"Ray lost it ({type(error).__name__})", False

    def cancel(self, attempt: str) -> None:
        """Stop its task, unless it has ended."""
        import ray

        entry = self._entries.get(attempt)
        if entry is not None and not entry.is_over:
            self._look(entry)
            if not entry.is_over:
                ray.cancel(entry.reference, force=False)

    def forget(self, attempt: str) -> None:
        """Keep nothing of the attempt; a task that goes on is cancelled."""
        self.cancel(attempt)
        self._entries.pop(attempt, None)


def judge(job: TaskJob, harness: bytes, keeper: Any) -> bytes:
    """The task: the harness, with the GPUs that Ray has given us. Raises `EndedWithoutResult`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Ray was started in the background of a shell: its cancelling would do nothing.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    keeper.begun.remote(job.attempt)
    with tempfile.TemporaryDirectory(prefix="kernelbot-") as folder:
        program, result, log = (
            Path(folder) / name for name in ("harness.pyz", "result.json", "log")
        )
        program.write_bytes(harness)
        program.chmod(0o644)  # a sandbox reads it as a user of its own
        Path(folder).chmod(0o711)
        command = [job.python or sys.executable, "-I", str(program), "node", "--payload", "-"]
        command += ["--result", str(result)]
        environment = {**os.environ, "KERNELBOT_EVENTS_URL": job.events_url}
        if job.events_url:
            command += ["--events-url-env", "KERNELBOT_EVENTS_URL"]
        if job.no_sandbox_ok:
            command.append("--no-sandbox-ok")
        log.touch(0o600)
        with log.open("wb") as errors:
            code = _run(command, job, environment, errors)
        if not result.exists():
            said = log.read_bytes()[-_LAST_WORDS:].decode("utf-8", "replace")
            raise EndedWithoutResult(
                f"the harness ended with exit code {code} and no result: {said}"
            )
        return result.read_bytes()


def _run(command: list[str], job: TaskJob, environment: dict[str, str], errors: Any) -> int:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=errors,
        stderr=errors,
        env=environment,
        start_new_session=True,
        preexec_fn=_end_with_the_task,
        umask=0o077,  # others of this machine must not read the result
    )
    try:
        process.communicate(job.payload.encode(), timeout=job.limit_s)
    except subprocess.TimeoutExpired:
        raise EndedWithoutResult("judging took longer than all limits together") from None
    finally:  # also if the task is cancelled: the harness may clean up
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode


def _end_with_the_task() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
