"""From what the judge's build step says to a report."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from kernelbot.preflight.diagnostics import (
    is_compilers_own,
    missing_header,
    read_diagnostics,
    unknown_gpu,
)
from kernelbot.preflight.gpus import PreflightGpu
from kernelbot.preflight.model import (
    Figures,
    Kernel,
    Occupancy,
    PreflightOutcome,
    PreflightReport,
    Severity,
)
from kernelbot.preflight.occupancy import occupancy
from kernelbot.protocol import Fault, JobSpec, Lang, RunResult, Verdict
from kernelbot.protocol.building import (
    AT_IMPORT,
    CALLED,
    compiles_at_import,
    compiles_when_called,
    needs_the_gpu,
)

THREADS = 256
"""How many a block of CUDA C++ has, if nobody says otherwise: what a launch asks for isn't
compiled."""
_MAX_OUTPUT = 64 << 10
_MAX_DIGITS = 15
"""The most digits of a figure: Python takes long to read thousands of them, or refuses."""
_NO_THREADS = "0"
_NEEDS_A_GPU = (
    "{file} compiles nothing without a GPU: of Python files load_inline, cpp_extension, Triton, "
    "Helion and CuTe DSL are compiled here."
)
_TORCH_COMPILES = (
    "{file} uses torch.compile, which makes code for the device that it finds: the processor here, "
    "since there is no GPU. Beside it Triton and CuTe DSL aren't compiled either, because their "
    "kernels may be called within it."
)
_TOO_OLD = "The ptxas that is installed is too old for {gpu}. It says: {said}"
_NO_HEADER = (
    "{header} isn't here. A machine with the GPU may have it; to compile here, install the library "
    "that it belongs to (CUDA's own come with NVIDIA's whole toolkit), or name its folder as "
    "`include_dirs` of a device in kernelbot.toml."
)
_NO_KERNEL = "Nothing was compiled for {gpu}: no call reached a kernel."


def read_report(
    gpu: PreflightGpu, job: JobSpec, result: RunResult, file: str, threads: int = THREADS
) -> PreflightReport:
    """What a build step's result says. `file`: the author's name for it, which compilers don't
    know. `threads`: of a block, for kernels whose launch isn't compiled."""
    compiled = result.compile
    output = compiled.output if compiled else ""
    kernels = _kernels(gpu, compiled.kernels if compiled else (), threads)
    name = job.problem.submission_name
    found = read_diagnostics(output, job.submission.text, name)
    diagnostics = tuple(
        replace(one, file=file) if one.file.removeprefix("./") == name else one
        for one in found
        if not missing_header(one.message)
    )
    wrong = any(one.severity is Severity.ERROR for one in diagnostics)
    not_compiled = _not_compiled(gpu, job, result, bool(kernels), wrong=wrong)
    if wrong or _is_refused(result):
        outcome = PreflightOutcome.REFUSED
    else:
        outcome = PreflightOutcome.UNKNOWN if not_compiled else PreflightOutcome.COMPILED
    return PreflightReport(
        gpu.name,
        gpu.arch,
        outcome,
        kernels,
        diagnostics,
        not_compiled,
        output[:_MAX_OUTPUT],
        compiled.duration_s if compiled else result.duration_s,
    )


def _is_refused(result: RunResult) -> bool:
    """Whether the author is at fault. The judge says so of each build that fails, also if the
    compiler is too old for the GPU, or crashed."""
    failure = result.failure
    return (
        failure is not None
        and failure.fault is Fault.AUTHOR
        and not is_compilers_own(failure.message)
        and not missing_header(failure.message)
    )


def _not_compiled(
    gpu: PreflightGpu, job: JobSpec, result: RunResult, has_kernels: bool, *, wrong: bool
) -> tuple[str, ...]:
    """Why there is no more: one sentence each."""
    output = result.compile.output if result.compile else ""
    if not wrong and (header := missing_header(output)):
        return (_NO_HEADER.format(header=header),)
    if result.failure is not None and not wrong:
        return (result.failure.message,)
    if wrong or job.problem.lang is not Lang.PY:
        return ()
    if said := unknown_gpu(output):
        return (_TOO_OLD.format(gpu=gpu.name, said=said),)
    told = tuple(dict.fromkeys(_failures(output)))
    if told or has_kernels:
        return told
    text = job.submission.text
    if compiles_at_import(text) or compiles_when_called(text):
        return (_NO_KERNEL.format(gpu=gpu.name),)
    why = _TORCH_COMPILES if needs_the_gpu(text) else _NEEDS_A_GPU
    return (why.format(file=job.problem.submission_name),)


def _failures(output: str) -> Iterable[str]:
    """When each failure was, and what was raised in the end."""
    blocks: list[list[str]] = []
    for line in output.splitlines():
        if line.startswith((AT_IMPORT, CALLED)) and line.endswith(":"):
            blocks.append([])
        if blocks and line.strip():
            blocks[-1].append(line.strip())
    for block in blocks:
        yield block[0] if len(block) == 1 else f"{block[0]} {block[-1]}"


def _kernels(gpu: PreflightGpu, rows: Iterable[dict[str, str]], threads: int) -> tuple[Kernel, ...]:
    figures = [(_figures(row), _is_launched(row)) for row in rows]
    return tuple(
        Kernel(one, _occupancy(gpu, one, threads) if is_launched else None, len(list(same)))
        for (one, is_launched), same in groupby(figures)
    )


def _is_launched(row: dict[str, str]) -> bool:
    """False: the compiler knows what a launch decides, and there was none."""
    return row.get("threads") != _NO_THREADS


def _occupancy(gpu: PreflightGpu, figures: Figures, threads: int) -> Occupancy | None:
    if gpu.limits is None:
        return None
    return occupancy(gpu.limits, figures, figures.threads or threads)


def _figures(row: dict[str, str]) -> Figures:
    stored, loaded = _count(row, "spill_store_bytes"), _count(row, "spill_load_bytes")
    spills = None if stored is None and loaded is None else (stored or 0) + (loaded or 0)
    shared = _count(row, "shared_bytes")
    return Figures(
        name=row.get("name", ""),
        registers=_count(row, "registers"),
        spill_bytes=spills,
        stack_bytes=_count(row, "stack_bytes"),
        shared_bytes=0 if shared is None and "registers" in row and _is_launched(row) else shared,
        threads=_count(row, "threads") or None,
        stages=_count(row, "stages"),
        accumulation_registers=_count(row, "accumulation_registers"),
        scalar_registers=_count(row, "scalar_registers"),
    )


def _count(row: dict[str, str], key: str) -> int | None:
    value = row.get(key, "")
    return int(value) if value.isdecimal() and len(value) <= _MAX_DIGITS else None


def is_lasting(report: PreflightReport, result: RunResult) -> bool:
    """Whether the same file would get the same report again. It may get another one after something
    was installed that was missing, and on a machine that is less busy."""
    by_chance = (Verdict.INTERNAL_ERROR, Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT)
    return report.outcome is not PreflightOutcome.UNKNOWN and result.verdict not in by_chance
