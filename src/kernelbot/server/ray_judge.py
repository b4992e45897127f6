"""Judging on a Ray cluster, for programs: the launcher for Ray, without a worker."""

import asyncio
import importlib.util
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from kernelbot.domain.errors import SchedulerError, Unavailable, UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.base import Traits
from kernelbot.launchers.ray import RayLauncher, RaySettings
from kernelbot.platform.distribution import checkout_command
from kernelbot.protocol import DeviceSpec, JobSpec, RunResult
from kernelbot.server.ray_devices import offers, slots
from kernelbot.server.remote_judge import RemoteJudge

_TRAITS = Traits(shortest_poll_s=0.1, longest_poll_s=1.0, check_s=10.0, silence_s=120.0)


class RayJudge:
    """An open cluster. For one event loop."""

    def __init__(
        self, judge: RemoteJudge, devices: tuple[DeviceSpec, ...], slots: int, after: AsyncExitStack
    ) -> None:
        """`after`: what is closed at last."""
        self._judge = judge
        self._after = after
        self.devices = devices
        """At least one."""
        self.slots = slots
        """How many jobs are launched at once."""

    @classmethod
    async def open(
        cls, address: str, configured: Sequence[DeviceSpec], most: int | None
    ) -> "RayJudge":
        """`configured`: devices that the cluster may have; `most`: how many jobs may be launched at
        once, None: as many as its nodes have room for. Raises `UserError` without Ray's package,
        and `Unavailable` if nothing can be judged there."""
        _expect_package()
        async with AsyncExitStack() as failed:
            folder = failed.enter_context(tempfile.TemporaryDirectory(prefix="kernelbot-ray-"))
            harness = await asyncio.to_thread(build, Path(folder) / "kernelbot-harness.pyz")
            settings = RaySettings(address, devices={}, python="", traits=_TRAITS)
            launcher = RayLauncher(settings, harness)
            failed.push_async_callback(launcher.close)
            try:
                nodes = await launcher.nodes()
            except SchedulerError as error:
                raise Unavailable(f"Nothing can be judged at {address}: {error}") from error
            found = offers(nodes, configured)
            if not found:
                raise Unavailable(
                    f"Nothing can be judged at {address}: no node has a device that is configured.",
                    hint="Name its devices in kernelbot.toml as `ray status` names their types.",
                )
            at_once = most or slots(nodes, found)
            ours = launcher.with_devices({offer.spec.name: offer.asked for offer in found})
            judge = RemoteJudge(address, ours, at_once)
            return cls(judge, tuple(offer.spec for offer in found), at_once, failed.pop_all())

    async def close(self) -> None:
        """Nothing is judged by then."""
        async with self._after:
            await self._judge.close()

    async def judge(self, job: JobSpec, *, first: bool = False) -> RunResult:
        """Judges one job on the cluster. Raises what `RemoteJudge.judge` raises."""
        return await self._judge.judge(job, first=first)


def _expect_package() -> None:
    if importlib.util.find_spec("ray") is None:
        raise UserError(
            "Judging on a Ray cluster needs Ray's package, which isn't installed.",
            hint=f"Install the extra: {checkout_command('ray')}.",
        )
