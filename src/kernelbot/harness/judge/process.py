"""One job from start to result, in a process of its own that is thrown away afterwards."""

import contextlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kernelbot.harness.build.cache import BuildCache
from kernelbot.harness.gpu.driver import Driver, GpuError
from kernelbot.harness.gpu.judge_device import has_arenas, open_judge_devices
from kernelbot.harness.gpu.readiness import make_ready
from kernelbot.harness.judge.authors import why_no_duel
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.failures import MAX_TEXT
from kernelbot.harness.judge.limits import with_limits_in_force
from kernelbot.harness.judge.native import NativeJudge
from kernelbot.harness.judge.phases import most_ranks
from kernelbot.harness.judge.result import our_fault, run_result
from kernelbot.harness.problem.examiner import Cage, CagedExaminer
from kernelbot.harness.problem.loader import ProblemBroken
from kernelbot.harness.problem.questions import Examiner
from kernelbot.harness.ranks.examiner import RankExaminer
from kernelbot.harness.runner_client.conversations import expect_sessions
from kernelbot.harness.sandbox import RunnerClient, SandboxUnavailable
from kernelbot.harness.sandbox.cgroups import JudgeGroup
from kernelbot.harness.sandbox.channel import Channel
from kernelbot.harness.script.judge import judge_script, maps_cuda
from kernelbot.harness.system import CUDA_ON_CPU_NOTE, system_info
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.protocol import (
    HarnessKind,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
    Vendor,
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
    job_sock: socket.socket,
    client: RunnerClient,
    group: JudgeGroup,
    flusher: CacheFlusher,
    driver: Driver | None = None,
) -> None:
    """Read a job from `job_sock`, judge it with runners of `client`, write events and result, or
    that no runners are to be had.

    `group`: that of this process. `driver`: of its GPU, if that was opened ahead. Meant to be the
    rest of a forked process's life.
    """
    os.dup2(2, 1)  # what is printed here is nobody's result
    channel = Channel(job_sock, JOB_CAP_BYTES)
    message, _ = channel.receive()
    job = from_wire(JobSpec, message["job"])
    job = with_limits_in_force(job, staged=not has_arenas(job))
    order = from_wire(Order, message["order"])
    group.limit(job.limits)

    def emit(event: ProgressEvent) -> None:
        channel.send({"event": to_wire(event)})

    with contextlib.ExitStack() as afterwards:  # nobody waits for what is ended then
        afterwards.enter_context(contextlib.closing(client))
        try:
            result = _judge(job, order, client, flusher, emit, afterwards, driver)
            if job.device.vendor is not Vendor.CPU:
                afterwards.close()  # the next job's author may need all of the device's memory
        except SandboxUnavailable as error:
            channel.send({"unsound": str(error)[:MAX_TEXT]})
        else:
            channel.send({"result": to_wire(result)})


def _judge(
    job: JobSpec,
    order: Order,
    client: RunnerClient,
    flusher: CacheFlusher,
    emit: Emit,
    afterwards: contextlib.ExitStack,
    driver: Driver | None,
) -> RunResult:
    start = time.monotonic()
    ready_notes = _make_ready(job)
    ready_s = time.monotonic() - start
    cache = _build_cache(job, order)
    if why := why_no_duel(job):
        collected = Collected(refusal=our_fault(why))
    elif job.problem.harness is HarnessKind.SCRIPT:
        collected = _by_script(job, client, emit, cache)
    else:
        collected = _natively(job, client, flusher, emit, cache, afterwards, driver)
    duration_s = time.monotonic() - start
    collected.timings["total"] = duration_s
    if job.device.vendor is not Vendor.CPU:
        collected.timings["gpu_ready"] = ready_s
    notes = (*order.notes, *ready_notes, *collected.notes, *collected.artifacts.notes)
    return run_result(job, collected, system_info(job, notes), order.sandbox, duration_s)


def _make_ready(job: JobSpec) -> tuple[str, ...]:
    """Notes of what wasn't done to the GPUs. Raises `SandboxUnavailable`."""
    try:
        kept = most_ranks(job.problem) if has_arenas(job) else 0
        return tuple(make_ready(job.device, kept=kept))
    except GpuError as error:
        raise SandboxUnavailable(f"The GPU can't be made ready for a job: {error}") from error


def _natively(
    job: JobSpec,
    client: RunnerClient,
    flusher: CacheFlusher,
    emit: Emit,
    cache: BuildCache | None,
    afterwards: contextlib.ExitStack,
    driver: Driver | None,
) -> Collected:
    collected = Collected()
    cage = afterwards.enter_context(contextlib.closing(Cage(job, client)))
    try:
        expect_sessions(job, client, 1)  # it moves in while the problem is loaded
        cage.load()
        devices, staged = open_judge_devices(job, most_ranks(job.problem), driver)
        for device in devices:
            afterwards.callback(device.pool.close)
        if job.problem.multi_gpu:
            examiner: Examiner = RankExaminer(cage, job, devices)
        else:
            examiner = CagedExaminer(cage, job, devices[0] if devices else None)
        native = NativeJudge(job, examiner, client, flusher, emit, cache, devices)
        collected = native.collected
        if staged:
            collected.notes.append(staged)
        native.run()
    except ProblemBroken as error:
        collected.refusal = our_fault(str(error))
    except GpuError as error:
        raise SandboxUnavailable(f"The judge's part of the GPU failed: {error}") from error
    return collected


def _by_script(
    job: JobSpec, client: RunnerClient, emit: Emit, cache: BuildCache | None
) -> Collected:
    collected = judge_script(job, client, emit, cache)
    if maps_cuda(job):
        collected.notes.insert(0, CUDA_ON_CPU_NOTE)
    return collected


def _build_cache(job: JobSpec, order: Order) -> BuildCache | None:
    """None if nothing keeps the author's code from writing to the cache itself."""
    if order.build_cache is None or job.sandbox is SandboxMode.NONE:
        return None
    return BuildCache(Path(order.build_cache))
