"""What the platform sends to the harness: everything needed to judge one run, and nothing else."""

from dataclasses import field, replace

from kernelbot.protocol.enums import HarnessKind, Mode, NumberType, SandboxMode, Vendor
from kernelbot.protocol.lang import Lang
from kernelbot.protocol.late import dataclass
from kernelbot.protocol.rank_rule import RankRule
from kernelbot.protocol.result import Product

CaseValue = int | float | str | bool | list["CaseValue"]
"""A value of a test or benchmark case, as a `task.yml` can write it."""


@dataclass(frozen=True)
class Case:
    """One test case or workload: keyword arguments of `generate_input`, in the file's order."""

    args: dict[str, CaseValue]

    @property
    def spec(self) -> str:
        """The line a cases file holds and an author reads: `size: 127; seed: 4242`."""
        return "; ".join(f"{key}: {value}" for key, value in self.args.items())


@dataclass(frozen=True)
class SourceFile:
    """A text file by its bare name: no directory part, UTF-8."""

    name: str
    text: str


@dataclass(frozen=True)
class BuildConfig:
    """What is started or compiled. Names refer to the problem's files and the submission."""

    main: str | None = None
    """Python script problems: the eval script to start."""
    sources: tuple[str, ...] = ()
    """Compiled problems: the translation units, compiled together."""
    include_dirs: tuple[str, ...] = ()
    defines: dict[str, str] = field(default_factory=dict)
    compile_flags: tuple[str, ...] = ()
    outputs: tuple[int, ...] = ()
    """Native compiled problems: which leaves of the data are outputs; empty: the last array."""


@dataclass(frozen=True)
class Timeouts:
    """Wall-clock limits of the phases, in seconds."""

    test_s: float = 180.0
    benchmark_s: float = 180.0
    ranked_s: float = 180.0
    compile_s: float = 120.0


@dataclass(frozen=True)
class Floor:
    """The least work one workload must do; None if the author doesn't say."""

    flops: float | None = None
    memory_bytes: float | None = None
    number_type: NumberType | None = None
    """The type of the numbers that `flops` must be done with; None: of whatever type."""


@dataclass(frozen=True)
class ProblemSpec:
    """A problem as the harness needs it. `files` excludes the submission."""

    name: str
    lang: Lang
    harness: HarnessKind
    harness_reason: str
    """Why `harness` was chosen, in one sentence shown to people."""
    files: tuple[SourceFile, ...]
    submission_name: str
    """The name under which the author's file appears in the run's folder."""
    config: BuildConfig
    tests: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    ranking_by: RankRule = RankRule.LAST
    timeouts: Timeouts = Timeouts()
    multi_gpu: bool = False
    fresh_output: bool = False
    """Outputs must not share memory with inputs."""
    inputs_unchanged: bool = False
    """After the call the inputs must be bit for bit what they were before."""
    contiguous: bool = False
    """The arrays of an output must be row-major, without gaps."""
    recurring_data: bool = False
    """Its author knows that timed calls get the same data again, and wants them ranked."""
    floors: tuple[Floor | None, ...] = ()
    """Per benchmark; empty when the problem names no floor."""
    anchor: str | None = None
    """The file among `files` with a known kernel, timed alternately with the author's; or None."""
    input_classes: str = ""
    """The part of `reference.py` that defines classes of the input: runners get it by that name.
    Empty if the input has none."""


@dataclass(frozen=True)
class Peak:
    """The most floating-point operations per second with numbers of one type."""

    number_type: NumberType
    flops: float


@dataclass(frozen=True)
class DeviceSpec:
    """The device a run is for. `arch` is the compiler's name (`90a`, `gfx942`), None on a CPU."""

    name: str
    vendor: Vendor
    arch: str | None = None
    peak_flops: float | None = None
    """Roofline: floating-point operations per second of the types that aren't among `peaks`; None
    when not configured."""
    peak_bytes_per_s: float | None = None
    launch_overhead_ns: float | None = None
    clock_mhz: int | None = None
    """What the clock of its GPUs is locked to before each job; 0: it is unlocked then; None: it is
    left as the node's operator has set it."""
    peaks: tuple[Peak, ...] = ()
    cache_bytes: int | None = None
    """Size of its last-level cache; None: as its driver says."""
    include_dirs: tuple[str, ...] = ()
    """Folders with headers on its machines, which compilers find there."""

    def most_flops(self, number_type: NumberType | None) -> float | None:
        """The peak of a type, or the largest of all for None; None if it isn't configured."""
        known = {peak.number_type: peak.flops for peak in self.peaks}
        if number_type is not None:
            return known.get(number_type, self.peak_flops)
        return max(filter(None, (*known.values(), self.peak_flops)), default=None)


@dataclass(frozen=True)
class Limits:
    """What one runner (the author's whole process tree) may use."""

    memory_bytes: int = 4 << 30
    processes: int = 256
    open_files: int = 1024
    file_size_bytes: int = 256 << 20
    """Largest single file, and size of the private /tmp."""
    cpu_time_s: float = 600.0
    output_kept_bytes: int = 1 << 20
    """Kept of stdout and of stderr each; the middle is cut out with a note."""
    output_limit_bytes: int = 64 << 20
    """Beyond this the runner is stopped with `output_limit`."""


@dataclass(frozen=True)
class SamplingRules:
    """When to stop sampling a workload (measurement-integrity: interval of the median)."""

    min_samples: int = 20
    max_samples: int = 1000
    min_total_s: float = 0.0
    """Precision alone ends sampling only if so much time was measured; 0: at any time."""
    wall_cap_s: float = 2.0
    """Time for one workload once it has `min_samples`; making data and checks included."""
    patience_s: float = 20.0
    """How long a workload of slow calls may take to reach `min_samples`."""
    target_relative_ci: float = 0.01
    """Stop once the 95 % interval of the median is narrower than this share of the median."""
    widest_relative_ci: float = 0.2
    """What is ranked and has a wider 95 % interval than this share is sampled for longer, and
    measured again if that doesn't help."""
    processes: int = 8
    """In so many processes of a kernel a workload is timed, in turn, on a CPU; a duel in half as
    many pairs. Fewer if loading, warming or memory takes too much: three at least, or one."""
    warmup_s: float = 0.02
    """Time of all processes together. 0: no more calls before the samples than must be, and so no
    more than one in a window."""
    block: int = 10
    check_share: float = 0.5
    """At least this share of the timed calls is checked, never less than the fastest half; all of
    them if that is cheap. They are chosen once sampling is over."""


@dataclass(frozen=True)
class FollowUp:
    """The job that a node judges next if its job is accepted: the run on secret data of the same
    submission. What it doesn't name is alike in both."""

    job_id: str
    mode: Mode
    seed: int | None


@dataclass(frozen=True)
class JobSpec:
    """One attempt of one run."""

    job_id: str
    problem: ProblemSpec
    submission: SourceFile
    mode: Mode
    device: DeviceSpec
    secret: bool = False
    seed: int | None = None
    """Mixed into every case's seed. None in public runs; never shown to anyone."""
    limits: Limits = Limits()
    sampling: SamplingRules = SamplingRules()
    sandbox: SandboxMode = SandboxMode.REQUIRED
    opponent: SourceFile | None = None
    """Makes the job a duel: each of both is tested, and in the leaderboard phase they are called in
    turn on the same data. The mode is `leaderboard`. None: an ordinary job."""
    build_only: bool = False
    """Makes the job a build step: the submission is compiled for the device, on a machine that
    needn't have it, and nothing is judged. It has no seed, and no opponent."""
    report_only: bool = False
    """Of a build step: nobody takes its product. So it makes none, and may leave out what a report
    has no need of."""
    product: Product | None = None
    """What a build step has made of the submission; None: whoever judges builds it. Also None if it
    was built and there was nothing to carry."""
    opponent_product: Product | None = None
    """The same of the opponent."""
    checked: bool = False
    """Whether each access of memory is looked at, of CUDA kernels that the processor runs. In the
    mode `test` alone."""
    follow_up: FollowUp | None = None
    """What a scheduler's node judges besides, while it has the device; None: nothing. A node that
    can't is none the worse: then that run gets a job of its own."""

    @property
    def alone(self) -> "JobSpec":
        """The same job without what follows it."""
        return self if self.follow_up is None else replace(self, follow_up=None)

    @property
    def next_job(self) -> "JobSpec | None":
        """The job that follows if this one is accepted; None: there is none."""
        if self.follow_up is None:
            return None
        told = self.follow_up
        return replace(self.alone, job_id=told.job_id, mode=told.mode, seed=told.seed, secret=True)

    @property
    def longest_s(self) -> float:
        """How long judging may take at most in any mode, without the platform's own time; with what
        follows. In a duel two files are built and tested."""
        limits = self.problem.timeouts
        if self.build_only:
            return limits.compile_s
        if self.opponent is None:
            timed_s = max(limits.benchmark_s, limits.ranked_s)
            next_s = 0.0 if self.next_job is None else self.next_job.longest_s
            return limits.compile_s + limits.test_s + timed_s + next_s
        return 2 * (limits.compile_s + limits.test_s) + limits.benchmark_s + limits.ranked_s
