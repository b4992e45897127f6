"""Reading boards: lists and rankings in pages, reference files, starter files."""

import asyncio
import hashlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import discord

from kernelbot.accounts.model import User
from kernelbot.boards.model import Board, BoardProblem
from kernelbot.boards.rules import has_ended
from kernelbot.bot.acting import acting
from kernelbot.bot.answers import Attached, fenced
from kernelbot.bot.presses import Words, menu, pages, press_id, shown
from kernelbot.domain.errors import DeviceNotOffered, NotFound
from kernelbot.protocol import Lang
from kernelbot.render.markdown import MESSAGE_LIMIT, fence, inline, plain
from kernelbot.render.standings import SHARED_RANK, rank_text, standings_csv, standings_table
from kernelbot.render.table import table
from kernelbot.render.units import seconds_text
from kernelbot.submissions.model import Submission

if TYPE_CHECKING:
    from kernelbot.bot.client import KernelBot
    from kernelbot.services import Services

LIST_PAGE, RANKING_PAGE, OWN_PAGE = 5, 10, 10
_COLUMNS = 76
"""What a desktop shows of a block in one line; a phone scrolls."""
_ALL = "-"
"""Instead of a device."""
_KEY = 8
"""Characters that tell a board's devices apart."""
Shown = tuple[str, discord.ui.View | None]


def is_active(board: Board) -> bool:
    """Whether it accepts submissions."""
    return not has_ended(board.deadline, datetime.now(UTC))


def deadline_text(board: Board) -> str:
    """The deadline in the reader's own time zone."""
    if board.deadline is None:
        return "no deadline"
    stamp = int(board.deadline.timestamp())
    return f"{'until' if is_active(board) else 'ended'} <t:{stamp}:f> (<t:{stamp}:R>)"


async def list_page(services: "Services", viewer: User, guild_id: int | None, page: int) -> Shown:
    """Active boards that the guild is about, five at a time."""
    found = await services.boards.list_boards(viewer, guild_id=guild_id)
    active = [board for board in found if is_active(board)]
    if not active:
        return "There is no active leaderboard just now.", None
    count = -(-len(active) // LIST_PAGE)
    page = min(max(page, 0), count - 1)
    lines = [
        f"**{plain(board.name)}**: {deadline_text(board)}, on {plain(', '.join(board.devices))}"
        for board in active[page * LIST_PAGE :][:LIST_PAGE]
    ]
    head = f"Active leaderboards ({page + 1} of {count})" if count > 1 else "Active leaderboards"
    buttons = pages("boards", page, count)
    return "\n".join([head, *lines]), shown(*buttons) if buttons else None


async def ranking_page(
    services: "Services", viewer: User, name: str, device: str | None, page: int
) -> Shown:
    """A board's ranking on a device, with a menu of devices if it has several."""
    found = await services.standings.ranking(viewer, name, device)
    board, count = found.board, max(1, -(-found.total // RANKING_PAGE))
    page = min(page, count - 1)
    read = await services.standings.page_of(
        found, limit=RANKING_PAGE, offset=max(page, 0) * RANKING_PAGE
    )
    first = (await services.standings.page_of(found, limit=1, offset=0)).standings
    head = f"**{plain(board.name)}** on {plain(found.device)}: {found.total} ranked"
    head += f" ({page + 1} of {count})" if count > 1 else ""
    leader_s = first[0].score_s if first else None
    text = f"{head}\n{fence(standings_table(read.standings, _COLUMNS, leader_s=leader_s))}"
    if any(row.shared for row in read.standings):
        text += f"\n{SHARED_RANK}"
    items: list[discord.ui.Item[discord.ui.View]] = [
        *pages("ranking", page, count, board.name, device_key(found.device))
    ]
    if len(board.devices) > 1:
        items.append(device_menu(board, press_id("ranking-on", board.name)))
    return text, shown(*items) if items else None


async def ranking_file(services: "Services", viewer: User, name: str) -> list[Attached]:
    """The whole ranking on the board's first device as CSV; nothing if nobody is ranked."""
    page = await services.standings.table(viewer, name, None)
    file = f"{page.board}-{page.device}.csv"
    if not page.standings:
        return []
    text = await asyncio.to_thread(standings_csv, page.standings)
    return [Attached.text(file, text)]


def device_menu(board: Board, custom_id: str) -> discord.ui.Select[discord.ui.View]:
    """A menu of the board's devices, by their names: a sync may order them anew meanwhile."""
    return menu("Choose a GPU", custom_id, _named(board))


def _named(board: Board) -> list[tuple[str, str]]:
    return [(device, device) for device in board.devices]


def device_key(device: str) -> str:
    """A device in a button's id, in which two of the longest names have no room."""
    return hashlib.sha256(device.encode()).hexdigest()[:_KEY]


async def device_chosen(services: "Services", viewer: User, name: str, word: str) -> str | None:
    """The board's device that a menu names, or a button by its key; None: all of them. Raises
    `NotFound`, and `DeviceNotOffered` if it is gone."""
    if word == _ALL:
        return None
    board = await services.boards.get(viewer, name)
    for device in board.devices:
        if word in (device, device_key(device)):
            return device
    raise DeviceNotOffered(
        f"Board {board.name!r} no longer offers that device.",
        hint=f"It offers: {', '.join(board.devices)}.",
    )


async def own_page(
    services: "Services", viewer: User, name: str, device: str | None, page: int
) -> Shown:
    """The viewer's submissions to a board, newest first, with a menu of devices if it has several.
    `device` None: on all of them."""
    board = await services.boards.get(viewer, name)
    page = max(page, 0)
    found = await services.submission_lists.own(
        viewer, board=board.name, device=device, limit=OWN_PAGE + 1, offset=page * OWN_PAGE
    )
    where = f"**{plain(board.name)}**" + (f" on {plain(device)}" if device else "")
    if found or page > 0:
        headers = ("submission", "mode", "result", "score", "place", "file")
        rows = [_own_row(one) for one in found[:OWN_PAGE]]
        right = ("submission", "score", "place")
        block = fence(table(headers, rows, right=right, columns=_COLUMNS))
        text = f"Your submissions on {where}\n{block}"
    else:
        text = f"You have no submissions on {where} yet."
    count = page + (2 if len(found) > OWN_PAGE else 1)
    word = device_key(device) if device else _ALL
    items: list[discord.ui.Item[discord.ui.View]] = [*pages("own", page, count, board.name, word)]
    if len(board.devices) > 1:
        choices = [("All GPUs", _ALL), *_named(board)]
        items.append(menu("Choose a GPU", press_id("own-on", board.name), choices))
    return text, shown(*items) if items else None


def _own_row(one: Submission) -> tuple[str, ...]:
    result = one.verdict.words if one.verdict else str(one.state)
    score = seconds_text(one.score_s) if one.score_s else ""
    place = rank_text(one.place, one.place_is_shared) if one.place else ""
    return f"#{one.id}", str(one.mode), result, score, place, one.file_name


def task(problem: BoardProblem, thread_id: int | None = None) -> tuple[str, list[Attached]]:
    """The statement and the reference's files, and the board's thread."""
    text = f"**{plain(problem.board)}**: {deadline_text(problem.leaderboard)}\n"
    text += f"Talk about it in <#{thread_id}>.\n" if thread_id is not None else ""
    said = problem.description or "There is no description."
    statement, whole = fenced(said, MESSAGE_LIMIT - len(text), "statement.md")
    files = [Attached.text(file.name, file.text) for file in problem.files]
    return text + statement, [*whole, *files]


def template(problem: BoardProblem, language: str) -> Attached:
    """A starter file, ready to be submitted. Raises `NotFound`."""
    by_lower = {name.lower(): name for name in problem.templates}
    wanted = by_lower.get(language.strip().lower())
    if wanted is None:
        known = ", ".join(problem.templates) or "none"
        raise NotFound(
            f"{problem.board} has no starter file in {language!r}.", hint=f"There is: {known}."
        )
    text = problem.templates[wanted]
    lang = Lang(problem.lang)
    sign = lang.comment
    board = problem.leaderboard
    ends = f"{board.deadline.astimezone(UTC):%F %R} UTC" if board.deadline else "none"
    head = [f"{sign}!POPCORN leaderboard {board.name}", f"{sign}!POPCORN gpu {board.devices[0]}"]
    named = [line for line in text.splitlines()[:20] if "!POPCORN" in line]
    about = [*(problem.description or "").strip().splitlines(), "", f"Deadline: {ends}"]
    comments = [f"{sign} {line}".rstrip() for line in about]
    lines = [*([] if named else head), "", *comments, "", text]
    return Attached.text(f"{board.name}{lang.suffixes[0]}", "\n".join(lines).lstrip("\n"))


def submission(one: Submission) -> tuple[str, list[Attached]]:
    """A past submission with its code."""
    result = one.verdict.words if one.verdict else str(one.state)
    lines = [f"Submission {one.id} to **{plain(one.board)}**: {result} ({one.mode})"]
    lines.append(
        f"{inline(one.file_name)} by {plain(one.author)}, <t:{int(one.created_at.timestamp())}:f>"
    )
    if one.score_s:
        place = f", place {rank_text(one.place, one.place_is_shared)}" if one.place else ""
        lines.append(f"Score {seconds_text(one.score_s)}{place}")
    lines += [plain(one.not_ranked.sentence)] if one.not_ranked else []
    rows = [
        (
            run.device,
            "secret" if run.secret else "public",
            run.verdict.words if run.verdict else str(run.state),
        )
        for run in one.runs
    ]
    lines.append(fence(table(("device", "run", "result"), rows)))
    files = [Attached.text(one.file_name, one.code)] if one.code is not None else []
    return "\n".join(lines), files


async def _turn_list(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    viewer = await acting(bot.services, interaction)
    text, view = await list_page(bot.services, viewer, interaction.guild_id, _number(words[-1]))
    await interaction.edit_original_response(content=text, view=view)


async def _turn_ranking(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    viewer = await acting(bot.services, interaction)
    device = await device_chosen(bot.services, viewer, words[0], words[1])
    text, view = await ranking_page(bot.services, viewer, words[0], device, _number(*words[2:]))
    await interaction.edit_original_response(content=text, view=view)


async def _turn_own(bot: "KernelBot", interaction: discord.Interaction, words: Words) -> None:
    viewer = await acting(bot.services, interaction)
    device = await device_chosen(bot.services, viewer, words[0], words[1])
    text, view = await own_page(bot.services, viewer, words[0], device, _number(*words[2:]))
    await interaction.edit_original_response(content=text, view=view)


def _number(word: str = "0") -> int:
    return int(word) if word.isascii() and word.isdigit() and len(word) < 9 else 0


PRESSES = {
    "boards": _turn_list,
    "ranking": _turn_ranking,
    "ranking-on": _turn_ranking,
    "own": _turn_own,
    "own-on": _turn_own,
}
