"""The long-lived process beside a device: keeps zygotes warm and guards the judges.

A judge that dies is replaced once; then, and where one takes too long, the attempt is lost and its
worker makes another. Nothing hangs, ever.
"""

import contextlib
import importlib.util
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kernelbot.harness.data.channel import Channel, ChannelError, ChannelTimeout
from kernelbot.harness.gpu.access import architecture, build_access, gpu_access
from kernelbot.harness.gpu.lock import GpuBusy, GpuLocks
from kernelbot.harness.gpu.nodes import numbering
from kernelbot.harness.host.cancellation import AttemptLost, Cancellation, Cancelled
from kernelbot.harness.host.headers import header_folders, headers_found
from kernelbot.harness.host.job_turn import JobTurn
from kernelbot.harness.host.judge_zygote import RUNNERS_AHEAD, JudgeZygote
from kernelbot.harness.host.processors import (
    RESERVED_CORES,
    author_cpus,
    gpu_thread_environment,
    thread_environment,
)
from kernelbot.harness.inside.gpu.gpu_model import MODEL, gpu_model
from kernelbot.harness.judge import host_messages as messages
from kernelbot.harness.judge.building_ahead import builds_ahead
from kernelbot.harness.judge.carried import comes_built
from kernelbot.harness.judge.host_messages import JudgeMessage, Order
from kernelbot.harness.judge.process import JOB_CAP_BYTES
from kernelbot.harness.judge.result import broken
from kernelbot.harness.judge.system import CUDA_ON_CPU_NOTE, system_info
from kernelbot.harness.sandbox import Zygote
from kernelbot.harness.timing.turns import Turns
from kernelbot.harness.words.sandbox import Flavour, SandboxUnavailable, ZygoteConfig
from kernelbot.harness.words.sharing import MPS_NOTE, apart_from_mps
from kernelbot.protocol import (
    EventKind,
    HarnessKind,
    JobSpec,
    ProgressEvent,
    RunResult,
    SandboxMode,
    SandboxReport,
    Vendor,
)
from kernelbot.protocol.phases import all_limits_s, most_gpus
from kernelbot.protocol.result_size import MAX_TEXT

Emit = Callable[[ProgressEvent], None]
_START_S = 120.0
_SLACK_S = 30.0
_RUNNERS_PER_JOB = 5
"""One for each phase of a ranked run, the control, and the problem's own."""
_UNLOGGED = {"KINETO_LOG_LEVEL": "6"}
"""What torch's profiler tells of itself would stand among the author's own words on stderr."""


class _JudgeDied(Exception):
    """A judge has ended without a result; its zygote can fork another."""


@dataclass(frozen=True)
class PoolKey:
    """What has to be alike for two jobs to share zygotes."""

    flavour: Flavour
    vendor: Vendor
    sandbox: SandboxMode
    arch: str | None = None
    """The device's architecture, by nvcc's name."""
    builds: bool = False
    """Whether its runners only build, and see no GPU."""
    include_dirs: tuple[str, ...] = ()
    """The device's folders of headers."""
    gpus: int | None = None
    """How many are shown; None: all that were given to this process."""


class Pool:
    """A runner zygote in the sandbox and a judge zygote outside, alike in what they loaded."""

    def __init__(
        self, key: PoolKey, slots: int, reserved_cores: int, ahead: int, *, lasting: bool
    ) -> None:
        on_cpu = key.vendor is Vendor.CPU
        cpus = author_cpus(reserved_cores, slots) if on_cpu else ()
        threads = thread_environment(cpus, slots) if on_cpu else gpu_thread_environment(slots)
        cuda_on_cpu = on_cpu and key.flavour is Flavour.TORCH
        env = {"TRITON_INTERPRET": "1"} if on_cpu else {}
        compiles = key.builds and key.flavour is Flavour.TORCH
        model = gpu_model(key.vendor, key.arch) if compiles else None
        access = build_access(key.vendor) if key.builds else gpu_access(key.vendor, key.gpus)
        apart = {} if key.builds else apart_from_mps(key.vendor)
        headers = header_folders(key.include_dirs)
        notes = {CUDA_ON_CPU_NOTE: cuda_on_cpu, MPS_NOTE: bool(apart)}
        self.notes = tuple(note for note, applies in notes.items() if applies)
        config = ZygoteConfig(
            flavour=key.flavour,
            mode=key.sandbox,
            cuda_on_cpu=cuda_on_cpu or model is not None,
            devices=access.devices,
            builds_for_gpu=key.builds,
            folders=(*access.folders, *headers),
            libraries=access.libraries,
            env={
                **env,
                **threads,
                **architecture(key.arch),
                **({MODEL: model.name} if model is not None else {}),
                **access.env,
                **apart,
                **headers_found(headers, isolated=key.sandbox is SandboxMode.REQUIRED),
                **_UNLOGGED,
            },
            spare=slots * _RUNNERS_PER_JOB + ahead * RUNNERS_AHEAD if lasting else slots,
            cpus=cpus or access.processors,
            lasting=lasting,
        )
        self._runners = Zygote.start(config)
        # A judge whose idle threads spin would take processors from the runner that is measured.
        threads = thread_environment((), 2 * slots)
        numbers = {} if key.builds else numbering(key.vendor)
        quiet = {**env, **threads, "OMP_WAIT_POLICY": "passive", **numbers, **apart}
        self._judges = JudgeZygote(
            key.flavour.value,
            cuda_on_cpu,
            quiet,
            self._runners.connect(),
            slots + (ahead if on_cpu else 0),  # on a GPU, one that waits holds a driver's context
            lasting=lasting,
            vendor=Vendor.CPU if key.builds else key.vendor,
        )
        self._ready = threading.Lock()
        self._is_ready = False
        self._lock = threading.Lock()
        self.users = 0
        """Jobs that use it, counted by the host."""
        self.is_sound = True

    def wait_ready(self) -> None:
        """Raises `SandboxUnavailable`."""
        with self._ready:
            if not self._is_ready:
                self._runners.wait_ready(_START_S)
                self._judges.wait_ready(_START_S)
                self._is_ready = True

    def report(self) -> SandboxReport:
        """What is in force around this pool's runners."""
        return self._runners.report()

    def start(self, key: str) -> Channel:
        """Fork a judge; the channel to it."""
        with self._lock:
            return Channel(self._judges.start(key), JOB_CAP_BYTES)

    def kill(self, key: str) -> None:
        """Kill a judge; its runners die with its connection."""
        with self._lock:
            self._judges.kill(key)

    def let_go(self, key: str) -> None:
        """A judge has given its result, and ends by itself."""
        with self._lock:
            self._judges.let_go(key)

    def has_ended(self) -> bool:
        """Whether a judge that died was one of all."""
        with self._lock:
            return self._judges.has_ended()

    def close(self) -> None:
        """End everything of this pool."""
        self._judges.close()
        self._runners.close()


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
        self._pools: dict[PoolKey, Pool] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def warm(self, key: PoolKey) -> Pool:
        """The pool for `key`, starting up if there is none yet. Raises `SandboxUnavailable`."""
        with self._lock:
            return self._pool(key)

    def _pool(self, key: PoolKey) -> Pool:
        if key not in self._pools:
            pool = Pool(key, self._slots, self._reserved_cores, self._ahead, lasting=self._lasting)
            self._pools[key] = pool
        return self._pools[key]

    @contextlib.contextmanager
    def _using(self, key: PoolKey) -> Iterator[Pool]:
        """The pool for `key`. One that fails takes no more jobs, and ends with the last it has."""
        with self._lock:
            pool = self._pool(key)
            pool.users += 1
        try:
            yield pool
        except (SandboxUnavailable, ChannelError):
            pool.is_sound = False
            raise
        finally:
            with self._lock:
                pool.users -= 1
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
            missing = SandboxReport(job.sandbox.value)
            result = broken(job, str(error), system_info(job), missing)
            result.timings["startup"] = 0.0
            _emit_finished(emit, result, 0.0)
            return result

    def attempt(self, job: JobSpec, emit: Emit, cancelled: Cancellation | None = None) -> RunResult:
        """Judge one job for somebody who can have it judged again; on a GPU alone, from when the
        judge asks for it: others compile meanwhile.

        Raises `Cancelled`, `OSError` (of the lock), and `AttemptLost` if judging itself failed.
        """
        cancelled = cancelled or Cancellation()
        try:
            return self._alone(job, emit, cancelled)
        except (GpuBusy, SandboxUnavailable) as error:
            if cancelled.is_set():
                raise Cancelled from error
            raise AttemptLost(str(error)) from error

    def _alone(self, job: JobSpec, emit: Emit, cancelled: Cancellation) -> RunResult:
        start = time.monotonic()
        emit(ProgressEvent(EventKind.STARTED))
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
                pool.wait_ready()
                order = Order(pool.report(), build_cache=self._build_cache, only_builds=True)
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
            pool.wait_ready()
            ready_s = time.monotonic() - start
            order = Order(pool.report(), pool.notes, self._build_cache, builds=builds)
            message = self._guard(pool, job, order, emit, cancelled)
        if not isinstance(message, messages.Judged):
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
        self, pool: Pool, job: JobSpec, order: Order, emit: Emit, cancelled: Cancellation
    ) -> JudgeMessage:
        """The last message of a judge who got this order."""
        key = str(next(self._numbers))
        channel = pool.start(key)
        deadline = time.monotonic() + longest_s(job)
        gpus = contextlib.ExitStack()
        turn = JobTurn(self._turns, emit, cancelled.is_set)

        def take_gpus() -> None:
            held = self._gpus.held(job.device.vendor, cancelled.is_set, most_gpus(job.problem))
            gpus.enter_context(held)

        try:
            with cancelled.waking(channel.interrupt):
                channel.send(messages.Job(job, order), (), deadline)
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
        if isinstance(message, messages.Event):
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
    """The longest a judge may take before something must be wrong with it."""
    return _SLACK_S + all_limits_s(job)


def key_of(job: JobSpec) -> PoolKey:
    """Whose zygotes a job needs."""
    device = job.device
    gpus = None if device.vendor is Vendor.CPU else most_gpus(job.problem)
    flavour = flavour_of(job)
    return PoolKey(
        flavour,
        device.vendor,
        job.sandbox,
        device.arch,
        include_dirs=device.include_dirs,
        gpus=gpus,
    )


def building_key_of(job: JobSpec) -> PoolKey:
    """The same for those in which a job is built that sees no GPU; a CPU needs no others."""
    return replace(key_of(job), builds=job.device.vendor is not Vendor.CPU)


def flavour_of(job: JobSpec) -> Flavour:
    """Which frameworks the problem's files and the submission mention, as far as there are any.

    Where one is missing, whoever imports it is told: the mention may be no more than a comment.
    A script starts a Python of its own, which gains nothing from what its runner has loaded.
    """
    if job.problem.harness is HarnessKind.SCRIPT:
        return Flavour.BARE
    if job.problem.multi_gpu and _installed("torch"):
        return Flavour.TORCH  # ranks meet by torch.distributed
    texts = [file.text for file in job.problem.files] + [job.submission.text]
    if any("torch" in text or "triton" in text for text in texts) and _installed("torch"):
        return Flavour.TORCH
    if any("numpy" in text or "torch" in text for text in texts) and _installed("numpy"):
        return Flavour.NUMPY
    return Flavour.BARE


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
