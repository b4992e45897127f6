"""Judging by a problem's own script: its word is taken, marked as such, and read with suspicion.

The script shares a process with the submission, so that its results are worth what the submission
is honest; the sandbox, the limits and the clock on the wall are ours.
"""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kernelbot.harness.build import Build, Product, compile_job
from kernelbot.harness.build_cache import BuildCache
from kernelbot.harness.crosscheck import below_floor
from kernelbot.harness.native import PHASES
from kernelbot.harness.sandbox import (
    CommandNotStarted,
    CommandResult,
    RunnerClient,
    harness_path,
    run_command,
)
from kernelbot.harness.script_report import (
    ReportBroken,
    ScriptReport,
    case_results,
    workload_results,
)
from kernelbot.protocol import (
    Artifact,
    Case,
    CaseResult,
    CompileReport,
    EventKind,
    Failure,
    Fault,
    JobSpec,
    Lang,
    Phase,
    PhaseResult,
    ProgressEvent,
    RankRule,
    SandboxMode,
    Vendor,
    Verdict,
    WorkloadResult,
)

Emit = Callable[[ProgressEvent], None]

_CASES_FILE = "cases.txt"
_STARTUP_FOLDER = ".startup"
_TESTS_FAILED = 112
_SAID_BY_SCRIPTS = {
    110: "A CUDA call failed.",
    111: "It ended with exit code 111, by which scripts say that they got no result descriptor.",
    113: "It ended with exit code 113, by which scripts say that they can't read their cases.",
}
"""Said by submissions as easily, so that none of these is ever the platform's fault."""
_SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
_TRIM = 500


@dataclass(frozen=True)
class ScriptOutcome:
    """What came of a job. A failed build is a refused test phase."""

    phases: tuple[PhaseResult, ...]
    stdout: str
    stderr: str
    compile: CompileReport | None = None
    artifacts: tuple[Artifact, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    suspicions: tuple[str, ...] = ()
    """What a person should look at; never a refusal by itself."""


def judge_script(
    job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None = None
) -> ScriptOutcome:
    """Run the script phase by phase, each in a fresh runner, each only if the one before passed.

    Raises `SandboxUnavailable`.
    """
    return _ScriptJudge(job, client, emit, cache).run()


class _ScriptJudge:
    def __init__(
        self, job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None
    ) -> None:
        self._job = job
        self._client = client
        self._emit = emit
        self._cache = cache
        self._stdout: list[str] = []
        self._stderr: list[str] = []
        self._artifacts: list[Artifact] = []
        self._suspicions: list[str] = []
        self._timings: dict[str, float] = {}

    def run(self) -> ScriptOutcome:
        build: Build | None = None
        if self._job.problem.lang is not Lang.PY:
            build = self._build()
            if build.verdict is not Verdict.ACCEPTED:
                duration_s = build.report.duration_s if build.report else 0.0
                refused = PhaseResult(Phase.TEST, build.verdict, duration_s, failure=build.failure)
                return self._outcome([refused], build)
        phases: list[PhaseResult] = []
        for phase in PHASES[self._job.mode]:
            phases.append(self._run_phase(phase, build))
            if phases[-1].verdict is not Verdict.ACCEPTED:
                break
        return self._outcome(phases, build)

    def _outcome(self, phases: list[PhaseResult], build: Build | None) -> ScriptOutcome:
        return ScriptOutcome(
            phases=tuple(phases),
            stdout="".join(self._stdout),
            stderr="".join(self._stderr),
            compile=build.report if build else None,
            artifacts=tuple(self._artifacts),
            timings=self._timings,
            suspicions=tuple(self._suspicions),
        )

    def _build(self) -> Build:
        build = compile_job(self._job, self._client, Product.PROGRAM, self._cache)
        if build.report is not None:
            self._timings["compile"] = 0.0 if build.report.cached else build.report.duration_s
            self._emit(
                ProgressEvent(
                    EventKind.COMPILED, verdict=build.verdict, duration_s=build.report.duration_s
                )
            )
        return build

    def _run_phase(self, phase: Phase, build: Build | None) -> PhaseResult:
        started = time.monotonic()
        cases = self._cases(phase)
        self._emit(ProgressEvent(EventKind.PHASE_STARTED, phase=phase, total=len(cases)))
        if phase is Phase.PROFILE:
            result = self._profile(cases, build)
        else:
            result, _ = self._run_script(phase, cases, build, self._timeout_s(phase))
        result = replace(result, duration_s=time.monotonic() - started)
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

    def _cases(self, phase: Phase) -> tuple[Case, ...]:
        problem = self._job.problem
        if phase is Phase.TEST:
            return problem.tests
        return (
            problem.benchmarks[-1:] if problem.ranking_by is RankRule.LAST else problem.benchmarks
        )

    def _timeout_s(self, phase: Phase) -> float:
        timeouts = self._job.problem.timeouts
        if phase is Phase.TEST:
            return timeouts.test_s
        return timeouts.ranked_s if phase is Phase.LEADERBOARD else timeouts.benchmark_s

    def _profile(self, cases: tuple[Case, ...], build: Build | None) -> PhaseResult:
        """One case at a time; each leaves its report as an artifact."""
        result = PhaseResult(Phase.PROFILE, Verdict.ACCEPTED, 0.0)
        deadline = time.monotonic() + self._timeout_s(Phase.PROFILE)
        for index, case in enumerate(cases):
            left_s = max(deadline - time.monotonic(), 0.0)
            result, report = self._run_script(Phase.PROFILE, (case,), build, left_s)
            text = report.pairs.get("benchmark.0.report")
            if text is not None:
                self._artifacts.append(Artifact(f"profile.{index}.txt", "text/plain", text))
            if result.verdict is not Verdict.ACCEPTED:
                break
        return result

    def _run_script(
        self, phase: Phase, cases: tuple[Case, ...], build: Build | None, timeout_s: float
    ) -> tuple[PhaseResult, ScriptReport]:
        report = ScriptReport()

        def on_line(line: str) -> None:
            pair = report.take(line)
            if pair is not None:
                self._tell(phase, cases, report, *pair)

        try:
            result = run_command(
                self._client,
                self._argv(phase),
                files=self._files(cases, build),
                env=self._environment(),
                limits=self._job.limits,
                timeout_s=timeout_s,
                popcorn_fd=True,
                on_line=on_line,
            )
        except CommandNotStarted as error:
            failure = Failure(Fault.PLATFORM, f"The problem's script could not be started: {error}")
            return PhaseResult(phase, Verdict.INTERNAL_ERROR, 0.0, failure=failure), report
        self._stdout.append(result.stdout)
        self._stderr.append(result.stderr)
        self._timings["script"] = self._timings.get("script", 0.0) + result.duration_s
        self._suspicions += [f"{phase}: {key} was reported twice" for key in report.doubled]
        concluded = conclude(phase, cases, report, result)
        return refuse_impossible(self._job, concluded), report

    def _argv(self, phase: Phase) -> list[str]:
        problem = self._job.problem
        if problem.lang is Lang.PY:
            return ["python3", problem.config.main or "eval.py", phase.value, _CASES_FILE]
        return [f"./{Product.PROGRAM.value}", phase.value, _CASES_FILE]

    def _files(self, cases: tuple[Case, ...], build: Build | None) -> dict[str, bytes]:
        problem = self._job.problem
        files = {file.name: file.text.encode() for file in problem.files}
        files[problem.submission_name] = self._job.submission.text.encode()
        files[_CASES_FILE] = "".join(f"{case.spec}\n" for case in cases).encode()
        if build is not None:
            files[Product.PROGRAM.value] = build.binary
        if maps_cuda(self._job):
            startup = "from kernelbot.harness.cuda_on_cpu import install\ninstall()\n"
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

    def _tell(
        self, phase: Phase, cases: tuple[Case, ...], report: ScriptReport, key: str, value: str
    ) -> None:
        """Turn what just arrived into progress."""
        kind, _, rest = key.partition(".")
        index_text, _, name = rest.partition(".")
        if not index_text.isdecimal() or int(index_text) >= len(cases):
            return
        index = int(index_text)
        spec = None if self._job.secret else cases[index].spec
        if (kind, name) == ("test", "status"):
            verdict = Verdict.ACCEPTED if value == "pass" else Verdict.WRONG_ANSWER
            message = report.message("test", index) or None
            self._emit(
                ProgressEvent(EventKind.CASE, phase, index, len(cases), spec, verdict, message)
            )
        elif (kind, name) == ("benchmark", "mean"):
            try:
                median_ns = workload_results(report, cases)[-1].median_ns
            except (ReportBroken, IndexError):
                return
            self._emit(
                ProgressEvent(
                    EventKind.WORKLOAD, phase, index, len(cases), spec, median_ns=median_ns
                )
            )


def maps_cuda(job: JobSpec) -> bool:
    """Whether torch's cuda calls have to fall on the CPU for this job."""
    if job.device.vendor is not Vendor.CPU or job.problem.lang is not Lang.PY:
        return False
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    return any("torch" in text for text in texts) and any("cuda" in text for text in texts)


def refuse_impossible(job: JobSpec, result: PhaseResult) -> PhaseResult:
    """`rule_violation` where an accepted phase has a time below its workload's floor."""
    if result.phase not in (Phase.BENCHMARK, Phase.LEADERBOARD):
        return result
    if result.verdict is not Verdict.ACCEPTED:
        return result
    floors = job.problem.floors or (None,) * len(result.workloads)
    last = floors[-len(result.workloads) :]  # a phase times all workloads, or only the last
    for floor, workload in zip(last, result.workloads, strict=False):
        if found := below_floor(floor, job.device, workload.median_ns):
            evidence = f"{workload.spec}: {found.evidence}"
            failure = Failure(Fault.AUTHOR, found.message, evidence)
            return replace(result, verdict=Verdict.RULE_VIOLATION, failure=failure)
    return result


def conclude(
    phase: Phase, cases: tuple[Case, ...], report: ScriptReport, result: CommandResult
) -> PhaseResult:
    """Decide a phase from how the script ended and what it reported."""
    results: tuple[CaseResult, ...] = ()
    workloads: tuple[WorkloadResult, ...] = ()
    try:
        if phase is Phase.TEST:
            results = case_results(report, cases)
        else:
            workloads = workload_results(report, cases)
        verdict, failure = _decide(phase, cases, report, result, results, workloads)
    except ReportBroken as error:
        verdict = Verdict.RULE_VIOLATION
        message = f"The script reported an impossible time: {error}"
        failure = Failure(Fault.AUTHOR, message, str(error))
    return PhaseResult(phase, verdict, result.duration_s, results, workloads, failure)


def _decide(
    phase: Phase,
    cases: tuple[Case, ...],
    report: ScriptReport,
    result: CommandResult,
    results: tuple[CaseResult, ...],
    workloads: tuple[WorkloadResult, ...],
) -> tuple[Verdict, Failure | None]:
    if result.limit is not None:
        return result.limit, Failure(Fault.AUTHOR, _limit_message(result, phase))
    if report.passed and result.exit_code == 0:
        return _believe(phase, cases, results, workloads)
    if result.exit_code == _TESTS_FAILED or report.says_wrong:
        wrong = next((case.message for case in results if case.verdict is Verdict.WRONG_ANSWER), "")
        message = wrong or report.first_message() or "The script found the output wrong."
        return Verdict.WRONG_ANSWER, Failure(Fault.AUTHOR, message[:_TRIM])
    return _crashed(report, result)


def _believe(
    phase: Phase,
    cases: tuple[Case, ...],
    results: tuple[CaseResult, ...],
    workloads: tuple[WorkloadResult, ...],
) -> tuple[Verdict, Failure | None]:
    """`check: pass` stands only beside a result for every case."""
    if phase is Phase.TEST:
        good = sum(case.verdict is Verdict.ACCEPTED for case in results)
    else:
        good = len(cases) if phase is Phase.PROFILE else len(workloads)
    if good == len(cases):
        return Verdict.ACCEPTED, None
    message = f"The script said `check: pass` with results for {good} of {len(cases)} cases."
    return Verdict.RUNTIME_ERROR, Failure(Fault.AUTHOR, message)


def _crashed(report: ScriptReport, result: CommandResult) -> tuple[Verdict, Failure]:
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    last = lines[-1].strip()[:_TRIM] if lines else ""
    if last.startswith(_SYNTAX_ERRORS):
        return Verdict.COMPILE_ERROR, Failure(Fault.AUTHOR, last)
    if last.startswith("MemoryError"):
        return Verdict.MEMORY_LIMIT, Failure(Fault.AUTHOR, last)
    if result.signal is not None:
        how = f"It was ended by {_signal_name(result.signal)}."
    elif result.exit_code:
        plain = f"It ended with exit code {result.exit_code}."
        how = _SAID_BY_SCRIPTS.get(result.exit_code, plain)
    else:
        how = "It ended without `check: pass`."
    message = " ".join(part for part in (how, report.first_message()[:_TRIM] or last) if part)
    return Verdict.RUNTIME_ERROR, Failure(Fault.AUTHOR, message)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _limit_message(result: CommandResult, phase: Phase) -> str:
    if result.limit is Verdict.TIME_LIMIT:
        return f"The {phase} phase was not done after {result.duration_s:.1f} s."
    if result.limit is Verdict.MEMORY_LIMIT:
        return f"The {phase} phase needed more memory than it may use."
    return f"The {phase} phase printed more than it may."
