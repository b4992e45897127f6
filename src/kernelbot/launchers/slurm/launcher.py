"""The launcher: what `Launcher` promises, in a cluster's commands."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import replace
from pathlib import Path

import structlog
from cachetools import FIFOCache

from kernelbot.domain.errors import PlatformError, SchedulerError
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.launchers.handles import Handle, check_job_id, job_name
from kernelbot.launchers.patience import RUNNING, WAITING, Patience
from kernelbot.launchers.results import found, lost, no_events, size_of, too_long
from kernelbot.launchers.slurm import nodes, warm
from kernelbot.launchers.slurm.commands import Ended, SlurmCommands, TooMuch
from kernelbot.launchers.slurm.progress import MOST_JOBS, ProgressFiles
from kernelbot.launchers.slurm.script import NO_HARNESS, SbatchRequest, make_submission
from kernelbot.launchers.slurm.seen import Seen
from kernelbot.launchers.slurm.settings import SlurmSettings
from kernelbot.launchers.slurm.shared_folder import CANCELLED, FAILED, OfferedJobs
from kernelbot.launchers.slurm.states import (
    SlurmJob,
    is_over_already,
    is_refusal,
    read_job,
    read_number,
    read_queue,
)
from kernelbot.launchers.slurm.submitting import submit
from kernelbot.launchers.slurm.warm import WarmNodes
from kernelbot.launchers.slurm.work_folder import WorkFolder, failure
from kernelbot.protocol import Fault, JobSpec, ProgressEvent, encode_payload

_REMEMBERED = 1000
_NODES_FOR_S = 1.0
_LAST_WORDS = 400
_UNREAD, _UNKNOWN, _MISSING = "unread", "unknown", "missing"
"""What may be amiss with a job: it can't be read, Slurm doesn't know it, or it has ended and left
no result."""
_STRANGE = lost("its handle is none of Slurm's")
_FORGOTTEN = lost("Slurm doesn't know it any more", Fault.SCHEDULER)
_CANCELLED = lost("it was cancelled")
_NO_FILE = "No such file or directory"
_MAY_SHOW_LATE = ("", "0")
"""Nothing, or the exit code of a job that has left a result: what isn't seen may show later."""
log = structlog.get_logger()


class SlurmLauncher:
    """What each method promises, `Launcher` says. `harness`: the file that the nodes run."""

    def __init__(self, settings: SlurmSettings, harness: Path) -> None:
        self._settings = settings
        self._commands = SlurmCommands(settings.prefix, settings.timeout_s)
        self._folder = WorkFolder(settings, harness, self._commands)
        self._asking = asyncio.Lock()
        self._nodes: tuple[float, list[nodes.Nodes]] = (float("-inf"), [])
        self._progress = ProgressFiles()
        self._warm = WarmNodes(settings, self._commands, self._queue)
        self._patience = Patience()
        self._several = FIFOCache[str, None](_REMEMBERED)
        """Attempts that have several jobs, or may have."""

    @property
    def traits(self) -> Traits:
        return self._settings.traits

    async def start(self) -> None:
        """Make the folders, bring the harness, remove what was left long ago."""
        await self._bring()

    async def _bring(self) -> str:
        """The harness's path below the work folder, where it is. Once a day what was left there is
        removed, as a worker may run for months."""
        harness = await self._folder.harness()
        await self._folder.clean_daily()
        self._warm.know(harness)
        return harness

    async def close(self) -> None:
        """Nothing of ours runs between two commands."""

    async def launch(self, spec: JobSpec) -> str:
        """Look for the job by its name, and submit it if there is none."""
        attempt = check_job_id(spec.job_id)
        device = self._settings.devices.get(spec.device.name)
        if device is None:
            raise PlatformError(f"This Slurm has no device {spec.device.name!r}.")
        harness = await self._bring()
        if self._settings.warm_idle_s:
            limit_s = math.ceil(spec.longest_s + self._settings.slack_s)
            if await self._warm.launch(spec, device, limit_s):
                self._begin(attempt)
            return str(Handle(warm.NUMBER, attempt))
        if (number := await self._find(attempt)) is None:
            payload = await asyncio.to_thread(encode_payload, spec)
            submission = make_submission(spec, payload, device, self._settings, harness)
            if submission.payload is not None:
                await self._folder.write(f"payloads/{attempt}", submission.payload.encode())
            number = await self._submit(attempt, submission)
            self._begin(attempt)
        return str(Handle(number, attempt))

    def _begin(self, attempt: str) -> None:
        self._progress.begin(attempt)
        self._patience.told(attempt, WAITING)

    async def _submit(self, attempt: str, submission: SbatchRequest) -> str:
        """The job's number. Unless Slurm tells it, or has refused the job, there may be one."""
        try:
            said = await submit(self._commands, submission.options, submission.script)
            return read_number(said)
        except SchedulerError as error:
            if not is_refusal(error):
                self._several[attempt] = None
            raise

    async def find(self, job_id: str) -> str | None:
        """Look for the job by its name, and among those that warm nodes take."""
        attempt = check_job_id(job_id)
        if (number := await self._find(attempt)) is not None:
            return str(Handle(number, attempt))
        is_offered = self._settings.warm_idle_s and (await self._warm.places()).has(attempt)
        return str(Handle(warm.NUMBER, attempt)) if is_offered else None

    async def _find(self, attempt: str) -> str | None:
        """The number of the attempt's job if it was submitted before."""
        ended = await self._must(
            "squeue",
            "--me",
            "--noheader",
            "--states=all",
            f"--name={job_name(attempt)}",
            "--format=%i|%T|%r|%j",
        )
        found = [j.number for j in read_queue(ended.text).values() if j.name == job_name(attempt)]
        return min(found, key=int, default=None)

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """None live: it comes with `poll`."""
        return no_events()

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """One look at the queue and one at the folder of those that have ended, for all of them."""
        jobs = {handle: Handle.parse(handle) for handle in handles}
        known = [(handle, job) for handle, job in jobs.items() if job is not None]
        seen = await self._look([job for _, job in known])
        for _, job in known:
            if len(seen.jobs_of(job.attempt)) > 1:
                self._several[job.attempt] = None
        begun = [job.attempt for _, job in known if seen.has_begun(job)]
        news, outcomes = await asyncio.gather(
            self._news(begun),
            asyncio.gather(
                *(self._outcome(job, seen, size_of(handle, most_bytes)) for handle, job in known)
            ),
        )
        found = {
            handle: replace(outcome, events=news.get(job.attempt, ()))
            for (handle, job), outcome in zip(known, outcomes, strict=True)
        }
        return {handle: found.get(handle, _STRANGE) for handle in handles}

    async def _look(self, jobs: Collection[Handle]) -> Seen:
        """At the queue, and at the folders of what has ended or is with warm nodes. What nodes have
        left is there also while the controller is away, as for its upgrade."""
        for_warm = any(map(warm.is_warm, jobs))
        queue, done, places = await asyncio.gather(
            self._queue_or_why_not(), self._done(), self._places(for_warm)
        )
        if isinstance(queue, SchedulerError):
            if not any(job.attempt in done for job in jobs):
                raise queue
            return Seen(None, done, places)
        if for_warm:
            await self._warm.see_to(places, queue)
        return Seen(queue, done, places)

    async def _places(self, for_warm: bool) -> OfferedJobs:
        return await self._warm.places() if for_warm else OfferedJobs()

    async def _queue_or_why_not(self) -> dict[str, SlurmJob] | SchedulerError:
        try:
            return await self._queue()
        except SchedulerError as error:
            return error

    async def _news(self, attempts: list[str]) -> dict[str, tuple[ProgressEvent, ...]]:
        """Progress of all of them; none is no reason to fail."""
        parts = [attempts[at : at + MOST_JOBS] for at in range(0, len(attempts), MOST_JOBS)]
        found = await asyncio.gather(*map(self._news_of, parts))
        return {attempt: events for each in found for attempt, events in each.items()}

    async def _news_of(self, attempts: list[str]) -> dict[str, tuple[ProgressEvent, ...]]:
        try:
            command = self._progress.command(attempts, self._path("jobs"))
            return self._progress.take((await self._commands.run(*command)).output)
        except SchedulerError as error:
            log.warning("progress_not_read", jobs=len(attempts), error=str(error))
            return {}

    async def _queue(self) -> dict[str, SlurmJob]:
        ended = await self._must(
            "squeue", "--me", "--noheader", "--states=all", "--format=%i|%T|%r|%j"
        )
        return read_queue(ended.text)

    async def _done(self) -> frozenset[str]:
        ended = await self._must("ls", "-1", "--", self._path("done"))
        return frozenset(ended.text.split())

    async def _outcome(self, job: Handle, seen: Seen, most: int) -> Outcome:
        """What fails about one job says nothing of the others: it is asked about again, for as long
        as a scheduler may be silent."""
        if job.attempt in seen.done:
            self._patience.told(job.attempt, RUNNING)  # it has begun, whatever can be had of it
        try:
            outcome = await self._told(job, seen, most)
        except SchedulerError as error:
            return self._patience.failing(job.attempt, _UNREAD, error, self.traits.silence_s)
        self._patience.over(job.attempt, _UNREAD)
        return self._patience.told(job.attempt, outcome)

    async def _told(self, job: Handle, seen: Seen, most: int) -> Outcome:
        if seen.queue is None and job.attempt not in seen.done:
            return self._patience.still(job.attempt)
        queue = seen.queue or {}
        if warm.is_warm(job):
            return await self._warm_outcome(job, seen.places, queue, most)
        if job.attempt not in seen.done:
            return await self._not_done(job, seen.job_of(job), most)
        if result := await self._result(job, most):
            return result
        if await self._code(job) in _MAY_SHOW_LATE and not self._is_final(job, _MISSING):
            return RUNNING
        return await self._no_result(job)

    async def _warm_outcome(
        self, job: Handle, places: OfferedJobs, queue: dict[str, SlurmJob], most: int
    ) -> Outcome:
        number = places.taken.get(job.attempt, warm.NUMBER)
        if job.attempt not in places.done:
            node = queue.get(number)
            if node is None and number != warm.NUMBER:
                node = await self._show(number)
            if outcome := self._warm.outcome(job, places, queue, node):
                return outcome
        if result := await self._result(job, most):
            return result
        return await self._warm_no_result(Handle(number, job.attempt), most)

    async def _warm_no_result(self, job: Handle, most: int) -> Outcome:
        """If its node has ended, it is Slurm that knows why, perhaps a little later."""
        code = await self._code(job)
        if code not in (CANCELLED, FAILED):
            node = await self._show(job.number)
            still = node is None or node.active is not None
            if (still or code in _MAY_SHOW_LATE) and not self._warm.is_final(job):
                return RUNNING
            if code == "0" and (result := await self._result(job, most)):
                return result  # it has come since it was looked for
            if node is not None and not still and not node.ended_by_itself:
                fault, reason = node.why_it_ended()
                return lost(reason, fault)
        return await self._no_result(job)

    async def _not_done(self, job: Handle, shown: SlurmJob | None, most: int) -> Outcome:
        shown = shown or await self._show(job.number)
        if shown is not None and shown.name != job_name(job.attempt):
            shown = None  # Slurm has begun to count anew
        if shown is not None:
            self._patience.over(job.number, _UNKNOWN)
            if (state := shown.active) is not None:
                self._patience.over(job.number, _MISSING)
                waits = state is JobState.WAITING
                return Outcome(state, reason=shown.why_it_waits if waits else "")
            self._patience.told(job.attempt, RUNNING)
        if result := await self._result(job, most):
            return result
        if shown is None or shown.ended_by_itself:
            if not self._is_final(job, _UNKNOWN if shown is None else _MISSING):
                return self._patience.still(job.attempt) if shown is None else RUNNING
            return _FORGOTTEN if shown is None else await self._no_result(job)
        fault, reason = shown.why_it_ended()
        return lost(reason, fault)

    def _is_final(self, job: Handle, trouble: str) -> bool:
        """Whether what isn't there now won't come: a shared file system shows it to others late."""
        return self._patience.since(job.number, trouble) >= self._settings.settle_s

    async def _show(self, number: str) -> SlurmJob | None:
        ended = await self._commands.run("scontrol", "show", "job", "--oneliner", number)
        return read_job(ended.code, ended.text, ended.errors)

    async def _result(self, job: Handle, most: int) -> Outcome | None:
        """None: there is none."""
        try:
            content = await self._shown("head", most + 1, f"jobs/{job.attempt}/result.json", most)
        except TooMuch:
            return lost(too_long(most))
        return None if content is None else found(content, most)

    async def _no_result(self, job: Handle) -> Outcome:
        """Why a job that came to its end has none."""
        code = await self._code(job)
        if code == str(NO_HARNESS):
            self._folder.doubt()
            return lost("the harness is gone from the cluster's work folder")
        if code == CANCELLED:
            return _CANCELLED
        if not code:
            shown = await self._show(job.number)
            code = "?" if shown is None else shown.reason
            return lost(
                f"it ended without a word ({code}); can its node write to "
                f"{self._settings.work_dir}, and is it mounted there?"
            )
        words = await self._end_of(f"jobs/{job.attempt}/log", _LAST_WORDS)
        last = words.splitlines()[-1] if words else "it said nothing"
        if code == FAILED:
            return lost(last)
        return lost(f"the harness ended with exit code {code[:10]} and no result: {last}")

    async def _code(self, job: Handle) -> str:
        """What the job's script, or its warm node, has written at its end; empty if nothing."""
        return await self._end_of(f"done/{job.attempt}", 20)

    async def _end_of(self, path: str, most: int) -> str:
        """The end of a file, without spaces around it; empty if there is none."""
        content = await self._shown("tail", most, path, most)
        return (content or b"").decode("utf-8", "replace").strip()

    async def _shown(self, command: str, count: int, path: str, most: int) -> bytes | None:
        """What head or tail shows of a file; None: there is none. Raises `SchedulerError` if that
        can't be told now, and `TooMuch`."""
        words = ("env", "LC_ALL=C", command, "-c", str(count), "--", self._path(path))
        ended = await self._commands.run(*words, max_bytes=most)
        if ended.code == 0:
            return ended.output
        if ended.code == 1 and _NO_FILE in ended.errors:
            return None
        raise failure(command, ended)

    async def cancel(self, handle: str) -> None:
        """By its name, as numbers may be given anew, and the attempt may have a second job."""
        if (job := Handle.parse(handle)) is None:
            return
        if warm.is_warm(job):
            await self._warm.withdraw(job.attempt)
            return
        await self._cancel(job.attempt)

    async def _cancel(self, attempt: str) -> None:
        ended = await self._commands.run("scancel", f"--name={job_name(attempt)}")
        if ended.code != 0 and not is_over_already(ended.errors):
            raise SchedulerError(f"Slurm didn't cancel the job: {ended.errors[-_LAST_WORDS:]}")

    async def forget(self, handle: str) -> None:
        """Remove the job's folder and what says that it has ended."""
        if (job := Handle.parse(handle)) is None:
            return
        for name in (job.number, job.attempt):
            self._patience.forget(name)
        self._progress.forget(job.attempt)
        if warm.is_warm(job):
            await self._warm.forget(job.attempt)
            return
        if job.attempt in self._several:
            await self._cancel(job.attempt)
        await self._folder.forget(job.attempt, is_taken=job.attempt in self._several)
        self._several.pop(job.attempt, None)

    async def availability(self, device: str) -> Availability:
        """Whether a node of the device's partition could take a job."""
        wanted = self._settings.devices.get(device)
        if wanted is None:
            return Availability(False, f"this Slurm has no device {device!r}")
        async with self._asking:  # once for all devices
            asked_at, found = self._nodes
            if time.monotonic() - asked_at > _NODES_FOR_S:
                ended = await self._must("sinfo", "--noheader", f"--format={nodes.FORMAT}")
                found = nodes.read_nodes(ended.text)
                self._nodes = (time.monotonic(), found)
        return nodes.availability(found, wanted)

    async def _must(self, *words: str, stdin: bytes = b"") -> Ended:
        """Raises `SchedulerError` if it fails."""
        ended = await self._commands.run(*words, stdin=stdin)
        if ended.code != 0:
            raise failure(words[0], ended)
        return ended

    def _path(self, name: str = "") -> str:
        return self._folder.path(name)
