"""Reading a board's duels."""

from kernelbot.domain.duels import Duel
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.types import User
from kernelbot.services.boards import offered_device, visible_board
from kernelbot.store import duels
from kernelbot.store.database import Database


class Duels:
    """As public as the ranking that they decide: names, numbers and ratios, never a source."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_duels(
        self,
        viewer: User | None,
        board: str,
        *,
        device: str | None = None,
        submission_id: int | None = None,
        limit: int = 50,
        before_id: int | None = None,
    ) -> list[Duel]:
        """A board's duels, the newest first. `device` None: on all of its devices.
        `submission_id`: only those that it was in.

        Raises `NotFound` for a board the viewer can't see, `DeviceNotOffered`.
        """
        async with self._database.read() as session:
            found = await visible_board(session, viewer, board)
            chosen = None if device is None else offered_device(found, device)
            if submission_id is not None and not can_be_id(submission_id):
                return []
            return await duels.of_board(
                session,
                found.id,
                chosen,
                submission_id=submission_id,
                limit=limit,
                before_id=before_id,
            )
