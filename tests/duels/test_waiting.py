"""Who waits in the queue waits for duels as well, and for as long as these take."""

import pytest

from kernelbot.protocol import Mode
from tests.support.duels import SLOWER, WIDE, two_of_ada
from tests.support.judging import begun_duel, fought, judging
from tests.support.ranked import ranked
from tests.support.world import World


async def _waits(world: World) -> tuple[int, float | None]:
    """The place of a test that bob sends now, and his wait."""
    sent = await world.submit(world.bob.user, mode=Mode.TEST)
    place = await world.services.submissions.queue_position(sent.id)
    assert place is not None
    return place.position, place.wait_s


async def _took(world: World, *, run_s: float, duel_s: float) -> None:
    """So long took each of what has ended, which were tests. A worker serves the device."""
    async with world.database.write() as session:
        await session.do(
            "UPDATE runs SET finished_at = now(), started_at = now() - make_interval("
            "secs => CASE WHEN duel_id IS NULL THEN %(run_s)s ELSE %(duel_s)s END)"
            " WHERE state = 'finished'",
            {"run_s": run_s, "duel_s": duel_s},
        )
        await session.do("UPDATE submissions SET mode = 'test'")
        await session.do("INSERT INTO workers (owner, node) VALUES ('v', 'n')")
        await session.do("INSERT INTO worker_devices VALUES ('v', 'CPU', true, '')")


async def test_a_duel_without_a_run_yet_is_ahead_as_it_will_be(world: World) -> None:
    await two_of_ada(world)
    before, _ = await _waits(world)
    async with world.database.write() as session:
        await session.one("SELECT enqueue_duel('CPU')")
        row = await session.one(
            "SELECT (queue_line(max(submission_id), false, 30, false) ->> 'position')::int AS place"
            " FROM runs WHERE duel_id IS NULL"
        )
    assert row is not None
    assert (2, 2) == (before, row["place"])


@pytest.mark.exhaustive  # each run has test_a_wait_for_duels_is_as_long_as_duels_are
async def test_a_duel_that_runs_is_no_longer_ahead(world: World) -> None:
    await two_of_ada(world)
    await begun_duel(judging(world))
    assert 1 == (await _waits(world))[0]


async def test_a_wait_for_duels_is_as_long_as_duels_are(world: World) -> None:
    await two_of_ada(world)
    await fought(world, SLOWER)
    await _took(world, run_s=6, duel_s=60)
    short = [(await _waits(world))[1] for _ in range(3)]
    async with world.database.write() as session:
        await session.do("DELETE FROM runs WHERE state = 'queued'")
    for score_s in (3.0, 2.9):
        await ranked(world, score_s, author=world.bob.user, relative_error=WIDE)
    long = [(await _waits(world))[1] for _ in range(3)]
    # Two slots: the third waits for half of what a run takes, of which one in four is a duel now.
    assert ([0, 0, 6 / 2], [0, 0, (3 * 6 + 60) / 4 / 2]) == (short, long)
