"""Warm nodes: jobs wait in the work folder, and nodes that Slurm has started take them in turn.

Such a job's handle has the number 0: which node takes it isn't known before. The launcher's part is
that as many nodes are pending or free as jobs wait; nodes end by themselves.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping

import structlog

from kernelbot.domain.errors import JobRefused, SchedulerError
from kernelbot.launchers.base import JobState, Outcome
from kernelbot.launchers.handles import Handle
from kernelbot.launchers.results import lost
from kernelbot.launchers.slurm import shared_folder
from kernelbot.launchers.slurm.commands import Ended, SlurmCommands
from kernelbot.launchers.slurm.settings import SlurmDevice, SlurmSettings
from kernelbot.launchers.slurm.shared_folder import Offered, OfferedJobs
from kernelbot.launchers.slurm.states import SlurmJob
from kernelbot.launchers.slurm.submitting import submit
from kernelbot.launchers.slurm.warm_script import is_node, make_node, needs_of, node_name
from kernelbot.protocol import Fault, JobSpec, to_wire

NUMBER = "0"
_READY = ("PENDING", "CONFIGURING", "RUNNING")
_MOST_NODES = 3
_STUCK_S = 300.0
_GONE = lost("it is gone from the work folder", Fault.SCHEDULER)
_OTHERS = lost("the platform was changed while it waited, and no node takes it any more")
_NEVER_TAKEN = lost(
    "no node of Slurm's that was started for it has taken it; can nodes read and write the work "
    "folder, and is it mounted there?"
)
log = structlog.get_logger()

Queue = Callable[[], Awaitable[dict[str, SlurmJob]]]


def is_warm(job: Handle) -> bool:
    """Whether a job was left to whichever node takes it."""
    return job.number == NUMBER


class WarmNodes:
    """Offers jobs, and sees to the nodes. `queue`: what Slurm shows of ours now."""

    def __init__(self, settings: SlurmSettings, commands: SlurmCommands, queue: Queue) -> None:
        self._settings = settings
        self._commands = commands
        self._queue = queue
        self._devices: dict[str, SlurmDevice] = {}
        """Those that our jobs name, by what they need."""
        self._harness = ""
        self._offering = asyncio.Lock()
        self._nodes_for: dict[str, int] = {}
        """For how many of the jobs that wait a node was started."""
        self._hopeless: dict[str, Outcome] = {}
        """Jobs that wait in vain, and why."""
        self._missing_since: dict[str, float] = {}
        self._free_since: dict[str, float] = {}
        """Nodes that run and take nothing although something waits."""

    def know(self, harness: str) -> None:
        """The harness is at this path below the work folder."""
        if harness != self._harness:
            devices = self._settings.devices.values()
            self._devices = {needs_of(each, self._settings, harness): each for each in devices}
            self._harness = harness

    async def places(self) -> OfferedJobs:
        """Where all jobs are. Raises `SchedulerError`."""
        return shared_folder.read_offered_jobs((await self._shell(shared_folder.LOOK)).text)

    async def launch(self, spec: JobSpec, device: SlurmDevice, limit_s: int) -> bool:
        """Offer a job to the nodes; false if it was before. Raises `JobRefused`, `SchedulerError`;
        then it isn't offered."""
        needs = needs_of(device, self._settings, self._harness)
        offered = Offered(needs, limit_s, spec.job_id)
        if (await self.places()).has(spec.job_id):
            return False  # `poll` sees to its node
        content = await asyncio.to_thread(lambda: json.dumps(to_wire(spec)).encode())
        await self._shell(shared_folder.OFFER, offered.name, str(len(content)), stdin=content)
        try:
            await self._provide(needs, spec.job_id)
        except SchedulerError:
            await self.withdraw(spec.job_id)
            await self.forget(spec.job_id)
            raise
        return True

    async def withdraw(self, attempt: str) -> None:
        """Nobody begins the job from now on, and whoever has begun it stops."""
        await self._shell(shared_folder.WITHDRAW, attempt)

    async def forget(self, attempt: str) -> None:
        """Remove all that was kept of it."""
        for known in (self._nodes_for, self._hopeless, self._missing_since):
            known.pop(attempt, None)
        await self._shell(shared_folder.FORGET, attempt)

    async def _provide(self, needs: str, launched: str = "") -> None:
        """Start the nodes that jobs of these needs lack. A job whose own time limit is refused
        waits in vain, and the others have their nodes. `launched`: the attempt whose refusal is
        raised, as is what holds for all."""
        async with self._offering:  # one after the other, or both would start the same one
            places, queue = await self.places(), await self._queue()
            for job in self._lacking(needs, places, queue):
                if self._nodes_for.get(job.attempt, 0) >= _MOST_NODES:
                    self._hopeless[job.attempt] = _NEVER_TAKEN
                    continue
                try:
                    await self._start_node(job, self._devices[needs])
                except JobRefused as error:
                    if job.attempt == launched:
                        raise
                    self._hopeless[job.attempt] = lost(str(error), Fault.SCHEDULER)

    def _lacking(
        self, needs: str, places: OfferedJobs, queue: Mapping[str, SlurmJob]
    ) -> list[Offered]:
        """Jobs beyond those that pending and free nodes will take."""
        jobs = [
            job
            for job in places.waiting.values()
            if job.needs == needs and job.attempt not in self._hopeless
        ]
        jobs.sort(key=lambda job: self._nodes_for.get(job.attempt, 0))
        nodes = [node for node in queue.values() if node.name == node_name(needs)]
        busy = places.busy
        ready = sum(1 for node in nodes if node.state in _READY and node.number not in busy)
        return jobs[: max(0, len(jobs) - ready)]

    async def _start_node(self, job: Offered, device: SlurmDevice) -> None:
        node = make_node(job.needs, job.limit_s, device, self._settings, self._harness)
        nothing_own = job.limit_s <= self._settings.warm_limit_s
        await submit(self._commands, node.options, node.script, all_alike=nothing_own)
        self._nodes_for[job.attempt] = self._nodes_for.get(job.attempt, 0) + 1

    async def see_to(self, places: OfferedJobs, queue: Mapping[str, SlurmJob]) -> None:
        """Start nodes for jobs that wait for none, and end those that do nothing. What fails is
        tried again at the next look."""
        for needs in {job.needs for job in places.waiting.values()} & self._devices.keys():
            lacking = self._lacking(needs, places, queue)
            try:
                if lacking:
                    await self._provide(needs)
            except SchedulerError as error:
                log.warning("no_node_started", waiting=len(lacking), error=str(error))
        with contextlib.suppress(SchedulerError):  # the next look shows the same
            if self._surplus(places, queue):
                await self._withdraw_nodes()
            for number in self._stuck(places, queue):
                log.warning("node_takes_nothing", slurm=number)
                await self._commands.run("scancel", number)

    async def _withdraw_nodes(self) -> None:
        """Whatever node is in the queue was submitted for a job that was offered before, so this
        looks at the queue first."""
        async with self._offering:
            queue = await self._queue()
            surplus = self._surplus(await self.places(), queue)
            if surplus:
                await self._commands.run("scancel", "--state=PENDING", *surplus)

    def _surplus(self, places: OfferedJobs, queue: Mapping[str, SlurmJob]) -> list[str]:
        """Pending nodes for whose jobs nobody waits any more: others have taken them."""
        found: list[str] = []
        for needs in self._devices:
            name = node_name(needs)
            pending = [n.number for n in queue.values() if (n.name, n.state) == (name, "PENDING")]
            waiting = sum(1 for job in places.waiting.values() if job.needs == needs)
            found += sorted(pending, key=int)[waiting:]
        return found

    def _stuck(self, places: OfferedJobs, queue: Mapping[str, SlurmJob]) -> list[str]:
        """Nodes that have taken nothing for minutes in which something waited for them."""
        wanted = {node_name(job.needs) for job in places.waiting.values()}
        free = [
            job.number
            for job in queue.values()
            if job.name in wanted and job.state == "RUNNING" and job.number not in places.busy
        ]
        now_s = time.monotonic()
        self._free_since = {number: self._free_since.get(number, now_s) for number in free}
        return [n for n, since_s in self._free_since.items() if now_s - since_s > _STUCK_S]

    def outcome(
        self, job: Handle, places: OfferedJobs, queue: Mapping[str, SlurmJob], node: SlurmJob | None
    ) -> Outcome | None:
        """The outcome of a job that hasn't ended; None if it should have a result, which may show
        late. `node`: what Slurm says of the one that has it."""
        if (offered := places.waiting.get(job.attempt)) is not None:
            return self._waits(offered, queue)
        if job.attempt not in places.taken:
            return _GONE if self.is_final(job) else Outcome(JobState.WAITING)
        if node is None or not is_node(node.name):
            return _GONE if self.is_final(job) else Outcome(JobState.RUNNING)
        if (state := node.active) is not None:
            self._missing_since.pop(job.attempt, None)
            return Outcome(state)
        return None

    def _waits(self, offered: Offered, queue: Mapping[str, SlurmJob]) -> Outcome:
        self._missing_since.pop(offered.attempt, None)
        name = node_name(offered.needs)
        nodes = [job for job in queue.values() if job.name == name and job.active is not None]
        if offered.needs not in self._devices and not nodes:
            return _OTHERS
        whys = [job.why_it_waits for job in nodes if job.active is JobState.WAITING]
        waiting = Outcome(JobState.WAITING, reason=next(iter(whys), ""))
        return self._hopeless.get(offered.attempt, waiting)

    def is_final(self, job: Handle) -> bool:
        """Whether what isn't there now won't come: a shared file system shows it to others late."""
        since_s = self._missing_since.setdefault(job.attempt, time.monotonic())
        return time.monotonic() - since_s >= self._settings.settle_s

    async def _shell(self, script: str, *words: str, stdin: bytes = b"") -> Ended:
        """Run one of `shared_folder`'s. Raises `SchedulerError` if it fails."""
        command = ("sh", "-c", script, "sh", self._settings.work_dir, *words)
        ended = await self._commands.run(*command, stdin=stdin)
        if ended.code != 0:
            said = ended.errors[-400:] or f"exit code {ended.code}"
            raise SchedulerError(f"The work folder {self._settings.work_dir}: {said}")
        return ended
