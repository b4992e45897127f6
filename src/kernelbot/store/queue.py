"""The queue: procrastinate's, in the same database, so that jobs appear with what they are for.

A job only says "look at this run"; whether there is something to do is decided by the run's own
state. So a job too many is harmless, and `store.attempts.sweep` makes up for one too few.
"""

import contextlib

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import JobDeferrer

from kernelbot.store.database import WriteSession

TASK = "judge_run"


def queue_of(device: str) -> str:
    """The name of the queue from which a device's runs are taken."""
    return f"device:{device}"


def lock_of(run_id: int) -> str:
    """At most one job waits per run."""
    return f"run:{run_id}"


class Queue:
    """Puts jobs into the queue within the caller's transaction."""

    def __init__(self) -> None:
        self._app = App(connector=PsycopgConnector())  # never opened: the session's is used

    async def add(self, session: WriteSession, run_id: int, device: str, priority: int) -> None:
        """A job for a run that the same transaction has added, so that none can wait yet."""
        await self._task(session, run_id, device, priority).defer_async(run_id=run_id)

    async def defer(
        self,
        session: WriteSession,
        run_id: int,
        device: str,
        priority: int,
        delay_s: float = 0.0,
    ) -> None:
        """A job for the run, to be taken after the delay, unless one waits already."""
        task = self._task(session, run_id, device, priority, delay_s)
        with contextlib.suppress(AlreadyEnqueued):
            async with session.connection.transaction():
                await task.defer_async(run_id=run_id)

    def _task(
        self,
        session: WriteSession,
        run_id: int,
        device: str,
        priority: int,
        delay_s: float = 0.0,
    ) -> JobDeferrer:
        return self._app.configure_task(
            TASK,
            queue=queue_of(device),
            queueing_lock=lock_of(run_id),
            priority=priority,
            connection=session.connection,
            schedule_in={"milliseconds": int(delay_s * 1000)} if delay_s else None,
        )


def worker_app(url: str, *, connections: int) -> App:
    """For the worker: an app with a pool of its own, to be opened with `open_async`."""
    connector = PsycopgConnector(conninfo=url, min_size=1, max_size=connections, timeout=5.0)
    return App(connector=connector)
