"""What one look at a cluster has shown of all jobs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kernelbot.launchers.base import JobState
from kernelbot.launchers.handles import Handle, job_name
from kernelbot.launchers.slurm.shared_folder import OfferedJobs
from kernelbot.launchers.slurm.states import SlurmJob


@dataclass(frozen=True)
class Seen:
    queue: dict[str, SlurmJob] | None
    """None: the controller doesn't answer."""
    done: frozenset[str]
    places: OfferedJobs

    @cached_property
    def _by_name(self) -> dict[str, list[SlurmJob]]:
        found: dict[str, list[SlurmJob]] = {}
        for job in (self.queue or {}).values():
            found.setdefault(job.name, []).append(job)
        return found

    def jobs_of(self, attempt: str) -> list[SlurmJob]:
        """An attempt has several jobs if the answer to a submission was lost, and the job didn't
        show yet when it was looked for."""
        return self._by_name.get(job_name(attempt), [])

    def job_of(self, handle: Handle) -> SlurmJob | None:
        """The one job that says how the attempt is. Of several it needn't be the one of the
        handle: whichever began first judges, and the others end at once. None: none is shown."""
        return the_telling(self.jobs_of(handle.attempt), handle.number)

    def has_begun(self, handle: Handle) -> bool:
        """Whether there may be progress to tell."""
        if handle.attempt in self.done or handle.attempt in self.places.taken:
            return True
        shown = self.job_of(handle)
        return shown is not None and shown.active is JobState.RUNNING


def the_telling(jobs: Iterable[SlurmJob], number: str) -> SlurmJob | None:
    """One that runs; else one that waits; else one that was ended, as one that ended by itself may
    only have found that the attempt was begun. Of several the one of this number."""
    order = (JobState.RUNNING, JobState.WAITING, None)
    return min(
        jobs,
        key=lambda job: (order.index(job.active), job.ended_by_itself, job.number != number),
        default=None,
    )
