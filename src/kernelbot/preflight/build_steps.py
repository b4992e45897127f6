"""The report of a build step that a node has done.

What a node says is data of a stranger: texts are cut and made printable, and a figure that no GPU
can have counts as one that wasn't said. The author alone is shown any of it, and no verdict depends
on it.
"""

from dataclasses import replace

from kernelbot.preflight.gpus import gpu_of
from kernelbot.preflight.model import Diagnostic, PreflightReport
from kernelbot.preflight.reading import read_report
from kernelbot.protocol import CompileReport, JobSpec, RunResult, Vendor, Verdict
from kernelbot.render.text import one_line, printable, shorten

MOST_KERNELS = 200
"""Kernels with different figures that a report has room for."""
MOST_DIAGNOSTICS = 50
MOST_SENTENCES = 20
MAX_NAME = 300
_MAX_SENTENCE = 1000
_READ_CHARACTERS = 64 << 10
"""How much of a compiler's output is read; the middle is left out."""
_LONGEST_S = 24 * 3600.0
_MAX_DIGITS = 10
_MOST_BYTES = 1 << 30
_MOST = {
    "registers": 1024,
    "accumulation_registers": 1024,
    "scalar_registers": 1024,
    "spill_store_bytes": _MOST_BYTES,
    "spill_load_bytes": _MOST_BYTES,
    "stack_bytes": _MOST_BYTES,
    "shared_bytes": _MOST_BYTES,
    "threads": 4096,
    "stages": 1024,
}
"""The largest value of each figure that is believed."""


def report_of_build_step(job: JobSpec, result: RunResult) -> PreflightReport | None:
    """What the author is told. `job`: the one whose file was built, with its own device; `result`:
    of the build step, held to it (`result_rules`). None: there is nothing to tell, since the device
    is a processor, or the step failed through no fault of the author."""
    if job.device.vendor is Vendor.CPU or result.verdict is Verdict.INTERNAL_ERROR:
        return None
    compiled = None if result.compile is None else _bounded(result.compile)
    told = replace(result, compile=compiled)
    report = read_report(gpu_of(job.device), job, told, job.problem.submission_name)
    kernels, rest = report.kernels[:MOST_KERNELS], report.kernels[MOST_KERNELS:]
    return replace(
        report,
        kernels=kernels,
        left_out=sum(kernel.times for kernel in rest),
        diagnostics=tuple(_printable(one) for one in report.diagnostics[:MOST_DIAGNOSTICS]),
        not_compiled=tuple(
            printable(shorten(why, _MAX_SENTENCE)) for why in report.not_compiled[:MOST_SENTENCES]
        ),
        output="",  # the run's own report has it
        duration_s=min(max(report.duration_s, 0.0), _LONGEST_S),
    )


def _bounded(compiled: CompileReport) -> CompileReport:
    return replace(
        compiled,
        output=shorten(compiled.output, _READ_CHARACTERS),
        kernels=tuple(_bounded_row(row) for row in compiled.kernels),
    )


def _bounded_row(row: dict[str, str]) -> dict[str, str]:
    kept = {key: row[key] for key, most in _MOST.items() if _is_believed(row.get(key, ""), most)}
    return {"name": one_line(row.get("name", "")[:MAX_NAME])[:MAX_NAME], **kept}


def _is_believed(value: str, most: int) -> bool:
    return (
        value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS and int(value) <= most
    )


def _printable(found: Diagnostic) -> Diagnostic:
    return replace(
        found, message=one_line(found.message)[:_MAX_SENTENCE], file=one_line(found.file)[:MAX_NAME]
    )
