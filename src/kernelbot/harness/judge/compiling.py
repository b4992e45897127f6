"""Compiling what a compiled problem's authors sent: of a job for a GPU before that is taken."""

import time
from collections.abc import Callable, Iterable

from kernelbot.harness.judge.authors import Contestant
from kernelbot.harness.judge.build.cache import BuildCache
from kernelbot.harness.judge.build.compile import CompilerProduct, compile_job
from kernelbot.harness.judge.collected import Collected, JudgingRefusal
from kernelbot.harness.sandbox import RunnerClient
from kernelbot.protocol import EventKind, JobSpec, ProgressEvent

Emit = Callable[[ProgressEvent], None]


def compile_all(
    job: JobSpec,
    authors: Iterable[Contestant],
    client: RunnerClient,
    emit: Emit,
    cache: BuildCache | None,
    collected: Collected,
) -> bool:
    """Give each author their binary. False: one doesn't compile, as `collected` says, and those
    after it weren't tried. Who has one already keeps it. Raises `SandboxUnavailable`."""
    return all(_compiled(job, author, client, emit, cache, collected) for author in authors)


def _compiled(
    job: JobSpec,
    author: Contestant,
    client: RunnerClient,
    emit: Emit,
    cache: BuildCache | None,
    collected: Collected,
) -> bool:
    if author.binary is not None:
        return True
    start = time.monotonic()
    build = compile_job(author.job(job), client, CompilerProduct.SHARED_OBJECT, cache)
    duration_s = time.monotonic() - start
    collected.spend("compile", duration_s)
    if not author.is_opponent:
        collected.compile = build.report
    emit(
        ProgressEvent(
            EventKind.COMPILED,
            verdict=build.verdict,
            duration_s=duration_s,
            of_opponent=author.is_opponent,
        )
    )
    if build.failure is not None:
        collected.refusal = JudgingRefusal(build.verdict, build.failure)
        collected.opponent_failed = author.is_opponent
        return False
    author.binary = build.binary
    return True
