"""What a launcher for GitHub Actions is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.launchers.base import Traits


@dataclass(frozen=True)
class GithubDevice:
    label: str
    """The labels of the runners that have the device."""
    workflow: str
    """The file name of the workflow that judges on it."""


@dataclass(frozen=True)
class GithubSettings:
    repo: str
    """`owner/name`."""
    tokens: tuple[str, ...] = field(repr=False)
    """The first is used until its rate limit is near, then the next."""
    devices: Mapping[str, GithubDevice]
    branch: str = "main"
    """Whose version of the workflows runs."""
    api_url: str = "https://api.github.com"
    timeout_s: float = 20.0
    """For each request."""
    slack_s: float = 600.0
    """What a job may take beyond the judge's own limits, before GitHub ends it."""
    settle_s: float = 30.0
    """How long a new run, or the artifact of one that has ended, may take to show."""
    appear_s: float = 10.0
    """How long a launch waits for a run to show whose number GitHub didn't tell."""
    queue_limit: int | None = None
    """Runs waiting at GitHub from which on the devices are unavailable; None: any number."""
    no_sandbox_ok: bool = False
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.5, longest_poll_s=2.0, check_s=15.0)
    )
