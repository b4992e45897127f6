"""What Buildkite's REST API answers, as far as we read it."""

from typing import Annotated

from pydantic import Field

from kernelbot.launchers.base import JobState
from kernelbot.launchers.rest.client import SchedulerAnswer

Number = Annotated[int, Field(gt=0, lt=10**12)]
Id = Annotated[str, Field(pattern=r"^[0-9A-Za-z-]{1,64}$")]

_WAITING = frozenset(("creating", "scheduled", "waiting"))
_ENDS = frozenset(("passed", "failed", "blocked", "canceled", "skipped", "not_run"))


class BuildkiteBuild(SchedulerAnswer):
    number: Number
    message: str | None = None
    build_state: Annotated[str, Field(alias="state")]
    finished_at: str | None = None

    @property
    def name(self) -> str:
        return self.message or ""

    @property
    def state(self) -> JobState | None:
        """None: it has ended, or a person must unblock it. A state that we don't know is no end
        as long as Buildkite doesn't say when it was."""
        if self.build_state in _ENDS or self.finished_at is not None:
            return None
        return JobState.WAITING if self.build_state in _WAITING else JobState.RUNNING


class Agent(SchedulerAnswer):
    """An agent; of the list, and of a job."""

    name: str
    connection_state: str | None = None
    meta_data: tuple[str, ...] | None = None
    job: dict[str, object] | None = None
    """None: it has none."""

    @property
    def queue(self) -> str:
        """The one that it listens to; `default` if its tags name none."""
        tags = dict(tag.partition("=")[::2] for tag in self.meta_data or ())
        return tags.get("queue", "default")


class BuildkiteJob(SchedulerAnswer):
    """One job of a build; steps that wait or block are jobs, too."""

    type: str
    step_key: str | None = None
    state: str | None = None
    exit_status: int | None = None
    agent: Agent | None = None


class BuildWithJobs(SchedulerAnswer):
    jobs: tuple[BuildkiteJob, ...]


class BuildkiteArtifact(SchedulerAnswer):
    id: Id
    job_id: Id
    path: str
    state: str


class Pipeline(SchedulerAnswer):
    slug: str
