"""Tests on a processor of what is for a GPU."""

from dataclasses import replace

from kernelbot.protocol import RunResult

NOTE = (
    "On an emulator: no speed. A processor stood in for the board's GPU, so it is known whether "
    "the kernel is right, and nothing of how fast it is."
)


def as_tried(result: RunResult) -> RunResult:
    """The result, whose report says first what it is worth."""
    system = replace(result.system, notes=(NOTE, *result.system.notes))
    return replace(result, system=system)
