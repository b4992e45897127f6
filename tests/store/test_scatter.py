"""How far judgings of one kernel lie apart on a device, from what was judged there."""

import math
import random

import psycopg
import pytest

from kernelbot.ranking.rules import widened
from tests.support.scored import Score, add_score
from tests.support.world import World


def _uncertain(deviation: float, judgings: int) -> float:
    """A deviation that is known by so few judgings beside the twelve that are assumed."""
    return deviation * (1 + 1.21 / (12 + judgings))


ASSUMED = _uncertain(0.05, 0)


def _shown(connection: psycopg.Connection, board: int) -> float:
    row = connection.execute("SELECT scatter FROM judging_scatter(%s, 'CPU')", (board,)).fetchone()
    assert row is not None
    return float(row[0])


def _pairs(connection: psycopg.Connection, board: int) -> int:
    row = connection.execute("SELECT pairs FROM judging_scatter(%s, 'CPU')", (board,)).fetchone()
    assert row is not None
    return int(row[0])


def _judged_again(
    connection: psycopg.Connection, author: int, scores: list[float], own: float = 0.0
) -> None:
    """The same code of an author, again and again. `own`: what each interval says of itself."""
    for number, score in enumerate(scores):
        source = author * 1000 + number
        add_score(connection, author, source, Score(score, 1.96 * own, code=author * 1000))


async def _people(world: World, count: int) -> list[int]:
    return [(await world.services.users.create(f"u{i}")).user.id for i in range(count)]


async def test_until_enough_was_seen_five_percent_are_assumed(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        add_score(connection, world.ada.user.id, 0, Score(1.0, 0.01))
        add_score(connection, world.bob.user.id, 1, Score(9.0, 0.01))
        assert pytest.approx(ASSUMED) == _shown(connection, board)


async def test_pairs_are_counted_on_all_boards_of_the_device(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        before = _pairs(connection, board)
        _judged_again(connection, world.ada.user.id, [1.0] * 3)
        _judged_again(connection, world.bob.user.id, [1.0] * 12)  # of which the newest eight count
        assert (0, 10, 10) == (before, _pairs(connection, board), _pairs(connection, board + 1))


@pytest.mark.parametrize("scatter", [0.0, 0.02, 0.5])
@pytest.mark.parametrize("ends", [(0.9, 1.2), (1.0, 1.0), (1e-9, 5.0), (1.3, 0.7)])
async def test_python_widens_as_the_store_does(
    world: World, ends: tuple[float, float], scatter: float
) -> None:
    values = (ends[0], scatter, ends[1], scatter)
    with psycopg.connect(world.database.url) as connection:
        row = connection.execute(
            "SELECT widened_low(1.0, %s, %s), widened_high(1.0, %s, %s)", values
        ).fetchone()
    assert pytest.approx(row) == widened(1.0, ends, scatter)


@pytest.mark.exhaustive  # each run has test_what_the_intervals_say_themselves_is_not_counted_twice
@pytest.mark.parametrize("true", [0.005, 0.08])
async def test_what_many_have_shown_replaces_what_is_assumed(world: World, true: float) -> None:
    board = (await world.board()).id
    rng = random.Random(1)
    people = await _people(world, 30)
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        for author in people:
            _judged_again(connection, author, [math.exp(rng.gauss(0, true)) for _ in range(5)])
        assert pytest.approx(true, rel=0.35) == _shown(connection, board)


async def test_what_the_intervals_say_themselves_is_not_counted_twice(world: World) -> None:
    board = (await world.board()).id
    rng = random.Random(1)
    people = await _people(world, 30)
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        for author in people:
            scores = [math.exp(rng.gauss(0, 0.04)) for _ in range(5)]
            _judged_again(connection, author, scores, own=0.04)
        assert 0.015 > _shown(connection, board)


async def test_one_author_cannot_make_up_the_figure(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _judged_again(connection, world.ada.user.id, [1.0] * 60)
        assert 0.55 * ASSUMED < _shown(connection, board)


@pytest.mark.parametrize(
    ("scores", "own"),
    [([1.5**n for n in range(9)], 0.0), ([1.0] * 9, 0.05)],
    ids=["wide", "narrow"],
)
async def test_one_author_moves_the_figure_by_little_whatever_they_send(
    world: World, scores: list[float], own: float
) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _judged_again(connection, world.ada.user.id, scores, own)
        assert 0.3 * ASSUMED < _shown(connection, board) < 1.8 * ASSUMED


async def test_what_is_refused_or_of_banned_authors_shows_nothing(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _judged_again(connection, world.ada.user.id, [1.0, 1.2, 1.0])
        _judged_again(connection, world.bob.user.id, [1.0, 1.2, 1.0, 1.2])
        assert 5 == _pairs(connection, board)
        connection.execute("UPDATE users SET banned_at = now() WHERE id = %s", (world.ada.user.id,))
        assert 3 == _pairs(connection, board)
        connection.execute(
            "UPDATE submissions SET review = 'held', review_reason = 'suspicious'"
            " WHERE author_id = %s",
            (world.bob.user.id,),
        )
        assert 0 == _pairs(connection, board)
        assert pytest.approx(ASSUMED) == _shown(connection, board)


async def test_one_disturbed_judging_decides_little(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _judged_again(connection, world.ada.user.id, [1.0, 1.0, 1.0, 1000.0, 1.0, 1.0])
        assert 0.11 > _shown(connection, board)


async def test_what_changes_slowly_counts_as_what_changes_at_once(world: World) -> None:
    """Scores of different hours are compared in a ranking, so their differences are scatter."""
    board = (await world.board()).id
    people = await _people(world, 10)
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        for author in people:
            _judged_again(connection, author, [1.0] * 5 + [1.2] * 5)
        assert pytest.approx(0.1, rel=0.15) == _shown(connection, board)


async def test_what_says_little_of_itself_says_nothing_of_others(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        _judged_again(connection, world.ada.user.id, [1.0] * 8, own=0.06)
        assert pytest.approx(ASSUMED) == _shown(connection, board)
        assert 0 == _pairs(connection, board)


async def test_only_judgings_of_the_same_code_are_compared(world: World) -> None:
    board = (await world.board()).id
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        before = _shown(connection, board)
        _judged_again(connection, world.ada.user.id, [1.0])
        _judged_again(connection, world.bob.user.id, [9.0])
        assert before == _shown(connection, board)


async def test_a_board_has_shown_more_than_its_device(world: World) -> None:
    board = (await world.board()).id
    other = (await world.board("other")).id
    people = await _people(world, 10)
    rng = random.Random(1)
    with psycopg.connect(world.database.url, autocommit=True) as connection:
        connection.execute("DELETE FROM leaderboard_devices WHERE leaderboard_id = %s", (other,))
        connection.execute("DELETE FROM leaderboards WHERE id = %s", (other,))
        for author in people:
            _judged_again(connection, author, [math.exp(rng.gauss(0, 0.1)) for _ in range(6)])
        assert _shown(connection, other) / _uncertain(1, 0) < _shown(
            connection, board
        ) / _uncertain(1, 50)
