"""Which profilers are used for a natively judged submission on its device."""

from typing import Any

from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.profiling.counting import CountingProfiler
from kernelbot.harness.judge.profiling.findings import Profiler, ProfilerFindings
from kernelbot.harness.judge.profiling.framework import FrameworkProfiler
from kernelbot.harness.judge.profiling.tools import find_tool
from kernelbot.harness.judge.profiling.watched import Subject, ToolProfiler
from kernelbot.harness.sandbox import RunnerClient


def profilers_for(subject: Subject, session: Session, client: RunnerClient) -> list[Profiler]:
    """On a CPU the hardware counters, on a GPU its vendor's tool; in addition the framework's own
    profiler, which is the only one for ranks and sees nothing of a compiled submission on a CPU.
    For a missing one, the report says so in its place."""
    framework = FrameworkProfiler(session)
    if subject.job.problem.multi_gpu:
        return [framework]
    found = find_tool(subject.job)
    if found is None:
        counting = CountingProfiler(session.ranks[0])
        return [counting, framework] if subject.binary is None else [counting]
    if isinstance(found, ProfilerFindings):
        return [_Missing(found), framework]
    return [ToolProfiler(found, subject, client, session.deadline), framework]


class _Missing:
    """Takes the place of a missing profiler and says what is missing."""

    def __init__(self, findings: ProfilerFindings) -> None:
        self._findings = findings

    def profile(self, data: Any) -> ProfilerFindings:  # noqa: ARG002 (there is nothing to look with)
        """The findings that say what is missing."""
        return self._findings
