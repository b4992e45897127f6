"""Pages of the ranking that are kept are never older than the ranking."""

from kernelbot.domain.types import StandingsPage
from kernelbot.protocol import Mode
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
    assert ([2.0], [0.5]) == ([r.score_s for r in before.rows], [r.score_s for r in after.rows])


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


def names(found: StandingsPage) -> list[str]:
    return [row.author for row in found.rows]
