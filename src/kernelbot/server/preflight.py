"""Wires `kernelbot preflight`: a build step of the judge's, its report, and the version before."""

import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import read_source
from kernelbot.harness.archive import sources_stamp
from kernelbot.harness.inside.gpu.gpu_model import cute_knows, gpu_model
from kernelbot.harness.inside.gpu.hip_toolchain import toolchain_name
from kernelbot.harness.sandbox.enclosure import installed_program
from kernelbot.preflight.gpus import PreflightGpu
from kernelbot.preflight.history import History
from kernelbot.preflight.model import Preflight, PreflightOutcome, PreflightReport
from kernelbot.preflight.reading import THREADS, is_lasting, read_report
from kernelbot.protocol import (
    DeviceSpec,
    HarnessKind,
    JobSpec,
    Lang,
    Mode,
    ProblemSpec,
    RunResult,
    SandboxMode,
    SourceFile,
    Vendor,
    to_wire,
)
from kernelbot.protocol.building import only_cute_compiles
from kernelbot.server.judging_settings import JudgingSettings
from kernelbot.server.local_judge import LocalJudge, OnEvent, OnStep
from kernelbot.submissions.source import check_language, source_text

_PACKAGES = ("torch", "triton", "nvidia-cutlass-dsl")


@dataclass(frozen=True)
class WantedPreflight:
    """What to compile. `threads`: see `read_report`. `cold`: see `LocalJudge`."""

    problem: Path
    file: Path
    gpus: tuple[PreflightGpu, ...]
    threads: int = THREADS
    cold: bool = False


def preflight(wanted: WantedPreflight, on_event: OnEvent, on_step: OnStep) -> list[Preflight]:
    """A preflight for each GPU, in their order. Raises `InvalidProblem`, `InvalidSubmission` and
    `UserError` before anything is compiled."""
    problem = load_problem(wanted.problem).definition.spec
    check_language(wanted.file.name, problem.lang)
    submission = SourceFile(problem.submission_name, source_text(read_source(wanted.file)))
    local = LocalJudge(on_step, sandbox=SandboxMode.REQUIRED, cold=wanted.cold)
    settings = local.settings()
    with closing(Preflights(wanted.file, wanted.gpus, wanted.threads)) as preflights:
        return preflights.compile(
            settings, problem, submission, lambda job: local.judge(job, on_event), on_step
        )


class Preflights:
    """The preflights of one file, by its path, each beside the file's previous version."""

    def __init__(self, file: Path, gpus: tuple[PreflightGpu, ...], threads: int = THREADS) -> None:
        """`threads`: see `read_report`. Raises `UserError` if reports can't be kept."""
        self._name = file.name
        self._gpus = gpus
        self._threads = threads
        self._history = History(file)

    def close(self) -> None:
        """Close the compilers: they can't be used any more."""
        self._history.close()

    def compile(
        self,
        settings: JudgingSettings,
        problem: ProblemSpec,
        submission: SourceFile,
        judge: Callable[[JobSpec], RunResult],
        on_step: OnStep,
    ) -> list[Preflight]:
        """A report for each GPU. Raises whatever `judge` raises."""
        found = []
        for gpu in self._gpus:
            on_step(f"compiling for {gpu.name}")
            job = preflight_job(settings, problem, submission, gpu)
            found.append(self._compile(gpu, job, judge))
        return found

    def _compile(
        self, gpu: PreflightGpu, job: JobSpec, judge: Callable[[JobSpec], RunResult]
    ) -> Preflight:
        if why := why_never(job):
            return Preflight(
                PreflightReport(gpu.name, gpu.arch, PreflightOutcome.NEVER, not_compiled=(why,))
            )
        key = preflight_key(job, self._name, self._threads)
        source = hashlib.sha256(job.submission.text.encode()).hexdigest()
        kept = self._history.cached(key)
        if kept is not None:
            return self._history.with_previous(key, source, kept, cached=True)
        result = judge(job)
        report = read_report(gpu, job, result, self._name, self._threads)
        if not is_lasting(report, result):
            return Preflight(report)
        self._history.keep(key, report)
        return self._history.with_previous(key, source, report, cached=False)


def preflight_job(
    settings: JudgingSettings, problem: ProblemSpec, submission: SourceFile, gpu: PreflightGpu
) -> JobSpec:
    """A build step for a GPU that needn't be here. The workloads are left out: they are large, and
    what a kernel is compiled for is in the tests as well."""
    alike = (one for one in settings.devices if (one.vendor, one.arch) == (gpu.vendor, gpu.arch))
    configured = next(alike, None)
    headers = configured.include_dirs if configured is not None else ()
    device = DeviceSpec(gpu.name, gpu.vendor, gpu.arch, include_dirs=headers)
    tests = problem.tests if problem.lang is Lang.PY else ()
    problem = replace(problem, tests=tests, benchmarks=(), floors=())
    return replace(
        settings.job(problem, submission, Mode.TEST, device), build_only=True, report_only=True
    )


def why_never(job: JobSpec) -> str:
    """Why no such file can be compiled for the device apart from judging it; empty: it can."""
    problem, vendor = job.problem, job.device.vendor
    if problem.harness is HarnessKind.SCRIPT:
        return "The problem is judged by a script of its own, which does the compiling."
    if problem.lang is Lang.CPP:
        return "The problem is C++ for a processor: no GPU has a part in it."
    if problem.multi_gpu:
        return "The problem is for several GPUs at once, whose kernels aren't called in advance."
    if problem.lang is Lang.CU and vendor is Vendor.AMD:
        return "CUDA C++ isn't compiled for AMD's GPUs here."
    if problem.lang is Lang.PY and only_cute_compiles(job.submission.text):
        model = gpu_model(vendor, job.device.arch)
        if model is None or not cute_knows(model):
            return "CuTe DSL compiles for NVIDIA's GPUs from compute capability 8.0 on alone."
    return ""


def preflight_key(job: JobSpec, file: str, threads: int) -> str:
    """A hash of all that a report is made of: the job but for its id, how the file is called, our
    own files, the compilers."""
    parts = [
        to_wire(replace(job, job_id="")),
        file,
        threads,
        sources_stamp(),
        sys.version,
        [_version(package) for package in _PACKAGES],
        [_stamp(installed_program(compiler)) for compiler in ("nvcc", "g++")],
        toolchain_name(job.device.arch or "") if job.device.vendor is Vendor.AMD else "",
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _stamp(path: str | None) -> tuple[str, int, int]:
    """A compiler's file, size and time: to ask it for its version takes longer than all else."""
    if path is None:
        return ("", 0, 0)
    found = Path(path).resolve().stat()
    return (path, found.st_size, found.st_mtime_ns)
