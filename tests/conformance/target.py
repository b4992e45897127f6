"""The server that the suite talks to, and what it may use there."""

import os
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
DIRECTORY = os.environ.get("CONFORMANCE_DIRECTORY", "identity_np")
"""A problem folder under the server's PROBLEM_DEV_DIR, judged on the device below; its correct
solution is taken from our own examples."""


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
