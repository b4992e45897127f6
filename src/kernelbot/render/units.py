"""Quantities as people read them: three significant digits and the unit that fits."""

import math

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def time_text(nanoseconds: float) -> str:
    """`1.23 ms`. From 1000 s on without decimals; below 1 ns in fractions of a nanosecond."""
    for size, unit in _UNITS:
        # What would be rounded up to the next unit is written in that unit: not `1000 µs`.
        if nanoseconds >= size * 0.9995:
            return f"{three_digits(nanoseconds / size)} {unit}"
    return f"{nanoseconds:.3g} ns"


def seconds_text(seconds: float) -> str:
    """A time as text, from seconds."""
    return time_text(seconds * 1e9)


def interval_text(low_ns: float, high_ns: float) -> str:
    """`1.21 to 1.25 ms`: the unit once if both share it."""
    low, low_unit = time_text(low_ns).split(" ")
    high, high_unit = time_text(high_ns).split(" ")
    if low_unit == high_unit:
        return f"{low} to {high} {high_unit}"
    return f"{low} {low_unit} to {high} {high_unit}"


def wait_text(wait_s: float) -> str:
    """`45 s`; from 90 s on `2 min`, from two hours on `3 h`, rounded up."""
    if wait_s < 90:
        return f"{wait_s:.0f} s"
    return f"{math.ceil(wait_s / 60)} min" if wait_s < 7200 else f"{math.ceil(wait_s / 3600)} h"


def to_go_text(wait_s: float) -> str:
    """`about 45 s to go`: what is said of a place in the queue."""
    return "any moment now" if wait_s < 1 else f"about {wait_text(wait_s)} to go"


def size_text(size_bytes: int) -> str:
    """`1.5 MiB`."""
    value = float(size_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 999.5:  # four digits would be written as 1e+03
            return f"{value:.3g} {unit}"
        value /= 1024
    return f"{value:.3g} TiB" if value < 999.5 else f"{value:.0f} TiB"


def percent_text(share: float) -> str:
    """`+3.2%`, with the sign; from 100 % on without decimals."""
    return f"{share:+.1%}" if abs(share) < 1 else f"{share:+.0%}"


def three_digits(value: float) -> str:
    """A number of at least 0.01 with three digits, or all of those before the point."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
