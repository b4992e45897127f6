"""Simulated schedulers, and the worker process of `cluster_sim` that uses them.

A handle says all of what becomes of a job and when, so that a job goes on while workers are killed,
and any worker can say what became of it: as with a scheduler, but without one.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kernelbot.catalog.problem import load_problem
from kernelbot.launchers.base import (
    NO_SIZES,
    Availability,
    JobState,
    Launcher,
    Left,
    Outcome,
    Traits,
)
from kernelbot.launchers.results import lost, no_events
from kernelbot.launchers.table import LauncherPlace, LauncherTable
from kernelbot.protocol import (
    CaseResult,
    DeviceSpec,
    EventKind,
    Fault,
    JobSpec,
    Mode,
    Phase,
    PhaseResult,
    ProblemSpec,
    ProgressEvent,
    RunResult,
    SandboxReport,
    SourceFile,
    SystemInfo,
    Vendor,
    Verdict,
    WorkloadResult,
    to_wire,
)
from kernelbot.protocol.phases import TIMED, cases_of, phases_of
from kernelbot.protocol.scoring import score, scoring_workloads
from kernelbot.server.logs import set_up_logs
from kernelbot.server.settings import Settings
from kernelbot.server.tables import DeviceSettings, QueueSettings, WorkerSettings
from kernelbot.server.work import work

PROBLEM = Path(__file__).parents[1] / "examples" / "identity_np"
FAILURES = 0.02
RUN_S = (3.0, 30.0)
CASES = 3
"""How many tests a judge tells of."""
_MODES = {
    "t": (Mode.TEST, False),
    "l": (Mode.LEADERBOARD, False),
    "s": (Mode.LEADERBOARD, True),
}
"""And whether the run is secret."""


@dataclass(frozen=True)
class Scheduler:
    """One kind, with a device of its own. Times are simulated seconds."""

    name: str
    device: str
    start_s: tuple[float, float]
    share: float
    """Of all submissions."""
    poll_s: float
    """Between two questions while things change."""

    @property
    def mean_s(self) -> float:
        """From a job's launch to its end."""
        return (sum(self.start_s) + sum(RUN_S)) / 2


SCHEDULERS = (
    Scheduler("actions", "MI300", (10.0, 60.0), 0.3, 2.0),
    Scheduler("modal", "H100", (2.0, 20.0), 0.5, 0.5),
    Scheduler("slurm", "A100", (0.1, 30.0), 0.2, 0.5),
)


@dataclass(frozen=True)
class _Job:
    """A handle, taken apart."""

    begins_s: float
    ends_s: float
    fails: bool
    mode: Mode
    secret: bool
    job_id: str

    @classmethod
    def parse(cls, handle: str) -> "_Job":
        begins, ends, fails, mode, job_id = handle.split(";")
        return cls(float(begins), float(ends), fails == "1", *_MODES[mode], job_id)


class SimulatedLauncher:
    """See `Launcher`. `speed`: simulated seconds per second."""

    def __init__(self, scheduler: Scheduler, speed: float) -> None:
        self._scheduler = scheduler
        self._speed = speed
        self._traits = Traits(
            shortest_poll_s=scheduler.poll_s / speed,
            longest_poll_s=10 * scheduler.poll_s / speed,
            check_s=1.0,
        )
        self._reported: set[str] = set()

    @property
    def traits(self) -> Traits:
        """Those of the real launchers, in compressed time."""
        return self._traits

    async def start(self) -> None:
        """See `Launcher`."""

    async def close(self) -> None:
        """See `Launcher`."""

    async def launch(self, spec: JobSpec) -> str:
        """See `Launcher`. What becomes of it is drawn from the job's id."""
        chance = random.Random(spec.job_id)
        fails = chance.random() < FAILURES
        begins_s = time.time() + chance.uniform(*self._scheduler.start_s) / self._speed
        ends_s = begins_s + chance.uniform(*RUN_S) / self._speed
        mode = next(letter for letter, kind in _MODES.items() if kind == (spec.mode, spec.secret))
        return f"{begins_s:.4f};{ends_s:.4f};{int(fails)};{mode};{spec.job_id}"

    async def find(self, job_id: str) -> str | None:  # noqa: ARG002
        """See `Launcher`. No answer gets lost, so nobody needs it."""
        return None

    def events(self, handle: str) -> AsyncIterator[tuple[ProgressEvent, ...]]:  # noqa: ARG002
        """See `Launcher`."""
        return no_events()

    async def poll(
        self,
        handles: Collection[str],
        most_bytes: Mapping[str, int] = NO_SIZES,  # noqa: ARG002 (what it has is small)
    ) -> dict[str, Outcome]:
        """See `Launcher`."""
        now_s = time.time()
        return {handle: self._outcome(handle, _Job.parse(handle), now_s) for handle in handles}

    def _outcome(self, handle: str, job: _Job, now_s: float) -> Outcome:
        if now_s < job.begins_s:
            return Outcome(JobState.WAITING)
        events = () if handle in self._reported else _progress()
        self._reported.add(handle)
        if now_s < job.ends_s:
            return Outcome(JobState.RUNNING, events=events)
        if job.fails:
            return lost("its node failed", Fault.SCHEDULER)
        return Outcome(JobState.FINISHED, _left(job), events=events)

    async def cancel(self, handle: str) -> None:
        """See `Launcher`."""

    async def forget(self, handle: str) -> None:
        """See `Launcher`."""
        self._reported.discard(handle)

    async def availability(self, device: str) -> Availability:
        """See `Launcher`."""
        return Availability(device == self._scheduler.device)


def _progress() -> tuple[ProgressEvent, ...]:
    phase = Phase.TEST
    cases = (
        ProgressEvent(EventKind.CASE, phase, n, CASES, f"size: {n}", Verdict.ACCEPTED)
        for n in range(CASES)
    )
    return (
        ProgressEvent(EventKind.PHASE_STARTED, phase, total=CASES),
        *cases,
        ProgressEvent(EventKind.PHASE_FINISHED, phase, verdict=Verdict.ACCEPTED, duration_s=1.0),
    )


def _left(job: _Job) -> Left:
    """Accepted; if it was timed, with a score of its own and a hundred samples."""
    problem = _problem()
    spec = JobSpec(
        job_id=job.job_id,
        problem=problem,
        submission=SourceFile(problem.submission_name, ""),
        mode=job.mode,
        device=DeviceSpec("simulated", Vendor.CPU),
        secret=job.secret,
    )
    ns = random.Random(job.job_id).uniform(1e5, 2e5)
    phases = tuple(_phase(spec, phase, ns) for phase in phases_of(spec))
    workloads = scoring_workloads({each.phase: each.workloads for each in phases})
    score_s, interval_s = score(problem.ranking_by, workloads) if workloads else (None, None)
    result = RunResult(
        job_id=job.job_id,
        problem=problem.name,
        mode=job.mode,
        harness=problem.harness,
        verdict=Verdict.ACCEPTED,
        system=SystemInfo("simulated", "simulated", "Linux", "3.11", None),
        sandbox=SandboxReport("required", ("namespaces", "seccomp"), ()),
        score_s=score_s,
        score_ci95_s=interval_s,
        phases=phases,
        duration_s=1.0,
    )
    return Left(json.dumps(to_wire(result)).encode())


@cache
def _problem() -> ProblemSpec:
    """That of the simulation's board."""
    return load_problem(PROBLEM).definition.spec


def _phase(spec: JobSpec, phase: Phase, ns: float) -> PhaseResult:
    names = [case.spec for _, case in cases_of(spec.problem, phase)]
    if phase not in TIMED:
        cases = tuple(CaseResult(name, Verdict.ACCEPTED, "") for name in names)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.1, cases=cases)
    samples, ends = (ns * 0.99, ns, ns, ns * 1.01) * 25, (ns, ns)
    best, worst = ns * 0.99, ns * 1.01
    workloads = tuple(
        WorkloadResult(name, samples, ns, ns, 1.0, ends, best, worst, stopped_by="precision")
        for name in names
    )
    return PhaseResult(phase, Verdict.ACCEPTED, 1.0, workloads=workloads)


class SimulatedTable(LauncherTable):
    """A `[launchers.NAME]` for one of `SCHEDULERS`."""

    kind: Literal["simulated"] = "simulated"
    speed: float

    def build(self, place: LauncherPlace) -> Launcher:
        """See `LauncherTable`."""
        scheduler = next(each for each in SCHEDULERS if each.name == place.name)
        return SimulatedLauncher(scheduler, self.speed)


def settings(folder: Path, speed: float, slots: dict[str, int]) -> Settings:
    """A worker's. `slots`: by device. Dead workers are noticed at once, by their lock files."""
    devices = tuple(
        DeviceSettings(name=each.device, launcher=(each.name,), slots=slots[each.device])
        for each in SCHEDULERS
    )
    return Settings(
        data=folder,
        worker=WorkerSettings(heartbeat_s=1.0, sweep_s=1.0, stale_s=10.0, grace_s=1.0),
        queue=QueueSettings(waiting_limit=1_000_000),
    ).model_copy(
        update={
            "devices": devices,
            "launchers": {each.name: SimulatedTable(speed=speed) for each in SCHEDULERS},
        }
    )


def main() -> None:
    """A worker until its standard input ends: DATABASE FOLDER SPEED DEVICE=SLOTS..."""
    url, folder, speed, *slots = sys.argv[1:]
    counts = {device: int(count) for device, _, count in (each.partition("=") for each in slots)}
    set_up_logs()
    asyncio.run(work(settings(Path(folder), float(speed), counts), url, parent=sys.stdin.fileno()))


if __name__ == "__main__":
    main()
