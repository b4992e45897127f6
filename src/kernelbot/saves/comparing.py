"""Whether one of two medians is faster, by their intervals."""

from enum import StrEnum


class SpeedChange(StrEnum):
    """What the intervals say of the second, compared with the first."""

    FASTER = "faster"
    SLOWER = "slower"
    UNKNOWN = "can't tell"


def by_intervals(first_ns: tuple[float, float], second_ns: tuple[float, float]) -> SpeedChange:
    """Unknown if the two intervals (low, high) share a value, or one of them isn't a number."""
    if second_ns[1] < first_ns[0]:
        return SpeedChange.FASTER
    if second_ns[0] > first_ns[1]:
        return SpeedChange.SLOWER
    return SpeedChange.UNKNOWN
