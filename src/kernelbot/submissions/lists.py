"""Lists of submissions: a person's own, and others' for organisers."""

from dataclasses import dataclass

from kernelbot.accounts import store as users
from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.accounts.tokens.model import OwnerLook
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.boards.service import organised_board
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import PAGE_ROWS
from kernelbot.domain.states import SubmissionState
from kernelbot.ranking.places import RankCache
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions import looks, views
from kernelbot.submissions import store as submissions
from kernelbot.submissions.model import ListedSubmission, RankedSubmission, Submission


@dataclass(frozen=True)
class OwnPage:
    """Which page of an author's own list is asked for."""

    board: str | None
    limit: int
    before_id: int | None


class SubmissionLists:
    """A page is found first, and only what has changed since it was last shown is read whole."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._places = RankCache()

    async def own(
        self,
        viewer: User,
        *,
        board: str | None = None,
        device: str | None = None,
        limit: int = PAGE_ROWS,
        before_id: int | None = None,
        offset: int = 0,
    ) -> list[Submission]:
        """The viewer's own, newest first, without code and results. `device`: only those on this
        device of the board, as if it were their only one. `before_id` continues; `offset` passes
        over so many, for clients that count pages."""
        found = await self.page_of_own(
            viewer, board=board, device=device, limit=limit, before_id=before_id, offset=offset
        )
        return [submission for _, submission in await self.shown(found, device)]

    async def page_of_own(
        self,
        viewer: User,
        *,
        board: str | None = None,
        device: str | None = None,
        limit: int = PAGE_ROWS,
        before_id: int | None = None,
        offset: int = 0,
    ) -> list[ListedSubmission]:
        """The page that `own` has, but only what tells whether what was shown of each
        is still true."""
        if board is not None and "\x00" in board:
            return []
        async with self._database.read() as session:
            found = await submissions.of_author(
                session,
                viewer.id,
                board=board,
                device=device,
                limit=limit,
                before_id=before_id,
                offset=offset,
            )
            return await self._placed(session, found)

    async def look(
        self, token: str, page: OwnPage, seen: OwnerLook | None = None
    ) -> OwnerLook | None:
        """Whether a page of the token's owner is still as it was; None: the token isn't valid, or
        the page is empty. `seen`: what the last look with the token found of the page, which is
        found again if nothing in the database has changed since."""
        async with self._database.read() as session:
            return await looks.look_at_page(session, token_hash(token), seen, **vars(page))

    async def stamp(self, owner: User, page: OwnPage) -> int | None:
        """That of a page as `look` finds it; what is read after it is as new, or newer."""
        async with self._database.read() as session:
            return await looks.page_stamp(session, owner.id, **vars(page))

    async def page_of_others(
        self,
        actor: User,
        *,
        board: str | None = None,
        user: str | None = None,
        state: SubmissionState | None = None,
        device: str | None = None,
        limit: int = PAGE_ROWS,
        before_id: int | None = None,
    ) -> list[ListedSubmission]:
        """What `page_of_own` has, but everybody's: of a board for its organisers, and without
        `board` of all boards for admins; with `user` that person's alone, with `state` or `device`
        only those in that state or for that device. Raises `NotFound`, `NotAllowed`.
        """
        async with self._database.read() as session:
            found, author = None, None
            if board is not None:
                found = await organised_board(session, actor, board)
            else:
                require_admin(actor)
            if user is not None:
                author = await users.by_name(session, user) if "\x00" not in user else None
                if author is None:
                    raise NotFound(f"There is no user named {user!r}.")
            if state is not None or device is not None:
                wanted = submissions.SubmissionFilter(
                    found.id if found else None, author.id if author else None, state, device
                )
                rows = await submissions.wanted(session, wanted, limit=limit, before_id=before_id)
            elif author is not None:
                rows = await submissions.of_author(
                    session, author.id, board=board, limit=limit, before_id=before_id, offset=0
                )
            else:
                board_id = found.id if found else None
                rows = await submissions.of_board(
                    session, board_id, limit=limit, before_id=before_id
                )
            return await self._placed(session, rows)

    async def shown(
        self, found: list[ListedSubmission], device: str | None = None
    ) -> list[tuple[ListedSubmission, Submission]]:
        """What a page found as lists show it, without code and results; each with what it is true
        of, which may be newer than the page. `device`: what became of it there, since score and
        place would be the best device's; None: on all of its devices."""
        if not found:
            return []
        async with self._database.read() as session:
            entries = await submissions.entries(session, [one.id for one in found])
        places = {one.id: one.places for one in found}
        return [
            (
                ListedSubmission(one.submission.id, one.hash, places[one.submission.id]),
                views.submission(
                    one.submission,
                    [run for run in one.runs if device in (None, run.device)],
                    places[one.submission.id],
                ),
            )
            for one in entries
        ]

    async def _placed(
        self, session: ReadSession, found: list[submissions.FoundSubmission]
    ) -> list[ListedSubmission]:
        places: dict[int, tuple[RankedSubmission, ...]] = {}
        for place in await self._places.get_ranked(
            session, [best for one in found for best in one.bests]
        ):
            places[place.submission_id] = (*places.get(place.submission_id, ()), place)
        return [ListedSubmission(one.id, one.hash, places.get(one.id, ())) for one in found]

    async def on_board(self, actor: User, board: str, *, limit: int, offset: int) -> list[int]:
        """Everybody's on a board, by id, newest first. Raises `NotFound`, `NotAllowed`."""
        async with self._database.read() as session:
            found = await organised_board(session, actor, board)
            return await submissions.on_board(session, found.id, limit=limit, offset=offset)
