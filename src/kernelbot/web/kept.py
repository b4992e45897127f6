"""What pages are made of and is kept: it would be the same the next time."""

from dataclasses import dataclass, field

from fastapi import Request
from markupsafe import Markup

from kernelbot.boards.model import BoardProblem
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.ranking.service import RankingVersion

_TABLES = 256
"""Most entries, of 30 kB each: never more than 8 MiB."""
_PROBLEMS = 64


@dataclass(frozen=True)
class StandingsTable:
    """A page of a ranking as HTML, as everybody sees it who isn't in it."""

    html: Markup
    rows: int
    authors: frozenset[int]
    first: tuple[str, ...]
    """The names of the first of the ranking."""
    names: tuple[str, ...]
    """The names of the authors in the table."""
    best_s: float | None
    """The leader's score; None: there is none."""
    has_shared_ranks: bool


@dataclass(frozen=True)
class WrittenProblem:
    """A problem's texts as HTML. `files`: name, HTML, and whether all of it is shown."""

    problem: BoardProblem
    statement: Markup
    files: tuple[tuple[str, Markup, bool], ...]


@dataclass(frozen=True)
class PageCache:
    """Kept for as long as the ranking is the same; of a problem's version, for ever."""

    tables: VersionedCache[tuple[int, str, int, bool], StandingsTable] = field(
        default_factory=lambda: VersionedCache(_TABLES)
    )
    """By board, device, offset, and whether it leads to the code; made from a `RankingVersion`."""
    problems: VersionedCache[int, WrittenProblem] = field(
        default_factory=lambda: VersionedCache(_PROBLEMS)
    )
    """By the number of the problem's version."""


def page_cache_of(request: Request) -> PageCache:
    found = request.app.state.kept
    assert isinstance(found, PageCache)
    return found


def table_key(
    ranking: RankingVersion, offset: int, *, with_code: bool = False
) -> tuple[int, str, int, bool]:
    """What a table is kept by."""
    return ranking.board.id, ranking.device, offset, with_code
