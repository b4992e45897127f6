"""What a worker counts since its start, sent along with its heartbeats."""

from collections import Counter


class Tally:
    """Counters by name and label."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, name: str, label: str, amount: float = 1) -> None:
        """Count one more, or `amount` more."""
        self._counts[name, label] += amount  # type: ignore[assignment]  # Counter adds floats well

    def counts(self) -> dict[tuple[str, str], float]:
        """All of them."""
        return dict(self._counts)
