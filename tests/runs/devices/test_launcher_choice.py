"""Which launcher an attempt is given to, and how long the next one waits after a loss."""

import pytest

from kernelbot.protocol import DeviceSpec, Fault, Limits, Mode, SamplingRules, SandboxMode, Vendor
from kernelbot.runs.claims import Claim
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.lifecycle import RunLifecycle, RunRules
from tests.support.world import World

BOTH = (DeviceConfig(DeviceSpec("CPU", Vendor.CPU), ("near", "far"), 2),)
FAR = (DeviceConfig(DeviceSpec("CPU", Vendor.CPU), ("far",), 2),)


def judging(world: World, devices: tuple[DeviceConfig, ...] = BOTH) -> RunLifecycle:
    rules = RunRules(Limits(), SamplingRules(), SandboxMode.NONE, stale_s=30)
    return RunLifecycle(world.database, devices, rules)


async def claimed(world: World, *available: str) -> Claim:
    await world.board()
    await world.submit(mode=Mode.TEST)
    claim = await judging(world).claim("CPU", "w", available=available)
    assert claim is not None
    return claim


async def waits_s(world: World) -> float:
    """Until the run that was requeued may be taken."""
    async with world.database.read() as session:
        row = await session.one(
            "SELECT extract(epoch FROM ready_at - now())::float8 AS wait_s FROM runs"
        )
    assert row is not None
    return float(row["wait_s"])


async def let_it_be_taken_over(world: World) -> None:
    async with world.database.write() as session:
        await session.do("UPDATE attempts SET heartbeat_at = '-infinity'")


@pytest.mark.parametrize(
    ("available", "chosen"),
    [(("near", "far"), "near"), (("far", "near"), "near"), (("far",), "far")],
)
async def test_the_preferred_of_those_that_are_available_is_chosen(
    world: World, available: tuple[str, ...], chosen: str
) -> None:
    assert (await claimed(world, *available)).launcher == chosen


async def test_while_none_is_available_runs_wait(world: World) -> None:
    await world.board()
    await world.submit(mode=Mode.TEST)
    assert await judging(world).claim("CPU", "w", available=()) is None


async def test_what_was_left_is_taken_over_also_while_none_is_available(world: World) -> None:
    first = await claimed(world, "far")
    await judging(world).launched(first, "w", "handle")
    await let_it_be_taken_over(world)
    second = await judging(world).claim("CPU", "v", available=())
    assert second is not None
    assert (second.launcher, second.handle, second.attempt_id) == (
        "far",
        "handle",
        first.attempt_id,
    )


async def test_a_launcher_that_is_configured_no_more_loses_its_attempts(world: World) -> None:
    await claimed(world, "near")
    await let_it_be_taken_over(world)
    judge = judging(world, FAR)
    assert await judge.claim("CPU", "v") is None
    again = await judge.claim("CPU", "v")
    assert again is not None
    assert (again.launcher, again.spec.job_id.split(".")[1]) == ("far", "2")


@pytest.mark.parametrize(
    ("fault", "least_s", "most_s"), [(Fault.SCHEDULER, 1.5, 4.1), (Fault.PLATFORM, -1.0, 0.1)]
)
async def test_only_a_schedulers_failure_is_waited_for_at_first(
    world: World, fault: Fault, least_s: float, most_s: float
) -> None:
    claim = await claimed(world, "near")
    await judging(world).lost(claim, "w", "it failed", fault)
    assert least_s < await waits_s(world) < most_s


async def test_the_wait_for_a_scheduler_grows(world: World) -> None:
    judge = judging(world)
    await judge.lost(await claimed(world, "near"), "w", "it failed", Fault.SCHEDULER)
    async with world.database.write() as session:
        await session.do("UPDATE runs SET ready_at = NULL")
    second = await judge.claim("CPU", "w")
    assert second is not None
    await judge.lost(second, "w", "it failed", Fault.SCHEDULER)
    assert 3.5 < await waits_s(world) < 8.1


async def test_an_attempt_is_open_until_it_is_closed(world: World) -> None:
    claim = await claimed(world, "near")
    judge = judging(world)
    before = await judge.is_open(claim)
    await judge.lost(claim, "w", "it failed", Fault.PLATFORM)
    assert (before, await judge.is_open(claim)) == (True, False)
