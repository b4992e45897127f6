"""From phases to a run's result: the verdict, the score, and whose fault it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernelbot.harness.failure import MOST_TEXT
from kernelbot.harness.score import score
from kernelbot.protocol import (
    Artifact,
    CompileReport,
    Failure,
    Fault,
    JobSpec,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)


@dataclass(frozen=True)
class Refusal:
    """A verdict that no phase gave: the build failed, or judging itself did."""

    verdict: Verdict
    failure: Failure


@dataclass(frozen=True)
class Material:
    """What a judge has gathered when it stops, for whatever reason."""

    phases: Sequence[PhaseResult] = ()
    stdout: str = ""
    stderr: str = ""
    compile: CompileReport | None = None
    artifacts: tuple[Artifact, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What a person should know beside the verdict."""
    refusal: Refusal | None = None
    """Set where something else than a phase decided; it outweighs the phases."""


def run_result(
    job: JobSpec,
    material: Material,
    system: SystemInfo,
    sandbox: SandboxReport,
    duration_s: float,
) -> RunResult:
    """The result of one attempt. Only an accepted run with timed phases has a score."""
    refused = next((p for p in material.phases if p.verdict is not Verdict.ACCEPTED), None)
    verdict, failure = Verdict.ACCEPTED, None
    if material.refusal is not None:
        verdict, failure = material.refusal.verdict, material.refusal.failure
    elif refused is not None:
        verdict = refused.verdict
        failure = refused.failure or Failure(Fault.AUTHOR, f"The {refused.phase} phase failed.")
    score_s, interval = _score(job, material.phases) if failure is None else (None, None)
    return RunResult(
        job_id=job.job_id,
        problem=job.problem.name,
        mode=job.mode,
        harness=job.problem.harness,
        verdict=verdict,
        system=system,
        sandbox=sandbox,
        score_s=score_s,
        score_ci95_s=interval,
        phases=tuple(material.phases),
        stdout=material.stdout,
        stderr=material.stderr,
        failure=failure,
        compile=material.compile,
        artifacts=material.artifacts,
        duration_s=duration_s,
        timings=dict(material.timings),
    )


def our_fault(message: str, evidence: str = "") -> Refusal:
    """`internal_error`, fault platform."""
    failure = Failure(Fault.PLATFORM, message[:MOST_TEXT], evidence[:MOST_TEXT])
    return Refusal(Verdict.INTERNAL_ERROR, failure)


def broken(
    job: JobSpec, message: str, system: SystemInfo, sandbox: SandboxReport, evidence: str = ""
) -> RunResult:
    """`internal_error`: our fault, not the author's."""
    material = Material(refusal=our_fault(message, evidence))
    return run_result(job, material, system, sandbox, 0.0)


def _score(
    job: JobSpec, phases: Sequence[PhaseResult]
) -> tuple[float | None, tuple[float, float] | None]:
    by_phase = {result.phase: result.workloads for result in phases}
    workloads = by_phase.get(Phase.LEADERBOARD) or by_phase.get(Phase.BENCHMARK) or ()
    if not workloads:
        return None, None
    return score(job.problem.ranking_by, workloads)
