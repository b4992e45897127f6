"""How much was submitted and judged, as organisers see it. Times in seconds."""

from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class DeviceStatistics:
    """The runs of one device; times are null if nothing has begun or ended, and medians are those
    of the latest 2,000 submissions."""

    device: str
    runs: int
    passes: int
    """Finished and accepted."""
    failures: int
    """Finished, and not accepted through the author's fault."""
    errors: int
    """Lost, or finished with a fault of ours or the scheduler's."""
    waiting: int
    running: int
    wait_median_s: float | None
    """From submitting to the first attempt."""
    wait_longest_s: float | None
    run_median_s: float | None
    """From the first attempt to the end."""
    run_total_s: float


@dataclass(frozen=True)
class Statistics:
    """Counts of everything, or of one board; `last_day`: only what came within 24 hours."""

    board: str | None
    last_day: bool
    boards: int
    submissions: int
    authors: int
    runs: int
    passes: int
    devices: tuple[DeviceStatistics, ...]
