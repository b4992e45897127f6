"""One job from start to result, in a process of its own that is thrown away afterwards."""

import contextlib
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kernelbot.harness.data.channel import Channel
from kernelbot.harness.gpu.judge_device import (
    JudgeDevice,
    has_arenas,
    open_judge_devices,
    with_cache_size,
)
from kernelbot.harness.inside.cage.loader import ProblemBroken
from kernelbot.harness.inside.gpu.driver import Driver, GpuError
from kernelbot.harness.judge import host_messages as messages
from kernelbot.harness.judge.authors import authors_of, why_no_duel
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.on_cpu import (
    has_kernels_on_cpu,
    note_on_unknown,
    notes_on_cpu,
    why_no_time,
)
from kernelbot.harness.judge.building_ahead import build_ahead, give
from kernelbot.harness.judge.calls.conversations import expect_sessions
from kernelbot.harness.judge.carried import give_products, only_build
from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.compiling import compile_all
from kernelbot.harness.judge.gpu_faults import expect_sound_contexts
from kernelbot.harness.judge.gpu_turn import GpuTurn
from kernelbot.harness.judge.host_messages import HostMessage, Order, TurnAnswer
from kernelbot.harness.judge.limits import with_limits_in_force
from kernelbot.harness.judge.measuring_turn import MeasuringTurn
from kernelbot.harness.judge.native import NativeJudge
from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.examiner import Examiner
from kernelbot.harness.judge.result import our_fault, run_result
from kernelbot.harness.judge.script.judge import judge_script, maps_cuda
from kernelbot.harness.judge.system import CUDA_ON_CPU_NOTE, system_info
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.harness.sandbox.cgroups import JudgeGroup
from kernelbot.harness.sandbox.device_filter import render_filter
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import (
    HarnessKind,
    JobSpec,
    Lang,
    Phase,
    ProgressEvent,
    RunResult,
    SandboxMode,
)
from kernelbot.protocol.result_size import MAX_TEXT

H = TypeVar("H", bound=HostMessage)
Emit = Callable[[ProgressEvent], None]

JOB_CAP_BYTES = 256 << 20


@dataclass(frozen=True)
class _Turns:
    """What a job waits for because of others."""

    gpu: GpuTurn
    measuring: MeasuringTurn

    @property
    def waited_s(self) -> float:
        """None of the job's own time."""
        return self.gpu.waited_s + self.measuring.waited_s

    def tell(self, collected: Collected) -> None:
        """Add how long the job has waited."""
        self.gpu.tell(collected)
        self.measuring.tell(collected)


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
    told = _expect(channel, messages.JudgeJob)
    order, in_arenas = told.order, has_arenas(told.job)
    job = with_limits_in_force(told.job, staged=not in_arenas and not order.only_builds)
    plan = Plan.for_job(job, in_arenas=in_arenas)
    group.limit(job.limits)
    client.undisturbed = order.undisturbed
    client.filter = render_filter(order.render_nodes)

    def emit(event: ProgressEvent) -> None:
        if order.tells:
            channel.send(messages.JudgeEvent(event))

    def ask_for_gpu() -> None:
        channel.send(messages.GpusWanted())
        _expect(channel, messages.GpusHeld)

    def ask_for_turn(phase: Phase) -> TurnAnswer:
        channel.send(messages.TurnWanted(phase))
        return _expect(channel, TurnAnswer)

    def release_turn() -> None:
        channel.send(messages.TurnOver())

    turns = _Turns(
        GpuTurn(plan, ask_for_gpu),
        MeasuringTurn(ask_for_turn, release_turn, is_needed=not plan.on_gpu),
    )
    with contextlib.ExitStack() as afterwards:  # nobody waits for what is ended then
        afterwards.enter_context(contextlib.closing(client))
        try:
            if order.only_builds:
                found = build_ahead(job, client, emit, _build_cache(job, order))
                channel.send(messages.BuiltAhead(tuple(found)))
                return
            result = _judge(plan, order, client, flusher, emit, turns, afterwards, driver)
            if plan.on_gpu:
                afterwards.close()  # the next job's author may need all of the device's memory
        except SandboxUnavailable as error:
            channel.send(messages.Unsound(str(error)[:MAX_TEXT]))
        else:
            channel.send(messages.JobJudged(result))


def _expect(channel: Channel, wanted: type[H]) -> H:
    told, _ = channel.receive(HostMessage)
    if not isinstance(told, wanted):
        raise AssertionError(f"the host said {told.word}")
    return told


def _judge(
    plan: Plan,
    order: Order,
    client: RunnerClient,
    flusher: CacheFlusher,
    emit: Emit,
    turns: _Turns,
    afterwards: contextlib.ExitStack,
    driver: Driver | None,
) -> RunResult:
    job, start = plan.job, time.monotonic()
    cache = _build_cache(job, order)
    if why := why_no_duel(job) or why_no_time(job):
        collected = Collected(refusal=our_fault(why))
    elif job.build_only:
        collected = only_build(job, client, emit, cache)
    elif job.problem.harness is HarnessKind.SCRIPT:
        collected = _by_script(job, client, emit, turns, cache)
    else:
        collected = _natively(plan, order, client, flusher, emit, turns, cache, afterwards, driver)
    if has_kernels_on_cpu(job):
        ran = notes_on_cpu(job, collected.phases) if collected.phases else ()
        collected.notes[:0] = (*ran, *note_on_unknown(_errors(collected)))
    duration_s = time.monotonic() - start - turns.waited_s
    collected.timings["total"] = duration_s
    turns.tell(collected)
    notes = (*order.notes, *turns.gpu.notes, *collected.notes, *collected.artifacts.notes)
    system = system_info(
        job, notes, collected.processors, collected.threads, with_torch=order.with_torch
    )
    return run_result(job, collected, system, order.sandbox, duration_s)


def _errors(collected: Collected) -> str:
    """What compilers said of a submission that failed, by themselves or as the exception of a
    Python file; empty if nothing failed."""
    built = [] if collected.refusal is None or collected.compile is None else [collected.compile]
    failures = (phase.failure for phase in collected.phases if phase.failure is not None)
    said = (f"{failure.message}\n{failure.evidence}" for failure in failures)
    return "\n".join([*(report.output for report in built), *said])


def _natively(
    plan: Plan,
    order: Order,
    client: RunnerClient,
    flusher: CacheFlusher,
    emit: Emit,
    turns: _Turns,
    cache: BuildCache | None,
    afterwards: contextlib.ExitStack,
    driver: Driver | None,
) -> Collected:
    job, collected = plan.job, Collected()
    authors = authors_of(job)
    give(order.builds, authors)
    give_products(job, authors, collected)
    if job.problem.lang is not Lang.PY and not compile_all(
        job, authors, client, emit, cache, collected
    ):
        return collected
    turns.gpu.take()
    devices: tuple[JudgeDevice, ...] = ()
    cage = afterwards.enter_context(contextlib.closing(Cage(job, client)))
    try:
        expect_sessions(plan, client, 1)  # it moves in while the problem is loaded
        cage.load()
        devices, staged = open_judge_devices(plan, driver)
        plan = with_cache_size(plan, devices)
        for device in devices:
            afterwards.callback(device.pool.close)
        native = NativeJudge(
            plan,
            authors,
            Examiner(cage, plan, devices),
            client,
            flusher,
            emit,
            cache,
            collected,
            turns.measuring,
            devices,
        )
        if staged:
            collected.notes.append(staged)
        native.run()
    except ProblemBroken as error:
        expect_sound_contexts(devices)
        collected.refusal = our_fault(str(error))
    except GpuError as error:
        raise SandboxUnavailable(f"The judge's part of the GPU failed: {error}") from error
    return collected


def _by_script(
    job: JobSpec, client: RunnerClient, emit: Emit, turns: _Turns, cache: BuildCache | None
) -> Collected:
    collected = judge_script(job, client, emit, cache, turns.gpu.take, turns.measuring)
    if maps_cuda(job):
        collected.notes.insert(0, CUDA_ON_CPU_NOTE)
    return collected


def _build_cache(job: JobSpec, order: Order) -> BuildCache | None:
    """None if nothing keeps the author's code from writing to the cache itself, or there can't be
    one."""
    if order.build_cache is None or job.sandbox is SandboxMode.NONE:
        return None
    return BuildCache.where_possible(Path(order.build_cache))
