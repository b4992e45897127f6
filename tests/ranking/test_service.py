"""Pages of the ranking that are kept are never older than the ranking."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import LiteralString

import pytest

from kernelbot.protocol import Mode
from kernelbot.ranking.model import StandingsPage
from kernelbot.ranking.service import StandingsService
from kernelbot.store.database import Database, ReadSession, Row, Values
from tests.support.world import World


async def ranked(world: World, score_s: float, *, by_bob: bool = False) -> int:
    """A submission that was judged, with this score on the secret data."""
    author = world.bob.user if by_bob else world.ada.user
    submitted = await world.submit(author, mode=Mode.LEADERBOARD, content=f"# {score_s}\n".encode())
    async with world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched' WHERE state = 'queued'")
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " score_s = %(score_s)s WHERE submission_id = %(id)s",
            {"id": submitted.id, "score_s": score_s},
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
            " WHERE id = %(id)s",
            {"id": submitted.id},
        )
    return submitted.id


async def page(world: World) -> StandingsPage:
    return await world.services.standings.page(None, "sort", None)


async def test_a_page_shows_who_came_since_it_was_read(world: World) -> None:
    await world.board()
    await ranked(world, 2.0)
    before = await page(world)
    await ranked(world, 1.0, by_bob=True)
    assert (["ada"], ["bob", "ada"]) == (names(before), names(await page(world)))


async def test_a_page_shows_a_better_score_since_it_was_read(world: World) -> None:
    await world.board()
    await ranked(world, 2.0)
    before = await page(world)
    await ranked(world, 0.5)
    after = await page(world)
    assert ([2.0], [0.5]) == (
        [r.score_s for r in before.standings],
        [r.score_s for r in after.standings],
    )


async def test_a_page_no_longer_shows_a_revoked_score(world: World) -> None:
    await world.board()
    submission_id = await ranked(world, 2.0)
    before = await page(world)
    async with world.database.write() as session:
        await session.do(
            "UPDATE submissions SET review = 'refused', review_reason = 'no' WHERE id = %(id)s",
            {"id": submission_id},
        )
        await session.one(
            "SELECT refresh_standing(leaderboard_id, 'CPU', author_id) FROM submissions"
        )
    assert (["ada"], []) == (names(before), names(await page(world)))


async def test_a_page_shows_a_new_name(world: World) -> None:
    await world.board()
    await ranked(world, 2.0)
    before = await page(world)
    async with world.database.write() as session:
        await session.do("UPDATE users SET name = 'countess' WHERE name = 'ada'")
    assert (["ada"], ["countess"]) == (names(before), names(await page(world)))


async def test_pages_apart_are_kept_apart(world: World) -> None:
    await world.board()
    await ranked(world, 2.0)
    await ranked(world, 1.0, by_bob=True)
    pages = [
        await world.services.standings.page(None, "sort", None, limit=1, offset=offset)
        for offset in (0, 1, 0)
    ]
    assert [["bob"], ["ada"], ["bob"]] == [names(found) for found in pages]


@pytest.mark.parametrize(("limit", "kept"), [(10, True), (1_000, True), (1_001, False)])
async def test_long_pages_are_not_kept(world: World, limit: int, kept: bool) -> None:
    """Anybody can ask for them, each time for another one."""
    await world.board()
    await ranked(world, 2.0)
    ask = world.services.standings.page
    first, second = [await ask(None, "sort", None, limit=limit, offset=0) for _ in range(2)]
    assert kept is (first.standings is second.standings)


MANY = 400
MANY_RANKED: LiteralString = """
WITH authors AS (
    INSERT INTO users (name, role)
    SELECT 'author-' || n, 'competitor' FROM generate_series(1, 400) n RETURNING id
), sent AS (
    INSERT INTO submissions (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode
    )
    SELECT b.id, b.problem_version_id, a.id, s.sha256, 'x.py', 'leaderboard'
    FROM leaderboards b, authors a, sources s RETURNING id, author_id
)
INSERT INTO runs (
    submission_id, device, secret, author_id, priority, state, verdict, score_s, finished_at
)
SELECT id, 'CPU', secret, author_id, 0, 'finished', 'accepted', id, now()
FROM sent, (VALUES (false), (true)) AS both_runs (secret)
"""


async def ranked_many(world: World) -> None:
    """As many authors, each behind the one before; ada before all."""
    await world.board()
    await ranked(world, 0.5)
    async with world.database.write() as session:
        await session.do(MANY_RANKED)
        await session.one("SELECT rebuild_standings()")


async def positions(service: StandingsService, offset: int) -> list[tuple[int, int]]:
    """Rank and author of each row of a page."""
    page = await service.page(None, "sort", None, limit=3, offset=offset)
    return [(row.rank, row.author_id) for row in page.standings]


@pytest.mark.exhaustive  # each run has test_long_pages_are_not_kept
async def test_a_page_is_the_same_wherever_it_is_counted_from(world: World) -> None:
    await ranked_many(world)
    whole = [
        row
        for offset in range(0, MANY, 100)
        for row in (
            await world.services.standings.page(None, "sort", None, limit=100, offset=offset)
        ).standings
    ]
    expected = [(row.rank, row.author_id) for row in whole]
    service = StandingsService(world.database)
    for offset in (0, 350, 120, 240, 351, 239, 121, 397, 119):
        assert expected[offset : offset + 3] == (await positions(service, offset))[: MANY - offset]


async def test_a_page_is_of_now_although_others_were_read_before(world: World) -> None:
    await ranked_many(world)
    service = world.services.standings
    before = [await positions(service, offset) for offset in (200, 330)]
    await ranked(world, 0.1, by_bob=True)
    after = [await positions(service, offset) for offset in (201, 331)]
    moved = [[(rank + 1, author) for rank, author in page] for page in before]
    assert moved == after


class Meddled(Database):
    """In which somebody else changes something between two statements."""

    meddle: Callable[[], Awaitable[object]] | None = None

    @asynccontextmanager
    async def read(self) -> AsyncIterator[ReadSession]:
        async with super().read() as session:
            yield _MeddledSession(session, self)


class _MeddledSession(ReadSession):
    def __init__(self, session: ReadSession, database: Meddled) -> None:
        self._session = session
        self._database = database

    async def one(self, statement: LiteralString, values: Values | None = None) -> Row | None:
        return await self._session.one(statement, values)

    async def all(self, statement: LiteralString, values: Values | None = None) -> list[Row]:
        if (meddle := self._database.meddle) is not None:
            self._database.meddle = None
            await meddle()
        return await self._session.all(statement, values)


@pytest.mark.exhaustive  # each run has test_long_pages_are_not_kept
async def test_a_page_that_moves_while_it_is_read_is_of_one_moment(world: World) -> None:
    await ranked_many(world)
    async with Meddled(world.database.url) as database:
        service = StandingsService(database)
        before = await positions(service, 200)
        database.meddle = lambda: ranked(world, 0.1, by_bob=True)
        after = await positions(service, 201)
    assert [(rank + 1, author) for rank, author in before] == after


@pytest.mark.exhaustive  # each run has test_long_pages_are_not_kept
async def test_beyond_the_end_nothing_is_asked(world: World) -> None:
    await ranked_many(world)
    async with Meddled(world.database.url) as database:
        database.meddle = lambda: pytest.fail("it was asked for")
        assert [] == await positions(StandingsService(database), MANY + 1)


def names(found: StandingsPage) -> list[str]:
    return [row.author for row in found.standings]
