"""A submission's times beside its author's best, the leader's, and what the device can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kernelbot.accounts.model import User
from kernelbot.domain.errors import NotAllowed, NotFound
from kernelbot.protocol import DeviceSpec, Floor, ProblemSpec, WorkloadResult
from kernelbot.ranking.model import Bests, Score
from kernelbot.ranking.roofline import RooflineLimit, RooflineWork, roof_of
from kernelbot.runs.model import Run
from kernelbot.services import Services
from kernelbot.submissions.model import Submission
from kernelbot.submissions.timings import limit_on, timed, timed_run
from kernelbot.submissions.views import SubmissionSnapshot

_MOST = 40
"""Workloads of one chart."""
_WIDTH = 100.0


class Whose(StrEnum):
    MINE = "mine"
    """The submission's."""
    OWN = "own"
    """Its author's best other one's."""
    LEADER = "leader"


@dataclass(frozen=True)
class ComparedTime:
    whose: Whose
    median_ns: float
    width: float


@dataclass(frozen=True)
class ShownWorkload:
    """One workload. `share`: how much of the device's limit was reached; None: it isn't known."""

    spec: str
    times: tuple[ComparedTime, ...]
    share: float | None

    def median_ns(self, whose: Whose) -> float | None:
        """One of the times; None: it isn't there."""
        return next((one.median_ns for one in self.times if one.whose == whose), None)


@dataclass(frozen=True)
class DeviceComparison:
    """All of one device. `own`, `leader`: None if there is none other than this submission;
    `leader_seen`: whether the leader's submission is for the viewer."""

    device: str
    workloads: tuple[ShownWorkload, ...]
    more: int
    """Workloads that are left out."""
    own: Score | None
    leader: Score | None
    leader_seen: bool
    limit: RooflineLimit | None


async def comparisons(
    services: Services,
    user: User,
    snapshot: SubmissionSnapshot,
    submission: Submission,
    problem: ProblemSpec | None,
) -> list[DeviceComparison]:
    """A comparison for each device on which it was timed. `submission`: the snapshot's with its
    results; `problem` None: its board isn't for the viewer."""
    devices = dict.fromkeys(run.device for run in submission.runs)
    found = []
    for device in devices:
        if (run := timed_run(submission, device)) is not None:
            bests = await services.outcomes.bests(snapshot, device)
            found.append(await _on_device(services, user, submission, problem, run, bests))
    return found


async def _on_device(
    services: Services,
    user: User,
    submission: Submission,
    problem: ProblemSpec | None,
    run: Run,
    bests: Bests,
) -> DeviceComparison:
    device = run.device
    mine = timed(run)
    leader = bests.leader if problem is not None else None
    if leader is not None and leader.submission_id == submission.id:
        leader = None
    own_loads = await _measured(services, user, bests.own, run) or ()
    leader_loads = await _measured(services, user, leader, run)
    spec = services.devices.spec(device)
    return DeviceComparison(
        device=device,
        workloads=tuple(
            _compared(load, own_loads, leader_loads or (), _share(load, problem, spec))
            for load in mine[:_MOST]
        ),
        more=max(0, len(mine) - _MOST),
        own=bests.own,
        leader=leader,
        leader_seen=leader_loads is not None,
        limit=limit_on(submission, problem, device, spec),
    )


async def _measured(
    services: Services, user: User, best: Score | None, like: Run
) -> Sequence[WorkloadResult] | None:
    """The times of the same kind of run of another submission; None: it isn't for the viewer."""
    if best is None:
        return None
    try:
        other = await services.submissions.get(user, best.submission_id)
    except (NotAllowed, NotFound):
        return None
    runs = (run for run in other.runs if (run.device, run.secret) == (like.device, like.secret))
    return next((loads for run in runs if (loads := timed(run))), ())


def _compared(
    load: WorkloadResult,
    own: Sequence[WorkloadResult],
    leader: Sequence[WorkloadResult],
    share: float | None,
) -> ShownWorkload:
    medians = {Whose.MINE: load.median_ns}
    for whose, others in ((Whose.OWN, own), (Whose.LEADER, leader)):
        same = next((one.median_ns for one in others if one.spec == load.spec), None)
        if same is not None:
            medians[whose] = same
    longest = max(medians.values()) or 1.0
    times = (
        ComparedTime(whose, median_ns, round(_WIDTH * median_ns / longest, 2))
        for whose, median_ns in medians.items()
    )
    return ShownWorkload(load.spec, tuple(times), share)


def _share(
    load: WorkloadResult, problem: ProblemSpec | None, device: DeviceSpec | None
) -> float | None:
    """How much of the device's limit a workload reached. The problem may have changed since: only
    workloads that it has still are compared with it."""
    floors = dict(_floors(problem))
    floor = floors.get(load.spec)
    if floor is None or not floor.flops or not floor.memory_bytes or not load.median_ns:
        return None
    work = RooflineWork(floor.flops, floor.memory_bytes, floor.number_type)
    roof = roof_of(device, work)
    return None if roof is None else roof.least_s(work) * 1e9 / load.median_ns


def _floors(problem: ProblemSpec | None) -> list[tuple[str, Floor]]:
    if problem is None or not problem.floors:
        return []
    pairs = zip(problem.benchmarks, problem.floors, strict=True)
    return [(case.spec, floor) for case, floor in pairs if floor is not None]
