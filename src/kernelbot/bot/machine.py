"""What the bot can try on the machine that it runs on, outside the queue."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kernelbot.protocol import Mode, RunResult, SourceFile

OnLine = Callable[[str], None]
"""Called with each line as soon as it is known, in any thread."""


@dataclass(frozen=True)
class Machine:
    """Each call blocks, but for `run_script`, and raises `KernelbotError`."""

    verify_runs: Callable[[OnLine], bool]
    """An example through every device and launcher; whether all were accepted."""
    verify_task: Callable[[str, Mode, OnLine], bool]
    """Every solution of a problem folder, by its name, in a mode; whether all behaved."""
    script_device: Callable[[str | None, str | None], str]
    """The name of the device for a script: of a device or a vendor (None: the default), reached by
    a launcher of a kind (None: any)."""
    run_script: Callable[[SourceFile, str, str | None], Awaitable[RunResult]]
    """A script in Python or CUDA on the device of that name, by a launcher of a kind."""
    devices_reached: Callable[[str], Sequence[str]]
    """The names of the devices that launchers of a kind reach."""
