"""Compiles C++ and CUDA inside the sandbox: sources in, a binary and the compiler's output out."""

import hashlib
import json
import re
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.lambdas import EXTENDED_LAMBDA, may_have_extended_lambdas
from kernelbot.harness.judge.build.names import demangled
from kernelbot.harness.judge.build.on_cpu import (
    flags_for_cpu,
    libraries_for_cpu,
    runs_on_cpu,
    sources_for_cpu,
)
from kernelbot.harness.judge.build.place import processor, version_of
from kernelbot.harness.judge.build.ptxas import parse_kernels
from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, run_command
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.harness.words.sandbox import CommandResult
from kernelbot.protocol import CompileReport, Failure, Fault, JobSpec, Lang, Limits, Vendor, Verdict

SOURCE_SUFFIXES = frozenset(
    {".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl"}
)
"""The problem's files that a compiler can read; a reference never has one of these suffixes."""

_GXX_FLAGS = (
    "-std=c++20",
    "-O3",
    "-DNDEBUG",
    "-march=native",
    "-fno-strict-aliasing",
    "-Wall",
    "-fmax-errors=50",  # for each unknown name it looks for one that is alike
)
_NVCC_FLAGS = (
    "--std=c++20",
    "-DNDEBUG",
    "-O3",
    EXTENDED_LAMBDA,
    "--expt-relaxed-constexpr",
    "-forward-unknown-to-host-compiler",
    "-Xcompiler=-Wno-psabi",
    "-Xcompiler=-fno-strict-aliasing",
    "-Xnvlink=--verbose",
    "-Xptxas=--verbose",
    "-Xptxas=--warn-on-spills",
)
_COMPILER_FILE_BYTES = 256 << 20
NO_NVIDIA_GPU = (
    "This problem needs an NVIDIA GPU; the device {device!r} has none. "
    "The submission compiles; submit it to a device with one."
)


class CompilerProduct(StrEnum):
    """What the compiler must produce."""

    SHARED_OBJECT = "kernel.so"
    PROGRAM = "program"


@dataclass(frozen=True)
class BuildOutcome:
    """How a build ended: `accepted` with the `binary`, or refused with the reason."""

    verdict: Verdict
    report: CompileReport | None
    """None if no compiler could be started."""
    binary: bytes = b""
    failure: Failure | None = None


@dataclass(frozen=True)
class _Plan:
    compiler: str
    argv: tuple[str, ...]
    files: dict[str, bytes]
    product: CompilerProduct
    tries_without: str = ""
    """An option that takes long, and that the sources hardly need: the compiler is given it if it
    fails without."""


def compile_job(
    job: JobSpec, client: RunnerClient, product: CompilerProduct, cache: BuildCache | None = None
) -> BuildOutcome:
    """Compile the job's submission with its problem's sources, in a runner of `client`.

    A CUDA problem on a CPU is compiled for it. On a GPU of another vendor it is compiled to show
    its author the errors, and then refused, fault platform. `cache` must not be given if nothing
    isolates the runner, since the author's code could then write there.

    Raises `SandboxUnavailable`.
    """
    try:
        plan = _plan(job, product)
    except NotCovered as error:
        return _not_covered(error, job)
    program = installed_program(plan.compiler)
    if program is None:
        return _no_compiler(plan.compiler, job)
    key = _key(plan, job.device.include_dirs, version_of(program))
    kept = cache.load(key) if cache is not None else None
    if kept is not None:
        build = BuildOutcome(Verdict.ACCEPTED, replace(kept.report, cached=True), kept.binary)
    else:
        build = _compile(plan, job, client)
        if cache is not None and build.verdict is Verdict.ACCEPTED and build.report is not None:
            cache.store(key, build.report, build.binary)
    return _refuse_without_gpu(build, job)


def _plan(job: JobSpec, product: CompilerProduct) -> _Plan:
    spec = job.problem
    files = {
        file.name: file.text.encode()
        for file in spec.files
        if file.name != spec.anchor
        and (Path(file.name).suffix.lower() in SOURCE_SUFFIXES or file.name in spec.config.sources)
    }
    files[spec.submission_name] = job.submission.text.encode()
    sources = spec.config.sources or (spec.submission_name,)
    compiler, flags = _compiler(job)
    if product is CompilerProduct.SHARED_OBJECT:
        flags += ("-shared", "-Xcompiler=-fPIC" if compiler == "nvcc" else "-fPIC")
    flags += tuple(
        f"-D{name}={value}" if value else f"-D{name}" for name, value in spec.config.defines.items()
    )
    flags += ("-I.", *(f"-I{folder}" for folder in spec.config.include_dirs))
    if runs_on_cpu(job):
        files = sources_for_cpu(files)
        flags += flags_for_cpu(spec.config.compile_flags, checked=job.checked)
    else:
        flags += spec.config.compile_flags
    libraries = libraries_for_cpu(checked=job.checked and runs_on_cpu(job))
    named = (f"./{name}" for name in sources)
    argv = (compiler, *flags, *named, "-o", product.value, *libraries)
    asked = EXTENDED_LAMBDA in spec.config.compile_flags
    spared = compiler == "nvcc" and not asked and not may_have_extended_lambdas(files.values())
    return _Plan(compiler, argv, files, product, EXTENDED_LAMBDA if spared else "")


def _compiler(job: JobSpec) -> tuple[str, tuple[str, ...]]:
    if job.problem.lang is not Lang.CU:
        return "g++", _GXX_FLAGS
    if runs_on_cpu(job):
        return "g++", ()
    arch = job.device.arch
    if job.device.vendor is not Vendor.NVIDIA or arch is None:
        return "nvcc", _NVCC_FLAGS
    return "nvcc", (*_NVCC_FLAGS, f"-gencode=arch=compute_{arch},code=sm_{arch}")


def _key(plan: _Plan, include_dirs: tuple[str, ...], version: str) -> str:
    """The key of the build: a hash of sources, flags, the names of further headers' folders, the
    compiler's version and the processor."""
    ingredients = [*plan.argv, *include_dirs, version, processor()]
    for name, content in sorted(plan.files.items()):
        ingredients += [name, hashlib.sha256(content).hexdigest()]
    return hashlib.sha256(json.dumps(ingredients).encode()).hexdigest()


def _compile(plan: _Plan, job: JobSpec, client: RunnerClient) -> BuildOutcome:
    timeout_s = job.problem.timeouts.compile_s
    limits = Limits(
        memory_bytes=job.limits.memory_bytes,
        file_size_bytes=max(job.limits.file_size_bytes, _COMPILER_FILE_BYTES),
        cpu_time_s=timeout_s * 2,
    )
    start = time.monotonic()
    argv = tuple(word for word in plan.argv if word != plan.tries_without)
    try:
        result = _run(argv, plan, client, limits, timeout_s)
        if argv != plan.argv and result.limit is None and result.exit_code != 0:
            argv, left_s = plan.argv, timeout_s - (time.monotonic() - start)
            result = _run(argv, plan, client, limits, max(left_s, 0.0))
    except CommandNotStarted:
        return _no_compiler(plan.compiler, job)
    output = result.stdout + result.stderr
    report = CompileReport(
        command=" ".join(argv),
        output=output,
        duration_s=time.monotonic() - start,
        cached=False,
        kernels=demangled(parse_kernels(output), client),
    )
    binary = result.collected.get(plan.product.value, b"")
    if result.limit is None and result.exit_code == 0 and binary:
        return BuildOutcome(Verdict.ACCEPTED, report, binary)
    verdict, message = _explain(result, timeout_s, limits)
    error = _first_error(output)
    evidence = "" if error == message else error  # nobody reads it twice
    return BuildOutcome(verdict, report, failure=Failure(Fault.AUTHOR, message, evidence))


def _run(
    argv: tuple[str, ...],
    plan: _Plan,
    client: RunnerClient,
    limits: Limits,
    timeout_s: float,
) -> CommandResult:
    """Raises `CommandNotStarted` and `SandboxUnavailable`."""
    return run_command(
        client,
        list(argv),
        files=plan.files,
        limits=limits,
        timeout_s=timeout_s,
        collect=(plan.product.value,),
    )


def _explain(result: CommandResult, timeout_s: float, limits: Limits) -> tuple[Verdict, str]:
    error = _first_error(result.stdout + result.stderr)
    if result.limit is not None and "error:" in error:
        return Verdict.COMPILE_ERROR, error  # which it would have ended with
    if result.limit is Verdict.TIME_LIMIT:
        return Verdict.TIME_LIMIT, (
            f"The compiler was not done after {timeout_s:g} s. Use fewer templates and headers, or "
            "ask the problem's author for a longer compile limit."
        )
    if result.limit is Verdict.MEMORY_LIMIT:
        gib = limits.memory_bytes / (1 << 30)
        return Verdict.COMPILE_ERROR, (
            f"The compiler needed more than {gib:.3g} GiB of memory. Use fewer templates and "
            "headers."
        )
    if result.limit is Verdict.OUTPUT_LIMIT:
        return Verdict.COMPILE_ERROR, (
            "The compiler printed more than it may. Mend its first warning: most repeat it."
        )
    if result.exit_code == 0:
        return Verdict.COMPILE_ERROR, (
            "The compiler left no binary, or one that is too large. Make static arrays smaller."
        )
    return Verdict.COMPILE_ERROR, _first_error(result.stderr) or (
        "The compiler failed. Read its output below."
    )


def _first_error(output: str) -> str:
    """The first line with an error; empty if there is none."""
    for line in output.splitlines():
        if re.search(r"\b(error|nvcc fatal|undefined reference)\b", line):
            return line[:500]
    return ""


def _no_compiler(compiler: str, job: JobSpec) -> BuildOutcome:
    package = "the CUDA toolkit" if compiler == "nvcc" else "the package `g++`"
    message = f"{compiler} is not installed on the device {job.device.name!r}: install {package}."
    return BuildOutcome(Verdict.INTERNAL_ERROR, None, failure=Failure(Fault.PLATFORM, message))


def _not_covered(error: NotCovered, job: JobSpec) -> BuildOutcome:
    """A build that ends before a compiler is started: the processor can't run this kernel."""
    message = str(error)
    if error.file != job.problem.submission_name:
        message = f"A file of the problem can't be compiled for the device CPU: {message}"
        return BuildOutcome(Verdict.INTERNAL_ERROR, None, failure=Failure(Fault.PLATFORM, message))
    report = CompileReport(command="", output=message, duration_s=0.0, cached=False)
    return BuildOutcome(Verdict.COMPILE_ERROR, report, failure=Failure(Fault.AUTHOR, message))


def _refuse_without_gpu(build: BuildOutcome, job: JobSpec) -> BuildOutcome:
    if build.verdict is not Verdict.ACCEPTED or job.problem.lang is not Lang.CU:
        return build
    if job.device.vendor in (Vendor.NVIDIA, Vendor.CPU):
        return build
    message = NO_NVIDIA_GPU.format(device=job.device.name)
    return BuildOutcome(
        Verdict.INTERNAL_ERROR, build.report, failure=Failure(Fault.PLATFORM, message)
    )
