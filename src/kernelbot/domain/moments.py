"""Moments of the database: as long as one lasts, nothing in it has changed."""

import time
from dataclasses import dataclass

_LASTS_S = 5.0
"""Some answers change without a change of the database, as a worker counts for some time after its
last heartbeat."""


@dataclass(frozen=True)
class Moment:
    """What a statement saw: which transactions were over (`pg_current_snapshot`), and when that
    was, by a clock that only counts. Statements with the same `snapshot` see the same rows."""

    snapshot: str
    at_s: float

    @classmethod
    def now(cls, snapshot: str) -> "Moment":
        """The moment of a statement that has ended just now."""
        return cls(snapshot, time.monotonic())

    @property
    def lasting(self) -> str | None:
        """The snapshot by which to ask whether the moment lasts; None: it is too long ago to be
        asked."""
        return self.snapshot if time.monotonic() - self.at_s < _LASTS_S else None
