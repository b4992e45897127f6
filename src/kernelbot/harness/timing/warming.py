"""When a GPU is warm: its clocks rise for a while once it has work, and times fall with them."""

_WINDOW = 5
_LESS = 0.98
LONGEST_S = 1.0
"""Nobody waits longer for clocks, whatever the times do."""


class Warming:
    """The times of calls so far."""

    def __init__(self) -> None:
        self._times_ns: list[float] = []

    def add(self, time_ns: float) -> None:
        """Add the time of one more call."""
        self._times_ns.append(time_ns)

    @property
    def is_over(self) -> bool:
        """Whether the latest calls were no faster than those before, by more than noise."""
        before, latest = self._times_ns[:-_WINDOW], self._times_ns[-_WINDOW:]
        return len(before) >= _WINDOW and min(latest) >= _LESS * min(before)
