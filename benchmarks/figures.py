"""What the benchmarks share: quantiles, and a table of times."""

import statistics
from collections.abc import Sequence


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values don't exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


def median_and_p95_ms(values_s: Sequence[float]) -> tuple[str, str]:
    """Both in milliseconds, as text for a table."""
    return (
        f"{statistics.median(values_s) * 1e3:.1f}",
        f"{quantile(values_s, 0.95) * 1e3:.1f}",
    )
