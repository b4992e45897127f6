"""The verdict on a run of a problem's script, from how it ended and what it reported."""

import signal
from dataclasses import replace

from kernelbot.harness.judge.script.report import (
    ReportBroken,
    ScriptReport,
    case_results,
    workload_results,
)
from kernelbot.harness.timing.plausibility import below_floor
from kernelbot.harness.words.failures import (
    out_of_memory,
    out_of_processor_time,
    out_of_time,
    too_much_output,
)
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import (
    Case,
    CaseResult,
    Failure,
    Fault,
    JobSpec,
    Phase,
    PhaseResult,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.phases import limit_s

_TESTS_FAILED = 112
_SAID_BY_SCRIPTS = {
    110: "A CUDA call failed.",
    111: "It ended with exit code 111: scripts say so if they got no result descriptor.",
    113: "It ended with exit code 113: scripts say so if they can't read their cases.",
}
"""A submission can use these exit codes too, so none of them is ever the platform's fault."""
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
_TRIM = 500


def refuse_impossible(job: JobSpec, result: PhaseResult) -> PhaseResult:
    """`rule_violation` if an accepted phase has a time below its workload's floor."""
    if result.phase not in (Phase.BENCHMARK, Phase.LEADERBOARD):
        return result
    if result.verdict is not Verdict.ACCEPTED:
        return result
    floors = job.problem.floors or (None,) * len(result.workloads)
    last = floors[-len(result.workloads) :]  # a phase times all workloads, or only the last
    for floor, workload in zip(last, result.workloads, strict=False):
        if found := below_floor(floor, job.device, workload.median_ns):
            evidence = f"{workload.spec}: {found.evidence}"
            failure = Failure(Fault.AUTHOR, found.message, evidence)
            return replace(result, verdict=Verdict.RULE_VIOLATION, failure=failure)
    return result


def conclude(
    job: JobSpec, phase: Phase, cases: tuple[Case, ...], report: ScriptReport, result: CommandResult
) -> PhaseResult:
    """Decide a phase from how the script ended and what it reported."""
    results: tuple[CaseResult, ...] = ()
    workloads: tuple[WorkloadResult, ...] = ()
    try:
        if phase is Phase.TEST:
            results = case_results(report, cases)
        else:
            workloads = workload_results(report, cases)
        verdict, failure = _decide(job, phase, cases, report, result, results, workloads)
    except ReportBroken as error:
        verdict = Verdict.RULE_VIOLATION
        message = (
            f"The script reported an impossible time: {error}. Leave its clocks and its output "
            "alone."
        )
        failure = Failure(Fault.AUTHOR, message, str(error))
    return PhaseResult(phase, verdict, result.duration_s, results, workloads, failure)


def _decide(
    job: JobSpec,
    phase: Phase,
    cases: tuple[Case, ...],
    report: ScriptReport,
    result: CommandResult,
    results: tuple[CaseResult, ...],
    workloads: tuple[WorkloadResult, ...],
) -> tuple[Verdict, Failure | None]:
    if result.limit is not None:
        return result.limit, Failure(Fault.AUTHOR, _stopped(job, phase, result))
    if report.passed and result.exit_code == 0:
        return _believe(phase, cases, results, workloads)
    if result.exit_code == _TESTS_FAILED or report.says_wrong:
        wrong = next((case.message for case in results if case.verdict is Verdict.WRONG_ANSWER), "")
        message = wrong or report.first_message() or "The script found the output wrong."
        return Verdict.WRONG_ANSWER, Failure(Fault.AUTHOR, message[:_TRIM])
    return _crashed(report, result)


def _believe(
    phase: Phase,
    cases: tuple[Case, ...],
    results: tuple[CaseResult, ...],
    workloads: tuple[WorkloadResult, ...],
) -> tuple[Verdict, Failure | None]:
    """Accept `check: pass` only with a result for every case."""
    if phase is Phase.TEST:
        good = sum(case.verdict is Verdict.ACCEPTED for case in results)
    else:
        good = len(cases) if phase is Phase.PROFILE else len(workloads)
    if good == len(cases):
        return Verdict.ACCEPTED, None
    message = (
        f"The script said `check: pass` with results for {good} of {len(cases)} cases. "
        "Let the script run to its end: end no process in custom_kernel."
    )
    return Verdict.RUNTIME_ERROR, Failure(Fault.AUTHOR, message)


def _crashed(report: ScriptReport, result: CommandResult) -> tuple[Verdict, Failure]:
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    last = lines[-1].strip()[:_TRIM] if lines else ""
    if last.startswith(_SYNTAX_ERRORS):
        return Verdict.COMPILE_ERROR, Failure(Fault.AUTHOR, last)
    if last.startswith("MemoryError"):
        return Verdict.MEMORY_LIMIT, Failure(Fault.AUTHOR, last)
    if result.signal is not None:
        how = f"It was ended by {_signal_name(result.signal)}."
    elif result.exit_code:
        plain = f"It ended with exit code {result.exit_code}."
        how = _SAID_BY_SCRIPTS.get(result.exit_code, plain)
    else:
        how = "It ended without `check: pass`. Let the script run to its end."
    message = " ".join(part for part in (how, report.first_message()[:_TRIM] or last) if part)
    return Verdict.RUNTIME_ERROR, Failure(Fault.AUTHOR, message)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _stopped(job: JobSpec, phase: Phase, result: CommandResult) -> str:
    """Which limit ended the script, in the words of natively judged problems."""
    if result.limit is Verdict.MEMORY_LIMIT:
        return out_of_memory(job.limits).message
    if result.limit is Verdict.OUTPUT_LIMIT:
        return too_much_output(job.limits).message
    if result.timed_out:
        return out_of_time(phase, limit_s(job, phase)).message
    return out_of_processor_time(job.limits).message
