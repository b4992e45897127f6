"""When a worker believes that others are dead: not while it was silent itself."""

from collections.abc import Callable

from kernelbot.worker.moments import Moment


class OwnBeats:
    """This worker's heartbeats that were stored. While none can be, because the database is away,
    all workers are silent, and whoever comes back first would take over what the others judge.

    So a worker that was silent for half of `stale_s`, after which others take it for dead, takes
    nothing over until the others have had as long again to say that they live.
    """

    def __init__(self, stale_s: float, now: Callable[[], Moment] = Moment.now) -> None:
        self._half_s = stale_s / 2
        self._now = now
        self._last = now()
        self._silent_until: Moment | None = None
        """When its last long silence has ended; None: there was none."""

    def stored(self) -> None:
        """A heartbeat was stored just now."""
        now = self._now()
        if self._last.until_s(now) >= self._half_s:
            self._silent_until = now
        self._last = now

    @property
    def may_take_over(self) -> bool:
        """Whether what seems to be left by others is."""
        now = self._now()
        if self._last.until_s(now) >= self._half_s:
            return False
        return self._silent_until is None or self._silent_until.until_s(now) >= self._half_s
