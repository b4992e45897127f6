"""Answers that are kept as they were sent."""

from dataclasses import dataclass, field

from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.submissions.lists import OwnPage

MAX_KEPT_BYTES = 64 << 10
_KEPT_PAGES = 256
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
    rankings: VersionedCache[tuple[str, bytes], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    """The same by board and query as they stand in a request, by the stamp of the board's
    rankings."""
    own: VersionedCache[str, bytes] = field(default_factory=lambda: VersionedCache(_KEPT))
    """By the submission's number as it stands in a path: the same for its author, by what one look
    finds of it."""
    own_pages: VersionedCache[tuple[int, bytes], bytes] = field(
        default_factory=lambda: VersionedCache(_KEPT_PAGES)
    )
    """By the account and the query: a page of its own submissions, in the same way."""
    pages_asked: VersionedCache[bytes, OwnPage] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    """By the query: which page it asks for."""
    pages_seen: VersionedCache[tuple[bytes, bytes], OwnerLook] = field(
        default_factory=lambda: VersionedCache(_KEPT)
    )
    """By the token's hash and the query: what the last look found of the page."""
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
