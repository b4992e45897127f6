"""What a judge opens: the host of this machine, or a Ray cluster."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Protocol

from kernelbot.domain.errors import UserError
from kernelbot.harness.host.warm.folder import NotOurs, PrivateFolder, default_folder
from kernelbot.library.hosting import HostClient
from kernelbot.protocol import JobSpec, RunResult
from kernelbot.server.judging_settings import JudgingSettings, cached_judging_settings
from kernelbot.server.ray_judge import RayJudge

_CLUSTER = re.compile(r"ray://[A-Za-z0-9.-]{1,253}:[0-9]{1,5}")


class JudgingHost(Protocol):
    """Judges jobs side by side."""

    async def judge(self, job: JobSpec, *, first: bool = False) -> RunResult:
        """Judge, before all that wait if it is `first`. A result that is lost is an
        `internal_error` that says so. Cancelled, it returns once the job has ended."""


@dataclass(frozen=True)
class Opened:
    """What there is within the block. `settings` have the devices that may be asked for."""

    settings: JudgingSettings
    host: JudgingHost
    slots: int
    """How many sources are judged at once."""
    resources: AsyncExitStack

    async def close(self) -> None:
        """Nothing is judged by then."""
        await self.resources.aclose()


async def open_host(names: Sequence[str] | None, slots: int | None, processors: int) -> Opened:
    """`names`: a cluster's address, or devices here; None: all that are configured. `slots` None:
    as many as the cluster has room for, or here one for each of so many processors. Raises
    `UserError` for devices that aren't there, and `Unavailable` if nothing can be judged."""
    async with AsyncExitStack() as failed:
        folder = _folder()
        failed.callback(folder.close)
        settings = await asyncio.to_thread(cached_judging_settings, folder)
        if names is not None and any(name.startswith("ray://") for name in names):
            cluster = await _cluster(names, settings, slots)
            failed.push_async_callback(cluster.close)
            settings = replace(settings, devices=cluster.devices)
            return Opened(settings, cluster, cluster.slots, failed.pop_all())
        here = slots or processors
        if names is not None:
            settings = _narrowed(settings, names)
        host = HostClient(folder, here)
        failed.callback(host.close)
        await host.start()
        return Opened(settings, host, here, failed.pop_all())


async def _cluster(names: Sequence[str], settings: JudgingSettings, slots: int | None) -> RayJudge:
    if len(names) > 1:
        raise UserError(
            "A judge has one cluster, or devices of this machine.",
            hint="Open a judge for each, and name a cluster's device with each source.",
        )
    return await RayJudge.open(cluster_address(names[0]), settings.devices, slots)


def cluster_address(address: str) -> str:
    """The address of a Ray cluster, as it was given. Raises `UserError` for what is none."""
    if not _CLUSTER.fullmatch(address):
        raise UserError(
            f"{address[:100]!r} is no address of a Ray cluster.",
            hint="It is ray://HOST:PORT, with the port of Ray's client server: 10001 by default.",
        )
    return address


def _narrowed(settings: JudgingSettings, names: Sequence[str]) -> JudgingSettings:
    devices = tuple(settings.device(name) for name in names)
    if not devices:
        raise UserError("A judge needs one device at least.")
    return replace(settings, devices=devices)


def _folder() -> PrivateFolder:
    try:
        return PrivateFolder.open(default_folder())
    except NotOurs as error:
        raise UserError(f"No judge can be kept warm: {error}") from None
