"""What guilds are told, and when."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from kernelbot.accounts.store import add_identity
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import NotAllowed, NotFound, UserError
from kernelbot.guilds.announcements import store
from kernelbot.guilds.model import AnnouncementKind, GuildChannels, GuildMember, GuildSettings
from kernelbot.store.sqlfiles import statements
from tests.support.ranked import ranked
from tests.support.world import World

MONDAY = datetime(2100, 1, 4, tzinfo=UTC)
HERE, THERE = 1, 2


async def summaries(world: World, at: datetime, *guilds: int) -> list[int]:
    """In which guilds the week is to be summed up at this time."""
    due = await world.services.announcements.claim(guilds or (HERE,), at=at)
    return [one.guild_id for one in due if one.kind is AnnouncementKind.WEEKLY]


async def choose(world: World, guild_id: int, chosen: GuildSettings) -> None:
    await world.services.guilds.set_places(guild_id, GuildChannels())
    await world.services.guilds.change_settings(world.admin.user, guild_id, chosen)


async def of_competition(world: World, board: str, competition: str) -> None:
    await world.board(board)
    async with world.database.write() as session:
        await session.do(
            "WITH made AS (INSERT INTO competitions (name) VALUES (%(name)s) RETURNING id)"
            " UPDATE leaderboards SET competition_id = made.id FROM made"
            " WHERE leaderboards.name = %(board)s",
            {"name": competition, "board": board},
        )


async def test_the_week_is_summed_up_on_mondays_from_nine(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    minute, day = timedelta(minutes=1), timedelta(days=1)
    nine = MONDAY + timedelta(hours=9)
    times = [nine - day, nine - minute, nine, nine + minute, nine + day, nine + 7 * day]
    found = [await summaries(world, at) for at in times]
    assert [[], [], [HERE], [], [], [HERE]] == found


async def test_nine_is_in_the_guilds_time_zone(world: World) -> None:
    await choose(world, HERE, GuildSettings(time_zone="Asia/Tokyo"))
    await choose(world, THERE, GuildSettings(time_zone="America/New_York"))
    hours = [await summaries(world, MONDAY + timedelta(hours=h), HERE, THERE) for h in (0, 13, 14)]
    assert [[HERE], [], [THERE]] == hours


async def test_a_guild_may_want_no_summary(world: World) -> None:
    await choose(world, HERE, GuildSettings(weekly=False))
    assert [] == await summaries(world, MONDAY + timedelta(hours=10))


async def test_what_a_guild_does_not_want_is_not_told_later_either(world: World) -> None:
    announcements = world.services.announcements
    await choose(world, HERE, GuildSettings(new_boards=False))
    await choose(world, THERE, GuildSettings())
    await world.board("first")
    due = await announcements.claim((HERE, THERE))
    assert [THERE] == [one.guild_id for one in due]
    await choose(world, HERE, GuildSettings())
    assert [] == await announcements.claim((HERE,))
    await world.board("second")
    assert ["second"] == [one.board for one in await announcements.claim((HERE,))]


async def test_news_of_a_board_that_was_closed_meanwhile_is_not_told(world: World) -> None:
    announcements, admin = world.services.announcements, world.admin.user
    await choose(world, HERE, GuildSettings(new_boards=False))
    await world.board("sort")
    await ranked(world, 2e-3)
    await world.services.boards.edit(admin, "sort", BoardEdit(visibility=Visibility.CLOSED))
    assert [] == await announcements.claim((HERE,))


async def test_news_older_than_a_day_is_told_no_more_but_a_board_still_gets_its_thread(
    world: World,
) -> None:
    announcements = world.services.announcements
    await choose(world, HERE, GuildSettings())
    await world.board("first")
    due = MONDAY + timedelta(hours=9)
    assert [HERE] == await summaries(world, due)
    async with world.database.write() as session:
        await session.do("UPDATE announcements SET created_at = now() - interval '25 hours'")
        await session.do("UPDATE deliveries SET next_at = now()")
    assert ["first"] == [one.board for one in await announcements.claim((HERE,), at=due)]


async def test_a_guild_about_one_competition_is_told_of_its_boards_alone(world: World) -> None:
    announcements = world.services.announcements
    await world.services.guilds.set_places(HERE, GuildChannels())
    await of_competition(world, "mine", "winter")
    await of_competition(world, "theirs", "summer")
    await world.board("of-none")
    await choose(world, HERE, GuildSettings(competition="winter"))
    assert ["mine"] == [one.board for one in await announcements.claim((HERE,))]
    assert ["mine"] == [one.board for one in await announcements.week(HERE)]
    assert ["mine"] == [one.board for one in await announcements.threads(HERE)]
    listed = await world.services.boards.list_boards(None, guild_id=HERE)
    elsewhere = await world.services.boards.list_boards(None, guild_id=THERE)
    assert (["mine"], 3) == ([board.name for board in listed], len(elsewhere))


@pytest.mark.parametrize(
    "chosen",
    [
        GuildSettings(competition="a'; echo x"),
        GuildSettings(time_zone="Mars/Olympus"),
        GuildSettings(time_zone="../../etc/passwd"),
        GuildSettings(time_zone="a\x00b"),
        GuildSettings(time_zone=""),
    ],
)
async def test_what_does_not_exist_cannot_be_chosen(world: World, chosen: GuildSettings) -> None:
    with pytest.raises(NotFound):
        await choose(world, HERE, chosen)
    assert GuildSettings() == await world.services.guilds.settings(HERE)


async def test_a_choice_is_kept_when_channels_change_and_is_logged(world: World) -> None:
    await choose(world, HERE, GuildSettings(podium=False))
    await world.services.guilds.set_places(HERE, GuildChannels(general_id=5))
    assert GuildSettings(podium=False) == await world.services.guilds.settings(HERE)
    (entry, *_) = await world.services.audit.list_entries(world.admin.user, action="guild.edit")
    assert (f"guild:{HERE}", False) == (entry.subject, entry.detail["podium"])


async def test_threads_are_opened_only_if_the_guild_wants_them(world: World) -> None:
    await choose(world, HERE, GuildSettings(new_boards=False))
    with pytest.raises(UserError, match="open no threads"):
        await world.services.announcements.match_threads(
            world.admin.user, HERE, {}, open_missing=True
        )


async def test_what_could_not_be_told_is_told_again_after_pauses_of_ten_minutes_at_most(
    world: World,
) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    announcements = world.services.announcements
    (claimed,) = await announcements.claim((HERE,))
    pauses = []
    for tries in (1, 2, 7, 8, 30):
        await announcements.failed(replace(claimed, tries=tries), 5.0)
        async with world.database.read() as session:
            row = await session.one(
                "SELECT extract(epoch FROM next_at - now())::float8 AS s FROM deliveries"
            )
        assert row is not None
        pauses.append(row["s"])
    for pause_s, expected_s in zip(pauses, (5, 10, 320, 600, 600), strict=True):
        assert expected_s - 60 < pause_s <= expected_s
    assert 1 == claimed.tries


async def test_what_was_told_is_told_no_more(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    announcements = world.services.announcements
    (claimed,) = await announcements.claim((HERE,))
    await announcements.delivered(claimed, 9)
    async with world.database.write() as session:
        await session.do("UPDATE deliveries SET next_at = now()")
    assert [] == await announcements.claim((HERE,))
    assert [9] == [one.thread_id for one in await announcements.threads(HERE)]


async def test_ten_are_taken_at_once_and_ten_boards_are_summed_up(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    for number in range(11):
        await world.board(f"b{number}")
    announcements = world.services.announcements
    claims = [len(await announcements.claim((HERE,))) for _ in range(2)]
    assert ([10, 1], 10) == (claims, len(await announcements.week(HERE)))


async def test_a_person_is_told_of_a_board_until_they_ask_again(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    member = GuildMember(HERE, 42, "ada", frozenset())
    watch = world.services.announcements.watch
    assert [True, False, True] == [await watch(world.ada.user, "sort", member) for _ in range(3)]
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(Visibility.CLOSED))
    with pytest.raises(NotFound):
        await watch(world.ada.user, "sort", member)


async def watchers(world: World) -> list[str]:
    """Whose places a member is told of."""
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT u.name FROM watches w JOIN users u ON u.id = w.author_id ORDER BY u.name"
        )
    return [row["name"] for row in rows]


async def test_who_acts_as_another_account_watches_for_that_one(world: World) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    member = GuildMember(HERE, 42, "ada", frozenset())
    for account in (world.ada.user, world.bob.user):
        assert await world.services.announcements.watch(account, "sort", member)
    assert ["bob"] == await watchers(world)


async def test_a_person_who_watches_for_two_accounts_is_told_once(world: World) -> None:
    """As the release before let them."""
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    await ranked(world, 3e-3)
    await ranked(world, 2e-3, author=world.bob.user)
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO watches SELECT b.id, u.id, %(guild)s, 42 FROM leaderboards b, users u"
            " WHERE u.name IN ('ada', 'bob')",
            {"guild": HERE},
        )
    await ranked(world, 1e-3, author=world.admin.user)
    told = await world.services.announcements.claim((HERE,))
    assert [HERE] == [one.guild_id for one in told if one.kind is AnnouncementKind.PASSED]


async def test_nobody_is_told_of_an_account_that_is_no_longer_theirs(world: World) -> None:
    users, ada = world.services.users, world.ada.user
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    async with world.database.write() as session:
        for provider in ("github", "discord"):
            await add_identity(session, ada.id, provider=provider, subject="42")
    await world.services.announcements.watch(ada, "sort", GuildMember(HERE, 42, "ada", frozenset()))
    await users.unlink(ada, "github", "42")
    assert ["ada"] == await watchers(world)
    await users.unlink(ada, "discord", "42")
    assert [] == await watchers(world)


async def test_what_there_is_to_choose_is_said(world: World) -> None:
    guilds, admin = world.services.guilds, world.admin.user
    said = []
    for competitions in (0, 11):
        async with world.database.write() as session:
            await session.do(
                "INSERT INTO competitions (name) SELECT 'c' || n FROM generate_series(1, %(n)s) n",
                {"n": competitions},
            )
        with pytest.raises(NotFound) as refused:
            await guilds.change_settings(admin, HERE, GuildSettings(competition="x"))
        said.append((str(refused.value), refused.value.hint))
    names = ", ".join(f"c{number}" for number in range(11, 1, -1))
    assert [
        ("There is no competition named 'x'.", "There is: none."),
        ("There is no competition named 'x'.", f"There is: {names}."),
    ] == said
    for chosen, error in (
        (GuildSettings(time_zone="x"), "There is no time zone named 'x'."),
        (GuildSettings(), "The bot hasn't prepared this server yet."),
    ):
        with pytest.raises(NotFound, match=f"^{re.escape(error)}$"):
            await guilds.change_settings(admin, HERE, chosen)
    with pytest.raises(NotAllowed):
        await guilds.change_settings(world.ada.user, HERE, GuildSettings())


def test_a_guild_is_told_of_all_unless_it_chooses() -> None:
    assert GuildSettings(True, True, True, None, "UTC") == GuildSettings()


async def test_a_thread_that_is_refused_for_weeks_is_tried_again(world: World) -> None:
    """Every ten minutes: after a week that is more often than a float can be doubled."""
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    [due] = await world.services.announcements.claim((HERE,))
    await world.services.announcements.failed(replace(due, tries=2000), 0.0)
    assert [due.id] == [one.id for one in await world.services.announcements.claim((HERE,))]


async def test_news_told_a_month_ago_is_deleted_and_a_board_keeps_its_thread(world: World) -> None:
    announcements = world.services.announcements
    await world.services.guilds.set_places(HERE, GuildChannels())
    await world.board()
    for score_s in (3e-3, 2e-3):
        await ranked(world, score_s, author=(await world.services.users.create(f"u{score_s}")).user)
    for due in await announcements.claim((HERE,)):
        await announcements.delivered(due, 9)
    async with world.database.write() as session:
        await session.do(
            "UPDATE announcements SET created_at = now() - CASE"
            " WHEN id = (SELECT max(id) FROM announcements) THEN interval '29 days'"
            " ELSE interval '31 days' END"
        )
    await world.services.deletion.clean_up()
    async with world.database.read() as session:
        left = await session.all(
            "SELECT a.kind, d.message_id FROM announcements a"
            " JOIN deliveries d ON d.announcement_id = a.id ORDER BY a.id"
        )
    assert [("board", 9), ("podium", 9)] == [(one["kind"], one["message_id"]) for one in left]


@pytest.mark.parametrize("name", ["claim", "skip_unwanted"])
async def test_what_is_due_is_looked_for_among_what_is_not_yet_told(
    world: World, name: str
) -> None:
    await world.services.guilds.set_places(HERE, GuildChannels())
    async with world.database.write() as session:
        await session.do(
            "WITH told AS (INSERT INTO announcements (kind, data)"
            " SELECT 'weekly', '{}' FROM generate_series(1, 3000) RETURNING id)"
            " INSERT INTO deliveries (announcement_id, guild_id, delivered_at)"
            " SELECT id, %(guild)s, CASE WHEN id > 10 THEN now() END FROM told",
            {"guild": HERE},
        )
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("ANALYZE announcements, deliveries")
        values = {"guild_ids": [HERE], "limit": 10}
        asked = statements(store.__file__)[name]
        plan = connection.execute("EXPLAIN " + asked, values).fetchall()
    assert "deliveries_untold" in "".join(line for (line,) in plan)
