"""Several servers, each with settings of its own."""

from datetime import UTC, datetime

import pytest

from kernelbot.bot.commands.creating import deadline_of
from kernelbot.guilds.model import GuildSettings
from tests.bot.stage import ADMIN, CREATOR, Stage
from tests.catalog.test_single_reference import OLDER
from tests.fakes.discord import Interaction, Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")


def text(interaction: Interaction) -> str:
    assert interaction.messages
    return interaction.messages[-1].content


async def test_settings_are_shown_and_changed(stage: Stage) -> None:
    olga = stage.person("olga", ADMIN)
    await olga.runs("admin settings")
    assert (
        stage.conversation
        == """olga: /admin settings
bot (only olga): This server's settings
Boards that are listed and told of: all
Changes at the top: told
New boards: open a thread
Weekly summary: on Mondays from 9:00 (`UTC`)
Time zone of deadlines that are typed: `UTC`"""
    )
    assert ["Europe/Berlin"] == await olga.completes("admin settings", "time_zone", "berlin")
    changed = await olga.runs(
        "admin settings", podium=False, new_boards=False, weekly=False, time_zone="Asia/Tokyo"
    )
    assert (
        text(changed)
        == """This server's settings
Boards that are listed and told of: all
Changes at the top: not told
New boards: open no thread
Weekly summary: none
Time zone of deadlines that are typed: `Asia/Tokyo`"""
    )
    assert GuildSettings(podium=False, new_boards=False, weekly=False, time_zone="Asia/Tokyo") == (
        await stage.world.services.guilds.settings(stage.guild.id)
    )
    assert text(changed) == text(await olga.runs("admin settings"))


async def test_a_typed_deadline_is_in_the_servers_time_zone(stage: Stage) -> None:
    carl, olga = stage.person("carl", CREATOR), stage.person("olga", ADMIN)
    await olga.runs("admin settings", time_zone="Asia/Tokyo")
    file = Upload("reference.py", OLDER.encode())
    asked = await carl.runs(
        "leaderboard create", name="tokyo", deadline="2100-01-01 09:00", reference_code=file
    )
    assert asked.original is not None
    await carl.chooses(asked.original, "Choose the GPUs", "CPU")
    board = await stage.world.services.boards.get(None, "tokyo")
    assert datetime(2100, 1, 1, tzinfo=UTC) == board.deadline
    assert datetime(2100, 7, 1, 7, tzinfo=UTC) == deadline_of("2100-07-01 09:00", "Europe/Berlin")


async def test_a_server_about_one_competition_lists_its_boards_alone(stage: Stage) -> None:
    olga, world = stage.person("olga", ADMIN), stage.world
    for name in ("inside", "outside"):
        await world.board(name)
    async with world.database.write() as session:
        await session.do(
            "WITH made AS (INSERT INTO competitions (name) VALUES ('win*ter') RETURNING id)"
            " UPDATE leaderboards SET competition_id = made.id FROM made"
            " WHERE leaderboards.name = 'inside'"
        )
    assert ["win*ter"] == await olga.completes("admin settings", "competition", "win")
    chosen = await olga.runs("admin settings", competition="win*ter")
    assert r"Boards that are listed and told of: of win\*ter alone" in text(chosen)
    listed = await stage.person("ada").runs("leaderboard list")
    assert ("inside" in text(listed), "outside" in text(listed)) == (True, False)
    assert ["inside"] == await olga.completes("leaderboard show", "name", "side")
    ranking = await olga.runs("leaderboard show", name="outside")
    assert "**outside** on CPU" in text(ranking), "who knows its name still finds it"
    await olga.runs("admin settings", competition="all")
    assert ["outside", "inside"] == await olga.completes("leaderboard show", "name", "side")


async def test_what_does_not_exist_is_refused(stage: Stage) -> None:
    olga = stage.person("olga", ADMIN)
    for options, said in (
        ({"competition": "none's"}, "There is no competition named"),
        ({"time_zone": "Mars"}, "There is no time zone named 'Mars'."),
    ):
        assert said in text(await olga.runs("admin settings", **options))


async def test_settings_are_for_admins(stage: Stage) -> None:
    for person in (stage.person("eve"), stage.person("carl", CREATOR)):
        assert text(await person.runs("admin settings", weekly=False)).startswith("❌ Only ")
