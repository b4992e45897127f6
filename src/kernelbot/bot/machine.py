"""What the bot can try on the machine that it runs on, outside the queue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kernelbot.protocol import Mode, RunResult, SourceFile

OnLine = Callable[[str], None]
"""Called with each line as soon as it is known, in any thread."""


@dataclass(frozen=True)
class Machine:
    """Each call blocks, and raises `KernelbotError`."""

    verify_runs: Callable[[OnLine], bool]
    """An example through every device and launcher; whether all were accepted."""
    verify_task: Callable[[str, Mode, OnLine], bool]
    """Every solution of a problem folder, by its name, in a mode; whether all behaved."""
    run_script: Callable[[SourceFile, str | None, str | None], RunResult]
    """A script in Python or CUDA on a device (its name or its vendor's; None: the first), by a
    launcher of a kind (None: any)."""
    devices_reached: Callable[[str], Sequence[str]]
    """The names of the devices that launchers of a kind reach."""
