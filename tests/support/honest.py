"""Jobs of all kinds, and honest results of them, as the harness would make them."""

import math
from dataclasses import replace

from hypothesis import strategies as st

from kernelbot.harness.judge.collected import Collected, JudgingRefusal
from kernelbot.harness.judge.result import run_result
from kernelbot.protocol import (
    CaseResult,
    Failure,
    Fault,
    HarnessKind,
    JobSpec,
    Mode,
    Phase,
    PhaseResult,
    RankRule,
    RunResult,
    SandboxReport,
    SourceFile,
    SystemInfo,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.phases import TIMED, cases_of, phases_of
from kernelbot.protocol.ratios import duel_result, duel_workload
from kernelbot.protocol.scoring import median_time, spread_of
from tests.harness.jobs import SORT, a_job, a_problem

WITHIN_S = 1000.0
BY_AUTHOR = [each for each in Verdict if each not in (Verdict.ACCEPTED, Verdict.INTERNAL_ERROR)]
SYSTEM = SystemInfo("CPU", "cpu", "Linux", "3.11", None)


@st.composite
def jobs(draw: st.DrawFn) -> JobSpec:
    """In all modes, natively judged or by a script; duels, too."""
    problem = replace(
        a_problem(ranking_by=draw(st.sampled_from(RankRule))),
        harness=draw(st.sampled_from(HarnessKind)),
        anchor=draw(st.sampled_from((None, "anchor.py"))),
    )
    job = a_job(SORT, mode=draw(st.sampled_from(Mode)), problem=problem, secret=draw(st.booleans()))
    may_duel = problem.harness is HarnessKind.NATIVE and job.mode is Mode.LEADERBOARD
    if may_duel and draw(st.booleans()):
        return replace(job, opponent=SourceFile("other.py", SORT))
    return job


@st.composite
def honest(draw: st.DrawFn, job: JobSpec) -> RunResult:
    """It was accepted, refused in any phase, or judging itself failed."""
    collected = Collected()
    steps = [(phase, False) for phase in phases_of(job)]
    if job.opponent is not None:
        steps.insert(1, (Phase.TEST, True))
    ends_at = draw(st.none() | st.integers(0, len(steps) - 1))
    for number, (phase, of_opponent) in enumerate(steps):
        if number == ends_at:
            _refuse(draw, job, collected, phase, of_opponent=of_opponent)
            break
        found = _accepted(draw, job, collected, phase)
        collected.phases.append(replace(found, of_opponent=of_opponent))
    return run_result(job, collected, SYSTEM, SandboxReport("required", (), ()), 1.0)


def _refuse(
    draw: st.DrawFn, job: JobSpec, collected: Collected, phase: Phase, *, of_opponent: bool
) -> None:
    if draw(st.booleans()):
        failure = Failure(Fault.PLATFORM, "the reference is broken")
        collected.refusal = JudgingRefusal(Verdict.INTERNAL_ERROR, failure)
        return
    verdict = draw(st.sampled_from(BY_AUTHOR))
    loads: tuple[WorkloadResult, ...] = ()
    if phase in TIMED and job.opponent is None:
        loads = tuple(load for load in _workloads(draw, job, phase) if draw(st.booleans()))
    cases: tuple[CaseResult, ...] = ()
    if phase is Phase.TEST and draw(st.booleans()):
        specs = [case.spec for case in job.problem.tests]
        cases = tuple(CaseResult(spec, verdict, "wrong") for spec in specs)
    failure = Failure(Fault.AUTHOR, "wrong")
    collected.opponent_failed = of_opponent
    refused = PhaseResult(phase, verdict, 0.5, cases, loads, failure, of_opponent)
    collected.phases.append(refused)


def _accepted(draw: st.DrawFn, job: JobSpec, collected: Collected, phase: Phase) -> PhaseResult:
    specs = [case.spec for _, case in cases_of(job.problem, phase)]
    if phase not in TIMED:
        cases = tuple(CaseResult(spec, Verdict.ACCEPTED, "") for spec in specs)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.5, cases)
    if job.opponent is None:
        loads = _workloads(draw, job, phase)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.5, workloads=loads)
    of_each = draw(st.sampled_from((1, 4)))
    pairs = [
        duel_workload(s, _samples(draw), _samples(draw), "max_samples", of_each) for s in specs
    ]
    collected.duel = duel_result(job.problem.ranking_by, pairs)
    return PhaseResult(phase, Verdict.ACCEPTED, 0.5)


def _samples(draw: st.DrawFn, count: int = 20) -> tuple[float, ...]:
    """As many as the jobs of tests take. Of most calls it is known that they took some time."""
    first = draw(st.lists(st.floats(0, 1e9), min_size=3, max_size=3))
    rest = draw(st.lists(st.floats(1, 1e9), min_size=count - 3, max_size=count - 3))
    return (*first, *rest)


def _workloads(draw: st.DrawFn, job: JobSpec, phase: Phase) -> tuple[WorkloadResult, ...]:
    specs = [case.spec for _, case in cases_of(job.problem, phase)]
    if job.problem.harness is HarnessKind.SCRIPT:
        return tuple(_reported(spec, draw(st.floats(1e-3, 1e12))) for spec in specs)
    return tuple(_measured(draw, job, spec) for spec in specs)


def _reported(spec: str, mean: float) -> WorkloadResult:
    ends = (mean * 0.9, mean * 1.1)
    return WorkloadResult(spec, (), mean, mean, 1.0, ends, *ends, stopped_by="script")


def _measured(draw: st.DrawFn, job: JobSpec, spec: str) -> WorkloadResult:
    early = draw(st.booleans())
    samples = _samples(draw, 6 if early else 20)
    has_anchor = job.problem.anchor is not None
    blocks = math.ceil(len(samples) / 10) if has_anchor else 0
    factors = tuple(draw(st.floats(1 / 1.1, 1.1)) for _ in range(blocks))
    processes = 1 if early else draw(st.sampled_from((1, 3, 8)))
    middle, spread = median_time(samples, factors, processes), spread_of(samples, factors)
    return WorkloadResult(
        spec,
        samples,
        middle.median_ns,
        spread.mean_ns,
        spread.stdev_ns,
        middle.ci95_ns,
        spread.best_ns,
        spread.worst_ns,
        checked=draw(st.integers(0, len(samples))),
        stopped_by="wall_cap" if early else "max_samples",
        empty_call_ns=draw(st.none() | st.floats(0, 1e6)),
        anchor_ns=draw(st.floats(0, 1e6)) if has_anchor else None,
        drift_factors=factors,
        processes=processes,
        calls=draw(st.sampled_from((1, 32))),
    )


def accepted(job: JobSpec, sample_ns: float = 1000.0) -> RunResult:
    """Of a job that is no duel and has no anchor; all samples are the same."""
    phases = []
    for phase in phases_of(job):
        specs = [case.spec for _, case in cases_of(job.problem, phase)]
        cases = tuple(CaseResult(spec, Verdict.ACCEPTED, "") for spec in specs)
        loads = tuple(_steady(spec, sample_ns) for spec in specs)
        of_phase = ((), loads) if phase in TIMED else (cases, ())
        phases.append(PhaseResult(phase, Verdict.ACCEPTED, 0.5, *of_phase))
    collected = Collected(phases=phases)
    return run_result(job, collected, SYSTEM, SandboxReport("required", (), ()), 1.0)


def _steady(spec: str, ns: float) -> WorkloadResult:
    ends = (ns, ns)
    return WorkloadResult(spec, (ns,) * 20, ns, ns, 0.0, ends, ns, ns, 20, "max_samples")
