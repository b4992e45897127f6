"""Whose kernels a job has: the submission, and in a duel its opponent's."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from kernelbot.harness.judge.build.on_cpu import runs_on_cpu
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.words.failures import AuthorFailure, blaming, while_compiling
from kernelbot.protocol import HarnessKind, JobSpec, Phase, SourceFile
from kernelbot.protocol.phases import TIMED, phases_of


@dataclass
class Contestant:
    """One author's file, and what was made of it. It runs in runners of its own."""

    source: SourceFile
    is_opponent: bool = False
    binary: bytes | None = None
    """What a compiled problem's source was built into, once it was."""
    builds: bytes = b""
    """What the file compiled for itself in an earlier phase."""
    spent_s: float = 0.0
    """The part of the phase's time that was used: its calls, and loading it, without `compiling_s`.
    """
    compiling_s: float = 0.0
    """The part of the compile limit that was used: importing it into the first runner of each
    phase, all together."""
    _is_imported: bool = False
    """Into a runner of this phase."""

    def begin_phase(self) -> None:
        """A phase begins, or another attempt at it."""
        self.spent_s, self._is_imported = 0.0, False

    def job(self, job: JobSpec) -> JobSpec:
        """The same job with this file as the submission."""
        return replace(job, submission=self.source)

    def load(self, job: JobSpec, session: Session) -> None:
        """Load the kernel into a runner. Raises `AuthorFailure`.

        Further runners of a phase take the phase's time: how many of them there are is the judge's
        choice, by what the first one took, and must not use up the compile limit.
        """
        spec = job.problem
        if self.binary is not None:
            with self.at_work():
                session.load_library(self.binary, spec.config.outputs, emulates=runs_on_cpu(job))
            return
        of_limit = self.at_work() if self._is_imported else self._compiling(job, session)
        self._is_imported = True
        with of_limit:
            session.load(self.source, spec.submission_name, self.builds)

    @contextmanager
    def _compiling(self, job: JobSpec, session: Session) -> Iterator[None]:
        """Within, the compile limit holds instead of the phase's. Raises `AuthorFailure`."""
        start, deadline, own_limit_s = time.monotonic(), session.deadline, session.own_limit_s
        limit_s = job.problem.timeouts.compile_s
        session.deadline, session.own_limit_s = start + max(limit_s - self.compiling_s, 0.0), None
        try:
            with self.blamed():
                yield
        except AuthorFailure as error:
            late = while_compiling(error, limit_s, session.deadline)
            if late is error:
                raise
            if late.disputable:  # a second attempt has all of that time again
                start = time.monotonic()
            raise late from error
        finally:
            self.compiling_s += time.monotonic() - start
            session.deadline, session.own_limit_s = deadline, own_limit_s
            session.begin_time()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Within, the time is this author's, and so is an `AuthorFailure`."""
        start = time.monotonic()
        try:
            with self.blamed():
                yield
        finally:
            self.spent_s += time.monotonic() - start

    def blamed(self) -> AbstractContextManager[None]:
        """Within, an `AuthorFailure` is this author's."""
        return blaming(opponent=self.is_opponent)


@dataclass(frozen=True)
class JudgingStep:
    """One phase, and whose kernels are in it, each in a runner of its own."""

    phase: Phase
    authors: tuple[Contestant, ...]

    @property
    def is_of_opponent(self) -> bool:
        """Whether it is the opponent's alone."""
        return all(author.is_opponent for author in self.authors)


def steps_of(job: JobSpec, authors: tuple[Contestant, ...]) -> tuple[JudgingStep, ...]:
    """A job's phases in their order: in a timed one all kernels are together, in every other one
    each is alone, one after another."""
    steps: list[JudgingStep] = []
    for phase in phases_of(job):
        if phase in TIMED:
            steps.append(JudgingStep(phase, authors))
        else:
            steps.extend(JudgingStep(phase, (author,)) for author in authors)
    return tuple(steps)


def authors_of(job: JobSpec) -> tuple[Contestant, ...]:
    """The submission's, and that of its opponent if the job is a duel."""
    submission = Contestant(job.submission)
    if job.opponent is None:
        return (submission,)
    return submission, Contestant(job.opponent, is_opponent=True)


def why_no_duel(job: JobSpec) -> str:
    """Why the job's problem can't be judged as the duel that the job is; empty if it can, or if it
    is none."""
    if job.opponent is None:
        return ""
    if job.problem.harness is HarnessKind.SCRIPT:
        return (
            "A duel needs a problem that is judged natively: here the problem's own script "
            "measures, and it knows of one submission only. Their scores can be compared."
        )
    return ""
