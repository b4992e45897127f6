"""PyTorch's profiler, or Python's if torch isn't loaded, in the runner."""

from typing import Any

from kernelbot.harness.inside.profiling.calls import CALLS
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.judge.profiling.findings import File, ProfilerFindings


class FrameworkProfiler:
    """The table and the trace come from the runner and aren't trusted: they are for the author."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def profile(self, data: Any) -> ProfilerFindings:
        """A table; with torch also a Chrome trace, gzipped."""
        text, trace = self._session.profile(data)
        files = (File("trace.json.gz", "application/gzip", trace),) if trace else ()
        return ProfilerFindings(f"Framework's profiler, {CALLS} calls", text, files)
