"""How much was submitted and judged. Times in seconds."""

from kernelbot.schemas.common import Shown


class DeviceStatisticsView(Shown):
    """The runs of one device; times are null if nothing has begun or ended, and
    medians are those of the latest 2,000 submissions."""

    device: str
    runs: int
    passes: int
    failures: int
    errors: int
    waiting: int
    running: int
    wait_median_s: float | None
    wait_longest_s: float | None
    run_median_s: float | None
    run_total_s: float


class StatisticsView(Shown):
    """Of everything, or of one board; `last_day`: only of what was submitted within 24 hours."""

    board: str | None
    last_day: bool
    boards: int
    submissions: int
    authors: int
    runs: int
    passes: int
    devices: list[DeviceStatisticsView]
