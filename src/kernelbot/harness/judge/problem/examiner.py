"""Asks the problem's code in its cage: in one process, or in one for each rank.

Their side is `inside/cage/examiner.py`.
"""

import contextlib
import itertools
import socket
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernelbot.harness.data.channel import (
    MAX_PROBLEM_MESSAGE_BYTES,
    Channel,
    ChannelClosed,
    ChannelError,
    wait_for_any,
)
from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.data.stretches import SharedStretches
from kernelbot.harness.gpu.device_data import DeviceData, DeviceValue
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.gpu.shares import Shares
from kernelbot.harness.inside.cage.loader import ProblemBroken, shared_modules
from kernelbot.harness.inside.gpu.arena import ArenaPiece
from kernelbot.harness.judge.problem.cage import Cage
from kernelbot.harness.judge.problem.lending import Lender
from kernelbot.harness.judge.problem.rank_answers import R, RankAnswer, expected
from kernelbot.harness.judge.problem.received import (
    close_all,
    on_device,
    received,
    received_all,
)
from kernelbot.harness.judge.problem.record_types import imitate
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageReply, CageRequest, CallArguments
from kernelbot.harness.words.failures import wrote_outside_output
from kernelbot.harness.words.plan import Plan
from kernelbot.harness.words.sandbox import SandboxUnavailable
from kernelbot.protocol import CaseValue
from kernelbot.protocol.result_size import MAX_TEXT

_GRACE_S = 1.0
"""Once one rank has complained, others may wait for it in a collective that it never joins."""


@dataclass(eq=False)
class CagedQuestion:
    """A question whose data and answer are in the cage, for as long as it is referred to. Ranks
    know the latest one alone: there is room for no more on each one's device."""

    examiner: "Examiner"
    number: int
    given: Encoded | Shares
    _max_bytes: int | None = None
    worked_out_s: float = 0.0
    """How long working it out took; of what was told together with the data, as the problem's
    process says."""

    def work_out(self) -> None:
        """Implements `Question`."""
        start = time.monotonic()
        self._max_bytes = self.examiner.work_out(self.number)
        self.worked_out_s = time.monotonic() - start

    def note_answer(self, reply: messages.Asked, took_s: float) -> None:
        """It was worked out by the time of this reply, which took so long."""
        self._max_bytes = _largest([reply.max_bytes])
        self.worked_out_s = _said_s(reply.worked_out_ns, took_s)

    def max_output_bytes(self) -> int | None:
        """Implements `Question`: the size of each rank's."""
        return self._max_bytes

    def complaint(self, output: Any) -> str:
        """Implements `Question`; with ranks, `output` is a tuple of each one's. Raises
        `AuthorFailure` if something was written beside an output."""
        return self.examiner.complaint(self.number, output)[0]

    def complaint_once_worked_out(self, output: Any) -> str:
        """The same, after working it out."""
        found, self.worked_out_s = self.examiner.complaint(self.number, output, works_out=True)
        return found


class Examiner:
    """Makes questions with the problem's code in its cage."""

    def __init__(self, cage: Cage, plan: Plan, devices: tuple[JudgeDevice, ...] = ()) -> None:
        """`devices`: the judge's, one for each rank that there may be, if data and outputs lie in
        its memory."""
        self._cage = cage
        self._plan = plan
        self._devices = devices
        self._modules = shared_modules(plan.job.problem)
        self._control_channels: list[Channel] = []
        self._lenders: list[Lender] = []
        self._meetings, self._numbers = itertools.count(), itertools.count()
        self._forgotten: list[int] = []
        self._is_loaded = False

    def ask(
        self,
        arguments: Mapping[str, CaseValue],
        global_seed: int | None,
        *,
        by_host: bool = False,
        works_out: bool = False,
    ) -> CagedQuestion:
        """The question of `generate_input(**arguments)`, which of several ranks name the
        `world_size`. The first waits until the problem is loaded. `by_host`: all of its data in the
        host's memory, also if calls find it on the device. `works_out`: it is worked out already,
        of one process by the same message. Raises `ProblemBroken`, `SandboxUnavailable`."""
        self._start(arguments["world_size"] if self._plan.has_ranks else 1)
        in_arena = bool(self._devices) and not by_host
        at_once = works_out and not in_arena and not self._plan.has_ranks
        number = 0 if self._plan.has_ranks else next(self._numbers)
        forget = tuple(self._forgotten)
        request = messages.MakeData(dict(arguments), global_seed, in_arena, number, forget, at_once)
        del self._forgotten[: len(forget)]
        start = time.monotonic()
        asked = self._all(request, messages.Asked, steps=2 if at_once else 1)
        took_s = time.monotonic() - start
        parts = tuple(received(one.reply, one.fds, in_arena=in_arena) for one in asked)
        if in_arena:
            sizes = [one.reply.device_bytes for one in asked]
            parts = self._on_devices(number, parts, sizes)
        question = CagedQuestion(self, number, Shares(parts) if self._plan.has_ranks else parts[0])
        if not self._plan.has_ranks:
            weakref.finalize(question, self._forgotten.append, number)
        if at_once:
            question.note_answer(asked[0].reply, took_s)
        elif works_out:
            question.work_out()
        return question

    @property
    def asks_all_at_once(self) -> bool:
        """Whether one process has all data, and they are in the host's memory: then one message
        makes the data of several calls, or checks several outputs."""
        return not self._devices and not self._plan.has_ranks

    def ask_all(self, calls: Sequence[CallArguments]) -> list[CagedQuestion]:
        """The questions of several calls, whose data are so quickly made that all may take as long
        together as any may; for who `asks_all_at_once`. Raises as `ask`."""
        self._start(1)
        first, forget = next(self._numbers), tuple(self._forgotten)
        numbers = [first, *itertools.islice(self._numbers, len(calls) - 1)]
        del self._forgotten[: len(forget)]
        request = messages.MakeAllData(tuple(calls), first, forget)
        (asked,) = self._all(request, messages.AllAsked)
        questions = [
            CagedQuestion(self, number, given)
            for number, given in zip(
                numbers, received_all(asked.reply, asked.fds, len(calls)), strict=True
            )
        ]
        for question in questions:
            weakref.finalize(question, self._forgotten.append, question.number)
        return questions

    def complaint_of_any(
        self, calls: Sequence[CallArguments], outputs: Sequence[Encoded], *, works_out: bool
    ) -> tuple[str, float]:
        """What is wrong with the first output that is wrong, of several calls whose data are made
        again, and how long the reference took. `works_out`: whether that is asked at all. For who
        `asks_all_at_once`. Raises as `ask`."""
        self._start(1)
        start = time.monotonic()
        with contextlib.closing(SharedStretches(len(outputs))) as shared:
            for output in outputs:
                shared.add(output)
            skeletons, begins = [one.skeleton for one in outputs], tuple(shared.begins)
            request = messages.CheckAll(tuple(calls), skeletons, begins, works_out)
            self._send(0, request, shared.fd)
        reply = self._gather(messages.AllChecked, 3)[0].reply
        if not reply.complaint and reply.checked != len(calls):
            raise ProblemBroken("The problem's process didn't look at all outputs.")
        took_s = _said_s(reply.worked_out_ns, time.monotonic() - start)
        return reply.complaint[:MAX_TEXT], took_s

    def _on_devices(
        self, number: int, parts: tuple[Encoded, ...], sizes: list[int]
    ) -> tuple[DeviceData, ...]:
        """Have each rank's arrays copied into the judge's memory on its device."""
        given = tuple(map(on_device, self._devices, parts, sizes))
        for rank, data in enumerate(given):
            with self._lending(rank, data.piece) as (lent, fds):
                if lent is None:
                    raise AssertionError("data on a device lies in the judge's memory")
                self._send(rank, messages.Fill(lent, number), *fds)
        self._gather(messages.Filled)
        return given

    def computed_ns(self) -> int:
        """Processor time so far of the problem's processes, and of this thread, which asks them."""
        return self._cage.computed_ns() + time.thread_time_ns()

    def work_out(self, number: int) -> int | None:
        """Compute the reference's answer; what no right output of a rank exceeds, in bytes, as the
        problem's processes say, or None if they don't."""
        answers = self._all(messages.WorkOut(number), messages.WorkedOut)
        return _largest([one.reply.max_bytes for one in answers])

    def complaint(self, number: int, output: Any, *, works_out: bool = False) -> tuple[str, float]:
        """What is wrong with the output, with its rank if there are several, empty if nothing; and
        how long the reference took, if it `works_out` the answer before."""
        start = time.monotonic()
        values = [_handed_on(one) for one in (output if self._plan.has_ranks else (output,))]
        for rank, value in enumerate(values):
            piece = value.piece if isinstance(value, DeviceData) else None
            with (
                contextlib.closing(SharedBuffer.create(value.size_bytes)) as buffer,
                self._lending(rank, piece) as (lent, fds),
            ):
                value.copy_to(buffer)
                request = messages.Compare(value.skeleton, lent, number, works_out)
                self._send(rank, request, buffer.fd, *fds)
        compared = self._gather(messages.OutputCompared, steps=2 if works_out else 1)
        said_s = max(_said_s(one.reply.worked_out_ns, time.monotonic() - start) for one in compared)
        found = self._first(compared)
        if not found and self._plan.has_ranks:
            found = self._first(self._all(messages.Check(number), messages.OutputCompared))
        return found, said_s

    def _first(self, answers: list[RankAnswer[messages.OutputCompared]]) -> str:
        found = (self._of_rank(one.rank, one.complaint) for one in answers if one.complaint)
        return next(found, "")

    def _of_rank(self, rank: int, complaint: str) -> str:
        return f"Rank {rank}: {complaint}" if self._plan.has_ranks else complaint

    def terminate(self) -> None:
        """No more questions will be asked: begin to end the processes behind it."""
        self._stop()
        self._cage.terminate()

    def _start(self, world_size: CaseValue) -> None:
        """Make sure that there are exactly so many processes, each with the problem loaded."""
        if type(world_size) is not int:
            raise ProblemBroken("A case's world_size isn't a whole number.")
        if len(self._control_channels) == world_size:
            return
        self._stop()
        if self._plan.has_ranks:
            self._control_channels = self._forked(world_size)
        else:
            self._control_channels = [self._cage.control_channel]
        self._lenders = [Lender(device.pool) for device in self._devices]
        loaded = self._gather(messages.ProblemLoaded)[0].reply
        if not self._is_loaded:
            imitate(loaded.records, self._modules)
        self._is_loaded = True

    def _forked(self, world_size: int) -> list[Channel]:
        """The channels to processes that the cage's own forks, one for each rank."""
        backend, meeting = self._plan.backend, f"meeting-{next(self._meetings)}"
        channels = []
        for rank in range(world_size):
            mine, theirs = socket.socketpair()
            with theirs:
                device = f"cuda:{rank}" if self._plan.on_gpu else "cpu"
                member = messages.StartMember(rank, world_size, backend, meeting, device)
                self._cage.send(member, (theirs.fileno(),))
            channels.append(Channel(mine, MAX_PROBLEM_MESSAGE_BYTES))
        return channels

    def _stop(self) -> None:
        """Close the channels to ranks, which are ended before others are forked. The only process
        ends with the cage."""
        if self._plan.has_ranks:
            for channel in self._control_channels:
                channel.close()
            self._control_channels = []

    def _all(self, request: CageRequest, wanted: type[R], steps: int = 1) -> list[RankAnswer[R]]:
        """Ask every process. Raises as `_gather`."""
        for rank in range(len(self._control_channels)):
            self._send(rank, request)
        return self._gather(wanted, steps)

    @contextlib.contextmanager
    def _lending(
        self, rank: int, piece: ArenaPiece | None
    ) -> Iterator[tuple[messages.LentPiece | None, tuple[int, ...]]]:
        """Where a piece of the judge's memory lies, and the descriptors that go along with it."""
        if piece is None:
            yield None, ()
            return
        lent, fds = self._lenders[rank].lend(piece)
        try:
            yield lent, fds
        finally:
            close_all(list(fds))

    def _send(self, rank: int, request: CageRequest, *fds: int) -> None:
        """Raises `ProblemBroken`, `SandboxUnavailable`."""
        deadline = time.monotonic() + self._cage.patience_s
        try:
            self._control_channels[rank].send(request, fds, deadline)
        except ChannelError as error:
            raise self._cause_of(error) from error

    def _gather(self, wanted: type[R], steps: int = 1) -> list[RankAnswer[R]]:
        """Every process's answer, or only those received so far once a rank has complained.
        `steps`: how many things were asked at once, each of which may take as long as any.

        Raises `ProblemBroken` if the problem's own code failed, said anything else or didn't answer
        in time, and `SandboxUnavailable`.
        """
        found: dict[int, RankAnswer[CageReply]] = {}
        deadline = time.monotonic() + steps * self._cage.patience_s
        while len(found) < len(self._control_channels):
            try:
                for rank in self._ready(found, deadline):
                    heard = self._control_channels[rank].receive(CageReply, deadline)
                    found[rank] = RankAnswer(rank, *heard)
            except ChannelError as error:
                self._stop()
                if any(answer.finds_fault for answer in found.values()):
                    break
                raise self._cause_of(error) from error
            if any(answer.finds_fault for answer in found.values()):
                deadline = min(deadline, time.monotonic() + _GRACE_S)
        return expected([found[rank] for rank in sorted(found)], wanted)

    def _ready(self, found: Mapping[int, object], deadline: float) -> list[int]:
        """The ranks that hadn't answered and now have; the only one is waited for where it is
        read."""
        channels = {
            rank: channel
            for rank, channel in enumerate(self._control_channels)
            if rank not in found
        }
        if len(channels) > 1:
            ready = wait_for_any(list(channels.values()), deadline)
            return [rank for rank, channel in channels.items() if channel in ready]
        return list(channels)

    def _cause_of(self, error: ChannelError) -> ProblemBroken | SandboxUnavailable:
        """Why a conversation broke off: the whole cage ended, or one rank's process."""
        if self._plan.has_ranks and isinstance(error, ChannelClosed) and not self._cage.is_ending():
            return ProblemBroken(f"A rank of the problem's reference ended: {error}")
        return self._cage.cause_of(error)


def _said_s(told_ns: int, took_s: float) -> float:
    """How long something took, as the problem's process says: not more than what it is part of."""
    return min(max(told_ns, 0) / 1e9, took_s)


def _largest(sizes: Sequence[int | None]) -> int | None:
    """The largest of several sizes; None if one isn't known."""
    known = [size for size in sizes if size is not None and size >= 0]
    return max(known) if len(known) == len(sizes) else None


def _handed_on(output: Encoded | DeviceValue) -> Encoded:
    """Raises `AuthorFailure` if something was written beside it."""
    if isinstance(output, Encoded):
        return output
    if not output.is_within_bounds():
        raise wrote_outside_output()
    return output.encoded()
