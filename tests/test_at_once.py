"""Two people who change the same thing at once: no change undoes another, and no promise breaks."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import LiteralString

import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Conflict
from tests.support.postgres import WAITS_FOR_A_LOCK
from tests.support.waiting import until_told
from tests.support.world import World

DEADLINE = datetime(2100, 1, 2, 3, 4, tzinfo=UTC)
Change = Callable[[], Awaitable[object]]


async def waiting(world: World, count: int = 1) -> bool:
    """Whether so many wait for what somebody else holds."""
    async with world.database.read() as session:
        return len(await session.all(WAITS_FOR_A_LOCK)) == count


async def at_once(url: str, world: World, held: LiteralString, *changes: Change) -> list[object]:
    """What became of the changes, which all began while somebody else held these rows."""

    async with await psycopg.AsyncConnection.connect(url) as holder:
        await holder.execute(held)
        tasks = [asyncio.ensure_future(change()) for change in changes]
        await until_told(lambda: waiting(world, len(changes)))
        await holder.rollback()
        return await asyncio.gather(*tasks, return_exceptions=True)


def refused(answers: list[object]) -> list[bool]:
    """Which have met a conflict, in order; anything else that failed is raised."""
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, Conflict):
            raise answer
    return sorted(isinstance(answer, Conflict) for answer in answers)


async def test_a_board_is_closed_and_its_deadline_moves(world: World, database_url: str) -> None:
    await world.board("sort")
    edit, admin = world.services.boards.edit, world.admin.user
    await at_once(
        database_url,
        world,
        "SELECT 1 FROM leaderboards FOR UPDATE",
        lambda: edit(admin, "sort", BoardEdit(visibility=Visibility.CLOSED)),
        lambda: edit(admin, "sort", BoardEdit(deadline=DEADLINE)),
    )
    board = await world.services.boards.get(admin, "sort")
    assert (Visibility.CLOSED, DEADLINE) == (board.visibility, board.deadline)


@pytest.mark.parametrize("change", ["set_role", "ban", "delete"])
async def test_two_admins_put_each_other_out(world: World, database_url: str, change: str) -> None:
    users, first = world.services.users, world.admin.user
    second = (await users.create("second", Role.ADMIN)).user

    def put_out(actor: int) -> Change:
        one, other = (first, second) if actor == 0 else (second, first)
        if change == "set_role":
            return lambda: users.set_role(one, other.id, Role.COMPETITOR)
        if change == "ban":
            return lambda: users.ban(one, other.id)
        return lambda: world.services.deletion.delete_user(one, other.id)

    answers = await at_once(
        database_url, world, "SELECT 1 FROM users FOR UPDATE", put_out(0), put_out(1)
    )
    async with world.database.read() as session:
        left = await session.all("SELECT 1 FROM users WHERE role = 'admin' AND banned_at IS NULL")
    assert ([False, True], 1) == (refused(answers), len(left))


async def test_two_people_get_one_name(world: World, database_url: str) -> None:
    rename, admin = world.services.users.rename, world.admin.user
    answers = await at_once(
        database_url,
        world,
        "SELECT 1 FROM users WHERE name IN ('ada', 'bob') FOR UPDATE",
        lambda: rename(admin, world.ada.user.id, "eve"),
        lambda: rename(admin, world.bob.user.id, "Eve"),
    )
    assert [False, True] == refused(answers)


async def test_a_board_is_deleted_while_somebody_submits(world: World, database_url: str) -> None:
    kept, wanted = await world.board("kept"), await world.board("wanted")
    await world.submit(board="kept")
    delete = world.services.deletion.delete_board
    async with await psycopg.AsyncConnection.connect(database_url) as submitting:
        await submitting.execute(
            "INSERT INTO submissions (leaderboard_id, problem_version_id, author_id, source_sha256,"
            " file_name, mode) SELECT %s, problem_version_id, author_id, source_sha256, file_name,"
            " mode FROM submissions WHERE leaderboard_id = %s",
            (wanted.id, kept.id),
        )
        deleting = asyncio.ensure_future(delete(world.admin.user, "wanted"))
        await until_told(lambda: waiting(world))
        await submitting.commit()
        with pytest.raises(Conflict, match="has submissions"):
            await deleting
