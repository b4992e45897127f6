"""Deleting submissions, boards and accounts, with everything that belongs to them."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kernelbot.accounts.model import Role, User
from kernelbot.accounts.permissions import require_admin, require_unbanned
from kernelbot.accounts.service import expect_admin, expect_no_operator, lock_admins
from kernelbot.boards.service import no_board, organised_board
from kernelbot.domain.errors import Conflict, NotFound, Unavailable
from kernelbot.domain.ids import can_be_id
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.moderation.deletion import store as deletion
from kernelbot.render.text import counted
from kernelbot.store.database import Database, WriteSession
from kernelbot.submissions.access import existing, require_organised

_T = TypeVar("_T")
_TRIES = 10
"""How often a deletion is begun that meets changes of the same ranking."""


class Deletion:
    """A board's organisers are its creator and the admins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def clean_up(self) -> None:
        """Delete what has expired and nothing needs, such as logins, tokens and counted uses of
        limits."""
        async with self._database.write() as session:
            await deletion.forget_expired(session)

    async def delete_board(self, actor: User, name: str, *, force: bool = False) -> int:
        """Delete a board; returns how many submissions went with it.

        Raises `NotFound`, `NotAllowed`, `Conflict` when it has submissions and `force` isn't set.
        """

        async def delete(session: WriteSession) -> int:
            board = await organised_board(session, actor, name)
            if not await deletion.lock_board(session, board.id):
                raise no_board(name)
            if not force and await deletion.has_submissions(session, board.id):
                raise Conflict(f"Board {board.name!r} has submissions.", next_step=Next.FORCE)
            count = await deletion.delete_board(session, board.id)
            detail: audit.Detail = {"submissions": count, "force": force}
            await audit.record(session, actor, "board.delete", f"board:{board.name}", detail)
            return count

        return await self._undisturbed(delete, unhurried=True)

    async def delete_submission(self, actor: User, submission_id: int) -> None:
        """Delete a submission: the actor's own, or any on a board that they organise. Its runs are
        stopped, and the ranking moves up in the same transaction. If its author deleted it, the
        same code isn't ranked again. Raises `NotFound`, `NotAllowed`."""

        async def delete(session: WriteSession) -> None:
            found = await existing(session, submission_id)
            own = actor.id == found.author_id
            if not own:
                await require_organised(session, actor, found)
            await deletion.delete_submissions(session, [submission_id], withdrawn=own)
            if not own:
                detail: audit.Detail = {"board": found.board, "author_id": found.author_id}
                await audit.record(
                    session, actor, "submission.delete", f"submission:{submission_id}", detail
                )

        await self._undisturbed(delete)

    async def delete_submissions_of(self, actor: User, board: str, user_name: str) -> int:
        """Delete all of a person's submissions on a board; returns how many that were.

        Raises `NotFound` for the board or when there are none, `NotAllowed`.
        """

        async def delete(session: WriteSession) -> int:
            found = await organised_board(session, actor, board)
            ids = (
                await deletion.of_user(session, found.id, user_name)
                if "\x00" not in user_name
                else []
            )
            if not ids:
                raise NotFound(f"{user_name!r} has no submissions on board {found.name!r}.")
            count = await deletion.delete_submissions(session, ids)
            detail: audit.Detail = {"user": user_name, "submissions": count}
            await audit.record(session, actor, "submissions.delete", f"board:{found.name}", detail)
            return count

        return await self._undisturbed(delete, unhurried=True)

    async def delete_user(self, actor: User, user_id: int, *, force: bool = False) -> int:
        """Delete an account (the actor's own, or for admins another): its tokens, identities,
        memberships and submissions; returns the number of submissions. The rankings move up, its
        boards become the actor's. What it did as an organiser stays in the log.

        Raises `NotFound`, `NotAllowed`, `Conflict` when it has submissions and `force` isn't set,
        and for the account of a running server's machine.
        """
        self._check_may_delete(actor, user_id)

        async def delete(session: WriteSession) -> int:
            await lock_admins(session)
            found = await deletion.lock_user(session, user_id) if can_be_id(user_id) else None
            if found is None:
                raise NotFound(f"There is no user {user_id}.", next_step=Next.LIST_USERS)
            await expect_no_operator(session, user_id)
            if actor.id == user_id and found.boards:
                raise Conflict(
                    f"You organise boards: {', '.join(found.boards)}.",
                    hint="Delete them first, or ask an admin, who takes them over.",
                )
            if not force and found.submission_ids:
                raise Conflict(
                    f"{found.name!r} has {counted(len(found.submission_ids), 'submission')}.",
                    next_step=Next.FORCE,
                )
            count = await deletion.delete_submissions(session, list(found.submission_ids))
            detail: audit.Detail = {
                "name": found.name,
                "submissions": count,
                "boards": ", ".join(found.boards),
            }
            await audit.record(session, actor, "user.delete", f"user:{user_id}", detail)
            await deletion.delete_user(session, user_id, heir_id=actor.id)
            await expect_admin(session)
            return count

        return await self._undisturbed(delete, unhurried=True)

    async def _undisturbed(
        self, delete: Callable[[WriteSession], Awaitable[_T]], *, unhurried: bool = False
    ) -> _T:
        """Do this in a transaction in which nothing comes to what it deletes; as often as it takes,
        within bounds. Raises what `delete` does, and `Unavailable`."""
        for _ in range(_TRIES):
            with contextlib.suppress(deletion.CameMeanwhile):
                async with self._database.write(unhurried=unhurried) as session:
                    return await delete(session)
        raise Unavailable(
            "The rankings that this changes are being changed all the time just now.",
            next_step=Next.TRY_AGAIN,
        )

    def _check_may_delete(self, actor: User, user_id: int) -> None:
        if actor.id != user_id:
            require_admin(actor)
            return
        require_unbanned(actor)  # else they could register again and avoid the ban
        if actor.role is Role.ADMIN:
            raise Conflict("Admins can't delete their own account.", hint="Ask another admin.")
