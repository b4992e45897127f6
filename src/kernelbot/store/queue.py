"""Where a submission stands in the queue. The queue is the runs themselves: whose turn it is, is
decided in SQL (`next_run`), which `store.attempts` calls.
"""

from dataclasses import dataclass

from kernelbot.domain.types import QueueRules
from kernelbot.store.database import ReadSession, Values
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class Waiting:
    """The place of a submission's next run, and what a guess at its wait is made of."""

    device: str
    position: int
    running: int
    own_running: int
    own_before: int
    """Of its author: what runs on the device, and what waits there longer."""
    others: int
    """How many runs of others wait for the device; 0 where no limit on running holds."""
    workers: int
    mean_s: float | None
    """Of the device's latest runs; None: there are none."""


async def waiting(
    session: ReadSession, submission_id: int, rules: QueueRules, *, fresh_s: float
) -> Waiting | None:
    """Where its next run stands; None when nothing of it waits. `fresh_s`: for how long after its
    last sign a worker is counted."""
    values = {"submission_id": submission_id, **asked(rules, fresh_s)}
    row = await session.one(statements("queue")["line"], values)
    return read_line(row["line"]) if row else None


def asked(rules: QueueRules, fresh_s: float) -> Values:
    """What a place depends on besides the line."""
    return {
        "ranked_first": rules.ranked_first,
        "fresh_s": fresh_s,
        "limited": rules.running_limit is not None,
    }


def read_line(line: Values | None) -> Waiting | None:
    """From what the database tells of a place."""
    return None if line is None else Waiting(**line)
