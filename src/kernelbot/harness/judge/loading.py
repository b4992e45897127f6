"""Gets the kernels of a step ready: opens their runners, sets these up, and loads the files."""

import random
import time
from collections.abc import Sequence

from kernelbot.harness.inside.cage.loader import shared_files
from kernelbot.harness.judge.authors import Contestant, JudgingStep
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.device_room import DeviceRoom
from kernelbot.harness.judge.measuring.timed_runner import TimedRunner
from kernelbot.harness.judge.sessions import JobSessions
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.processes import Cost, affordable, wanted
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.plan import Plan
from kernelbot.protocol.phases import limit_s, phases_of


class KernelLoader:
    """Loads the kernels of one job."""

    def __init__(
        self,
        plan: Plan,
        sessions: JobSessions,
        room: DeviceRoom | None,
        flusher: CacheFlusher,
        collected: Collected,
    ) -> None:
        """`room`: of the judge's devices, if data and outputs lie in their memory."""
        self._plan = plan
        self._job = plan.job
        self._sessions = sessions
        self._room = room
        self._has_room = room is None
        self._flusher = flusher
        self._collected = collected
        self._random = random.SystemRandom()

    def open(self, step: JudgingStep, deadline: float) -> list[Session]:
        """One session more for each author of the step, in their order."""
        start = time.monotonic()
        opened = self._sessions.open(step, deadline)
        self._collected.spend("spawn", time.monotonic() - start)
        return opened

    def set_up(self, session: Session, *, is_first: bool) -> None:
        """Give a runner the problem's shared files, and memory for its data. `is_first`: no code
        of an author's has run yet in the phase."""
        plan, spec = self._plan, self._job.problem
        files, outputs = shared_files(spec), plan.outputs
        start = time.monotonic()
        session.setup(
            files, plan.device, spec.fresh_output, outputs, self._check_room, is_first=is_first
        )
        if self._room is not None:  # making everybody's data is no part of the author's time
            session.deadline += time.monotonic() - start

    def load(self, author: Contestant, session: Session, sessions: Sequence[Session]) -> None:
        """Load a kernel. What had the compile limit takes no time of the phase, in `sessions`."""
        start, before_s = time.monotonic(), author.compiling_s
        try:
            author.load(self._job, session)
        finally:
            self._collected.spend("compile", time.monotonic() - start)
            for one in sessions:
                one.deadline += author.compiling_s - before_s
        self._collected.processors = session.ranks[0].clocks.processors()

    def lines(self, step: JudgingStep, first: Sequence[Session]) -> list[list[TimedRunner]]:
        """A line for each process of a kernel, with the runners of all authors, as many as loading
        allows; the sessions of the `first` are open."""
        start = time.monotonic()
        lines = [self._line(step, first, is_first=True)]
        cost, phase_limit_s = Cost(time.monotonic() - start), limit_s(self._job, step.phase)
        most = wanted(self._plan)
        if most > 1:
            most = affordable(most, cost, phase_limit_s, self._job.limits.memory_bytes)
        while len(lines) < most:
            lines.append(self._line(step, self.open(step, first[0].deadline)))
        return lines

    def _check_room(self) -> None:
        """Once, while the first runner gets ready: before any code of the author's."""
        if self._room is not None and not self._has_room:
            self._room.check(phases_of(self._job))
            self._has_room = True

    def _line(
        self, step: JudgingStep, sessions: Sequence[Session], *, is_first: bool = False
    ) -> list[TimedRunner]:
        """Load the authors' kernels, each into a session of its own, in random order."""
        loaded: dict[int, TimedRunner] = {}
        for side in self._random.sample(range(len(step.authors)), len(step.authors)):
            author, session = step.authors[side], sessions[side]
            self.set_up(session, is_first=is_first and not loaded)
            try:
                self.load(author, session, sessions)
            except AuthorFailure:
                self._sessions.hear(session)
                raise
            runner = TimedRunner(self._plan, session, self._flusher, self._collected.spend, author)
            if len(sessions) > 1 or wanted(self._plan) > 1:
                runner.hold()  # it can't slow down how the other ones are loaded
            loaded[side] = runner
        return [loaded[side] for side in sorted(loaded)]
