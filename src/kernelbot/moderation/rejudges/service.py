"""Rejudging: a board's best are measured again on one device, and ranked by that."""

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin
from kernelbot.boards.model import Board
from kernelbot.boards.service import offered_device, organised_board
from kernelbot.domain.errors import Conflict, NotFound
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.states import RunState
from kernelbot.moderation.audit import service as audit
from kernelbot.moderation.rejudges import store as rejudges
from kernelbot.moderation.rejudges.model import Rejudge
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions import store as submissions

_LATEST = 20


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
        another one is at work, or, but for admins, began within the last hour: its runs go before
        those of all other boards.
        """
        async with self._database.write() as session:
            found = await organised_board(session, actor, board)
            chosen = offered_device(found, device)
            best = await rejudges.candidates(session, found.id, chosen, top)
            if not best:
                raise Conflict(f"Nobody is ranked on board {found.name!r} on {chosen} yet.")
            lately = await rejudges.was_lately(session, found.id, chosen)
            rejudge_id = await rejudges.add(session, found.id, chosen)
            if rejudge_id is None:
                raise Conflict(
                    f"{found.name!r} is being rejudged on {chosen} already.",
                    hint="Wait until that has ended, or end it.",
                )
            if lately and not is_admin(actor):
                raise Conflict(
                    f"A rejudge of {found.name!r} on {chosen} began within the last hour.",
                    hint="Wait, or ask an admin: what is rejudged goes before all that waits.",
                )
            for submission_id in best:
                run_id = await rejudges.add_run(session, rejudge_id, submission_id, chosen)
                await submissions.add_event(session, submission_id, run_id, RunState.QUEUED, {})
            detail = {"device": chosen, "top": top, "submissions": len(best)}
            await audit.record(session, actor, "board.rejudge", f"board:{found.name}", detail)
            started = await rejudges.one(session, found.id, rejudge_id)
        assert started is not None
        return started

    async def end(self, actor: User, board: str, rejudge_id: int) -> Rejudge:
        """End a rejudge before its time: what it measured is dropped, the ranking stays as it is.
        Raises `NotFound`, `NotAllowed`, `Conflict` if it has ended already."""
        async with self._database.write() as session:
            found = await organised_board(session, actor, board)
            rejudge = await _known(session, found, rejudge_id)
            if not await rejudges.end(session, rejudge.id):
                raise Conflict(f"Rejudge {rejudge.id} of {found.name!r} has ended already.")
            detail: audit.Detail = {"device": rejudge.device, "rejudge": rejudge.id}
            await audit.record(session, actor, "board.rejudge.end", f"board:{found.name}", detail)
            return await _known(session, found, rejudge_id)

    async def list_rejudges(self, actor: User, board: str) -> list[Rejudge]:
        """A board's latest rejudges, the newest first. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await rejudges.of_board(session, found.id, _LATEST)

    async def get(self, actor: User, board: str, rejudge_id: int) -> Rejudge:
        """The rejudge and how far it is. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await _known(session, found, rejudge_id)


async def _known(session: ReadSession, board: Board, rejudge_id: int) -> Rejudge:
    known = can_be_id(rejudge_id)
    rejudge = await rejudges.one(session, board.id, rejudge_id) if known else None
    if rejudge is None:
        raise NotFound(f"There is no rejudge {rejudge_id} of {board.name!r}.")
    return rejudge
