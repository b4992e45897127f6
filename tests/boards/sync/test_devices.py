"""A device that a board no longer offers, and offers again: what was measured there comes back."""

import asyncio

import psycopg
import pytest

from kernelbot.moderation.known_right import service as known_right
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.ranking.model import NotRanked, NotRankedReason
from tests.boards.sync.offering import offer
from tests.support.duels import FASTER, all_duels, two_of_ada
from tests.support.judging import fought
from tests.support.postgres import WAITS_FOR_A_LOCK
from tests.support.ranked import ranked
from tests.support.waiting import until_told
from tests.support.world import World


async def _take_off_and_offer_again(world: World) -> None:
    await offer(world, "H100")
    assert 0 == (await world.services.standings.page(None, "sort", "H100")).total
    await offer(world, "CPU")


async def _ranking(world: World) -> list[tuple[str, float]]:
    page = await world.services.standings.page(None, "sort", "CPU")
    return [(row.author, row.score_s) for row in page.standings]


async def test_what_was_judged_again_is_ranked_by_that(world: World) -> None:
    await world.board()
    of_ada = await ranked(world, 1.0)
    await ranked(world, 2.0, author=world.bob.user)
    started = await world.services.rejudging.start(world.admin.user, "sort")
    async with world.database.write() as session:
        await session.do("UPDATE runs SET state = 'dispatched' WHERE state = 'queued'", {})
        await session.do(
            "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
            " score_s = CASE submission_id WHEN %(slow)s THEN 5.0 ELSE 1.5 END"
            " WHERE rejudge_id IS NOT NULL",
            {"slow": of_ada},
        )
        await rejudges.ended(session, started.id)
    await _take_off_and_offer_again(world)
    assert [("bob", 1.5), ("ada", 5.0)] == await _ranking(world)
    listed = await world.services.rejudging.list_rejudges(world.admin.user, "sort")
    assert [started.id] == [one.id for one in listed]


@pytest.mark.exhaustive  # each run has test_what_was_judged_again_is_ranked_by_that
async def test_who_won_a_duel_still_stands(world: World) -> None:
    await two_of_ada(world)
    await fought(world, FASTER)
    before = await _ranking(world)
    await _take_off_and_offer_again(world)
    assert [("ada", 0.95)] == before == await _ranking(world)


async def test_devices_are_locked_in_the_order_of_all_others(world: World) -> None:
    """Whoever bans somebody has the ranking on the first device, and comes to the second."""
    await world.board()
    await offer(world, "H100", "CPU")
    take = "SELECT 1 FROM leaderboard_devices WHERE device = %s FOR NO KEY UPDATE NOWAIT"
    async with await psycopg.AsyncConnection.connect(world.database.url) as other:
        await other.execute(take, ("CPU",))
        syncing = asyncio.ensure_future(offer(world, "H100", "CPU"))

        async def waits() -> bool:
            async with world.database.read() as session:
                return len(await session.all(WAITS_FOR_A_LOCK)) == 1

        await until_told(waits)
        try:
            await other.execute(take, ("H100",))
        finally:
            await other.rollback()
            await syncing


async def test_an_author_is_locked_before_the_rankings(world: World) -> None:
    """Whoever deletes an account has it, and comes to the rankings."""
    await world.board()
    await world.submit()
    lock = "SELECT 1 FROM users WHERE id = %s FOR UPDATE"
    async with await psycopg.AsyncConnection.connect(world.database.url) as other:
        await other.execute(lock, (world.ada.user.id,))
        syncing = asyncio.ensure_future(offer(world, "CPU"))

        async def waits() -> bool:
            async with world.database.read() as session:
                return len(await session.all(WAITS_FOR_A_LOCK)) == 1

        await until_told(waits)
        try:
            await other.execute("SELECT 1 FROM leaderboard_devices FOR NO KEY UPDATE NOWAIT")
        finally:
            await other.rollback()
            await syncing


async def test_a_duel_that_waited_waits_again(world: World) -> None:
    """While the device isn't offered it could only fail, and a pair is dueled once."""
    _, second = await two_of_ada(world)
    await offer(world, "H100")
    assert [] == await all_duels(world)
    await offer(world, "CPU")
    async with world.database.write() as session:
        await session.one("SELECT refresh_standing(1, 'CPU', %(ada)s)", {"ada": world.ada.user.id})
    shown = await world.services.submissions.get(world.ada.user, second)
    assert shown.not_ranked is not None
    assert NotRankedReason.DUEL_WAITS is shown.not_ranked.reason


async def test_what_is_known_to_be_right_stays(world: World) -> None:
    board = await world.board()
    async with world.database.write() as session:
        await known_right.request(session, board.id, "CPU")
        await session.do("UPDATE known_right SET score_s = 1.0, ended_at = now()", {})
    known = "SELECT name, score_s FROM known_right ORDER BY name"
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        before = connection.execute(known).fetchall()
        await _take_off_and_offer_again(world)
        after = connection.execute(known).fetchall()
    assert (True, before) == (bool(before), after)


async def test_a_page_of_before_is_not_shown_again(world: World) -> None:
    """Pages are kept by the ranking's version, so none may come a second time."""
    await world.board()
    seen = []
    for author in (world.ada.user, world.bob.user):
        await ranked(world, 1.0, author=author)
        seen.append((await world.services.standings.ranking(None, "sort", "CPU")).version)
    await _take_off_and_offer_again(world)
    again = (await world.services.standings.ranking(None, "sort", "CPU")).version
    assert max(seen) < again


@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_a_list_says_the_reason_of_now(world: World, when: str) -> None:
    """Also of who is first judged while the device is away, or hasn't stood before."""
    await world.board()
    if when == "before":
        first = await ranked(world, 1.0)
        second = await ranked(world, 1.5)
        await offer(world, "H100")
    else:
        first, second = [
            (await world.submit(content=f"# {score}".encode())).id for score in (1.0, 1.5)
        ]
        await offer(world, "H100")
        async with world.database.write() as session:
            await session.do("UPDATE runs SET state = 'dispatched'", {})
            await session.do(
                "UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),"
                " score_s = CASE submission_id WHEN %(first)s THEN 1.0 ELSE 1.5 END",
                {"first": first},
            )
            await session.one(
                "SELECT refresh_standing(1, 'CPU', %(ada)s)", {"ada": world.ada.user.id}
            )
    away = await _listed(world, second)
    await offer(world, "CPU")
    again = await _listed(world, second)
    assert NotRanked.because(NotRankedReason.DEVICE_REMOVED) == away[0]
    assert NotRanked.because(NotRankedReason.NO_BETTER, first) == again[0]
    assert away[1] != again[1]


async def _listed(world: World, submission_id: int) -> tuple[NotRanked | None, int]:
    """Why it isn't ranked, and by what entries of lists are kept."""
    page = await world.services.submission_lists.page_of_own(world.ada.user)
    entries = await world.services.submission_lists.shown(page)
    [found] = [(shown, listed) for listed, shown in entries if shown.id == submission_id]
    return found[0].not_ranked, found[1].hash
