"""Answers that are kept as they were sent."""

from dataclasses import dataclass, field

from kernelbot.services.recent import Recent

LONGEST_KEPT_BYTES = 64 << 10
_KEPT = 512
"""Of each kind: never more than 32 MiB."""


@dataclass(frozen=True)
class Answers:
    """JSON by what it is about, with all that it was made of; it is sent again where that is the
    same. Who waits for a verdict asks again and again, and everybody asks for the ranking."""

    submissions: Recent[tuple[int, bool], bytes] = field(default_factory=lambda: Recent(_KEPT))
    """By number, and whether secret results are in it."""
    standings: Recent[tuple[int, str, int, int], bytes] = field(
        default_factory=lambda: Recent(_KEPT)
    )
    """By board, device, limit and offset."""
