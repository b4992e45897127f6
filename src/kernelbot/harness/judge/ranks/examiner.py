"""Makes questions for several ranks: the problem's code runs in as many processes of its cage."""

import contextlib
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
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
    on_device,
    received_data,
    received_size,
)
from kernelbot.harness.judge.problem.lending import Lender
from kernelbot.protocol import CaseValue, JobSpec, Vendor

_PATIENCE_S = 120.0
_GRACE_S = 1.0
"""Once one rank has complained, others may wait for it in a collective that it never joins."""


@dataclass(frozen=True)
class Message:
    """A member's answer."""

    rank: int
    body: dict[str, Any]
    fds: list[int]

    @property
    def complaint(self) -> str:
        """What is wrong with its rank's output; empty if nothing."""
        return str(self.body.get("complaint") or "")

    @property
    def finds_fault(self) -> bool:
        """Whether it complained or failed, so that the others may wait in vain."""
        return bool(self.complaint) or self.body["op"] == "broken"


@dataclass(frozen=True)
class RankQuestion:
    """A question for all ranks; only the examiner's latest one can be judged."""

    examiner: "RankExaminer"
    given: Shares

    def work_out(self) -> None:
        """See `Question`."""
        self.examiner.work_out()

    def max_output_bytes(self) -> int | None:
        """See `Question`: of each rank."""
        return self.examiner.max_output_bytes

    def complaint(self, output: Any) -> str:
        """See `Question`; `output` is a tuple with each rank's."""
        return self.examiner.complaint(output)


class RankExaminer:
    """One process with the problem's code for each rank, forked in the cage."""

    def __init__(self, cage: Cage, job: JobSpec, devices: tuple[JudgeDevice, ...] = ()) -> None:
        """`devices`: the judge's, one for each rank that there may be, if data and outputs lie in
        its memory."""
        self._cage = cage
        self._devices = devices
        self._lenders: list[Lender] = []
        self._vendor = job.device.vendor
        self._modules = shared_modules(job.problem)
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
        """See `Examiner`. The arguments name the `world_size`; each member adds its rank."""
        world_size = arguments["world_size"]
        if type(world_size) is not int:
            raise ProblemBroken("A case's world_size isn't a whole number.")
        self._start_members(world_size)
        self.max_output_bytes = None
        in_arena = bool(self._devices) and not by_host
        answers = self._all(
            {
                "op": "ask",
                "arguments": dict(arguments),
                "seed": global_seed,
                "arena": in_arena,
            }
        )
        parts = [received_data(one.body, one.fds, in_arena=in_arena) for one in answers]
        if in_arena:
            return RankQuestion(self, Shares(self._on_devices(parts, answers)))
        return RankQuestion(self, Shares(tuple(parts)))

    def _on_devices(self, parts: list[Encoded], answers: list[Message]) -> tuple[DeviceData, ...]:
        """Have each rank's arrays copied into the judge's memory on its device."""
        sizes = [answer.body.get("device_bytes") for answer in answers]
        given = tuple(map(on_device, self._devices, parts, sizes))
        for rank, data in enumerate(given):
            if data.piece is not None:
                self._send(rank, {"op": "fill"}, data.piece)
        self._gather()
        return given

    def work_out(self) -> None:
        """Compute the reference's answer to the latest question."""
        sizes = [received_size(message.body) for message in self._all({"op": "work_out"})]
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
                piece = value.piece if isinstance(value, DeviceData) else None
                message = {"op": "compare", "value": value.skeleton}
                self._send(rank, message, piece, buffer.fd)
        return _first(self._gather()) or _first(self._all({"op": "check"}))

    def _encoded(self, output: Any) -> Encoded:
        """Raises `UnsupportedValue`."""
        return (
            output.encoded() if isinstance(output, DeviceValue) else encode(output, self._modules)
        )

    def _send(self, rank: int, message: dict[str, Any], piece: Piece | None, *fds: int) -> None:
        """With `piece`: lend that as well."""
        lent, chunk_fds = self._lenders[rank].lend(piece) if piece is not None else ({}, ())
        try:
            self._control_channels[rank].send({**message, **lent}, [*fds, *chunk_fds])
        finally:
            close_all(list(chunk_fds))

    def terminate(self) -> None:
        """See `Examiner`."""
        self._stop_members()
        self._cage.terminate()

    def _all(self, message: dict[str, Any]) -> list[Message]:
        for channel in self._control_channels:
            channel.send(message)
        return self._gather()

    def _start_members(self, world_size: int) -> None:
        if len(self._control_channels) == world_size:
            return
        self._stop_members()
        on_cpu = self._vendor is Vendor.CPU
        order = {
            "world_size": world_size,
            "backend": "gloo" if on_cpu else "nccl",
            "meeting": f"meeting-{next(self._meetings)}",
        }
        for rank in range(world_size):
            mine, theirs = socket.socketpair()
            with theirs:
                device = "cpu" if on_cpu else f"cuda:{rank}"
                member = {**order, "rank": rank, "device": device}
                self._cage.send(member, (theirs.fileno(),))
            self._control_channels.append(Channel(mine, MAX_PROBLEM_MESSAGE_BYTES))
        self._lenders = [Lender(device.pool) for device in self._devices]
        self._gather()

    def _stop_members(self) -> None:
        """Close the channels to all members; they are ended before others are forked."""
        for channel in self._control_channels:
            channel.close()
        self._control_channels = []

    def _gather(self) -> list[Message]:
        """Every member's answer, or only those received so far once one has complained.

        Raises `ProblemBroken` if the problem's own code failed or didn't answer in time.
        """
        found: dict[int, Message] = {}
        deadline = time.monotonic() + _PATIENCE_S
        while len(found) < len(self._control_channels):
            waiting = [rank for rank in range(len(self._control_channels)) if rank not in found]
            try:
                for rank in self._ready(waiting, deadline):
                    found[rank] = Message(
                        rank, *self._control_channels[rank].receive_json(deadline)
                    )
            except ChannelError as error:
                self._stop_members()
                if any(message.finds_fault for message in found.values()):
                    break
                raise self._cause_of(error) from error
            if any(message.finds_fault for message in found.values()):
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


def _unbroken(messages: list[Message]) -> list[Message]:
    """Raises `ProblemBroken` if one is broken, unless another's complaint explains it."""
    if not any(message.complaint for message in messages):
        for message in messages:
            if message.body["op"] == "broken":
                raise broken(message.body)
    return messages


def _first(messages: list[Message]) -> str:
    return next((f"Rank {m.rank}: {m.complaint}" for m in messages if m.complaint), "")
