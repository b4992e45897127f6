"""What a host tells the judge of a job, and what the judge tells its host. Both are trusted."""

from dataclasses import dataclass

from kernelbot.harness.words.message import Message
from kernelbot.protocol import JobSpec, Phase, ProgressEvent, RunResult, SandboxReport


@dataclass(frozen=True)
class Order:
    """What the host tells a judge beside the job itself."""

    sandbox: SandboxReport
    notes: tuple[str, ...] = ()
    build_cache: str | None = None
    """Folder of the compile cache; None for none."""
    only_builds: bool = False
    """Build ahead, in runners without a GPU, and say what was built instead of a result."""
    builds: tuple[str, ...] = ()
    """What was built ahead."""
    render_nodes: tuple[int, ...] = ()
    """Minor numbers of the render nodes that alone runners may open; empty: all that they see."""
    tells: bool = True
    """Whether anybody hears what happens; else a message for each test case would be sent, and read
    by a thread of the host's, for nothing."""
    with_torch: bool = False
    """Whether runners have torch loaded."""
    undisturbed: bool = True
    """Whether no runners are forked ahead before this job has ended."""


class HostMessage(Message):
    """What the host says."""


class JudgeJob(HostMessage, word="job"):
    """Judge this. Said once, first of all."""

    job: JobSpec
    order: Order


class GpusHeld(HostMessage, word="gpu"):
    """The job has its GPUs."""


class TurnAnswer(HostMessage, word="turn"):
    """The job may measure."""

    waited_s: float
    note: str = ""
    """Why the job doesn't measure alone, a sentence; empty if it does."""
    wanted: bool = True
    """False: all measure beside each other here, as was decided for this machine."""


class JudgeMessage(Message):
    """What the judge says."""


class JudgeEvent(JudgeMessage, word="event"):
    """Something has happened."""

    event: ProgressEvent


class GpusWanted(JudgeMessage, word="gpu"):
    """The job needs its GPUs."""


class TurnWanted(JudgeMessage, word="turn"):
    """The job wants to measure."""

    phase: Phase


class TurnOver(JudgeMessage, word="turn over"):
    """Others may measure."""


class Unsound(JudgeMessage, word="unsound"):
    """The last message: no runners are to be had."""

    text: str


class BuiltAhead(JudgeMessage, word="builds"):
    """The last message of one that only builds."""

    builds: tuple[str, ...]


class JobJudged(JudgeMessage, word="result"):
    """The last message."""

    result: RunResult
