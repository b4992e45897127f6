"""The judge's side of the problem's cage, whose other side is `inside/cage/examiner.py`."""

import contextlib
import ctypes
import os
import signal
import stat
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeVar

from kernelbot.harness.data.channel import (
    MAX_PROBLEM_MESSAGE_BYTES,
    Channel,
    ChannelClosed,
    ChannelError,
    ChannelTimeout,
)
from kernelbot.harness.data.descriptors import close_apart
from kernelbot.harness.data.encode import (
    Encoded,
    Json,
    Leaf,
    UnsupportedValue,
    encode,
    host_leaf_sizes,
    leaf_sizes,
)
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.gpu.device_data import DeviceData, DeviceValue
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.inside.cage.loader import ProblemBroken, ProblemFull, shared_modules
from kernelbot.harness.inside.gpu.arena import Piece
from kernelbot.harness.judge.problem.lending import Lender
from kernelbot.harness.judge.problem.record_types import imitate
from kernelbot.harness.sandbox import Runner, RunnerClient
from kernelbot.harness.sandbox.runner_tree import is_ending
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageReply, CageRequest
from kernelbot.harness.words.failures import wrote_beside
from kernelbot.harness.words.order import Entry
from kernelbot.harness.words.sandbox import RunnerExit, SandboxUnavailable
from kernelbot.protocol import CaseValue, JobSpec, Limits
from kernelbot.protocol.phases import most_ranks
from kernelbot.protocol.result_size import MAX_TEXT

R = TypeVar("R", bound=CageReply)
_LEAST_MEMORY_BYTES = 2 << 30
_OPEN_FILES = 1 << 16
"""Far more than an author has, or their descriptors under way would keep the data from coming."""
_DYING_S = 5.0


def cage_limits(job: JobSpec) -> Limits:
    """What the problem's code may use: enough for the data of a call, its copy, the reference's
    answer, and the author's; as many tasks and as much shared memory as the author's, for each of
    its ranks."""
    longest_s, ranks = job.longest_s, most_ranks(job.problem)
    return Limits(
        memory_bytes=max(4 * job.limits.memory_bytes, _LEAST_MEMORY_BYTES),
        processes=job.limits.processes * ranks,
        open_files=_OPEN_FILES,
        file_size_bytes=job.limits.file_size_bytes * ranks,
        cpu_time_s=longest_s * (os.cpu_count() or 1),
    )


def broken(reply: messages.Broken) -> ProblemBroken:
    """The failure that a process of the problem's tells of."""
    kind = ProblemFull if reply.full else ProblemBroken
    return kind(reply.text[:MAX_TEXT])


def expect_reply(reply: CageReply, wanted: type[R]) -> R:
    """The reply, if it is of the wanted kind. Raises `ProblemBroken`."""
    if not isinstance(reply, wanted):
        raise ProblemBroken(f"The problem's code said what it should not: {reply.word}.")
    return reply


class Cage:
    """The sandboxed process with one job's problem in it. Must be closed."""

    def __init__(self, job: JobSpec, client: RunnerClient) -> None:
        """Order the process; it moves in meanwhile. Raises `SandboxUnavailable`."""
        self._job = job
        timeouts = job.problem.timeouts
        self.patience_s = max(timeouts.test_s, timeouts.benchmark_s, timeouts.ranked_s)
        """How long one answer may take: no phase has more."""
        self._limits = cage_limits(job)
        entry = Entry.EXAMINE_RANKS if job.problem.multi_gpu else Entry.EXAMINE
        self._arrive = client.begin(self._limits, entry)
        self._runner: Runner | None = None
        self._has_failed = False
        self._control_channel: Channel | None = None

    @property
    def control_channel(self) -> Channel:
        """The channel to it, with the problem sent ahead. Raises `ProblemBroken`,
        `SandboxUnavailable`."""
        if self._control_channel is None:
            runner = self._arrived()
            with contextlib.suppress(OSError):  # it computes when nobody is timed, so on any
                os.sched_setaffinity(runner.main_pid, os.sched_getaffinity(0))
            self._control_channel = Channel(runner.channel, MAX_PROBLEM_MESSAGE_BYTES)
            self.send(messages.LoadProblem(self._job.problem))
        return self._control_channel

    def load(self) -> None:
        """Have the problem loaded, which goes on meanwhile. Raises `ProblemBroken`,
        `SandboxUnavailable`."""
        _ = self.control_channel

    def send(self, request: CageRequest, fds: tuple[int, ...] = ()) -> None:
        """Raises `ProblemBroken`, `SandboxUnavailable`."""
        control_channel = self.control_channel
        try:
            control_channel.send(request, fds, time.monotonic() + self.patience_s)
        except ChannelError as error:
            raise self.cause_of(error) from error

    def receive(self, wanted: type[R]) -> tuple[R, list[int]]:
        """What it says, and descriptors that the caller closes. Raises `ProblemBroken`,
        `SandboxUnavailable`."""
        try:
            deadline = time.monotonic() + self.patience_s
            reply, fds = self.control_channel.receive(CageReply, deadline)
        except ChannelError as error:
            raise self.cause_of(error) from error
        try:
            if isinstance(reply, messages.Broken):
                raise broken(reply)
            return expect_reply(reply, wanted), fds
        except ProblemBroken:
            close_all(fds)
            raise

    def call(self, request: CageRequest, wanted: type[R], fds: tuple[int, ...] = ()) -> R:
        """Send, and receive an answer without descriptors. Raises as these do."""
        self.send(request, fds)
        answer, unasked = self.receive(wanted)
        close_all(unasked)
        return answer

    def cause_of(self, error: ChannelError) -> ProblemBroken | SandboxUnavailable:
        """Why the conversation broke off."""
        if isinstance(error, ChannelTimeout):
            return ProblemBroken(f"The problem's code didn't answer within {self.patience_s:g} s.")
        if not isinstance(error, ChannelClosed):
            return ProblemBroken(f"The problem's code said what it should not: {error}.")
        ended = self._arrived().wait(_DYING_S)
        if ended is None:
            return ProblemBroken("The problem's code closed the harness's end of the conversation.")
        return self._blame(ended)

    def _blame(self, ended: RunnerExit) -> ProblemBroken | SandboxUnavailable:
        if ended.out_of_memory:
            mebibytes = self._limits.memory_bytes >> 20
            return ProblemBroken(f"The problem's code used more than {mebibytes} MiB of memory.")
        if self._arrived().stdout.overflowed or self._arrived().stderr.overflowed:
            return ProblemBroken("The problem's code printed without end.")
        if ended.signal not in (None, signal.SIGKILL):
            return ProblemBroken(f"The problem's code was ended by signal {ended.signal}.")
        if ended.exit_code is not None:
            return ProblemBroken(
                f"The problem's code ended its own process with exit code {ended.exit_code}."
            )
        return SandboxUnavailable("The problem's process was ended from outside of its sandbox.")

    def is_ending(self) -> bool:
        """Whether all of it is gone, or about to be."""
        return is_ending(self._arrived().main_pid)

    def terminate(self) -> None:
        """Begin to end it; `close` then waits for less."""
        if self._runner is not None:
            self._runner.terminate()

    def close(self) -> None:
        """End it, and return once nothing of it is left. Raises `SandboxUnavailable`."""
        if not self._has_failed:
            self._arrived().kill()

    def _arrived(self) -> Runner:
        if self._runner is None:
            self._has_failed = True  # unless it comes; it can be waited for but once
            self._runner = self._arrive()
            self._has_failed = False
        return self._runner


@dataclass(eq=False)
class CagedQuestion:
    """A question whose data and answer are in the cage, for as long as it is referred to."""

    examiner: "CagedExaminer"
    number: int
    given: Encoded
    _max_bytes: int | None = None

    def work_out(self) -> None:
        """Implements `Question`."""
        cage = self.examiner.cage
        worked_out = cage.call(messages.WorkOut(self.number), messages.WorkedOut)
        self._max_bytes = received_size(worked_out)

    def max_output_bytes(self) -> int | None:
        """Implements `Question`."""
        return self._max_bytes

    def complaint(self, output: Any) -> str:
        """Implements `Question`. Raises `AuthorFailure` if something was written beside the
        output."""
        if isinstance(output, DeviceValue):
            return self.examiner.compare_on_device(self.number, output)
        try:
            value = encode(output, self.examiner.modules)
        except UnsupportedValue as error:
            return f"custom_kernel returned {error}."
        with contextlib.closing(SharedBuffer.create(value.size_bytes)) as buffer:
            value.copy_to(buffer)
            request = messages.Compare(value.skeleton, None, self.number)
            answer = self.examiner.cage.call(request, messages.Compared, (buffer.fd,))
        return answer.complaint[:MAX_TEXT]


class CagedExaminer:
    """Asks with the problem's code in its cage."""

    def __init__(self, cage: Cage, job: JobSpec, device: JudgeDevice | None = None) -> None:
        """`device`: the judge's, if data and outputs lie in its memory."""
        self.cage = cage
        self.modules = shared_modules(job.problem)
        self._device = device
        self._lender = Lender(device.pool) if device is not None else None
        self._numbers = count()
        self._forgotten: list[int] = []
        self._is_loaded = False

    def ask(
        self,
        arguments: Mapping[str, CaseValue],
        global_seed: int | None,
        *,
        by_host: bool = False,
    ) -> CagedQuestion:
        """Implements `Examiner`. The first waits until the problem is loaded."""
        cage, device = self.cage, None if by_host else self._device
        if not self._is_loaded:
            self._load()
        number = next(self._numbers)
        forget, self._forgotten = self._forgotten, []
        in_arena = device is not None
        cage.send(messages.Ask(dict(arguments), global_seed, in_arena, number, tuple(forget)))
        answer, fds = cage.receive(messages.Asked)
        given = received_data(answer, fds, in_arena=in_arena)
        if device is not None:
            given = self._on_device(device, number, given, answer.device_bytes)
        question = CagedQuestion(self, number, given)
        weakref.finalize(question, self._forgotten.append, number)
        return question

    def _on_device(
        self, device: JudgeDevice, number: int, given: Encoded, size_bytes: int
    ) -> DeviceData:
        """Have the arrays of a GPU copied into the judge's memory."""
        given = on_device(device, given, size_bytes)
        lent, fds = self._lend(given.piece)
        try:
            self.cage.call(messages.Fill(lent, number), messages.Filled, fds)
        finally:
            close_all(list(fds))
        return given

    def compare_on_device(self, number: int, output: DeviceValue) -> str:
        """The complaint about an output in the judge's memory; empty if it is right."""
        if not output.is_within_bounds():
            raise wrote_beside()
        lent, chunk_fds = self._lend(output.piece)
        with contextlib.closing(SharedBuffer.create(len(output.host))) as buffer:
            buffer.write(0, output.host)
            request = messages.Compare(output.skeleton, lent, number)
            try:
                answer = self.cage.call(request, messages.Compared, (buffer.fd, *chunk_fds))
            finally:
                close_all(list(chunk_fds))
        return answer.complaint[:MAX_TEXT]

    def _lend(self, piece: Piece | None) -> tuple[messages.LentPiece, tuple[int, ...]]:
        if self._lender is None or piece is None:
            raise AssertionError("the judge has a device")
        return self._lender.lend(piece)

    def _load(self) -> None:
        self.cage.load()
        loaded, fds = self.cage.receive(messages.ProblemLoaded)
        close_all(fds)
        imitate(loaded.records, self.modules)
        self._is_loaded = True

    def terminate(self) -> None:
        """Implements `Examiner`."""
        self.cage.terminate()


def received_data(answer: messages.Asked, fds: list[int], *, in_arena: bool = False) -> Encoded:
    """A call's data as a process of the problem's sent it, copied from the memory that it came in.

    `in_arena`: the arrays of a GPU are not among it. Takes the descriptors. Raises `ProblemBroken`
    if it isn't what it should be.
    """
    try:
        if len(fds) != 1:
            raise ValueError(f"{len(fds)} descriptors")
        with contextlib.closing(SharedBuffer.attach_sealed(os.dup(fds[0]))) as buffer:
            return _copied(answer.data, buffer, in_arena=in_arena)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ProblemBroken(f"The problem's process sent no data: {error}") from error
    except OSError as error:
        raise ProblemBroken(f"The problem's data can't be read: {error}") from error
    finally:
        close_all(fds)


def on_device(device: JudgeDevice, given: Encoded, size_bytes: int) -> DeviceData:
    """The same data with room for its arrays in the judge's memory; `size_bytes` as the problem's
    process says. Raises `ProblemBroken`, `DeviceFull`, `GpuError`."""
    if size_bytes < 0:
        raise ProblemBroken("The problem's process sent no size of its data.")
    piece = device.pool.piece(size_bytes)
    host = given.leaves, given.size_bytes
    return DeviceData(given.skeleton, *host, device=device, piece=piece)


def received_size(answer: messages.WorkedOut) -> int | None:
    """What no right output exceeds, in bytes, as a process of the problem's says; None if it
    doesn't."""
    size = answer.max_bytes
    return size if size is not None and size >= 0 else None


def _copied(skeleton: Json, buffer: SharedBuffer, *, in_arena: bool) -> Encoded:
    size_bytes = buffer.size_bytes
    stretches = list((host_leaf_sizes if in_arena else leaf_sizes)(skeleton))
    for offset, size in stretches:
        if type(offset) is not int or type(size) is not int:
            raise TypeError("a malformed stretch of bytes")
        if not 0 <= offset <= offset + size <= size_bytes:
            raise ValueError("bytes outside of the buffer")
    kept = ctypes.create_string_buffer(size_bytes)
    ctypes.memmove(kept, buffer.address, size_bytes)
    start = ctypes.addressof(kept)
    leaves = tuple(Leaf(start + offset, size, offset, kept) for offset, size in stretches)
    return Encoded(skeleton, leaves, size_bytes)


def close_all(fds: list[int]) -> None:
    """Close descriptors: memory at once, what may linger apart."""
    for fd in fds:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
        else:
            close_apart(partial(os.close, fd))
