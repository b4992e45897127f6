"""Leaderboards and their problems."""

from datetime import datetime

from kernelbot.domain.types import Board, BoardProblem, ProblemDefinition, User, Visibility


class Boards:
    """Boards are found by name, in any case of letters."""

    async def create(
        self,
        creator: User,
        definition: ProblemDefinition,
        *,
        name: str,
        deadline: datetime | None = None,
        visibility: Visibility = Visibility.PUBLIC,
        devices: tuple[str, ...] | None = None,
    ) -> Board:
        """Open a board. `devices` None: those the definition names that are configured here.

        Raises `NotAllowed` for competitors, `Conflict` when the name is taken, `UserError` for
        an unusable name, an unknown device, or none left.
        """
        raise NotImplementedError

    async def list(self, viewer: User | None) -> list[Board]:
        """Boards the viewer may see, newest first. None: a stranger, who sees public ones."""
        raise NotImplementedError

    async def get(self, viewer: User | None, name: str) -> Board:
        """One board. Raises `NotFound`, also where the viewer may not see it."""
        raise NotImplementedError

    async def problem(self, viewer: User | None, name: str) -> BoardProblem:
        """A board's statement and starter files. Raises `NotFound`."""
        raise NotImplementedError
