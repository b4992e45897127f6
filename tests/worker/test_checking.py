"""Launchers that fail when they are asked whether their devices can take jobs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from structlog.testing import capture_logs

from kernelbot.launchers.base import Launcher
from kernelbot.protocol import DeviceSpec, Vendor
from kernelbot.runs.devices.model import DeviceConfig, LauncherHealth
from kernelbot.worker.checking import Checks
from tests.fakes.scheduler import FakeLauncher, FakeScheduler
from tests.support.waiting import until


@contextlib.asynccontextmanager
async def checking(**schedulers: FakeScheduler) -> AsyncIterator[Checks]:
    """One device, that each of them has."""
    device = DeviceConfig(DeviceSpec("CPU", Vendor.CPU), launchers=tuple(schedulers))
    launchers: dict[str, Launcher] = {n: FakeLauncher(each) for n, each in schedulers.items()}
    checks = Checks(launchers, (device,))
    loops = [asyncio.create_task(checks.run(name)) for name in launchers]
    try:
        yield checks
    finally:
        for loop in loops:
            loop.cancel()
        ended = await asyncio.gather(*loops, return_exceptions=True)
        assert {asyncio.CancelledError} == {type(each) for each in ended}


def health(checks: Checks) -> tuple[LauncherHealth, ...]:
    (report,) = checks.reports()
    return report.launchers


WELL = LauncherHealth("near", True, "")
CRASHED = LauncherHealth("far", False, "its launcher failed: KeyError: 'id'")


async def test_a_launcher_that_crashes_at_its_start_is_unavailable_until_it_starts() -> None:
    far, near = FakeScheduler(), FakeScheduler()
    far.crash = KeyError("id")
    async with checking(far=far, near=near) as checks:
        await until(lambda: health(checks) == (CRASHED, WELL))
        far.crash = None
        await until(lambda: health(checks) == (LauncherHealth("far", True, ""), WELL))


async def test_a_launcher_that_crashes_later_is_unavailable_until_it_answers() -> None:
    far, near = FakeScheduler(), FakeScheduler()
    async with checking(far=far, near=near) as checks:
        await until(lambda: health(checks) == (LauncherHealth("far", True, ""), WELL))
        far.crash = KeyError("id")
        await until(lambda: health(checks) == (CRASHED, WELL))
        far.crash = None
        await until(lambda: health(checks) == (LauncherHealth("far", True, ""), WELL))


async def test_a_launcher_that_cannot_say_what_becomes_of_its_jobs_gets_none() -> None:
    far = FakeScheduler()
    crashing = "its launcher failed: KeyError: 'id'"
    device = DeviceConfig(DeviceSpec("CPU", Vendor.CPU), launchers=("far",))
    checks = Checks({"far": FakeLauncher(far)}, (device,), lambda _: crashing)
    checking_far = asyncio.create_task(checks.run("far"))
    await until(lambda: health(checks) == (CRASHED,))
    assert () == checks.available(device)
    crashing = ""
    assert ("far",) == checks.available(device)
    checking_far.cancel()


async def test_the_same_crash_is_logged_once() -> None:
    far = FakeScheduler()
    far.crash = KeyError("id")
    with capture_logs() as logs:
        async with checking(far=far) as checks:
            await until(lambda: far.starts > 3)
            assert (CRASHED,) == health(checks)
    crashes = [entry["exc_info"] for entry in logs if entry["event"] == "launcher_crashed"]
    assert [far.crash] == crashes
