"""For how long something has been amiss, by name."""

import time


class Patience:
    """Remembers when it was first asked about each."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def since(self, name: str) -> float:
        """Seconds since the first question about it; 0 at the first."""
        now = time.monotonic()
        return now - self._since.setdefault(name, now)

    def forget(self, name: str) -> None:
        """Forget a job that isn't asked about any more."""
        self._since.pop(name, None)
