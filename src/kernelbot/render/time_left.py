"""How long it is until something ends, in words."""

from datetime import datetime, timedelta

SOON = timedelta(days=14)
"""What ends within this time is said to end soon."""
_PARTS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def time_left(until: datetime, now: datetime) -> str:
    """`3 days`, in the largest unit that fits twice, else the next smaller one; empty: it is
    over."""
    left_s = (until - now).total_seconds()
    for size_s, unit in _PARTS:
        if left_s >= 2 * size_s or (unit == "minute" and left_s >= size_s):
            count = int(left_s // size_s)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute" if left_s > 0 else ""


def ends_soon(until: datetime | None, now: datetime, within: timedelta = SOON) -> bool:
    """Whether it ends within this time, and hasn't yet; None never ends."""
    return until is not None and now < until <= now + within
