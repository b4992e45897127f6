"""The host's side of a job's turns to measure: it waits, and says so."""

import contextlib
from collections.abc import Callable

from kernelbot.harness.judge.host_messages import TurnAnswer
from kernelbot.harness.timing.turns import Turns
from kernelbot.protocol import EventKind, Phase, ProgressEvent


class JobTurn:
    """The turns of one job, one after another."""

    def __init__(
        self, turns: Turns, emit: Callable[[ProgressEvent], None], given_up: Callable[[], bool]
    ) -> None:
        self._turns = turns
        self._emit = emit
        self._given_up = given_up
        self._left_s = turns.wait_s
        self._held = contextlib.ExitStack()

    def take(self, phase: Phase) -> TurnAnswer:
        """Return once the job may measure; all waits of a job together are bounded."""
        self.release()
        told = False

        def tell() -> None:
            nonlocal told
            told = True
            self._emit(ProgressEvent(EventKind.WAITING, phase=phase))

        turn = self._turns.take(self._left_s, tell, self._given_up)
        self._held.callback(turn.release)
        self._left_s -= turn.waited_s
        if told:
            self._emit(ProgressEvent(EventKind.WAITED, phase=phase, duration_s=turn.waited_s))
        return TurnAnswer(turn.waited_s, turn.note, turn.wanted)

    def release(self) -> None:
        """Let others measure."""
        self._held.close()
