"""Answers that are kept as they were sent."""

from dataclasses import dataclass, field

from kernelbot.domain.versioned_cache import VersionedCache

MAX_KEPT_BYTES = 64 << 10
_KEPT = 512
"""How many answers of each kind are kept: never more than 32 MiB."""
_KEPT_OF_LISTS = 4096
"""A kilobyte each, and as much again of what it was made of."""


@dataclass(frozen=True)
class RenderedAnswers:
    """Rendered JSON with all that it was made from; it is sent again while that is the same. A
    client that waits for a verdict asks again and again, and everybody asks for the ranking."""

    submissions: VersionedCache[tuple[int, bool], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    """By the submission's number, and whether secret results are in it."""
    listed: VersionedCache[int, bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT_OF_LISTS)
    )
    """By the submission's number: its entry in a list. Most don't change between two requests."""
    listed_popcorn: VersionedCache[int, bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT_OF_LISTS)
    )
    """The same as existing clients read it."""
    standings: VersionedCache[tuple[int, str, int, int], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    """By board, device, limit and offset."""
