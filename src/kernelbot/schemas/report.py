"""The report on one run: what `kernelbot run --json` prints and what the API shows of a result."""

from pydantic import Field

from kernelbot.protocol import (
    Artifact,
    CaseResult,
    CompileReport,
    Failure,
    Fault,
    HarnessKind,
    Mode,
    Phase,
    PhaseResult,
    RunResult,
    SandboxReport,
    SystemInfo,
    Verdict,
    WorkloadResult,
)
from kernelbot.schemas.common import Answer


class ErrorView(Answer):
    """Why it was not accepted: whose fault, one sentence, and what was seen."""

    fault: Fault
    message: str
    evidence: str = ""

    @classmethod
    def of(cls, failure: Failure | None) -> "ErrorView | None":
        """None for none."""
        if failure is None:
            return None
        return cls(fault=failure.fault, message=failure.message, evidence=failure.evidence)

    def to_failure(self) -> Failure:
        """The wire's form."""
        return Failure(self.fault, self.message, self.evidence)


class CaseView(Answer):
    """One test case."""

    spec: str
    verdict: Verdict
    message: str


class WorkloadView(Answer):
    """The measurement of one workload; `samples` counts `samples_ns`."""

    spec: str
    samples: int
    median_ns: float
    mean_ns: float
    stdev_ns: float
    ci95_ns: tuple[float, float]
    best_ns: float
    worst_ns: float
    samples_ns: list[float] = Field(default_factory=list)
    checked: int = 0
    stopped_by: str = ""
    empty_call_ns: float | None = None
    anchor_ns: float | None = None
    drift_factors: list[float] = Field(
        default_factory=list,
        description="The figures are of the samples times these: one for each ten samples.",
    )
    extra: dict[str, str] = Field(default_factory=dict)

    @classmethod
    def of(cls, workload: WorkloadResult) -> "WorkloadView":
        """The wire's workload."""
        return cls(
            spec=workload.spec,
            samples=len(workload.samples_ns),
            median_ns=workload.median_ns,
            mean_ns=workload.mean_ns,
            stdev_ns=workload.stdev_ns,
            ci95_ns=workload.ci95_ns,
            best_ns=workload.best_ns,
            worst_ns=workload.worst_ns,
            samples_ns=list(workload.samples_ns),
            checked=workload.checked,
            stopped_by=workload.stopped_by,
            empty_call_ns=workload.empty_call_ns,
            anchor_ns=workload.anchor_ns,
            drift_factors=list(workload.drift_factors),
            extra=workload.extra,
        )

    def to_result(self) -> WorkloadResult:
        """The wire's form."""
        return WorkloadResult(
            spec=self.spec,
            samples_ns=tuple(self.samples_ns),
            median_ns=self.median_ns,
            mean_ns=self.mean_ns,
            stdev_ns=self.stdev_ns,
            ci95_ns=self.ci95_ns,
            best_ns=self.best_ns,
            worst_ns=self.worst_ns,
            checked=self.checked,
            stopped_by=self.stopped_by,
            empty_call_ns=self.empty_call_ns,
            anchor_ns=self.anchor_ns,
            drift_factors=tuple(self.drift_factors),
            extra=dict(self.extra),
        )


class PhaseView(Answer):
    """One phase: `cases` in the test phase, `workloads` in the timed ones."""

    verdict: Verdict
    duration_s: float
    cases: list[CaseView] = Field(default_factory=list)
    workloads: list[WorkloadView] = Field(default_factory=list)
    error: ErrorView | None = None

    @classmethod
    def of(cls, phase: PhaseResult) -> "PhaseView":
        """The wire's phase."""
        return cls(
            verdict=phase.verdict,
            duration_s=phase.duration_s,
            cases=[
                CaseView(spec=case.spec, verdict=case.verdict, message=case.message)
                for case in phase.cases
            ],
            workloads=[WorkloadView.of(workload) for workload in phase.workloads],
            error=ErrorView.of(phase.failure),
        )

    def to_result(self, phase: Phase) -> PhaseResult:
        """The wire's form."""
        return PhaseResult(
            phase=phase,
            verdict=self.verdict,
            duration_s=self.duration_s,
            cases=tuple(CaseResult(case.spec, case.verdict, case.message) for case in self.cases),
            workloads=tuple(workload.to_result() for workload in self.workloads),
            failure=self.error.to_failure() if self.error else None,
        )


class SystemView(Answer):
    """Where it ran."""

    device: str
    cpu: str
    os: str
    python: str
    torch: str | None
    notes: list[str] = Field(default_factory=list)


class SandboxView(Answer):
    """What was in force around the author's program, and what was not."""

    mode: str
    in_force: list[str]
    missing: list[str]


class CompileView(Answer):
    """A build step."""

    command: str
    output: str
    duration_s: float
    cached: bool
    kernels: list[dict[str, str]] = Field(default_factory=list)


class ArtifactView(Answer):
    """A file that came out of the run."""

    name: str
    media_type: str
    content_base64: str = Field(
        description="Of a file that isn't text/plain empty, where there is a server to ask for it."
    )


class Report(Answer):
    """One run's result."""

    verdict: Verdict
    problem: str
    mode: Mode
    device: str
    harness: HarnessKind
    score_s: float | None
    score_ci95_s: tuple[float, float] | None = None
    phases: dict[Phase, PhaseView]
    stdout: str
    stderr: str
    error: ErrorView | None
    system: SystemView
    sandbox: SandboxView
    compile: CompileView | None = None
    artifacts: list[ArtifactView] = Field(default_factory=list)
    duration_s: float = 0.0
    timings: dict[str, float] = Field(default_factory=dict)

    @classmethod
    def of(cls, result: RunResult) -> "Report":
        """The wire's result as people and programs read it."""
        return cls(
            verdict=result.verdict,
            problem=result.problem,
            mode=result.mode,
            device=result.system.device,
            harness=result.harness,
            score_s=result.score_s,
            score_ci95_s=result.score_ci95_s,
            phases={phase.phase: PhaseView.of(phase) for phase in result.phases},
            stdout=result.stdout,
            stderr=result.stderr,
            error=ErrorView.of(result.failure),
            system=_system(result.system),
            sandbox=_sandbox(result.sandbox),
            compile=_compile(result.compile),
            artifacts=[_artifact(artifact) for artifact in result.artifacts],
            duration_s=result.duration_s,
            timings=result.timings,
        )

    def to_result(self) -> RunResult:
        """Back to the form that `render` reads. The job's id stays with the platform."""
        return RunResult(
            job_id="",
            problem=self.problem,
            mode=self.mode,
            harness=self.harness,
            verdict=self.verdict,
            system=SystemInfo(
                device=self.system.device,
                cpu=self.system.cpu,
                os=self.system.os,
                python=self.system.python,
                torch=self.system.torch,
                notes=tuple(self.system.notes),
            ),
            sandbox=SandboxReport(
                self.sandbox.mode, tuple(self.sandbox.in_force), tuple(self.sandbox.missing)
            ),
            score_s=self.score_s,
            score_ci95_s=self.score_ci95_s,
            phases=tuple(view.to_result(phase) for phase, view in self.phases.items()),
            stdout=self.stdout,
            stderr=self.stderr,
            failure=self.error.to_failure() if self.error else None,
            compile=_compile_result(self.compile),
            artifacts=tuple(
                Artifact(item.name, item.media_type, item.content_base64) for item in self.artifacts
            ),
            duration_s=self.duration_s,
            timings=dict(self.timings),
        )


def _system(system: SystemInfo) -> SystemView:
    return SystemView(
        device=system.device,
        cpu=system.cpu,
        os=system.os,
        python=system.python,
        torch=system.torch,
        notes=list(system.notes),
    )


def _sandbox(sandbox: SandboxReport) -> SandboxView:
    return SandboxView(
        mode=sandbox.mode, in_force=list(sandbox.in_force), missing=list(sandbox.missing)
    )


def _compile(report: CompileReport | None) -> CompileView | None:
    if report is None:
        return None
    return CompileView(
        command=report.command,
        output=report.output,
        duration_s=report.duration_s,
        cached=report.cached,
        kernels=list(report.kernels),
    )


def _compile_result(view: CompileView | None) -> CompileReport | None:
    if view is None:
        return None
    return CompileReport(
        command=view.command,
        output=view.output,
        duration_s=view.duration_s,
        cached=view.cached,
        kernels=tuple(view.kernels),
    )


def _artifact(artifact: Artifact) -> ArtifactView:
    return ArtifactView(
        name=artifact.name,
        media_type=artifact.media_type,
        content_base64=artifact.content_base64,
    )
