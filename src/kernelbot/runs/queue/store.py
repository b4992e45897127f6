"""The place of a submission in the queue. The queue is the runs themselves: SQL decides whose turn
it is (`next_run`), which `runs.store` calls.
"""

from dataclasses import dataclass

from kernelbot.runs.queue.model import QueueRules
from kernelbot.store.database import ReadSession, Values
from kernelbot.store.sqlfiles import statements


@dataclass(frozen=True)
class WaitingRun:
    """The place of a submission's next run, and what the estimate of its wait needs."""

    device: str
    position: int
    running: int
    own_running: int
    own_before: int
    """Runs of its author: how many run on the device, and how many have waited there longer."""
    others: int
    """How many runs of others wait for the device; 0 if there is no limit on running."""
    workers: int
    mean_s: float | None
    """Mean duration of what waits or runs on the device, by its latest runs of the same modes;
    None: of most of these modes there are none."""
    note: str | None = None
    """What a worker says of the device if none can use it; None: one can, or no worker is there."""


async def waiting(
    session: ReadSession, submission_id: int, rules: QueueRules, *, fresh_s: float
) -> WaitingRun | None:
    """The place of its next run; None if nothing of it waits. `fresh_s`: for how long after its
    last heartbeat a worker is counted."""
    values = {"submission_id": submission_id, **asked(rules, fresh_s)}
    row = await session.one(statements(__file__)["line"], values)
    return read_line(row["line"]) if row else None


def asked(rules: QueueRules, fresh_s: float) -> Values:
    """The parameters of the queries for a place."""
    return {
        "ranked_first": rules.ranked_first,
        "fresh_s": fresh_s,
        "limited": rules.running_limit is not None,
    }


def read_line(line: Values | None) -> WaitingRun | None:
    """The place from the row that the database returns."""
    return None if line is None else WaitingRun(**line)
