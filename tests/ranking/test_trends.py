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
