"""What measuring needs of timed calls, however they are made."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from kernelbot.harness.judge.calls.session import Session
from kernelbot.harness.timing.clocks import CacheFlusher
from kernelbot.harness.words.failures import AuthorFailure
from kernelbot.harness.words.windows import Reply
from kernelbot.protocol import Verdict

_ANSWER_S = 20.0
"""Longer than this nobody needs to lay arrays over memory, or to describe some."""


@dataclass(frozen=True)
class Several:
    """The data of calls that follow each other between the same two marks."""

    of: tuple[Any, ...]


class InputsAfterCall(Protocol):
    """Who knows what a call did to its inputs."""

    def inputs_changed(self, data: Any) -> bool:
        """Whether the last call, given `data`, left it other than it was."""


class Caller(InputsAfterCall, Protocol):
    """Makes timed calls. `data` is what a `Question` of its kind gives."""

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks, with cold caches. Raises `AuthorFailure`.

        `reuse`: the data lies where the last call's lay. If `takes_several`, there may be several
        calls: then the value is a tuple of theirs, and the window is that of all together.
        """

    def bound(self, max_bytes: int | None) -> None:
        """From now on no rank's right output has more bytes than this; None if that isn't known."""

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
def answering(session: Session) -> Iterator[None]:
    """While a runner does the harness's own part of a call: it can't sleep its phase away in that.

    Raises `AuthorFailure` if it takes too long.
    """
    deadline = session.deadline
    session.deadline = min(deadline, time.monotonic() + _ANSWER_S)
    try:
        yield
    except AuthorFailure as error:
        late = error.verdict is Verdict.TIME_LIMIT and not error.had_s
        if late and session.deadline < deadline:
            message = (
                f"Beside a timed call, the submission kept its runner for {_ANSWER_S:g} s. Return "
                "plain arrays, and let nothing that custom_kernel started go on."
            )
            raise AuthorFailure(Verdict.TIME_LIMIT, message) from error
        raise
    finally:
        session.deadline = deadline
