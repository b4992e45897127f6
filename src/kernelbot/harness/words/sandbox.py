"""The words of the sandbox: what is asked of it and what comes out."""

from dataclasses import dataclass, field
from enum import StrEnum

from kernelbot.protocol import SandboxMode, Verdict


class Flavour(StrEnum):
    """What a zygote has imported before it forks its first runner."""

    BARE = "bare"
    NUMPY = "numpy"
    TORCH = "torch"


class SandboxUnavailable(RuntimeError):
    """The sandbox can't be set up here: the platform's fault; the text says what to do."""


def stood_still(seconds: float) -> SandboxUnavailable:
    """Why nobody knows whether a time limit was kept."""
    return SandboxUnavailable(
        f"The judge stood still for {seconds:.0f} s, so the run's time isn't known: it was "
        "suspended with its machine, its job or its container."
    )


@dataclass(frozen=True)
class ZygoteConfig:
    """How a zygote is started. `devices` are paths to bind in, e.g. `/dev/nvidia0`."""

    flavour: Flavour
    mode: SandboxMode = SandboxMode.REQUIRED
    cuda_on_cpu: bool = False
    devices: tuple[str, ...] = ()
    builds_for_gpu: bool = False
    """Whether what is built there is for a GPU, although none is bound in."""
    folders: tuple[str, ...] = ()
    """More folders to show, read-only."""
    libraries: tuple[str, ...] = ()
    """Those of `folders` where the dynamic linker looks too."""
    precompiled: str = ""
    """A folder of headers that were compiled in advance, to show read-only; empty: none."""
    env: dict[str, str] = field(default_factory=dict)
    """Added to the clean environment that every runner starts with."""
    spare: int = 1
    """Runners kept forked ahead of need."""
    cpus: tuple[int, ...] = ()
    """The processors that runners may use, for good; empty: all of ours."""
    lasting: bool = False
    """Whether so many runners are to come that half a second spent on making each quicker pays."""


@dataclass(frozen=True)
class Surroundings:
    """What a zygote puts around each of its runners."""

    isolated: bool
    cpus: tuple[int, ...]
    user: int | None = None
    """The user that the next one becomes; None: that of all."""
    """The processors of `ZygoteConfig`; the zygote itself may use any, so as not to stand in a
    runner's way."""


@dataclass(frozen=True)
class RunnerExit:
    """How a runner ended. Exit code and signal are both None if it was killed from outside."""

    exit_code: int | None
    signal: int | None
    out_of_memory: bool
    cpu_time_s: float
    """User and system time of the runner and of the children it waited for."""
    too_many_processes: bool
    rank: int | None = None
    """The one of several ranks that ended first by itself."""


@dataclass(frozen=True)
class CommandResult:
    """How a command in a fresh runner ended."""

    exit_code: int | None
    signal: int | None
    stdout: str
    stderr: str
    fd_output: bytes
    """What was written to the descriptor `POPCORN_FD`, as far as it was kept."""
    collected: dict[str, bytes]
    """The files asked for that were there at the end, by name."""
    duration_s: float
    limit: Verdict | None
    """`time_limit`, `memory_limit` or `output_limit` where one of these ended it."""
    timed_out: bool
    """Whether `time_limit` ended it: the time given for it was up, and not the processor time in
    its limits."""
