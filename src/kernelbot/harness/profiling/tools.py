"""The vendors' profilers: programs that run a program, watch it, and leave files.

A runner forked from a zygote can't be put under such a tool afterwards, so in profile mode the
kernel runs once more, in a fresh interpreter that the tool starts, in a sandbox of its own.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kernelbot.harness.profiling.findings import Findings
from kernelbot.harness.profiling.nsight import NsightCompute
from kernelbot.harness.profiling.rocprof import Rocprof
from kernelbot.harness.sandbox import CommandResult
from kernelbot.harness.sandbox.enclosure import inside, installed_program
from kernelbot.protocol import JobSpec, SandboxMode, Vendor

RunAgain = Callable[[list[str], dict[str, bytes]], CommandResult]
"""Runs a command beside the given files, in a runner of its own."""


class Tool(Protocol):
    """What is particular about a tool."""

    title: str
    program: str
    package: str
    """What to install where it is missing."""
    environment: dict[str, str]
    """Added to that of the program which is watched."""
    leaves: tuple[str, ...]
    """Names of the files that may be there afterwards."""

    def command(self, program: str, argv: list[str]) -> list[str]:
        """What to start so that `argv` is watched. `program`: where the tool is."""

    def findings(self, result: CommandResult, program: str, run: RunAgain) -> Findings:
        """What it found, or why it found nothing. Never raises for what the files contain."""


@dataclass(frozen=True)
class Installed:
    """A tool, and where the sandbox shows it."""

    tool: Tool
    program: str

    def command(self, argv: list[str]) -> list[str]:
        """What to start so that `argv` is watched."""
        return self.tool.command(self.program, argv)

    def findings(self, result: CommandResult, run: RunAgain) -> Findings:
        """What it found, or why it found nothing."""
        return self.tool.findings(result, self.program, run)


TOOLS: dict[Vendor, Tool] = {Vendor.NVIDIA: NsightCompute(), Vendor.AMD: Rocprof()}


def find_tool(job: JobSpec) -> Installed | Findings | None:
    """The profiler of the device's vendor; findings that say what to install where it is
    missing; None for a device whose vendor has none."""
    tool = TOOLS.get(job.device.vendor)
    if tool is None:
        return None
    found = installed_program(tool.program)
    if found is None:
        text = f"{tool.program} is not installed where this was judged: install {tool.package}."
        return Findings(tool.title, text)
    isolated = job.sandbox is SandboxMode.REQUIRED
    return Installed(tool, inside(found) if isolated else found)


def share_s(deadline: float) -> float:
    """How long a tool may take: half of what is left, so that it cuts off nothing behind it."""
    return max(deadline - time.monotonic(), 0.0) / 2
