"""A run's result as JSON shows it: what `kernelbot run --json` prints and what the API answers."""

from dataclasses import field

from kernelbot.domain.values import described, from_fields
from kernelbot.protocol import (
    Artifact,
    CaseResult,
    CompileReport,
    Failure,
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
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class CaseReport:
    """One test case, for programs that read little."""

    case: str
    verdict: Verdict
    message: str


@dataclass(frozen=True)
class WorkloadReport:
    """One timed workload, without its samples: their median, and its 95 % interval."""

    workload: str
    median_ns: float
    ci95_ns: tuple[float, float] = field(metadata=described("Of this judging alone."))
    samples: int

    @classmethod
    def from_result(cls, load: WorkloadResult) -> "WorkloadReport":
        return cls(load.spec, load.median_ns, load.ci95_ns, len(load.samples_ns))


@dataclass(frozen=True)
class WorkloadView:
    """The measurement of one workload; `samples` counts `samples_ns`."""

    spec: str
    samples: int
    median_ns: float
    mean_ns: float
    stdev_ns: float
    ci95_ns: tuple[float, float] = field(
        metadata=described("95 % interval of the median, of this judging alone.")
    )
    best_ns: float
    worst_ns: float
    samples_ns: tuple[float, ...] = field(default_factory=tuple)
    checked: int = field(
        default=0,
        metadata=described("How many calls' outputs were checked, repeated ones included."),
    )
    stopped_by: str = ""
    empty_call_ns: float | None = None
    anchor_ns: float | None = None
    drift_factors: tuple[float, ...] = field(
        default_factory=tuple,
        metadata=described(
            "The statistics are of the samples times these: one for each ten samples."
        ),
    )
    extra: dict[str, str] = field(default_factory=dict)
    processes: int = field(
        default=1,
        metadata=described(
            "So many took the samples in turn: sample i is of process i modulo this."
        ),
    )
    calls: int = field(
        default=1,
        metadata=described(
            "Each sample is the mean of so many calls: more than one of a short kernel."
        ),
    )
    waited: int | None = field(
        default=None,
        metadata=described(
            "So many windows (each a sample, or repeated) waited for a processor that others had. "
            "Null if the system didn't tell."
        ),
    )
    repeated: int = field(
        default=0,
        metadata=described(
            "So many windows there were beyond `samples`, because others had waited."
        ),
    )

    @classmethod
    def from_result(cls, load: WorkloadResult) -> "WorkloadView":
        return from_fields(cls, load, samples=len(load.samples_ns))

    def to_result(self) -> WorkloadResult:
        return from_fields(WorkloadResult, self)


@dataclass(frozen=True)
class PhaseView:
    """One phase: `cases` in the test phase, `workloads` in the timed ones."""

    verdict: Verdict
    duration_s: float
    cases: tuple[CaseResult, ...] = field(default_factory=tuple)
    workloads: tuple[WorkloadView, ...] = field(default_factory=tuple)
    error: Failure | None = None

    @classmethod
    def from_result(cls, phase: PhaseResult) -> "PhaseView":
        workloads = tuple(map(WorkloadView.from_result, phase.workloads))
        return cls(phase.verdict, phase.duration_s, phase.cases, workloads, phase.failure)

    def to_result(self, phase: Phase) -> PhaseResult:
        workloads = tuple(map(WorkloadView.to_result, self.workloads))
        return PhaseResult(phase, self.verdict, self.duration_s, self.cases, workloads, self.error)


@dataclass(frozen=True, kw_only=True)
class ResultView:
    """One run's result."""

    verdict: Verdict
    problem: str
    mode: Mode
    device: str
    harness: HarnessKind
    harness_version: str | None = field(
        default=None,
        metadata=described("The harness's release. Null in results from before it was recorded."),
    )
    harness_sha256: str | None = field(
        default=None, metadata=described("Of the harness's files, as in a signed document.")
    )
    score_s: float | None
    score_ci95_s: tuple[float, float] | None = field(
        default=None,
        metadata=described(
            "95 % interval of the score, of this judging alone. Another judging of the same code "
            "differs by more: a ranked run's `interval` contains that."
        ),
    )
    phases: dict[Phase, PhaseView]
    stdout: str
    stderr: str
    error: Failure | None
    system: SystemInfo = field(
        metadata=described(
            "Where it ran. `processors`: how many the kernel could use at once; `threads`: how "
            "many of its threads computed while it was timed."
        )
    )
    sandbox: SandboxReport
    compile: CompileReport | None = None
    artifacts: tuple[Artifact, ...] = field(
        default_factory=tuple,
        metadata=described(
            "Files. The content of one is empty if it isn't text/plain and a server can send it "
            "separately."
        ),
    )
    duration_s: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_result(cls, result: RunResult) -> "ResultView":
        """The harness's result. Of the platform's own, such as suspicions, nothing is shown."""
        return from_fields(
            cls,
            result,
            device=result.system.device,
            harness_version=result.harness_version or None,
            harness_sha256=result.harness_sha256 or None,
            phases={phase.phase: PhaseView.from_result(phase) for phase in result.phases},
            error=result.failure,
        )

    def to_result(self) -> RunResult:
        """The harness's form, which everything else reads. The job's id stays with the platform."""
        return from_fields(
            RunResult,
            self,
            job_id="",
            harness_version=self.harness_version or "",
            harness_sha256=self.harness_sha256 or "",
            phases=tuple(view.to_result(phase) for phase, view in self.phases.items()),
            failure=self.error,
        )
