"""What the platform judges itself, as it is known to be right, and what that decides."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from kernelbot.domain.states import SubmissionState
from kernelbot.protocol import RunResult, SourceFile
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle
from tests.fakes.host import result_of, words_of
from tests.support.judging import judging
from tests.support.problems import sort_problem
from tests.support.workers import finished, quick_settings, working
from tests.support.world import World


async def _board_that_knows(world: World, right: str, starter: str = "wrong_answer") -> None:
    """Its problem has a right solution, of which the judge says that."""
    problem = replace(
        sort_problem(),
        templates={"Python": f"# fake: {starter}\n"},
        solutions=(SourceFile("correct/numpy.py", f"# fake: {right}\n"),),
    )
    await world.services.boards.create(world.admin.user, problem, name="sort", devices=("CPU",))


async def _knows(world: World, count: int = 2) -> list[tuple[str, float | None]]:
    """What is known to be right, once so much of it was judged."""
    while True:
        async with world.database.read() as session:
            rows = await session.all(
                "SELECT name, score_s FROM known_right WHERE ended_at IS NOT NULL ORDER BY id"
            )
        if len(rows) == count:
            return [(row["name"], row["score_s"]) for row in rows]
        await asyncio.sleep(0.02)


@pytest.mark.exhaustive
async def test_what_is_known_to_be_right_is_judged_once(world: World, tmp_path: Path) -> None:
    await _board_that_knows(world, "accepted 1.0")
    async with working(quick_settings(tmp_path, known_right=True), world.database.url):
        for author, score in ((world.ada.user, 0.5), (world.bob.user, 0.4)):
            sent = await world.submit(author, content=f"# fake: accepted {score}\n".encode())
            await finished(world, sent.id)
            known = await _knows(world)
    assert [("starter file for Python", None), ("correct/numpy.py", 1.0)] == known
    page = await world.services.standings.page(None, "sort", None)
    assert ["bob", "ada"] == [row.author for row in page.standings]


@pytest.mark.exhaustive
async def test_two_who_take_turns_do_not_get_past(world: World, tmp_path: Path) -> None:
    await _board_that_knows(world, "accepted 1.0")
    ada, bob = world.ada.user, world.bob.user
    states = []
    async with working(quick_settings(tmp_path, known_right=True), world.database.url):
        for author, score in ((ada, 1.0), (bob, 1 / 19), (ada, 1 / 361), (bob, 1 / 6859)):
            sent = await world.submit(author, content=f"# fake: accepted {score}\n".encode())
            states.append((await finished(world, sent.id)).state)
            await _knows(world)
    assert [SubmissionState.FINISHED] * 2 + [SubmissionState.HELD] * 2 == states


@pytest.mark.exhaustive  # each run has test_who_stood_before_it_was_known_is_held_then
async def test_nobody_is_held_beside_what_is_as_fast(world: World, tmp_path: Path) -> None:
    await _board_that_knows(world, "accepted 0.01")
    ada, bob = world.ada.user, world.bob.user
    async with working(quick_settings(tmp_path, known_right=True), world.database.url):
        for author, score in ((ada, 1.0), (bob, 0.9), (ada, 0.01)):
            sent = await world.submit(author, content=f"# fake: accepted {score}\n".encode())
            done = await finished(world, sent.id)
            await _knows(world)
    assert (SubmissionState.FINISHED, 1) == (done.state, done.place)


async def test_who_stood_before_it_was_known_is_held_then(world: World, tmp_path: Path) -> None:
    await _board_that_knows(world, "accepted 1.0", starter="accepted 2.0")
    async with working(quick_settings(tmp_path, known_right=True), world.database.url):
        sent = await world.submit(content=b"# fake: accepted 0.001\n")
        await finished(world, sent.id)
        await _knows(world)
        (held,) = await world.services.reviews.held(world.admin.user)
        page = await world.services.standings.page(None, "sort", "CPU")
    assert (sent.id, ()) == (held.id, page.standings)
    assert "2e+03 times faster than the best that is known to be right" in (
        held.review_reason or ""
    )


async def test_nobody_reads_right_solutions_of_a_board(world: World) -> None:
    await _board_that_knows(world, "accepted 1.0 secret-of-the-organiser")
    problem = await world.services.boards.problem(world.ada.user, "sort")
    assert "secret-of-the-organiser" not in repr(problem)


async def next_run(judge: RunLifecycle) -> tuple[Claim, RunResult]:
    """The run whose turn it is, being judged, and what it says that it shows."""
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.launched(claim, "w", "handle")
    return claim, result_of(claim.spec, words_of(claim.spec))


async def first_score(world: World) -> RunLifecycle:
    """The board has one, so that what is known to be right waits to be judged."""
    await _board_that_knows(world, "accepted 1.0")
    await world.submit(content=b"# fake: accepted 2.0\n")
    judge = judging(world, known_right=True)
    for _ in ("public", "secret"):
        claim, result = await next_run(judge)
        assert await judge.finish(claim, "w", result)
    return judge


async def test_it_is_judged_alone(world: World) -> None:
    judge = await first_score(world)
    claim, _ = await next_run(judge)
    assert ("starter file for Python", True) == (claim.spec.submission.name, claim.alone)


@pytest.mark.parametrize(("suspicions", "score_s"), [((), 1.0), (("too steady",), None)])
async def test_what_is_suspicious_is_no_figure(
    world: World, suspicions: tuple[str, ...], score_s: float | None
) -> None:
    judge = await first_score(world)
    for _ in ("starter", "solution"):
        claim, result = await next_run(judge)
        assert await judge.finish(claim, "w", replace(result, suspicions=suspicions))
    assert [None, score_s] == [score for _, score in await _knows(world)]
