"""Rejudging: a board's best are measured again on one device, and ranked by that."""

from kernelbot.accounts.model import User
from kernelbot.boards.service import offered_device, organised_board
from kernelbot.domain.errors import Conflict, NotFound
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.states import RunState
from kernelbot.moderation.audit import service as audit
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.store.database import Database
from kernelbot.submissions import store as submissions


class Rejudging:
    """For a board's organisers: its creator, and admins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(
        self, actor: User, board: str, *, device: str | None = None, top: int | None = None
    ) -> Rejudge:
        """Queue a run of each author's ranked submission, of the `top` best or of all, against
        the board's current version of its problem. `device` None: the board's first.

        Raises `NotFound`, `NotAllowed`, `DeviceNotOffered`, `Conflict` if nobody is ranked or
        another one is at work.
        """
        async with self._database.write() as session:
            found = await organised_board(session, actor, board)
            chosen = offered_device(found, device)
            best = await rejudges.candidates(session, found.id, chosen, top)
            if not best:
                raise Conflict(f"Nobody is ranked on board {found.name!r} on {chosen} yet.")
            rejudge_id = await rejudges.add(session, found.id, chosen)
            if rejudge_id is None:
                raise Conflict(
                    f"{found.name!r} is being rejudged on {chosen} already.",
                    hint="Wait until that has ended.",
                )
            for submission_id in best:
                run_id = await rejudges.add_run(session, rejudge_id, submission_id, chosen)
                await submissions.add_event(session, submission_id, run_id, RunState.QUEUED, {})
            detail = {"device": chosen, "top": top, "submissions": len(best)}
            await audit.record(session, actor, "board.rejudge", f"board:{found.name}", detail)
            started = await rejudges.one(session, found.id, rejudge_id)
        assert started is not None
        return started

    async def list_rejudges(self, actor: User, board: str, *, limit: int = 20) -> list[Rejudge]:
        """A board's latest rejudges, the newest first. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await rejudges.of_board(session, found.id, limit)

    async def get(self, actor: User, board: str, rejudge_id: int) -> Rejudge:
        """The rejudge and how far it is. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            known = can_be_id(rejudge_id)
            rejudge = await rejudges.one(session, found.id, rejudge_id) if known else None
        if rejudge is None:
            raise NotFound(f"There is no rejudge {rejudge_id} of {found.name!r}.")
        return rejudge
