"""The launcher: what `Launcher` promises, in GitHub's requests."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

import structlog

from kernelbot.domain.errors import KernelbotError
from kernelbot.launchers.base import Availability, Outcome
from kernelbot.launchers.github.answers import GithubJob, GithubRun, GithubRunner
from kernelbot.launchers.github.api import MOST_RUNNERS, PAGE, GithubApi
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.handles import Handle
from kernelbot.launchers.links import Links
from kernelbot.launchers.rest.carried import carry
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


MAX_PAYLOAD = 60_000
"""Characters. GitHub takes 65,535 for all inputs together."""


def make_inputs(spec: JobSpec, settings: GithubSettings, links: Links | None) -> dict[str, str]:
    """The inputs of the attempt's run. Raises `JobRefused` if they can't hold the job, and its
    node can't fetch it."""
    most_s = spec.longest_s + settings.slack_s
    carried = carry(
        spec,
        links,
        max_payload=MAX_PAYLOAD,
        wait_s=settings.traits.wait_s,
        most_s=most_s,
        scheduler="GitHub",
    )
    return {
        "attempt": spec.job_id,
        "runner": settings.devices[spec.device.name].label,
        "timeout_minutes": str(math.ceil(most_s / 60)),
        "payload": carried.payload,
        "payload_url": carried.payload_url,
        "events_url": carried.links.events_url,
        "harness_url": carried.links.harness_url,
        "harness_sha256": carried.links.harness_sha256,
        "sandbox": "optional" if settings.no_sandbox_ok else "required",
    }


JUDGE_STEP = "judge"
RESULT_STEP = "result"
_BY_ITSELF = ("success", "failure")
_REASONS = {
    "cancelled": (  # also said of a job that takes longer than its `timeout-minutes`
        Fault.SCHEDULER,
        "GitHub cancelled it: somebody asked, or judging took longer than all limits together",
    ),
    "timed_out": (
        Fault.PLATFORM,
        "GitHub ended it: judging took longer than all limits together",
    ),
    "startup_failure": (Fault.PLATFORM, "GitHub couldn't start it: is its workflow file valid?"),
}


def is_final(run: GithubRun) -> bool:
    """Whether an artifact can't be on its way."""
    return run.conclusion not in _BY_ITSELF


async def why_no_result(api: GithubApi, run: GithubRun) -> Outcome:
    """The outcome of a run that has ended and left no artifact."""
    conclusion = run.conclusion or "of no conclusion"
    if conclusion in _REASONS:
        fault, reason = _REASONS[conclusion]
        return lost(reason, fault)
    if is_final(run):
        return lost(f"GitHub says that it is {conclusion}", Fault.SCHEDULER)
    return _of_jobs(await api.jobs(str(run.id)))


def _of_jobs(jobs: list[GithubJob]) -> Outcome:
    job = jobs[0] if jobs else GithubJob()
    if not job.runner_name:
        return lost("GitHub ended it before any runner had begun it", Fault.SCHEDULER)
    where = f"runner {job.runner_name[:80]!r}"
    ends = {step.name: step.conclusion for step in job.steps}
    ended = ends.get(JUDGE_STEP)
    if ended == "skipped":
        return lost(f"a step before the judge's failed on {where}")
    if ends.get(RESULT_STEP) == "failure":  # it is `success` also if there is no file
        return lost(
            f"GitHub didn't take the result of {where}: is the account's storage for artifacts "
            "full?",
            Fault.SCHEDULER,
        )
    if ended in ("success", "failure"):
        return lost(f"the judge ended without a result on {where}; the run's log at GitHub has why")
    return lost(f"GitHub lost {where} in the middle", Fault.SCHEDULER)


_FIRST_PAUSE_S = 15.0
_LONGEST_PAUSE_S = 3600.0
_MOST = 1000
log = structlog.get_logger()


class LeftOverRuns:
    """Tries each again in a task of its own, after a pause that doubles, up to an hour. `delete`
    says whether a run is gone. Of more than a thousand the oldest are given up."""

    def __init__(
        self, delete: Callable[[str], Awaitable[bool]], first_pause_s: float = _FIRST_PAUSE_S
    ) -> None:
        self._delete = delete
        self._first_pause_s = first_pause_s
        self._next: dict[str, tuple[float, float]] = {}
        """When each is tried again, and the pause after that, by its number."""
        self._trying: asyncio.Task[None] | None = None

    async def delete(self, number: str) -> None:
        """Delete a run now; if it can't be, also because this raises, it is tried again."""
        self._put_off(number, self._first_pause_s)
        if self._trying is None or self._trying.done():
            self._trying = asyncio.create_task(self._try())
        if await self._delete(number):
            self._next.pop(number, None)

    async def close(self) -> None:
        """Give up what is left. Idempotent."""
        trying, self._trying = self._trying, None
        if trying is not None:
            trying.cancel()
            await asyncio.wait([trying])

    async def _try(self) -> None:
        while self._next:
            await asyncio.sleep(self._first_pause_s)
            for number, (due_at, pause_s) in list(self._next.items()):
                if time.monotonic() >= due_at:
                    await self._try_one(number, pause_s)

    async def _try_one(self, number: str, pause_s: float) -> None:
        try:
            gone = await self._delete(number)
        except KernelbotError as error:
            log.warning("run_not_deleted", run=number, error=str(error))
            gone = False
        except Exception as error:  # the others must be tried all the same
            log.error("run_not_deleted", run=number, exc_info=error)
            gone = False
        if gone:
            self._next.pop(number, None)
        elif number in self._next:
            self._put_off(number, pause_s)

    def _put_off(self, number: str, pause_s: float) -> None:
        if number not in self._next and len(self._next) >= _MOST:
            del self._next[next(iter(self._next))]
        longer_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        self._next[number] = (time.monotonic() + pause_s, longer_s)
