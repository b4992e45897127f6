"""Judges a problem's own solutions: do the correct ones pass, and the wrong ones fail?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernelbot.catalog.oracle import Expectation, Solution, find_solutions
from kernelbot.catalog.problem import LoadedProblem
from kernelbot.domain.errors import InvalidSubmission
from kernelbot.main.judge_once import judge_once
from kernelbot.main.run import find_device, read_submission
from kernelbot.main.settings import read_settings
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Limits,
    Mode,
    RunResult,
    SamplingRules,
    SandboxMode,
    Verdict,
)


@dataclass(frozen=True)
class CheckedSolution:
    """What became of one solution."""

    solution: Solution
    result: RunResult | None
    """None where the file can't be submitted at all; `message` says why."""
    behaved: bool | None
    """None: it could not be judged, so nothing is known about the problem."""
    message: str


def check_configured(
    loaded: LoadedProblem, *, device: str | None, sandbox: SandboxMode
) -> Iterator[CheckedSolution]:
    """As `check_solutions`, on this machine and with what is configured. `device` None: the first.

    Raises `UserError` where there is no such device.
    """
    settings = read_settings()
    return check_solutions(
        loaded,
        judge_once,
        device=find_device(device),
        limits=settings.limits,
        sampling=settings.sampling,
        sandbox=sandbox,
    )


def check_solutions(
    loaded: LoadedProblem,
    judge: Callable[[JobSpec], RunResult],
    *,
    device: DeviceSpec,
    limits: Limits = Limits(),  # frozen
    sampling: SamplingRules = SamplingRules(),  # frozen
    sandbox: SandboxMode = SandboxMode.REQUIRED,
) -> Iterator[CheckedSolution]:
    """Judge every solution of the problem's folder, one after the other, yielding as they end.

    Correct ones run in mode test. A wrong one that passes its tests gets a second chance to be
    caught: in mode benchmark, whose sizes are others and whose outputs are checked as well.
    """
    problem = loaded.definition.spec
    for solution in find_solutions(loaded.folder, problem.submission_name):
        try:
            source = read_submission(solution.path, problem)
        except InvalidSubmission as error:
            refused = solution.expected is Expectation.WRONG
            yield CheckedSolution(solution, None, refused, str(error))
            continue
        for mode in _modes(solution):
            job = JobSpec(
                job_id=f"check-{solution.label}-{mode}",
                problem=problem,
                submission=source,
                mode=mode,
                device=device,
                limits=limits,
                sampling=sampling,
                sandbox=sandbox,
            )
            result = judge(job)
            if result.verdict is not Verdict.ACCEPTED:
                break
        yield _outcome(solution, result)


def _modes(solution: Solution) -> tuple[Mode, ...]:
    if solution.expected is Expectation.CORRECT:
        return (Mode.TEST,)
    return (Mode.TEST, Mode.BENCHMARK)


def _outcome(solution: Solution, result: RunResult) -> CheckedSolution:
    message = result.failure.message if result.failure else ""
    known = result.verdict is not Verdict.INTERNAL_ERROR
    behaved = solution.behaved(result.verdict) if known else None
    return CheckedSolution(solution, result, behaved, message)
