"""What a preflight has found: values alone."""

from enum import StrEnum

from kernelbot.protocol.late import dataclass


class PreflightOutcome(StrEnum):
    """How a preflight for one GPU ended."""

    COMPILED = "compiled"
    REFUSED = "does not compile"
    UNKNOWN = "could not be compiled here"
    NEVER = "never compiled here"
    """No file of its kind is compiled for this GPU."""


class Severity(StrEnum):
    """Whether a compiler refused the file, or only warned."""

    ERROR = "error"
    WARNING = "warning"


class Bound(StrEnum):
    """What keeps more blocks from one multiprocessor."""

    REGISTERS = "registers"
    SCALAR_REGISTERS = "scalar registers"
    SHARED_MEMORY = "shared memory"
    THREADS = "threads"
    BLOCKS = "blocks"


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning. `line`, `column` None: nobody named one. Both begin at 1."""

    severity: Severity
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Figures:
    """What a kernel needs, in bytes or as a count. None: the compiler didn't say."""

    name: str
    registers: int | None = None
    spill_bytes: int | None = None
    """Stored and loaded, together."""
    stack_bytes: int | None = None
    """Memory that each thread has; spilled registers lie there too."""
    shared_bytes: int | None = None
    """Memory that each block has; for CUDA C++ without what a launch adds."""
    threads: int | None = None
    """How many a block has, if compiling decides that, as Triton does."""
    stages: int | None = None
    """How many Triton's pipeline has."""
    accumulation_registers: int | None = None
    """Of AMD's GPUs, of the registers: those for matrix cores, and for spills."""
    scalar_registers: int | None = None
    """Of AMD's GPUs: those of a warp, beside each thread's registers."""


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of `threads` are on one multiprocessor at once, and what limits them.
    `blocks` 0: not even one has room, so the kernel can't be launched."""

    threads: int
    blocks: int
    warps_share: float
    """The share of the warps that one multiprocessor can have: at most 1."""
    limited_by: Bound


@dataclass(frozen=True)
class Kernel:
    """One kernel, as compiled for one GPU. `occupancy` None: too little is known."""

    figures: Figures
    occupancy: Occupancy | None = None
    times: int = 1
    """How many compiled kernels have just these figures."""


@dataclass(frozen=True)
class PreflightReport:
    """One file for one GPU."""

    gpu: str
    arch: str
    outcome: PreflightOutcome
    kernels: tuple[Kernel, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    not_compiled: tuple[str, ...] = ()
    """What couldn't be compiled here, and why: one sentence each."""
    output: str = ""
    """All that the compilers said, shortened."""
    duration_s: float = 0.0
    left_out: int = 0
    """How many further kernels there are that have no room in the report."""
    compiled_on: str = ""
    """The device whose compilers these were, if runs are compiled elsewhere; empty: runs have what
    was compiled, or nobody runs it."""

    @property
    def caveat(self) -> str:
        """Why a run may be told something else; empty: it isn't."""
        if not self.compiled_on:
            return ""
        return f"By the compilers of {self.compiled_on}; those of {self.gpu} decide."


@dataclass(frozen=True)
class Preflight:
    """A report beside that of the author's previous version. `before` None: there is none.
    `cached`: the same file was compiled before, with the same compilers."""

    report: PreflightReport
    before: PreflightReport | None = None
    cached: bool = False

    def earlier(self, kernel: Kernel) -> Figures | None:
        """The figures that this kernel had in the previous version; None if it wasn't there."""
        if self.before is None:
            return None
        return match(kernel.figures, self.report, self.before)


def match(figures: Figures, report: PreflightReport, before: PreflightReport) -> Figures | None:
    """The kernel of `before` with the same name and launch; of several the one in the same place
    among those."""
    same = [one.figures for one in report.kernels if _launch(one.figures) == _launch(figures)]
    earlier = [one.figures for one in before.kernels if _launch(one.figures) == _launch(figures)]
    place = same.index(figures)
    return earlier[place] if place < len(earlier) else None


def _launch(figures: Figures) -> tuple[str, int | None, int | None]:
    return figures.name, figures.threads, figures.stages
