"""In which order an author's runs compete: that in which they were measured."""

from tests.support.ranked import judged, ranked, rejudge_ends, rejudged
from tests.support.world import World


async def _rebuilt(world: World) -> list[tuple[int, float]]:
    async with world.database.write() as session:
        await session.one("SELECT rebuild_standings()")
    return await _standing(world)


async def _standing(world: World) -> list[tuple[int, float]]:
    page = await world.services.standings.page(None, "sort", None)
    return [(row.submission_id, row.score_s) for row in page.standings]


async def test_what_waited_while_others_were_measured_again_counts(world: World) -> None:
    await world.board()
    first = await ranked(world, 1.0)
    waits = await world.submit(content=b"'waits'")
    await rejudged(world, {first: 1.0})
    await judged(world, waits.id, 0.5)
    assert [(waits.id, 0.5)] == await _standing(world) == await _rebuilt(world)


async def test_so_does_what_was_measured_while_a_rejudge_was(world: World) -> None:
    await world.board()
    first = await ranked(world, 1.0)
    waits = await world.submit(content=b"'waits'")
    started = await world.services.rejudging.start(world.admin.user, "sort")
    await judged(world, waits.id, 0.5)
    await rejudge_ends(world, started, {first: 1.5})
    assert [(waits.id, 0.5)] == await _standing(world) == await _rebuilt(world)


async def test_what_was_measured_before_a_rejudge_does_not(world: World) -> None:
    await world.board()
    first = await ranked(world, 1.0)
    await ranked(world, 0.9995)
    await rejudged(world, {first: 1.5})
    assert [(first, 1.5)] == await _standing(world) == await _rebuilt(world)


async def test_what_was_measured_first_stands_whichever_was_sent_first(world: World) -> None:
    await world.board()
    sent_first = await world.submit(content=b"'first'")
    sent_next = await world.submit(content=b"'next'")
    await judged(world, sent_next.id, 0.9)
    await judged(world, sent_first.id, 0.9005)
    assert [(sent_next.id, 0.9)] == await _standing(world) == await _rebuilt(world)


async def test_of_the_same_code_the_first_one_sent_counts(world: World) -> None:
    await world.board()
    sent_first = await world.submit(content=b"'same'")
    again = await world.submit(content=b"'same'")
    await judged(world, again.id, 0.9)
    await judged(world, sent_first.id, 1.2)
    assert [(sent_first.id, 1.2)] == await _standing(world) == await _rebuilt(world)


async def test_the_same_code_does_not_replace_what_was_measured_again(world: World) -> None:
    await world.board()
    waits = await world.submit(content=b"'same'")
    again = await world.submit(content=b"'same'")
    await judged(world, again.id, 0.9)
    await rejudged(world, {again.id: 1.2})
    await judged(world, waits.id, 0.5)
    assert [(again.id, 1.2)] == await _standing(world) == await _rebuilt(world)
