"""What is to be told at Discord, and where it has been told."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import structlog

from kernelbot.guilds.model import (
    Announcement,
    AnnouncementKind,
    BoardThread,
    Passed,
    Podium,
    WeekOfBoard,
)
from kernelbot.store.database import ReadSession, Row, WriteSession
from kernelbot.store.sqlfiles import statements

log = structlog.get_logger()


async def claim(
    session: WriteSession, guild_ids: Sequence[int], *, limit: int
) -> list[Announcement]:
    """Take some that are due, so that nobody else tells them within the next minute. Those that
    this release can't read are logged and left out: a later release may have written them."""
    values = {"guild_ids": list(guild_ids), "limit": limit}
    rows = await session.all(statements(__file__)["claim"], values)
    return list(_readable(sorted(rows, key=lambda row: row["announcement_id"])))


async def delivered(
    session: WriteSession, announcement: Announcement, message_id: int | None
) -> None:
    """The announcement was sent. `message_id` None: there was nothing to announce any more."""
    values = {
        "announcement_id": announcement.id,
        "guild_id": announcement.guild_id,
        "message_id": message_id,
    }
    await session.do(statements(__file__)["delivered"], values)


async def failed(session: WriteSession, announcement: Announcement, pause_s: float) -> None:
    """The announcement couldn't be sent; it is due again after the pause."""
    values = {
        "announcement_id": announcement.id,
        "guild_id": announcement.guild_id,
        "pause_s": pause_s,
    }
    await session.do(statements(__file__)["failed"], values)


async def skip_unwanted(session: WriteSession, guild_ids: Sequence[int]) -> None:
    """Count as told what these guilds don't want to be told, and news that is older than a day."""
    await session.do(statements(__file__)["skip_unwanted"], {"guild_ids": list(guild_ids)})


async def add_weekly(session: WriteSession, guild_ids: Sequence[int], at: datetime) -> None:
    """Add the summary of the week for guilds in which it is due at this time."""
    values = {"guild_ids": list(guild_ids), "at": at}
    await session.do(statements(__file__)["add_weekly"], values)


async def week(session: ReadSession, guild_id: int, *, limit: int) -> list[WeekOfBoard]:
    """What happened within a week on boards that everyone sees and that the guild is about, the
    busiest first."""
    values = {"guild_id": guild_id, "limit": limit}
    rows = await session.all(statements(__file__)["week"], values)
    return [WeekOfBoard(**row) for row in rows]


async def threads(session: ReadSession, guild_id: int) -> list[BoardThread]:
    """The threads of all boards that everyone sees, the oldest first."""
    rows = await session.all(statements(__file__)["threads"], {"guild_id": guild_id})
    return [BoardThread(**row) for row in rows]


async def set_thread(
    session: WriteSession, guild_id: int, board_id: int, thread_id: int | None
) -> None:
    """Say which thread a board has in a guild; None: one is due to be opened."""
    values = {"guild_id": guild_id, "leaderboard_id": board_id, "message_id": thread_id}
    await session.do(statements(__file__)["set_thread"], values)


async def wake(session: WriteSession) -> None:
    """Let whoever tells look for what is due, once this is committed."""
    await session.do(statements(__file__)["wake"], {})


async def watch(
    session: WriteSession, leaderboard_id: int, author_id: int, *, guild_id: int, user_id: int
) -> bool:
    """Tell this person from now on; False: they were told already."""
    values = {
        "leaderboard_id": leaderboard_id,
        "author_id": author_id,
        "guild_id": guild_id,
        "user_id": user_id,
    }
    return await session.do(statements(__file__)["watch"], values) == 1


async def stop_watching(session: WriteSession, leaderboard_id: int, author_id: int) -> None:
    values = {"leaderboard_id": leaderboard_id, "author_id": author_id}
    await session.do(statements(__file__)["stop_watching"], values)


def _readable(rows: Sequence[Row]) -> Iterator[Announcement]:
    for row in rows:
        try:
            yield _announcement(row)
        except (TypeError, ValueError) as error:
            log.error(
                "announcement_unreadable", announcement=row["announcement_id"], error=str(error)
            )


def _announcement(row: Row) -> Announcement:
    kind = AnnouncementKind(row["kind"])
    passed = kind is AnnouncementKind.PASSED
    return Announcement(
        id=row["announcement_id"],
        guild_id=row["guild_id"],
        kind=kind,
        board=row["board"] or "",
        tries=row["tries"],
        podium=Podium(**row["data"]) if kind is AnnouncementKind.PODIUM else None,
        passed=Passed(user_id=row["user_id"], **row["data"]) if passed else None,
    )
