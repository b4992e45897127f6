"""How long sessions may keep the database: what is configured, which needs no driver."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DatabaseTimeouts:
    """How long sessions of a pool may keep the database, in seconds. Postgres ends what takes
    longer, so that one slow question or one process that stands still doesn't stop all others."""

    locked_s: float = 8.0
    """A statement waits for what others have locked. Below the time-out of most clients, so that
    they are told; and a dozen who wait take all connections, so it isn't long."""
    slow_s: float = 60.0
    """A statement takes, with what it waits."""
    unhurried_s: float = 3600.0
    """A statement of long work takes: what is about all that a board or a person has."""
    idle_s: float = 60.0
    """A transaction does nothing, because we do."""
