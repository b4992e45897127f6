"""Reports on submissions that nobody builds before they run: which have none, and telling them."""

from collections.abc import Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from kernelbot.domain.errors import PlatformError
from kernelbot.preflight.model import PreflightReport
from kernelbot.protocol import JobSpec, SourceFile
from kernelbot.protocol.building import has_build_step
from kernelbot.runs.builds import store as builds
from kernelbot.runs.builds.service import store_report
from kernelbot.runs.builds.store import Unreported
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.runs.jobs import JobSpecs
from kernelbot.runs.progress import add_report
from kernelbot.store.database import Database, ReadSession
from kernelbot.store.exclusive import if_nobody_else
from kernelbot.store.locks import Lock


@dataclass(frozen=True)
class UnreportedRun:
    """A run whose submission has no report. `job`: what is compiled of it, for the run's device;
    None: its file has nothing that is compiled before it is judged."""

    run_id: int
    submission_id: int
    job: JobSpec | None


class IdleReports:
    """What a worker asks and tells of reports that it makes in idle time."""

    def __init__(
        self, database: Database, devices: tuple[DeviceConfig, ...], jobs: JobSpecs
    ) -> None:
        """`devices`: those whose submissions get such reports."""
        self._database = database
        self._devices = {device.spec.name: device for device in devices}
        self._jobs = jobs

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of those whose submissions get such reports."""
        return tuple(self._devices)

    def alone(self) -> AbstractAsyncContextManager[bool]:
        """Hold what one worker at a time has, so that nothing is compiled twice; False: another one
        has it. Raises `Unavailable`."""
        return if_nobody_else(self._database.url, Lock.PREFLIGHT)

    async def next(self, seen: Collection[int]) -> UnreportedRun | None:
        """The first run beside those of `seen` that is open and has no report; None: there is
        none."""
        async with self._database.read() as session:
            found = await builds.next_without_report(session, self.devices, seen)
            if found is None:
                return None
            return UnreportedRun(found.run_id, found.submission_id, await self._job(session, found))

    async def open_among(self, run_ids: Collection[int]) -> set[int]:
        """The runs among these that haven't ended."""
        async with self._database.read() as session:
            return await builds.open_among(session, run_ids)

    async def _job(self, session: ReadSession, found: Unreported) -> JobSpec | None:
        file, device = SourceFile(found.file_name, found.code), self._devices[found.device]
        try:
            job = await self._jobs.without_a_run(session, found.problem_version_id, file, device)
        except PlatformError:  # the run ends with that once it is claimed
            return None
        return job if has_build_step(job) else None

    async def tell(self, run: UnreportedRun, report: PreflightReport) -> None:
        """Let the submission's author read it, and those who follow it at once if it hasn't
        ended. One that was deleted meanwhile has none."""
        async with self._database.write() as session:
            is_open = await builds.lock_open_run(session, run.run_id)
            said = await store_report(session, run.submission_id, report.gpu, report)
            if is_open and said is not None:
                await add_report(session, run.submission_id, run.run_id, said)
