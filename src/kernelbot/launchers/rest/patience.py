"""For how long something has been amiss, by name and by kind of trouble."""

import time
from collections.abc import Callable


class Patience:
    """Remembers when each trouble of each was first asked about, until it is over. What was amiss
    long ago makes nothing of another kind look old."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[str, dict[str, float]] = {}

    def since(self, name: str, trouble: str) -> float:
        """Seconds since the first question about it; 0 at the first."""
        now = self._clock()
        return now - self._since.setdefault(name, {}).setdefault(trouble, now)

    def over(self, name: str, *troubles: str) -> None:
        """Forget these troubles of a job: it was seen without them, and what is amiss later begins
        anew."""
        if (known := self._since.get(name)) is not None:
            for trouble in troubles:
                known.pop(trouble, None)

    def forget(self, name: str) -> None:
        """Forget a job that isn't asked about any more."""
        self._since.pop(name, None)
