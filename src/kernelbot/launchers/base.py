"""What every launcher does. These docstrings are the contract."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kernelbot.protocol import JobSpec, ProgressEvent, RunResult


class JobState(StrEnum):
    """`LOST`: there won't be a result, through no fault of the author's."""

    RUNNING = "running"
    FINISHED = "finished"
    LOST = "lost"


@dataclass(frozen=True)
class Outcome:
    """What `poll` found. `result` exactly when finished; `reason` says why it was lost."""

    state: JobState
    result: RunResult | None = None
    reason: str = ""


@dataclass(frozen=True)
class Availability:
    """Whether a device can take jobs; `note` says why not."""

    available: bool
    note: str = ""


class Launcher(Protocol):
    """Has jobs executed somewhere. Nothing here blocks the event loop; all may be called by
    several tasks at once. What can't be done just now raises `SchedulerError` or
    `PlatformError`, and may be tried again."""

    async def start(self) -> None:
        """Get ready to launch. Idempotent."""

    async def close(self) -> None:
        """Stop what this process runs, and leave nothing running. Idempotent. Jobs that were
        not finished are lost or go on elsewhere, as `poll` will say."""

    async def launch(self, spec: JobSpec) -> str:
        """Hand a job over; returns its handle, which is valid in other processes, too.

        Idempotent by `spec.job_id`: a job that was launched before is not started again.
        """

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:
        """Progress from now on, in batches as it comes; ends when the job is over, or when this
        process can't follow it any more. Then `poll` tells what became of it."""

    async def poll(self, handle: str) -> Outcome:
        """What became of the job. A result stays until `forget`. Never raises for a job that is
        unknown: that one is lost."""

    async def cancel(self, handle: str) -> None:
        """Stop the job as soon as possible. Idempotent; unknown jobs are ignored."""

    async def forget(self, handle: str) -> None:
        """The result is stored elsewhere: remove all that was kept. Idempotent."""

    async def availability(self, device: str) -> Availability:
        """Whether the device can take jobs just now."""
