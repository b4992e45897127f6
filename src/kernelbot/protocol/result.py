"""What the harness sends back."""

from dataclasses import field

from kernelbot.protocol.enums import Fault, HarnessKind, Mode, Phase, Verdict
from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class Failure:
    """Why something did not go well: whose fault, one sentence, and what was seen."""

    fault: Fault
    message: str
    evidence: str = ""


NOT_RUN = "Not run: the program had ended in another case."
"""The message of a case that wasn't run, with the verdict of the one that ended the program."""


@dataclass(frozen=True)
class CaseResult:
    """One test case. `message` is empty when accepted, else what the checker said."""

    spec: str
    verdict: Verdict
    message: str


@dataclass(frozen=True)
class WorkloadResult:
    """The measurement of one workload; every sample is kept, all times in nanoseconds.

    Samples are as they were measured. The statistics are of the samples times their
    `drift_factors`, if there are any.
    """

    spec: str
    samples_ns: tuple[float, ...]
    median_ns: float
    mean_ns: float
    stdev_ns: float
    ci95_ns: tuple[float, float]
    """95 % interval, see `protocol.scoring`."""
    best_ns: float
    worst_ns: float
    checked: int = 0
    """How many outputs were checked, of the samples and of windows that were repeated."""
    stopped_by: str = ""
    """`precision`, `max_samples`, `wall_cap`, or `processes` if these differ by more than further
    samples of them could even out; `dispute` if the attempt ended meanwhile and a
    second one measured better; `script` if a problem's own script measured."""
    empty_call_ns: float | None = None
    """Median time of an empty call on the same runner: reported, never subtracted."""
    anchor_ns: float | None = None
    """Median time of the problem's anchor between the samples; None if it has none."""
    drift_factors: tuple[float, ...] = ()
    """Factors that cancel drift, one for each ten samples, from the anchor's times beside them."""
    extra: dict[str, str] = field(default_factory=dict)
    """Further keys a problem's script reported."""
    processes: int = 1
    """How many processes of the kernel took the samples in turn: sample i is of process i modulo
    this."""
    calls: int = 1
    """How many calls, each with data of its own, a sample is the mean of: more than one of a short
    kernel."""
    waited: int | None = None
    """How many windows, of one or of `calls` calls, waited for a processor that others had; None if
    neither the system nor control calls told."""
    repeated: int = 0
    """How many windows there were beyond one for each sample, because others had waited."""


@dataclass(frozen=True)
class PhaseResult:
    """One phase. `cases` in the test phase, `workloads` in the timed ones; a profile phase
    names what it profiled as either."""

    phase: Phase
    verdict: Verdict
    duration_s: float
    cases: tuple[CaseResult, ...] = ()
    workloads: tuple[WorkloadResult, ...] = ()
    failure: Failure | None = None
    of_opponent: bool = False
    """Whether a duel's phase is the opponent's alone. Each of both has a test phase."""


@dataclass(frozen=True)
class CompileReport:
    """A build step: the command, what the compiler printed, how long, from the cache or not."""

    command: str
    output: str
    duration_s: float
    cached: bool
    kernels: tuple[dict[str, str], ...] = ()
    """Per CUDA kernel: name, registers, spill and shared-memory bytes, as ptxas reported."""

    @property
    def spent_s(self) -> float:
        """How long compiling took this time: nothing, if it is from the cache."""
        return 0.0 if self.cached else self.duration_s


@dataclass(frozen=True)
class BuildEnvironment:
    """The machine and image that something was built in: what must be alike where it is used."""

    machine: str
    """The kind of machine, as `uname -m` says it."""
    libc: str
    """Name and version."""
    tools: dict[str, str] = field(default_factory=dict)
    """Versions of what built it by name; empty: not installed."""
    processor: str = ""
    """The SHA-256 of the processor's instruction sets, if it was built for these; empty: for all
    processors of the machine's kind."""


@dataclass(frozen=True)
class Product:
    """What a build step made of one author's file. It is the author's own: nobody but a runner ever
    reads what is in it."""

    content_base64: str = field(repr=False)
    """zlib of the compiled library, or of the archive of what the file compiled for itself."""
    sha256: str
    """The SHA-256 of that zlib, in hex."""
    place: BuildEnvironment
    report: CompileReport | None = None
    """What the author of a compiled problem's kernel is shown."""


@dataclass(frozen=True)
class SandboxReport:
    """What was in force around the runner; `missing` names what was not, with the reason."""

    mode: str
    in_force: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class SystemInfo:
    """Where it ran. `torch` None: not installed. `notes`: e.g. torch.cuda mapped to the CPU."""

    device: str
    cpu: str
    os: str
    python: str
    torch: str | None
    notes: tuple[str, ...] = ()
    processors: int | None = None
    """How many the kernel could use at once; None: it didn't run, or a script judged it."""
    threads: int | None = None
    """How many of the kernel's threads computed while it was timed; None: it wasn't."""


@dataclass(frozen=True)
class Artifact:
    """A file to download, e.g. a trace; `content_base64` is capped by the harness."""

    name: str
    media_type: str
    content_base64: str


@dataclass(frozen=True)
class DuelWorkload:
    """Two kernels called in turn on one workload. Samples are pairs, in the order of measuring."""

    spec: str
    submission_ns: tuple[float, ...]
    opponent_ns: tuple[float, ...]
    ratio: float
    """Median of the pairs' ratios: the submission's time divided by the opponent's."""
    ratio_ci95: tuple[float, float]
    """95 % interval, see `protocol.scoring`."""
    stopped_by: str = ""
    """Why sampling stopped, as in `WorkloadResult`."""
    processes: int = 1
    """How many pairs of processes took the samples in turn, as in `WorkloadResult`."""
    waited: int | None = None
    """Pairs of calls that waited, as `WorkloadResult` counts calls."""
    repeated: int = 0


@dataclass(frozen=True)
class DuelResult:
    """What a duel showed. Below 1: the submission is the faster one."""

    ratio: float
    """The ratio of all workloads, by the problem's ranking rule."""
    ratio_ci95: tuple[float, float]
    workloads: tuple[DuelWorkload, ...]


@dataclass(frozen=True)
class RunResult:
    """The outcome of one attempt, decided after the runner's whole process tree was dead."""

    job_id: str
    problem: str
    mode: Mode
    harness: HarnessKind
    verdict: Verdict
    system: SystemInfo
    sandbox: SandboxReport
    score_s: float | None = None
    """In seconds, by the problem's ranking rule; None unless accepted with timed phases."""
    score_ci95_s: tuple[float, float] | None = None
    phases: tuple[PhaseResult, ...] = ()
    stdout: str = ""
    stderr: str = ""
    failure: Failure | None = None
    """None exactly when the verdict is `accepted`."""
    compile: CompileReport | None = None
    artifacts: tuple[Artifact, ...] = ()
    duration_s: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)
    """Where our own time went, in seconds: `startup`, `compile`, `kernel`, `overhead`."""
    suspicions: tuple[str, ...] = ()
    """Reasons to doubt the score of an accepted run, one sentence each, for organisers. A ranked
    submission is held because of them."""
    recurring_data: str = ""
    """Which workload's calls had the same data several times, as a text for organisers; empty if
    none did, or the problem says that it knows."""
    harness_version: str = ""
    """The release of the harness that judged this; empty if it didn't say."""
    harness_sha256: str = ""
    """The hash of that harness's files; see `harness.archive`."""
    attempt_lost: bool = False
    """Judging itself failed and nobody is to blame: the verdict is `internal_error`, and another
    attempt may succeed. Set by a node, which has no other way to report it; never stored."""
    duel: DuelResult | None = None
    """The outcome of a duel in which both kernels were accepted; such a run has no score. None
    otherwise."""
    opponent_failed: bool = False
    """Whether a duel's verdict and failure are about the opponent, not about the submission."""
    product: Product | None = None
    """What a build step that was accepted has made; None: there is nothing to carry to a run, or it
    is too large. None for all other jobs: no run ever leaves one."""
