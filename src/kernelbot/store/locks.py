"""The advisory locks of the platform: every number that Postgres knows one by stands here."""

from enum import IntEnum, unique


@unique
class Lock(IntEnum):
    """Any numbers, as long as no two are the same: whoever held one would keep out the other's
    users as well. Submissions and runs are locked by their own ids, which never get this large, and
    boards by theirs with a minus."""

    MIGRATION = 7_241_533_011
    """One migration runs at a time."""
    BOT = 7_241_533_012
    """One Discord bot runs at a time; held as long as it does."""
    SYNC = 7_241_533_013
    """One sync runs at a time; held until its transaction ends."""
    PREFLIGHT = 7_241_533_014
    """One preflight beside the runs is made at a time; held until its report is stored."""
