"""Whether a board refuses submissions for a device that takes no jobs, or lets them wait."""

from yoyo import step

__depends__ = {"0002.launchers"}

steps = [
    step("ALTER TABLE leaderboards ADD COLUMN refuse_unavailable boolean NOT NULL DEFAULT false"),
]
