"""What whoever tests and measures needs of a runner, or of as many as a problem has ranks."""

from typing import Any, Protocol

from kernelbot.harness.clocks import CacheFlusher
from kernelbot.harness.windows import Ending, Reply
from kernelbot.protocol import SourceFile


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
    ) -> None:
        """Hand over the problem's shared files, before any code of the author's.

        `outputs`: of a compiled problem, which leaves are outputs; None for Python.
        """

    def load(self, submission: SourceFile, name: str, builds: bytes = b"") -> None:
        """Import the author's file, beside what `builds` found. Raises `AuthorFailure`."""

    def load_library(self, binary: bytes, outputs: tuple[int, ...]) -> None:
        """Load the author's shared object. Raises `AuthorFailure`."""

    def builds(self) -> bytes:
        """What the submission has compiled for itself; empty where there is nothing."""

    def call(self, data: Any) -> Reply:
        """One untimed call. Raises `AuthorFailure`."""

    def profile(self, data: Any) -> tuple[str, bytes]:
        """A table and a gzipped trace (maybe empty): the author's word."""

    def strike(self) -> None:
        """Begin to end it, once its text buffers are flushed; `abort` then waits for less."""

    def abort(self) -> Ending:
        """Kill all of it, and return once it is gone. Harmless when repeated."""


class Caller(Inputs, Protocol):
    """Makes timed calls. `data` is what a `Question` of its kind gives."""

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """One call between the judge's clocks, with cold caches. Raises `AuthorFailure`.

        `reuse`: the data lies where the last call's lay.
        """

    def hold(self) -> None:
        """Stop the runner until the next call, so that nothing of it can disturb others."""

    def release(self) -> None:
        """Let the runner go on: no further call follows at once."""

    def close(self) -> None:
        """Give back what the calls needed."""


class TimedInputs(Inputs, Protocol):
    """What makes timed calls by itself."""

    def timed_call(
        self, data: Any, flusher: CacheFlusher | None, reuse: bool, kernel: str = "author"
    ) -> Reply:
        """See `Caller`."""


class CopyingCaller:
    """Timed calls of a session that copies data and output: nothing can be held still on a GPU."""

    def __init__(self, session: TimedInputs) -> None:
        self.timed_call = session.timed_call
        self.inputs_changed = session.inputs_changed

    def hold(self) -> None:
        """Nothing to stop."""

    def release(self) -> None:
        """Nothing was stopped."""

    def close(self) -> None:
        """The session has all there is."""
