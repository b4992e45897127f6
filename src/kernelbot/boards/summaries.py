"""What boards say of their problems."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from kernelbot.boards import store as boards
from kernelbot.boards.model import NamedBoard, ProblemSummary
from kernelbot.domain.versioned_cache import VersionedCache
from kernelbot.store.database import Database

_VERSIONS = 4096
_Named = TypeVar("_Named", bound=NamedBoard)


class ProblemSummaries:
    """Reads; a version of a problem never changes, so each is read once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._summaries = VersionedCache[int, ProblemSummary](_VERSIONS)

    async def for_boards(self, listed: Iterable[NamedBoard]) -> dict[int, ProblemSummary]:
        """The summaries of the boards' problems, by the numbers of the problems' versions."""
        wanted = {one.problem_version_id for one in listed}
        known = {number: self._summaries.get(number, number) for number in wanted}
        found = {number: one for number, one in known.items() if one is not None}
        if unknown := wanted - found.keys():
            async with self._database.read() as session:
                read = await boards.summaries(session, unknown)
            for number, one in read.items():
                self._summaries.keep(number, number, one)
            found |= read
        return found

    async def described(self, board: _Named) -> _Named:
        (described,) = await self.all_described([board])
        return described

    async def all_described(self, listed: Iterable[_Named]) -> list[_Named]:
        """The boards in their order, each with what it says of its problem."""
        boards = list(listed)
        found = await self.for_boards(boards)
        return [replace(one, about=found[one.problem_version_id]) for one in boards]
