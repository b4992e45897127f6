"""The launcher: what `Launcher` promises, in GitHub's requests."""

import asyncio
import time

from kernelbot.launchers.base import Availability, Outcome
from kernelbot.launchers.github.answers import GithubRun, GithubRunner
from kernelbot.launchers.github.api import MOST_RUNNERS, PAGE, GithubApi
from kernelbot.launchers.github.ends import is_final, why_no_result
from kernelbot.launchers.github.inputs import make_inputs
from kernelbot.launchers.github.left_over import LeftOverRuns
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.handles import Handle
from kernelbot.launchers.links import Links
from kernelbot.launchers.rest.client import TooLarge
from kernelbot.launchers.rest.launcher import RestLauncher, RestRules
from kernelbot.launchers.rest.listing import JobFinder
from kernelbot.launchers.results import found, lost, too_long, zip_size
from kernelbot.protocol import Fault, JobSpec

ARTIFACT = "kernelbot-result"
RESULT = "result.json"
_SEEN_FOR_S = 5.0
_PAGE_OF_RUNNERS_S = 15.0
"""How long a look at the runners is valid for each page of them, if there are several."""


class GithubLauncher(RestLauncher[GithubRun]):
    """What each method promises, `Launcher` says. `links` None: what a run needs must fit into
    its inputs, and the harness comes from the repository."""

    def __init__(self, settings: GithubSettings, links: Links | None) -> None:
        self._settings = settings
        self._links = links
        self._api = GithubApi(settings)
        self._left_over = LeftOverRuns(self._api.delete)
        self._looking = asyncio.Lock()
        self._seen: tuple[float, list[GithubRunner]] = (float("-inf"), [])
        """Until when they needn't be looked at, and the runners that we are shown."""
        super().__init__(
            "GitHub",
            settings.devices,
            RestRules(settings.traits, settings.settle_s, settings.appear_s),
            JobFinder(self._api.runs, PAGE, self._api.pause_s),
            self._api,
        )

    async def close(self) -> None:
        """End the connections, and what was still to be deleted."""
        await self._left_over.close()
        await super().close()

    async def _create(self, spec: JobSpec) -> int | None:
        device = self._settings.devices[spec.device.name]
        inputs = await asyncio.to_thread(make_inputs, spec, self._settings, self._links)
        return await self._api.dispatch(device.workflow, inputs)

    async def _show(self, number: str) -> GithubRun | None:
        return await self._api.run(number)

    async def _end(self, handle: Handle, job: GithubRun, most: int) -> Outcome | None:
        artifacts = await self._api.artifacts(handle.number)
        artifact = next((each for each in artifacts if each.name == ARTIFACT), None)
        if artifact is None:
            return await why_no_result(self._api, job) if is_final(job) else None
        try:
            archive = (
                None if artifact.expired else await self._api.download(artifact, zip_size(most))
            )
        except TooLarge:
            return lost(too_long(most))
        if archive is None:
            return lost("its result has expired at GitHub", Fault.SCHEDULER)
        return found(archive, most, RESULT)

    async def _why_no_result(self, job: GithubRun) -> Outcome:
        return await why_no_result(self._api, job)

    async def cancel(self, handle: str) -> None:
        """GitHub interrupts the step, and kills it a few seconds later."""
        if (known := Handle.parse(handle)) is not None:
            await self._api.cancel(known.number)

    async def forget(self, handle: str) -> None:
        """Delete the run with its inputs, log and artifact; later, if it hasn't ended."""
        if (known := Handle.parse(handle)) is None:
            return
        self._forget(known)
        await self._left_over.delete(known.number)

    async def availability(self, device: str) -> Availability:
        """Whether the workflow is there, and runners with the device's label, as far as our token
        may see them."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this launcher has no device {device!r}")
        if why := self._api.used_up():
            return Availability(False, why)
        why = await self._api.why_not(wanted.workflow) or await self._no_runner(wanted.label)
        if not why and self._settings.queue_limit is not None:
            waiting = await self._api.waiting()
            if waiting >= self._settings.queue_limit:
                why = f"{waiting} runs wait at GitHub already"
        return Availability(not why, why)

    async def _no_runner(self, label: str) -> str:
        """Why no runner takes jobs of the label; empty if one may. A label that none has may be
        that of an organisation's runner, which we aren't shown."""
        async with self._looking:  # once for all devices
            valid_until, runners = self._seen
            if time.monotonic() > valid_until:
                runners = await self._api.runners() or []
                pages = len(runners) // PAGE + 1
                valid_s = pages * _PAGE_OF_RUNNERS_S if pages > 1 else _SEEN_FOR_S
                self._seen = (time.monotonic() + valid_s, runners)
        if len(runners) >= MOST_RUNNERS:
            return ""  # there may be more
        mine = [r for r in runners if any(label == each.name for each in r.labels)]
        if not mine or any(runner.status == "online" for runner in mine):
            return ""
        names = ", ".join(runner.name for runner in mine[:5])
        return f"all runners with the label {label} are offline: {names}"
