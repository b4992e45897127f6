"""The launcher: what `Launcher` promises, in GitHub's requests."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Collection

import structlog

from kernelbot.domain.errors import KernelbotError, PlatformError, SchedulerError
from kernelbot.launchers.base import Availability, JobState, Outcome, Traits
from kernelbot.launchers.github.answers import Run
from kernelbot.launchers.github.api import PAGE, GithubApi
from kernelbot.launchers.github.ends import why_no_result
from kernelbot.launchers.github.inputs import make_inputs
from kernelbot.launchers.github.settings import GithubSettings
from kernelbot.launchers.handles import Handle, check_job_id, job_name
from kernelbot.launchers.links import Links
from kernelbot.launchers.rest.client import TooLarge
from kernelbot.launchers.rest.listing import Listing
from kernelbot.launchers.rest.patience import Patience
from kernelbot.launchers.rest.zipped import BadArchive, read_file
from kernelbot.launchers.results import MAX_RESULT_BYTES, lost, no_events, read_result
from kernelbot.protocol import Fault, JobSpec, ProgressEvent

ARTIFACT = "kernelbot-result"
RESULT = "result.json"
_ONE_BY_ONE = 50
"""Runs asked for singly, of those that the list doesn't show, in one poll."""
_LEFT_OVER = 20
"""Runs deleted late, in one check."""
_MOST_LEFT_OVER = 1000
_LOOK_S = 0.25
_STRANGE = lost("its handle is none of GitHub's")
_FORGOTTEN = lost("GitHub doesn't know it any more", Fault.SCHEDULER)
_STILL = Outcome(JobState.RUNNING)
log = structlog.get_logger()


class GithubLauncher:
    """See `Launcher` for what each method promises. `links` None: what a run needs must fit into
    its inputs, and the harness comes from the repository."""

    def __init__(self, settings: GithubSettings, links: Links | None) -> None:
        self._settings = settings
        self._links = links
        self._api = GithubApi(settings)
        self._runs = Listing(self._api.runs, PAGE, self._api.pause_s)
        self._accepted: set[str] = set()
        """Attempts that GitHub has accepted without telling their runs' numbers."""
        self._patience = Patience()
        self._left_over: deque[str] = deque(maxlen=_MOST_LEFT_OVER)
        """Numbers of runs to be deleted once they have ended."""

    @property
    def traits(self) -> Traits:
        """As configured."""
        return self._settings.traits

    async def start(self) -> None:
        """Nothing: whether GitHub can be reached is told by `availability`."""

    async def close(self) -> None:
        """End the connections."""
        await self._api.close()

    async def launch(self, spec: JobSpec) -> str:
        """Look for a run of the attempt's name, and dispatch one if there is none."""
        attempt = check_job_id(spec.job_id)
        if spec.device.name not in self._settings.devices:
            raise PlatformError(f"This launcher has no device {spec.device.name!r}.")
        number = await self._runs.number_of(job_name(attempt))
        if number is None and attempt not in self._accepted:
            number = await self._dispatch(spec)
        if number is None:
            number = await self._appearing(attempt)
        self._accepted.discard(attempt)
        return str(Handle(str(number), attempt))

    async def _dispatch(self, spec: JobSpec) -> int | None:
        """The run's number, if GitHub tells it. After a failure, too, there may be a run."""
        device = self._settings.devices[spec.device.name]
        inputs = await asyncio.to_thread(make_inputs, spec, self._settings, self._links)
        try:
            number = await self._api.dispatch(device.workflow, inputs)
        except SchedulerError:
            if (number := await self._look(spec.job_id)) is None:
                raise
            return number
        if number is None:
            self._accepted.add(spec.job_id)
        return number

    async def _appearing(self, attempt: str) -> int:
        """The number of a run that GitHub has accepted."""
        if (number := await self._look(attempt)) is None:
            raise SchedulerError("GitHub has accepted the job, and shows no run of it yet.")
        return number

    async def _look(self, attempt: str) -> int | None:
        """The number of the attempt's run, as soon as it shows; None: it doesn't."""
        ends_at = time.monotonic() + self._settings.appear_s
        while True:
            number = await self._runs.number_of(job_name(attempt))
            if number is not None or time.monotonic() >= ends_at:
                return number
            await asyncio.sleep(min(_LOOK_S * 4, max(self._settings.appear_s / 8, 0.01)))

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None through GitHub: nodes that reach us send theirs."""
        return no_events()

    async def poll(self, handles: Collection[str]) -> dict[str, Outcome]:
        """The list of runs, as far as the jobs reach back; then the results of those that ended."""
        jobs = {handle: job for handle in handles if (job := Handle.of(handle))}
        shown = await self._runs.states({int(job.number) for job in jobs.values()})
        missing = [job.number for job in jobs.values() if int(job.number) not in shown]
        single = await asyncio.gather(*map(self._one, missing[:_ONE_BY_ONE]))
        runs = {**{str(number): run for number, run in shown.items()}, **dict(single)}
        outcomes = await asyncio.gather(*(self._outcome(job, runs) for job in jobs.values()))
        found = dict(zip(jobs, outcomes, strict=True))
        return {handle: found.get(handle, _STRANGE) for handle in handles}

    async def _one(self, number: str) -> tuple[str, Run | None]:
        return number, await self._api.run(number)

    async def _outcome(self, job: Handle, runs: dict[str, Run | None]) -> Outcome:
        if job.number not in runs:
            return _STILL  # it is asked for another time
        run = runs[job.number]
        if run is None:
            return _FORGOTTEN if self._settled(job) else _STILL
        if run.name != job_name(job.attempt):
            return lost(f"run {job.number} of {self._settings.repo} isn't this job's")
        if run.state is not None:
            return Outcome(run.state)
        try:
            return await self._end(job, run)
        except KernelbotError as error:
            if self._patience.since(job.number) < self._settings.traits.silence_s:
                log.warning("result_not_fetched", run=job.number, error=str(error))
                return _STILL
            return lost(str(error), error.fault)

    async def _end(self, job: Handle, run: Run) -> Outcome:
        """Of a run that has ended."""
        artifacts = [a for a in await self._api.artifacts(job.number) if a.name == ARTIFACT]
        if not artifacts:
            if run.conclusion in ("success", "failure") and not self._settled(job):
                return _STILL
            return await why_no_result(self._api, run)
        try:
            archive = await self._api.download(artifacts[0])
        except TooLarge as error:
            return lost(f"its result can't be read: {error}")
        if archive is None or artifacts[0].expired:
            return lost("its result has expired at GitHub", Fault.SCHEDULER)
        return await asyncio.to_thread(_unpack, archive, job.attempt)

    def _settled(self, job: Handle) -> bool:
        """Whether what doesn't show now won't."""
        return self._patience.since(job.number) >= self._settings.settle_s

    async def cancel(self, handle: str) -> None:
        """GitHub interrupts the step, and kills it a few seconds later."""
        if (job := Handle.of(handle)) is not None:
            await self._api.cancel(job.number)

    async def forget(self, handle: str) -> None:
        """Delete the run with its inputs, log and artifact; later, if it hasn't ended."""
        if (job := Handle.of(handle)) is None:
            return
        self._patience.forget(job.number)
        self._runs.forget(job_name(job.attempt))
        if not await self._api.delete(job.number):
            self._left_over.append(job.number)

    async def availability(self, device: str) -> Availability:
        """Whether the workflow is there, and runners with the device's label, as far as our token
        may see them."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this launcher has no device {device!r}")
        await self._delete_left_over()
        why = await self._api.why_not(wanted.workflow) or await self._no_runner(wanted.label)
        if not why and self._settings.queue_limit is not None:
            waiting = await self._api.waiting()
            if waiting >= self._settings.queue_limit:
                why = f"{waiting} runs wait at GitHub already"
        return Availability(not why, why)

    async def _no_runner(self, label: str) -> str:
        """Why no runner takes jobs of the label; empty if one may. A label that none has may be
        that of an organisation's runner, which we aren't shown."""
        runners = await self._api.runners()
        mine = [r for r in runners or () if any(label == each.name for each in r.labels)]
        if not mine or any(runner.status == "online" for runner in mine):
            return ""
        return f"all runners with the label {label} are offline: " + ", ".join(
            runner.name for runner in mine[:5]
        )

    async def _delete_left_over(self) -> None:
        for _ in range(min(_LEFT_OVER, len(self._left_over))):
            number = self._left_over.popleft()
            if not await self._api.delete(number):
                self._left_over.append(number)


def _unpack(archive: bytes, attempt: str) -> Outcome:
    try:
        content = read_file(archive, RESULT, MAX_RESULT_BYTES)
    except BadArchive as error:
        return lost(f"its result can't be read: {error}")
    if content is None:
        return lost(f"its artifact has no {RESULT}")
    return read_result(content, attempt)
