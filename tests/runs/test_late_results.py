"""A result that comes twice, or after its attempt was given up."""

from kernelbot.domain.states import RunState
from kernelbot.protocol import Fault, Limits, Mode, RunResult, SamplingRules, SandboxMode, Verdict
from kernelbot.runs.claims import Claim
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from kernelbot.submissions.model import Submission
from tests.fakes.host import result_of
from tests.support.world import DEVICES, World


def judging(world: World, limits: Limits | None = None) -> RunLifecycle:
    rules = RunRules(limits or Limits(), SamplingRules(), SandboxMode.NONE, stale_s=30)
    return RunLifecycle(world.database, DEVICES, rules)


async def claimed(judge: RunLifecycle, owner: str = "w") -> Claim:
    claim = await judge.claim("CPU", owner)
    assert claim is not None
    await judge.launched(claim, owner, f"handle of {claim.spec.job_id}")
    return claim


async def submitted(world: World) -> Submission:
    await world.board()
    return await world.submit(mode=Mode.TEST)


def accepted(claim: Claim) -> RunResult:
    return result_of(claim.spec, ["accepted"])


def refused(claim: Claim) -> RunResult:
    return result_of(claim.spec, ["wrong_answer"])


async def ends(world: World, submission: Submission) -> tuple[Verdict | None, int]:
    """The run's verdict, and how often its end was told."""
    shown = await world.services.submissions.get(world.ada.user, submission.id)
    async with world.database.read() as session:
        row = await session.one("SELECT count(*) AS told FROM events WHERE kind = 'finished'")
    assert row is not None
    return shown.runs[0].verdict, row["told"]


async def test_of_two_results_the_first_counts(world: World) -> None:
    sent, judge = await submitted(world), judging(world)
    claim = await claimed(judge)
    applied = [await judge.finish(claim, "w", each) for each in (accepted(claim), refused(claim))]
    assert ([True, False], (Verdict.ACCEPTED, 1)) == (applied, await ends(world, sent))


async def test_a_result_of_an_attempt_that_was_given_up_counts_for_nothing(world: World) -> None:
    sent, judge = await submitted(world), judging(world)
    given_up = await claimed(judge)
    await judge.lost(given_up, "w", "its node was gone", Fault.PLATFORM)
    late = [await judge.finish(given_up, "w", refused(given_up))]
    second = await claimed(judge)
    late += [await judge.finish(given_up, "w", refused(given_up))]
    applied = await judge.finish(second, "w", accepted(second))
    late += [await judge.finish(given_up, "w", refused(given_up))]
    assert ([False] * 3, True) == (late, applied)
    assert (Verdict.ACCEPTED, 1) == await ends(world, sent)


async def test_nor_does_that_of_a_cancelled_run(world: World) -> None:
    sent, judge = await submitted(world), judging(world)
    claim = await claimed(judge)
    await world.services.submissions.cancel(world.ada.user, sent.id)
    assert not await judge.finish(claim, "w", accepted(claim))
    shown = await world.services.submissions.get(world.ada.user, sent.id)
    assert (RunState.CANCELLED, None) == (shown.runs[0].state, shown.runs[0].verdict)


async def test_whoever_took_the_attempt_over_tells_its_end(world: World) -> None:
    sent, judge = await submitted(world), judging(world)
    claim = await claimed(judge, "first")
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET created_at = now() - interval '1 hour'")
    await judge.expire(["first"])
    taken_over = await judge.claim("CPU", "second")
    assert taken_over is not None
    assert (claim.spec, claim.attempt_id) == (taken_over.spec, taken_over.attempt_id)
    assert (0, True) == (claim.age_s, 3600 <= taken_over.age_s < 4000)
    applied = [await judge.finish(claim, owner, accepted(claim)) for owner in ("first", "second")]
    assert ([False, True], (Verdict.ACCEPTED, 1)) == (applied, await ends(world, sent))


async def test_a_job_without_stored_terms_gets_them_once(world: World) -> None:
    """A former release's, which two workers with other limits take over one after the other."""
    await submitted(world)
    await claimed(judging(world), "former")
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET terms = NULL")
    jobs = []
    for former, owner, seconds in (("former", "second", 11.0), ("second", "third", 22.0)):
        judge = judging(world, Limits(cpu_time_s=seconds))
        await judge.expire([former])
        jobs.append((await claimed(judge, owner)).spec)
    assert (11.0, jobs[0]) == (jobs[0].limits.cpu_time_s, jobs[1])


async def test_a_device_shows_the_machine_that_was_seen_last(world: World) -> None:
    await submitted(world)
    judge = judging(world)
    claim = await claimed(judge)
    await judge.finish(claim, "w", accepted(claim))
    (device, _) = await world.services.devices.list_devices(with_hardware=True)
    system = accepted(claim).system
    assert f"{system.cpu}; {system.os}; Python {system.python}" == device.hardware
