"""What the launcher asks of Modal."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kernelbot.protocol import Fault

Arguments = tuple[str, str, str, bool] | tuple[str, str, str, bool, float, float]
"""What the deployed functions take: attempt, payload, the link for progress or nothing, whether a
job without a sandbox is judged. And if the harness's host stays for the container's next call: how
long it waits for one, and after how long it takes no more, in seconds."""


class CallStage(StrEnum):
    """How far a call's function has got, by its own word."""

    SPAWNED = "spawned"
    BEGUN = "begun"
    DONE = "done"


@dataclass(frozen=True)
class CallEntry:
    """What the Dict has of an attempt: the one call that judges it, and how far that is."""

    call_id: str
    stage: CallStage


@dataclass(frozen=True)
class Over:
    """A call that has ended. `answer` is what its function returned, unread; `reason` is empty, or
    says why it returned nothing, and `fault` whose failure that was."""

    answer: object = None
    reason: str = ""
    fault: Fault = Fault.SCHEDULER


class Calls(Protocol):
    """All of it may raise `SchedulerError`: Modal can't be asked just now, or answers nonsense."""

    async def prepare(self) -> None:
        """Make the Dict, if there is none."""

    async def spawn(self, function: str, arguments: Arguments) -> str:
        """Call a function; the call's id. Raises `DeviceRefused` if there is no such function."""

    async def outcome(self, call_id: str) -> Over | None:
        """None: it hasn't ended."""

    async def cancel(self, call_id: str, *, with_container: bool) -> None:
        """End a call, and the container that runs it or only the function in it. Of what has ended
        or isn't known nothing is left to do."""

    async def stats(self, function: str) -> str | None:
        """Why the function can't be called; None: it can."""

    async def keep(self, attempt: str, call_id: str) -> bool:
        """Write down that this call judges the attempt; False: another one does, or it does and
        was written down before."""

    async def entry(self, attempt: str) -> CallEntry | None:
        """The entry of one attempt."""

    async def entries(self) -> Mapping[str, CallEntry]:
        """The entries of all attempts, with one request."""

    async def remove(self, attempt: str) -> None:
        """Forget which call it was."""
