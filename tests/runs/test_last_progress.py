"""What a judge has told last is stored in the transaction that ends its attempt."""

from kernelbot.domain.states import RunState
from kernelbot.protocol import EventKind, Fault, Mode, ProgressEvent
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.submissions.model import Submission
from tests.fakes.host import result_of
from tests.support.judging import judging
from tests.support.world import World

TOLD = (
    ProgressEvent(EventKind.CASE, index=0),
    ProgressEvent(EventKind.CASE, index=1),
    ProgressEvent(EventKind.FINISHED),
)


async def _claimed(judge: RunLifecycle) -> Claim:
    claim = await judge.claim("CPU", "w")
    assert claim is not None
    assert await judge.launched(claim, "w", "handle")
    return claim


async def _sent(world: World, mode: Mode = Mode.TEST) -> tuple[Submission, RunLifecycle, Claim]:
    await world.board()
    sent, judge = await world.submit(mode=mode), judging(world)
    return sent, judge, await _claimed(judge)


async def _told(world: World, sent: Submission) -> list[str]:
    """What was told of the submission after its attempt was launched."""
    async with world.database.read() as session:
        rows = await session.all(
            "SELECT kind FROM events WHERE submission_id = %(id)s ORDER BY id", {"id": sent.id}
        )
    kinds = [row["kind"] for row in rows]
    return kinds[kinds.index(RunState.DISPATCHED) + 1 :]


async def test_progress_comes_before_the_verdict(world: World) -> None:
    sent, judge, claim = await _sent(world)
    assert await judge.finish(claim, "w", result_of(claim.spec, ["accepted"]), TOLD)
    expected = [RunState.RUNNING, EventKind.CASE, EventKind.CASE, RunState.FINISHED]
    assert expected == await _told(world, sent)


async def test_a_run_whose_judge_told_nothing_never_ran(world: World) -> None:
    sent, judge, claim = await _sent(world)
    assert await judge.finish(claim, "w", result_of(claim.spec, ["accepted"]))
    assert [RunState.FINISHED] == await _told(world, sent)


async def test_progress_comes_before_a_lost_run_waits_again(world: World) -> None:
    sent, judge, claim = await _sent(world)
    assert await judge.lost(claim, "w", "gone", Fault.PLATFORM, events=TOLD)
    expected = [RunState.RUNNING, EventKind.CASE, EventKind.CASE, RunState.QUEUED]
    assert expected == await _told(world, sent)


async def test_progress_comes_before_a_run_is_measured_again(world: World) -> None:
    sent, judge, public = await _sent(world, Mode.LEADERBOARD)
    assert await judge.finish(public, "w", result_of(public.spec, ["accepted"]))
    claim = await _claimed(judge)
    wide = result_of(claim.spec, ["accepted", "1.0", "0.8", "1.3"])
    assert await judge.finish(claim, "w", wide, TOLD)
    expected = [RunState.RUNNING, EventKind.CASE, EventKind.CASE, RunState.QUEUED]
    assert expected == (await _told(world, sent))[-4:]


async def test_what_comes_too_late_tells_nothing(world: World) -> None:
    sent, judge, claim = await _sent(world)
    assert await judge.lost(claim, "w", "gone", Fault.PLATFORM)
    assert not await judge.finish(claim, "w", result_of(claim.spec, ["accepted"]), TOLD)
    assert not await judge.lost(claim, "w", "gone", Fault.PLATFORM, events=TOLD)
    assert [RunState.QUEUED] == await _told(world, sent)
