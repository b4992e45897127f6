"""Reading a board's duels."""

from kernelbot.accounts.model import User
from kernelbot.boards.model import Board
from kernelbot.boards.service import offered_device, visible_board
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import PAGE_ROWS, can_be_id
from kernelbot.duels import store as duels
from kernelbot.duels.model import Duel
from kernelbot.runs.samples.model import PairedWorkload
from kernelbot.runs.samples.rules import may_see_pairs, paired_workloads
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions import views
from kernelbot.submissions.access import visible


class Duels:
    """Reads duels. They are as public as the ranking that they decide: names, numbers and ratios,
    never a source. Samples are for those who may see both submissions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_duels(
        self,
        viewer: User | None,
        board: str,
        *,
        device: str | None = None,
        submission_id: int | None = None,
        limit: int = PAGE_ROWS,
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

    async def get(self, viewer: User | None, board: str, duel_id: int) -> Duel:
        """One duel of the board. Raises `NotFound`."""
        async with self._database.read() as session:
            return await _of(session, await visible_board(session, viewer, board), duel_id)

    async def measured(self, viewer: User, board: str, duel_id: int) -> list[PairedWorkload]:
        """What was timed in a duel of the board, as far as it is for the viewer.

        Raises `NotFound`, and `NotAllowed` if they may not see both submissions.
        """
        async with self._database.read() as session:
            found = await visible_board(session, viewer, board)
            duel = await _of(session, found, duel_id)
            for submission_id in (duel.submission_id, duel.opponent_id):
                await visible(session, viewer, submission_id)
            secret = views.sees_secret(viewer)
            shared = found.fixed_seed or await duels.had_shared_seed(session, duel_id)
            if not may_see_pairs(duel, sees_secret=secret, seed_is_shared=shared):
                return []
            result = await duels.result(session, duel_id)
        return [] if result is None else paired_workloads(result, names_data=secret)


async def _of(session: ReadSession, board: Board, duel_id: int) -> Duel:
    known = can_be_id(duel_id)
    page = await duels.of_board(session, board.id, None, duel_id=duel_id) if known else []
    if not page:
        raise NotFound(f"{board.name!r} has no duel {duel_id}.")
    return page[0]
