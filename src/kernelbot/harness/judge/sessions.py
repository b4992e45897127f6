"""The runners that a job's kernels are in: one for each author of a step, and for a timed one
several."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import shared_modules
from kernelbot.harness.judge.authors import JudgingStep
from kernelbot.harness.judge.calls.conversations import expect_sessions, open_session
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.timing.processes import wanted
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.windows import Ending
from kernelbot.protocol.phases import TIMED, cases_of


@dataclass
class _Opened:
    session: Session
    is_of_opponent: bool
    is_heard: bool
    """Whether what it prints is kept."""


class JobSessions:
    """The sessions of one job."""

    def __init__(
        self,
        plan: Plan,
        client: RunnerClient,
        devices: tuple[JudgeDevice, ...],
        steps: Sequence[JudgingStep],
    ) -> None:
        self._plan = plan
        self._client = client
        self._devices = devices
        self._steps = steps
        self._modules = shared_modules(plan.job.problem)
        self._random = random.SystemRandom()
        self._opened: list[_Opened] = []
        self._of_step = 0
        """How many there were before this step."""
        self.needs_control = True
        """Whether the control runner is yet to be started."""

    def begin_step(self) -> None:
        """A step begins, or another attempt at it."""
        self._of_step = len(self._opened)

    def open(self, step: JudgingStep, deadline: float) -> list[Session]:
        """Open a session for each contestant of the step, in their order. Raises
        `SandboxUnavailable`."""
        is_first = len(self._opened) == self._of_step
        opened: dict[int, Session] = {}
        _, first = cases_of(self._plan.job.problem, step.phase)[0]
        for side in self._random.sample(range(len(step.authors)), len(step.authors)):
            session = open_session(
                self._plan, self._client, self._modules, deadline, first, self._devices
            )
            opened[side] = session
            by_opponent = step.authors[side].is_opponent
            # What an opponent prints is for nobody else to read. All processes print the same, and
            # the first one is called whatever happens.
            self._opened.append(_Opened(session, by_opponent, is_first and not by_opponent))
            soon = self._soon(step)
            here = len(self._opened) - self._of_step
            expect_sessions(self._plan, self._client, soon - here)
        return [opened[side] for side in sorted(opened)]

    def hear(self, session: Session) -> None:
        """Keep what this one prints as well: something went wrong in it."""
        for one in self._opened:
            if one.session is session:
                one.is_heard = not one.is_of_opponent

    def end_step(self) -> None:
        """End those of this step; the next one needn't wait while they die."""
        for one in self._opened[self._of_step :]:
            one.session.terminate()
            if self._plan.on_gpu:  # but for its memory there it must
                one.session.abort()

    def abort_step(self) -> None:
        """End those of this step, and return once they are gone and hold nothing any more."""
        for one in self._opened[self._of_step :]:
            one.session.abort()

    def end(self) -> list[Ending]:
        """End all of them, and return once they are gone; the endings of those that are heard."""
        endings = [(one.session.abort(), one.is_heard) for one in self._opened]
        return [ending for ending, is_heard in endings if is_heard]

    def _soon(self, step: JudgingStep) -> int:
        """How many a step and the one after it open, the control's included."""
        soon = self._steps[self._steps.index(step) :][:2]
        processes = wanted(self._plan)
        count = sum(len(one.authors) * (processes if one.phase in TIMED else 1) for one in soon)
        return count + (self.needs_control and any(one.phase in TIMED for one in soon))
