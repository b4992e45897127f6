"""In the sandbox: the problem's own code answers what the judge asks.

A problem is a stranger's program as well. Its generator, reference and checker run in a runner of
their own, caged like an author's, which knows the whole problem and nothing of anybody else. What
it says reaches the judge as plain data, and decides about its own problem only.
"""

import contextlib
import dataclasses
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kernelbot.harness.data.channel import MAX_PROBLEM_MESSAGE_BYTES, Channel, ChannelClosed
from kernelbot.harness.data.decode import InvalidValue, decode, is_device_full
from kernelbot.harness.data.encode import record_fields
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cage.loader import LoadedProblem, ProblemBroken, described, loaded
from kernelbot.harness.inside.cage.questions import SoleExaminer, SoleQuestion
from kernelbot.harness.inside.gpu.arena import Placer
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.protocol import ProblemSpec

if TYPE_CHECKING:
    from kernelbot.harness.inside.cage.lent_memory import LentMemory

Answers = dict[type[CageRequest], Callable[[Any, list[int]], None]]
"""What is done for each kind of request, with the descriptors that come along."""
_MAX_DEPTH = 4


def serve(sock: socket.socket) -> None:
    """Answer until the judge hangs up. Meant to be the whole life of a process."""
    tempfile.tempdir = os.getcwd()  # noqa: PTH109 (a str is wanted); what is left there goes with us
    control_channel = Channel(sock, MAX_PROBLEM_MESSAGE_BYTES)
    with contextlib.suppress(ChannelClosed):
        request, _ = control_channel.receive(CageRequest)
        if not isinstance(request, messages.LoadProblem):
            raise AssertionError("the judge sends the problem first")
        spec = request.problem
        if spec.multi_gpu:
            from kernelbot.harness.inside.ranks.member import serve_members

            serve_members(control_channel, spec, tempfile.tempdir)
        _answer(control_channel, spec)


def _answer(control_channel: Channel, spec: ProblemSpec) -> None:
    try:
        with loaded(spec) as problem:
            records = list(describe_records(problem.modules))
            control_channel.send(messages.ProblemLoaded(records))
            _Examiner(control_channel, problem).serve()
    except ProblemBroken as error:  # it couldn't be loaded
        control_channel.send(messages.Broken(str(error)))


class _Examiner:
    def __init__(self, control_channel: Channel, problem: LoadedProblem) -> None:
        self._control_channel = control_channel
        self._problem = problem
        self._examiner = SoleExaminer(problem)
        self._questions: dict[int, SoleQuestion] = {}
        self._answers: Answers = {
            messages.Ask: self._ask,
            messages.WorkOut: self._work_out,
            messages.Fill: self._fill,
            messages.Compare: self._compare,
        }
        self._memory: LentMemory | None = None

    def serve(self) -> None:
        """Until the judge hangs up (raises `ChannelClosed`)."""
        while True:
            request, fds = self._control_channel.receive(CageRequest)
            try:
                self._answers[type(request)](request, fds)
            except ProblemBroken as error:
                self._fail(str(error), error.__cause__)
            except Exception as error:  # noqa: BLE001 (told, as the problem's failure)
                self._fail(f"The problem's code failed: {described(error)}", error)
            finally:
                for fd in fds:
                    os.close(fd)

    def _fail(self, text: str, cause: BaseException | None) -> None:
        full = cause is not None and is_device_full(cause)
        self._control_channel.send(messages.Broken(text, full))

    def _ask(self, request: messages.Ask, _fds: list[int]) -> None:
        for number in request.forget:
            self._questions.pop(number, None)
        placer = Placer() if request.arena else None
        question = self._examiner.ask(request.arguments, request.seed, placer)
        self._questions[request.number] = question
        given = question.given
        device_bytes = placer.end if placer is not None else 0
        answer = messages.Asked(given.skeleton, device_bytes)
        with contextlib.closing(SharedBuffer.create(given.size_bytes)) as buffer:
            given.copy_to(buffer)
            self._control_channel.send(answer, [buffer.fd])

    def _fill(self, request: messages.Fill, fds: list[int]) -> None:
        """Copy a question's arrays on the GPU into the judge's memory."""
        question = self._questions[request.number]
        self._lent.write(question.given, self._lent.view(request.lent, fds))
        self._control_channel.send(messages.Filled())

    @property
    def _lent(self) -> "LentMemory":
        if self._memory is None:
            from kernelbot.harness.inside.cage.lent_memory import LentMemory

            self._memory = LentMemory()
        return self._memory

    def _work_out(self, request: messages.WorkOut, _fds: list[int]) -> None:
        question = self._questions[request.number]
        question.work_out()
        self._control_channel.send(messages.WorkedOut(question.max_output_bytes()))

    def _compare(self, request: messages.Compare, fds: list[int]) -> None:
        host, *chunks = fds
        arena = None if request.lent is None else self._lent.view(request.lent, chunks)
        try:
            with contextlib.closing(SharedBuffer.attach(os.dup(host))) as buffer:
                output, _ = decode(request.value, buffer, self._problem.modules, arena=arena)
        except InvalidValue as error:  # e.g. on a device, or of a dtype, that isn't known here
            complaint = f"The output is not a value that the problem can check: {error}."
        else:
            complaint = self._questions[request.number].complaint(output)
        self._control_channel.send(messages.Compared(complaint))


def describe_records(modules: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The records that a problem's shared modules define, for a judge that never loads these."""
    for name in sorted(modules):
        yield from _records_in(name, vars(sys.modules[name]), 0)


def _records_in(module: str, names: Any, depth: int) -> Iterator[dict[str, Any]]:
    for kind in list(names.values()):
        if not isinstance(kind, type) or kind.__module__ != module or depth > _MAX_DEPTH:
            continue
        if (fields := record_fields(kind)) is not None:
            is_tuple = not dataclasses.is_dataclass(kind)
            name = kind.__qualname__
            yield {"module": module, "name": name, "fields": list(fields), "tuple": is_tuple}
        yield from _records_in(module, vars(kind), depth + 1)
