"""How much of what a device can do a kernel reaches, in words."""

from kernelbot.ranking.roofline import RooflineLimit
from kernelbot.render.text import one_line
from kernelbot.render.units import seconds_text


def limit_text(limit: RooflineLimit, device: str) -> str:
    least = seconds_text(limit.at_least_s)
    if limit.is_memory:
        return (
            f"Memory bandwidth limits this problem on {one_line(device)}: the data can't be moved "
            f"in less than {least}."
        )
    return (
        f"Arithmetic limits this problem on {one_line(device)}: the operations can't be done in "
        f"less than {least}."
    )


def reached_text(limit: RooflineLimit) -> str:
    """`31 % of the bandwidth`."""
    return f"{100 * limit.share:.0f} % of the {'bandwidth' if limit.is_memory else 'peak'}"


def whole_text(limit: RooflineLimit, device: str) -> str:
    """What limits the problem, and how much of that the kernel reaches."""
    return f"{limit_text(limit, device)} This kernel reaches {reached_text(limit)}."
