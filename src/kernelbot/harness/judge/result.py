"""From phases to a run's result: the verdict, the score, and whose fault it was."""

from collections.abc import Sequence

from kernelbot import __version__
from kernelbot.harness.archive import sources_sha256
from kernelbot.harness.judge.collected import Collected, JudgingRefusal
from kernelbot.protocol import (
    Failure,
    Fault,
    JobSpec,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
)
from kernelbot.protocol.result_size import MAX_TEXT
from kernelbot.protocol.scoring import score, scoring_workloads


def run_result(
    job: JobSpec,
    collected: Collected,
    system: SystemInfo,
    sandbox: SandboxReport,
    duration_s: float,
) -> RunResult:
    """The result of one attempt. Only an accepted run with timed phases has a score."""
    refused = next((p for p in collected.phases if p.verdict is not Verdict.ACCEPTED), None)
    verdict, failure = Verdict.ACCEPTED, None
    if collected.refusal is not None:
        verdict, failure = collected.refusal.verdict, collected.refusal.failure
    elif refused is not None:
        verdict = refused.verdict
        failure = refused.failure or Failure(Fault.AUTHOR, f"The {refused.phase} phase failed.")
    score_s, interval = _score(job, collected.phases) if failure is None else (None, None)
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
        phases=tuple(collected.phases),
        stdout=_shortened(collected.stdout, job.limits.output_kept_bytes),
        stderr=_shortened(collected.stderr, job.limits.output_kept_bytes),
        failure=failure,
        compile=collected.compile,
        artifacts=collected.artifacts.all(),
        duration_s=duration_s,
        timings=dict(collected.timings),
        suspicions=tuple(collected.suspicions) if failure is None else (),
        harness_version=__version__,
        harness_sha256=sources_sha256(),
        recurring_data=collected.recurring_data,
        duel=collected.duel if failure is None else None,
        opponent_failed=failure is not None and collected.opponent_failed,
        product=collected.product if failure is None else None,
    )


def our_fault(message: str) -> JudgingRefusal:
    """`internal_error`, fault platform."""
    failure = Failure(Fault.PLATFORM, message[:MAX_TEXT])
    return JudgingRefusal(Verdict.INTERNAL_ERROR, failure)


def broken(job: JobSpec, message: str, system: SystemInfo, sandbox: SandboxReport) -> RunResult:
    """`internal_error`: our fault, not the author's."""
    collected = Collected(refusal=our_fault(message))
    return run_result(job, collected, system, sandbox, 0.0)


def _shortened(text: str, most: int) -> str:
    """What is kept of everything that a run's runners printed: beginning and end, as of each."""
    if len(text) <= most:
        return text
    half = most // 2
    note = f"\n[... {len(text) - 2 * half} characters left out ...]\n"
    return text[:half] + note + text[len(text) - half :]


def _score(
    job: JobSpec, phases: Sequence[PhaseResult]
) -> tuple[float | None, tuple[float, float] | None]:
    workloads = scoring_workloads({result.phase: result.workloads for result in phases})
    if not workloads:
        return None, None
    return score(job.problem.ranking_by, workloads)
