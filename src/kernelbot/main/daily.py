"""The worker's daily export, where HF_TOKEN is set."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import structlog

from kernelbot.domain.errors import KernelbotError
from kernelbot.main.settings import Settings
from kernelbot.services.exports import Exports
from kernelbot.services.users import Users
from kernelbot.store.database import Database

LOOK_S = 600.0
log = structlog.get_logger()


@contextlib.asynccontextmanager
async def daily_exports(
    settings: Settings, url: str, *, look_s: float = LOOK_S
) -> AsyncIterator[None]:
    """While the block runs, all boards are exported once a day, by one of all the workers."""
    if settings.hf_token is None:
        yield
        return
    if settings.export.repository is None:
        log.warning("no_daily_export", reason="HF_TOKEN is set, but not `repository` in [export]")
        yield
        return
    async with Database(url, max_size=2) as database:
        task = asyncio.create_task(_export(settings, database, look_s), name="daily export")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _export(settings: Settings, database: Database, look_s: float) -> None:
    exports = Exports(database, settings.export_rules())
    while True:
        try:
            organiser = await Users(database).organiser()
            done = await exports.daily(organiser)
            if done is not None:
                log.info("exported", where=done.where, submissions=done.submissions)
        except KernelbotError as error:
            log.error("export_failed", error=str(error))
        await asyncio.sleep(look_s)
