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
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kernelbot.harness.data.channel import MAX_PROBLEM_MESSAGE_BYTES, Channel, ChannelClosed
from kernelbot.harness.data.decode import InvalidValue, decode, is_device_full
from kernelbot.harness.data.encode import record_fields
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.data.stretches import SharedStretches
from kernelbot.harness.inside.cage.loader import (
    ProblemBroken,
    ProblemFunctions,
    blaming_problem,
    described,
    loaded,
)
from kernelbot.harness.inside.cage.questions import SoleExaminer, SoleQuestion
from kernelbot.harness.inside.gpu.arena import Allocator
from kernelbot.harness.inside.ranks.joining import join
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageRequest
from kernelbot.harness.words.runner_messages import RankPosition
from kernelbot.protocol import ProblemSpec

if TYPE_CHECKING:
    from kernelbot.harness.inside.cage.lent_memory import LentMemory

_Answers = dict[type[CageRequest], Callable[[Any, list[int]], None]]
"""What is done for each kind of request, with the descriptors that come along."""
_MAX_DEPTH = 4
_SEEDS = 1 << 31


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

            serve_members(control_channel, spec, tempfile.tempdir, answer)
        answer(control_channel, spec)


def answer(
    control_channel: Channel,
    spec: ProblemSpec,
    position: RankPosition | None = None,
    device: str | None = None,
) -> None:
    """Load the problem, and answer until the judge hangs up (raises `ChannelClosed`).
    `position`: of one rank of several, which waits for the others; `device`: the one that it
    computes on."""
    try:
        with loaded(spec) as problem:
            if position is not None:
                _join(position)
            records = list(describe_records(problem.modules))
            control_channel.send(messages.ProblemLoaded(records))
            _Examiner(control_channel, problem, position, device).serve()
    except ProblemBroken as error:  # it couldn't be loaded
        control_channel.send(messages.ProblemCodeFailed(str(error)))


def _join(position: RankPosition) -> None:
    try:
        join(position)
    except RuntimeError as error:
        raise ProblemBroken(f"The reference's ranks couldn't be set up: {error}") from error


class _Examiner:
    def __init__(
        self,
        control_channel: Channel,
        problem: ProblemFunctions,
        position: RankPosition | None,
        device: str | None,
    ) -> None:
        self._control_channel = control_channel
        self._problem = problem
        self._position = position
        self._device = device
        self._examiner = SoleExaminer(problem)
        self._questions: dict[int, SoleQuestion] = {}
        self._output: Any = None
        """The last one that was compared, for `Check`."""
        self._answers: _Answers = {
            messages.MakeData: self._ask,
            messages.MakeAllData: self._ask_all,
            messages.CheckAll: self._check_all,
            messages.WorkOut: self._work_out,
            messages.Fill: self._fill,
            messages.Compare: self._compare,
            messages.Check: self._check,
        }
        self._memory: LentMemory | None = None
        self._sent = SharedStretches()
        """The data that were sent last, which the judge copies before it asks again."""

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
        self._control_channel.send(messages.ProblemCodeFailed(text, full))

    def _forget(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            self._questions.pop(number, None)

    def _ask(self, request: messages.MakeData, _fds: list[int]) -> None:
        self._forget(request.forget)
        placer = Allocator() if request.arena else None
        arguments, seed = request.arguments, request.seed
        if self._position is not None:
            rank = self._position.rank
            arguments = {**arguments, "rank": rank}
            # Generators that use the global state must give each rank different data.
            seed = None if seed is None else (seed + rank) % _SEEDS
        question = self._examiner.ask(arguments, seed, placer)
        self._questions[request.number] = question
        given = question.given
        device_bytes = placer.end if placer is not None else 0
        with self._sent.for_others(1) as sent:
            sent.add(given)  # as it was made: a reference may change what it can't copy
            took_ns = _worked_out_ns(question) if request.works_out else 0
            max_bytes, size_bytes = question.max_output_bytes(), sent.size_bytes
            answer = messages.Asked(given.skeleton, device_bytes, max_bytes, took_ns, size_bytes)
            self._control_channel.send(answer, [sent.fd])

    def _ask_all(self, request: messages.MakeAllData, _fds: list[int]) -> None:
        self._forget(request.forget)
        with self._sent.for_others(len(request.calls)) as sent:
            skeletons = []
            for number, call in enumerate(request.calls, request.number):
                question = self._examiner.ask(call.arguments, call.seed)
                self._questions[number] = question
                sent.add(question.given)  # as it was made: the next one may lie in its memory
                skeletons.append(question.given.skeleton)
            reply = messages.AllAsked(skeletons, tuple(sent.begins), sent.size_bytes)
            self._control_channel.send(reply, [sent.fd])

    def _check_all(self, request: messages.CheckAll, fds: list[int]) -> None:
        complaint, checked, worked_out_ns = "", 0, 0
        with contextlib.closing(SharedBuffer.attach(os.dup(fds[0]))) as buffer:
            for call, value, begin in zip(
                request.calls, request.values, request.begins, strict=True
            ):
                question = self._examiner.ask(call.arguments, call.seed)
                if request.works_out:
                    worked_out_ns += _worked_out_ns(question)
                checked += 1
                try:
                    output, _ = decode(value, buffer, self._problem.modules, base=begin)
                except InvalidValue as error:
                    complaint = _not_checkable(error)
                else:
                    complaint = question.complaint(output)
                if complaint:
                    break
        self._control_channel.send(messages.AllChecked(complaint, checked, worked_out_ns))

    def _fill(self, request: messages.Fill, fds: list[int]) -> None:
        """Copy a question's arrays on the GPU into the judge's memory."""
        question = self._questions[request.number]
        self._lent.write(question.given, self._lent.view(request.lent, fds))
        self._control_channel.send(messages.Filled())

    def _give_back_unused(self) -> None:
        """Before the judge is answered: the author's kernel may be called next."""
        if self._memory is not None:
            self._memory.give_back_unused()

    @property
    def _lent(self) -> "LentMemory":
        if self._memory is None:
            from kernelbot.harness.inside.cage.lent_memory import LentMemory

            self._memory = LentMemory(0 if self._position is None else self._position.rank)
        return self._memory

    def _work_out(self, request: messages.WorkOut, _fds: list[int]) -> None:
        question = self._questions[request.number]
        question.work_out()
        self._give_back_unused()
        self._control_channel.send(messages.WorkedOut(question.max_output_bytes()))

    def _compare(self, request: messages.Compare, fds: list[int]) -> None:
        """A rank's checker may wait for other ranks: until all are asked to `Check`."""
        question, is_alone = self._questions[request.number], self._position is None
        # With other ranks in any case, whatever their outputs are.
        took_ns = _worked_out_ns(question) if request.works_out or not is_alone else 0
        try:
            output = self._decoded(request, *fds)
        except InvalidValue as error:  # e.g. on a device, or of a dtype, that isn't known here
            complaint = _not_checkable(error)
        else:
            complaint = question.complaint(output) if is_alone else question.difference(output)
            self._output = None if is_alone else output
        self._give_back_unused()
        self._control_channel.send(messages.OutputCompared(complaint, took_ns))

    def _decoded(self, request: messages.Compare, host: int, *chunks: int) -> Any:
        """An output: in the judge's memory on the device, or else brought to the rank's."""
        arena = None if request.lent is None else self._lent.view(request.lent, list(chunks))
        device = self._device if arena is None else None
        with contextlib.closing(SharedBuffer.attach(os.dup(host))) as buffer:
            value, _ = decode(
                request.value, buffer, self._problem.modules, device=device, arena=arena
            )
        return value

    def _check(self, request: messages.Check, _fds: list[int]) -> None:
        with blaming_problem("checker"):
            complaint = self._problem.judge(self._questions[request.number].data, self._output)
        self._give_back_unused()
        self._control_channel.send(messages.OutputCompared(complaint))


def _not_checkable(error: InvalidValue) -> str:
    return f"The output is not a value that the problem can check: {error}."


def _worked_out_ns(question: SoleQuestion) -> int:
    """Compute the reference's answer; how long that took."""
    start_ns = time.monotonic_ns()
    question.work_out()
    return time.monotonic_ns() - start_ns


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
