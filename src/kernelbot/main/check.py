"""Judges a problem's own solutions: do the correct ones pass, and the wrong ones fail?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kernelbot.catalog.oracle import MAX_SOLUTION_BYTES, Expectation, Solution, find_solutions
from kernelbot.catalog.problem import LoadedProblem
from kernelbot.protocol import (
    DeviceSpec,
    JobSpec,
    Mode,
    ProblemSpec,
    RunResult,
    SandboxMode,
    SourceFile,
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


def check_solutions(
    loaded: LoadedProblem,
    judge: Callable[[JobSpec], RunResult],
    *,
    device: DeviceSpec,
    sandbox: SandboxMode = SandboxMode.REQUIRED,
) -> Iterator[CheckedSolution]:
    """Judge every solution of the problem's folder, one after the other, yielding as they end.

    Correct ones run in mode test. A wrong one that passes its tests gets a second chance to be
    caught: in mode benchmark, whose sizes are others and whose outputs are checked as well.
    """
    problem = loaded.definition.spec
    for solution in find_solutions(loaded.folder, problem.submission_name):
        source, trouble = _read(solution, problem)
        if source is None:
            refused = solution.expected is Expectation.WRONG
            yield CheckedSolution(solution, None, refused, trouble)
            continue
        for mode in _modes(solution):
            job = JobSpec(
                job_id=f"check-{solution.label}-{mode}",
                problem=problem,
                submission=source,
                mode=mode,
                device=device,
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


def _read(solution: Solution, problem: ProblemSpec) -> tuple[SourceFile | None, str]:
    raw = solution.path.read_bytes()
    if len(raw) > MAX_SOLUTION_BYTES:
        return None, f"larger than {MAX_SOLUTION_BYTES >> 20} MiB"
    try:
        return SourceFile(problem.submission_name, raw.decode()), ""
    except UnicodeDecodeError:
        return None, "isn't a text file in UTF-8"


def _outcome(solution: Solution, result: RunResult) -> CheckedSolution:
    message = result.failure.message if result.failure else ""
    known = result.verdict is not Verdict.INTERNAL_ERROR
    behaved = solution.behaved(result.verdict) if known else None
    return CheckedSolution(solution, result, behaved, message)
