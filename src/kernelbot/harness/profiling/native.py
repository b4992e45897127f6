"""Which profilers look at a native submission on its device."""

from typing import Any

from kernelbot.harness.profiling.counting import CountingProfiler
from kernelbot.harness.profiling.findings import Findings, Profiler
from kernelbot.harness.profiling.framework import FrameworkProfiler
from kernelbot.harness.profiling.tools import find_tool
from kernelbot.harness.profiling.watched import Subject, ToolProfiler
from kernelbot.harness.runner_client.callers import Conversation
from kernelbot.harness.runner_client.session import Session
from kernelbot.harness.sandbox import RunnerClient


def profilers_for(subject: Subject, session: Conversation, client: RunnerClient) -> list[Profiler]:
    """On a CPU the processor's counters, on a GPU its vendor's tool; beside them the framework's
    own, which is all there is for ranks, and which sees nothing of a compiled submission on a
    CPU. What is missing is said in its place."""
    framework = FrameworkProfiler(session)
    if not isinstance(session, Session):
        return [framework]
    found = find_tool(subject.job)
    if found is None:
        counting = CountingProfiler(session)
        return [counting, framework] if subject.binary is None else [counting]
    if isinstance(found, Findings):
        return [_Missing(found), framework]
    return [ToolProfiler(found, subject, client, session.deadline), framework]


class _Missing:
    """Stands where a profiler would, and says what is missing."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def profile(self, data: Any) -> Findings:  # noqa: ARG002 (there is nothing to look with)
        """Always the same."""
        return self._findings
