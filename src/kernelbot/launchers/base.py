"""What every launcher does. These docstrings are the contract; `tests/launchers/test_contract.py`
holds every launcher to it."""

from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from kernelbot.protocol import Fault, JobSpec, ProgressEvent

NO_SIZES: Mapping[str, int] = MappingProxyType({})
"""Nothing is known of any job's result."""


class JobState(StrEnum):
    """`WAITING`: the scheduler has it and hasn't started it. `LOST`: there won't be a result,
    through no fault of the author's."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    LOST = "lost"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will become of the job."""
        return self in (JobState.FINISHED, JobState.LOST)


@dataclass(frozen=True)
class Left:
    """What a node has left as its job's result. Nobody has read it: it may be anything."""

    content: bytes = field(repr=False)
    zipped_as: str = ""
    """The name of the result's file, if the content is a zip that holds it; empty: it is none."""


@dataclass(frozen=True)
class Outcome:
    """What `poll` found. `left` exactly if finished, see `results.read_result`; `reason` says why
    it was lost, and `fault` whose failure that was: the platform's or the scheduler's. Of a job
    that waits `reason` says what for, in the scheduler's words; empty: that isn't known."""

    state: JobState
    left: Left | None = None
    reason: str = ""
    fault: Fault = Fault.PLATFORM
    events: tuple[ProgressEvent, ...] = ()
    """Progress since this process last asked, if the scheduler passes it on. It may come late, a
    batch at a time, or not at all."""


@dataclass(frozen=True)
class Availability:
    """Whether a device can take jobs; `note` says why not."""

    available: bool
    note: str = ""


@dataclass(frozen=True)
class Traits:
    """How a launcher wants to be used."""

    shortest_poll_s: float
    """`poll` isn't called more often than this: what it costs the scheduler is no more."""
    longest_poll_s: float
    """Nor less often, however long nothing has changed."""
    check_s: float = 5.0
    """How often `availability` is asked."""
    silence_s: float = 900.0
    """If `poll` has failed for as long as this, the jobs in flight count as lost."""
    wait_s: float = 86_400.0
    """A job that hasn't begun for so long is lost."""
    room_s: float = 3600.0
    """A job that is said to run for so much longer than its limits together is lost: its node may
    hang. More if it may be said to run before it does. Infinite: the launcher ends it itself."""
    late_s: float = 0.0
    """How long the scheduler may not show a job that it has accepted. If a worker was killed before
    it knew its job's handle, the next one looks for so long before it launches another."""
    remote: bool = True
    """Jobs run on machines of the scheduler's: they go on when this process ends, and don't
    disturb each other. If false, all jobs of a device share this machine, and end with us."""


class Launcher(Protocol):
    """Has jobs executed somewhere. Nothing here blocks the event loop; all may be called by
    several tasks at once. What can't be done just now raises `SchedulerError` or
    `PlatformError`, and may be tried again; `JobRefused` says that it never will be done. If
    `launch` meets what all of the device's jobs would meet, it raises `DeviceRefused`, or `NoRoom`
    if there are as many jobs as there may be: there is no job (unless it is `unsure`), and the
    device gets no more for a while. `RateLimited` says for how long nothing may be asked: that is
    no silence.

    Nothing that a scheduler says is believed unseen: an answer that isn't of the agreed shape
    raises `SchedulerError`. What a node has left isn't looked at here, only bounded in size.
    """

    @property
    def traits(self) -> Traits:
        """The same for as long as the launcher lives."""

    async def start(self) -> None:
        """Get ready to launch. Idempotent; after a failure it is called again."""

    async def close(self) -> None:
        """Stop what this process runs, and leave nothing running here. Idempotent. Jobs that were
        not finished are lost or go on elsewhere (`Traits.remote`), as `poll` will say."""

    async def launch(self, spec: JobSpec) -> str:
        """Hand a job over; returns its handle as soon as the scheduler has accepted it. The handle
        is valid in other processes, too, and for this launcher alone.

        Idempotent by `spec.job_id`: a job that was launched before, by whichever process, is not
        started again. Raises `JobRefused` if the scheduler won't ever take it.
        """

    async def find(self, job_id: str) -> str | None:
        """The handle of a job that was launched, by whichever process, and of which no answer came:
        the same that `launch` would return, which starts nothing here. None: the scheduler shows
        none of this id now."""

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:
        """Live progress from now on, in batches as it comes. Ends when the job is over, or when
        this process can't follow it any more; at once for launchers without live progress. Then
        `poll` tells what became of it, with whatever progress arrives late."""

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> Mapping[str, Outcome]:
        """What became of each of the jobs: an outcome for every handle, with one request for all of
        them (and one more for each result that is fetched). A result stays until `forget`.

        `most_bytes`: by handle, how large the job's result can be. One that is larger isn't fetched
        to its end, and the job is lost; those that aren't named may have `MAX_BYTES` of
        `protocol.result_size`.

        A job that the scheduler doesn't know (any more) is lost; one of which nothing can be said
        just now is running, or goes on waiting if that is what was said of it (see `Patience`); it
        is lost if it can't be asked about for `silence_s`. Raises `SchedulerError` if nothing can
        be said of any.
        """

    async def cancel(self, handle: str) -> None:
        """Stop the job as soon as possible. Idempotent; unknown jobs are ignored, and so are those
        that have ended."""

    async def forget(self, handle: str) -> None:
        """The result is stored elsewhere: remove all that was kept. Idempotent."""

    async def availability(self, device: str) -> Availability:
        """Whether the device can take jobs just now. May take as long as a request does."""
