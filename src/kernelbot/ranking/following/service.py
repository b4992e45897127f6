"""Following boards and authors, and reading what is new there."""

from collections.abc import Iterable, Mapping

from kernelbot.accounts.model import User
from kernelbot.boards.model import OwnedBoard
from kernelbot.boards.service import find_board, visible_boards
from kernelbot.domain.errors import Conflict
from kernelbot.ranking.authors.service import Authors
from kernelbot.ranking.following import store as follows
from kernelbot.ranking.following.model import Following, News
from kernelbot.ranking.model import BoardScore, Record, Score
from kernelbot.ranking.trends import Trends
from kernelbot.store.database import Database, WriteSession

MOST = 200
"""What one person can follow: each is looked at for every view."""
_NEWS = 50


class FollowingService:
    """A person follows what they can see. What they can no longer see is left out of what they are
    shown, and there again once they see it again."""

    def __init__(self, database: Database, authors: Authors, trends: Trends) -> None:
        self._database = database
        self._authors = authors
        self._trends = trends

    async def follow_board(self, follower: User, board: str) -> None:
        """Follow a board. Raises `NotFound`, and `Conflict` from `MOST` on."""
        async with self._database.write() as session:
            found = await find_board(session, follower, board)
            await _require_room(session, follower)
            await follows.follow_board(session, follower.id, found.board.id)

    async def unfollow_board(self, follower: User, board: str) -> None:
        """Follow a board no longer, also one that can't be seen any more. Raises `NotFound`."""
        async with self._database.write() as session:
            followed = "\x00" not in board
            followed = followed and await follows.unfollow_board(session, follower.id, board)
            if not followed:
                await find_board(session, follower, board)

    async def follow_author(self, follower: User, author_id: int) -> None:
        """Follow an author whose page the follower may see. Raises `NotFound`, and `Conflict` from
        `MOST` on and for oneself."""
        if author_id == follower.id:
            raise Conflict("You can't follow yourself.", hint="Your own scores are on your page.")
        await self._authors.scores(follower, author_id, limit=1)
        async with self._database.write() as session:
            await _require_room(session, follower)
            await follows.follow_author(session, follower.id, author_id)

    async def unfollow_author(self, follower: User, author_id: int) -> None:
        """Follow an author no longer, also one who can't be seen any more."""
        async with self._database.write() as session:
            await follows.unfollow_author(session, follower.id, author_id)

    async def follows_board(self, follower: User, board_id: int) -> bool:
        async with self._database.read() as session:
            return board_id in (await follows.followed(session, follower.id)).boards

    async def follows_author(self, follower: User, author_id: int) -> bool:
        async with self._database.read() as session:
            return author_id in (await follows.followed(session, follower.id)).authors

    async def get(self, follower: User) -> Following:
        """What the person follows and may see, and the latest there."""
        async with self._database.read() as session:
            followed = await follows.followed(session, follower.id)
            if not followed:
                return Following((), (), ())
            seen = {one.board.id: one for one in await visible_boards(session, follower)}
            authors = await follows.visible_authors(session, list(followed.authors), list(seen))
            rows = await follows.scores(
                session, [one.id for one in authors], list(seen), limit=_NEWS
            )
        boards = [one for number, one in seen.items() if number in followed.boards]
        records = await self._trends.latest_of(boards, limit=_NEWS)
        return Following(
            tuple(sorted((one.board.name for one in boards), key=str.lower)),
            tuple(authors),
            _news(records, rows, seen),
        )


async def _require_room(session: WriteSession, follower: User) -> None:
    await follows.lock(session, follower.id)
    if len(await follows.followed(session, follower.id)) >= MOST:
        raise Conflict(f"You follow {MOST} boards and authors: follow one less first.")


def _news(
    records: Iterable[Record], scores: Iterable[BoardScore], seen: Mapping[int, OwnedBoard]
) -> tuple[News, ...]:
    """Both kinds in one list; what is of both kinds is there once, as a record."""
    all_news = [
        *(_one(seen[one.leaderboard_id].board.name, one.device, one, False) for one in scores),
        *(_one(one.board, one.device, one.score, True) for one in records),
    ]
    found = {(one.board, one.device, one.author, one.achieved_at): one for one in all_news}
    newest_first = sorted(found.values(), key=lambda one: one.achieved_at, reverse=True)
    return tuple(newest_first[:_NEWS])


def _one(board: str, device: str, score: Score, record: bool) -> News:
    return News(
        board, device, score.author, score.score_s, score.achieved_at, record, score.page_id
    )
