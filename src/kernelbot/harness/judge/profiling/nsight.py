"""NVIDIA Nsight Compute: counters of each kernel, which it runs several times."""

import re
from collections.abc import Callable, Iterator

from kernelbot.harness.inside.profiling.alone import RANGE
from kernelbot.harness.judge.profiling.findings import File, ProfilerFindings, last_words
from kernelbot.harness.words.sandbox import CommandResult

TABLES = ("GPU Throughput", "Pipe Utilization (% of active cycles)", "Warp State (All Cycles)")
"""The tables in the text report; everything else is in the file."""
OCCUPANCY = "Occupancy"
"""The section of which two figures are in the text report as well."""
_ROWS = {OCCUPANCY: ("Theoretical Occupancy", "Achieved Occupancy")} | dict.fromkeys(TABLES, ("",))
"""How the rows begin that are taken of a table or a section."""
_REPORT = "profile"
_FILE = f"{_REPORT}.ncu-rep"
_MAX_KERNELS = "10"
_KERNEL = re.compile(r"\S.*, Context \d+, Stream \d+")
_TABLE = re.compile(r"Table Name\s*:(.*)")
_SECTION = re.compile(r"Section\s*:(.*)")
_COMPLAINT = re.compile(r"^==(?:ERROR|WARNING)==\s*(.+)$", re.MULTILINE)
_NO_PERMISSION = "ERR_NVGPUCTRPERM"
_ADVICE = (
    "The operator can allow it: options nvidia NVreg_RestrictProfilingToAdminUsers=0 for the "
    "kernel module."
)


class NsightCompute:
    """Implements `Tool`."""

    title = "Nsight Compute"
    program = "ncu"
    package = "NVIDIA Nsight Compute (it comes with the CUDA toolkit)"
    environment = {"POPCORN_NCU": "1"}  # noqa: RUF012 (nobody writes to it)
    leaves: tuple[str, ...] = (_FILE,)

    def command(self, program: str, argv: list[str]) -> list[str]:
        """Profile the first kernels launched within the range, with all sections."""
        options = ["--set", "full", "--import-source", "1", "--target-processes", "all"]
        chosen = ["--nvtx", "--nvtx-include", f"{RANGE}/", "-c", _MAX_KERNELS]
        return [program, *options, *chosen, "-f", "-o", _REPORT, "--", *argv]

    def findings(
        self,
        result: CommandResult,
        program: str,
        run: Callable[[list[str], dict[str, bytes]], CommandResult],
    ) -> ProfilerFindings:
        """Three tables and the occupancy of each kernel, and the file that `ncu-ui` opens."""
        report = result.collected.get(_FILE)
        if not report:
            return ProfilerFindings(self.title, _why_nothing(result))
        files = (File("ncu-rep", "application/octet-stream", report),)
        shown = run(
            [program, "--import", _FILE, "--page", "details", "--print-details", "all"],
            {_FILE: report},
        )
        text = "\n".join(extract(shown.stdout))
        if not text:
            text = f"The report can't be shown as text: {last_words(shown)} See the file."
        return ProfilerFindings(self.title, text, files)


def extract(details: str) -> Iterator[str]:
    """From a report as text: each kernel's line, its tables in `TABLES`, and its occupancy."""
    rows: tuple[str, ...] = ()
    for line in map(str.strip, details.splitlines()):
        if found := _TABLE.match(line) or _SECTION.match(line):
            title = found[1].strip()
            rows = _ROWS.get(title, ())
            if rows:
                yield f"  {title}"
        elif _KERNEL.match(line):
            rows = ()
            yield line
        elif not line:
            if rows:
                yield ""
            rows = ()
        elif line.startswith(rows) and not line.startswith("Table Description"):
            yield f"  {line}"


def _why_nothing(result: CommandResult) -> str:
    said = f"{result.stdout}\n{result.stderr}"
    if _NO_PERMISSION in said:
        return f"The GPU's counters may not be read here ({_NO_PERMISSION}). {_ADVICE}"
    complaint = _COMPLAINT.search(said)
    return f"It left no report: {complaint[1].strip() if complaint else last_words(result)}"
