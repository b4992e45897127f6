"""A bot that ends while somebody waits for its answer, as whenever a server is started anew."""

import asyncio

import pytest
from structlog.testing import capture_logs

from kernelbot.bot import client
from tests.bot.stage import open_stage
from tests.fakes.discord import Interaction
from tests.support.postgres import TestServer


async def test_what_was_asked_is_answered(postgres: TestServer) -> None:
    with postgres.database() as url, capture_logs() as logs:
        async with open_stage(url) as stage:
            await stage.world.board("sort")
            async with stage.running() as bot, stage.world.database.write() as session:
                await session.do("LOCK TABLE leaderboards")
                asked = await stage.person("ada").starts("leaderboard show", name="sort")
                await stage.discord.until(lambda: asked.acknowledged_s)
                ending = asyncio.create_task(bot.close())
                await asyncio.sleep(0.2)
            await ending
    assert asked.original is not None
    assert asked.original.content.startswith("**sort** on CPU: 0 ranked")
    assert [] == [one for one in logs if one["log_level"] == "error"]


@pytest.mark.exhaustive  # each run has test_what_was_asked_is_answered
async def test_what_takes_too_long_is_given_up_without_a_word_of_a_crash(
    postgres: TestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_LAST_ANSWERS_S", 0.05)
    with postgres.database() as url, capture_logs() as logs:
        async with open_stage(url) as stage:
            board = await stage.world.board("sort")
            ada = stage.person("ada")
            async with stage.running() as bot, stage.world.database.write() as session:
                shown = await ada.runs("leaderboard list")
                await session.do("LOCK TABLE leaderboards")
                asked: list[Interaction] = [
                    await ada.starts("leaderboard show", name=board.name),
                    await ada.presses(shown.messages[0], "boards|0"),
                ]
                await stage.discord.until(lambda: all(one.acknowledged_s for one in asked))
                await bot.close()
    assert [] == [one for one in asked if one.messages]
    assert [] == [one for one in logs if one["log_level"] == "error"]
