"""What a kernel's time is compared with: the problem's reference, timed on the same device in the
same minute."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from kernelbot.catalog.problem import LoadedProblem
from kernelbot.catalog.reference import REFERENCE
from kernelbot.domain.errors import InvalidProblem
from kernelbot.protocol import JobSpec, Lang, RunResult, SourceFile, Verdict, WorkloadResult
from kernelbot.protocol.scoring import scoring_workloads

MAX_AGE_S = 60.0
_AS_SUBMISSION = "\n\ncustom_kernel = ref_kernel\n"


class BaselineLost(Exception):
    """The baseline couldn't be measured, and nobody is to blame. The text says why."""


@dataclass(frozen=True)
class Baseline:
    """A reference's times. `source` names what was timed."""

    source: str
    score_s: float
    score_ci95_s: tuple[float, float]
    workloads: tuple[WorkloadResult, ...] = field(repr=False)


def baseline_source(loaded: LoadedProblem) -> tuple[str, SourceFile]:
    """What is timed, and its name: the reference as a submission; of a compiled problem, the first
    of `solutions/correct`. Raises `InvalidProblem` if the problem has neither."""
    definition, spec = loaded.definition, loaded.definition.spec
    if spec.lang is Lang.PY:
        for file in spec.files:
            if file.name == REFERENCE and "ref_kernel" in file.text:
                text = file.text + _AS_SUBMISSION
                return file.name, SourceFile(spec.submission_name, text)
    for solution in definition.solutions:
        return solution.name, SourceFile(spec.submission_name, solution.text)
    raise InvalidProblem(
        f"The problem {spec.name} has no baseline.",
        hint="Give it a `ref_kernel` in reference.py, or a file in solutions/correct.",
    )


def baseline_of(name: str, job: JobSpec, result: RunResult) -> Baseline:
    """What judging a reference showed. Raises `InvalidProblem` if it was refused, and
    `BaselineLost`."""
    message = result.failure.message if result.failure else ""
    if result.verdict is Verdict.INTERNAL_ERROR:
        raise BaselineLost(f"The baseline couldn't be measured: {message}")
    if result.score_s is None or result.score_ci95_s is None:
        raise InvalidProblem(
            f"The baseline of {job.problem.name} ({name}) isn't accepted: {message}",
            hint="Judge that file by itself: it must pass the problem's own tests.",
        )
    by_phase = {phase.phase: phase.workloads for phase in result.phases}
    workloads = tuple(scoring_workloads(by_phase))
    return Baseline(name, result.score_s, result.score_ci95_s, workloads)


class Baselines:
    """The latest of each job's kind, which serves for a minute."""

    def __init__(self) -> None:
        self._locks: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._known: dict[Hashable, tuple[float, Baseline]] = {}

    async def near(
        self, key: Hashable, at_s: float, measure: Callable[[], Awaitable[Baseline]]
    ) -> Baseline:
        """The one measured up to `MAX_AGE_S` before `at_s` (by `time.monotonic`), or since then;
        measured now if there is none. Whoever has waited for another's isn't given one of their
        own, which would be later still."""
        async with self._locks[key]:
            known = self._known.get(key)
            if known is None or known[0] + MAX_AGE_S < at_s:
                measured = await measure()
                known = self._known[key] = (time.monotonic(), measured)
            return known[1]
