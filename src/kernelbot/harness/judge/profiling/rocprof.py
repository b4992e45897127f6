"""AMD rocprofv3: which kernels ran, how often and how long, and a trace."""

import csv
import io
from collections.abc import Callable

from kernelbot.harness.judge.profiling.findings import File, ProfilerFindings, columns, last_words
from kernelbot.harness.words.sandbox import CommandResult

_FOLDER = "rocprof"
_NAME = "profile"
_STATISTICS = f"{_FOLDER}/{_NAME}_kernel_stats.csv"
_TRACE = f"{_FOLDER}/{_NAME}_results.pftrace"
_TABLES = (
    "kernel_stats",
    "kernel_trace",
    "hip_api_trace",
    "hip_trace",
    "memory_copy_trace",
    "marker_api_trace",
    "rccl_api_trace",
    "domain_stats",
    "agent_info",
)
"""Names differ between releases: files that don't exist are left out."""
_MAX_KERNELS = 20
_MAX_NAME = 100


class Rocprof:
    """Implements `Tool`."""

    title = "rocprofv3"
    program = "rocprofv3"
    package = "ROCprofiler-SDK (the package `rocprofiler-sdk` of ROCm)"
    environment: dict[str, str] = {}  # noqa: RUF012 (nobody writes to it)
    leaves = (_TRACE, *(f"{_FOLDER}/{_NAME}_{table}.csv" for table in _TABLES))

    def command(self, program: str, argv: list[str]) -> list[str]:
        """Trace everything that is cheap to trace, with statistics by kernel and for Perfetto."""
        traces = ("hip", "kernel", "rccl", "marker", "memory-copy")
        options = [*(f"--{trace}-trace" for trace in traces), "--stats"]
        places = ["-d", _FOLDER, "-o", _NAME, "--output-format", "pftrace", "csv"]
        return [program, *options, *places, "--", *argv]

    def findings(
        self,
        result: CommandResult,
        program: str,  # noqa: ARG002 (see Tool)
        run: Callable[[list[str], dict[str, bytes]], CommandResult],  # noqa: ARG002 (see Tool)
    ) -> ProfilerFindings:
        """The kernels by their share of the time, and all files."""
        files = tuple(
            File(name.removeprefix(f"{_FOLDER}/{_NAME}_"), _media_type(name), content)
            for name, content in result.collected.items()
            if content
        )
        statistics = result.collected.get(_STATISTICS)
        if statistics is None:
            return ProfilerFindings(
                self.title, f"It left no statistics: {last_words(result)}", files
            )
        return ProfilerFindings(self.title, summary(statistics.decode(errors="replace")), files)


def summary(statistics: str) -> str:
    """The kernels that took longest, from the table that rocprofv3 leaves."""
    rows = [("kernel", "calls", "total us", "mean us", "share")]
    try:
        found = sorted(
            csv.DictReader(io.StringIO(statistics)), key=lambda row: -float(row["TotalDurationNs"])
        )
        for row in found[:_MAX_KERNELS]:
            name, total_us = row["Name"][:_MAX_NAME], float(row["TotalDurationNs"]) / 1e3
            calls, mean_us = int(row["Calls"]), float(row["AverageNs"]) / 1e3
            share = f"{float(row['Percentage']):.1f} %"
            rows.append((name, str(calls), f"{total_us:.2f}", f"{mean_us:.2f}", share))
    except (KeyError, ValueError, TypeError, csv.Error) as error:
        return f"The statistics can't be read ({type(error).__name__}: {error}); see the file."
    if not found:
        return "No kernel ran on the GPU."
    more = len(found) - _MAX_KERNELS
    title = "Of the whole program, with the call that warms it up."
    rest = f"\n{more} more in the file." if more > 0 else ""
    return f"{title}\n\n{columns(rows, right=4)}{rest}"


def _media_type(name: str) -> str:
    return "text/csv" if name.endswith(".csv") else "application/octet-stream"
