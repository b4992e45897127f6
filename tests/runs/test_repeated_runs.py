"""A ranked run whose interval is wider than +-10 %, or that was measured on a busy machine, is
measured again before it is ranked."""

import pytest

from kernelbot.domain.states import RunState
from kernelbot.protocol import Fault, Mode, Verdict
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.runs.model import Run
from kernelbot.runs.repeats import MAX_REPEATS
from tests.fakes.host import result_of
from tests.support.judging import judging
from tests.support.world import World

WIDE = "accepted 1.0 0.8 1.3"
NARROW = "accepted 1.02 1.01 1.03"
BUSY = "accepted 1.0 0.99 1.01 busy"
WAITED = "The machine was busy: 100 % of the calls waited for a processor that other programs had"


async def _claimed(judge: RunLifecycle) -> Claim:
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.launched(claim, "w", "handle")
    return claim


async def _judged(judge: RunLifecycle, said: str) -> Claim:
    claim = await _claimed(judge)
    assert await judge.finish(claim, "w", result_of(claim.spec, said.split()))
    return claim


async def _submitted(world: World, said: str) -> tuple[RunLifecycle, int]:
    """Its tests passed, and its ranked run said that."""
    await world.board()
    judge = judging(world)
    submitted = await world.submit(mode=Mode.LEADERBOARD)
    await _judged(judge, "accepted")
    await _judged(judge, said)
    return judge, submitted.id


async def _secret_run(world: World, submission_id: int) -> Run:
    shown = await world.services.submissions.get(world.ada.user, submission_id)
    return next(run for run in shown.runs if run.secret)


async def _ranking(world: World) -> list[float]:
    page = await world.services.standings.page(None, "sort", None)
    return [row.score_s for row in page.standings]


async def test_it_is_not_ranked_yet_and_waits(world: World) -> None:
    _, submission_id = await _submitted(world, WIDE)
    run = await _secret_run(world, submission_id)
    assert (RunState.QUEUED, 1, None) == (run.state, run.repeats, run.score_s)
    assert [] == await _ranking(world)


async def test_it_goes_before_all_others_and_alone_with_new_data(world: World) -> None:
    await world.board()
    judge = judging(world)
    await world.submit(mode=Mode.LEADERBOARD)
    await world.submit(world.bob.user, mode=Mode.TEST, content=b"# another\n")
    await _judged(judge, "accepted")
    await _judged(judge, "accepted")
    first = await _judged(judge, WIDE)
    again = await _claimed(judge)
    assert (first.run_id, True) == (again.run_id, again.alone)
    assert first.spec.seed != again.spec.seed


async def test_what_was_measured_again_is_ranked(world: World) -> None:
    judge, submission_id = await _submitted(world, WIDE)
    await _judged(judge, NARROW)
    assert [1.02] == await _ranking(world)
    assert 1 == (await _secret_run(world, submission_id)).repeats


async def test_it_is_measured_again_three_times_at_most(world: World) -> None:
    judge, submission_id = await _submitted(world, WIDE)
    for _ in range(MAX_REPEATS):
        assert [] == await _ranking(world)
        await _judged(judge, WIDE)
    assert [1.0] == await _ranking(world)
    assert MAX_REPEATS == (await _secret_run(world, submission_id)).repeats
    assert await judge.claim("CPU", "w") is None


async def test_an_interval_of_ten_percent_is_not_too_wide(world: World) -> None:
    await _submitted(world, "accepted 1.0 0.9 1.1")
    assert [1.0] == await _ranking(world)


async def test_what_fails_when_it_is_measured_again_has_failed(world: World) -> None:
    judge, submission_id = await _submitted(world, WIDE)
    await _judged(judge, "wrong_answer")
    run = await _secret_run(world, submission_id)
    assert ([], RunState.FINISHED) == (await _ranking(world), run.state)


@pytest.mark.parametrize(
    ("said", "reason"), [(WIDE, "its interval is wider than ±10 %"), (BUSY, WAITED)]
)
async def test_followers_are_told_why_it_waits(world: World, said: str, reason: str) -> None:
    _, submission_id = await _submitted(world, said)
    async with world.database.read() as session:
        row = await session.one(
            "SELECT data FROM events WHERE submission_id = %(id)s ORDER BY id DESC LIMIT 1",
            {"id": submission_id},
        )
    assert row is not None
    assert {"reason": f"{reason}, so it is measured again, alone", "repeats": 1} == row["data"]


async def test_a_rejudges_run_is_measured_again_before_it_ends(world: World) -> None:
    judge, _ = await _submitted(world, "accepted 1.0 0.99 1.01")
    rejudge = await world.services.rejudging.start(world.admin.user, "sort")
    await _judged(judge, WIDE)
    between = await world.services.rejudging.get(world.admin.user, "sort", rejudge.id)
    await _judged(judge, NARROW)
    after = await world.services.rejudging.get(world.admin.user, "sort", rejudge.id)
    assert (None, True) == (between.finished_at, after.finished_at is not None)
    assert [1.02] == await _ranking(world)


async def test_what_was_measured_once_the_machine_was_quiet_is_ranked(world: World) -> None:
    judge, _ = await _submitted(world, BUSY)
    assert [] == await _ranking(world)
    await _judged(judge, NARROW)
    assert [1.02] == await _ranking(world)


async def _always_busy(world: World) -> tuple[RunLifecycle, int]:
    judge, submission_id = await _submitted(world, BUSY)
    for _ in range(MAX_REPEATS):
        await _judged(judge, BUSY)
    return judge, submission_id


async def test_what_was_measured_on_a_busy_machine_each_time_is_nobodys_fault(
    world: World,
) -> None:
    judge, submission_id = await _always_busy(world)
    run = await _secret_run(world, submission_id)
    assert ([], Verdict.INTERNAL_ERROR, Fault.PLATFORM) == (
        await _ranking(world),
        run.verdict,
        run.fault,
    )
    assert run.message is not None
    assert f"{WAITED}, also when it was measured again. So it isn't ranked" in run.message
    assert await judge.claim("CPU", "w") is None


async def test_it_may_be_submitted_again(world: World) -> None:
    judge, _ = await _always_busy(world)
    await world.submit(mode=Mode.LEADERBOARD)
    await _judged(judge, "accepted")
    await _judged(judge, NARROW)
    assert [1.02] == await _ranking(world)


async def test_a_rejudge_on_a_busy_machine_leaves_the_score_that_was(world: World) -> None:
    judge, _ = await _submitted(world, NARROW)
    await world.services.rejudging.start(world.admin.user, "sort")
    for _ in range(MAX_REPEATS + 1):
        await _judged(judge, BUSY)
    assert [1.02] == await _ranking(world)
