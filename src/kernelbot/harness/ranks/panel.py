"""Asks questions for several ranks: the problem's code runs in as many trusted processes."""

import contextlib
import ctypes
import os
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from kernelbot.harness.channel import Channel, ChannelError, wait_for_any
from kernelbot.harness.memory import SharedBuffer
from kernelbot.harness.problem import ProblemBroken
from kernelbot.harness.ranks.member import run_nursery
from kernelbot.harness.ranks.shares import Shares
from kernelbot.harness.values import Encoded, Leaf, UnsupportedValue, encode, leaf_sizes
from kernelbot.protocol import CaseValue, ProblemSpec, Vendor

_PATIENCE_S = 120.0
_GRACE_S = 1.0
"""Once one rank has found fault, others may wait for it in a collective that it never joins."""
_LANE_BYTES = 64 << 20


@dataclass(frozen=True)
class Message:
    """A member's answer."""

    rank: int
    body: dict[str, Any]
    fds: list[int]

    @property
    def complaint(self) -> str:
        """What it finds wrong with its rank's output."""
        return str(self.body.get("complaint") or "")

    @property
    def finds_fault(self) -> bool:
        """Whether the others may have waited in vain since."""
        return bool(self.complaint) or self.body["op"] == "broken"


@dataclass(frozen=True)
class RankQuestion:
    """A question for all ranks; only the panel's latest one can be judged."""

    panel: "Panel"
    given: Shares

    def work_out(self) -> None:
        """See `Question`."""
        self.panel.work_out()

    def complaint(self, output: Any) -> str:
        """See `Question`; `output` is a tuple with each rank's."""
        return self.panel.complaint(output)


class Panel:
    """A trusted process for each rank. Use `convened`."""

    def __init__(
        self, nursery: Channel, folder: str, vendor: Vendor, modules: frozenset[str]
    ) -> None:
        """`nursery` forks the members; `folder` is theirs and ours alone."""
        self._nursery = nursery
        self._folder = folder
        self._vendor = vendor
        self._modules = modules
        self._lanes: list[Channel] = []
        self._meetings = count()

    def ask(self, arguments: Mapping[str, CaseValue], global_seed: int | None) -> RankQuestion:
        """See `Examiner`. The arguments name the `world_size`; each member adds its rank."""
        world_size = arguments["world_size"]
        if type(world_size) is not int:
            raise ProblemBroken("A case's world_size isn't a whole number.")
        self._seat(world_size)
        message = {"op": "ask", "arguments": dict(arguments), "seed": global_seed}
        for lane in self._lanes:
            lane.send(message)
        parts = [_part(message) for message in self._gather()]
        return RankQuestion(self, Shares(tuple(parts)))

    def work_out(self) -> None:
        """Have the reference's answer of the latest question."""
        self._all({"op": "work_out"})

    def complaint(self, outputs: tuple[Any, ...]) -> str:
        """The first rank's complaint, named; empty when all are right."""
        self.work_out()
        encoded = []
        for rank, output in enumerate(outputs):
            try:
                encoded.append(encode(output, self._modules))
            except UnsupportedValue as error:
                return f"Rank {rank}: the output is {error}."
        for lane, value in zip(self._lanes, encoded, strict=True):
            with contextlib.closing(SharedBuffer.create(value.size_bytes)) as buffer:
                value.copy_to(buffer)
                lane.send({"op": "compare", "value": value.skeleton}, [buffer.fd])
        return _first(self._gather()) or _first(self._all({"op": "check"}))

    def close(self) -> None:
        """End all members."""
        for lane in (*self._lanes, self._nursery):
            lane.close()
        self._lanes = []

    def _all(self, message: dict[str, Any]) -> list[Message]:
        for lane in self._lanes:
            lane.send(message)
        return self._gather()

    def _seat(self, world_size: int) -> None:
        if len(self._lanes) == world_size:
            return
        self._unseat()
        on_cpu = self._vendor is Vendor.CPU
        order = {
            "world_size": world_size,
            "backend": "gloo" if on_cpu else "nccl",
            "meeting": Path(self._folder, f"meeting-{next(self._meetings)}").as_uri(),
        }
        for rank in range(world_size):
            mine, theirs = socket.socketpair()
            with theirs:
                device = "cpu" if on_cpu else f"cuda:{rank}"
                seat = {**order, "rank": rank, "device": device}
                self._nursery.send(seat, [theirs.fileno()])
            self._lanes.append(Channel(mine, _LANE_BYTES))
        self._gather()

    def _unseat(self) -> None:
        """Hang up on all members; the nursery ends them before it forks others."""
        for lane in self._lanes:
            lane.close()
        self._lanes = []

    def _gather(self) -> list[Message]:
        """Every member's answer, or only those that there are once one has found fault.

        Raises `ProblemBroken` where the problem's own code failed, or fell silent.
        """
        found: dict[int, Message] = {}
        deadline = time.monotonic() + _PATIENCE_S
        while len(found) < len(self._lanes):
            waiting = [rank for rank in range(len(self._lanes)) if rank not in found]
            try:
                for rank in self._ready(waiting, deadline):
                    found[rank] = Message(rank, *self._lanes[rank].receive(deadline))
            except ChannelError as error:
                self._unseat()
                if any(message.finds_fault for message in found.values()):
                    break
                raise ProblemBroken(f"A rank of the problem's reference ended: {error}") from error
            if any(message.finds_fault for message in found.values()):
                deadline = min(deadline, time.monotonic() + _GRACE_S)
        return _unbroken([found[rank] for rank in sorted(found)])

    def _ready(self, waiting: list[int], deadline: float) -> list[int]:
        lanes = [self._lanes[rank] for rank in waiting]
        ready = wait_for_any(lanes, deadline)
        return [rank for rank, lane in zip(waiting, lanes, strict=True) if lane in ready]


def _unbroken(messages: list[Message]) -> list[Message]:
    """Raises `ProblemBroken` where one is broken, unless another's complaint explains it."""
    if not any(message.complaint for message in messages):
        for message in messages:
            if message.body["op"] == "broken":
                raise ProblemBroken(str(message.body["text"]))
    return messages


def _first(messages: list[Message]) -> str:
    return next((f"Rank {m.rank}: {m.complaint}" for m in messages if m.complaint), "")


def _part(message: Message) -> Encoded:
    """A member's data, copied from the memory that it came in."""
    buffer = SharedBuffer.attach(message.fds[0])
    skeleton = message.body["data"]
    kept = ctypes.create_string_buffer(buffer.read(0, buffer.size_bytes), buffer.size_bytes)
    size_bytes = buffer.size_bytes
    buffer.close()
    start = ctypes.addressof(kept)
    stretches = leaf_sizes(skeleton)
    leaves = tuple(Leaf(start + offset, size, offset, kept) for offset, size in stretches)
    return Encoded(skeleton, leaves, size_bytes)


@contextlib.contextmanager
def convened(spec: ProblemSpec, vendor: Vendor, modules: frozenset[str]) -> Iterator[Panel]:
    """A panel for as long as the context lasts. To be entered before anything starts a thread."""
    with tempfile.TemporaryDirectory(prefix="kernelbot-ranks-") as folder:
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            mine.close()
            run_nursery(Channel(theirs), spec, folder)
        theirs.close()
        panel = Panel(Channel(mine), folder, vendor, modules)
        try:
            yield panel
        finally:
            panel.close()
            os.waitpid(pid, 0)
