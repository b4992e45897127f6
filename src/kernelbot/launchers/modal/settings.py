"""What the launcher for Modal is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelbot.launchers.base import Traits

FUNCTION_TIMEOUT_S = 3600.0
"""The limit that `deploy/modal/app.py` has unless told otherwise."""


@dataclass(frozen=True)
class ModalDevice:
    """A device's function in the deployed app."""

    function: str


@dataclass(frozen=True)
class ModalSettings:
    devices: Mapping[str, ModalDevice]
    function_timeout_s: float = FUNCTION_TIMEOUT_S
    """Modal kills a call that takes longer, with its result."""
    slack_s: float = 120.0
    """What a call may take beyond the judge's own limits."""
    warm_idle_s: float = 0.0
    """How long the harness's host in a container waits for its next call; 0: each call has its
    own."""
    warm_limit_s: float = 3600.0
    """After this time such a host takes no more jobs."""
    no_sandbox_ok: bool = False
    traits: Traits = field(
        default_factory=lambda: Traits(shortest_poll_s=0.25, longest_poll_s=5.0, check_s=10.0)
    )
