"""What a worker counts since its start, sent along with its heartbeats."""

from collections import defaultdict


class Tally:
    """Counters by name and label."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, str], float] = defaultdict(float)

    def add(self, name: str, label: str, amount: float = 1) -> None:
        """Count one more, or `amount` more."""
        self._counts[name, label] += amount

    def counts(self) -> dict[tuple[str, str], float]:
        """All of them."""
        return dict(self._counts)
