"""The queue: procrastinate's, in the same database, so that jobs appear with what they are for.

A job only says "look at this run"; whether there is something to do is decided by the run's own
state. So a job too many is harmless, and `store.attempts.sweep` makes up for one too few. What a
job is made of, and the name of each device's queue, stands in SQL: `add_job`.
"""

from procrastinate import App, PsycopgConnector

from kernelbot.store.database import WriteSession
from kernelbot.store.sqlfiles import statements


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


def worker_app(url: str, *, connections: int) -> App:
    """For the worker: an app with a pool of its own, to be opened with `open_async`."""
    connector = PsycopgConnector(conninfo=url, min_size=1, max_size=connections, timeout=5.0)
    return App(connector=connector)
