"""Whoever holds a submission locks it before its rankings, and those in their order, as whoever
decides about it or deletes it."""

import asyncio
from collections.abc import Coroutine

import psycopg
import pytest

from kernelbot.moderation.reviews import store as reviews
from kernelbot.moderation.reviews.model import CheckedScore, ReviewRules
from kernelbot.moderation.reviews.service import hold_if_absurd
from kernelbot.submissions import store as submissions
from tests.fakes.host import result_of
from tests.moderation.known_right.test_service import first_score, next_run
from tests.support.judging import judged_at_once, judging
from tests.support.postgres import WAITS_FOR_A_LOCK
from tests.support.ranked import ranked
from tests.support.waiting import until_told
from tests.support.workers import finished
from tests.support.world import World

RULES = ReviewRules(hold_speedup=20.0)


async def beside_a_decision(
    world: World, number: int, holding: Coroutine[None, None, object]
) -> None:
    """Somebody decides about the submission, and has locked it, before it may be held."""
    async with world.database.write() as deciding:
        await reviews.lock(deciding, number)
        waiting = asyncio.create_task(holding)
        await until_done_or_waiting(world, waiting)
        await submissions.refresh_standings(deciding, number)
    await waiting


async def until_done_or_waiting(world: World, task: asyncio.Task[object]) -> None:
    async def is_so() -> bool:
        async with world.database.read() as session:
            return task.done() or len(await session.all(WAITS_FOR_A_LOCK)) == 1

    await until_told(is_so)


async def hold(world: World, number: int, device: str, score_s: float) -> bool:
    board = await world.services.boards.get(None, "sort")
    scored = CheckedScore(number, board.id, device, world.bob.user.id, score_s)
    async with world.database.write() as session:
        return await hold_if_absurd(session, scored, RULES)


async def held(world: World) -> list[int]:
    return [one.id for one in await world.services.reviews.held(world.admin.user)]


async def test_a_decision_and_a_score_do_not_wait_for_each_other(world: World) -> None:
    await world.board()
    await ranked(world, 1.0)
    number = await ranked(world, 0.01, author=world.bob.user)
    await beside_a_decision(world, number, hold(world, number, "CPU", 0.01))
    assert [number] == await held(world)


@pytest.mark.parametrize(
    ("score", "last", "is_held"), [("0.01", "own", True), ("0.8", "other", False)]
)
async def test_nor_do_a_decision_and_a_rejudge(
    world: World, score: str, last: str, is_held: bool
) -> None:
    """The last run of the rejudge, whose ever it is, ranks all."""
    await world.board()
    async with judged_at_once(world):
        for author, score_s in ((world.ada.user, 1.0), (world.bob.user, 0.9)):
            sent = await world.submit(author, content=f"# fake: accepted {score_s}\n".encode())
            await finished(world, sent.id)
    await world.services.rejudging.start(world.admin.user, "sort", top=None)
    judge, ends = judging(world), {}
    while (claim := await judge.claim("CPU", "w")) is not None:
        assert await judge.launched(claim, "w", "handle")
        whose = "own" if "0.9" in claim.spec.submission.text else "other"
        words = ["accepted", score if whose == "own" else "1.0"]
        ends[whose] = judge.finish(claim, "w", result_of(claim.spec, words))
    ending = ends.pop(last)
    [first] = ends.values()
    assert await first
    await beside_a_decision(world, sent.id, ending)
    assert ([sent.id] if is_held else []) == await held(world)


async def test_nor_do_a_decision_and_what_turns_out_to_be_right(world: World) -> None:
    judge = await first_score(world)
    first = await ranked(world, 0.001)
    second = await ranked(world, 0.002, author=world.bob.user)
    claim, result = await next_run(judge)
    assert await judge.finish(claim, "w", result)
    claim, result = await next_run(judge)
    await beside_a_decision(world, second, judge.finish(claim, "w", result))
    assert [first, second] == await held(world)


async def test_of_two_devices_the_rankings_are_locked_in_their_order(world: World) -> None:
    await world.board(devices=("CPU", "H100"))
    await ranked(world, 1.0, device="H100")
    sent = await world.submit(world.bob.user, devices=("CPU", "H100"))
    ranking = "SELECT 1 FROM leaderboard_devices WHERE device = %s FOR UPDATE"
    async with await psycopg.AsyncConnection.connect(world.database.url) as other:
        await other.execute(ranking, ("CPU",))
        holding = asyncio.create_task(hold(world, sent.id, "H100", 0.01))
        await until_done_or_waiting(world, holding)
        await other.execute(ranking, ("H100",))
    assert await holding
