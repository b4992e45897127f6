"""`/admin export-hf`, which may take longer than Discord waits for an answer."""

import contextlib
from collections.abc import AsyncIterator

import psycopg
import pytest

from kernelbot.platform.exports.model import ExportRules
from tests.bot.stage import ADMIN, Stage
from tests.fakes.hub import TOKEN, fake_hub

pytestmark = pytest.mark.asyncio(loop_scope="module")


@contextlib.asynccontextmanager
async def ended_too_late(stage: Stage) -> AsyncIterator[None]:
    """In the block an export is begun, which ends after Discord's 15 minutes; then what is told in
    the channel."""
    other = await psycopg.AsyncConnection.connect(stage.world.database.url)
    async with other:
        await other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        asked = await stage.person("olga", ADMIN).starts("admin export-hf")
        await stage.discord.until(lambda: asked.acknowledged_s)
        asked.expired = True
    yield
    assert not asked.messages


async def test_an_export_that_takes_longer_is_told_in_the_channel(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.world.board("exported")
    with fake_hub() as hub:
        rules = ExportRules(None, TOKEN, "lab/kernels", hub.url)
        monkeypatch.setattr(stage.world.services.exports, "_rules", rules)
        async with ended_too_late(stage):
            await stage.discord.until(lambda: "#submissions: olga: 0 submissions: " in stage.told)


async def test_so_is_why_it_failed(stage: Stage) -> None:
    async with ended_too_late(stage):
        failed = "#submissions: olga: ❌ No dataset is configured."
        await stage.discord.until(lambda: failed in stage.told)
