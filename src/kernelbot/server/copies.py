"""Restored copies: what reaches beyond the server waits until somebody has activated it."""

import asyncio
import contextlib
from pathlib import Path

import structlog

from kernelbot.domain.errors import Unavailable
from kernelbot.platform.service import COPY_NOTE, Platform
from kernelbot.platform.store import mark
from kernelbot.server.backup import running_database
from kernelbot.server.settings import read_settings
from kernelbot.store.database import Database
from kernelbot.store.migrate import check_schema

_PAUSE_S = 1.0
log = structlog.get_logger()


def set_copy(*, is_copy: bool, data: Path | None = None) -> None:
    """Say of the configured database that it is a copy, or that it is the one in use, also while a
    server runs on it. Blocks. Raises `SchemaOutdated`, `UserError`, `Unavailable`."""
    settings = read_settings(data=data)
    with contextlib.ExitStack() as stack:
        url = settings.external_database_url()
        if url is None:
            url = stack.enter_context(running_database(settings))
        check_schema(url)
        mark(url, is_copy=is_copy)


async def until_activated(url: str, stop: asyncio.Event | None = None) -> None:
    """Wait while the database is a copy, but no longer than until `stop`, and say so in the log."""
    stop = stop or asyncio.Event()
    async with Database(url, max_size=1) as database:
        if not await Platform(database).is_copy():
            return
        log.warning("restored_copy", hint=COPY_NOTE)
        copied = True
        while copied and not stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _PAUSE_S)
            with contextlib.suppress(Unavailable):
                copied = await Platform(database).is_copy()
    log.info("activated" if not copied else "stopping")
