"""One job from start to result, in a process of its own that is thrown away afterwards."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.harness.build_cache import BuildCache
from kernelbot.harness.channel import Channel
from kernelbot.harness.clocks import CacheFlusher
from kernelbot.harness.conversations import expect_session
from kernelbot.harness.examining import SoleExaminer
from kernelbot.harness.failure import MOST_TEXT
from kernelbot.harness.native import Collected, NativeJudge
from kernelbot.harness.outcome import Material, our_fault, run_result
from kernelbot.harness.problem import ProblemBroken, loaded, shared_modules
from kernelbot.harness.ranks.panel import Panel, convened
from kernelbot.harness.sandbox import RunnerClient, SandboxUnavailable
from kernelbot.harness.script import judge_script, maps_cuda
from kernelbot.harness.system import CUDA_ON_CPU_NOTE, system_info
from kernelbot.protocol import (
    HarnessKind,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
    from_wire,
    to_wire,
)

Emit = Callable[[ProgressEvent], None]

JOB_CAP_BYTES = 256 << 20


@dataclass(frozen=True)
class Order:
    """What the host tells a judge beside the job itself."""

    sandbox: SandboxReport
    notes: tuple[str, ...] = ()
    build_cache: str | None = None
    """Folder of the compile cache; None for none."""


def judge_and_report(
    job_sock: socket.socket, client_sock: socket.socket, flusher: CacheFlusher
) -> None:
    """Read a job from `job_sock`, judge it with runners of `client_sock`, write events and result,
    or that no runners are to be had.

    Meant to be the whole life of a forked process.
    """
    os.dup2(2, 1)  # what the problem's own code prints is nobody's result
    channel = Channel(job_sock, JOB_CAP_BYTES)
    message, _ = channel.receive()
    job = from_wire(JobSpec, message["job"])
    order = from_wire(Order, message["order"])

    def emit(event: ProgressEvent) -> None:
        channel.send({"event": to_wire(event)})

    try:
        result = _judge(job, order, RunnerClient(client_sock), flusher, emit)
    except SandboxUnavailable as error:
        channel.send({"unsound": str(error)[:MOST_TEXT]})
    else:
        channel.send({"result": to_wire(result)})


def _judge(
    job: JobSpec,
    order: Order,
    client: RunnerClient,
    flusher: CacheFlusher,
    emit: Emit,
) -> RunResult:
    start = time.monotonic()
    cache = _build_cache(job, order)
    if job.problem.harness is HarnessKind.SCRIPT:
        material = _by_script(job, client, emit, cache)
    else:
        material = _natively(job, client, flusher, emit, cache)
    duration_s = time.monotonic() - start
    material = replace(material, timings={**material.timings, "total": duration_s})
    notes = (*order.notes, *material.notes)
    return run_result(job, material, system_info(job, notes), order.sandbox, duration_s)


def _natively(
    job: JobSpec, client: RunnerClient, flusher: CacheFlusher, emit: Emit, cache: BuildCache | None
) -> Material:
    collected = Collected()
    try:
        with _expecting(job, client), _panel(job) as panel, loaded(job.problem) as problem:
            examiner = panel or SoleExaminer(problem)
            native = NativeJudge(job, problem, examiner, client, flusher, emit, cache)
            collected = native.collected
            native.run()
    except ProblemBroken as error:
        collected.refusal = our_fault(str(error))
    return Material(
        phases=collected.phases,
        stdout="".join(collected.stdout),
        stderr="".join(collected.stderr),
        compile=collected.compile,
        artifacts=collected.artifacts.all(),
        timings=collected.timings,
        notes=collected.artifacts.notes,
        refusal=collected.refusal,
    )


@contextmanager
def _expecting(job: JobSpec, client: RunnerClient) -> Iterator[None]:
    """The first runner moves in while the problem is loaded; none that nobody took is left behind.

    Raises `SandboxUnavailable`.
    """
    expect_session(job, client)
    try:
        yield
    finally:
        client.dismiss()


def _panel(job: JobSpec) -> AbstractContextManager[Panel | None]:
    """Who examines several ranks; None where there is but one."""
    if not job.problem.multi_gpu:
        return nullcontext()
    return convened(job.problem, job.device.vendor, shared_modules(job.problem))


def _by_script(
    job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None
) -> Material:
    outcome = judge_script(job, client, emit, cache)
    return Material(
        phases=outcome.phases,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        compile=outcome.compile,
        artifacts=outcome.artifacts,
        timings=outcome.timings,
        notes=((CUDA_ON_CPU_NOTE,) if maps_cuda(job) else ()) + outcome.notes,
    )


def _build_cache(job: JobSpec, order: Order) -> BuildCache | None:
    """None where nothing keeps the author's code from writing to the cache itself."""
    if order.build_cache is None or job.sandbox is SandboxMode.NONE:
        return None
    return BuildCache(Path(order.build_cache))
