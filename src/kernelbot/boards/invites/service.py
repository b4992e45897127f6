"""Invites: creating, listing, revoking, joining."""

import hmac
import secrets

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin, organises, require_organiser, require_unbanned
from kernelbot.boards.invites import store as invites
from kernelbot.boards.invites.model import Invite, NewInvites
from kernelbot.boards.service import organised_board
from kernelbot.domain.errors import NotFound, UserError
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.store.database import Database, WriteSession

MAX_COUNT = 10_000
_MAX_BOARDS = 100
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"  # none that looks like another
_GROUPS, _GROUP = 4, 5


class Invites:
    """An invite makes one person a member of its boards, for as long as it isn't revoked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, actor: User, boards: tuple[str, ...], count: int = 1, *, key: str = ""
    ) -> NewInvites:
        """New invites, each for all of the boards. With the same `key`, random and told to nobody
        else, the same invites: so what is asked for twice is made once. Empty: one of our own.

        Raises `UserError` for a count that isn't 1 to 10,000 or no boards, `NotFound`,
        `NotAllowed`.
        """
        if not 1 <= count <= MAX_COUNT:
            raise UserError(f"Between 1 and {MAX_COUNT:,} invites are made at once.")
        if not 1 <= len(boards) <= _MAX_BOARDS:
            raise UserError(f"An invite is for 1 to {_MAX_BOARDS} boards.", hint="Name some.")
        asked = f"{actor.id} {count} {' '.join(boards).lower()}"
        codes = _codes(asked, count, key=key or secrets.token_urlsafe())
        async with self._database.write() as session:
            found = {}
            for name in boards:
                board = await organised_board(session, actor, name)
                found[board.id] = board.name
            names = tuple(found.values())
            if not await invites.add(session, actor.id, list(found), codes):
                return NewInvites(names, codes)
            detail: audit.Detail = {"boards": ", ".join(names), "count": count}
            await audit.record(session, actor, "invite.create", f"board:{names[0]}", detail)
        return NewInvites(names, codes)

    async def list_invites(
        self,
        actor: User,
        board: str,
        *,
        unclaimed: bool = False,
        limit: int = MAX_COUNT,
        offset: int = 0,
    ) -> list[Invite]:
        """The invites that open the board, the newest first; without the codes of those that also
        open boards of others. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await invites.of_board(
                session,
                found.id,
                viewer_id=actor.id,
                everything=is_admin(actor),
                unclaimed=unclaimed,
                limit=limit,
                offset=offset,
            )

    async def revoke(self, actor: User, code: str) -> bool:
        """Revoke an invite: who claimed it is no longer a member. Returns whether somebody had
        claimed it. Raises `NotFound`, `NotAllowed`."""
        require_unbanned(actor)
        code = _normal(code)
        async with self._database.write() as session:
            boards = await invites.boards(session, code)
            # Who organises none of them mustn't learn that there is such an invite, or for what.
            known = any(organises(actor, board.creator_id) for board in boards)
            for board in boards if known else ():
                require_organiser(actor, board.name, board.creator_id)
            was_claimed = await invites.revoke(session, code) if known else None
            if was_claimed is None:
                raise NotFound("There is no such invite.", next_step=Next.LIST_INVITES)
            detail: audit.Detail = {
                "boards": ", ".join(b.name for b in boards),
                "was_claimed": was_claimed,
            }
            await audit.record(session, actor, "invite.revoke", f"invite:{code}", detail)
        return was_claimed

    async def join(self, user: User, code: str) -> tuple[str, ...]:
        """Claim an invite; returns the boards it opens. Idempotent for the same person.

        Raises `UserError` for an invite that isn't there or is another's, `Banned`.
        """
        async with self._database.write() as session:
            return await claim_invite(session, user, code)


async def claim_invite(session: WriteSession, user: User, code: str) -> tuple[str, ...]:
    """What `Invites.join` does, within a transaction."""
    require_unbanned(user)
    code = _normal(code)
    await invites.claim(session, code, user.id)
    boards = await invites.boards(session, code)
    if not boards or any(board.user_id != user.id for board in boards):
        raise UserError(
            "This invite isn't valid, or someone else has used it.",
            hint="Ask the organisers for another.",
        )
    return tuple(board.name for board in boards)


def _codes(asked: str, count: int, *, key: str) -> tuple[str, ...]:
    """What this key makes of what was asked for. 20 of 30 letters are 98 bits, so no two are ever
    equal, and who has one can guess no other."""
    return tuple(
        _code(hmac.digest(key.encode(), f"{number} {asked}".encode(), "sha256"))
        for number in range(count)
    )


def _code(digest: bytes) -> str:
    letters = "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[: _GROUPS * _GROUP])
    return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


def _normal(code: str) -> str:
    """The code as people type and paste it, normalised. What can't be a code becomes a code that
    nobody has."""
    code = code.strip().upper()
    return code if code.isascii() and code.isprintable() else ""
