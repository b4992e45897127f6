"""What is checked before a submission is accepted, in the order that people are told of it."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from kernelbot.domain.errors import (
    Banned,
    BoardClosed,
    DeviceNotOffered,
    InvalidSubmission,
    NotAllowed,
)
from kernelbot.domain.source import source_text
from kernelbot.domain.types import Board, NewSubmission, User
from kernelbot.services.boards import find_board, may_see
from kernelbot.services.directives import Directives, read_directives
from kernelbot.services.limits import count_submission
from kernelbot.services.platform import check_accepting
from kernelbot.store.database import ReadSession, WriteSession

_FILE_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,250}\.(?:py|cu|cuh|cpp)")


@dataclass(frozen=True)
class Accepted:
    """Where a submission goes."""

    board: Board
    devices: tuple[str, ...]


def check_upload(new: NewSubmission, devices: tuple[str, ...]) -> str:
    """The source text, if devices exist here and size and encoding are right."""
    known = {name.lower() for name in devices}
    for device in new.devices:
        if device.lower() not in known:
            raise DeviceNotOffered(
                f"There is no device named {device!r} here.",
                hint=f"Devices: {', '.join(devices) or 'none'}.",
            )
    code = source_text(new.content)
    if "\x00" in code:
        raise InvalidSubmission("The file holds a NUL character, so it isn't a source text.")
    if not code.strip():
        raise InvalidSubmission("The file is empty.", hint="Did you save it?")
    return code


async def check(
    session: WriteSession, author: User, new: NewSubmission, code: str, *, late: bool
) -> Accepted:
    """Board and devices, if this author may submit there now; that counts towards his limits.
    `late`: an admin has allowed it past the deadline."""
    await check_accepting(session)
    if author.banned_at is not None:
        raise Banned("This account is banned from submitting.", hint="Ask an admin.")
    if not _FILE_NAME.fullmatch(new.file_name) or not new.file_name.isprintable():
        raise InvalidSubmission(
            "The file's name must end in .py, .cu, .cuh or .cpp and have no slashes, line breaks "
            "or other control characters."
        )
    directives = read_directives(code)
    board = await _open_board(session, author, _board_name(new, directives), late=late)
    await count_submission(session, author, board, new.mode)
    return Accepted(board, _devices(board, new.devices or directives.devices))


def _board_name(new: NewSubmission, directives: Directives) -> str:
    told, written = new.board, directives.board
    if told is None and written is None:
        raise InvalidSubmission(
            "No board is named.",
            hint="Use --board, or write `#!POPCORN leaderboard NAME` at the top of the file.",
        )
    if told is not None and written is not None and told.lower() != written.lower():
        raise InvalidSubmission(
            f"The file is for board {written!r} and was submitted to {told!r}.",
            hint="Change its `#!POPCORN leaderboard` line.",
        )
    name = told if told is not None else written
    assert name is not None
    return name


async def _open_board(session: ReadSession, author: User, name: str, *, late: bool) -> Board:
    found = await find_board(session, author, name)
    if not may_see(author, found):
        raise NotAllowed(f"Board {found.board.name!r} is closed.", hint="Ask for an invite.")
    deadline = found.board.deadline
    if deadline is not None and deadline <= datetime.now(UTC) and not late:
        raise BoardClosed(
            f"The deadline of {found.board.name!r} passed at {deadline.astimezone(UTC):%F %R} UTC."
        )
    return found.board


def _devices(board: Board, wanted: tuple[str, ...]) -> tuple[str, ...]:
    offered = {device.lower(): device for device in board.devices}
    hint = f"It offers: {', '.join(board.devices)}."
    if not wanted:
        if len(board.devices) > 1:
            raise DeviceNotOffered(
                f"Board {board.name!r} has several devices: name one.", hint=hint
            )
        return board.devices
    for device in wanted:
        if device.lower() not in offered:
            raise DeviceNotOffered(f"Board {board.name!r} doesn't offer {device!r}.", hint=hint)
    return tuple(dict.fromkeys(offered[device.lower()] for device in wanted))
