"""Background tasks, run by procrastinate in any free worker, each once however many workers there
are. The tasks here are periodic; others are deferred in the transaction that causes them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from functools import partial

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status

from kernelbot.accounts.service import Users
from kernelbot.domain.errors import KernelbotError, Unavailable
from kernelbot.moderation.deletion.service import Deletion
from kernelbot.platform.exports.service import Exports
from kernelbot.server.settings import Settings
from kernelbot.server.worker_wiring import FOR_BACKGROUND
from kernelbot.store.connections import ALIVE, hold
from kernelbot.store.database import IDLE_S, Database, DatabaseShare
from kernelbot.store.timeouts import DatabaseTimeouts
from kernelbot.webhooks.deliveries import Deliveries
from kernelbot.webhooks.sender import Sender
from kernelbot.worker.retries import cancel_until_ended

_QUEUE = "background"
_WEBHOOKS = "webhooks"
"""Of tasks that every worker of every release has: one that lacked a task would take it, and fail.
Any other task is in a queue of its own name, so that it waits for a worker that has it."""
_EXPORT = "daily_export"
_OVERDUE = "deliver_overdue"
_DELIVERED_AT_ONCE = 32
"""Each may wait for its receiver as long as a sender waits; of one owner there are few."""
_EACH_MINUTE = "* * * * *"
_OFTEN = "*/10 * * * *"
"""procrastinate also runs what was due within the last ten minutes: so it runs at each start."""
_HOURLY = "13 * * * *"
_KEPT_HOURS = 72
_RETRY_S = 1.0
_AWAY = (ConnectorException, Unavailable)
_STOP_S = 10.0
"""It waits for the database, to say that it stops, for half of that."""
log = structlog.get_logger()


class _InALine(logging.Filter):
    """Of a database that is away for a while procrastinate tells with tracebacks, one for each task
    and connection: as if there were mistakes in them. What was due is due again by itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every line is written."""
        error = record.exc_info[1] if record.exc_info else None
        # asyncio tells of a task of procrastinate's that nobody waited for any more.
        if record.name.startswith(("procrastinate", "asyncio")) and isinstance(error, _AWAY):
            record.msg = " ".join(f"{record.getMessage()}: {error}".split())
            record.args, record.exc_info = None, None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


@contextlib.contextmanager
def told_in_a_line() -> Iterator[None]:
    """While the block runs, procrastinate's lines of a database that is away have no traceback."""
    handlers, brief = list(logging.getLogger().handlers), _InALine()
    for handler in handlers:
        handler.addFilter(brief)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(brief)


@contextlib.asynccontextmanager
async def background_tasks(settings: Settings, shared: Database) -> AsyncIterator[None]:
    """Run background tasks while the block runs. They share a database with others, of whose
    connections they use `FOR_BACKGROUND` at once."""
    database = DatabaseShare(shared, FOR_BACKGROUND)
    app = App(connector=connector(shared.url, settings.database.limits()))
    with told_in_a_line():
        async with app.open_async():
            add_tasks(app, settings, database)
            stopping = asyncio.Event()
            exports = [_EXPORT] if _EXPORT in app.tasks else []
            tasks = [
                asyncio.create_task(_work(app, queues, at_once, stopping), name=queues[0])
                for queues, at_once in (
                    ([_QUEUE, *exports], 1),
                    ([_WEBHOOKS, _OVERDUE], _DELIVERED_AT_ONCE),
                )
            ]
            try:
                yield
            finally:
                stopping.set()
                await cancel_until_ended(tasks, _STOP_S)


def add_tasks(app: App, settings: Settings, database: Database) -> None:
    """Register those that a worker with these settings has."""
    _add_cleaning(app, Deletion(database))
    _add_daily_export(app, settings, database)
    _add_webhooks(app, settings, database)


def connector(url: str, limits: DatabaseTimeouts) -> PsycopgConnector:
    """procrastinate's own connection, within the same limits as all others. It listens on another,
    and its statements are short and transactions by themselves: so one serves all tasks."""
    return PsycopgConnector(
        conninfo=url,
        min_size=1,
        max_size=1,
        timeout=5.0,
        max_idle=IDLE_S,
        configure=partial(hold, limits),
        kwargs=dict(ALIVE),
    )


async def _work(app: App, queues: list[str], at_once: int, stopping: asyncio.Event) -> None:
    """Run procrastinate's loop again and again: it ends whenever the database goes away, and may
    say so instead of that it was cancelled."""
    while not stopping.is_set():
        try:
            await app.run_worker_async(
                queues=queues,
                concurrency=at_once,
                delete_jobs="successful",
                # A connection of its own to listen on; what is periodic needs none.
                listen_notify=_WEBHOOKS in queues,
                install_signal_handlers=False,
                shutdown_graceful_timeout=0,
            )
        except (ConnectorException, OSError) as error:
            log.warning("background_tasks_unreachable", error=str(error).strip())
        await asyncio.sleep(_RETRY_S)


def _add_cleaning(app: App, deletion: Deletion) -> None:
    @app.periodic(cron=_HOURLY)
    @app.task(queue=_QUEUE, name="clean_up", queueing_lock="clean_up")
    async def clean_up(timestamp: int) -> None:
        await deletion.clean_up()
        await forget_jobs(app)
        log.info("cleaned_up", due=timestamp)


async def forget_jobs(app: App) -> None:
    """Delete jobs that have failed long ago, and those whose worker was killed: what they were for
    is due again by itself."""
    await app.job_manager.delete_old_jobs(nb_hours=_KEPT_HOURS, include_failed=True)
    for job in await app.job_manager.get_stalled_jobs():
        await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)


def _add_daily_export(app: App, settings: Settings, database: Database) -> None:
    if settings.hf_token is None:
        return
    if settings.export.repository is None:
        log.warning("no_daily_export", reason="HF_TOKEN is set, but not `repository` in [export]")
        return
    exports, users = Exports(database, settings.export_rules()), Users(database)

    @app.periodic(cron=_OFTEN)
    @app.task(queue=_EXPORT, name=_EXPORT, queueing_lock=_EXPORT)
    async def daily_export(timestamp: int) -> None:
        """Export if it is due, which the service decides; after a failure in an hour."""
        try:
            done = await exports.daily(await users.organiser())
        except KernelbotError as error:
            log.error("export_failed", error=str(error), due=timestamp)
            return
        if done is not None:
            log.info("exported", where=done.where, submissions=done.submissions)


def _add_webhooks(app: App, settings: Settings, database: Database) -> None:
    deliveries = Deliveries(database, Sender(settings.webhooks.rules()))

    # The database defers these, in the transaction that writes a message or sets its next attempt.
    # `message`: the one that is due; another may be next in turn.
    @app.task(queue=_WEBHOOKS, name="deliver_webhook")
    async def deliver_webhook(message: int) -> None:
        del message
        await deliver_due()

    # A task that failed before it had claimed a message, or whose process was killed then, has no
    # other after it: the message would wait for the next one of whatever webhook.
    @app.periodic(cron=_EACH_MINUTE)
    @app.task(queue=_OVERDUE, name=_OVERDUE, queueing_lock=_OVERDUE)
    async def deliver_overdue(timestamp: int) -> None:
        del timestamp
        await deliver_due()

    async def deliver_due() -> None:
        while (tried := await deliveries.deliver_next()) is not None:
            if tried.answer is not None and tried.answer.error is not None:
                log.info("webhook_failed", message=tried.message_id, error=tried.answer.error)

    @app.periodic(cron=_EACH_MINUTE)
    @app.task(queue=_QUEUE, name="tell_deadlines", queueing_lock="tell_deadlines")
    async def tell_deadlines(timestamp: int) -> None:
        del timestamp
        await deliveries.tell_deadlines()

    @app.periodic(cron=_HOURLY)
    @app.task(queue=_QUEUE, name="forget_webhook_messages", queueing_lock="forget_webhook_messages")
    async def forget_webhook_messages(timestamp: int) -> None:
        del timestamp
        await deliveries.clean_up()
