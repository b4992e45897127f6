"""What is told at Discord, whatever door it came by. The database writes it in the transaction that
causes it (`store/schema/announcing`); here it is delivered, again and again until it is. News of
rankings and a week's summary are given up after a day; a board's thread never is."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.boards.service import visible_board
from kernelbot.domain.errors import UserError
from kernelbot.domain.next_steps import Next
from kernelbot.guilds import store as guilds
from kernelbot.guilds.announcements import store as announcements
from kernelbot.guilds.model import Announcement, BoardThread, GuildMember, WeekOfBoard
from kernelbot.platform.notifications import NotificationChannel, Waker
from kernelbot.store.database import Database

_AT_ONCE = 10
_SUMMARISED = 10
_KEY = "announcements"
_LONGEST_PAUSE_S = 600.0
_MOST_DOUBLINGS = 30
"""Beyond a thousand of them the pause would be too large for a float."""


class Announcements:
    """Each is delivered to each guild once. Who delivers must make repeating harmless, since they
    may stop between telling and saying so."""

    def __init__(self, database: Database, events: NotificationChannel) -> None:
        self._database = database
        self._events = events

    def following(self) -> AbstractAsyncContextManager[Waker]:
        """Wakes when there is something to tell."""
        return self._events.following(_KEY)

    async def claim(
        self, guild_ids: Sequence[int], *, at: datetime | None = None
    ) -> list[Announcement]:
        """What is due in these guilds, for the caller to deliver within a minute. `at`: the time by
        which a week is over; None: now."""
        async with self._database.write() as session:
            await announcements.add_weekly(session, guild_ids, at or datetime.now(UTC))
            await announcements.skip_unwanted(session, guild_ids)
            return await announcements.claim(session, guild_ids, limit=_AT_ONCE)

    async def delivered(self, announcement: Announcement, message_id: int | None = None) -> None:
        async with self._database.write() as session:
            await announcements.delivered(session, announcement, message_id)

    async def week(self, guild_id: int) -> list[WeekOfBoard]:
        """What a summary tells in a guild, the busiest boards first."""
        async with self._database.read() as session:
            return await announcements.week(session, guild_id, limit=_SUMMARISED)

    async def threads(self, guild_id: int) -> list[BoardThread]:
        """The threads in a guild of the boards that everyone sees."""
        async with self._database.read() as session:
            return await announcements.threads(session, guild_id)

    async def match_threads(
        self, actor: User, guild_id: int, there: Mapping[int, str], *, open_missing: bool
    ) -> list[BoardThread]:
        """Find each board's thread among those that are there, by their ids and names: the one
        that is known, else the oldest of the board's name. Returns how they stand then.
        `open_missing`: boards that run get one soon if they have none. Raises `NotAllowed`, and
        `UserError` if the guild wants no threads."""
        require_admin(actor)
        by_name = {name: thread_id for thread_id, name in sorted(there.items(), reverse=True)}
        async with self._database.write() as session:
            if open_missing and not (await guilds.settings(session, guild_id)).new_boards:
                raise UserError(
                    "New boards open no threads in this server.",
                    next_step=Next.CHANGE_CHAT_SETTINGS,
                )
            for one in await announcements.threads(session, guild_id):
                if one.thread_id in there:
                    continue
                found = by_name.get(one.board)
                if found is not None or (open_missing and not one.ended):
                    await announcements.set_thread(session, guild_id, one.board_id, found)
            if open_missing:
                await announcements.wake(session)
            return [
                one if one.thread_id in there else replace(one, thread_id=None)
                for one in await announcements.threads(session, guild_id)
            ]

    async def watch(self, viewer: User, board: str, member: GuildMember) -> bool:
        """Tell the viewer, as this member, if somebody passes them on the board; if they are told
        already, no more. Returns whether they are told from now on. Raises `NotFound`."""
        async with self._database.write() as session:
            found = await visible_board(session, viewer, board)
            begun = await announcements.watch(
                session, found.id, viewer.id, guild_id=member.guild_id, user_id=member.user_id
            )
            if not begun:
                await announcements.stop_watching(session, found.id, viewer.id)
        return begun

    async def failed(self, announcement: Announcement, pause_s: float) -> None:
        """The announcement couldn't be sent; the pause doubles with each try, up to ten minutes."""
        pause_s = min(
            pause_s * 2.0 ** min(announcement.tries - 1, _MOST_DOUBLINGS), _LONGEST_PAUSE_S
        )
        async with self._database.write() as session:
            await announcements.failed(session, announcement, pause_s)
