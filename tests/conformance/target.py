"""The server that the suite talks to, and what it may use there."""

import os
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.hub import FakeHub
from tests.fakes.oauth_provider import FakeProvider

EXAMPLES = Path(__file__).parents[2] / "examples"
DIRECTORY = os.environ.get("CONFORMANCE_DIRECTORY", "identity_np")
"""A problem folder under the server's PROBLEM_DEV_DIR, judged on the device below; its correct
solution is taken from our own examples."""


@dataclass(frozen=True)
class Outside:
    """What a platform of our own is connected with: providers by name, and a dataset's host."""

    providers: dict[str, FakeProvider]
    hub: FakeHub


@dataclass(frozen=True)
class Target:
    """A server and the tokens we hold. None: the tests that need it are skipped."""

    url: str
    token: str | None
    other_token: str | None
    """Of another author."""
    admin_token: str | None
    board: str | None
    """An existing board over the problem; None: one is made with the admin's token."""
    poll_interval_s: float
    outside: Outside | None = None
    """None: another server's are unknown."""

    @classmethod
    def from_environment(cls, url: str) -> "Target":
        """What `make conformance` was told."""
        return cls(
            url=url,
            token=os.environ.get("TOKEN"),
            other_token=os.environ.get("OTHER_TOKEN"),
            admin_token=os.environ.get("ADMIN_TOKEN"),
            board=os.environ.get("BOARD"),
            poll_interval_s=5.0,
        )
