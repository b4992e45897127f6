"""A judge's turns to measure on its machine. It asks its host for each, and has it while it times
one workload on a CPU: building, loading and tests need none, and a GPU has a lock of its own."""

import contextlib
from collections.abc import Callable, Iterator

from kernelbot.harness.judge.collected import Collected
from kernelbot.harness.judge.host_messages import TurnAnswer
from kernelbot.protocol import Phase


class MeasuringTurn:
    """The turns of one job."""

    def __init__(
        self,
        ask: Callable[[Phase], TurnAnswer],
        release: Callable[[], None],
        *,
        is_needed: bool = True,
    ) -> None:
        """`ask`: returns once the job may measure; `release`: called when it doesn't any more.
        `is_needed`: False if the job measures wherever and whenever it runs."""
        self._is_needed = is_needed
        self._ask = ask
        self._release = release
        self.waited_s = 0.0
        """How long others measured; none of this job's own time."""
        self._note = ""
        self.is_wanted = True
        """Whether calls that wait for others are to be noticed: not where all measure beside each
        other on purpose."""

    @contextlib.contextmanager
    def held(self, phase: Phase) -> Iterator[float]:
        """Measure in this block; how many seconds the job has waited for that."""
        if not self._is_needed:
            yield 0.0
            return
        answer = self._ask(phase)
        self.waited_s += answer.waited_s
        self._note = answer.note or self._note
        self.is_wanted = answer.wanted
        try:
            yield answer.waited_s
        finally:
            self._release()

    def tell(self, collected: Collected) -> None:
        """Add how long the job has waited, and why it didn't measure alone."""
        if self.waited_s:
            collected.timings["turn_wait"] = self.waited_s
        if self._note:
            collected.notes.append(self._note)


def no_turn() -> MeasuringTurn:
    """For what measures wherever and whenever it runs."""
    return MeasuringTurn(lambda _phase: TurnAnswer(0.0), lambda: None, is_needed=False)
