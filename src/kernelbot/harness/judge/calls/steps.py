"""Calls step by step, with one runner or with one for each rank: all but those that are timed on a
CPU.

Every step is taken with all ranks before the next: no rank's kernel is called before all data is
complete, and what one rank's kernel writes into another's arena is in time until the last rank has
returned, which is when the time of all of them ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.words import runner_messages as messages
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.windows import Reply

if TYPE_CHECKING:
    from kernelbot.harness.judge.calls.session import Session


class CallBuffers(Protocol):
    """The memory of one runner's calls: see `arena_buffers` and `copy_buffers`."""

    @property
    def returned(self) -> type[messages.RunnerReply]:
        """What the runner says once its kernel has returned."""

    @property
    def described(self) -> type[messages.RunnerReply]:
        """What it says of its output in the end."""

    def lay(self, data: Encoded, kernel: str, *, reuse: bool) -> None:
        """Have the runner get a call ready, `reuse`: with data where the last one's lay."""

    def go_at_once(self, data: Encoded, kernel: str, inputs: bool) -> bool:
        """Have a single rank's call made that isn't timed, with data that is complete before the
        runner hears of it; `inputs`: they are described with the output. False, and nothing is
        done, if this memory needs the steps from `lay` to `go`."""

    def begin_to_fill(self, data: Encoded, *, cold: bool) -> None:
        """Begin to write the data; if `cold`, but for some of it, and to flush caches."""

    def begin_to_complete(self, data: Encoded) -> None:
        """Begin to write what is missing."""

    def wait(self) -> None:
        """Wait until what was begun is done."""

    def go(self) -> None:
        """Have the kernel called."""

    def begin_to_secure(self, reply: Any, max_bytes: int | None) -> Any:
        """Begin to copy an output, by what was `returned`. Raises `AuthorFailure`."""

    def forget(self) -> None:
        """The output is of no use."""

    def ask_for_description(self) -> None:
        """Have the runner say what its output is."""

    def value(self, secured: Any, reply: Any) -> Reply:
        """What a call came to, by what was `described`. Raises `AuthorFailure`."""

    def compare_inputs(self, data: Encoded) -> None:
        """Compare the inputs before the runner goes on, if that can be done."""

    def inputs_changed(self, data: Encoded) -> bool:
        """Whether the last call left its inputs other than they were."""

    def close(self) -> None:
        """Give the memory back."""


@dataclass(frozen=True)
class CallSteps:
    """The calls of all runners of a session, in the order of their ranks."""

    session: "Session"
    buffers: tuple[CallBuffers, ...]

    def lay(self, parts: Sequence[Encoded], kernel: str, *, reuse: bool) -> None:
        """Have all runners get a call ready. Raises `AuthorFailure`."""
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.lay(part, kernel, reuse=reuse)
        self.session.gather(messages.IsReady)

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
        for rank in self.session.ranks:
            with self.session.naming(rank.number):
                rank.expect_silence()

    def call(self, max_bytes: int | None = None) -> list[Any]:
        """Have all kernels called, and all outputs copied that can be before they are described.
        Raises `AuthorFailure`, also if one has more bytes than `max_bytes`, and `GpuError`; the
        runners can go on if the failure isn't fatal."""
        for buffers in self.buffers:
            buffers.go()
        return self._returned(max_bytes)

    def call_untimed(
        self, parts: Sequence[Encoded], max_bytes: int | None, *, inputs: bool
    ) -> list[Any]:
        """All until the outputs are copied, of a call that isn't timed. `inputs`: whether they will
        be asked for. Raises as the steps do."""
        first = self.buffers[0]
        if len(parts) == 1 and first.go_at_once(parts[0], "author", inputs):
            return self._returned(max_bytes)
        self.lay(parts, "author", reuse=False)
        self.reveal(parts, cold=False)
        return self.call(max_bytes)

    def _returned(self, max_bytes: int | None) -> list[Any]:
        answers = self.session.gather(self.buffers[0].returned)
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
        """Compare all inputs that can be compared before the runners go on."""
        for buffers, part in zip(self.buffers, parts, strict=True):
            buffers.compare_inputs(part)

    def values(self, secured: Sequence[Any]) -> list[Reply]:
        """What the calls came to. Raises `AuthorFailure`."""
        for buffers in self.buffers:
            buffers.ask_for_description()
        found = []
        described = self.session.gather(self.buffers[0].described)
        for rank, (buffers, copied) in enumerate(zip(self.buffers, secured, strict=True)):
            with self.session.naming(rank):
                found.append(buffers.value(copied, described[rank]))
        return found

    def _wait(self) -> None:
        for buffers in self.buffers:
            buffers.wait()

    def _forget(self) -> None:
        self._wait()
        for buffers in self.buffers:
            buffers.forget()
