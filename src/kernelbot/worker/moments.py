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
        """How long ago that was, by the one that says longer: one of them stands still while this
        machine sleeps."""
        now = self.now()
        return max(now.steady_s - self.steady_s, now.wall_s - self.wall_s)
