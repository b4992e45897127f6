"""How scores became better, and whose names are offered."""

import pytest

from kernelbot.ranking.store import names_beginning
from tests.support.ranked import ranked
from tests.support.world import World


async def test_a_score_has_its_interval_and_its_submission(world: World) -> None:
    await world.board()
    number = await ranked(world, 1e-3, relative_error=0.1)
    _, trend = await world.services.trends.for_board(None, "sort", None, ["ADA"])
    page = await world.services.standings.page(None, "sort", None)
    expected = (number, page.standings[0].ci95_s)
    for one in (trend.records[0], trend.chosen["ada"][0]):
        assert expected == (one.submission_id, one.ci95_s)


async def test_a_score_that_moves_nobody_is_a_record_as_soon_as_it_counts(world: World) -> None:
    """It is within the interval of its author's best, which stands."""
    await world.board()
    await ranked(world, 1.0, relative_error=0.05)
    assert [1.0] == await _records(world)
    await ranked(world, 0.98, relative_error=0.05)
    assert [1.0, 0.98] == await _records(world)


async def test_records_are_looked_up_once_as_long_as_a_ranking_stays(world: World) -> None:
    await world.board()
    await ranked(world, 1.0)
    first, second = [
        (await world.services.trends.for_board(None, "sort", None, ()))[1] for _ in range(2)
    ]
    await ranked(world, 0.5)
    _, third = await world.services.trends.for_board(None, "sort", None, ())
    assert (1, 1, 2) == (len(first.records), len(second.records), len(third.records))
    assert first.records[0] is second.records[0]


@pytest.mark.parametrize("how", ["refused", "deleted"])
async def test_a_record_that_counts_no_longer_is_none(world: World, how: str) -> None:
    await world.board()
    await ranked(world, 1.0, relative_error=0.05)
    number = await ranked(world, 0.98, relative_error=0.05)
    assert [1.0, 0.98] == await _records(world)
    if how == "refused":
        await world.services.reviews.refuse(world.admin.user, number, "It reads the answers.")
    else:
        await world.services.deletion.delete_submission(world.ada.user, number)
    assert [1.0] == await _records(world)


async def _records(world: World) -> list[float]:
    """The same from the trend and from all boards' latest, the oldest first."""
    _, trend = await world.services.trends.for_board(None, "sort", None, ())
    latest = await world.services.trends.latest(None, limit=9)
    found = [one.score_s for one in trend.records]
    assert found == [one.score.score_s for one in reversed(latest)]
    return found


@pytest.mark.parametrize(
    ("beginning", "expected"),
    [("A", ("ada", "Abe")), ("ab", ("Abe",)), ("", ()), ("%", ()), ("\x00", ()), ("a'; --", ())],
)
async def test_names_that_begin_so_the_best_first(
    world: World, beginning: str, expected: tuple[str, ...]
) -> None:
    await world.board()
    abe = await world.services.users.create("Abe")
    await world.services.users.create("Abel, who isn't ranked")
    await ranked(world, 2e-3, author=abe.user)
    await ranked(world, 1e-3)
    await ranked(world, 3e-3, author=world.bob.user)
    assert expected == await world.services.trends.names(None, "sort", None, beginning)


async def test_names_are_looked_for_among_the_best_alone(world: World) -> None:
    """Else each letter of a name that nobody has would cost a look at all who are ranked."""
    board = await world.board()
    await ranked(world, 1e-3)
    await ranked(world, 2e-3, author=world.bob.user)
    async with world.database.read() as session:
        found = [
            await names_beginning(session, board.id, "CPU", "b", limit=10, among=among)
            for among in (1, 2)
        ]
    assert [(), ("bob",)] == found
