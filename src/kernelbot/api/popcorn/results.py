"""A result in the form that a problem's own script would have reported: pure functions."""

import base64
import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import Field

from kernelbot.protocol import (
    Artifact,
    CaseResult,
    CompileReport,
    Phase,
    PhaseResult,
    RunResult,
    Verdict,
    WorkloadResult,
)
from kernelbot.render.report import TEXT, busy_hint, threads_hint, workloads_table
from kernelbot.runs.files import under_safe_names
from kernelbot.runs.model import Run
from kernelbot.schemas.models import Answer

EXIT_CODES: dict[Verdict, int] = {
    Verdict.ACCEPTED: 0,
    Verdict.WRONG_ANSWER: 112,
    Verdict.TIME_LIMIT: 114,
}
"""What a script of that kind exits with; 1 for everything else."""


class CompileOutput(Answer):
    """A build step."""

    nvcc_found: bool
    nvcc_version: str
    success: bool
    command: str
    stdout: str
    stderr: str
    exit_code: int


class RunOutput(Answer):
    """What a program did. `success`: it ran to its end; `passed`: its output was also right."""

    success: bool
    passed: bool
    command: str
    stdout: str
    stderr: str
    exit_code: int
    duration: float = Field(description="Seconds.")
    result: dict[str, str | int]


class ProfileOutput(Answer):
    """A profile: `trace` is a base64 zip."""

    profiler: str
    trace: str | None
    download_url: str | None


class PhaseOutput(Answer):
    """One phase of a run."""

    start: datetime | None
    end: datetime | None
    compilation: CompileOutput | None
    run: RunOutput
    profile: ProfileOutput | None


class FullResult(Answer):
    """One run with all of its phases, by their keys."""

    success: bool
    error: str
    system: dict[str, Any]
    runs: dict[str, PhaseOutput]


def as_timed_in_public(runs: Sequence[Run]) -> list[Run]:
    """The runs, each accepted public one of a ranked submission with what was timed on secret data
    as its benchmark and its leaderboard phase: those clients look for these in the first run of a
    device, and a ranked submission is timed once."""
    timed = {run.device: run for run in runs if run.secret and run.result is not None}
    return [
        run if run.secret or run.device not in timed else _with_times(run, timed[run.device])
        for run in runs
    ]


def _with_times(run: Run, timed: Run) -> Run:
    if run.result is None or timed.result is None or run.verdict is not Verdict.ACCEPTED:
        return run
    phases = [phase for phase in timed.result.phases if phase.phase is Phase.LEADERBOARD]
    times = [replace(phase, phase=Phase.BENCHMARK) for phase in phases] + phases
    return replace(run, result=replace(run.result, phases=(*run.result.phases, *times)))


def full_result(run: Run) -> FullResult:
    """A run as it is now. Secret runs show only how they ended."""
    if run.result is None or run.secret:
        return _without_result(run)
    result = run.result
    last = len(result.phases) - 1
    outputs: dict[str, PhaseOutput] = {}
    for index, phase in enumerate(result.phases):
        # The harness keeps a program's output per run: it is shown with the phase that decided.
        shown = index == last
        output = PhaseOutput(
            start=run.started_at,
            end=run.finished_at,
            compilation=_compilation(result.compile, result.verdict),
            run=_run_output(result, phase, shown=shown),
            profile=None,
        )
        if phase.phase is Phase.PROFILE:
            outputs |= _profiles(output, result, phase)
        else:
            outputs[phase.phase] = output
    return FullResult(
        success=result.verdict is not Verdict.INTERNAL_ERROR,
        error=result.failure.message if result.failure else "",
        system=_system(result),
        runs=outputs,
    )


def phase_values(phase: PhaseResult) -> dict[str, str | int]:
    """The lines that a script would have written of this phase, by key."""
    values: dict[str, str | int] = {}
    if phase.phase is Phase.TEST:
        values["test-count"] = str(len(phase.cases))
        for index, case in enumerate(phase.cases):
            values |= _case_values(f"test.{index}", case)
    else:
        values["benchmark-count"] = str(len(phase.workloads))
        for index, workload in enumerate(phase.workloads):
            values |= _workload_values(f"benchmark.{index}", workload)
    if phase.failure is not None:
        values["error"] = phase.failure.message
    values["check"] = "pass" if phase.verdict is Verdict.ACCEPTED else "fail"
    return values


def _case_values(key: str, case: CaseResult) -> dict[str, str | int]:
    if case.verdict is Verdict.ACCEPTED:
        values = {f"{key}.status": "pass", f"{key}.message": case.message}
    else:
        values = {f"{key}.status": "fail", f"{key}.error": case.message}
    return {f"{key}.spec": case.spec, **{name: text for name, text in values.items() if text}}


def _workload_values(key: str, workload: WorkloadResult) -> dict[str, str | int]:
    standard_error_ns = workload.stdev_ns / max(1, len(workload.samples_ns)) ** 0.5
    return {
        f"{key}.spec": workload.spec,
        f"{key}.runs": str(len(workload.samples_ns)),
        f"{key}.mean": str(workload.mean_ns),
        f"{key}.std": str(workload.stdev_ns),
        f"{key}.err": str(standard_error_ns),
        f"{key}.best": str(workload.best_ns),
        f"{key}.worst": str(workload.worst_ns),
        **{f"{key}.{name}": value for name, value in workload.extra.items()},
    }


def _without_result(run: Run) -> FullResult:
    passed = run.verdict is Verdict.ACCEPTED
    duration_s = 0.0
    if run.started_at and run.finished_at:
        duration_s = (run.finished_at - run.started_at).total_seconds()
    output = RunOutput(
        success=run.verdict is not None,
        passed=passed,
        command="",
        stdout="",
        stderr="",
        exit_code=0 if passed else 1,
        duration=duration_s,
        result={"check": "pass" if passed else "fail"},
    )
    phase = PhaseOutput(
        start=run.started_at, end=run.finished_at, compilation=None, run=output, profile=None
    )
    return FullResult(
        success=run.verdict not in (None, Verdict.INTERNAL_ERROR),
        error="" if passed else run.message or "It could not be judged.",
        system={"gpu": run.device},
        runs={run.mode: phase},
    )


def _run_output(result: RunResult, phase: PhaseResult, *, shown: bool) -> RunOutput:
    passed = phase.verdict is Verdict.ACCEPTED
    return RunOutput(
        success=passed or phase.verdict is Verdict.WRONG_ANSWER,
        passed=passed,
        command=f"kernelbot {result.harness} harness, {phase.phase}",
        stdout=result.stdout if shown else "",
        stderr=result.stderr if shown else "",
        exit_code=EXIT_CODES.get(phase.verdict, 1),
        duration=phase.duration_s,
        result=phase_values(phase),
    )


def _compilation(compiled: CompileReport | None, verdict: Verdict) -> CompileOutput | None:
    if compiled is None:
        return None
    failed = verdict is Verdict.COMPILE_ERROR
    return CompileOutput(
        nvcc_found="nvcc" in compiled.command,
        nvcc_version="",
        success=not failed,
        command=compiled.command,
        stdout="" if failed else compiled.output,
        stderr=compiled.output if failed else "",
        exit_code=1 if failed else 0,
    )


def _system(result: RunResult) -> dict[str, Any]:
    system = result.system
    return {
        "gpu": system.device,
        "cpu": system.cpu,
        "platform": system.os,
        "python": system.python,
        "torch": system.torch or "",
        "processors": system.processors,
        "notes": [*system.notes, *filter(None, [threads_hint(system), busy_hint(result)])],
    }


def _profiles(output: PhaseOutput, result: RunResult, phase: PhaseResult) -> dict[str, PhaseOutput]:
    """The profile phase under the keys that clients look for, `profile.0` and so on, one per
    report; the archive of all that came of it goes with the first."""
    outputs: dict[str, PhaseOutput] = {}
    for index, (spec, text) in enumerate(_reports(result, phase)):
        values: dict[str, str | int] = {
            # An integer here and nowhere else: a client reads a string as no report at all.
            "benchmark-count": 1,
            "benchmark.0.spec": spec,
            "benchmark.0.report": text,
            "check": "pass" if phase.verdict is Verdict.ACCEPTED else "fail",
        }
        profile = ProfileOutput(
            profiler=f"KernelBot on {result.system.device}",
            trace=_archive(result.artifacts) if index == 0 else None,
            download_url=None,
        )
        run = output.run.model_copy(update={"result": values})
        outputs[f"profile.{index}"] = output.model_copy(update={"run": run, "profile": profile})
    return outputs or {"profile.0": output}


def _reports(result: RunResult, phase: PhaseResult) -> list[tuple[str, str]]:
    """What each report is of, and its text in base64: the profiler's, or else what was timed."""
    specs = [load.spec for load in phase.workloads] or [case.spec for case in phase.cases]
    texts = [item for item in result.artifacts if item.media_type == TEXT]
    if texts:
        named = [*specs, *(item.name for item in texts[len(specs) :])]
        return [(spec, item.content_base64) for spec, item in zip(named, texts, strict=False)]
    table = f"No profiler reported anything. What was timed:\n\n{workloads_table(phase.workloads)}"
    encoded = base64.b64encode(table.encode()).decode()
    return [(", ".join(specs), encoded)] if phase.workloads else []


def _archive(artifacts: tuple[Artifact, ...]) -> str | None:
    if not artifacts:
        return None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for item in under_safe_names(artifacts):
            archive.writestr(item.name, base64.b64decode(item.content_base64))
    return base64.b64encode(buffer.getvalue()).decode()
