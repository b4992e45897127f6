"""Tests on a processor of what is for a GPU, and what a result counts for."""

from dataclasses import replace

from kernelbot.protocol import DeviceSpec, RunResult, Vendor
from kernelbot.runs.repeats import unranked_if_busy

NOTE = (
    "On an emulator: no speed. A processor stood in for the board's GPU, so it is known whether "
    "the kernel is right, and nothing of how fast it is."
)


def as_tried(result: RunResult) -> RunResult:
    """The result, whose report says first what it is worth."""
    system = replace(result.system, notes=(NOTE, *result.system.notes))
    return replace(result, system=system)


def as_it_counts(
    result: RunResult, device: DeviceSpec, *, not_offered: bool, ranked: bool
) -> RunResult:
    """The result, as far as its times are worth something on the device that judged it.
    `not_offered`: it is a test on one that its board doesn't offer; whether the board still takes
    those on a processor doesn't matter, since this one was taken."""
    if not_offered and device.vendor is Vendor.CPU:
        return as_tried(result)
    return unranked_if_busy(result) if ranked else result
