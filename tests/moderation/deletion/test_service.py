import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Conflict, KernelbotError, NotAllowed, NotFound
from kernelbot.submissions.model import Submission
from tests.support.postgres import WAITS_FOR_A_LOCK, slow_statements, until_there_is
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

PASSES = "# fake: accepted {0} {0} {0}\n"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A world with a worker, and a board."""
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        yield world


async def ranked(world: World, author: User, score_s: float, code: str = "") -> Submission:
    sent = await world.submit(author, content=(PASSES.format(score_s) + code).encode())
    return await finished(world, sent.id)


async def names(world: World, board: str = "sort") -> list[tuple[int, str]]:
    page = await world.services.standings.page(None, board, "CPU")
    assert page.total == len(page.standings)
    return [(row.rank, row.author) for row in page.standings]


def count(world: World, table: str) -> int:
    with psycopg.connect(world.database.url) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.exhaustive
async def test_the_next_best_takes_the_place_of_what_is_deleted(judged: World) -> None:
    best = await ranked(judged, judged.ada.user, 0.5)
    await ranked(judged, judged.ada.user, 3.0)
    await ranked(judged, judged.bob.user, 2.0)
    before = await names(judged)
    await judged.services.deletion.delete_submission(judged.ada.user, best.id)
    assert ([(1, "ada"), (2, "bob")], [(1, "bob"), (2, "ada")]) == (before, await names(judged))


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_the_same_code_is_not_ranked_again_after_deleting_it(judged: World) -> None:
    first = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.ada.user, first.id)
    await ranked(judged, judged.ada.user, 1.0)
    again = await names(judged)
    await ranked(judged, judged.ada.user, 2.0)
    assert ([], [(1, "ada")]) == (again, await names(judged))


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_nor_with_other_comments(judged: World) -> None:
    first = await ranked(judged, judged.ada.user, 1.0, "def f(x): return x")
    await judged.services.deletion.delete_submission(judged.ada.user, first.id)
    await ranked(judged, judged.ada.user, 0.5, "def f( x ): return x  # faster")
    await ranked(judged, judged.bob.user, 2.0, "def f(x): return x")
    assert [(1, "bob")] == await names(judged)


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_deleting_the_second_try_leaves_the_first(judged: World) -> None:
    await ranked(judged, judged.ada.user, 1.0)
    second = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.ada.user, second.id)
    assert [(1, "ada")] == await names(judged)


@pytest.mark.exhaustive
async def test_others_may_submit_what_one_has_deleted(judged: World) -> None:
    mine = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.ada.user, mine.id)
    await ranked(judged, judged.bob.user, 1.0)
    assert [(1, "bob")] == await names(judged)


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_what_an_organiser_deletes_may_be_submitted_again(judged: World) -> None:
    first = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.admin.user, first.id)
    await ranked(judged, judged.ada.user, 1.0)
    assert [(1, "ada")] == await names(judged)


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_nor_does_a_rejudge_rank_it(judged: World) -> None:
    """The same code of somebody else, who hasn't withdrawn it, is measured again."""
    first = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.ada.user, first.id)
    await ranked(judged, judged.ada.user, 1.0)
    with pytest.raises(Conflict, match="Nobody is ranked"):
        await judged.services.rejudging.start(judged.admin.user, "sort")
    of_bob = await ranked(judged, judged.bob.user, 1.0)
    started = await judged.services.rejudging.start(judged.admin.user, "sort")
    assert [of_bob.id] == [run.submission_id for run in started.runs]


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_a_rejudge_ranks_it_on_a_version_on_which_nobody_has_seen_its_score(
    judged: World,
) -> None:
    first = await ranked(judged, judged.ada.user, 1.0)
    await judged.services.deletion.delete_submission(judged.ada.user, first.id)
    again = await ranked(judged, judged.ada.user, 1.0)
    with psycopg.connect(judged.database.url) as connection:
        connection.execute(
            "WITH v AS (INSERT INTO problem_versions (problem_id, content_hash, judging_hash,"
            " definition, harness, ranking_by) SELECT problem_id, sha256('x'), sha256('x'),"
            " definition, harness, ranking_by FROM problem_versions RETURNING id)"
            " UPDATE leaderboards SET problem_version_id = v.id FROM v"
        )
    started = await judged.services.rejudging.start(judged.admin.user, "sort")
    assert [again.id] == [run.submission_id for run in started.runs]


async def test_all_that_hangs_on_a_submission_goes_with_it(judged: World) -> None:
    only = await ranked(judged, judged.ada.user, 0.5)
    await judged.services.deletion.delete_submission(judged.ada.user, only.id)
    tables = ("submissions", "runs", "attempts", "measurements", "events", "sources", "standings")
    assert dict.fromkeys(tables, 0) == {table: count(judged, table) for table in tables}


async def test_a_source_that_others_have_submitted_too_stays(world: World) -> None:
    await world.board()
    mine, theirs = await world.submit(), await world.submit(world.bob.user)
    await world.services.deletion.delete_submission(world.ada.user, mine.id)
    kept = await world.services.submissions.get(world.bob.user, theirs.id)
    assert (1, theirs.code) == (count(world, "sources"), kept.code)


async def test_deleting_what_runs_stops_it_and_ends_its_stream(judged: World) -> None:
    sent = await judged.submit(content=b"# fake: sleep 60 accepted 1 1 1\n")
    events = judged.services.submissions.events(judged.ada.user, sent.id)
    first = (await anext(events)).kind
    await judged.services.deletion.delete_submission(judged.ada.user, sent.id)
    with pytest.raises(NotFound):
        [event async for event in events]
    after = await ranked(judged, judged.ada.user, 1.0)
    assert ("queued", "finished") == (first, after.state)


@pytest.mark.exhaustive
async def test_a_deletion_waits_for_a_ranking_that_is_written(judged: World) -> None:
    sent = await ranked(judged, judged.ada.user, 1.0)
    async with judged.database.write() as session:  # as when a rejudge ends, or a problem changes
        await session.all("SELECT refresh_standing(1, 'CPU', id) FROM users WHERE name = 'bob'")
        deletion = asyncio.create_task(
            judged.services.deletion.delete_submission(judged.ada.user, sent.id)
        )
        await until_there_is(session, WAITS_FOR_A_LOCK)
        await session.all("SELECT rebuild_board_standings(1)")
    await deletion
    assert [] == await names(judged)


@pytest.mark.exhaustive
async def test_a_deletion_begins_again_if_a_duel_comes_that_another_has(
    world: World, tmp_path: Path
) -> None:
    """It has the ranking, which the other needs before it lets go of the duel."""
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await ranked(world, world.ada.user, 1.0)
        await ranked(world, world.bob.user, 3.0)
    lock_ranking = "SELECT 1 AS found FROM leaderboard_devices FOR NO KEY UPDATE"
    request = (
        "INSERT INTO duels (leaderboard_id, device, reason, submission_id, opponent_id, run_id,"
        " opponent_run_id)"
        " SELECT ahead.leaderboard_id, ahead.device, 'neighbours', behind.submission_id,"
        " ahead.submission_id, behind.run_id, ahead.run_id"
        " FROM standings ahead, standings behind WHERE ahead.score_s < behind.score_s"
        " ON CONFLICT (least(run_id, opponent_run_id), greatest(run_id, opponent_run_id))"
        " DO UPDATE SET reason = excluded.reason"
    )

    async def have_the_duel() -> None:
        with contextlib.suppress(Conflict):  # the deletion was first: there is nobody to duel with
            async with world.database.write() as session:
                await session.do(request)
                await session.all(lock_ranking)

    async with world.database.write() as session:
        await session.all(lock_ranking)
        deletion = asyncio.create_task(
            world.services.deletion.delete_submission(world.ada.user, sent.id)
        )
        await until_there_is(session, WAITS_FOR_A_LOCK)
        await session.do(request)
        another = asyncio.create_task(have_the_duel())
        await until_there_is(session, f"{WAITS_FOR_A_LOCK} OFFSET 1")
    await asyncio.gather(deletion, another)
    assert ([(1, "bob")], 0) == (await names(world), count(world, "duels"))


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_deletions_win_over_verdicts_that_come_meanwhile(judged: World) -> None:
    async def submit_and_delete(number: int) -> None:
        author = (judged.ada, judged.bob)[number % 2].user
        content = f"# fake: accepted {number} {number} {number}\n".encode()
        sent = await judged.submit(author, content=content)
        await asyncio.sleep(0.05 * number)
        await judged.services.deletion.delete_submission(author, sent.id)

    await asyncio.gather(*map(submit_and_delete, range(1, 13)))
    assert ([], 0) == (await names(judged), count(judged, "runs"))


@pytest.mark.exhaustive  # each run has test_others_submissions_are_not_deleted
@pytest.mark.parametrize("take_back", ["delete", "cancel"])
async def test_what_is_taken_back_while_it_runs_is_not_ranked_again(
    judged: World, take_back: str
) -> None:
    await judged.board("two", ("CPU", "H100"))
    content = PASSES.format(1.0).encode()
    sent = await judged.submit(board="two", content=content, devices=("CPU", "H100"))
    async with judged.database.read() as session:
        await until_there_is(session, "SELECT 1 FROM standings")
    if take_back == "delete":
        await judged.services.deletion.delete_submission(judged.ada.user, sent.id)
    else:
        await judged.services.submissions.cancel(judged.ada.user, sent.id)
    again = await judged.submit(board="two", content=content, devices=("CPU",))
    await finished(judged, again.id)
    page = await judged.services.standings.page(None, "two", "CPU")
    assert () == page.standings


@pytest.mark.exhaustive
async def test_what_an_admin_cancels_its_author_may_have_ranked(judged: World) -> None:
    await judged.board("two", ("CPU", "H100"))
    content = PASSES.format(1.0).encode()
    sent = await judged.submit(board="two", content=content, devices=("CPU", "H100"))
    async with judged.database.read() as session:
        await until_there_is(session, "SELECT 1 FROM standings")
    await judged.services.submissions.cancel(judged.admin.user, sent.id)
    again = await judged.submit(board="two", content=content, devices=("CPU",))
    await finished(judged, again.id)
    assert [(1, "ada")] == await names(judged, "two")


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_what_was_cancelled_unseen_may_be_ranked(world: World, tmp_path: Path) -> None:
    await world.board()
    content = PASSES.format(1.0).encode()
    sent = await world.submit(content=content)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    again = await world.submit(content=content)
    async with working(quick_settings(tmp_path), world.database.url):
        await finished(world, again.id)
    assert [(1, "ada")] == await names(world)


async def test_others_submissions_are_not_deleted(world: World) -> None:
    await world.board()
    sent = await world.submit()
    with pytest.raises(NotAllowed):
        await world.services.deletion.delete_submission(world.bob.user, sent.id)


@pytest.mark.parametrize("number", [0, -1, 999, 2**63, 2**80])
async def test_a_submission_that_is_not_there(world: World, number: int) -> None:
    with pytest.raises(NotFound):
        await world.services.deletion.delete_submission(world.admin.user, number)


@pytest.mark.exhaustive
async def test_all_of_a_persons_submissions_on_a_board(judged: World) -> None:
    for score_s in (1.0, 2.0):
        await ranked(judged, judged.ada.user, score_s)
    await ranked(judged, judged.bob.user, 3.0)
    gone = await judged.services.deletion.delete_submissions_of(judged.admin.user, "SORT", "Ada")
    assert (2, [(1, "bob")]) == (gone, await names(judged))


@pytest.mark.parametrize("user", ["nobody", "a'; echo x", "\x00", "bob"])
async def test_nobody_of_that_name_has_submitted(world: World, user: str) -> None:
    await world.board()
    await world.submit()
    with pytest.raises(NotFound):
        await world.services.deletion.delete_submissions_of(world.admin.user, "sort", user)


@pytest.mark.exhaustive  # each run has test_all_that_hangs_on_a_submission_goes_with_it
async def test_a_board_with_submissions_is_deleted_only_by_force(judged: World) -> None:
    await ranked(judged, judged.ada.user, 1.0)
    with pytest.raises(Conflict, match="Board 'sort' has submissions"):
        await judged.services.deletion.delete_board(judged.admin.user, "sort")
    gone = await judged.services.deletion.delete_board(judged.admin.user, "sort", force=True)
    assert (1, 0, 0) == (gone, count(judged, "leaderboards"), count(judged, "runs"))


async def test_an_empty_board_is_deleted(world: World) -> None:
    await world.board()
    assert 0 == await world.services.deletion.delete_board(world.admin.user, "sort")


async def test_of_two_who_delete_a_board_the_second_is_told_that_it_is_gone(world: World) -> None:
    await world.board()
    with psycopg.connect(world.database.url) as first:
        first.execute("DELETE FROM leaderboards WHERE name = 'sort'")
        second = asyncio.create_task(world.services.deletion.delete_board(world.admin.user, "sort"))
        async with world.database.read() as session:
            await until_there_is(session, WAITS_FOR_A_LOCK)
    with pytest.raises(NotFound):
        await second


async def test_a_creator_organises_only_their_own_boards(world: World) -> None:
    await world.board()
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    with pytest.raises(NotAllowed):
        await world.services.deletion.delete_board(carl, "sort")


async def test_what_organisers_do_is_in_the_log(world: World) -> None:
    await world.board()
    sent = await world.submit()
    await world.services.deletion.delete_submission(world.admin.user, sent.id)
    await world.services.deletion.delete_board(world.admin.user, "sort")
    with psycopg.connect(world.database.url) as connection:
        rows = connection.execute("SELECT actor, action, subject FROM audit_log").fetchall()
    assert [
        ("root", "board.create", "board:sort"),
        ("root", "submission.delete", f"submission:{sent.id}"),
        ("root", "board.delete", "board:sort"),
    ] == rows


@pytest.mark.parametrize(
    ("deadline", "reveal_code", "closed", "readable"),
    [
        (LONG_AGO, True, False, True),
        (LONG_AGO, False, False, False),
        (LONG_AGO, True, True, False),
        (datetime.now(UTC) + timedelta(days=9), True, False, False),
        (None, True, False, False),
    ],
)
async def test_others_read_code_after_the_deadline_if_the_board_says_so(
    world: World, deadline: datetime | None, reveal_code: bool, closed: bool, readable: bool
) -> None:
    await world.board()
    sent = await world.submit()
    visibility = Visibility.CLOSED if closed else Visibility.PUBLIC
    change = BoardEdit(visibility, deadline, reveal_code=reveal_code)
    await world.services.boards.edit(world.admin.user, "sort", change)
    # On a board that can't be seen nothing is there.
    told: type[KernelbotError] | None = NotFound if closed else NotAllowed
    try:
        await world.services.submissions.get(world.bob.user, sent.id)
        refused = None
    except KernelbotError as error:
        refused = type(error)
    assert (None if readable else told) == refused


async def test_reading_after_the_deadline_is_not_cancelling(world: World) -> None:
    await world.board()
    sent = await world.submit()
    change = BoardEdit(deadline=LONG_AGO, reveal_code=True)
    await world.services.boards.edit(world.admin.user, "sort", change)
    with pytest.raises(NotAllowed):
        await world.services.submissions.cancel(world.bob.user, sent.id)


async def test_what_deletes_much_may_take_as_long_as_it_does(world: World) -> None:
    deletion, admin = world.services.deletion, world.admin.user
    await world.board("sort")
    await world.board("other")
    sent = [await world.submit() for _ in range(2)]
    bobs = await world.submit(world.bob.user, board="other")
    with slow_statements(world.database.url, "submissions") as seen:
        await deletion.delete_submission(world.ada.user, sent[0].id)
        await deletion.delete_submissions_of(admin, "sort", "ada")
        await deletion.delete_user(admin, world.bob.user.id, force=True)
        await world.submit(board="other")
        await deletion.delete_board(admin, "other", force=True)
        assert ["1min", "1h", "1h", "1min", "1h"] == seen()
    assert "other" == bobs.board


async def test_what_has_expired_is_deleted_in_the_background(world: World) -> None:
    made = await world.services.tokens.create(
        world.ada.user, "brief", expires_at=datetime.now(UTC) + timedelta(hours=1)
    )
    async with world.database.write() as session:
        await session.do(
            "UPDATE tokens SET expires_at = now() - interval '1 year' WHERE id = %(id)s",
            {"id": made.id},
        )
    before = count(world, "tokens")
    await world.services.deletion.clean_up()
    assert before - 1 == count(world, "tokens")
