"""The report on one run: what `kernelbot run --json` prints and what the API shows of a result."""

from typing import Self

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
from kernelbot.schemas.common import Answer, Shown


class ErrorView(Shown):
    """Why it was not accepted: whose fault, one sentence, and what was seen."""

    fault: Fault
    message: str
    evidence: str = ""


class CaseView(Shown):
    """One test case."""

    spec: str
    verdict: Verdict
    message: str


class WorkloadView(Shown):
    """The measurement of one workload; `samples` counts `samples_ns`."""

    spec: str
    samples: int
    median_ns: float
    mean_ns: float
    stdev_ns: float
    ci95_ns: tuple[float, float] = Field(
        description="95 % interval of the median, of this judging alone."
    )
    best_ns: float
    worst_ns: float
    samples_ns: list[float] = Field(default_factory=list)
    checked: int = Field(
        0, description="How many calls' outputs were checked, repeated ones included."
    )
    stopped_by: str = ""
    empty_call_ns: float | None = None
    anchor_ns: float | None = None
    drift_factors: list[float] = Field(
        default_factory=list,
        description="The statistics are of the samples times these: one for each ten samples.",
    )
    extra: dict[str, str] = Field(default_factory=dict)
    processes: int = Field(
        1, description="So many took the samples in turn: sample i is of process i modulo this."
    )
    calls: int = Field(
        1, description="Each sample is the mean of so many calls: more than one of a short kernel."
    )
    waited: int | None = Field(
        None,
        description="So many windows (each a sample, or repeated) waited for a processor that "
        "others had. Null if the system didn't tell.",
    )
    repeated: int = Field(
        0, description="So many windows there were beyond `samples`, because others had waited."
    )

    @classmethod
    def of_workload(cls, value: WorkloadResult) -> Self:
        """The wire's workload."""
        return cls.model_validate({**vars(value), "samples": len(value.samples_ns)})


class PhaseView(Answer):
    """One phase: `cases` in the test phase, `workloads` in the timed ones."""

    verdict: Verdict
    duration_s: float
    cases: list[CaseView] = Field(default_factory=list)
    workloads: list[WorkloadView] = Field(default_factory=list)
    error: ErrorView | None = None

    @classmethod
    def from_domain(cls, phase: PhaseResult) -> "PhaseView":
        """The wire's phase."""
        return cls(
            verdict=phase.verdict,
            duration_s=phase.duration_s,
            cases=[CaseView.from_domain(case) for case in phase.cases],
            workloads=[WorkloadView.of_workload(workload) for workload in phase.workloads],
            error=ErrorView.from_domain(phase.failure) if phase.failure else None,
        )

    def to_result(self, phase: Phase) -> PhaseResult:
        """The wire's form."""
        return PhaseResult(
            phase=phase,
            verdict=self.verdict,
            duration_s=self.duration_s,
            cases=tuple(case.to(CaseResult) for case in self.cases),
            workloads=tuple(workload.to(WorkloadResult) for workload in self.workloads),
            failure=self.error.to(Failure) if self.error else None,
        )


class SystemView(Shown):
    """Where it ran."""

    device: str
    cpu: str
    os: str
    python: str
    torch: str | None
    notes: list[str] = Field(default_factory=list)
    processors: int | None = Field(
        default=None, description="How many the kernel could use at once."
    )
    threads: int | None = Field(
        default=None, description="How many of its threads computed while it was timed."
    )


class SandboxView(Shown):
    """What was in force around the author's program, and what was not."""

    mode: str
    in_force: list[str]
    missing: list[str]


class CompileView(Shown):
    """A build step."""

    command: str
    output: str
    duration_s: float
    cached: bool
    kernels: list[dict[str, str]] = Field(default_factory=list)


class ArtifactView(Shown):
    """A file that came out of the run."""

    name: str
    media_type: str
    content_base64: str = Field(
        description="Empty if the file isn't text/plain and a server can send it separately."
    )


class ResultView(Answer):
    """One run's result."""

    verdict: Verdict
    problem: str
    mode: Mode
    device: str
    harness: HarnessKind
    harness_version: str | None = Field(
        None, description="The harness's release. Null in results from before it was recorded."
    )
    harness_sha256: str | None = Field(
        None, description="Of the harness's files, as in a signed document."
    )
    score_s: float | None
    score_ci95_s: tuple[float, float] | None = Field(
        None,
        description="95 % interval of the score, of this judging alone. Another judging of the "
        "same code differs by more: a ranked run's `interval` contains that.",
    )
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
    def from_domain(cls, result: RunResult) -> "ResultView":
        """The wire's result as people and programs read it."""
        return cls(
            verdict=result.verdict,
            problem=result.problem,
            mode=result.mode,
            device=result.system.device,
            harness=result.harness,
            harness_version=result.harness_version or None,
            harness_sha256=result.harness_sha256 or None,
            score_s=result.score_s,
            score_ci95_s=result.score_ci95_s,
            phases={phase.phase: PhaseView.from_domain(phase) for phase in result.phases},
            stdout=result.stdout,
            stderr=result.stderr,
            error=ErrorView.from_domain(result.failure) if result.failure else None,
            system=SystemView.from_domain(result.system),
            sandbox=SandboxView.from_domain(result.sandbox),
            compile=CompileView.from_domain(result.compile) if result.compile else None,
            artifacts=[ArtifactView.from_domain(artifact) for artifact in result.artifacts],
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
            harness_version=self.harness_version or "",
            harness_sha256=self.harness_sha256 or "",
            verdict=self.verdict,
            system=self.system.to(SystemInfo),
            sandbox=self.sandbox.to(SandboxReport),
            score_s=self.score_s,
            score_ci95_s=self.score_ci95_s,
            phases=tuple(view.to_result(phase) for phase, view in self.phases.items()),
            stdout=self.stdout,
            stderr=self.stderr,
            failure=self.error.to(Failure) if self.error else None,
            compile=self.compile.to(CompileReport) if self.compile else None,
            artifacts=tuple(item.to(Artifact) for item in self.artifacts),
            duration_s=self.duration_s,
            timings=dict(self.timings),
        )
