"""What is to be told at Discord, and where it has been told."""

from collections.abc import Sequence

from kernelbot.domain.guilds import Announcement, AnnouncementKind, Podium
from kernelbot.store.database import Row, WriteSession
from kernelbot.store.sqlfiles import statements


async def claim(
    session: WriteSession, guild_ids: Sequence[int], *, limit: int
) -> list[Announcement]:
    """Take some that are due, so that nobody else tells them within the next minute."""
    values = {"guild_ids": list(guild_ids), "limit": limit}
    rows = await session.all(statements("announcements")["claim"], values)
    return [_announcement(row) for row in sorted(rows, key=lambda row: row["announcement_id"])]


async def delivered(
    session: WriteSession, announcement: Announcement, message_id: int | None
) -> None:
    """It was told. `message_id` None: there was nothing to tell any more."""
    values = {
        "announcement_id": announcement.id,
        "guild_id": announcement.guild_id,
        "message_id": message_id,
    }
    await session.do(statements("announcements")["delivered"], values)


async def failed(session: WriteSession, announcement: Announcement, pause_s: float) -> None:
    """It couldn't be told; it is due again after the pause."""
    values = {
        "announcement_id": announcement.id,
        "guild_id": announcement.guild_id,
        "pause_s": pause_s,
    }
    await session.do(statements("announcements")["failed"], values)


def _announcement(row: Row) -> Announcement:
    kind = AnnouncementKind(row["kind"])
    return Announcement(
        id=row["announcement_id"],
        guild_id=row["guild_id"],
        kind=kind,
        board=row["board"],
        tries=row["tries"],
        podium=Podium(**row["data"]) if kind is AnnouncementKind.PODIUM else None,
    )
