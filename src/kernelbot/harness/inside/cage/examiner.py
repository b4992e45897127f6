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
from kernelbot.protocol import ProblemSpec, from_wire

if TYPE_CHECKING:
    from kernelbot.harness.inside.cage.lent_memory import LentMemory

_MAX_DEPTH = 4


def serve(sock: socket.socket) -> None:
    """Answer until the judge hangs up. Meant to be the whole life of a process."""
    tempfile.tempdir = os.getcwd()  # noqa: PTH109 (a str is wanted); what is left there goes with us
    control_channel = Channel(sock, MAX_PROBLEM_MESSAGE_BYTES)
    with contextlib.suppress(ChannelClosed):
        message, _ = control_channel.receive_json()
        spec = from_wire(ProblemSpec, message["problem"])
        if spec.multi_gpu:
            from kernelbot.harness.inside.ranks.member import serve_members

            serve_members(control_channel, spec, tempfile.tempdir)
        _answer(control_channel, spec)


def _answer(control_channel: Channel, spec: ProblemSpec) -> None:
    try:
        with loaded(spec) as problem:
            control_channel.send(
                {"op": "loaded", "records": list(describe_records(problem.modules))}
            )
            _Examiner(control_channel, problem).serve()
    except ProblemBroken as error:  # it couldn't be loaded
        control_channel.send({"op": "broken", "text": str(error)})


class _Examiner:
    def __init__(self, control_channel: Channel, problem: LoadedProblem) -> None:
        self._control_channel = control_channel
        self._problem = problem
        self._examiner = SoleExaminer(problem)
        self._questions: dict[int, SoleQuestion] = {}
        self._answers: dict[str, Callable[[dict[str, Any], list[int]], None]] = {
            "ask": self._ask,
            "work_out": self._work_out,
            "fill": self._fill,
            "compare": self._compare,
        }
        self._memory: LentMemory | None = None

    def serve(self) -> None:
        """Until the judge hangs up (raises `ChannelClosed`)."""
        while True:
            message, fds = self._control_channel.receive_json()
            try:
                self._answers[message["op"]](message, fds)
            except ProblemBroken as error:
                self._fail(str(error), error.__cause__)
            except Exception as error:  # noqa: BLE001 (told, as the problem's failure)
                self._fail(f"The problem's code failed: {described(error)}", error)
            finally:
                for fd in fds:
                    os.close(fd)

    def _fail(self, text: str, cause: BaseException | None) -> None:
        full = cause is not None and is_device_full(cause)
        self._control_channel.send({"op": "broken", "text": text, "full": full})

    def _ask(self, message: dict[str, Any], _fds: list[int]) -> None:
        for number in message["forget"]:
            self._questions.pop(number, None)
        placer = Placer() if message.get("arena") else None
        question = self._examiner.ask(message["arguments"], message["seed"], placer)
        self._questions[message["id"]] = question
        given = question.given
        device_bytes = placer.end if placer is not None else 0
        answer = {"op": "asked", "data": given.skeleton, "device_bytes": device_bytes}
        with contextlib.closing(SharedBuffer.create(given.size_bytes)) as buffer:
            given.copy_to(buffer)
            self._control_channel.send(answer, [buffer.fd])

    def _fill(self, message: dict[str, Any], fds: list[int]) -> None:
        """Copy a question's arrays on the GPU into the judge's memory."""
        question = self._questions[message["id"]]
        self._lent.write(question.given, self._lent.view(message, fds))
        self._control_channel.send({"op": "filled"})

    @property
    def _lent(self) -> "LentMemory":
        if self._memory is None:
            from kernelbot.harness.inside.cage.lent_memory import LentMemory

            self._memory = LentMemory()
        return self._memory

    def _work_out(self, message: dict[str, Any], _fds: list[int]) -> None:
        question = self._questions[message["id"]]
        question.work_out()
        self._control_channel.send({"op": "said", "max_bytes": question.max_output_bytes()})

    def _compare(self, message: dict[str, Any], fds: list[int]) -> None:
        host, *chunks = fds
        arena = self._lent.view(message, chunks) if "chunk" in message else None
        try:
            with contextlib.closing(SharedBuffer.attach(os.dup(host))) as buffer:
                output, _ = decode(message["value"], buffer, self._problem.modules, arena=arena)
        except InvalidValue as error:  # e.g. on a device, or of a dtype, that isn't known here
            complaint = f"The output is not a value that the problem can check: {error}."
        else:
            complaint = self._questions[message["id"]].complaint(output)
        self._control_channel.send({"op": "said", "complaint": complaint})


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
