"""The channels and roles of a guild."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio
from structlog.testing import capture_logs

from kernelbot.bot.places import make_places
from kernelbot.domain.guilds import GuildPlaces
from tests.bot.stage import Stage, open_stage
from tests.fakes.discord.model import CATEGORY, FORUM, TEXT

ROLES = ["Leaderboard Admin", "Leaderboard Creator", "Leaderboard Participant"]


@pytest_asyncio.fixture
async def stage(database_url: str) -> AsyncIterator[Stage]:
    """Without a running bot."""
    async with open_stage(database_url) as opened:
        yield opened


def made_channels(stage: Stage) -> list[tuple[str, int]]:
    return [(channel.name, channel.type) for channel in stage.guild.channels.values()]


def made_roles(stage: Stage) -> list[str]:
    names = [role.name for role in stage.guild.roles.values()]
    return [name for name in names if name.startswith("Leaderboard")]


async def test_the_first_start_makes_channels_and_roles_and_later_ones_find_them(
    stage: Stage,
) -> None:
    async with stage.running():
        assert [
            ("Leaderboards", CATEGORY),
            ("central", FORUM),
            ("submissions", TEXT),
            ("general", TEXT),
        ] == made_channels(stage)
        assert ROLES == made_roles(stage)
    stage.guild.channel("submissions").name = "renamed"
    stage.guild.role("Leaderboard Admin").name = "renamed, too"
    async with stage.running():
        assert 4 == len(made_channels(stage))
        assert ROLES[1:] == made_roles(stage)


async def test_what_was_deleted_is_made_again(stage: Stage) -> None:
    async with stage.running():
        del stage.guild.channels[stage.guild.channel("general").id]
    async with stage.running():
        assert ("general", TEXT) in made_channels(stage)


async def test_a_role_that_was_there_before_gives_nobody_rights(stage: Stage) -> None:
    from tests.fakes.discord.model import FakeRole, snowflake

    theirs = FakeRole(snowflake(), "Leaderboard Admin")
    stage.guild.roles[theirs.id] = theirs
    mallory = stage.person("mallory", "Leaderboard Admin")
    async with stage.running():
        asked = await mallory.runs("leaderboard help")
        assert asked.original is not None
        assert "You act as" not in asked.original.content


async def test_a_guild_without_permissions_has_commands_all_the_same(stage: Stage) -> None:
    stage.guild.bot_may = 0
    async with stage.running():
        assert [] == made_channels(stage)
        assert stage.guild.commands
        assert GuildPlaces() == await stage.world.services.guilds.places(stage.guild.id)
    stage.guild.bot_may = 1 << 4
    async with stage.running() as bot:
        places = bot.places[stage.guild.id]
        assert (True, None) == (places.general_id is not None, places.admin_role_id)


async def test_several_guilds_have_places_of_their_own(stage: Stage) -> None:
    other, foreign = stage.discord.guild("other"), stage.discord.guild("foreign")
    rules = stage.rules
    stage.rules = type(rules)(
        rules.token,
        (*rules.guild_ids, other.id),
        staging_ids=(other.id,),
        api_url=rules.api_url,
        ready_pause_s=rules.ready_pause_s,
    )
    async with stage.running() as bot:
        assert 4 == len(other.channels)
        assert ("Cluster Bot (Staging)", None) == (other.nick, stage.guild.nick)
        assert ({}, []) == (foreign.channels, foreign.commands)
        assert bot.places[other.id] != bot.places[stage.guild.id]


async def test_a_guild_that_refuses_commands_doesnt_hold_up_the_others(stage: Stage) -> None:
    other = stage.discord.guild("other")
    stage.guild.scoped = False
    stage.rules = replace(stage.rules, guild_ids=(*stage.rules.guild_ids, other.id))
    with capture_logs() as logs:
        async with stage.running():
            assert ([], True) == (stage.guild.commands, bool(other.commands))
    assert [stage.guild.id] == [e["guild"] for e in logs if e["event"] == "guild_not_prepared"]


async def test_making_places_again_changes_nothing(stage: Stage) -> None:
    async with stage.running() as bot:
        before = stage.discord.requests.total()
        (guild,) = bot.served()
        assert bot.places[guild.id] == await make_places(bot.services, guild)
        assert before == stage.discord.requests.total()
