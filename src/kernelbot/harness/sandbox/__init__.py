"""The sandbox: zygotes that fork single-use runners, and commands run in them."""

from kernelbot.harness.sandbox.capture import OutputCapture
from kernelbot.harness.sandbox.client import RunnerClient
from kernelbot.harness.sandbox.command import CommandNotStarted, run_command
from kernelbot.harness.sandbox.enclosure import harness_path
from kernelbot.harness.sandbox.probe import probe
from kernelbot.harness.sandbox.runner import Runner
from kernelbot.harness.sandbox.zygote import Zygote

__all__ = [
    "CommandNotStarted",
    "OutputCapture",
    "Runner",
    "RunnerClient",
    "Zygote",
    "harness_path",
    "probe",
    "run_command",
]
