"""The vendors' profilers: programs that run another program, profile it, and leave files.

Such a tool can't be attached to a runner that was forked from a zygote, so in profile mode the
kernel runs once more, in a fresh interpreter that the tool starts, in a sandbox of its own.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from kernelbot.harness.inside.own_folders import inside
from kernelbot.harness.judge.profiling.findings import ProfilerFindings
from kernelbot.harness.judge.profiling.nsight import NsightCompute
from kernelbot.harness.judge.profiling.rocprof import Rocprof
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import JobSpec, SandboxMode, Vendor

RunAgain = Callable[[list[str], dict[str, bytes]], CommandResult]
"""Runs a command beside the given files, in a runner of its own."""


class Tool(Protocol):
    """What differs between tools."""

    title: str
    program: str
    package: str
    """What to install if it is missing."""
    environment: dict[str, str]
    """Added to the environment of the profiled program."""
    leaves: tuple[str, ...]
    """Names of the files that it may leave."""

    def command(self, program: str, argv: list[str]) -> list[str]:
        """The command that profiles `argv`. `program`: the tool's path."""

    def findings(self, result: CommandResult, program: str, run: RunAgain) -> ProfilerFindings:
        """What it found, or why it found nothing. Never raises for what the files contain."""


@dataclass(frozen=True)
class Installed:
    """A tool, and its path in the sandbox."""

    tool: Tool
    program: str

    def command(self, argv: list[str]) -> list[str]:
        """The command that profiles `argv`."""
        return self.tool.command(self.program, argv)

    def findings(self, result: CommandResult, run: RunAgain) -> ProfilerFindings:
        """What it found, or why it found nothing."""
        return self.tool.findings(result, self.program, run)


TOOLS: Mapping[Vendor, Tool] = {Vendor.NVIDIA: NsightCompute(), Vendor.AMD: Rocprof()}
"""All of them: judges and both doctors ask this table, and no other module names a tool."""


def find_tool(
    job: JobSpec, tools: Mapping[Vendor, Tool] = TOOLS
) -> Installed | ProfilerFindings | None:
    """The profiler of the device's vendor; findings that say what to install if it is
    missing; None for a device whose vendor has none."""
    tool = tools.get(job.device.vendor)
    if tool is None:
        return None
    found = installed_program(tool.program)
    if found is None:
        text = f"{tool.program} is not installed where this was judged: install {tool.package}."
        return ProfilerFindings(tool.title, text)
    isolated = job.sandbox is SandboxMode.REQUIRED
    return Installed(tool, inside(found) if isolated else found)


def share_s(deadline: float) -> float:
    """How long a tool may take: half of the time left, so that there is time for what follows."""
    return max(deadline - time.monotonic(), 0.0) / 2
