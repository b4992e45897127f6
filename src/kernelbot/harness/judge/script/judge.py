"""Judging by a problem's own script: its results count, but are marked as unverified.

The script shares a process with the submission, so its results can only be trusted as far as the
submission. Sandbox, limits and wall-clock times are ours, and its output is read as hostile.
"""

import base64
import binascii
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.compile import BuildOutcome, CompilerProduct, compile_job
from kernelbot.harness.judge.build.on_cpu import has_kernels_on_cpu
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.measuring_turn import MeasuringTurn, no_turn
from kernelbot.harness.judge.profiling.findings import ProfilerFindings, keep
from kernelbot.harness.judge.profiling.tools import Installed, find_tool, share_s
from kernelbot.harness.judge.result import our_fault
from kernelbot.harness.judge.script.recurrence import recurring_data
from kernelbot.harness.judge.script.report import (
    ReportBroken,
    ScriptReport,
    parse_key,
    workload_result,
)
from kernelbot.harness.judge.script.verdict import conclude, refuse_impossible
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, harness_path, run_command
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import (
    Case,
    EventKind,
    Failure,
    Fault,
    JobSpec,
    Lang,
    Mode,
    Phase,
    PhaseResult,
    ProgressEvent,
    SandboxMode,
    Vendor,
    Verdict,
)
from kernelbot.protocol.phases import TIMED, cases_of, limit_s, phases_of

Emit = Callable[[ProgressEvent], None]

_CASES_FILE = "cases.txt"
_STARTUP_FOLDER = ".startup"
_OWN_REPORT = "The problem's script"


@dataclass(frozen=True)
class _Ran:
    result: PhaseResult
    report: ScriptReport
    command: CommandResult


def judge_script(
    job: JobSpec,
    client: RunnerClient,
    emit: Emit,
    cache: BuildCache | None = None,
    take_gpu: Callable[[], None] = lambda: None,
    turn: MeasuringTurn | None = None,
) -> Collected:
    """Run the script phase by phase, each in a fresh runner, each only if the one before passed.

    A failed build is a refused test phase. `take_gpu`: waits for the job's GPUs, once all is built.
    `turn`: of the job, for its timed phases; None: they take none.

    Raises `SandboxUnavailable`.
    """
    return _ScriptJudge(job, client, emit, cache, turn or no_turn()).run(take_gpu)


class _ScriptJudge:
    def __init__(
        self,
        job: JobSpec,
        client: RunnerClient,
        emit: Emit,
        cache: BuildCache | None,
        turn: MeasuringTurn,
    ) -> None:
        self._job = job
        self._client = client
        self._emit = emit
        self._turn = turn
        self._cache = cache
        self._collected = Collected()

    def run(self, take_gpu: Callable[[], None]) -> Collected:
        build: BuildOutcome | None = None
        if self._job.problem.lang is not Lang.PY:
            build = self._build()
            if build.verdict is not Verdict.ACCEPTED:
                duration_s = build.report.duration_s if build.report else 0.0
                refused = PhaseResult(Phase.TEST, build.verdict, duration_s, failure=build.failure)
                self._collected.phases.append(refused)
                return self._collected
        take_gpu()
        phases = phases_of(self._job)
        first_timed = next((phase for phase in phases if phase in TIMED), None)
        for phase in phases:
            if phase is first_timed and self._is_refused_for_its_data():
                break
            result = self._run_phase(phase, build)
            self._collected.phases.append(result)
            if result.verdict is not Verdict.ACCEPTED:
                break
        return self._collected

    def _build(self) -> BuildOutcome:
        build = compile_job(self._job, self._client, CompilerProduct.PROGRAM, self._cache)
        self._collected.compile = build.report
        if build.report is not None:
            spent_s = build.report.spent_s
            self._collected.spend("compile", spent_s)
            self._emit(ProgressEvent(EventKind.COMPILED, verdict=build.verdict, duration_s=spent_s))
        return build

    def _is_refused_for_its_data(self) -> bool:
        """Look for data that recurs, with which a ranked run is worth nothing. Raises
        `SandboxUnavailable`."""
        start = time.monotonic()
        self._collected.recurring_data = said = recurring_data(self._job, self._client)
        self._collected.spend("generate", time.monotonic() - start)
        if said and self._job.mode is Mode.LEADERBOARD:
            self._collected.refusal = our_fault(said)
        elif said:
            self._collected.notes.append(said)
        return self._collected.refusal is not None

    def _run_phase(self, phase: Phase, build: BuildOutcome | None) -> PhaseResult:
        started, waited_s = time.monotonic(), self._turn.waited_s
        cases = tuple(case for _, case in cases_of(self._job.problem, phase))
        self._emit(ProgressEvent(EventKind.PHASE_STARTED, phase=phase, total=len(cases)))
        timeout_s = limit_s(self._job, phase)
        try:
            if phase is Phase.PROFILE:
                result = self._profile(cases, build, started + timeout_s)
            else:
                with self._turn.held(phase) if phase in TIMED else contextlib.nullcontext():
                    result = self._run_script(phase, cases, build, timeout_s).result
        except CommandNotStarted as error:
            failure = Failure(Fault.PLATFORM, f"The problem's script could not be started: {error}")
            result = PhaseResult(phase, Verdict.INTERNAL_ERROR, 0.0, failure=failure)
        duration_s = time.monotonic() - started - (self._turn.waited_s - waited_s)
        result = replace(result, duration_s=duration_s)
        self._emit(
            ProgressEvent(
                EventKind.PHASE_FINISHED,
                phase=phase,
                verdict=result.verdict,
                message=result.failure.message if result.failure else None,
                duration_s=result.duration_s,
            )
        )
        return result

    def _profile(
        self, cases: tuple[Case, ...], build: BuildOutcome | None, deadline: float
    ) -> PhaseResult:
        """One case at a time; each leaves its report, and files of the vendor's profiler."""
        result = PhaseResult(Phase.PROFILE, Verdict.ACCEPTED, 0.0)
        tool = find_tool(self._job)
        for index, case in enumerate(cases):
            found = [tool] if isinstance(tool, ProfilerFindings) else []
            ran: _Ran | None = None
            if isinstance(tool, Installed):
                ran, findings = self._watched(case, build, deadline, tool)
                found.append(findings)
            if ran is None:
                ran = self._run_script(Phase.PROFILE, (case,), build, deadline - time.monotonic())
            if (text := ran.report.pairs.get("benchmark.0.report")) is not None:
                found.append(
                    ProfilerFindings(_OWN_REPORT if tool is not None else "", _decoded(text))
                )
            if found:
                keep(self._collected.artifacts, index, found)
            result = ran.result
            if result.verdict is not Verdict.ACCEPTED:
                break
        return result

    def _watched(
        self, case: Case, build: BuildOutcome | None, deadline: float, tool: Installed
    ) -> "tuple[_Ran | None, ProfilerFindings]":
        """The script under the vendor's profiler; None if it must run without the profiler."""
        try:
            ran = self._run_script(Phase.PROFILE, (case,), build, share_s(deadline), tool)
        except CommandNotStarted as error:
            return None, ProfilerFindings(
                tool.tool.title, f"{tool.program} could not be started: {error}"
            )
        findings = tool.findings(
            ran.command, lambda argv, files: self._run_command(argv, files, deadline)
        )
        good = findings.files and ran.result.verdict is Verdict.ACCEPTED
        return (ran if good else None), findings

    def _run_command(
        self, argv: list[str], files: dict[str, bytes], deadline: float
    ) -> CommandResult:
        limits, timeout_s = self._job.limits, share_s(deadline)
        return run_command(self._client, argv, files=files, limits=limits, timeout_s=timeout_s)

    def _run_script(
        self,
        phase: Phase,
        cases: tuple[Case, ...],
        build: BuildOutcome | None,
        timeout_s: float,
        tool: Installed | None = None,
    ) -> "_Ran":
        """Raises `CommandNotStarted`."""
        report = ScriptReport()

        def on_line(line: str) -> None:
            pair = report.take(line)
            if pair is not None:
                self._report_progress(phase, cases, report, *pair)

        argv = self._argv(phase)
        result = run_command(
            self._client,
            argv if tool is None else tool.command(argv),
            files=self._files(cases, build),
            env=self._environment() | (tool.tool.environment if tool is not None else {}),
            limits=self._job.limits,
            timeout_s=max(timeout_s, 0.0),
            collect=tool.tool.leaves if tool is not None else (),
            popcorn_fd=True,
            on_line=on_line,
        )
        self._collected.add_output(result.stdout, result.stderr)
        self._collected.spend("script", result.duration_s)
        self._collected.notes += [f"{phase}: {key} was reported twice" for key in report.doubled]
        concluded = refuse_impossible(self._job, conclude(self._job, phase, cases, report, result))
        return _Ran(concluded, report, result)

    def _argv(self, phase: Phase) -> list[str]:
        problem = self._job.problem
        if problem.lang is Lang.PY:
            return ["python3", problem.config.main or "eval.py", phase.value, _CASES_FILE]
        return [f"./{CompilerProduct.PROGRAM.value}", phase.value, _CASES_FILE]

    def _files(self, cases: tuple[Case, ...], build: BuildOutcome | None) -> dict[str, bytes]:
        problem = self._job.problem
        files = {file.name: file.text.encode() for file in problem.files}
        files[problem.submission_name] = self._job.submission.text.encode()
        files[_CASES_FILE] = "".join(f"{case.spec}\n" for case in cases).encode()
        if build is not None:
            files[CompilerProduct.PROGRAM.value] = build.binary
        if maps_cuda(self._job):
            startup = "from kernelbot.harness.inside.gpu.emulation import install\ninstall()\n"
            if has_kernels_on_cpu(self._job):
                startup += "from kernelbot.harness.inside.cuda_on_cpu import inline\n"
                startup += "inline.install()\n"
            files[f"{_STARTUP_FOLDER}/sitecustomize.py"] = startup.encode()
        return files

    def _environment(self) -> dict[str, str]:
        environment: dict[str, str] = {}
        if self._job.seed is not None:
            environment["POPCORN_SEED"] = str(self._job.seed)
        if self._job.problem.multi_gpu:
            environment["POPCORN_GPUS"] = str(self._ranks())
        if maps_cuda(self._job):
            path = harness_path(isolated=self._job.sandbox is SandboxMode.REQUIRED)
            environment["PYTHONPATH"] = f"{_STARTUP_FOLDER}:{path}"
        return environment

    def _ranks(self) -> int:
        cases = (*self._job.problem.tests, *self._job.problem.benchmarks)
        sizes = [case.args.get("world_size") for case in cases]
        return max((size for size in sizes if isinstance(size, int)), default=1)

    def _report_progress(
        self, phase: Phase, cases: tuple[Case, ...], report: ScriptReport, key: str, value: str
    ) -> None:
        """Turn a reported pair into a progress event."""
        kind, index, name = parse_key(key) or ("", len(cases), "")
        if index >= len(cases):
            return
        spec = None if self._job.secret else cases[index].spec
        if (kind, name) == ("test", "status"):
            verdict = Verdict.ACCEPTED if value == "pass" else Verdict.WRONG_ANSWER
            message = report.message("test", index) or None
            self._emit(
                ProgressEvent(EventKind.CASE, phase, index, len(cases), spec, verdict, message)
            )
        elif (kind, name) == ("benchmark", "mean"):
            try:
                median_ns = workload_result(report, index, cases[index]).median_ns
            except ReportBroken:
                return
            self._emit(
                ProgressEvent(
                    EventKind.WORKLOAD, phase, index, len(cases), spec, median_ns=median_ns
                )
            )


def maps_cuda(job: JobSpec) -> bool:
    """Whether torch's cuda calls must be mapped to the CPU for this job."""
    if job.device.vendor is not Vendor.CPU or job.problem.lang is not Lang.PY:
        return False
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    return any("torch" in text for text in texts) and any("cuda" in text for text in texts)


def _decoded(text: str) -> str:
    """A report that a script sends in base64; one in another form is shown as it is."""
    try:
        return base64.b64decode(text, validate=True).decode(errors="replace")
    except binascii.Error:
        return text
