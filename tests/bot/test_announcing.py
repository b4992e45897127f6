"""Changes at the top and new boards, whatever door they came by."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.bot.announcing import week_text
from kernelbot.guilds.model import WeekOfBoard
from kernelbot.submissions.model import Submission
from tests.bot.stage import Stage, open_stage
from tests.support.postgres import TestServer
from tests.support.workers import finished, quick_settings, working

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_stage(
    postgres: TestServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Stage]:
    """With a bot and a worker."""
    settings = quick_settings(tmp_path_factory.mktemp("worker"))
    with postgres.database() as url:
        async with open_stage(url) as stage, stage.running(), working(settings, url):
            yield stage


async def ranked(stage: Stage, board: str, author: str, score_s: float) -> Submission:
    """A submission from elsewhere, judged."""
    world = stage.world
    person = await world.services.users.find(world.admin.user, author)
    words = f"# fake: accepted {score_s} {score_s * 0.99} {score_s * 1.01}\n# {author}\n"
    made = await world.submit(person, board=board, content=words.encode())
    return await finished(world, made.id)


def told(stage: Stage, board: str) -> list[str]:
    """What was said of a board in the channel for all."""
    texts = [entry.text for entry in stage.discord.transcript.entries]
    return [
        text.removeprefix("bot in #general: ")
        for text in texts
        if text.startswith("bot in #general") and f"**{board}**" in text
    ]


async def people(stage: Stage, *names: str) -> None:
    for name in names:
        await stage.world.services.users.create(name)


async def test_a_new_board_has_a_thread(stage: Stage) -> None:
    await stage.world.board("threaded")
    await stage.discord.until(lambda: "in thread threaded" in stage.discord.transcript.text)
    assert (
        stage.discord.transcript.text
        == """bot in thread threaded: **threaded**: no deadline, on CPU
```
Sort it.
```
Start with `/leaderboard template name:threaded`."""
    )


async def test_a_board_that_opens_later_has_a_thread_once(stage: Stage) -> None:
    world = stage.world
    edit, admin = world.services.boards.edit, world.admin.user
    await world.board("later")
    await stage.discord.until(lambda: "in thread later" in stage.discord.transcript.text)
    await edit(admin, "later", BoardEdit(visibility=Visibility.CLOSED))
    await edit(admin, "later", BoardEdit(visibility=Visibility.PUBLIC))
    await world.board("after")
    await stage.discord.until(lambda: "in thread after" in stage.discord.transcript.text)
    assert 1 == stage.discord.transcript.text.count("in thread later")


@pytest.mark.exhaustive  # each run has test_who_watches_is_told_when_somebody_passes_them
async def test_the_top_of_a_ranking_is_told_of(stage: Stage) -> None:
    await people(stage, "a*b", "carl", "dora", "emil")
    await stage.world.board("top")
    for author, score_s in [
        *(("a*b", 4.0), ("carl", 3.0), ("dora", 5.0), ("emil", 6.0)),
        *(("carl", 2.9), ("emil", 3.5), ("dora", 2.0)),
    ]:
        await ranked(stage, "top", author, score_s)
    await stage.discord.until(lambda: "2.00 s" in str(told(stage, "top")))
    assert [
        r"🥇 **a\*b** took #1 on **top** (CPU) with 4.00 s.",
        "🥇 **carl** took #1 on **top** (CPU) with 3.00 s.",
        "🥉 **dora** entered the top three as #3 on **top** (CPU) with 5.00 s.",
        (
            "🥈 **emil** entered the top three as #2 on **top** (CPU) with 3.50 s; "
            "**dora** fell out of the top three."
        ),
        r"🥇 **dora** took #1 on **top** (CPU) with 2.00 s; **a\*b** fell out of the top three.",
    ] == told(stage, "top")


@pytest.mark.exhaustive  # each run has test_the_first_place_may_be_shared
async def test_closed_and_ended_boards_are_not_told_of(stage: Stage, tmp_path: Path) -> None:
    is_over = tmp_path / "over"
    world = stage.world
    await people(stage, "fritz")
    for name in ("secret", "over", "open"):
        await world.board(name)
    edit, admin = world.services.boards.edit, world.admin.user
    await edit(admin, "secret", BoardEdit(visibility=Visibility.CLOSED))
    fritz = await world.services.users.find(admin, "fritz")
    late = await world.submit(
        fritz, board="over", content=f"# fake: until {is_over} accepted 1 0.9 1.1".encode()
    )
    await edit(admin, "over", BoardEdit(deadline=datetime.now(UTC) - timedelta(seconds=1)))
    is_over.touch()
    await finished(world, late.id)
    codes = (await world.services.invites.create(admin, ("secret",), 1)).codes
    await world.services.invites.join(fritz, codes[0])
    await ranked(stage, "secret", "fritz", 1.0)
    await ranked(stage, "open", "fritz", 1.0)
    await stage.discord.until(lambda: told(stage, "open"))
    assert ([], []) == (told(stage, "secret"), told(stage, "over"))


async def test_the_first_place_may_be_shared(stage: Stage) -> None:
    await people(stage, "gil", "hal")
    await stage.world.board("shared")
    await ranked(stage, "shared", "gil", 1.0)
    await ranked(stage, "shared", "hal", 1.005)
    await stage.discord.until(lambda: len(told(stage, "shared")) == 2)
    assert "🥇 **hal** shares #1 on **shared** (CPU) with 1.00 s." == told(stage, "shared")[1]


@pytest.mark.exhaustive  # each run has test_who_watches_is_told_when_somebody_passes_them
async def test_what_was_released_by_an_organiser_is_told_of_then(stage: Stage) -> None:
    world = stage.world
    await people(stage, "ida")
    await world.board("reviewed")
    ida = await world.services.users.find(world.admin.user, "ida")
    made = await world.submit(
        ida, board="reviewed", content=b"# fake: accepted 1 0.9 1.1 suspicious"
    )
    await finished(world, made.id)
    assert [] == told(stage, "reviewed")
    await world.services.reviews.release(world.admin.user, made.id, "it is fine")
    await stage.discord.until(lambda: told(stage, "reviewed"))
    await world.services.users.ban(world.admin.user, ida.id)
    await world.services.users.unban(world.admin.user, ida.id)
    await ranked(stage, "reviewed", "bob", 0.5)
    await stage.discord.until(lambda: "bob" in str(told(stage, "reviewed")))
    assert 2 == len(told(stage, "reviewed")), "the end of a ban isn't a new score"


@pytest.mark.exhaustive  # each run has test_who_watches_is_told_when_somebody_passes_them
async def test_a_failure_to_post_is_retried(stage: Stage) -> None:
    await people(stage, "jo")
    await stage.world.board("retried")
    await stage.discord.until(lambda: "in thread retried" in stage.discord.transcript.text)
    general = stage.guild.channel("general").id
    stage.discord.trouble(f"/channels/{general}/messages", 403, times=3)
    await ranked(stage, "retried", "jo", 1.0)
    await stage.discord.until(lambda: told(stage, "retried"))
    assert 1 == len(told(stage, "retried"))


async def test_what_was_told_but_not_said_so_is_told_once(stage: Stage) -> None:
    await people(stage, "kim")
    await stage.world.board("twice")
    await ranked(stage, "twice", "kim", 1.0)
    await stage.discord.until(lambda: told(stage, "twice"))
    async with stage.world.database.write() as session:
        await session.do(
            "UPDATE deliveries SET delivered_at = NULL, next_at = now() WHERE announcement_id IN"
            " (SELECT max(id) FROM announcements)"
        )
        await session.do("SELECT pg_notify('kernelbot_events', 'announcements')")
    await stage.world.board("afterwards")  # told after what was due before
    await stage.discord.until(lambda: "in thread afterwards" in stage.discord.transcript.text)
    assert 1 == len(told(stage, "twice"))


@pytest.mark.exhaustive  # each run has test_what_was_told_but_not_said_so_is_told_once
@pytest.mark.parametrize("data", ['{"rank": 1, "new": 1}', '{"score_s": "1 s"}'])
async def test_what_this_release_cannot_tell_holds_up_nothing(stage: Stage, data: str) -> None:
    """After a rollback: a later release has written it in another form."""
    board = f"rolled{len(data)}"
    await people(stage, board)
    await stage.world.board(board)
    await ranked(stage, board, board, 1.0)
    await stage.discord.until(lambda: told(stage, board))
    async with stage.world.database.write() as session:
        await session.do(
            "WITH changed AS (UPDATE announcements SET data = data || %(data)s::jsonb"
            " WHERE id IN (SELECT max(id) FROM announcements) RETURNING id)"
            " UPDATE deliveries SET delivered_at = NULL, next_at = now()"
            " WHERE announcement_id IN (SELECT id FROM changed)",
            {"data": data},
        )
        await session.do("SELECT pg_notify('kernelbot_events', 'announcements')")
    await stage.world.board(f"{board}-later")
    await stage.discord.until(lambda: f"in thread {board}-later" in stage.discord.transcript.text)
    assert 1 == len(told(stage, board))


async def test_who_watches_is_told_when_somebody_passes_them(stage: Stage) -> None:
    world = stage.world
    lea, max_ = stage.person("lea"), stage.person("max")
    max_.user.direct_messages = False
    await world.board("watched")
    for person in (lea, max_):
        asked = await person.runs("leaderboard watch", name="watched")
    assert asked.original is not None
    assert "You get a direct message when somebody passes you on **watched**." == (
        asked.original.content
    )
    await ranked(stage, "watched", "lea", 2.0)
    await ranked(stage, "watched", "max", 3.0)
    await ranked(stage, "watched", "bob", 1.0)
    await stage.discord.until(lambda: "bot (to lea)" in stage.discord.transcript.text)
    await ranked(stage, "watched", "bob", 0.5)
    again = await lea.runs("leaderboard watch", name="watched")
    assert again.original is not None
    assert "No more messages on **watched**." == again.original.content
    await ranked(stage, "watched", "max", 1.5)
    await ranked(stage, "watched", "ada", 0.2)
    await stage.discord.until(lambda: "ada" in str(told(stage, "watched")))
    entries = [e.text for e in stage.discord.transcript.entries if "bot (to" in e.text]
    assert [
        passed_told("bob", "1.00 s", "2.00 s"),
    ] == entries


async def test_who_may_not_see_the_board_any_more_is_told_nothing(stage: Stage) -> None:
    world = stage.world
    await world.board("shut")
    await stage.person("lisa").runs("leaderboard watch", name="shut")
    await ranked(stage, "shut", "lisa", 2.0)
    await world.services.boards.edit(
        world.admin.user, "shut", BoardEdit(visibility=Visibility.CLOSED)
    )
    await ranked(stage, "shut", "root", 1.0)
    async with world.database.read() as session:
        assert [] == await session.all(
            "SELECT a.kind FROM announcements a JOIN leaderboards b ON b.id = a.leaderboard_id"
            " WHERE b.name = 'shut' AND a.kind = 'passed'"
        )


def passed_told(by: str, theirs: str, own: str) -> str:
    return (
        f"bot (to lea): **{by}** has passed you on **watched** (CPU): {theirs}, and yours is "
        f"{own}. `/leaderboard watch` ends these messages."
    )


async def test_the_week_is_summarised_on_mondays(stage: Stage) -> None:
    world = stage.world
    await people(stage, "nia")
    await world.board("weekly")
    await ranked(stage, "weekly", "nia", 2.0)
    week = await world.services.announcements.week(stage.guild.id)
    (mine,) = [one for one in week if one.board == "weekly"]
    assert (1, 1, "nia", 2.0) == (mine.submissions, mine.authors, mine.leader, mine.leader_s)
    assert "**weekly** (CPU): 1 submission, 1 ranked; **nia** leads with 2.00 s" in week_text(week)
    async with world.database.write() as session:
        await session.do("INSERT INTO announcements (kind, data) VALUES ('weekly', '{}')")
        await session.do(
            "INSERT INTO deliveries (announcement_id, guild_id)"
            " SELECT max(a.id), g.id FROM announcements a, guilds g GROUP BY 2"
        )
        await session.do("SELECT pg_notify('kernelbot_events', 'announcements')")
    await stage.discord.until(lambda: "This week" in stage.discord.transcript.text)


async def test_a_quiet_week_is_not_told_of() -> None:
    assert "" == week_text([WeekOfBoard("b", "CPU", 0, 3, "ada", 1.0)])


async def test_a_week_of_long_names_fits_into_a_message() -> None:
    week = [WeekOfBoard("_" * 64, "NVIDIA_H100", 9, 9, "_" * 64, 1.0)] * 10
    text = week_text(week)
    assert (True, True) == (1500 < len(text) <= 2000, text.endswith("leads with 1.00 s"))


async def test_without_a_bot_nothing_is_kept_for_it(database_url: str) -> None:
    async with open_stage(database_url) as stage:
        await stage.world.board("quiet")
        async with stage.world.database.read() as session:
            assert [] == await session.all("SELECT * FROM announcements")
