"""The ranking of a board: each author's best run on a device."""

from kernelbot.domain.types import StandingsPage, User


class StandingsService:
    """Reads the ranking; what counts is decided in SQL when a verdict is written."""

    async def page(
        self,
        viewer: User | None,
        board: str,
        device: str | None,
        *,
        limit: int = 50,
        offset: int = 0,
    ) -> StandingsPage:
        """A stretch of the ranking. `device` None: the board's first.

        Raises `NotFound` for a board the viewer can't see, `DeviceNotOffered`.
        """
        raise NotImplementedError
