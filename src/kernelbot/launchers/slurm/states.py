"""What Slurm says, read strictly, and whose fault an end is."""

import re
from dataclasses import dataclass

from kernelbot.domain.errors import DeviceRefused, JobRefused, NoRoom, SchedulerError
from kernelbot.launchers.base import JobState
from kernelbot.protocol import Fault

_NUMBER = re.compile(r"(\d{1,10})(?:;[\w.-]+)?")
_ROW = re.compile(r"(\d{1,10})([_+][^|]*)?\|([A-Z0-9_+]+)\|([^|]*)\|(.*)")
_PAIR = re.compile(r"(\w+)=(\S*)")
_OF_THE_JOB = re.compile(
    r"Requested time limit is invalid|parameter too long|\b(?:Assoc|QOS)\w*WallDuration"
)
"""What differs between jobs of a device is how long they may take, and how long the script is that
carries them."""
_FULL = re.compile(
    r"\b(?:Assoc|QOS)\w*Submit|temporarily unable to accept job|Resource temporarily unavailable"
    r"|Slurm job queue full"
)
_A_LIMIT = "accounting/QOS policy"
"""A limit of the account or the QOS: how many jobs there may be, unless it is named."""
_NAMED_LIMIT = re.compile(r"\b(?:Assoc|QOS)[A-Z]\w+")
_FROM_CONTROLLER = "Batch job submission failed"
_PASSES = re.compile(
    r"timed out|Unable to contact|Zero Bytes|[Cc]onnection|[Cc]ommunication|standby"
)
"""What the command says of the controller instead."""
_UNKNOWN = "Invalid job id specified"
_OVER_ALREADY = (_UNKNOWN, "already completing or completed")
_ACTIVE = {
    "PENDING": JobState.WAITING,
    "CONFIGURING": JobState.WAITING,
    "REQUEUED": JobState.WAITING,
    "REQUEUE_HOLD": JobState.WAITING,
    "REQUEUE_FED": JobState.WAITING,
    "RESV_DEL_HOLD": JobState.WAITING,
    "SPECIAL_EXIT": JobState.WAITING,
    "RUNNING": JobState.RUNNING,
    "COMPLETING": JobState.RUNNING,
    "RESIZING": JobState.RUNNING,
    "SIGNALING": JobState.RUNNING,
    "STAGE_OUT": JobState.RUNNING,
    "STOPPED": JobState.RUNNING,
    "SUSPENDED": JobState.RUNNING,
}
_ENDS = {
    "BOOT_FAIL": (Fault.SCHEDULER, "its node didn't boot"),
    "CANCELLED": (Fault.SCHEDULER, "somebody cancelled it in Slurm"),
    "DEADLINE": (Fault.SCHEDULER, "Slurm ended it at a deadline"),
    "NODE_FAIL": (Fault.SCHEDULER, "its node failed"),
    "OUT_OF_MEMORY": (
        Fault.PLATFORM,
        "Slurm ended it: it used more memory than it had asked for",
    ),
    "PREEMPTED": (Fault.SCHEDULER, "Slurm gave its place to another job"),
    "REVOKED": (Fault.SCHEDULER, "Slurm moved it to another cluster"),
    "TIMEOUT": (Fault.PLATFORM, "Slurm ended it: judging took longer than all limits together"),
}
_ORDINARY = frozenset(("Priority", "Resources", "BeginTime"))
"""Reasons to wait that change into each other all the time."""
_MAX_REASON = 200
_BY_ITSELF = frozenset(("COMPLETED", "FAILED"))


@dataclass(frozen=True)
class SlurmJob:
    number: str
    state: str
    reason: str
    name: str

    @property
    def active(self) -> JobState | None:
        """None: it has ended. A state that we don't know is no end: one that has really ended
        leaves the queue, or says so by itself."""
        if self.state in _ENDS or self.ended_by_itself:
            return None
        return _ACTIVE.get(self.state, JobState.RUNNING)

    @property
    def ended_by_itself(self) -> bool:
        """Whether the job's script came to an end, so there should be a result."""
        return self.state in _BY_ITSELF

    @property
    def why_it_waits(self) -> str:
        """What Slurm says of a job that hasn't begun; empty: nothing."""
        if self.reason in _ORDINARY:
            return "others are before it, or no node is free"
        return "" if self.reason in ("", "None", "(null)") else self.reason[:_MAX_REASON]

    def why_it_ended(self) -> tuple[Fault, str]:
        return _ENDS[self.state]


def read_number(text: str) -> str:
    """What `sbatch --parsable` answered. Raises `SchedulerError` for anything else."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        raise SchedulerError(f"sbatch answered {text.strip()[:200]!r} instead of a job's number.")
    return found[1]


def read_queue(text: str) -> dict[str, SlurmJob]:
    """By number what `squeue --format=%i|%T|%r|%j` answered; parts of arrays aren't ours."""
    jobs = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        found = _ROW.fullmatch(line)
        if found is None:
            raise SchedulerError(f"squeue answered {line[:200]!r} instead of a job.")
        number, part, state, reason, name = found.groups()
        if part is None:
            jobs[number] = SlurmJob(number, state.split("+")[0], reason, name)
    return jobs


def read_job(code: int, text: str, errors: str) -> SlurmJob | None:
    """What `scontrol show job --oneliner` answered; None: Slurm doesn't know it. Raises
    `SchedulerError` for anything else."""
    if code != 0 and _UNKNOWN in errors:
        return None
    found = dict(_PAIR.findall(text))
    state = found.get("JobState", "").split("+")[0]
    if code != 0 or "JobId" not in found or not state:
        raise SchedulerError(f"scontrol answered {(errors or text)[:200]!r} instead of a job.")
    return SlurmJob(found["JobId"], state, found.get("Reason", ""), found.get("JobName", ""))


def refusal(errors: str, *, all_alike: bool = False) -> SchedulerError:
    """Why sbatch took no job, in Slurm's own words: `JobRefused` only if the job itself is refused,
    `NoRoom` if there are as many jobs as there may be. What the controller says of the account,
    partition, reservation or options is the device's (`DeviceRefused`), and may be mended while its
    runs wait. `all_alike`: it asked for nothing that other jobs don't ask for."""
    lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in errors.splitlines()]
    said = [line.removeprefix("Batch job submission failed: ").strip() for line in lines]
    sentence = next((line for line in reversed(said) if line), "no reason")
    return _kind_of(errors, all_alike=all_alike)(f"Slurm refused the job: {sentence}")


def _kind_of(errors: str, *, all_alike: bool) -> type[SchedulerError]:
    if not all_alike and _OF_THE_JOB.search(errors):
        return JobRefused
    if _FULL.search(errors) or (_A_LIMIT in errors and not _NAMED_LIMIT.search(errors)):
        return NoRoom
    if _FROM_CONTROLLER in errors and not _PASSES.search(errors):
        return DeviceRefused
    return SchedulerError


def is_refusal(error: SchedulerError) -> bool:
    """Whether it says that Slurm has taken no job."""
    if isinstance(error, NoRoom):
        return not error.unsure
    return isinstance(error, (JobRefused, DeviceRefused))


def is_over_already(errors: str) -> bool:
    """Whether a scancel failed because there was nothing to cancel."""
    return any(sentence in errors for sentence in _OVER_ALREADY)
