"""Judging on a Ray cluster, for programs: the launcher for Ray, without a worker."""

import asyncio
import importlib.util
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.domain.errors import SchedulerError, Unavailable, UserError
from kernelbot.harness.archive import build
from kernelbot.launchers.base import Traits
from kernelbot.launchers.ray import RayDevice, RayLauncher, RaySettings
from kernelbot.platform.distribution import checkout_command
from kernelbot.preflight.gpus import NAMES, find_gpu
from kernelbot.protocol import DeviceSpec, JobSpec, RunResult, Vendor
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


_ACCELERATOR = "accelerator_type:"
_SOME = 0.001
"""What a task asks of a resource that marks a node."""


@dataclass(frozen=True)
class RayOffer:
    """A device of the cluster's, and what its tasks ask for."""

    spec: DeviceSpec
    asked: RayDevice


def offers(
    nodes: Sequence[Mapping[str, float]], configured: Iterable[DeviceSpec]
) -> tuple[RayOffer, ...]:
    """The configured devices that a node has, in their order; then GPUs that Ray names and our
    table of GPUs has. A CPU is a processor; a GPU is one of Ray's type that has the device's name
    in it: `MI300X` is `AMD-Instinct-MI300X-OAM`."""
    types = {name for node in nodes for name in node if name.startswith(_ACCELERATOR)}
    devices = list(configured)
    named = {device.name.casefold() for device in devices}
    devices += [_known(name) for name in NAMES if name.casefold() not in named]
    found = [RayOffer(device, asked) for device in devices if (asked := _asked(device, types))]
    return tuple(offer for offer in found if slots(nodes, (offer,)))


def slots(nodes: Sequence[Mapping[str, float]], found: Iterable[RayOffer]) -> int:
    """How many tasks of these devices the nodes have room for at once."""
    return sum(_room(node, offer.asked) for node in nodes for offer in found)


def _room(node: Mapping[str, float], asked: RayDevice) -> int:
    return int(min(node.get(name, 0.0) // amount for name, amount in asked.asked().items()))


def _asked(device: DeviceSpec, types: Iterable[str]) -> RayDevice | None:
    """None: no node is said to have such a GPU."""
    if device.vendor is Vendor.CPU:
        return RayDevice(0.0)
    for name in sorted(types):
        if device.name.casefold() in _words(name):
            return RayDevice(1.0, resources={name: _SOME})
    return None


def _words(resource: str) -> set[str]:
    whole = resource.removeprefix(_ACCELERATOR).casefold()
    return {whole, *whole.split("-")}


def _known(name: str) -> DeviceSpec:
    gpu = find_gpu(name)
    return replace(DeviceSpec(name, gpu.vendor), arch=gpu.arch)
