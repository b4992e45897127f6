"""What a look finds again as long as nothing in the database has changed."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import LiteralString, TypeVar

import pytest

from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.protocol import Mode
from kernelbot.runs.queue.model import QueueRules
from kernelbot.store.database import ReadSession
from kernelbot.submissions import looks
from kernelbot.submissions import store as submissions
from kernelbot.submissions.lists import OwnPage
from kernelbot.submissions.service import SubmissionLook
from tests.support.world import World

PAGE = OwnPage(board=None, limit=50, before_id=None)
Look = TypeVar("Look", SubmissionLook, OwnerLook)


async def at_one(world: World, token: str, seen: SubmissionLook | None) -> SubmissionLook | None:
    return await world.services.submissions.look(token, 1, seen)


async def at_page(world: World, token: str, seen: OwnerLook | None) -> OwnerLook | None:
    return await world.services.submission_lists.look(token, PAGE, seen)


each = pytest.mark.parametrize("look", [at_one, at_page])
Ask = Callable[[World, str, Look | None], Awaitable[Look | None]]


async def waiting(world: World) -> None:
    await world.board()
    for _ in range(2):
        await world.submit(mode=Mode.TEST)


async def do(world: World, statement: LiteralString) -> None:
    async with world.database.write() as session:
        await session.do(statement)


@each
async def test_what_was_seen_is_found_again(world: World, look: Ask[Look]) -> None:
    """Postgres may write statistics in between: so of many one is enough."""
    await waiting(world)
    again = []
    for _ in range(20):
        first = await look(world, world.ada.token, None)
        again.append(first is not None and first is await look(world, world.ada.token, first))
    assert any(again)


@each
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET state = 'dispatched', attempts = 1, started_at = now()",
        "UPDATE users SET banned_at = now()",
        "UPDATE leaderboards SET name = 'sorting'",
    ],
)
async def test_what_has_changed_is_seen(
    world: World, look: Ask[Look], change: LiteralString
) -> None:
    await waiting(world)
    first = await look(world, world.ada.token, None)
    await do(world, change)
    second = await look(world, world.ada.token, first)
    assert (second, True) == (await look(world, world.ada.token, None), first != second)


async def test_a_place_is_that_of_now(world: World) -> None:
    await waiting(world)
    ask, token = world.services.submissions, world.ada.token
    first = await ask.look(token, 2)
    await ask.cancel(world.ada.user, 1)
    second = await ask.look(token, 2, first)
    assert first is not None
    assert first.queue is not None
    assert second is not None
    assert second.queue is not None
    assert (2, 1) == (first.queue.position, second.queue.position)


@each
async def test_what_was_seen_long_ago_is_looked_at_again(world: World, look: Ask[Look]) -> None:
    """A worker that is gone changes a place, and no row."""
    await waiting(world)
    first = await look(world, world.ada.token, None)
    assert first is not None
    assert first.moment is not None
    old = replace(first, moment=replace(first.moment, at_s=first.moment.at_s - 60))
    again = await look(world, world.ada.token, old)
    assert (first, False) == (again, again is old)


@each
async def test_an_ended_token_finds_nothing_again(world: World, look: Ask[Look]) -> None:
    await waiting(world)
    first = await look(world, world.ada.token, None)
    await do(world, "UPDATE tokens SET expires_at = now()")
    assert await look(world, world.ada.token, first) is None


@each
async def test_nobody_finds_what_another_one_has_seen(world: World, look: Ask[Look]) -> None:
    await waiting(world)
    first = await look(world, world.ada.token, None)
    assert await look(world, world.bob.token, first) is None


async def asks(session: ReadSession, world: World, name: str) -> None:
    rules, owner = QueueRules(), token_hash(world.ada.token)
    if name == "snapshot":
        await submissions.snapshot(session, 1, rules, fresh_s=30)
    elif name == "look":
        await looks.look(session, owner, 1, rules, fresh_s=30, moment=None)
    else:
        await looks.look_at_page(session, owner, None, **vars(PAGE))


@pytest.mark.parametrize("name", ["snapshot", "look", "look_at_page"])
async def test_it_is_planned_once(world: World, name: str) -> None:
    """Postgres plans a prepared statement anew for its first five values, and goes on with that if
    no plan for all values seems as good."""
    await waiting(world)
    async with world.database.read() as session:
        for _ in range(20):  # psycopg prepares what it has sent five times
            await asks(session, world, name)
        (found,) = await session.all(
            "SELECT custom_plans, generic_plans FROM pg_prepared_statements"
            " ORDER BY custom_plans + generic_plans DESC LIMIT 1"
        )
    assert (5, True) == (found["custom_plans"], found["generic_plans"] > 0)
