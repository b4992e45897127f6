"""How long ago something was, although a clock may be set or the machine may sleep."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Moment:
    """A moment, by both clocks."""

    steady_s: float
    wall_s: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.monotonic(), time.time())

    def elapsed_s(self) -> float:
        """How long ago that was."""
        return self.until_s(self.now())

    def until_s(self, later: "Moment") -> float:
        """How long before another moment that was, by the clock that says longer: one of them
        stands still while this machine sleeps."""
        return max(later.steady_s - self.steady_s, later.wall_s - self.wall_s)
