"""Jobs on this machine: one long-lived harness host per device, a folder per job.

The handle is the job's folder. It holds the specification, later the result; the result outlives
host and worker until it is stored, but perhaps not a power cut, after which the run is judged
again. The file `host` names the lock that the job's host holds for as long as it lives: so anyone
can tell a job that still runs from one that is lost.
"""

import asyncio
import contextlib
import json
import math
import shutil
import time
import uuid
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.base import NO_SIZES, Availability, JobState, Outcome, Traits
from kernelbot.launchers.batching import batches
from kernelbot.launchers.host import PATIENCE_S, HostProcess, HostState
from kernelbot.launchers.lockfile import is_held
from kernelbot.launchers.results import found, lost, size_of
from kernelbot.protocol import JobSpec, ProgressEvent, to_wire
from kernelbot.protocol.os_errors import in_words
from kernelbot.protocol.phases import longest_turn_wait_s

_TRAITS = Traits(
    shortest_poll_s=0.0, longest_poll_s=0.2, check_s=2.0, room_s=math.inf, remote=False
)
_KEEP_S = 24 * 3600.0
_POLL_S = 5.0
"""How often a job that says nothing is looked after."""
_FIRST_TOGETHER_S, _TOGETHER_S = 0.1, 0.25
"""How long progress waits for what follows it: the first, and all other. A verdict never waits: it
ends this."""
_SLACK_S = 300.0
"""What a job may take beyond its time limits together: hosts start up, and they clean up."""
_HOSTS_TRIED = 3
"""To how many hosts in a row a job is offered that end before they are given it."""
_GONE = ".gone"
_GIVEN_UP = "the harness ended it without a result"
_DIED = "the harness ended before it had a result"
_STOOD_STILL = "the harness stood still, so it was ended"
log = structlog.get_logger()


@dataclass(frozen=True)
class LocalSettings:
    """Where jobs live and how a device's host is started."""

    jobs_dir: Path
    commands: dict[str, tuple[str, ...]]
    """Device name to the command of its host."""
    patience_s: float = PATIENCE_S
    """For how long a host may stand still before it is killed; its jobs are lost with it."""


class LocalLauncher:
    """What each method promises, `Launcher` says."""

    def __init__(self, settings: LocalSettings) -> None:
        self._settings = settings
        self._hosts: dict[str, HostProcess] = {}
        self._replaced: set[HostProcess] = set()
        """Hosts that end, in whose place there are others."""
        self._starting = asyncio.Lock()
        self._followers: dict[str, asyncio.Queue[ProgressEvent | None]] = {}
        self._job_hosts: dict[str, HostProcess] = {}
        self._ended: dict[str, str] = {}
        """Why a job has no result if it has none: its host is done with it, or was killed."""
        self._closed = False

    @property
    def traits(self) -> Traits:
        """A look costs a few reads of files here, so nobody waits for one."""
        return _TRAITS

    async def start(self) -> None:
        """Start every device's host, so that the first job finds it warm."""
        self._closed = False
        await asyncio.to_thread(self._clean_up)
        for device in self._settings.commands:
            await self._host(device)

    async def close(self) -> None:
        """End the hosts and with them what they run."""
        self._closed = True
        async with self._starting:  # one that is being started is among them afterwards
            hosts, self._hosts = {*self._hosts.values(), *self._replaced}, {}
        await asyncio.gather(*(host.close() for host in hosts))

    async def launch(self, spec: JobSpec) -> str:
        """Write the specification, then tell the device's host of the folder. Cancelled, or failed:
        nothing of it is left."""
        folder = self._settings.jobs_dir / spec.job_id
        handle = str(folder)
        if (folder / "jobspec.json").exists():
            return handle
        given = False
        try:
            for _ in range(_HOSTS_TRIED):
                given = await self._offer(handle, spec, await self._host(spec.device.name))
                if given:
                    return handle
        finally:
            if not given:
                await self.forget(handle)
        raise PlatformError(f"Hosts for {spec.device.name!r} end as soon as they are started.")

    async def find(self, job_id: str) -> str | None:
        """Look for the job's folder."""
        folder = self._settings.jobs_dir / job_id
        return str(folder) if (folder / "jobspec.json").exists() else None

    async def _offer(self, handle: str, spec: JobSpec, host: HostProcess) -> bool:
        writing = asyncio.ensure_future(
            asyncio.to_thread(_prepare, Path(handle), spec, host.lock_path)
        )
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])  # a thread goes on whatever happens here
            raise
        if not host.give(handle):
            return False
        self._followers[handle] = asyncio.Queue()
        self._job_hosts[handle] = host
        return True

    async def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:
        """Live for jobs of this process's hosts alone."""
        queue = self._followers.get(handle)
        if queue is None:
            return
        found = batches(queue, _POLL_S, _FIRST_TOGETHER_S, _TOGETHER_S)
        async with contextlib.aclosing(found):
            async for batch in found:
                if events := tuple(event for event in batch if event is not None):
                    yield events
                if None in batch or (not batch and await self._is_over(handle)):
                    return

    async def _is_over(self, handle: str) -> bool:
        return (await self.poll((handle,)))[handle].state.is_over

    async def poll(
        self, handles: Collection[str], most_bytes: Mapping[str, int] = NO_SIZES
    ) -> dict[str, Outcome]:
        """The result if it is there; else lost if the host is dead or done with it, and if it has
        taken longer than any job may: that host is killed."""
        asked = {
            handle: (self._ended.get(handle), size_of(handle, most_bytes)) for handle in handles
        }
        outcomes = await asyncio.to_thread(
            _poll_all, {handle: each for handle, each in asked.items() if self._is_ours(handle)}
        )
        outcomes |= dict.fromkeys(asked.keys() - outcomes.keys(), _STRANGE)
        for handle, outcome in outcomes.items():
            if outcome is _OVERDUE and (host := self._job_hosts.get(handle)):
                log.error("job_overdue", job=handle)
                host.end()
        return outcomes

    async def cancel(self, handle: str) -> None:
        if host := self._job_hosts.get(handle):
            await host.cancel(handle)

    async def forget(self, handle: str) -> None:
        self._followers.pop(handle, None)
        self._job_hosts.pop(handle, None)
        self._ended.pop(handle, None)
        if self._is_ours(handle):
            await asyncio.to_thread(_remove, Path(handle))

    def _is_ours(self, handle: str) -> bool:
        """Whether it is a job's folder, and not just any: folders of forgotten jobs are removed."""
        return bool(handle) and str(self._settings.jobs_dir / Path(handle).name) == handle

    async def availability(self, device: str) -> Availability:
        """Whether the device's host runs, which is started again where it doesn't."""
        try:
            await self._host(device)
        except PlatformError as error:
            return Availability(False, str(error))
        return Availability(True)

    async def _host(self, device: str) -> HostProcess:
        async with self._starting:
            host = self._hosts.get(device)
            if host is not None and host.state is HostState.SERVING:
                return host
            if self._closed or device not in self._settings.commands:
                raise PlatformError(f"No host for {device!r} runs on this machine.")
            lock_path = self._settings.jobs_dir / "hosts" / f"{uuid.uuid4().hex}.lock"
            try:
                host = await HostProcess.start(
                    self._settings.commands[device],
                    lock_path,
                    on_event=self._event,
                    on_end=self._end,
                    on_exit=self._exited,
                    patience_s=self._settings.patience_s,
                )
            except OSError as error:
                raise PlatformError(
                    f"The host for {device!r} can't be started: {in_words(error)}"
                ) from error
            before, self._hosts[device] = self._hosts.get(device), host
            if before is not None and before.state is not HostState.GONE:
                self._replaced.add(before)
            return host

    def _event(self, handle: str, event: ProgressEvent) -> None:
        if queue := self._followers.get(handle):
            queue.put_nowait(event)

    def _end(self, handle: str, why: str) -> None:
        if handle in self._job_hosts:
            self._ended[handle] = why or _GIVEN_UP
        self._tell_end(handle)

    def _tell_end(self, handle: str) -> None:
        if queue := self._followers.get(handle):
            queue.put_nowait(None)

    def _exited(self, host: HostProcess) -> None:
        mine = [handle for handle, its_host in self._job_hosts.items() if its_host is host]
        if not self._closed:
            log.error("host_died", jobs=len(mine))
        self._replaced.discard(host)
        host.lock_path.unlink(missing_ok=True)  # no lock counts as one that nobody holds
        for handle in mine:
            if host.stood_still:
                self._ended[handle] = _STOOD_STILL
            self._tell_end(handle)

    def _clean_up(self) -> None:
        """Remove what crashes left behind: old jobs that nobody asked for since, dead locks."""
        jobs_dir = self._settings.jobs_dir
        jobs_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        old = time.time() - _KEEP_S
        for folder in jobs_dir.iterdir():
            if folder.name != "hosts" and _is_older(folder, old) and not _lives(folder):
                _remove(folder)
        for lock in jobs_dir.glob("hosts/*.lock"):
            if _is_older(lock, old) and not is_held(lock):
                lock.unlink(missing_ok=True)


def _prepare(folder: Path, spec: JobSpec, lock_path: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / "host").write_text(str(lock_path), encoding="utf-8")
    longest_s = spec.longest_s + _SLACK_S + longest_turn_wait_s(spec)
    (folder / "longest_s").write_text(str(longest_s), encoding="utf-8")
    draft = folder / "jobspec.json.new"
    # Not synced: after a power cut no host is left to read it.
    draft.write_text(json.dumps(to_wire(spec)), encoding="utf-8")
    draft.rename(folder / "jobspec.json")


def _remove(folder: Path) -> None:
    """Take the folder away, also from under a host that is just writing its result there: renamed,
    it is found by nobody who could put something in."""
    gone = folder.with_name(f"{folder.name}{_GONE}")
    with contextlib.suppress(OSError):
        folder = folder.rename(gone)
    shutil.rmtree(folder, ignore_errors=True)


def _is_older(path: Path, than_s: float) -> bool:
    """False for what has been removed since it was listed."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mtime < than_s
    return False


def _lives(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return bool(is_held(Path((folder / "host").read_text(encoding="utf-8"))))
    return False


_STRANGE = Outcome(JobState.LOST, reason="it was launched for another data folder")
_OVERDUE = Outcome(JobState.LOST, reason="it took longer than its time limits together")


def _is_overdue(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        longest_s = float((folder / "longest_s").read_text(encoding="utf-8"))
        return time.time() - (folder / "jobspec.json").stat().st_mtime > longest_s
    return False


def _poll_all(asked: dict[str, tuple[str | None, int]]) -> dict[str, Outcome]:
    return {handle: _poll(Path(handle), ended, most) for handle, (ended, most) in asked.items()}


def _poll(folder: Path, ended: str | None, most: int) -> Outcome:
    """`ended`: why its host is done with it; None while it isn't, as far as we were told."""
    if not folder.is_dir():
        return Outcome(JobState.LOST, reason="its folder is gone from this machine")
    lives = _lives(folder)  # before the look for a result: a host that is dead writes none after
    try:
        with (folder / "result.json").open("rb") as file:
            return found(file.read(most + 1), most)
    except FileNotFoundError:
        if ended is not None or not lives:
            return Outcome(JobState.LOST, reason=ended or _DIED)
        return _OVERDUE if _is_overdue(folder) else Outcome(JobState.RUNNING)
    except OSError as error:
        return lost(f"its result can't be read: {in_words(error)}")
