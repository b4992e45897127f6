"""The launcher: what `Launcher` promises, in tasks of Ray's."""

import asyncio
import copy
import re
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.launchers.handles import check_job_id
from kernelbot.launchers.links import Links, valid_s
from kernelbot.launchers.ray.keeper import TaskJob, TaskStage
from kernelbot.launchers.ray.messages import AttemptAnswer, KeeperQuestion, KeeperRequest
from kernelbot.launchers.ray.ray_process import RayProcess
from kernelbot.launchers.ray.settings import RayDevice, RaySettings
from kernelbot.launchers.results import found, lost, no_events, size_of, too_long
from kernelbot.protocol import Fault, JobSpec, ProgressEvent, encode_payload

_HANDLE = re.compile(r"([0-9a-f]{12}):([A-Za-z0-9][A-Za-z0-9.-]{0,63})")
_STRANGE = lost("its handle is none of Ray's")
_GONE = lost("Ray doesn't know it any more", Fault.SCHEDULER)
_STATES = {TaskStage.WAITING: JobState.WAITING, TaskStage.RUNNING: JobState.RUNNING}


class RayLauncher:
    """What each method promises, `Launcher` says. `harness`: the file that tasks run; `links`: for
    nodes that can reach this platform, so that progress is live."""

    def __init__(self, settings: RaySettings, harness: Path, links: Links | None = None) -> None:
        self._settings = settings
        self._links = links
        self._process = RayProcess(settings, harness)

    def with_devices(self, devices: Mapping[str, RayDevice]) -> "RayLauncher":
        """The same cluster, by the same process, with other devices."""
        other = copy.copy(self)
        other._settings = replace(self._settings, devices=devices)
        return other

    @property
    def traits(self) -> Traits:
        return self._settings.traits

    async def start(self) -> None:
        """Nothing: whether the cluster can be reached is told by `availability`."""

    async def close(self) -> None:
        """End the process with Ray's package."""
        await self._process.close()

    async def launch(self, spec: JobSpec) -> str:
        """Have the cluster's keeper start the attempt's task, if it hasn't."""
        attempt = check_job_id(spec.job_id)
        device = self._settings.devices.get(spec.device.name)
        if device is None:
            raise PlatformError(f"This launcher for Ray has no device {spec.device.name!r}.")
        payload = await asyncio.to_thread(encode_payload, spec)
        links = self._links
        limit_s = spec.longest_s + self._settings.slack_s
        link_s = valid_s(self.traits.wait_s, limit_s)
        url = links.for_job(attempt, link_s).events_url if links else ""
        job = TaskJob(
            attempt=attempt,
            payload=payload,
            events_url=url,
            python=self._settings.python,
            no_sandbox_ok=self._settings.no_sandbox_ok,
            limit_s=limit_s,
            num_gpus=device.num_gpus,
            num_cpus=device.num_cpus,
            resources=dict(device.resources),
        )
        answer = await self._process.ask(KeeperQuestion(ask=KeeperRequest.LAUNCH, job=job))
        return f"{answer.keeper}:{attempt}"

    async def find(self, job_id: str) -> str | None:
        """Ask the cluster's keeper, which knows all tasks."""
        attempt = check_job_id(job_id)
        question = KeeperQuestion(ask=KeeperRequest.POLL, attempts={attempt: 0})
        answer = await self._process.ask(question)
        told = answer.told.get(attempt)
        is_known = told is not None and told.stage is not TaskStage.UNKNOWN
        return f"{answer.keeper}:{attempt}" if is_known else None

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None this way: nodes that reach us send theirs."""
        return no_events()

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """One question to the keeper, which answers with the results."""
        parts = {handle: found for handle in handles if (found := _HANDLE.fullmatch(handle))}
        wanted = {part[2]: size_of(handle, most_bytes) for handle, part in parts.items()}
        answer = await self._process.ask(KeeperQuestion(ask=KeeperRequest.POLL, attempts=wanted))
        return {
            handle: _STRANGE
            if handle not in parts
            else _GONE
            if parts[handle][1] != answer.keeper
            else _outcome(answer.told.get(parts[handle][2]), wanted[parts[handle][2]])
            for handle in handles
        }

    async def cancel(self, handle: str) -> None:
        """The task is interrupted, and its harness told to stop."""
        await self._tell(KeeperRequest.CANCEL, handle)

    async def forget(self, handle: str) -> None:
        """The keeper keeps nothing of it."""
        await self._tell(KeeperRequest.FORGET, handle)

    async def _tell(self, ask: KeeperRequest, handle: str) -> None:
        if (part := _HANDLE.fullmatch(handle)) is not None:
            await self._process.ask(KeeperQuestion(ask=ask, keeper=part[1], attempts={part[2]: 0}))

    async def availability(self, device: str) -> Availability:
        """Whether a node of the cluster that lives has what the device's tasks ask for, or may be
        brought up by them."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this launcher for Ray has no device {device!r}")
        why = _why_no_node(await self.nodes(), wanted)
        return Availability(not why, why)

    async def nodes(self) -> tuple[Mapping[str, float], ...]:
        """What each of the cluster's living nodes has, by Ray's names of it. Raises
        `SchedulerError`."""
        return (await self._process.ask(KeeperQuestion(ask=KeeperRequest.NODES))).nodes


def _why_no_node(nodes: Collection[Mapping[str, float]], device: RayDevice) -> str:
    if device.autoscaled:
        return ""
    asked = device.asked()
    for node in nodes:
        if all(node.get(name, 0.0) >= amount for name, amount in asked.items()):
            return ""
    named = ", ".join(f"{amount:g} {name}" for name, amount in asked.items())
    return f"no node of the Ray cluster has {named}"


def _outcome(told: AttemptAnswer | None, most: int) -> Outcome:
    if told is None or told.stage is TaskStage.UNKNOWN:
        return _GONE
    if told.stage is TaskStage.FAILED:
        return lost(told.reason, Fault.PLATFORM if told.ours else Fault.SCHEDULER)
    if told.stage is not TaskStage.DONE:
        return Outcome(_STATES[told.stage])
    content = told.content()
    return lost(too_long(most)) if content is None else found(content, most)
