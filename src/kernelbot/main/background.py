"""Background tasks, run by procrastinate in any free worker, each once however many workers there
are. The tasks here are periodic; others are deferred in the transaction that causes them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException

from kernelbot.domain.errors import KernelbotError
from kernelbot.main.settings import Settings
from kernelbot.services.deletion import Deletion
from kernelbot.services.exports.service import Exports
from kernelbot.services.users import Users
from kernelbot.store.database import Database

_QUEUE = "background"
_OFTEN = "*/10 * * * *"
"""procrastinate also runs what was due within the last ten minutes: so it runs at each start."""
_HOURLY = "13 * * * *"
_KEPT_HOURS = 72
_RETRY_S = 1.0
log = structlog.get_logger()


@contextlib.asynccontextmanager
async def background_tasks(settings: Settings, url: str) -> AsyncIterator[None]:
    """Run background tasks while the block runs."""
    connector = PsycopgConnector(conninfo=url, min_size=1, max_size=3, timeout=5.0)
    app = App(connector=connector)
    async with Database(url, max_size=2) as database, app.open_async():
        _add_cleaning(app, Deletion(database))
        _add_daily_export(app, settings, database)
        task = asyncio.create_task(_work(app), name="background tasks")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _work(app: App) -> None:
    """Run procrastinate's loop again and again: it ends whenever the database goes away."""
    while True:
        try:
            await app.run_worker_async(
                queues=[_QUEUE],
                delete_jobs="successful",
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
        await app.job_manager.delete_old_jobs(nb_hours=_KEPT_HOURS, include_failed=True)
        log.info("cleaned_up", due=timestamp)


def _add_daily_export(app: App, settings: Settings, database: Database) -> None:
    if settings.hf_token is None:
        return
    if settings.export.repository is None:
        log.warning("no_daily_export", reason="HF_TOKEN is set, but not `repository` in [export]")
        return
    exports, users = Exports(database, settings.export_rules()), Users(database)

    @app.periodic(cron=_OFTEN)
    @app.task(queue=_QUEUE, name="daily_export", queueing_lock="daily_export")
    async def daily_export(timestamp: int) -> None:
        """Export if it is due, which the service decides; after a failure in an hour."""
        try:
            done = await exports.daily(await users.organiser())
        except KernelbotError as error:
            log.error("export_failed", error=str(error), due=timestamp)
            return
        if done is not None:
            log.info("exported", where=done.where, submissions=done.submissions)
