"""A worker that couldn't say that it lives believes of nobody else that they are dead."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernelbot.protocol import Mode
from kernelbot.worker.moments import Moment
from kernelbot.worker.own_beats import OwnBeats
from tests.support.judging import judging
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World

_STALE_S = 30.0


@dataclass
class _Clock:
    """Both clocks, of which one may stand still."""

    steady_s: float = 0.0
    wall_s: float = 0.0

    def now(self) -> Moment:
        return Moment(self.steady_s, self.wall_s)

    def goes_on(self, for_s: float) -> None:
        self.steady_s += for_s
        self.wall_s += for_s


def _beats_for(beats: OwnBeats, clock: _Clock, seconds: int) -> None:
    for _ in range(seconds):
        clock.goes_on(1.0)
        beats.stored()


def test_who_beats_all_the_time_may_take_over() -> None:
    clock = _Clock()
    beats = OwnBeats(_STALE_S, clock.now)
    beats.stored()
    assert beats.may_take_over
    _beats_for(beats, clock, 100)
    assert beats.may_take_over


def test_who_is_silent_may_not() -> None:
    clock = _Clock()
    beats = OwnBeats(_STALE_S, clock.now)
    beats.stored()
    clock.goes_on(14.9)
    assert beats.may_take_over
    clock.goes_on(0.1)
    assert not beats.may_take_over


@pytest.mark.parametrize("asleep", [False, True])
def test_who_was_silent_lets_the_others_speak_first(asleep: bool) -> None:
    """Also if it was asleep, as one of the clocks alone says."""
    clock = _Clock()
    beats = OwnBeats(_STALE_S, clock.now)
    beats.stored()
    clock.wall_s += 40.0
    clock.steady_s += 0.0 if asleep else 40.0
    beats.stored()
    assert not beats.may_take_over
    _beats_for(beats, clock, 14)
    assert not beats.may_take_over
    _beats_for(beats, clock, 1)
    assert beats.may_take_over


def test_so_does_who_has_waited_for_the_database_to_begin() -> None:
    clock = _Clock()
    beats = OwnBeats(_STALE_S, clock.now)
    clock.goes_on(20.0)
    beats.stored()
    assert not beats.may_take_over


async def test_a_silent_worker_judges_what_waits_and_takes_nothing_over(
    world: World, tmp_path: Path
) -> None:
    """What is abandoned would come before what waits."""
    await world.board()
    quick = quick_settings(tmp_path)
    rarely = quick.worker.model_copy(update={"heartbeat_s": 600.0})
    judge = judging(world, stale_s=rarely.stale_s)
    await world.submit(mode=Mode.TEST)
    claim = await judge.claim("CPU", "another")
    assert claim is not None
    assert await judge.launched(claim, "another", "handle")
    async with working(quick.model_copy(update={"worker": rarely}), world.database.url):
        async with asyncio.timeout(60):
            while not await _is_silent(world, 2 * rarely.stale_s):
                assert await judge.heartbeat("another", "far", [], {claim.attempt_id}, {})
                await asyncio.sleep(0.1)
        assert await judge.expire(["another"]) == 1
        waits = await world.submit(content=b"# fake: accepted\n", mode=Mode.TEST)
        await finished(world, waits.id)
        assert await judge.still_open(claim, "another")


async def _is_silent(world: World, for_s: float) -> bool:
    """Whether the worker was there, and has said nothing for so long."""
    async with world.database.read() as session:
        row = await session.one(
            "SELECT max(heartbeat_at) < now() - make_interval(secs => %(for_s)s) AS silent"
            " FROM workers WHERE owner <> 'another'",
            {"for_s": for_s},
        )
    return row is not None and bool(row["silent"])
