"""What adds up over the phases of one job, natively judged or by a script."""

from dataclasses import dataclass, field

from kernelbot.harness.judge.artifacts import ArtifactCollection
from kernelbot.harness.words.windows import Ending
from kernelbot.protocol import CompileReport, DuelResult, Failure, PhaseResult, Product, Verdict
from kernelbot.protocol.phases import TIMED


@dataclass(frozen=True)
class JudgingRefusal:
    """A verdict that no phase gave: the build failed, or judging itself did."""

    verdict: Verdict
    failure: Failure


@dataclass
class Collected:
    """What a judge has gathered when it stops, for whatever reason."""

    phases: list[PhaseResult] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    compile: CompileReport | None = None
    artifacts: ArtifactCollection = field(default_factory=ArtifactCollection)
    timings: dict[str, float] = field(default_factory=dict)
    """Seconds."""
    notes: list[str] = field(default_factory=list)
    """What a person should know beside the verdict; never a refusal by itself."""
    processors: int | None = None
    """What `SystemInfo` says of them, as for `threads`."""
    threads: int | None = None
    suspicions: list[str] = field(default_factory=list)
    """What `RunResult` says of them."""
    recurring_data: str = ""
    """What `RunResult` says of it."""
    duel: DuelResult | None = None
    """The ratio of a duel that took place."""
    opponent_failed: bool = False
    """Whether a duel was refused for what its opponent did."""
    product: Product | None = None
    """What a build step made, which `RunResult` hands on."""
    refusal: JudgingRefusal | None = None
    """Set if something else than a phase decided; it outweighs the phases."""

    def add_phase(self, result: PhaseResult) -> None:
        """Keep a phase's result. Of a duel's tests the submission's come first, whichever side was
        tested first."""
        self.phases.append(result)
        self.phases.sort(key=lambda one: (one.phase in TIMED, one.of_opponent))

    def spend(self, name: str, seconds: float) -> None:
        """Add to one of the named timings."""
        self.timings[name] = self.timings.get(name, 0.0) + seconds

    def add_output(self, stdout: str, stderr: str) -> None:
        """Keep what a runner printed."""
        self.stdout += stdout
        self.stderr += stderr

    def add_ending(self, ending: Ending) -> None:
        """Keep what a runner that ended had printed."""
        self.add_output(ending.stdout, ending.stderr)
