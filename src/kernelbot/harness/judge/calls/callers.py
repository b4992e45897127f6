"""What testing and measuring need of a runner, or of one runner per rank."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from kernelbot.harness.data.encode import Encoded
from kernelbot.harness.judge.calls.arenas import Arenas
from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.sandbox.runner_tree import RunnerTree
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.runner_messages import Done, RunnerReply
from kernelbot.harness.words.windows import Ending, Reply
from kernelbot.protocol import SourceFile, Verdict

R = TypeVar("R", bound=RunnerReply)
_ANSWER_S = 20.0
"""Longer than this nobody needs to lay arrays over memory, or to describe some."""


@dataclass(frozen=True)
class Several:
    """The data of calls that follow each other between the same two marks."""

    of: tuple[Any, ...]


class Inputs(Protocol):
    """Who knows what a call did to its inputs."""

    def inputs_changed(self, data: Any) -> bool:
        """Whether the last call, given `data`, left it other than it was."""


class Conversation(Inputs, Protocol):
    """One runner's life, or that of all ranks together. Every wait ends by `deadline`."""

    deadline: float

    def setup(
        self,
        files: tuple[SourceFile, ...],
        device: str,
        fresh_output: bool,
        outputs: tuple[int, ...] | None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Hand over the problem's shared files, before any code of the author's.

        `outputs`: of a compiled problem, which leaves are outputs; None for Python. `meanwhile`: is
        done while the other side gets ready, which takes some tenths of a second with a GPU.
        """

    def load(self, submission: SourceFile, name: str, builds: bytes = b"") -> None:
        """Import the author's file, beside what `builds` found. Raises `AuthorFailure`."""

    def load_library(
        self, binary: bytes, outputs: tuple[int, ...], *, emulates: bool = False
    ) -> None:
        """Load the author's shared object. Raises `AuthorFailure`. `emulates`: the processor runs
        its CUDA kernels."""

    def builds(self) -> bytes:
        """What the submission has compiled for itself; empty if there is nothing."""

    def call(self, data: Any, max_bytes: int | None = None) -> Reply:
        """One untimed call. Raises `AuthorFailure`, also if an output has more bytes than
        `max_bytes`, if that is known: then none of them is read."""

    def profile(self, data: Any) -> tuple[str, bytes]:
        """A table and a gzipped trace (maybe empty): the author's word."""

    def terminate(self) -> None:
        """Begin to end it, once its text buffers are flushed; `abort` then waits for less."""

    def abort(self) -> Ending:
        """Kill all of it, and return once it is gone. Harmless when repeated."""


class Runners(Conversation, Protocol):
    """What timed calls need of one runner, or of all ranks together."""

    @property
    def has_arenas(self) -> bool:
        """Whether data and outputs lie in the judge's memory on the devices."""

    @property
    def arenas(self) -> Arenas:
        """That memory, of the runners that there are. Only if `has_arenas`."""

    @property
    def sessions(self) -> tuple[Session, ...]:
        """One for each runner that there is, in the order of their ranks."""

    def parts(self, data: Any) -> tuple[Encoded, ...]:
        """The data of each runner; afterwards there are as many runners as parts."""

    def gather(self, wanted: type[R]) -> list[R]:
        """What each runner says next, which is to be `wanted`. Raises `AuthorFailure`."""

    def check(self) -> None:
        """Raise `AuthorFailure` if a runner is dead or printed too much, or the time is up."""

    def tree(self) -> RunnerTree:
        """All processes of all runners: they freeze together."""

    def tree_cpu_ns(self) -> int:
        """Processor time so far of all of them."""

    def naming(self, rank: int) -> AbstractContextManager[None]:
        """Within, say of a failure which rank it was, if there are several."""

    def together(self, replies: Sequence[Reply]) -> Reply:
        """The outcomes of all runners as one."""


class Caller(Inputs, Protocol):
    """Makes timed calls. `data` is what a `Question` of its kind gives."""

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks, with cold caches. Raises `AuthorFailure`.

        `reuse`: the data lies where the last call's lay. If `takes_several`, there may be several
        calls: then the value is a tuple of theirs, and the window is that of all together.
        """

    @property
    def takes_several(self) -> bool:
        """Whether data may be `Several`."""

    def hold(self) -> None:
        """Stop the runner until the next call, so that nothing of it can disturb others."""

    def release(self) -> None:
        """Let the runner go on: no further call follows at once."""

    def close(self) -> None:
        """Give back what the calls needed."""


@contextmanager
def answering(conversation: Conversation) -> Iterator[None]:
    """While a runner does the harness's own part of a call: it can't sleep its phase away in that.

    Raises `AuthorFailure` if it takes too long.
    """
    deadline = conversation.deadline
    conversation.deadline = min(deadline, time.monotonic() + _ANSWER_S)
    try:
        yield
    except AuthorFailure as error:
        if error.verdict is Verdict.TIME_LIMIT and conversation.deadline < deadline:
            message = (
                f"Beside a timed call, the submission kept its runner for {_ANSWER_S:g} s. Return "
                "plain arrays, and let nothing that custom_kernel started go on."
            )
            raise AuthorFailure(Verdict.TIME_LIMIT, message) from error
        raise
    finally:
        conversation.deadline = deadline


def outcomes(
    runners: Runners,
    answers: Sequence[Done],
    probes: Sequence[list[int]],
    max_bytes: int | None = None,
) -> list[Reply]:
    """What the answers to a call come to. Raises `AuthorFailure`.

    `max_bytes`: of each right output.
    """
    found = []
    for rank, (answer, places) in enumerate(zip(answers, probes, strict=True)):
        with runners.naming(rank):
            found.append(runners.sessions[rank].outcome(answer, places, max_bytes))
    return found
