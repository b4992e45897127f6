"""The problem's ranks: processes that together generate each rank's data and check its output.

A reference for several ranks communicates between them, so it needs as many processes as the
submission has, with a process group of their own. They are forked by the first process of the
problem's cage.
"""

import contextlib
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from kernelbot.harness.data.channel import MAX_PROBLEM_MESSAGE_BYTES, Channel, ChannelClosed
from kernelbot.harness.data.decode import InvalidValue, decode, is_device_full
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside import kernel
from kernelbot.harness.inside.cage.checking import expected_output, unlike
from kernelbot.harness.inside.cage.examiner import Answers
from kernelbot.harness.inside.cage.lent_memory import LentMemory
from kernelbot.harness.inside.cage.loader import (
    LoadedProblem,
    ProblemBroken,
    blaming_problem,
    loaded,
)
from kernelbot.harness.inside.cage.questions import encode_input, max_output_bytes
from kernelbot.harness.inside.gpu.arena import Placer
from kernelbot.harness.inside.gpu.driver import GpuError
from kernelbot.harness.inside.ranks.joining import join
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.harness.words.runner_messages import Place
from kernelbot.protocol import ProblemSpec

_SEEDS = 1 << 31


def serve_members(control_channel: Channel, spec: ProblemSpec, folder: str) -> NoReturn:
    """Fork members when the judge asks for them; an order for rank 0 ends all earlier ones.

    `folder` is for their files. Meant to be the whole life of a forked process.
    """
    tempfile.tempdir = folder
    pids: list[int] = []
    _begin(control_channel)
    with contextlib.suppress(ChannelClosed):
        while True:
            order, fds = control_channel.receive(CageRequest)
            if not isinstance(order, messages.StartMember):
                raise AssertionError("the judge starts members")
            if order.rank == 0:
                _end_all(pids)
            pid = os.fork()
            if pid == 0:
                meeting = Path(folder, order.meeting).as_uri()
                place = Place(order.rank, order.world_size, order.backend, meeting)
                _be_member(fds[0], spec, place, order.device)
            os.close(fds[0])
            pids.append(pid)
    _end_all(pids)
    os._exit(0)


def _begin(control_channel: Channel) -> None:
    """Die with the parent, and close the parent's descriptors."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.close_all_but({0, 1, 2, control_channel.fileno()})


def _end_all(pids: list[int]) -> None:
    while pids:
        os.kill(pids[-1], signal.SIGKILL)
        os.waitpid(pids.pop(), 0)


def _be_member(fd: int, spec: ProblemSpec, place: Place, device: str) -> NoReturn:
    code = 1
    try:
        control_channel = Channel(socket.socket(fileno=fd), MAX_PROBLEM_MESSAGE_BYTES)
        _begin(control_channel)
        with loaded(spec) as problem:
            _Member(control_channel, problem, place, device).serve()
        code = 0
    except ChannelClosed:
        code = 0
    except ProblemBroken as error:
        control_channel.send(messages.Broken(str(error)))
    except BaseException:  # noqa: BLE001 (the last frame of this process: it shows and ends)
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


class _Member:
    def __init__(
        self, control_channel: Channel, problem: LoadedProblem, place: Place, device: str
    ) -> None:
        self._control_channel = control_channel
        self._problem = problem
        self._place = place
        self._rank = place.rank
        self._device = device
        self._data: Any = None
        self._given: Encoded | None = None
        self._memory: LentMemory | None = None
        self._expected: Any = None
        self._output: Any = None
        self._answers: Answers = {
            messages.Ask: self._ask,
            messages.Fill: self._fill,
            messages.WorkOut: self._work_out,
            messages.Compare: self._compare,
            messages.Check: self._check,
        }

    def serve(self) -> None:
        """Join the others, then answer the judge until it hangs up."""
        self._guarded(self._join)
        while True:
            request, fds = self._control_channel.receive(CageRequest)
            answer = self._answers[type(request)]
            self._guarded(lambda: answer(request, fds))  # noqa: B023 (called at once)
            for fd in fds:
                os.close(fd)

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except ProblemBroken as error:
            self._fail(str(error), error.__cause__)
        except GpuError as error:
            self._fail(f"The problem's part of the GPU failed: {error}", error)

    def _fail(self, text: str, cause: BaseException | None) -> None:
        full = cause is not None and is_device_full(cause)
        self._control_channel.send(messages.Broken(text, full))

    def _join(self) -> None:
        try:
            join(self._place)
        except RuntimeError as error:
            raise ProblemBroken(f"The reference's ranks couldn't be set up: {error}") from error
        self._control_channel.send(messages.MemberStarted())

    def _ask(self, request: messages.Ask, _fds: list[int]) -> None:
        self._expected = None
        # Generators that use the global state must give each rank different data.
        seed = None if request.seed is None else (request.seed + self._rank) % _SEEDS
        arguments = {**request.arguments, "rank": self._rank}
        self._data = self._problem.make_input(arguments, seed)
        placer = Placer() if request.arena else None
        given = self._given = encode_input(self._data, self._problem.modules, placer)
        buffer = SharedBuffer.create(given.size_bytes)
        given.copy_to(buffer)
        device_bytes = placer.end if placer is not None else 0
        self._control_channel.send(messages.Asked(given.skeleton, device_bytes), [buffer.fd])
        buffer.close()

    def _fill(self, request: messages.Fill, fds: list[int]) -> None:
        """Copy the arrays of the latest question on the GPU into the judge's memory."""
        if self._given is None:
            raise AssertionError("the judge has asked")
        self._lent.write(self._given, self._lent.view(request.lent, fds))
        self._control_channel.send(messages.Filled())

    @property
    def _lent(self) -> LentMemory:
        if self._memory is None:
            self._memory = LentMemory(self._rank)
        return self._memory

    def _work_out(self, _request: messages.WorkOut, _fds: list[int]) -> None:
        if self._expected is None:
            self._expected = expected_output(self._problem, self._data)
        size = None if self._expected is None else max_output_bytes(self._expected)
        self._control_channel.send(messages.WorkedOut(size))

    def _compare(self, request: messages.Compare, fds: list[int]) -> None:
        """Is the output of the right kind? Answered before any rank's checker runs."""
        try:
            self._output = self._decoded(request, *fds)
        except InvalidValue as error:  # e.g. on a device, or of a dtype, that isn't known here
            complaint = f"The output is not a value that the problem can check: {error}."
        else:
            complaint = unlike(self._problem, self._expected, self._output, self._data)
        self._control_channel.send(messages.Compared(complaint))

    def _decoded(self, request: messages.Compare, host: int, *chunks: int) -> Any:
        """An output: in the judge's memory on the device, or else brought there."""
        modules = self._problem.modules
        lent = request.lent
        arena = None if lent is None else self._lent.view(lent, list(chunks))
        device = None if arena is not None else self._device
        with contextlib.closing(SharedBuffer.attach(os.dup(host))) as buffer:
            value, _ = decode(request.value, buffer, modules, device=device, arena=arena)
        return value

    def _check(self, _request: messages.Check, _fds: list[int]) -> None:
        with blaming_problem("checker"):
            complaint = self._problem.judge(self._data, self._output)
        self._control_channel.send(messages.Compared(complaint))
