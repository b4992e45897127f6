"""A problem's anchor: a known kernel timed alternately with the author's, so that drift cancels.

A processor that grows warm slows the anchor as much as the author's kernel. The anchor runs in the
control runner, which never loads an author's code, while the author's runner is frozen. Each block
of ten samples is scaled by the anchor's median over all calls, divided by its median beside that
block; the samples themselves are kept as they were measured.
"""

import math
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.cage.questions import Question
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.judge.measuring.control_runner import AnchorFailed, Control
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.timing.waits import has_waited
from kernelbot.protocol import JobSpec, Lang, Verdict
from kernelbot.protocol.scoring import MAX_DRIFT, SAMPLES_PER_FACTOR
from kernelbot.protocol.waits import MOST_TRIES

EVERY = 2
"""Number of the author's calls per call of the anchor, which comes before them."""
_PER_BLOCK = SAMPLES_PER_FACTOR // EVERY
_WARMING_CALLS = 3


def load_anchor(
    job: JobSpec, control: Control, client: RunnerClient, cache: BuildCache | None
) -> None:
    """Load the problem's anchor, if it has one, into the control runner.

    Raises `ProblemBroken` if it can't be built or loaded.
    """
    name = job.problem.anchor
    if name is None:
        return
    source = next((file for file in job.problem.files if file.name == name), None)
    if source is None:
        raise ProblemBroken(f"The problem's anchor {name} isn't among its files.")
    with _blaming_the_problem():
        if job.problem.lang is Lang.PY:
            control.load_anchor(source)
            return
        build = compile_job(
            replace(job, submission=source), client, CompilerProduct.SHARED_OBJECT, cache
        )
        if build.verdict is not Verdict.ACCEPTED:
            said = build.failure.message if build.failure else build.verdict
            raise ProblemBroken(f"The problem's anchor doesn't compile: {said}")
        control.load_anchor_library(build.binary, job.problem.config.outputs)


class Anchor:
    """The anchor's times beside the samples of one workload."""

    def __init__(self, control: Control, question: Question) -> None:
        """Warm it up, and refuse it if its answer is wrong. Raises `ProblemBroken`."""
        self._control = control
        self._question = question
        self._times_ns: list[int] = []
        self.spent_s = 0.0
        """Seconds that its calls have taken so far, which don't count as the author's."""
        for _ in range(_WARMING_CALLS):
            self.observe()
        with _blaming_the_problem():
            wrong = question.complaint(control.call_anchor(question.given).value)
        if wrong:
            raise ProblemBroken(f"The problem's anchor gives a wrong answer: {wrong}")
        self._times_ns.clear()

    def observe(self) -> None:
        """Time the anchor once more with cold caches; a call that had to wait is repeated. Raises
        `ProblemBroken`."""
        start = time.monotonic()
        usual_ns = self.median_ns if self._times_ns else 0.0
        for _ in range(MOST_TRIES):
            with _blaming_the_problem():
                window = self._control.call_anchor(self._question.given).window
            if not has_waited(window, usual_ns):
                break
        self._times_ns.append(max(window.claim_ns - (window.kept_waiting_ns or 0), 0))
        self.spent_s += time.monotonic() - start

    @property
    def median_ns(self) -> float:
        """The median of all its calls, in ns."""
        return statistics.median(self._times_ns)

    def factors(self, samples: int) -> tuple[float, ...]:
        """The factors that cancel drift, one for each block of samples."""
        return drift_factors(self._times_ns, samples)


def drift_factors(anchor_ns: Sequence[float], samples: int) -> tuple[float, ...]:
    """For each block of ten among `samples`: the anchor's median over all calls, divided by that
    beside the block, limited to 1 plus or minus a tenth.

    `anchor_ns`: its times, one before every second sample.
    """
    overall = statistics.median(anchor_ns)
    found = []
    for block in range(math.ceil(samples / SAMPLES_PER_FACTOR)):
        near = anchor_ns[block * _PER_BLOCK : (block + 1) * _PER_BLOCK + 1]
        if len(near) < _PER_BLOCK:
            near = anchor_ns[-_PER_BLOCK:]
        factor = overall / max(statistics.median(near), 1.0)
        found.append(min(max(factor, 1 / (1 + MAX_DRIFT)), 1 + MAX_DRIFT))
    return tuple(found)


@contextmanager
def _blaming_the_problem() -> Iterator[None]:
    """An anchor that fails is neither the author's fault nor the sandbox's."""
    try:
        yield
    except AnchorFailed as error:
        raise ProblemBroken(f"The problem's anchor failed: {error}") from error
