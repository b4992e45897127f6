"""Makes questions for several ranks: the problem's code runs in as many processes of its cage."""

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

from kernelbot.harness.data.channel import (
    MAX_PROBLEM_MESSAGE_BYTES,
    Channel,
    ChannelClosed,
    ChannelError,
    wait_for_any,
)
from kernelbot.harness.data.encode import Encoded, UnsupportedValue, encode
from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.gpu.device_data import DeviceData, DeviceValue
from kernelbot.harness.gpu.judge_device import JudgeDevice
from kernelbot.harness.gpu.shares import Shares
from kernelbot.harness.inside.cage.loader import ProblemBroken, shared_modules
from kernelbot.harness.inside.gpu.arena import Piece
from kernelbot.harness.judge.problem.examiner import (
    Cage,
    broken,
    close_all,
    expect_reply,
    on_device,
    received_data,
    received_size,
)
from kernelbot.harness.judge.problem.lending import Lender
from kernelbot.harness.words import cage_messages as messages
from kernelbot.harness.words.cage_messages import CageReply, CageRequest
from kernelbot.harness.words.plan import Plan
from kernelbot.protocol import CaseValue

_PATIENCE_S = 120.0
_GRACE_S = 1.0
"""Once one rank has complained, others may wait for it in a collective that it never joins."""


@dataclass(frozen=True)
class Answer:
    """What a member said."""

    rank: int
    reply: CageReply
    fds: list[int]

    @property
    def complaint(self) -> str:
        """What is wrong with its rank's output; empty if nothing."""
        return self.reply.complaint if isinstance(self.reply, messages.Compared) else ""

    @property
    def finds_fault(self) -> bool:
        """Whether it complained or failed, so that the others may wait in vain."""
        return bool(self.complaint) or isinstance(self.reply, messages.Broken)


@dataclass(frozen=True)
class RankQuestion:
    """A question for all ranks; only the examiner's latest one can be judged."""

    examiner: "RankExaminer"
    given: Shares

    def work_out(self) -> None:
        """Implements `Question`."""
        self.examiner.work_out()

    def max_output_bytes(self) -> int | None:
        """Implements `Question`: the size of each rank's."""
        return self.examiner.max_output_bytes

    def complaint(self, output: Any) -> str:
        """Implements `Question`; `output` is a tuple with each rank's."""
        return self.examiner.complaint(output)


class RankExaminer:
    """One process with the problem's code for each rank, forked in the cage."""

    def __init__(self, cage: Cage, plan: Plan, devices: tuple[JudgeDevice, ...] = ()) -> None:
        """`devices`: the judge's, one for each rank that there may be, if data and outputs lie in
        its memory."""
        self._cage = cage
        self._devices = devices
        self._lenders: list[Lender] = []
        self._plan = plan
        self._modules = shared_modules(plan.job.problem)
        self._control_channels: list[Channel] = []
        self._meetings = count()
        self.max_output_bytes: int | None = None

    def ask(
        self,
        arguments: Mapping[str, CaseValue],
        global_seed: int | None,
        *,
        by_host: bool = False,
    ) -> RankQuestion:
        """Implements `Examiner`. The arguments name the `world_size`; each member adds its rank."""
        world_size = arguments["world_size"]
        if type(world_size) is not int:
            raise ProblemBroken("A case's world_size isn't a whole number.")
        self._start_members(world_size)
        self.max_output_bytes = None
        in_arena = bool(self._devices) and not by_host
        answers = self._all(messages.Ask(dict(arguments), global_seed, in_arena))
        asked = [expect_reply(one.reply, messages.Asked) for one in answers]
        parts = [
            received_data(reply, one.fds, in_arena=in_arena)
            for reply, one in zip(asked, answers, strict=True)
        ]
        if in_arena:
            return RankQuestion(self, Shares(self._on_devices(parts, asked)))
        return RankQuestion(self, Shares(tuple(parts)))

    def _on_devices(
        self, parts: list[Encoded], asked: list[messages.Asked]
    ) -> tuple[DeviceData, ...]:
        """Have each rank's arrays copied into the judge's memory on its device."""
        sizes = [reply.device_bytes for reply in asked]
        given = tuple(map(on_device, self._devices, parts, sizes))
        for rank, data in enumerate(given):
            if data.piece is not None:
                self._send(rank, messages.Fill, data.piece)
        self._gather()
        return given

    def work_out(self) -> None:
        """Compute the reference's answer to the latest question."""
        answers = self._all(messages.WorkOut())
        sizes = [received_size(expect_reply(one.reply, messages.WorkedOut)) for one in answers]
        known = [size for size in sizes if size is not None]
        self.max_output_bytes = max(known) if len(known) == len(sizes) else None

    def complaint(self, outputs: tuple[Any, ...]) -> str:
        """The first complaint, with its rank; empty if all are right."""
        self.work_out()
        encoded = []
        for rank, output in enumerate(outputs):
            try:
                encoded.append(self._encoded(output))
            except UnsupportedValue as error:
                return f"Rank {rank}: the output is {error}."
        for rank, value in enumerate(encoded):
            with contextlib.closing(SharedBuffer.create(value.size_bytes)) as buffer:
                value.copy_to(buffer)
                compare = partial(messages.Compare, value.skeleton)
                if isinstance(value, DeviceData) and value.piece is not None:
                    self._send(rank, compare, value.piece, buffer.fd)
                else:
                    self._control_channels[rank].send(compare(None), [buffer.fd])
        return _first(self._gather()) or _first(self._all(messages.Check()))

    def _encoded(self, output: Any) -> Encoded:
        """Raises `UnsupportedValue`."""
        return (
            output.encoded() if isinstance(output, DeviceValue) else encode(output, self._modules)
        )

    def _send(
        self,
        rank: int,
        request: Callable[[messages.LentPiece], CageRequest],
        piece: Piece,
        *fds: int,
    ) -> None:
        """Lend a piece along with a request."""
        lent, chunk_fds = self._lenders[rank].lend(piece)
        try:
            self._control_channels[rank].send(request(lent), [*fds, *chunk_fds])
        finally:
            close_all(list(chunk_fds))

    def terminate(self) -> None:
        """Implements `Examiner`."""
        self._stop_members()
        self._cage.terminate()

    def _all(self, request: CageRequest) -> list[Answer]:
        for channel in self._control_channels:
            channel.send(request)
        return self._gather()

    def _start_members(self, world_size: int) -> None:
        if len(self._control_channels) == world_size:
            return
        self._stop_members()
        backend, meeting = self._plan.backend, f"meeting-{next(self._meetings)}"
        for rank in range(world_size):
            mine, theirs = socket.socketpair()
            with theirs:
                device = f"cuda:{rank}" if self._plan.on_gpu else "cpu"
                member = messages.StartMember(rank, world_size, backend, meeting, device)
                self._cage.send(member, (theirs.fileno(),))
            self._control_channels.append(Channel(mine, MAX_PROBLEM_MESSAGE_BYTES))
        self._lenders = [Lender(device.pool) for device in self._devices]
        self._gather()

    def _stop_members(self) -> None:
        """Close the channels to all members; they are ended before others are forked."""
        for channel in self._control_channels:
            channel.close()
        self._control_channels = []

    def _gather(self) -> list[Answer]:
        """Every member's answer, or only those received so far once one has complained.

        Raises `ProblemBroken` if the problem's own code failed or didn't answer in time.
        """
        found: dict[int, Answer] = {}
        deadline = time.monotonic() + _PATIENCE_S
        while len(found) < len(self._control_channels):
            waiting = [rank for rank in range(len(self._control_channels)) if rank not in found]
            try:
                for rank in self._ready(waiting, deadline):
                    heard = self._control_channels[rank].receive(CageReply, deadline)
                    found[rank] = Answer(rank, *heard)
            except ChannelError as error:
                self._stop_members()
                if any(answer.finds_fault for answer in found.values()):
                    break
                raise self._cause_of(error) from error
            if any(answer.finds_fault for answer in found.values()):
                deadline = min(deadline, time.monotonic() + _GRACE_S)
        return _unbroken([found[rank] for rank in sorted(found)])

    def _cause_of(self, error: ChannelError) -> Exception:
        """The failure of a member that has ended: the whole cage's, or its own."""
        if isinstance(error, ChannelClosed) and self._cage.is_ending():
            return self._cage.cause_of(error)
        return ProblemBroken(f"A rank of the problem's reference ended: {error}")

    def _ready(self, waiting: list[int], deadline: float) -> list[int]:
        channels = [self._control_channels[rank] for rank in waiting]
        ready = wait_for_any(channels, deadline)
        return [rank for rank, channel in zip(waiting, channels, strict=True) if channel in ready]


def _unbroken(answers: list[Answer]) -> list[Answer]:
    """Raises `ProblemBroken` if one is broken, unless another's complaint explains it."""
    if not any(answer.complaint for answer in answers):
        for answer in answers:
            if isinstance(answer.reply, messages.Broken):
                raise broken(answer.reply)
    return answers


def _first(answers: list[Answer]) -> str:
    return next((f"Rank {one.rank}: {one.complaint}" for one in answers if one.complaint), "")
