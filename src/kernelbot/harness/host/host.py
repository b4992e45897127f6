"""The long-lived process beside a device: keeps zygotes warm and guards the judges.

A judge that dies is replaced once; then, and where one takes too long, the attempt is lost and its
worker makes another. Nothing hangs, ever.
"""

import contextlib
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from kernelbot.harness.data.channel import Channel, ChannelError, ChannelTimeout
from kernelbot.harness.gpu.lock import GpuBusy, GpuLocks
from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.job_turn import JobTurn
from kernelbot.harness.host.pool import PoolKey, ZygotePool, building_key_of, key_of
from kernelbot.harness.host.precompiled import PrecompiledHeaders, flags_of
from kernelbot.harness.host.processors import (
    RESERVED_CORES,
)
from kernelbot.harness.judge import host_messages as messages
from kernelbot.harness.judge.building_ahead import builds_ahead
from kernelbot.harness.judge.carried import comes_built
from kernelbot.harness.judge.host_messages import JudgeMessage, Order
from kernelbot.harness.judge.result import broken
from kernelbot.harness.judge.system import system_info
from kernelbot.harness.timing.turns import Turns
from kernelbot.harness.words.failures import MORE_S
from kernelbot.harness.words.plan import is_disturbed_by_forks
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable
from kernelbot.protocol import (
    EventKind,
    JobSpec,
    Phase,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
)
from kernelbot.protocol.phases import all_limits_s, limit_s, most_gpus
from kernelbot.protocol.result_size import MAX_TEXT

Emit = Callable[[ProgressEvent], None]
_SLACK_S = 30.0
_MOST_THAT_BUILD = 4
"""So many pools that only build stay once they have nothing to build."""


def _nobody_hears(_event: ProgressEvent) -> None:
    """Takes the place of who hears events, where there is none."""


class _JudgeDied(Exception):
    """A judge has ended without a result; its zygote can fork another."""


class Host:
    """Judges jobs, several at once from several threads."""

    def __init__(
        self,
        slots: int = 1,
        build_cache: Path | None = None,
        reserved_cores: int = RESERVED_CORES,
        gpus: GpuLocks = GpuLocks(),
        turns: Turns | None = None,
        *,
        lasting: bool = True,
        ahead: int = 0,
    ) -> None:
        """`slots`: how many jobs at once it is meant for; `reserved_cores`: see `author_cpus`;
        `gpus`: which of them a job holds; `turns`: to measure on this machine, None: as the
        environment says.

        `lasting`: whether more jobs than one are to come, see `ZygoteConfig`. `ahead`: for how many
        more than `slots` judges get ready while there is no job.
        """
        self._ahead = ahead
        self._lasting = lasting
        self._slots = slots
        self._reserved_cores = reserved_cores
        self._gpus = gpus
        self._turns = turns or Turns()
        self._build_cache = str(build_cache) if build_cache else None
        self._precompiled = PrecompiledHeaders.below(build_cache, self._turns)
        self._pools: dict[PoolKey, ZygotePool] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def warm(self, key: PoolKey) -> ZygotePool:
        """The pool for `key`, starting up if there is none yet. Raises `SandboxUnavailable`."""
        with self._lock:
            return self._pool(key)

    def _pool(self, key: PoolKey) -> ZygotePool:
        if key not in self._pools:
            self._pools[key] = ZygotePool(
                key,
                self._slots,
                self._reserved_cores,
                self._ahead,
                str(self._precompiled.folder) if self._precompiled else "",
                lasting=self._lasting,
            )
        return self._pools[key]

    def _surplus_beside(self, key: PoolKey) -> list[ZygotePool]:
        """What no longer is a pool: of those that only build, and build nothing, the ones that
        were not used for longest. Each framework and architecture that strangers name has one."""
        if not key.builds:
            return []
        others = [
            one for one, pool in self._pools.items() if one.builds and one != key and not pool.users
        ]
        return [
            self._pools.pop(one) for one in others[: max(len(others) - _MOST_THAT_BUILD + 1, 0)]
        ]

    @contextlib.contextmanager
    def _using(self, key: PoolKey) -> Iterator[ZygotePool]:
        """The pool for `key`. One that fails takes no more jobs, and ends with the last it has."""
        with self._lock:
            surplus = self._surplus_beside(key)
            pool = self._pool(key)
            self._pools[key] = self._pools.pop(key)  # the last one that was used
            pool.users += 1
        for one in surplus:
            one.close()
        try:
            yield pool
        except (SandboxUnavailable, ChannelError):
            pool.is_sound = False
            raise
        except Cancelled:
            # What compiles for a GPU in idle time gives way at once, also with what it loads.
            if key.builds and pool.users == 1 and not pool.is_ready:
                pool.is_sound = False
            raise
        finally:
            with self._lock:
                pool.users -= 1
                pool.ended_at_s = time.monotonic()
                if not pool.is_sound and self._pools.get(key) is pool:
                    del self._pools[key]
                ends = not pool.is_sound and pool.users == 0
            if ends:
                pool.close()

    def judge(self, job: JobSpec, emit: Emit, cancelled: Cancellation | None = None) -> RunResult:
        """Judge one job. Always a result, unless it was cancelled (raises `Cancelled`)."""
        try:
            return self.attempt(job, emit, cancelled)
        except AttemptLost as error:
            missing = SandboxReport(job.sandbox.value, (), ())
            result = broken(job, str(error), system_info(job), missing)
            result.timings["startup"] = 0.0
            _emit_finished(emit, result, 0.0)
            return result

    def attempt(
        self, job: JobSpec, emit: Emit | None, cancelled: Cancellation | None = None
    ) -> RunResult:
        """Judge one job for somebody who can have it judged again; on a GPU alone, from when the
        judge asks for it: others compile meanwhile. `emit` None: nobody hears what happens.

        Raises `Cancelled`, `OSError` (of the lock), and `AttemptLost` if judging itself failed.
        """
        cancelled = cancelled or Cancellation()
        try:
            return self._alone(job, emit or _nobody_hears, cancelled)
        except (GpuBusy, SandboxUnavailable) as error:
            if cancelled.is_set():
                raise Cancelled from error
            raise AttemptLost(str(error)) from error

    def _alone(self, job: JobSpec, emit: Emit, cancelled: Cancellation) -> RunResult:
        start = time.monotonic()
        emit(ProgressEvent(EventKind.STARTED))
        if self._precompiled is not None and job.sandbox is SandboxMode.REQUIRED:
            for flags in flags_of(job):
                self._precompiled.make(flags, cancelled.is_set)
        builds = self._built_ahead(job, emit, cancelled)
        try:
            result = self._try(job, builds, emit, cancelled)
        except (SandboxUnavailable, ChannelError, _JudgeDied) as error:  # it is gone: once more
            note = f"The run was judged twice, as the first attempt was lost: {error}"[:MAX_TEXT]
            result = _with_note(self._try_again(job, builds, emit, cancelled), note)
        _emit_finished(emit, result, time.monotonic() - start)
        return result

    def _built_ahead(self, job: JobSpec, emit: Emit, cancelled: Cancellation) -> tuple[str, ...]:
        """What the job's files compile for themselves while they are imported; empty if that must
        wait for the GPU. Raises `Cancelled`."""
        if job.build_only or not self._lasting or not builds_ahead(job) or comes_built(job):
            return ()
        try:
            with self._using(building_key_of(job)) as pool:
                pool.wait_ready(cancelled)
                order = Order(
                    pool.report(),
                    build_cache=self._build_cache,
                    only_builds=True,
                    tells=emit is not _nobody_hears,
                )
                message = self._guard(pool, job, order, emit, cancelled)
                return message.builds if isinstance(message, messages.BuiltAhead) else ()
        except (SandboxUnavailable, ChannelError, _JudgeDied, AttemptLost) as error:
            sys.stderr.write(f"nothing was built ahead: {error}\n")
            return ()

    def _try(
        self, job: JobSpec, builds: tuple[str, ...], emit: Emit, cancelled: Cancellation
    ) -> RunResult:
        """Raises `SandboxUnavailable` or `ChannelError` if there are no runners or no judge,
        `_JudgeDied`, `AttemptLost`."""
        start = time.monotonic()
        key = building_key_of(job) if job.build_only else key_of(job)
        with self._using(key) as pool:
            pool.wait_ready(cancelled)
            ready_s = time.monotonic() - start
            order = Order(
                pool.report(),
                pool.notes,
                self._build_cache,
                builds=builds,
                render_nodes=pool.render_nodes,
                tells=emit is not _nobody_hears,
                with_torch=key.flavour is Flavour.TORCH,
            )
            message = self._guard(pool, job, order, emit, cancelled)
        if not isinstance(message, messages.JobJudged):
            raise _JudgeDied("The judge gave no result.")
        result = message.result
        result.timings["startup"] = ready_s
        return result

    def _try_again(
        self, job: JobSpec, builds: tuple[str, ...], emit: Emit, cancelled: Cancellation
    ) -> RunResult:
        try:
            return self._try(job, builds, emit, cancelled)
        except (SandboxUnavailable, ChannelError, _JudgeDied) as error:
            raise AttemptLost(str(error)) from error

    def close(self) -> None:
        """End all zygotes, judges and runners."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _guard(
        self, pool: ZygotePool, job: JobSpec, order: Order, emit: Emit, cancelled: Cancellation
    ) -> JudgeMessage:
        """The last message of a judge who got this order."""
        key = str(next(self._numbers))
        undisturbed = is_disturbed_by_forks(job) or not pool.expects_next
        channel = pool.start(key, undisturbed=undisturbed)
        deadline = time.monotonic() + longest_s(job)
        gpus = contextlib.ExitStack()
        turn = JobTurn(self._turns, emit, cancelled.is_set)

        def take_gpus() -> None:
            held = self._gpus.held(job.device.vendor, cancelled.is_set, most_gpus(job.problem))
            gpus.enter_context(held)

        try:
            with cancelled.waking(channel.interrupt):
                told = replace(order, undisturbed=undisturbed)
                channel.send(messages.JudgeJob(job, told), (), deadline)
                message = _followed(channel, deadline, emit, take_gpus, turn)
            pool.let_go(key)
            return message
        except ChannelTimeout:
            pool.is_sound = False  # one that works has begun with the job, and ends it by itself
            raise AttemptLost("The judge took longer than all time limits together.") from None
        except ChannelError as error:
            if cancelled.is_set():
                raise Cancelled from error
            if pool.has_ended():
                raise
            sys.stderr.write(f"the judge died: {error}\n")
            raise _JudgeDied("The judge's process ended before it had a result.") from error
        finally:
            pool.kill(key)
            channel.close()
            turn.release()
            gpus.close()  # only once nothing of the job can use them


def _followed(
    channel: Channel,
    deadline: float,
    emit: Emit,
    take_gpus: Callable[[], None],
    turn: JobTurn,
) -> JudgeMessage:
    """What the judge says in the end; until then it tells events, and asks for its GPUs and for its
    turns to measure, for which it waits in nobody's time."""
    while True:
        message = channel.receive(JudgeMessage, deadline)[0]
        if isinstance(message, messages.JudgeEvent):
            emit(message.event)
        elif isinstance(message, messages.GpusWanted):
            start = time.monotonic()
            take_gpus()
            deadline += time.monotonic() - start
            channel.send(messages.GpusHeld(), (), deadline)
        elif isinstance(message, messages.TurnWanted):
            answer = turn.take(message.phase)
            deadline += answer.waited_s
            channel.send(answer, (), deadline)
        elif isinstance(message, messages.TurnOver):
            turn.release()
        elif isinstance(message, messages.Unsound):
            raise SandboxUnavailable(message.text)
        else:
            return message


def _with_note(result: RunResult, note: str) -> RunResult:
    return replace(result, system=replace(result.system, notes=(*result.system.notes, note)))


def _emit_finished(emit: Emit, result: RunResult, duration_s: float) -> None:
    message = result.failure.message if result.failure else None
    emit(
        ProgressEvent(
            EventKind.FINISHED, verdict=result.verdict, message=message, duration_s=duration_s
        )
    )


def longest_s(job: JobSpec) -> float:
    """The longest a judge may take before something must be wrong with it: all limits, and for each
    kernel a second attempt at its tests, which may have more time than the first one."""
    if job.build_only:
        return _SLACK_S + all_limits_s(job)
    kernels = 1 if job.opponent is None else 2
    return _SLACK_S + all_limits_s(job) + kernels * (limit_s(job, Phase.TEST) + MORE_S)
