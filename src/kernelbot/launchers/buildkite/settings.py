"""What a launcher for Buildkite is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.launchers.base import Traits

QUEUE = r"[a-z][a-z0-9]{0,31}-[a-z0-9]{1,32}-(0|[1-9][0-9]{0,3})"
"""`{vendor}-{gpu_type}-{index}`, as `scripts/buildkite/setup-agent.sh` checks it, too."""

STEP_TIMEOUT_S = 3600.0
"""The limit of the step that judges in `deploy/buildkite/pipeline.yml`."""


@dataclass(frozen=True)
class BuildkiteSettings:
    organization: str
    pipeline: str
    token: str = field(repr=False)
    queues: Mapping[str, tuple[str, ...]]
    """By device: one for each GPU."""
    upload_queue: str | None = None
    """Whose agents upload the step that judges. None: that isn't looked at."""
    branch: str = "main"
    api_url: str = "https://api.buildkite.com"
    timeout_s: float = 20.0
    """For each request."""
    step_timeout_s: float = STEP_TIMEOUT_S
    """Buildkite ends a step that takes longer, with its result."""
    slack_s: float = 120.0
    """What a step may take beyond the judge's own limits: its container has to start."""
    settle_s: float = 30.0
    """How long a new build, or the artifact of one that has ended, may take to show."""
    appear_s: float = 10.0
    """How long a launch waits for a build to show after a failed answer."""
    warm_idle_s: float = 0.0
    """How long a container, and the harness's host in it, waits for its agent's next job; 0: each
    job has its own."""
    warm_limit_s: float = 3600.0
    """After this time such a container takes no more jobs."""
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.5, longest_poll_s=2.0, check_s=15.0)
    )
