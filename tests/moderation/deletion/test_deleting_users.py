"""Deleting accounts: by an admin, by themselves, while their runs are judged."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.domain.errors import (
    Banned,
    Conflict,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Unavailable,
)
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A world with a worker, a board, and ada ranked before bob."""
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        for author, score_s in ((world.ada.user, 0.5), (world.bob.user, 1.0)):
            sent = await world.submit(author, content=f"# fake: accepted {score_s}\n".encode())
            await finished(world, sent.id)
        yield world


def left(world: World) -> dict[str, int]:
    """How many rows there are of what people leave behind."""
    tables = ("users", "tokens", "submissions", "runs", "sources", "standings", "queue_turns")
    with psycopg.connect(world.database.url) as connection:
        found = {}
        for table in tables:
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
            assert row is not None
            found[table] = row[0]
    return found


async def ranked(world: World) -> list[tuple[int, str]]:
    page = await world.services.standings.page(None, "sort", "CPU")
    assert page.total == len(page.standings)
    return [(row.rank, row.author) for row in page.standings]


@pytest.mark.exhaustive  # each run has test_submissions_go_by_force_only
async def test_all_of_a_person_goes_and_the_ranking_moves_up(judged: World) -> None:
    gone = await judged.services.deletion.delete_user(
        judged.admin.user, judged.ada.user.id, force=True
    )
    assert (1, [(1, "bob")]) == (gone, await ranked(judged))
    assert {
        "users": 2,
        "tokens": 2,
        "submissions": 1,
        "runs": 2,
        "sources": 1,
        "standings": 1,
        "queue_turns": 1,
    } == left(judged)


async def test_a_deleted_persons_token_opens_nothing(world: World) -> None:
    await world.services.deletion.delete_user(world.ada.user, world.ada.user.id)
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(world.ada.token)


@pytest.mark.exhaustive
async def test_what_runs_of_a_deleted_person_is_stopped(judged: World) -> None:
    sent = await judged.submit(content=b"# fake: sleep 60 accepted 1\n")
    events = judged.services.submissions.events(judged.ada.user, sent.id)
    await anext(events)
    await judged.services.deletion.delete_user(judged.admin.user, judged.ada.user.id, force=True)
    with pytest.raises(NotFound):
        [event async for event in events]
    after = await judged.submit(judged.bob.user, content=b"# fake: accepted 1\n")
    assert "finished" == (await finished(judged, after.id)).state


async def test_a_deletion_waits_for_a_claim_of_a_run(world: World) -> None:
    await world.board()
    await world.submit()
    async with world.database.write() as session:  # as a worker does that takes a run
        claimed = await session.one("SELECT next_run('CPU', NULL, false) AS id")
        assert claimed is not None
        deletion = asyncio.create_task(
            world.services.deletion.delete_user(world.admin.user, world.ada.user.id, force=True)
        )
        await until_there_is(session, WAITS_FOR_A_LOCK)
        await session.do("UPDATE runs SET state = 'dispatched' WHERE id = %(id)s", claimed)
    assert 1 == await deletion


async def test_submissions_go_by_force_only(judged: World) -> None:
    with pytest.raises(Conflict, match="1 submission"):
        await judged.services.deletion.delete_user(judged.ada.user, judged.ada.user.id)
    assert [(1, "ada"), (2, "bob")] == await ranked(judged)


async def test_nobody_deletes_someone_else(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.deletion.delete_user(world.ada.user, world.bob.user.id)


async def test_an_admin_doesnt_delete_himself(world: World) -> None:
    await world.services.users.create("carl", Role.ADMIN)
    with pytest.raises(Conflict, match="Admins can't delete their own account"):
        await world.services.deletion.delete_user(world.admin.user, world.admin.user.id)


async def test_a_banned_person_doesnt_delete_himself(world: World) -> None:
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await world.services.deletion.delete_user(banned, banned.id)


@pytest.mark.parametrize("number", [0, -1, 999, 2**63, 2**80])
async def test_a_person_who_is_not_there(world: World, number: int) -> None:
    with pytest.raises(NotFound):
        await world.services.deletion.delete_user(world.admin.user, number)


async def test_boards_pass_to_the_admin(world: World) -> None:
    await world.board()
    carl = (await world.services.users.create("carl", Role.ADMIN)).user
    await world.services.deletion.delete_user(carl, world.admin.user.id)
    gone = await world.services.deletion.delete_board(carl, "sort")
    assert 0 == gone


async def test_an_organiser_of_boards_cant_delete_their_own_account(world: World) -> None:
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    await world.board()
    with psycopg.connect(world.database.url) as connection:
        connection.execute("UPDATE leaderboards SET creator_id = %s", (carl.id,))
    with pytest.raises(Conflict, match="sort"):
        await world.services.deletion.delete_user(carl, carl.id)


async def test_the_log_keeps_what_was_done_and_by_whom(world: World) -> None:
    carl = (await world.services.users.create("carl", Role.ADMIN)).user
    await world.services.users.ban(carl, world.bob.user.id)
    await world.services.deletion.delete_user(world.admin.user, carl.id)
    entries = await world.services.audit.list_entries(world.admin.user)
    assert [
        ("root", world.admin.user.id, "user.delete", f"user:{carl.id}"),
        ("carl", None, "user.ban", f"user:{world.bob.user.id}"),
    ] == [(entry.actor, entry.actor_id, entry.action, entry.subject) for entry in entries]


async def test_a_claimed_invite_opens_nothing_to_the_next(world: World) -> None:
    await world.board()
    code = (await world.services.invites.create(world.admin.user, ("sort",))).codes[0]
    await world.services.invites.join(world.ada.user, code)
    await world.services.deletion.delete_user(world.ada.user, world.ada.user.id)
    found = await world.services.invites.list_invites(world.admin.user, "sort", unclaimed=True)
    assert [] == found


@pytest.mark.exhaustive
async def test_a_name_is_free_again_and_the_new_one_is_somebody_else(judged: World) -> None:
    await judged.services.deletion.delete_user(judged.ada.user, judged.ada.user.id, force=True)
    again = (await judged.services.users.create("ada")).user
    assert (True, []) == (
        again.id != judged.ada.user.id,
        await judged.services.submission_lists.own(again),
    )


async def test_submitting_while_being_deleted_leaves_nothing(world: World) -> None:
    await world.board()

    async def submit(number: int) -> None:
        await world.submit(content=f"# {number}\n".encode())

    async def delete() -> None:
        await asyncio.sleep(0.05)
        await world.services.deletion.delete_user(world.admin.user, world.ada.user.id, force=True)

    answers = await asyncio.gather(*map(submit, range(30)), delete(), return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    assert {type(error) for error in failed} <= {Conflict, Unavailable}
    rows = left(world)
    assert (2, 0, 0, 0) == (rows["users"], rows["submissions"], rows["runs"], rows["queue_turns"])


async def test_a_submission_that_comes_too_late_is_reported(world: World) -> None:
    await world.board()
    await world.services.deletion.delete_user(world.admin.user, world.ada.user.id)
    with pytest.raises(Conflict, match="deleted a moment ago"):
        await world.submit(world.ada.user)


@pytest.mark.exhaustive  # each run has test_submissions_go_by_force_only
async def test_a_rejudge_ends_without_those_who_are_gone(world: World, tmp_path: Path) -> None:
    await world.board()
    async with working(quick_settings(tmp_path), world.database.url):
        sent = await world.submit(content=b"# fake: accepted 1\n")
        await finished(world, sent.id)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    await world.services.deletion.delete_user(world.ada.user, world.ada.user.id, force=True)
    after = await world.services.rejudging.get(world.admin.user, "sort", started.id)
    assert (False, ()) == (after.finished_at is None, after.runs)


async def test_the_last_admin_is_deleted_by_nobody_who_was_one_a_moment_ago(world: World) -> None:
    second = (await world.services.users.create("second", Role.ADMIN)).user
    await world.services.users.set_role(world.admin.user, second.id, Role.CREATOR)
    with pytest.raises(Conflict, match=r"^Nobody would be an admin any more\.$"):
        await world.services.deletion.delete_user(second, world.admin.user.id)
    assert world.admin.user == await world.services.users.get(world.admin.user, world.admin.user.id)
