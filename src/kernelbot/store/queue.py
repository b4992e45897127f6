"""The queue: procrastinate's, in the same database, so that jobs appear with what they are for.

A job only says "look at this run"; whether there is something to do is decided by the run's own
state. So a job too many is harmless, and `store.attempts.sweep` makes up for one too few. What a
job is made of, and the name of each device's queue, stands in SQL: `add_job`.
"""

from dataclasses import dataclass

from procrastinate import App, PsycopgConnector

from kernelbot.domain.types import QueueRules
from kernelbot.store.database import ReadSession, Values, WriteSession
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


class Queue:
    """Puts jobs into the queue within the caller's transaction."""

    async def defer(
        self,
        session: WriteSession,
        run_id: int,
        device: str,
        priority: int,
        delay_s: float = 0.0,
    ) -> None:
        """A job for the run, to be taken after the delay, unless one waits already."""
        values = {"run_id": run_id, "device": device, "priority": priority, "delay_s": delay_s}
        await session.one(statements("queue")["defer"], values)


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


def worker_app(url: str, *, connections: int) -> App:
    """For the worker: an app with a pool of its own, to be opened with `open_async`."""
    connector = PsycopgConnector(conninfo=url, min_size=1, max_size=connections, timeout=5.0)
    return App(connector=connector)
