"""Judges one job natively, phase by phase: the problem's code in its cage, the author's in runners.

No stranger's code runs here.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kernelbot.harness.build.cache import BuildCache
from kernelbot.harness.build.compile import Product, compile_job
from kernelbot.harness.gpu.driver import DeviceFull
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.judge.authors import Author, Step, authors_of, steps_of
from kernelbot.harness.judge.collected import Collected, Refusal
from kernelbot.harness.judge.device_room import DeviceRoom
from kernelbot.harness.judge.duel import duel_result, duel_workload
from kernelbot.harness.judge.failures import AuthorFailure, with_limit
from kernelbot.harness.judge.phases import TIMED, cases_of, limit_s, phases_of
from kernelbot.harness.judge.test_phase import run_tests
from kernelbot.harness.problem.loader import ProblemFull, shared_files, shared_modules
from kernelbot.harness.problem.questions import Examiner
from kernelbot.harness.problem.seeds import case_arguments
from kernelbot.harness.profiling.findings import keep
from kernelbot.harness.profiling.native import profilers_for
from kernelbot.harness.profiling.watched import Subject
from kernelbot.harness.runner_client.conversations import AnySession, expect_sessions, open_session
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.timing.anchor import load_anchor
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.control_runner import Control
from kernelbot.harness.timing.measure import Measurement, Measurer, workload_result
from kernelbot.harness.timing.timed_runner import TimedRunner
from kernelbot.protocol import (
    CaseResult,
    DuelWorkload,
    EventKind,
    Failure,
    Fault,
    JobSpec,
    Lang,
    Mode,
    Phase,
    PhaseResult,
    ProgressEvent,
    Vendor,
    Verdict,
    WorkloadResult,
)

Emit = Callable[[ProgressEvent], None]


class NativeJudge:
    """One job: of one author, or of two if it is a duel. `run` fills `collected`, also where it
    raises `ProblemBroken`."""

    def __init__(
        self,
        job: JobSpec,
        examiner: Examiner,
        client: RunnerClient,
        flusher: CacheFlusher,
        emit: Emit,
        cache: BuildCache | None,
        devices: tuple[JudgeDevice, ...] = (),
    ) -> None:
        """`devices`: the judge's, one for each rank, if data and outputs lie in its memory."""
        self._job = job
        self._devices = devices
        self._room = DeviceRoom(job, examiner, devices) if devices else None
        self._has_room = not devices
        self._modules = shared_modules(job.problem)
        self._examiner = examiner
        self._client = client
        self._flusher = flusher
        self._emit = emit
        self._random = random.SystemRandom()
        self._cache = cache
        self._authors = authors_of(job)
        self._steps = steps_of(job, self._authors)
        self._control: Control | None = None
        self._terminating: list[tuple[Author, AnySession]] = []
        self.collected = Collected()

    def run(self) -> None:
        """All phases of the job's mode, each only if the one before was accepted.

        On return all runners that author's code was in are gone, and everything below them.
        """
        try:
            self._run_all()
        finally:
            self._examiner.terminate()
            if self._control is not None:
                self._control.close()
            for author, session in self._terminating:
                ending = session.abort()
                if not author.is_opponent:  # what that prints is for nobody else to read
                    self.collected.add_ending(ending)

    def _run_all(self) -> None:
        if self._job.problem.lang is not Lang.PY and not all(map(self._compile, self._authors)):
            return
        for step in self._steps:
            result = self._run_step(step)
            self.collected.phases.append(result)
            self._emit(
                ProgressEvent(
                    EventKind.PHASE_FINISHED,
                    phase=result.phase,
                    verdict=result.verdict,
                    duration_s=result.duration_s,
                    of_opponent=result.of_opponent,
                )
            )
            if result.verdict is not Verdict.ACCEPTED:
                return

    def _compile(self, author: Author) -> bool:
        start = time.monotonic()
        job = author.job(self._job)
        build = compile_job(job, self._client, Product.SHARED_OBJECT, self._cache)
        duration_s = time.monotonic() - start
        self.collected.spend("compile", duration_s)
        if not author.is_opponent:
            self.collected.compile = build.report
        self._emit(
            ProgressEvent(
                EventKind.COMPILED,
                verdict=build.verdict,
                duration_s=duration_s,
                of_opponent=author.is_opponent,
            )
        )
        if build.failure is not None:
            self.collected.refusal = Refusal(build.verdict, build.failure)
            self.collected.opponent_failed = author.is_opponent
            return False
        author.binary = build.binary
        return True

    def _run_step(self, step: Step) -> PhaseResult:
        start = time.monotonic()
        total = len(cases_of(self._job.problem, step.phase))
        self._emit(
            ProgressEvent(
                EventKind.PHASE_STARTED,
                phase=step.phase,
                total=total,
                of_opponent=step.is_of_opponent,
            )
        )
        try:
            result = self._attempt(step)
        except AuthorFailure:
            result = self._second_opinion(step)
        duration_s = time.monotonic() - start
        return replace(result, duration_s=duration_s, of_opponent=step.is_of_opponent)

    def _second_opinion(self, step: Step) -> PhaseResult:
        """A busy machine can make one measurement look wrong; it takes two to refuse."""
        try:
            return self._attempt(step)
        except AuthorFailure as error:
            return self._refused(step.phase, error)

    def _attempt(self, step: Step) -> PhaseResult:
        """The life of a runner for each author. Raises `AuthorFailure` if that is disputable."""
        start = time.monotonic()
        phase_limit_s = limit_s(self._job, step.phase)
        for author in step.authors:
            author.spent_s = 0.0
        sessions: list[AnySession] = []
        try:
            for author in step.authors:
                sessions.append(self._session(step, len(sessions), start + phase_limit_s))
                self._terminating.append((author, sessions[-1]))
            self.collected.spend("spawn", time.monotonic() - start)
            return self._drive(step, sessions)
        except AuthorFailure as error:
            if error.disputable:
                raise
            return self._refused(step.phase, self._with_limit(step, error, sessions[0]))
        except (DeviceFull, ProblemFull) as error:
            if self._room is None:
                raise
            greediest = step.authors[self._room.end_all(sessions)]
            blamed = self._room.blame(step.phase, error)
            blamed.of_opponent = greediest.is_opponent
            return self._refused(step.phase, blamed)
        finally:
            for session in sessions:
                session.terminate()  # the next phase needn't wait while it dies
                if self._job.device.vendor is not Vendor.CPU:  # but for its memory there it must
                    session.abort()

    def _with_limit(self, step: Step, error: AuthorFailure, session: AnySession) -> AuthorFailure:
        """The same failure, or that of whoever used up the phase's time: in a duel it need not be
        whoever was called last."""
        phase_limit_s = limit_s(self._job, step.phase)
        late = with_limit(error, step.phase, phase_limit_s, session.deadline)
        if late is not error:
            late.of_opponent = max(step.authors, key=_spent_s).is_opponent
        return late

    def _session(self, step: Step, opened: int, deadline: float) -> AnySession:
        """One more, after so many in this step."""
        _, first = cases_of(self._job.problem, step.phase)[0]
        session = open_session(
            self._job, self._client, self._modules, deadline, first, self._devices
        )
        expect_sessions(self._job, self._client, self._sessions_soon(step) - opened - 1)
        return session

    def _sessions_soon(self, step: Step) -> int:
        """How many a step and the one after it open, the control's included."""
        now_and_next = self._steps[self._steps.index(step) :][:2]
        needs_control = self._control is None and any(one.phase in TIMED for one in now_and_next)
        return sum(len(one.authors) for one in now_and_next) + needs_control

    def _drive(self, step: Step, sessions: Sequence[AnySession]) -> PhaseResult:
        if step.phase in TIMED:
            return self._measure(step, sessions)
        (author,), (session,) = step.authors, sessions
        self._set_up(session)
        self._load(author, session)
        if step.phase is Phase.PROFILE:
            return self._profile(author, session)
        with author.blamed():
            return self._test(author, session)

    def _test(self, author: Author, session: AnySession) -> PhaseResult:
        emit = self._emit_of_opponent if author.is_opponent else self._emit
        cases = run_tests(self._job, self._examiner, session, emit, self.collected.spend)
        wrong = next((case for case in cases if case.verdict is not Verdict.ACCEPTED), None)
        if wrong is None:
            if author.binary is None and self._job.mode is not Mode.TEST:
                author.builds = session.builds()
            return PhaseResult(Phase.TEST, Verdict.ACCEPTED, 0.0, cases)
        self.collected.opponent_failed = author.is_opponent
        failure = Failure(Fault.AUTHOR, wrong.message)
        return PhaseResult(Phase.TEST, wrong.verdict, 0.0, cases, failure=failure)

    def _emit_of_opponent(self, event: ProgressEvent) -> None:
        self._emit(replace(event, of_opponent=True))

    def _set_up(self, session: AnySession) -> None:
        spec = self._job.problem
        device = "cpu" if self._job.device.vendor is Vendor.CPU else "cuda"
        outputs = None if spec.lang is Lang.PY else spec.config.outputs
        start = time.monotonic()
        session.setup(shared_files(spec), device, spec.fresh_output, outputs, self._check_room)
        if self._room is not None:  # making everybody's data is no part of the author's time
            session.deadline += time.monotonic() - start

    def _check_room(self) -> None:
        """Once, while the first runner gets ready: before any code of the author's."""
        if self._room is not None and not self._has_room:
            self._room.check(phases_of(self._job))
            self._has_room = True

    def _profile(self, author: Author, session: AnySession) -> PhaseResult:
        """A report and files of each workload, as artifacts in the order of the cases."""
        subject = Subject(self._job, self._modules, author.binary, author.builds)
        profilers = profilers_for(subject, session, self._client)
        profiled = []
        for index, case in cases_of(self._job.problem, Phase.PROFILE):
            encoded = self._examiner.ask(case_arguments(case, None), None, by_host=True).given
            found = [profiler.profile(encoded) for profiler in profilers]
            keep(self.collected.artifacts, index, found)
            profiled.append(CaseResult(case.spec, Verdict.ACCEPTED))
        return PhaseResult(Phase.PROFILE, Verdict.ACCEPTED, 0.0, tuple(profiled))

    def _load(self, author: Author, session: AnySession) -> None:
        start = time.monotonic()
        author.load(self._job, session)
        self.collected.spend("compile", time.monotonic() - start)

    def _measure(self, step: Step, sessions: Sequence[AnySession]) -> PhaseResult:
        spend = self.collected.spend
        runners = []
        for author, session in zip(step.authors, sessions, strict=True):
            self._set_up(session)
            self._load(author, session)
            runners.append(TimedRunner(self._job, session, self._flusher, spend, author))
            if len(sessions) > 1:  # it can't slow down how the other one is loaded
                runners[-1].hold()
        control = self._control_until(sessions[0].deadline)
        measurer = Measurer(self._job, self._examiner, runners, control, spend)
        try:
            return self._measure_all(step, measurer, sessions[0])
        finally:
            measurer.close()

    def _control_until(self, deadline: float) -> Control:
        """One control runner serves all phases: nobody's code ever enters it."""
        if self._control is None:
            self._control = Control(
                self._job, self._client, self._flusher, deadline, devices=self._devices
            )
            if self._job.opponent is None:  # else it isn't needed: see `Measurer`
                load_anchor(self._job, self._control, self._client, self._cache)
        self._control.extend(deadline)
        return self._control

    def _measure_all(self, step: Step, measurer: Measurer, session: AnySession) -> PhaseResult:
        order = cases_of(self._job.problem, step.phase)
        self._random.shuffle(order)
        done: dict[int, Measurement] = {}
        failure: AuthorFailure | None = None
        try:
            for position, (index, case) in enumerate(order):
                start = time.monotonic()
                measured = measurer.measure(index, case, len(order) - position)
                self.collected.spend("sampling", time.monotonic() - start)
                done[index] = measured
                self._announce(step.phase, index, measured)
        except AuthorFailure as error:
            if error.disputable:
                raise
            failure = self._with_limit(step, error, session)
        return self._measured(step.phase, [done[index] for index in sorted(done)], failure)

    def _measured(
        self, phase: Phase, done: Sequence[Measurement], failure: AuthorFailure | None
    ) -> PhaseResult:
        """The workloads that were measured, in the problem's order. A duel has its own form."""
        workloads: tuple[WorkloadResult, ...] = ()
        if self._job.opponent is None:
            workloads = tuple(map(workload_result, done))
        elif failure is None:
            rule = self._job.problem.ranking_by
            self.collected.duel = duel_result(rule, list(map(_duel_workload, done)))
        if failure is not None:
            return self._refused(phase, failure, workloads)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.0, workloads=workloads)

    def _refused(
        self, phase: Phase, error: AuthorFailure, workloads: tuple[WorkloadResult, ...] = ()
    ) -> PhaseResult:
        self.collected.opponent_failed = error.of_opponent
        failure = Failure(Fault.AUTHOR, error.message, error.evidence)
        return PhaseResult(phase, error.verdict, 0.0, workloads=workloads, failure=failure)

    def _announce(self, phase: Phase, index: int, measured: Measurement) -> None:
        self.collected.suspicions.extend(measured.suspicions)
        self._emit(
            ProgressEvent(
                EventKind.WORKLOAD,
                phase=phase,
                index=index,
                spec=None if self._job.secret else measured.case.spec,
                verdict=Verdict.ACCEPTED,
                median_ns=measured.median_ns,
            )
        )


def _spent_s(author: Author) -> float:
    return author.spent_s


def _duel_workload(measured: Measurement) -> DuelWorkload:
    mine, theirs = (times.samples_ns for times in measured.times)
    return duel_workload(measured.case.spec, mine, theirs, measured.stopped.value)
