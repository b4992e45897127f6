"""Judges one job natively, phase by phase: the problem's code in its cage, the author's in runners.

No stranger's code runs here.
"""

import random
import time
from collections.abc import Callable

from kernelbot.harness.build.cache import BuildCache
from kernelbot.harness.build.compile import Product, compile_job
from kernelbot.harness.gpu.driver import DeviceFull
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.judge.collected import Collected, Refusal
from kernelbot.harness.judge.device_room import DeviceRoom
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
from kernelbot.harness.timing.measure import Measurement, Measurer
from kernelbot.protocol import (
    CaseResult,
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
    """One job. `run` fills `collected`, also where it raises `ProblemBroken`."""

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
        self._binary: bytes | None = None
        self._control: Control | None = None
        self._builds = b""
        self._terminating: list[AnySession] = []
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
            for session in self._terminating:
                self.collected.add_ending(session.abort())

    def _run_all(self) -> None:
        if self._job.problem.lang is not Lang.PY and not self._compile():
            return
        for phase in phases_of(self._job):
            result = self._run_phase(phase)
            self.collected.phases.append(result)
            self._emit(
                ProgressEvent(
                    EventKind.PHASE_FINISHED,
                    phase=phase,
                    verdict=result.verdict,
                    duration_s=result.duration_s,
                )
            )
            if result.verdict is not Verdict.ACCEPTED:
                return

    def _compile(self) -> bool:
        start = time.monotonic()
        build = compile_job(self._job, self._client, Product.SHARED_OBJECT, self._cache)
        duration_s = time.monotonic() - start
        self.collected.spend("compile", duration_s)
        self.collected.compile = build.report
        self._emit(ProgressEvent(EventKind.COMPILED, verdict=build.verdict, duration_s=duration_s))
        if build.failure is not None:
            self.collected.refusal = Refusal(build.verdict, build.failure)
            return False
        self._binary = build.binary
        return True

    def _run_phase(self, phase: Phase) -> PhaseResult:
        start = time.monotonic()
        total = len(cases_of(self._job.problem, phase))
        self._emit(ProgressEvent(EventKind.PHASE_STARTED, phase=phase, total=total))
        try:
            result = self._attempt(phase)
        except AuthorFailure:
            result = self._second_opinion(phase)
        return _timed(result, time.monotonic() - start)

    def _second_opinion(self, phase: Phase) -> PhaseResult:
        """A busy machine can make one measurement look wrong; it takes two to refuse."""
        try:
            return self._attempt(phase)
        except AuthorFailure as error:
            return _refused(phase, error)

    def _attempt(self, phase: Phase) -> PhaseResult:
        """One runner's life. Raises `AuthorFailure` if that is disputable."""
        start = time.monotonic()
        phase_limit_s = limit_s(self._job.problem, phase)
        session = self._session(phase, start + phase_limit_s)
        self.collected.spend("spawn", time.monotonic() - start)
        try:
            return self._drive(phase, session)
        except AuthorFailure as error:
            if error.disputable:
                raise
            error = with_limit(error, phase, phase_limit_s, session.deadline)
            return _refused(phase, error)
        except (DeviceFull, ProblemFull) as error:
            if self._room is None:
                raise
            session.abort()
            return _refused(phase, self._room.blame(phase, error))
        finally:
            session.terminate()  # the next phase needn't wait while it dies
            self._terminating.append(session)
            if self._job.device.vendor is not Vendor.CPU:  # but for its memory there it must
                session.abort()

    def _session(self, phase: Phase, deadline: float) -> AnySession:
        _, first = cases_of(self._job.problem, phase)[0]
        session = open_session(
            self._job, self._client, self._modules, deadline, first, self._devices
        )
        expect_sessions(self._job, self._client, self._sessions_soon(phase))
        return session

    def _sessions_soon(self, phase: Phase) -> int:
        """How many a phase and the one after it will still open, the control's included."""
        phases = phases_of(self._job)
        now_and_next = phases[phases.index(phase) :][:2]
        needs_control = self._control is None and not TIMED.isdisjoint(now_and_next)
        return len(now_and_next) - 1 + needs_control

    def _drive(self, phase: Phase, session: AnySession) -> PhaseResult:
        self._set_up(session)
        if phase is Phase.TEST:
            self._load(session)
            cases = run_tests(self._job, self._examiner, session, self._emit, self.collected.spend)
            wrong = next((case for case in cases if case.verdict is not Verdict.ACCEPTED), None)
            if wrong is None:
                if self._binary is None and self._job.mode is not Mode.TEST:
                    self._builds = session.builds()
                return PhaseResult(phase, Verdict.ACCEPTED, 0.0, cases)
            failure = Failure(Fault.AUTHOR, wrong.message)
            return PhaseResult(phase, wrong.verdict, 0.0, cases, failure=failure)
        if phase is Phase.PROFILE:
            self._load(session)
            return self._profile(session)
        return self._measure(phase, session)

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

    def _profile(self, session: AnySession) -> PhaseResult:
        """A report and files of each workload, as artifacts in the order of the cases."""
        subject = Subject(self._job, self._modules, self._binary, self._builds)
        profilers = profilers_for(subject, session, self._client)
        profiled = []
        for index, case in cases_of(self._job.problem, Phase.PROFILE):
            encoded = self._examiner.ask(case_arguments(case, None), None, by_host=True).given
            found = [profiler.profile(encoded) for profiler in profilers]
            keep(self.collected.artifacts, index, found)
            profiled.append(CaseResult(case.spec, Verdict.ACCEPTED))
        return PhaseResult(Phase.PROFILE, Verdict.ACCEPTED, 0.0, tuple(profiled))

    def _load(self, session: AnySession) -> None:
        start = time.monotonic()
        spec = self._job.problem
        if self._binary is None:
            session.load(self._job.submission, spec.submission_name, self._builds)
        else:
            session.load_library(self._binary, spec.config.outputs)
        self.collected.spend("compile", time.monotonic() - start)

    def _measure(self, phase: Phase, session: AnySession) -> PhaseResult:
        self._load(session)
        control = self._control_until(session.deadline)
        measurer = Measurer(
            self._job, self._examiner, session, control, self._flusher, self.collected.spend
        )
        try:
            return self._measure_all(phase, measurer)
        finally:
            measurer.close()

    def _control_until(self, deadline: float) -> Control:
        """One control runner serves all phases: nobody's code ever enters it."""
        if self._control is None:
            self._control = Control(
                self._job, self._client, self._flusher, deadline, devices=self._devices
            )
            load_anchor(self._job, self._control, self._client, self._cache)
        self._control.extend(deadline)
        return self._control

    def _measure_all(self, phase: Phase, measurer: Measurer) -> PhaseResult:
        order = cases_of(self._job.problem, phase)
        self._random.shuffle(order)
        done: dict[int, WorkloadResult] = {}
        try:
            for position, (index, case) in enumerate(order):
                start = time.monotonic()
                measured = measurer.measure(index, case, len(order) - position)
                self.collected.spend("sampling", time.monotonic() - start)
                done[index] = measured.result
                self.collected.suspicions.extend(measured.suspicions)
                self._announce(phase, index, measured)
        except AuthorFailure as error:
            if error.disputable:
                raise
            return _refused(phase, error, [done[i] for i in sorted(done)])
        return PhaseResult(
            phase, Verdict.ACCEPTED, 0.0, workloads=tuple(done[i] for i in sorted(done))
        )

    def _announce(self, phase: Phase, index: int, measured: Measurement) -> None:
        self._emit(
            ProgressEvent(
                EventKind.WORKLOAD,
                phase=phase,
                index=index,
                spec=None if self._job.secret else measured.result.spec,
                verdict=Verdict.ACCEPTED,
                median_ns=measured.result.median_ns,
            )
        )


def _refused(
    phase: Phase, error: AuthorFailure, workloads: list[WorkloadResult] | None = None
) -> PhaseResult:
    return PhaseResult(
        phase,
        error.verdict,
        0.0,
        workloads=tuple(workloads or ()),
        failure=Failure(Fault.AUTHOR, error.message, error.evidence),
    )


def _timed(result: PhaseResult, duration_s: float) -> PhaseResult:
    return PhaseResult(
        result.phase,
        result.verdict,
        duration_s,
        result.cases,
        result.workloads,
        result.failure,
    )
