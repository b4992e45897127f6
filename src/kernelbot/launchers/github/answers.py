"""What GitHub's REST API answers, as far as we read it."""

from typing import Annotated

from pydantic import Field

from kernelbot.launchers.base import JobState
from kernelbot.launchers.rest.client import SchedulerAnswer

Number = Annotated[int, Field(gt=0, lt=10**18)]


class Dispatched(SchedulerAnswer):
    """The answer to a dispatch with `return_run_details`."""

    workflow_run_id: Number


class GithubRun(SchedulerAnswer):
    id: Number
    display_title: str | None = None
    """Its `run-name`."""
    status: str | None = None
    conclusion: str | None = None

    @property
    def number(self) -> int:
        return self.id

    @property
    def name(self) -> str:
        return self.display_title or ""

    @property
    def state(self) -> JobState | None:
        """None: it has ended."""
        if self.status == "completed" or self.conclusion is not None:
            return None
        return JobState.RUNNING if self.status == "in_progress" else JobState.WAITING


class RunPage(SchedulerAnswer):
    """A page of runs, the newest first."""

    total_count: int
    workflow_runs: list[GithubRun]


class GithubArtifact(SchedulerAnswer):
    id: Number
    name: str
    expired: bool = False


class GithubArtifactList(SchedulerAnswer):
    artifacts: list[GithubArtifact]


class GithubStep(SchedulerAnswer):
    name: str
    conclusion: str | None = None


class GithubJob(SchedulerAnswer):
    """One job of a run; ours have one."""

    runner_name: str | None = None
    conclusion: str | None = None
    steps: tuple[GithubStep, ...] = ()


class GithubJobList(SchedulerAnswer):
    jobs: list[GithubJob]


class Workflow(SchedulerAnswer):
    state: str
    """`active`, `disabled_manually` and others."""


class Label(SchedulerAnswer):
    name: str


class GithubRunner(SchedulerAnswer):
    """A self-hosted runner of the repository."""

    name: str
    status: str
    """`online` or `offline`."""
    labels: list[Label]


class Runners(SchedulerAnswer):
    runners: list[GithubRunner]
