"""Calls on GPUs step by step, with one runner or with one for each rank.

Every step is taken with all ranks before the next: no rank's kernel is called before all data is
complete, and what one rank's kernel writes into another's arena is in time until the last rank has
returned, which is when the time of all of them ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.judge.calls.arena_buffers import ArenaBuffers, Secured
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.windows import Reply

if TYPE_CHECKING:
    from kernelbot.harness.judge.calls.session import Session


@dataclass(frozen=True)
class Arenas:
    """The memory of all runners' calls, in the order of their ranks."""

    session: "Session"
    buffers: tuple[ArenaBuffers, ...]

    def lay(self, parts: Sequence[Encoded], kernel: str, *, reuse: bool) -> None:
        """Calls `ArenaBuffers.lay`; all runners will say `ready`."""
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.lay(part, kernel, reuse=reuse)

    def reveal(self, parts: Sequence[Encoded], *, cold: bool) -> None:
        """Fill all input arenas, and flush the caches before their last places if `cold`. Raises
        `GpuError`, and `AuthorFailure` if a runner has answered already."""
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.begin_to_fill(part, cold=cold)
        if len(self.buffers) > 1:  # else some would see their data while others' caches are flushed
            self._wait()
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.begin_to_complete(part)
        self._wait()
        for rank, buffers in enumerate(self.buffers):
            with self.session.naming(rank):
                buffers.expect_silence()

    def go(self) -> None:
        """Have all kernels called; all runners will say `returned`."""
        for buffers in self.buffers:
            buffers.go()

    def secure(
        self, answers: Sequence[messages.ReturnedInArena], max_bytes: int | None = None
    ) -> list[Secured]:
        """Copy all outputs. Raises as `ArenaBuffers.begin_to_secure`; the runners can go on if the
        failure isn't fatal."""
        found = []
        try:
            for rank, (buffers, answer) in enumerate(zip(self.buffers, answers, strict=True)):
                with self.session.naming(rank):
                    found.append(buffers.begin_to_secure(answer, max_bytes))
        except AuthorFailure as error:
            if not error.fatal:
                self._forget()
            raise
        self._wait()
        return found

    def compare_inputs(self, parts: Sequence[Encoded]) -> None:
        """Calls `ArenaBuffers.compare_inputs`."""
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.compare_inputs(part)

    def values(self, secured: Sequence[Secured]) -> list[Reply]:
        """What the calls came to. Raises `AuthorFailure`."""
        for buffers in self.buffers:
            buffers.ask_for_description()
        found = []
        described = self.session.gather(messages.Described)
        for rank, (buffers, copied) in enumerate(zip(self.buffers, secured, strict=True)):
            with self.session.naming(rank):
                found.append(buffers.value(copied, described[rank]))
        return found

    def call(self, parts: Sequence[Encoded], max_bytes: int | None) -> list[Reply]:
        """One untimed call of each runner. Raises `AuthorFailure`, `GpuError`."""
        self.lay(parts, "author", reuse=False)
        self.session.gather(messages.IsReady)
        self.reveal(parts, cold=False)
        self.go()
        return self.values(self.secure(self.session.gather(messages.ReturnedInArena), max_bytes))

    def _wait(self) -> None:
        for buffers in self.buffers:
            buffers.wait()

    def _forget(self) -> None:
        self._wait()
        for buffers in self.buffers:
            buffers.forget()
