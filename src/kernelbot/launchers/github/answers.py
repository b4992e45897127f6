"""What GitHub's REST API answers, as far as we read it."""

from typing import Annotated

from pydantic import Field

from kernelbot.launchers.base import JobState
from kernelbot.launchers.rest.client import Said

Number = Annotated[int, Field(gt=0, lt=10**18)]


class Dispatched(Said):
    """The answer to a dispatch with `return_run_details`."""

    workflow_run_id: Number


class Run(Said):
    """One run of a workflow."""

    id: Number
    display_title: str | None = None
    """Its `run-name`."""
    status: str | None = None
    conclusion: str | None = None

    @property
    def number(self) -> int:
        """Implements `Listed`."""
        return self.id

    @property
    def name(self) -> str:
        """Implements `Listed`."""
        return self.display_title or ""

    @property
    def state(self) -> JobState | None:
        """None: it has ended."""
        if self.status == "completed" or self.conclusion is not None:
            return None
        return JobState.RUNNING if self.status == "in_progress" else JobState.WAITING


class RunPage(Said):
    """A page of runs, the newest first."""

    total_count: int
    workflow_runs: list[Run]


class Artifact(Said):
    """One artifact of a run."""

    id: Number
    name: str
    expired: bool = False


class Artifacts(Said):
    """Those of a run."""

    artifacts: list[Artifact]


class Step(Said):
    """One step of a job."""

    name: str
    conclusion: str | None = None


class Job(Said):
    """One job of a run; ours have one."""

    runner_name: str | None = None
    conclusion: str | None = None
    steps: tuple[Step, ...] = ()


class Jobs(Said):
    """Those of a run."""

    jobs: list[Job]


class Workflow(Said):
    """A workflow."""

    state: str
    """`active`, `disabled_manually` and others."""


class Label(Said):
    """One label of a runner."""

    name: str


class Runner(Said):
    """A self-hosted runner of the repository."""

    name: str
    status: str
    """`online` or `offline`."""
    labels: list[Label]


class Runners(Said):
    """All of them."""

    runners: list[Runner]
