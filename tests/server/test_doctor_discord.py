from dataclasses import replace

import pytest

from kernelbot.server.doctor_discord import examine_bot, examine_discord
from tests.bot.stage import Stage, open_stage
from tests.fakes.discord.model import EVERYTHING, MANAGE_ROLES


async def missing(stage: Stage) -> list[str]:
    return [part.name.strip() for part in await examine_bot(stage.rules) if not part.ok]


async def test_all_is_well_once_the_bot_has_started(database_url: str) -> None:
    async with open_stage(database_url) as stage:
        before = await missing(stage)
        async with stage.running():
            pass
        assert ["channel central", "channel submissions", "channel general"] == before
        assert [] == await missing(stage)


async def test_each_thing_that_is_missing_is_named(database_url: str) -> None:
    async with open_stage(database_url) as stage:
        async with stage.running():
            pass
        stage.guild.bot_may = EVERYTHING & ~MANAGE_ROLES & ~(1 << 3)
        stage.guild.scoped = False
        stage.discord.gateway.allowed = {"members"}
        stage.rules = replace(stage.rules, guild_ids=(*stage.rules.guild_ids, 42))
        assert [
            "intent Message Content",
            "scope applications.commands",
            "permission Manage Roles",
            "server 42",
        ] == await missing(stage)


async def test_a_wrong_token(database_url: str) -> None:
    async with open_stage(database_url) as stage:
        (part,) = await examine_bot(replace(stage.rules, token="wrong"))
    assert ("token", False) == (part.name, part.ok)
    assert "wrong" not in part.note


def test_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)
    (part,) = examine_discord()
    assert ("settings", False, True) == (part.name, part.ok, "DISCORD_TOKEN" in part.note)
