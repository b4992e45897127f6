"""The worker: claims runs, has them judged, recovers what others left behind."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog

from kernelbot.domain.errors import Unavailable
from kernelbot.launchers.base import Launcher
from kernelbot.platform.notifications import NotificationChannel, Waker
from kernelbot.runs.builds.reports import IdleReports
from kernelbot.runs.builds.service import Builds
from kernelbot.runs.claims import Claim
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.lifecycle import RunLifecycle
from kernelbot.worker.building import Workshop
from kernelbot.worker.checking import Checks
from kernelbot.worker.following import AttemptFollower, FollowingStage
from kernelbot.worker.idle import IdlePlace, IdlePreflighter, IdleTime
from kernelbot.worker.own_beats import OwnBeats
from kernelbot.worker.reading import ResultReader
from kernelbot.worker.retries import (
    cancel_until_ended,
    set_or_after,
    until_available,
    until_set,
)
from kernelbot.worker.slots import DeviceSlots
from kernelbot.worker.tally import Tally
from kernelbot.worker.unended import UnendedJobs
from kernelbot.worker.watching import Watcher

T = TypeVar("T")
_POLL_S = 1.0
"""How long a free worker waits at most before it asks for a run: a pause between two attempts ends
without an announcement."""
log = structlog.get_logger()


@dataclass(frozen=True)
class WorkerRules:
    """Rhythm, how long running jobs may go on after the worker was told to stop, and after how
    long a silent worker counts as dead."""

    heartbeat_s: float = 2.0
    sweep_s: float = 5.0
    grace_s: float = 10.0
    stale_s: float = 30.0


@dataclass(frozen=True)
class Building:
    """What is needed to build before runs are launched. `image`: by the device's name, what names
    its builds' place, see `build_key`."""

    builds: Builds
    images: Mapping[str, str]
    reports: IdleReports
    idle_builder: DeviceConfig | None
    """Whose idle time `reports` are made in; None: nobody's."""
    is_measured: Callable[[], bool]
    """Whether somebody measures on this machine now, in whatever process."""


@dataclass(frozen=True)
class WorkerIdentity:
    """Who this worker is. `gone` picks those owners that are known to be dead."""

    owner: str
    node: str
    gone: Callable[[list[str]], list[str]]


class Worker:
    """Judges the runs of the devices whose launchers it was given."""

    def __init__(
        self,
        judging: RunLifecycle,
        launchers: dict[str, Launcher],
        devices: tuple[DeviceConfig, ...],
        turns: NotificationChannel,
        cancelled: NotificationChannel,
        identity: WorkerIdentity,
        rules: WorkerRules,
        building: Building | None = None,
    ) -> None:
        """`building`: None: nothing is built before runs are launched."""
        self._judging = judging
        self._launchers = launchers
        self._devices = tuple(d for d in devices if launchers.keys() & set(d.launchers))
        self._watchers = {name: Watcher(name, each) for name, each in launchers.items()}
        self._checks = Checks(launchers, self._devices, lambda name: self._watchers[name].crashing)
        self._remote = {name for name, launcher in launchers.items() if launcher.traits.remote}
        self._unended = {name: UnendedJobs(name, each) for name, each in launchers.items()}
        self._slots = {d.spec.name: DeviceSlots(d.slots) for d in self._devices}
        self._turns = turns
        self._cancelled = cancelled
        self._identity = identity
        self._rules = rules
        self._beats = OwnBeats(rules.stale_s)
        self._reader = ResultReader()
        self._tally = Tally()
        self._idle = IdleTime()
        self._preflighter = None if building is None else self._make_preflighter(building)
        self._workshops = {} if building is None else self._make_workshops(building, devices)
        self._following: dict[int, tuple[AttemptFollower, asyncio.Task[None]]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._interrupted: set[int] = set()
        """Attempts whose tasks were cancelled: a second time would interrupt what they do to leave
        no job behind."""
        self._stopping = False

    def _make_workshops(
        self, building: Building, devices: tuple[DeviceConfig, ...]
    ) -> dict[str, Workshop]:
        """By the devices whose files are built on another one."""
        by_name = {device.spec.name: device for device in devices}
        return {
            device.spec.name: Workshop(
                building.builds,
                self._judging,
                self._reader,
                by_name[device.builds_on],
                building.images[device.spec.name],
                self._launchers,
                self._watchers,
                self._unended,
                self._checks,
                self._slots.setdefault(
                    device.builds_on, DeviceSlots(by_name[device.builds_on].slots)
                ),
                self._idle,
            )
            for device in self._devices
            if device.builds_on is not None
        }

    def _make_preflighter(self, building: Building) -> IdlePreflighter | None:
        device = building.idle_builder
        if device is None or not building.reports.devices:
            return None
        here = (
            name
            for name in device.launchers
            if name in self._launchers and not self._launchers[name].traits.remote
        )
        name = next(here, None)
        if name is None:
            return None
        launcher, watcher = self._launchers[name], self._watchers[name]
        place = IdlePlace(
            device, name, launcher, watcher, self._reader, self._checks, building.is_measured
        )
        return IdlePreflighter(building.reports, place, self._idle)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; then finish what runs within the grace, or hand it back."""
        loops: list[asyncio.Task[None]] = []
        try:
            loops += self._start_checks()
            await self._checks.first()
            greeting = asyncio.create_task(self._greet(), name="greeting")
            loops.append(greeting)
            await until_set(stop, loops)  # also without a database
            if not stop.is_set():
                loops.remove(greeting)
                loops += self._start_loops()
                log.info("worker_started", owner=self._identity.owner)
                await until_set(stop, loops)
        finally:
            await self._wind_down(loops)

    async def _greet(self) -> None:
        """What comes before the first run is taken."""
        await until_available(self._beat)
        await until_available(self._sweep)
        await until_available(self._seek_unended)

    async def _seek_unended(self) -> None:
        """Have stopped what workers that are gone had given up, and may not have stopped."""
        for name, job_id in await self._judging.given_up(self._remote):
            self._unended[name].seek(job_id, may_appear=False)

    def _start_checks(self) -> list[asyncio.Task[None]]:
        return [
            asyncio.create_task(self._checks.run(name), name=f"check {name}")
            for name in self._launchers
        ]

    def _start_loops(self) -> list[asyncio.Task[None]]:
        loops = {
            "heartbeat": self._every(self._rules.heartbeat_s, self._beat, self._checks.changed),
            "sweep": self._every(self._rules.sweep_s, self._sweep, asyncio.Event()),
            **{f"watch {name}": watcher.run() for name, watcher in self._watchers.items()},
            **{f"end {name}": unended.run() for name, unended in self._unended.items()},
            **{f"take {d.spec.name}": self._take(d) for d in self._devices},
        }
        if self._preflighter is not None:
            loops["preflights"] = self._preflighter.run()
        return [asyncio.create_task(loop, name=name) for name, loop in loops.items()]

    async def _wind_down(self, loops: list[asyncio.Task[None]]) -> None:
        self._stopping = True
        takers = [task for task in loops if task.get_name().startswith(("take ", "preflights"))]
        await cancel_until_ended(takers)
        if tasks := [task for _, task in self._following.values()]:
            await asyncio.wait(tasks, timeout=self._rules.grace_s)
            for attempt_id in list(self._following):
                self._interrupt(attempt_id)
            await asyncio.wait(tasks)
        await cancel_until_ended(loops)
        for name, launcher in self._launchers.items():
            try:
                await launcher.close()
            except Exception as error:  # the others must be closed all the same
                log.error("launcher_not_closed", launcher=name, exc_info=error)
        await self._reader.close()
        await self._hand_over()
        log.info("worker_stopped", owner=self._identity.owner)

    async def _hand_over(self) -> None:
        """What goes on without this worker, or couldn't be given back, may be taken over at once;
        and this worker counts no longer."""
        with contextlib.suppress(Unavailable):  # then it grows stale first
            await self._judging.expire([self._identity.owner])

    async def _take(self, device: DeviceConfig) -> None:
        """Keep as many runs of the device at work as it has slots, and as many again if they are
        built before they take one."""
        name = device.spec.name
        builds_first = name in self._workshops
        free = asyncio.Semaphore(device.slots * (2 if builds_first else 1))
        async with self._turns.following(name) as waker:
            while True:
                await free.acquire()
                while (claim := await self._claim(device)) is None:
                    await waker.wait(_POLL_S)
                self._judge(claim).add_done_callback(lambda _: free.release())

    async def _claim(self, device: DeviceConfig) -> Claim | None:
        """While none of the device's launchers can take a job, what waits for it waits; but what
        another worker has left is taken over (see `OwnBeats`)."""
        available = self._checks.available(device)
        try:
            claim = await self._judging.claim(
                device.spec.name,
                self._identity.owner,
                available=available,
                goes_on=self._remote,
                takes_over=self._beats.may_take_over,
            )
        except Unavailable:
            return None  # asked again after the poll
        return None if claim is None or claim.attempt_id in self._following else claim

    def _judge(self, claim: Claim) -> asyncio.Task[None]:
        self._tally.add("runs_started", claim.spec.device.name)
        self._tally.add("wait_seconds", claim.spec.device.name, claim.waited_s)
        brake = self._checks.brake(claim.launcher, claim.spec.device.name)
        if claim.handle is None:
            brake.begun(claim.attempt_id)
        following = AttemptFollower(
            self._judging,
            self._launchers[claim.launcher],
            self._watchers[claim.launcher],
            self._reader,
            brake,
            self._unended[claim.launcher],
            self._identity.owner,
            claim,
            self._tally,
            self._workshops.get(claim.spec.device.name),
        )
        task = asyncio.create_task(self._follow(following), name=f"run {claim.run_id}")
        self._following[claim.attempt_id] = following, task
        task.add_done_callback(lambda done: self._done(following, done))
        return task

    def _done(self, following: AttemptFollower, task: asyncio.Task[None]) -> None:
        """Nothing that goes wrong in here may leave a run open for ever."""
        self._following.pop(following.claim.attempt_id, None)
        self._interrupted.discard(following.claim.attempt_id)
        if task.cancelled() or (error := task.exception()) is None:
            following.is_over()
            return
        log.error("following_failed", run=following.claim.run_id, exc_info=error)
        reason = f"the worker failed: {type(error).__name__}"
        closing = asyncio.create_task(following.crashed(reason))
        closing.add_done_callback(lambda _: following.is_over())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def _follow(self, following: AttemptFollower) -> None:
        if self._launchers[following.claim.launcher].traits.remote:
            await self._follow_to_end(following, alone=False)
            return
        with self._idle.at_work():
            await self._follow_to_end(following, alone=following.claim.alone)

    async def _follow_to_end(self, following: AttemptFollower, *, alone: bool) -> None:
        claim = following.claim
        try:
            if following.builds_first and not await self._built(following):
                return
            async with (
                self._slots[claim.spec.device.name].hold(alone=alone),
                self._cancelled.following(str(claim.run_id)) as waker,
            ):
                if self._stopping:  # it has waited for its slot until now
                    raise asyncio.CancelledError
                await self._see_through(following, waker, following.see_through())
        except asyncio.CancelledError:
            if self._stopping:
                await following.give_back()
            raise

    async def _built(self, following: AttemptFollower) -> bool:
        """Whether there is anything to launch once what the run needs is built; that takes no slot
        of its device."""
        async with self._cancelled.following(str(following.claim.run_id)) as waker:
            return bool(await self._see_through(following, waker, following.build()))

    async def _see_through(
        self, following: AttemptFollower, waker: Waker, step: Coroutine[Any, Any, T]
    ) -> T | None:
        """What the step returns; None: the attempt was taken away meanwhile."""
        claim = following.claim
        work = asyncio.create_task(step)
        woken = asyncio.create_task(
            self._until_taken_away(claim, waker), name=f"ownership {claim.run_id}"
        )
        try:
            await asyncio.wait([work, woken], return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and following.stage is FollowingStage.FOLLOWING:
                log.info("run_cancelled", run=claim.run_id)
                work.cancel()
            await asyncio.wait([work])
            return None if work.cancelled() else work.result()
        except asyncio.CancelledError:
            if following.stage is not FollowingStage.TIDYING:
                work.cancel()
            await asyncio.wait([work])
            raise
        finally:
            woken.cancel()

    async def _until_taken_away(self, claim: Claim, waker: Waker) -> None:
        """Return when the attempt isn't ours any more. A wake alone says nothing: after a pause
        of the connection everyone is woken."""
        while True:
            await waker.announced()
            if not await until_available(
                lambda: self._judging.still_open(claim, self._identity.owner)
            ):
                return

    async def _beat(self) -> None:
        """Say that this worker lives; let go of attempts that aren't its own any more."""
        before = set(self._following)
        mine = await self._judging.heartbeat(
            self._identity.owner,
            self._identity.node,
            self._checks.reports(),
            before,
            self._tally.counts(),
        )
        self._beats.stored()
        for attempt_id in before - mine:
            found = self._following.get(attempt_id)
            if found and found[0].stage is FollowingStage.FOLLOWING:
                self._interrupt(attempt_id)

    def _interrupt(self, attempt_id: int) -> None:
        """Have the attempt's task let go of it. Again: nothing."""
        if attempt_id not in self._interrupted:
            self._interrupted.add(attempt_id)
            self._following[attempt_id][1].cancel()

    async def _sweep(self) -> None:
        gone = self._identity.gone(await self._judging.owners(self._identity.node))
        if found := await self._judging.expire(gone):
            log.info("attempts_expired", attempts=found, gone=gone)

    async def _every(
        self, period_s: float, step: Callable[[], Coroutine[Any, Any, None]], sooner: asyncio.Event
    ) -> None:
        while True:
            await set_or_after(sooner, period_s * random.uniform(0.9, 1.1))
            sooner.clear()
            try:
                await step()
            except Unavailable as error:
                log.warning("database_unreachable", step=step.__name__, error=str(error))
