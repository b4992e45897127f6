"""Tries a problem by itself, then its solutions: do the correct ones pass, the wrong ones fail?"""

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kernelbot.catalog.oracle import Expectation, Solution, find_solutions
from kernelbot.catalog.problem import LoadedProblem
from kernelbot.domain.errors import InvalidSubmission, PlatformError
from kernelbot.harness.judge.build.on_cpu import why_no_time
from kernelbot.harness.judge.problem.troubles import ProblemTrouble as ProblemTrouble
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    Mode,
    RunResult,
    SamplingRules,
    SandboxMode,
    SourceFile,
    Vendor,
    Verdict,
    WorkloadResult,
    to_wire,
)
from kernelbot.render.units import time_text
from kernelbot.server.judge_once import HARNESS, SLACK_S, judge_once
from kernelbot.server.judging_settings import read_judging_settings
from kernelbot.server.run import read_submission

SHORT_NS = 50_000.0
SHORT_ON_GPU_NS = 10_000.0
"""A workload whose fastest call is below this is mostly the cost of being called and timed."""
NOISY_SHARE = 0.05
"""An interval wider than this share of the median is noise that hides small gains."""
CHECKER_RAISED = "The problem's checker can't use this output"
"""The harness's message if a checker raises on one output and not on the reference's. To the
submission's author that is a wrong answer, to the problem's author a mistake in the checker."""
_PROBLEM_S = "The problem's "
"""How the harness's messages about a problem's own code begin."""


@dataclass(frozen=True)
class CheckedSolution:
    solution: Solution
    result: RunResult | None
    """None if the file can't be submitted at all; `message` says why."""
    behaved: bool | None
    """None: it could not be judged, so nothing is known about the problem."""
    message: str
    vendor: Vendor
    """The name of the device that it was judged on."""

    @property
    def blames_problem(self) -> bool:
        """Whether it couldn't be judged because the problem's own code failed on its output."""
        return self.behaved is None and self.message.startswith(_PROBLEM_S)

    @property
    def workloads(self) -> tuple[WorkloadResult, ...]:
        """The solution's timed workloads; empty unless it was timed."""
        phases = self.result.phases if self.result else ()
        return tuple(workload for phase in phases for workload in phase.workloads)

    def time_notes(self, workload: WorkloadResult) -> tuple[str, ...]:
        """What makes a workload unsuitable for timing, according to these times."""
        notes = []
        short_ns = SHORT_NS if self.vendor is Vendor.CPU else SHORT_ON_GPU_NS
        if workload.best_ns < short_ns:
            notes.append(
                f"too short to measure well (under {time_text(short_ns)} a call): make it larger"
            )
        low_ns, high_ns = workload.ci95_ns
        if high_ns - low_ns > NOISY_SHARE * workload.median_ns:
            notes.append(
                "noisy, so small gains can't be seen: make it larger, or the machine quieter"
            )
        return tuple(notes)


def try_configured(loaded: LoadedProblem, *, device: str | None) -> tuple[ProblemTrouble, ...]:
    """Run generator, reference and checker alone, in a process of their own; returns what is wrong
    with them, empty also if they can't run here because there is no GPU. `device` None: the first
    configured one. Raises `UserError` if there is no such device."""
    job = JobSpec(
        job_id="try-problem",
        problem=loaded.definition.spec,
        submission=SourceFile(loaded.definition.spec.submission_name, ""),
        mode=Mode.TEST,
        device=read_judging_settings().device(device),
    )
    if job.device.vendor is not Vendor.CPU:
        return ()  # its solutions are judged on a machine that has one
    limit_s = job.longest_s + SLACK_S
    try:
        ended = subprocess.run(
            [*HARNESS, "try-problem"],
            input=json.dumps(to_wire(job)).encode(),
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return (ProblemTrouble(f"Its data and answers weren't there after {limit_s:.0f} s."),)
    if ended.returncode == 0:
        return tuple(ProblemTrouble(**trouble) for trouble in json.loads(ended.stdout))
    said = ended.stderr.decode(errors="replace").strip()[-4000:]
    if not said.startswith("Traceback"):
        how = f"ended its process (exit code {ended.returncode})"
        return (ProblemTrouble(f"The problem's own code {how}.", said),)
    raise PlatformError(f"The harness failed while it tried the problem:\n{said}")


def check_configured(
    loaded: LoadedProblem, *, device: str | None, sandbox: SandboxMode, mode: Mode = Mode.BENCHMARK
) -> Iterator[CheckedSolution]:
    """Check the solutions on this machine, with the configured devices. `device` None: the first.

    Raises `UserError` if there is no such device.
    """
    settings = read_judging_settings()
    return check_solutions(
        loaded,
        judge_once,
        device=settings.device(device),
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=sandbox,
        mode=mode,
    )


def check_solutions(
    loaded: LoadedProblem,
    judge: Callable[[JobSpec], RunResult],
    *,
    device: DeviceSpec,
    limits: Limits = Limits(),  # frozen
    sampling: SamplingRules = SamplingRules(),  # frozen
    sandbox: SandboxMode = SandboxMode.REQUIRED,
    mode: Mode = Mode.BENCHMARK,
) -> Iterator[CheckedSolution]:
    """Judge every solution of the problem's folder, one after the other, yielding as they end.

    Correct ones run in `mode`: in benchmark their times are known. A wrong one that passes its
    tests gets a second chance to be caught: in `mode`, or in benchmark if that is test, whose sizes
    are others and whose outputs are checked as well. CUDA kernels that the processor runs are only
    tested.
    """
    problem = loaded.definition.spec
    for solution in find_solutions(loaded.folder, problem.submission_name):
        try:
            source = read_submission(solution.path, problem)
        except InvalidSubmission as error:
            refused = solution.expected is Expectation.WRONG
            yield CheckedSolution(solution, None, refused, str(error), device.vendor)
            continue
        wanted = JobSpec(
            job_id=f"check-{solution.label}",
            problem=problem,
            submission=source,
            mode=mode,
            device=device,
            limits=limits,
            sampling=sampling,
            sandbox=sandbox,
        )
        for one in _modes(solution, wanted):
            job = replace(wanted, job_id=f"{wanted.job_id}-{one}", mode=one)
            result = judge(job)
            if result.verdict is not Verdict.ACCEPTED:
                break
        yield _outcome(solution, result, device.vendor)


def _modes(solution: Solution, wanted: JobSpec) -> tuple[Mode, ...]:
    if why_no_time(replace(wanted, mode=Mode.BENCHMARK)):
        return (Mode.TEST,)
    if solution.expected is Expectation.CORRECT:
        return (wanted.mode,)
    return (Mode.TEST, Mode.BENCHMARK if wanted.mode is Mode.TEST else wanted.mode)


def _outcome(solution: Solution, result: RunResult, vendor: Vendor) -> CheckedSolution:
    message = result.failure.message if result.failure else ""
    cases = [case.message or "" for phase in result.phases for case in phase.cases]
    if raised := [said for said in cases if said.startswith(CHECKER_RAISED)]:
        return CheckedSolution(solution, result, None, raised[0], vendor)
    known = result.verdict is not Verdict.INTERNAL_ERROR
    behaved = solution.behaved(result.verdict) if known else None
    return CheckedSolution(solution, result, behaved, message, vendor)
