"""Nothing reaches beyond a restored copy before somebody has activated it."""

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from kernelbot.platform.service import COPY_NOTE
from kernelbot.platform.store import mark
from kernelbot.server.work import work
from tests.support.postgres import until_there_is
from tests.support.waiting import until
from tests.support.workers import quick_settings
from tests.support.world import World


async def test_a_worker_begins_once_the_copy_is_activated(world: World, tmp_path: Path) -> None:
    url = world.database.url
    await asyncio.to_thread(mark, url, is_copy=True)
    with capture_logs() as logs:
        working = asyncio.create_task(work(quick_settings(tmp_path), url))
        await until(lambda: logs)
        copied = (await world.services.health.ready()).workers
        await asyncio.to_thread(mark, url, is_copy=False)
        async with world.database.read() as session:
            await until_there_is(session, "SELECT 1 FROM workers")
        activated = (await world.services.health.ready()).workers
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert ("restored_copy", COPY_NOTE) == (logs[0]["event"], logs[0]["hint"])
    assert copied is not None
    assert activated is not None
    assert (False, COPY_NOTE) == (copied.ok, copied.note)
    assert (True, "workers: 1") == (activated.ok, activated.note)
