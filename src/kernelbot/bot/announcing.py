"""Tells what the database has to tell: changes at the top, and new boards. Nobody is pinged."""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import aiohttp
import discord
import structlog

from kernelbot.bot.answers import fenced
from kernelbot.bot.commands.boards import deadline_text
from kernelbot.domain.errors import NotFound, Unavailable
from kernelbot.guilds.model import Announcement, AnnouncementKind, Passed, Podium, WeekOfBoard
from kernelbot.render.markdown import MESSAGE_LIMIT, plain
from kernelbot.render.text import counted
from kernelbot.render.units import seconds_text

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot

_MEDALS = {1: "🥇", 2: "🥈", 3: "🥉"}
_POLL_S = 15.0
_THREAD_NAME = 100
log = structlog.get_logger()


class Announcer:
    """One task; what can't be told is tried again later, without holding up the rest."""

    def __init__(self, bot: "KernelBot") -> None:
        self._bot = bot
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Tell from now on. Again: no change."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="announcements")

    async def close(self) -> None:
        """Stop; the database knows what is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        failing = False
        async with self._bot.services.announcements.following() as waker:
            while True:
                due: list[Announcement] = []
                try:
                    # Of other guilds no channel is known.
                    due = await self._bot.services.announcements.claim(self._bot.ready_guilds())
                    delivered = [await self._deliver(one) for one in due]
                    failing = not all(delivered) if due else failing
                except Unavailable:
                    pass  # it is asked again in a moment
                except Exception:  # whatever it was: else nothing would be told any more
                    log.exception("announcing_crashed")
                if not due:
                    await waker.wait(self._bot.rules.retry_s if failing else _POLL_S)

    async def _deliver(self, announcement: Announcement) -> bool:
        service = self._bot.services.announcements
        try:
            message_id = await self._tell(announcement)
        except (Unavailable, discord.DiscordException, aiohttp.ClientError, OSError) as error:
            log.warning("not_announced", announcement=announcement.id, error=str(error))
        except Exception:  # one that this release can't tell doesn't hold up the rest
            log.exception("announcement_crashed", announcement=announcement.id)
        else:
            await service.delivered(announcement, message_id)
            return True
        await service.failed(announcement, self._bot.rules.retry_s)
        return False

    async def _tell(self, announcement: Announcement) -> int | None:
        """Returns the message's or the thread's id; None: there is no place for it."""
        places = self._bot.places.get(announcement.guild_id)
        if announcement.passed is not None:
            return await self._tell_one(announcement, announcement.passed)
        if announcement.kind is AnnouncementKind.BOARD:
            return await self._open_thread(announcement, places.forum_id if places else None)
        text = await self._text(announcement)
        if places is None or places.general_id is None or not text:
            return None
        channel = self._bot.get_partial_messageable(
            places.general_id, guild_id=announcement.guild_id
        )
        return (await channel.send(text, nonce=_nonce(announcement))).id

    async def _text(self, announcement: Announcement) -> str:
        """For everyone; empty: there is nothing to tell."""
        if announcement.podium is not None:
            return podium_text(announcement.board, announcement.podium)
        return week_text(await self._bot.services.announcements.week(announcement.guild_id))

    async def _tell_one(self, announcement: Announcement, passed: Passed) -> int | None:
        """A direct message; None: they don't accept any."""
        try:
            user = await self._bot.fetch_user(passed.user_id)
            text = passed_text(announcement.board, passed)
            return (await user.send(text, nonce=_nonce(announcement))).id
        except (discord.Forbidden, discord.NotFound):
            return None

    async def _open_thread(self, announcement: Announcement, forum_id: int | None) -> int | None:
        if announcement.guild_id not in self._bot.ready_guilds():
            raise Unavailable("Discord doesn't show the server just now.")
        forum = self._bot.get_channel(forum_id) if forum_id is not None else None
        if not isinstance(forum, discord.ForumChannel):
            return None
        name = announcement.board[:_THREAD_NAME]
        if announcement.tries > 1:  # we may have stopped just after it was opened
            there = discord.utils.get(forum.threads, name=name)
            if there is not None:
                return there.id
        try:
            problem = await self._bot.services.boards.problem(None, announcement.board)
        except NotFound:
            return None  # it was deleted or closed meanwhile
        board = problem.leaderboard
        head = (
            f"**{plain(board.name)}**: {deadline_text(board)}, on {plain(', '.join(board.devices))}"
        )
        end = f"Start with `/leaderboard template name:{board.name}`."
        room = MESSAGE_LIMIT - len(f"{head}\n\n{end}")
        statement, files = fenced(problem.description or "", room, "statement.md")
        thread = await forum.create_thread(
            name=name, content=f"{head}\n{statement}\n{end}", files=[one.file() for one in files]
        )
        return thread.thread.id


def _nonce(announcement: Announcement) -> str:
    """Discord doesn't send an author's message with a nonce twice, whatever channel it is for: so
    each guild's has another. At most 25 characters."""
    named = f"announcement {announcement.id} in {announcement.guild_id}"
    return hashlib.blake2b(named.encode(), digest_size=12).hexdigest()


def podium_text(board: str, change: Podium) -> str:
    medal, name = _MEDALS.get(change.rank, "🏅"), f"**{plain(change.author)}**"
    where = f"**{plain(board)}** ({plain(change.device)}) with {seconds_text(change.score_s)}"
    if change.rank == 1:
        said = f"{medal} {name} {'shares' if change.shared else 'took'} #1 on {where}"
    else:
        said = f"{medal} {name} entered the top three as #{change.rank} on {where}"
    fell = f"; **{plain(change.fell)}** fell out of the top three" if change.fell else ""
    return f"{said}{fell}."


def passed_text(board: str, passed: Passed) -> str:
    return (
        f"**{plain(passed.by)}** has passed you on **{plain(board)}** ({plain(passed.device)}): "
        f"{seconds_text(passed.score_s)}, and yours is {seconds_text(passed.own_s)}. "
        f"`/leaderboard watch` ends these messages."
    )


def week_text(week: Sequence[WeekOfBoard]) -> str:
    """The boards on which something happened, as many as fit into a message; empty if there are
    none."""
    busy = [one for one in week if one.submissions]
    if not busy:
        return ""
    lines = ["📅 **This week**"]
    for one in busy:
        leader = ""
        if one.leader is not None and one.leader_s is not None:
            leader = f"; **{plain(one.leader)}** leads with {seconds_text(one.leader_s)}"
        where = f"**{plain(one.board)}** ({plain(one.device)})"
        made = counted(one.submissions, "submission")
        lines.append(f"{where}: {made}, {one.authors} ranked{leader}")
        if len("\n".join(lines)) > MESSAGE_LIMIT:
            return "\n".join(lines[:-1])
    return "\n".join(lines)
