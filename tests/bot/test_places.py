"""The channels and roles of a guild."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from kernelbot.accounts.model import Role
from kernelbot.bot.places import create_guild_channels
from kernelbot.guilds.model import GuildChannels
from kernelbot.server.bot import open_bot
from tests.bot.stage import ADMIN, Stage, open_stage
from tests.fakes.discord.model import CATEGORY, FORUM, TEXT, FakeChannel, FakeRole, Wire, snowflake
from tests.support.waiting import until_told

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
        assert GuildChannels() == await stage.world.services.guilds.places(stage.guild.id)
    stage.guild.bot_may = 1 << 4
    async with stage.running() as bot:
        places = bot.places[stage.guild.id]
        assert (True, None) == (places.general_id is not None, places.admin_role_id)


async def test_a_guild_that_isnt_configured_any_more_gives_nobody_rights(stage: Stage) -> None:
    other, rules = stage.discord.guild("other"), stage.rules
    stage.rules = replace(rules, guild_ids=(*rules.guild_ids, other.id))
    async with stage.running():
        pass
    stage.rules = rules
    async with stage.running():  # its commands are still registered at Discord
        asked = await stage.discord.person("mallory", other, ADMIN).runs("admin stop")
        assert asked.original is not None
        assert "❌ Commands work in a server of ours only." == asked.original.content
    assert (await stage.world.services.platform.state()).accepts_jobs


@pytest.mark.exhaustive  # each run has test_a_guild_that_couldnt_be_prepared_is_tried_again
async def test_a_guild_that_discord_shows_late_is_prepared_then_and_nothing_is_made_twice(
    stage: Stage,
) -> None:
    async with stage.running():
        pass
    before = await stage.world.services.guilds.places(stage.guild.id)
    names = [(one.guild_id, one.name) for one in stage.guild.channels.values()]
    ready = stage.discord.gateway.ready
    without_guilds: tuple[Wire, list[tuple[str, Wire]]] = (ready()[0], [])
    stage.discord.gateway.ready = lambda: without_guilds
    async with open_bot(stage.world.services, stage.rules, None) as running:
        async with asyncio.timeout(60):
            await running.bot.prepared.wait()
        await stage.world.board("meanwhile")
        assert ([], {}) == (running.bot.ready_guilds(), running.bot.places)
        await stage.discord.gateway.dispatch("GUILD_CREATE", stage.guild.wire())
        await stage.has_thread("meanwhile")
    assert before == await stage.world.services.guilds.places(stage.guild.id)
    assert ROLES == made_roles(stage)
    assert [*names, (stage.guild.id, "meanwhile")] == [
        (one.guild_id, one.name) for one in stage.guild.channels.values()
    ]


async def test_a_guild_that_couldnt_be_prepared_is_tried_again(stage: Stage) -> None:
    stage.discord.trouble("/commands", 0, times=3)
    with capture_logs() as logs:
        async with stage.running() as bot:

            async def is_prepared() -> bool:
                return stage.guild.id in bot.places

            await until_told(is_prepared)
            assert stage.guild.commands
    assert stage.guild.id in [e["guild"] for e in logs if e["event"] == "guild_not_prepared"]


async def test_a_forum_chosen_before_a_guild_is_prepared_takes_no_rights_away(
    stage: Stage,
) -> None:
    async with stage.running() as bot:
        before = bot.places.pop(stage.guild.id)
        (guild,) = bot.served()
        await bot.use_forum(guild.forums[0])
        assert before == await stage.world.services.guilds.places(stage.guild.id)
        bot.places[stage.guild.id] = before


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


async def test_what_is_told_in_one_guild_is_told_in_the_others_too(stage: Stage) -> None:
    other = stage.discord.guild("other")
    stage.rules = replace(stage.rules, guild_ids=(*stage.rules.guild_ids, other.id))
    board = await stage.world.board("both")
    podium = {"device": "CPU", "author": "ada", "rank": 1, "shared": False, "score_s": 1.0}
    (run, *_) = (await stage.world.submit(board="both")).runs
    values = {"board": board.id, "run": run.id, "data": json.dumps({**podium, "fell": None})}
    async with stage.running():
        async with stage.world.database.write() as session:
            await session.one("SELECT announce('podium', %(board)s, %(run)s, %(data)s)", values)
        rooms = [one.channel("general") for one in (stage.guild, other)]
        await stage.discord.until(lambda: all(room.messages for room in rooms))
    said = "🥇 **ada** took #1 on **both** (CPU) with 1.00 s."
    assert [[said]] * 2 == [[one.content for one in room.messages] for room in rooms]


def fill(stage: Stage, kind: int, count: int, parent_id: int | None = None) -> None:
    for number in range(count):
        one = FakeChannel(snowflake(), stage.guild.id, f"old-{number}", kind, parent_id)
        stage.guild.channels[one.id] = one


async def lacking(stage: Stage) -> list[str]:
    """What an organiser reads of it."""
    olga = stage.person("olga")
    account = await stage.acting(olga)
    root = stage.world.admin.user
    await stage.world.services.users.set_role(root, account.id, Role.ADMIN)
    asked = await olga.runs("admin settings", channel="old-0")
    assert asked.original is not None
    return [line for line in asked.original.content.splitlines() if "Missing" in line]


async def test_a_guild_that_is_full_has_commands_and_organisers_read_what_it_lacks(
    stage: Stage,
) -> None:
    fill(stage, TEXT, 499)
    for number in range(246):
        role = FakeRole(snowflake(), f"old-{number}")
        stage.guild.roles[role.id] = role
    with capture_logs() as logs:
        async with stage.running():
            assert stage.guild.commands
            assert ["Leaderboards"] == [name for name, _ in made_channels(stage)[499:]]
            assert ROLES[:2] == made_roles(stage)
            full = "this server has 500 channels, the most that Discord allows."
            assert [
                f"⚠️ Missing: forum central: {full}",
                f"⚠️ Missing: channel submissions: {full}",
                f"⚠️ Missing: channel general: {full}",
                (
                    "⚠️ Missing: role Leaderboard Participant: this server has 250 roles, "
                    "the most that Discord allows."
                ),
            ] == await lacking(stage)
    assert [30013, 30013, 30013, 30005] == [one.code for one in stage.discord.refused]
    stage.discord.refused.clear()
    assert ["error"] == [e["log_level"] for e in logs if e["event"] == "guild_incomplete"]
    for one in [one for one in stage.guild.channels.values() if one.name == "old-1"]:
        del stage.guild.channels[one.id]
    async with stage.running() as bot:
        assert bot.places[stage.guild.id].forum_id is not None
        assert ROLES[:2] == made_roles(stage), "the two that it made are found again"
        stage.discord.refused.clear()


async def test_a_full_category_is_named_in_discords_words(stage: Stage) -> None:
    fill(stage, CATEGORY, 1)
    category = stage.guild.channel("old-0")
    category.name = "Leaderboards"
    fill(stage, TEXT, 50, category.id)
    async with stage.running():
        assert ROLES == made_roles(stage)
        first, *_ = await lacking(stage)
        assert first == (
            r"⚠️ Missing: forum central: Invalid Form Body: In parent\_id: "
            "Maximum number of channels in category reached (50)."
        )
    assert [50035] * 3 == [one.code for one in stage.discord.refused]
    stage.discord.refused.clear()


async def test_another_channel_of_the_same_name_isnt_taken(stage: Stage) -> None:
    fill(stage, TEXT, 1)
    (theirs,) = stage.guild.channels.values()
    theirs.name = "general"
    stage.discord.trouble("/channels", 400)  # no category
    async with stage.running() as bot:
        places = bot.places[stage.guild.id]
        assert (None, False) == (places.category_id, places.general_id in (None, theirs.id))


@pytest.mark.parametrize(
    ("before", "after"), [("Cluster Bot (Staging)", None), ("theirs", "theirs")]
)
async def test_a_bot_that_isnt_tried_out_any_more_isnt_called_so(
    stage: Stage, before: str, after: str | None
) -> None:
    stage.guild.nick = before
    async with stage.running():
        assert after == stage.guild.nick


async def test_a_guild_that_refuses_commands_doesnt_hold_up_the_others(stage: Stage) -> None:
    other = stage.discord.guild("other")
    stage.guild.scoped = False
    stage.rules = replace(stage.rules, guild_ids=(*stage.rules.guild_ids, other.id))
    with capture_logs() as logs:
        async with stage.running():
            assert ([], True) == (stage.guild.commands, bool(other.commands))
            assert 4 == len(made_channels(stage)), "it has its channels all the same"
    assert [stage.guild.id] == [e["guild"] for e in logs if e["event"] == "guild_without_commands"]


async def test_making_places_again_changes_nothing(stage: Stage) -> None:
    async with stage.running() as bot:
        before = stage.discord.requests.total()
        (guild,) = bot.served()
        assert bot.places[guild.id] == (await create_guild_channels(bot.services, guild)).places
        assert before == stage.discord.requests.total()
