"""Judges one job natively, phase by phase: the problem's code in its cage, the author's in runners.

No stranger's code runs here.
"""

import itertools
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFull, shared_modules
from kernelbot.harness.inside.gpu.driver import DeviceFull
from kernelbot.harness.judge.authors import Contestant, JudgingStep, steps_of
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.device_room import DeviceRoom
from kernelbot.harness.judge.disputes import Disputes
from kernelbot.harness.judge.gpu_faults import TRIAL_S, expect_sound_contexts, expect_sound_control
from kernelbot.harness.judge.loading import KernelLoader
from kernelbot.harness.judge.measuring.anchor import load_anchor
from kernelbot.harness.judge.measuring.control_runner import Control
from kernelbot.harness.judge.measuring.measure import Measurer
from kernelbot.harness.judge.measuring.measurement import (
    Measurement,
    dueled_workload,
    workload_result,
)
from kernelbot.harness.judge.measuring_turn import MeasuringTurn
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.judge.profiling.findings import keep
from kernelbot.harness.judge.profiling.native import profilers_for
from kernelbot.harness.judge.profiling.watched import Subject
from kernelbot.harness.judge.sessions import JobSessions
from kernelbot.harness.judge.stillness import blamed_for_moving
from kernelbot.harness.judge.test_phase import run_tests
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.sandbox.freezer import NotFrozen
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.timing.threads import ThreadTimes
from kernelbot.harness.timing.waits import FIRSTS_COUNT
from kernelbot.harness.words.failures import AuthorFailure, with_limit
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.seeds import case_arguments
from kernelbot.protocol import (
    Case,
    CaseResult,
    EventKind,
    Failure,
    Fault,
    Mode,
    Phase,
    PhaseResult,
    ProgressEvent,
    Verdict,
    WorkloadResult,
)
from kernelbot.protocol.phases import TIMED, cases_of, limit_s
from kernelbot.protocol.ratios import duel_result
from kernelbot.protocol.recurring import recurs

Emit = Callable[[ProgressEvent], None]


class NativeJudge:
    """One job: of one author, or of two if it is a duel. `run` fills `collected`, also where it
    raises `ProblemBroken`."""

    def __init__(
        self,
        plan: Plan,
        authors: tuple[Contestant, ...],
        examiner: Examiner,
        client: RunnerClient,
        flusher: CacheFlusher,
        emit: Emit,
        cache: BuildCache | None,
        collected: Collected,
        turn: MeasuringTurn,
        devices: tuple[JudgeDevice, ...] = (),
    ) -> None:
        """`authors`: of a compiled problem with their binaries. `devices`: the judge's, one for
        each rank, if data and outputs lie in its memory."""
        self._plan = plan
        self._job = job = plan.job
        self._devices = devices
        self._room = DeviceRoom(plan, examiner, devices) if devices else None
        self._modules = shared_modules(job.problem)
        self._examiner = examiner
        self._client = client
        self._flusher = flusher
        self._emit = emit
        self._random = random.SystemRandom()
        self._cache = cache
        self._steps = self._dealt(steps_of(job, authors))
        self._control: Control | None = None
        self._disputes = Disputes()
        self._sessions = JobSessions(plan, client, devices, self._steps)
        self._loader = KernelLoader(plan, self._sessions, self._room, flusher, collected)
        self._turn = turn
        self.collected = collected

    def run(self) -> None:
        """All phases of the job's mode, each only if the one before was accepted. On return all
        runners that author's code was in are gone, and everything below them."""
        try:
            self._run_all()
        finally:
            self._examiner.terminate()
            if self._control is not None:
                self._control.close()
            for ending in self._sessions.end():
                self.collected.add_ending(ending)

    def _run_all(self) -> None:
        for step in self._steps:
            result = self._run_step(step)
            self.collected.add_phase(result)
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

    def _dealt(self, steps: tuple[JudgingStep, ...]) -> tuple[JudgingStep, ...]:
        """The same, with the sides of a duel in random order in each phase: whoever is always first
        could tell by that which side it is."""
        dealt: list[JudgingStep] = []
        for _, group in itertools.groupby(steps, lambda step: step.phase):
            of_phase = list(group)
            dealt += self._random.sample(of_phase, len(of_phase))
        return tuple(dealt)

    def _run_step(self, step: JudgingStep) -> PhaseResult:
        if step.phase in TIMED and not self._plan.on_gpu:
            self._flusher.prepare()
        start, waited_s = time.monotonic(), self._turn.waited_s
        total = len(cases_of(self._job.problem, step.phase))
        self._emit(
            ProgressEvent(
                EventKind.PHASE_STARTED,
                phase=step.phase,
                total=total,
                of_opponent=step.is_of_opponent,
            )
        )
        self._disputes.begin_step()
        try:
            result = self._attempt(step)
        except AuthorFailure as error:
            result = self._second_opinion(step, error)
        duration_s = time.monotonic() - start - (self._turn.waited_s - waited_s)
        return replace(result, duration_s=duration_s, of_opponent=step.is_of_opponent)

    def _second_opinion(self, step: JudgingStep, disputable: AuthorFailure) -> PhaseResult:
        """A busy machine can make one measurement look wrong; it takes two to refuse."""
        note = self._disputes.allow(step.phase, disputable)
        if note is None:
            return self._refused(step.phase, disputable)
        self.collected.notes.append(note)
        try:
            return self._attempt(step)
        except AuthorFailure as error:
            return self._refused(step.phase, error)

    def _attempt(self, step: JudgingStep) -> PhaseResult:
        """The life of a runner for each author. Raises `AuthorFailure` if that is disputable."""
        start = time.monotonic()
        phase_limit_s = limit_s(self._job, step.phase)
        deadline = start + phase_limit_s + self._disputes.extra_s
        for author in step.authors:
            author.begin_phase()
        self._sessions.begin_step()
        sessions: list[Session] = []
        try:
            sessions += self._loader.open(step, deadline)
            if self._disputes.extra_s:
                for session in sessions:
                    session.own_limit_s = phase_limit_s
            return self._drive(step, sessions)
        except AuthorFailure as error:
            self._excuse(error, step.phase)
            late = error if error.disputable else self._with_limit(step, error, sessions[0])
            if late.disputable:
                raise late from error.__cause__
            return self._refused(step.phase, late)
        except NotFrozen as error:
            raise blamed_for_moving(
                error,
                self._sessions.abort_step,
                lambda: self._control_until(time.monotonic() + TRIAL_S).stand_still(),
            ) from error
        except (DeviceFull, ProblemFull) as error:
            if self._room is None:
                raise
            greediest = step.authors[self._room.end_all(sessions)]
            blamed = self._room.blame(step.phase, error)
            blamed.of_opponent = greediest.is_opponent
            return self._refused(step.phase, blamed)
        finally:
            self._sessions.end_step()

    def _excuse(self, error: AuthorFailure, phase: Phase) -> None:
        """Raises `SandboxUnavailable` if work on the GPU has failed by nobody's fault."""
        if not error.is_gpu_fault or not self._plan.on_gpu:
            return
        self._sessions.abort_step()  # what they hold must not be in the way
        expect_sound_contexts(self._devices)
        if self._job.problem.benchmarks:  # else there can be no control runner
            _, case = cases_of(self._job.problem, phase)[0]
            expect_sound_control(
                lambda: self._control_until(time.monotonic() + TRIAL_S),
                lambda: self._examiner.ask(case_arguments(case, None), None),
            )

    def _with_limit(
        self, step: JudgingStep, error: AuthorFailure, session: Session
    ) -> AuthorFailure:
        """The same failure, or that of whoever used up the phase's time."""
        phase_limit_s = limit_s(self._job, step.phase)
        late = with_limit(error, step.phase, phase_limit_s, session.deadline)
        if late is not error:
            late.of_opponent = max(step.authors, key=lambda one: one.spent_s).is_opponent
            if late.of_opponent != error.of_opponent:  # what the other one waited for is no excuse
                late.disputable, late.excuse = False, ""
        return late

    def _drive(self, step: JudgingStep, sessions: Sequence[Session]) -> PhaseResult:
        if step.phase in TIMED:
            return self._measure(step, sessions)
        (author,), (session,) = step.authors, sessions
        self._loader.set_up(session, is_first=True)
        self._loader.load(author, session, sessions)
        if step.phase is Phase.PROFILE:
            return self._profile(author, session)
        with author.blamed():
            return self._test(author, session)

    def _test(self, author: Contestant, session: Session) -> PhaseResult:
        emit = self._emit_of_opponent if author.is_opponent else self._emit
        cases = run_tests(
            self._plan,
            self._examiner,
            session,
            emit,
            self.collected.spend,
            lambda error: self._excuse(error, Phase.TEST),
        )
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

    def _profile(self, author: Contestant, session: Session) -> PhaseResult:
        """A report and files of each workload, as artifacts in the order of the cases."""
        subject = Subject(self._job, self._modules, author.binary, author.builds)
        profilers = profilers_for(subject, session, self._client)
        profiled = []
        for index, case in cases_of(self._job.problem, Phase.PROFILE):
            encoded = self._examiner.ask(case_arguments(case, None), None, by_host=True).given
            found = [profiler.profile(encoded) for profiler in profilers]
            keep(self.collected.artifacts, index, found)
            profiled.append(CaseResult(case.spec, Verdict.ACCEPTED, ""))
        return PhaseResult(Phase.PROFILE, Verdict.ACCEPTED, 0.0, tuple(profiled))

    def _measure(self, step: JudgingStep, sessions: Sequence[Session]) -> PhaseResult:
        lines = self._loader.lines(step, sessions)
        control = self._control_until(sessions[0].deadline)
        measurer = Measurer(self._plan, self._examiner, lines, control, self.collected.spend)
        threads = ThreadTimes(sessions[0].ranks[0].clocks)
        try:
            return self._measure_all(step, measurer, sessions[0])
        finally:
            if not self._plan.has_ranks:  # several ranks share the processors
                self.collected.threads = threads.computed()
            measurer.close()

    def _control_until(self, deadline: float) -> Control:
        """One control runner serves all phases: nobody's code ever enters it."""
        if self._control is None:
            self._control = Control(
                self._plan, self._client, self._flusher, deadline, devices=self._devices
            )
            self._sessions.needs_control = False
            if not self._plan.is_duel:  # else it isn't needed: see `Measurer`
                load_anchor(self._job, self._control, self._client, self._cache)
        self._control.extend(deadline)
        return self._control

    def _measure_all(self, step: JudgingStep, measurer: Measurer, session: Session) -> PhaseResult:
        order = cases_of(self._job.problem, step.phase)
        self._random.shuffle(order)
        done: dict[int, Measurement] = {}
        failure: AuthorFailure | None = None
        try:
            for position, (index, case) in enumerate(order):
                measured = self._measure_one(
                    step.phase, measurer, index, case, len(order) - position
                )
                self._note_recurrence(measured)
                self._note_firsts(measured)
                measured = self._disputes.worse(index, measured)
                done[index] = measured
                self._announce(step.phase, index, measured)
        except AuthorFailure as error:
            if measurer.at_work is not None:
                self._sessions.hear(measurer.at_work.session)
            failure = error if error.disputable else self._with_limit(step, error, session)
            if failure.disputable:
                self._disputes.keep(done | measurer.interrupted())
                raise failure from error.__cause__
        return self._measured(step.phase, [done[index] for index in sorted(done)], failure)

    def _measure_one(
        self, phase: Phase, measurer: Measurer, index: int, case: Case, workloads_left: int
    ) -> Measurement:
        """Measure while nobody else on this machine does, if that can be had."""
        measurer.hold()  # while they wait, they must not work beside another's measurement
        with self._turn.held(phase) as waited_s:
            measurer.give_back(waited_s)
            start = time.monotonic()
            repeats = self._turn.is_wanted
            measured = measurer.measure(index, case, workloads_left, repeats=repeats)
            self.collected.spend("sampling", time.monotonic() - start)
        return measured

    def _note_recurrence(self, measured: Measurement) -> None:
        """Raises `ProblemBroken` if score or ratio would be worth nothing."""
        problem = self._job.problem
        if not measured.recurs or problem.recurring_data or self.collected.recurring_data:
            return
        self.collected.recurring_data = said = recurs(measured.case.spec)
        if self._job.mode is Mode.LEADERBOARD:
            raise ProblemBroken(said)
        self.collected.notes.append(said)

    def _note_firsts(self, measured: Measurement) -> None:
        if measured.waits.firsts_count and FIRSTS_COUNT not in self.collected.notes:
            self.collected.notes.append(FIRSTS_COUNT)

    def _measured(
        self, phase: Phase, done: Sequence[Measurement], failure: AuthorFailure | None
    ) -> PhaseResult:
        """The workloads that were measured, in the problem's order."""
        workloads: tuple[WorkloadResult, ...] = ()
        if not self._plan.is_duel:
            workloads = tuple(map(workload_result, done))
        elif failure is None:
            rule = self._job.problem.ranking_by
            self.collected.duel = duel_result(rule, list(map(dueled_workload, done)))
        if failure is not None:
            return self._refused(phase, failure, workloads)
        return PhaseResult(phase, Verdict.ACCEPTED, 0.0, workloads=workloads)

    def _refused(
        self, phase: Phase, error: AuthorFailure, workloads: tuple[WorkloadResult, ...] = ()
    ) -> PhaseResult:
        if error.excuse:
            raise ProblemBroken(error.excuse)
        self.collected.opponent_failed = error.of_opponent
        failure = Failure(Fault.AUTHOR, error.message, error.evidence)
        return PhaseResult(phase, error.verdict, 0.0, workloads=workloads, failure=failure)

    def _announce(self, phase: Phase, index: int, measured: Measurement) -> None:
        self.collected.suspicions.extend(measured.suspicions)
        self.collected.notes.extend(measured.notes)
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
