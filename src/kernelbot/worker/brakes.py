"""Whether a worker begins runs of a device by a launcher: what became of the last ones decides.

A launcher that says that a device is available can be wrong: what all of the device's jobs meet (a
token that may not write any more, a reservation that has ended, one broken node) is seen only by
jobs. Without a brake each run that waits would use up its attempts there within seconds.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from structlog.typing import WrappedLogger

FIRST_S = 30.0
"""How long no run is begun at first; each time in a row twice as long."""
LONGEST_S = 600.0
LOSSES = 3
"""So many runs lost in a row say something of the device."""


@dataclass
class _Closed:
    """No run is begun before `until`; then one is tried."""

    why: str
    is_full: bool
    until: float
    pause_s: float
    probe: int | None = None
    """The attempt that is tried."""
    refused_at: float = 0.0
    """Full: when there was no room last."""
    eased: bool = False
    """Full: the last job that was tried was taken."""


class Brake:
    """One launcher's device. `on_change` is called when it begins or ends to hold runs back.

    Closed by losses or a refusal, it opens with a verdict. Closed because the scheduler has no
    room, it lets runs through one after the other, for as long as each is taken.
    """

    def __init__(
        self,
        log: WrappedLogger,
        on_change: Callable[[], None],
        *,
        one_machine: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`one_machine`: all jobs end together with their machine, which is one loss."""
        self._log = log
        self._on_change = on_change
        self._one_machine = one_machine
        self._clock = clock
        self._closed: _Closed | None = None
        self._lost: set[int] = set()
        """The runs whose attempts were lost since the last verdict."""
        self._lost_at = float("-inf")
        """When an attempt was lost that counted."""
        self._begun: dict[int, float] = {}
        """Since when there are attempts that had to be launched."""
        self._taken: set[int] = set()
        """Those whose jobs the scheduler has, or had."""

    @property
    def is_open(self) -> bool:
        """Whether a run may be begun now."""
        closed = self._closed
        return closed is None or (closed.probe is None and self._clock() >= closed.until)

    @property
    def why_not(self) -> str:
        """Why the device isn't available; empty: it is."""
        closed = self._closed
        if closed is None or self.is_open or (closed.eased and self._clock() >= closed.until):
            return ""
        return closed.why

    def begun(self, attempt: int) -> None:
        """An attempt was begun, and will be launched. Then no other is, if it is a trial."""
        self._begun[attempt] = self._clock()
        if self._closed is not None and self._closed.probe is None:
            self._closed.probe = attempt
            self._on_change()

    def taken(self, attempt: int) -> None:
        """The scheduler has the attempt's job."""
        self._taken.add(attempt)
        closed = self._closed
        if closed is None or not closed.is_full or closed.probe != attempt:
            return
        if self._clock() - closed.refused_at > LONGEST_S:
            self._open()
            return
        closed.probe, closed.eased, closed.pause_s = None, True, FIRST_S
        self._on_change()

    def over(self, attempt: int) -> None:
        """The attempt is at its end, whatever that was. Again: nothing."""
        self._begun.pop(attempt, None)
        was_taken = attempt in self._taken
        self._taken.discard(attempt)
        closed = self._closed
        if closed is None:
            return
        if closed.probe == attempt:
            closed.probe = None
            self._on_change()
        if closed.is_full and was_taken:
            closed.until = self._clock()  # there may be room for another
            self._on_change()

    def judged(self) -> None:
        """A job has come to its verdict."""
        self._lost.clear()
        if self._closed is not None and not self._closed.is_full:
            self._open()

    def full(self, attempt: int, why: str) -> None:
        """The scheduler had no room for the attempt's job."""
        closed = self._closed
        if closed is None:
            closed = self._close(why, is_full=True)
        elif closed.probe == attempt:
            self._pause_again(closed, closed.why if not closed.is_full else why)
        closed.refused_at, closed.eased = self._clock(), False

    def refused(self, attempt: int, why: str) -> bool:
        """The scheduler didn't take what all jobs of the device ask for. Whether that counts as a
        loss of the run: not while the brake holds runs back."""
        if not self._is_held(attempt, why):
            self._close(why)
            return True
        return False

    def lost(self, attempt: int, run: int, why: str) -> bool:
        """An attempt was lost to the platform or the scheduler. Returns what `refused` does."""
        if self._is_held(attempt, why):
            return False
        now = self._clock()
        if self._one_machine and self._begun.get(attempt, now) <= self._lost_at:
            return True  # together with the one before
        self._lost_at = now
        self._lost.add(run)
        if len(self._lost) >= LOSSES:
            self._close(f"the last {LOSSES} runs were lost: {why}")
        return True

    def _is_held(self, attempt: int, why: str) -> bool:
        closed = self._closed
        if closed is None or closed.is_full:
            return False
        if closed.probe == attempt:
            self._pause_again(closed, why)
        return True

    def _close(self, why: str, *, is_full: bool = False) -> _Closed:
        self._closed = _Closed(why, is_full, self._clock() + FIRST_S, FIRST_S)
        self._log.warning("runs_held_back", reason=why, for_s=FIRST_S)
        self._on_change()
        return self._closed

    def _pause_again(self, closed: _Closed, why: str) -> None:
        closed.why, closed.probe = why, None
        closed.pause_s = min(closed.pause_s * 2, LONGEST_S)
        closed.until = self._clock() + closed.pause_s
        self._log.warning("runs_held_back", reason=why, for_s=closed.pause_s)
        self._on_change()

    def _open(self) -> None:
        self._closed = None
        self._log.info("runs_begin_again")
        self._on_change()
