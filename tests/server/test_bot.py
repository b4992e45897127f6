"""The bot as a process: alone, and started by `serve`."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import LiteralString

import pytest
from scripts.local_server import LocalServer

from kernelbot.bot.rules import BotRules
from kernelbot.domain.errors import UserError
from kernelbot.server.bot import _answer, bot_rules
from kernelbot.server.settings import Settings
from kernelbot.store.exclusive import only_one
from kernelbot.store.locks import Lock
from tests.fakes.discord import BOT_TOKEN, FakeDiscord, FakeGuild, Person, Upload, fake_discord
from tests.support.workers import FAKE_HARNESS, ROOT
from tests.support.world import World, open_world


def environment(discord: FakeDiscord, guild: FakeGuild, folder: Path) -> dict[str, str]:
    """Of a bot that talks to the fake."""
    folder.mkdir(exist_ok=True)
    config = folder / "kernelbot.toml"
    harness = ", ".join(f'"{word}"' for word in FAKE_HARNESS)
    config.write_text(
        f'harness_command = [{harness}]\nwarm = []\n[discord]\napi_url = "{discord.url}"\n'
    )
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "KERNELBOT_CONFIG": str(config),
        "KERNELBOT_DATA": str(folder / "data"),
        "DISCORD_TOKEN": BOT_TOKEN,
        "DISCORD_CLUSTER_STAGING_ID": str(guild.id),
    }


async def pinged(discord: FakeDiscord, ada: Person) -> str:
    """Wait until the bot has registered its commands, and ask it for a sign of life."""
    guild = ada.guild
    await discord.until(
        lambda: guild.commands and "submissions" in {one.name for one in guild.channels.values()},
        within_s=60,
    )
    asked = await ada.runs("ping")
    assert asked.original is not None
    return asked.original.content


async def test_the_bot_alone(database_url: str, tmp_path: Path) -> None:
    async with fake_discord() as discord:
        ada = discord.person("ada", guild := discord.guild())
        variables = environment(discord, guild, tmp_path) | {"DATABASE_URL": database_url}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kernelbot", "bot"),
            env=variables,
            stderr=subprocess.PIPE,
        )
        assert "Pong" in await pinged(discord, ada)
        process.terminate()
        _, log = await process.communicate()
    assert (0, False) == (process.returncode, BOT_TOKEN in log.decode())


async def started(variables: dict[str, str]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kernelbot", "bot"), env=variables, stderr=subprocess.DEVNULL
    )


async def holds(world: World, condition: LiteralString) -> None:
    """Wait until it is so in the database."""
    async with asyncio.timeout(60):
        while True:
            async with world.database.read() as session:
                if (await session.all(f"SELECT {condition} AS so"))[0]["so"]:
                    return
            await asyncio.sleep(0.02)


@pytest.mark.exhaustive
async def test_a_bot_killed_before_it_has_submitted_leaves_nobody_waiting(
    database_url: str, tmp_path: Path
) -> None:
    async with fake_discord() as discord, open_world(database_url) as world:
        ada = discord.person("ada", guild := discord.guild())
        await world.board("sort")
        variables = environment(discord, guild, tmp_path) | {"DATABASE_URL": database_url}
        process = await started(variables)
        await pinged(discord, ada)
        async with world.database.write() as session:
            await session.do("LOCK TABLE submissions IN SHARE MODE")
            file = Upload("fast.py", b"x = 1\n")
            asked = await ada.starts(
                "leaderboard submit test", script=file, leaderboard_name="sort"
            )
            await holds(world, "EXISTS (SELECT 1 FROM chat_answers)")
            process.kill()
            await process.wait()
        assert [] == asked.messages
        process = await started(variables)
        await discord.until(lambda: asked.messages, within_s=60)
        assert asked.messages[0].content.startswith("❌ Nothing was submitted")
        await holds(world, "NOT EXISTS (SELECT 1 FROM chat_answers WHERE done_at IS NULL)")
        await holds(world, "NOT EXISTS (SELECT 1 FROM submissions)")
        process.terminate()
        await process.wait()


@pytest.mark.exhaustive  # each run has test_the_bot_alone
async def test_a_bot_that_isnt_connected_lets_another_answer(
    database_url: str, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path)
    async with fake_discord() as discord:
        ada = discord.person("ada", guild := discord.guild())
        rules = BotRules(
            BOT_TOKEN,
            (guild.id,),
            api_url=discord.url,
            ready_pause_s=0.05,
            retry_s=0.05,
            reconnect_pause_s=0.01,
            away_s=1.0,  # a busy machine may keep it from its connection for some tenths
        )
        running = asyncio.create_task(_answer(settings, database_url, rules))
        assert "Pong" in await pinged(discord, ada)
        discord.gateway.refuses = 1 << 20
        await discord.gateway.drop()
        async with only_one(database_url, Lock.BOT, lambda: None, pause_s=0.02):
            discord.gateway.refuses = 0
            discord.gateway.session = None
        await discord.until(lambda: discord.gateway.session)
        assert "Pong" in await pinged(discord, ada)
        assert not running.done()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.mark.exhaustive
async def test_serve_starts_the_bot_and_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_discord() as discord:
        ada = discord.person("ada", guild := discord.guild())
        for name, value in environment(discord, guild, tmp_path).items():
            monkeypatch.setenv(name, value)
        server = LocalServer(tmp_path / "server", config=tmp_path / "kernelbot.toml")
        await asyncio.to_thread(server.__enter__)
        try:
            assert "Pong" in await pinged(discord, ada)
        finally:
            await asyncio.to_thread(server.stop)
    assert [] == server.leftovers


@pytest.mark.parametrize(
    ("given", "debug", "missing"),
    [
        ({}, False, "DISCORD_TOKEN"),
        ({"discord_token": "t"}, False, "DISCORD_CLUSTER_STAGING_ID"),
        ({"discord_token": "t", "discord_guild": 1}, True, "DISCORD_DEBUG_TOKEN"),
        ({"discord_debug_token": "t"}, True, "DISCORD_DEBUG_CLUSTER_STAGING_ID"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, object], debug: bool, missing: str) -> None:
    with pytest.raises(UserError, match=missing):
        bot_rules(Settings(**given), debug=debug)  # type: ignore[arg-type]  # pydantic checks


def test_debug_works_in_its_own_guild_alone() -> None:
    settings = Settings(
        discord_token="t", discord_guild=1, discord_debug_token="d", discord_debug_guild=2
    )
    usual, debug = bot_rules(settings), bot_rules(settings, debug=True)
    assert ((1,), (2,)) == (usual.guild_ids, debug.guild_ids)
    assert ((), (2,)) == (usual.staging_ids, debug.staging_ids), "nicknames"
    assert "token" not in repr(usual)
