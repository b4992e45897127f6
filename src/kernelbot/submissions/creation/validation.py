"""What is checked before a submission is accepted, in the order of the checks."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.boards.limits.model import LimitCategory
from kernelbot.boards.model import Destination
from kernelbot.boards.rules import has_ended
from kernelbot.boards.service import may_see, no_board, offered_device
from kernelbot.domain.errors import (
    Banned,
    BoardClosed,
    Conflict,
    DeviceNotOffered,
    DeviceUnavailable,
    InvalidSubmission,
    NotAllowed,
    UserError,
)
from kernelbot.domain.next_steps import Next
from kernelbot.platform.service import check_accepting
from kernelbot.protocol import Lang, Mode
from kernelbot.runs.devices.service import why_unavailable
from kernelbot.store.database import ReadSession
from kernelbot.submissions.creation import store as new_submissions
from kernelbot.submissions.directives import Directives, read_directives
from kernelbot.submissions.model import NewSubmission
from kernelbot.submissions.source import check_language, listed_suffixes, source_text

_FILE_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,250}(?P<suffix>\.[a-z]+)")


@dataclass(frozen=True)
class SubmissionTarget:
    board: Destination
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
    session: ReadSession,
    author: User,
    new: NewSubmission,
    code: str,
    *,
    late: bool,
    processors: tuple[str, ...] = (),
) -> SubmissionTarget:
    """Board and devices, if this author may submit there now; the board's limit is still to be
    counted. `late`: an admin has allowed it past the deadline. `processors`: the devices here that
    are no GPU."""
    category = LimitCategory.for_mode(new.mode)
    try:
        directives = _checked(author, new, code)
        name = _board_name(new, directives)
    except UserError:  # reported only if the platform isn't paused
        check_accepting(
            (await new_submissions.load_board_for_submit(session, "", author.id, category))[0]
        )
        raise
    asked = "" if "\x00" in name else name
    state, board = await new_submissions.load_board_for_submit(session, asked, author.id, category)
    check_accepting(state)
    if board is None:
        raise no_board(name)
    _check_open(author, board, late=late)
    check_language(new.file_name, board.lang)
    if new.mode is Mode.LEADERBOARD and board.recurring_data:
        raise Conflict(
            f"Nothing is ranked on {board.name!r} just now: {board.recurring_data}",
            hint="Its organiser has to change the problem. Tests and benchmarks go on.",
        )
    devices = _devices(board, new.devices or directives.devices, new.mode, processors)
    await _check_tries(session, tuple(one for one in devices if one not in board.devices))
    if board.refuse_unavailable:
        await _check_available(session, board.name, devices)
    return SubmissionTarget(board, devices)


def _checked(author: User, new: NewSubmission, code: str) -> Directives:
    if author.banned_at is not None:
        raise Banned("This account is banned from submitting.", next_step=Next.ASK_ADMIN)
    named = _FILE_NAME.fullmatch(new.file_name)
    is_source = named is not None and named["suffix"] in Lang.all_suffixes()
    if not is_source or not new.file_name.isprintable():
        raise InvalidSubmission(
            f"The file's name must end in {listed_suffixes()} and have no slashes, line breaks "
            "or other control characters."
        )
    return read_directives(code)


def _board_name(new: NewSubmission, directives: Directives) -> str:
    given, written = new.board, directives.board
    if given is None and written is None:
        raise InvalidSubmission("No board is named.", next_step=Next.NAME_BOARD)
    if given is not None and written is not None and given.lower() != written.lower():
        raise InvalidSubmission(
            f"The file is for board {written!r} and was submitted to {given!r}.",
            hint="Change its `#!POPCORN leaderboard` line.",
        )
    name = given if given is not None else written
    assert name is not None
    return name


def _check_open(author: User, board: Destination, *, late: bool) -> None:
    if not may_see(author, board):
        raise NotAllowed(f"Board {board.name!r} is closed.", hint="Ask for an invite.")
    deadline = board.deadline
    if deadline is not None and has_ended(deadline, datetime.now(UTC)) and not late:
        raise BoardClosed(
            f"The deadline of {board.name!r} passed at {deadline.astimezone(UTC):%F %R} UTC."
        )


async def _check_available(session: ReadSession, board: str, devices: tuple[str, ...]) -> None:
    """Raises `DeviceUnavailable`."""
    for device in devices:
        if note := await why_unavailable(session, device):
            raise DeviceUnavailable(
                f"{device} takes no submissions just now: {note}.",
                hint=f"Board {board!r} lets none wait. Try again later.",
            )


async def _check_tries(session: ReadSession, devices: tuple[str, ...]) -> None:
    """Trying is for an answer at once. Raises `DeviceUnavailable`."""
    for device in devices:
        if note := await why_unavailable(session, device):
            raise DeviceUnavailable(
                f"Nothing can be tried on {device} just now: {note}.",
                hint="Test it on one of the board's devices, or try again later.",
            )


def _devices(
    board: Destination, wanted: tuple[str, ...], mode: Mode, processors: tuple[str, ...]
) -> tuple[str, ...]:
    if wanted:
        found = (_device(board, device, mode, processors) for device in wanted)
        return tuple(dict.fromkeys(found))
    if len(board.devices) > 1:
        raise DeviceNotOffered(
            f"Board {board.name!r} has several devices: name one.",
            hint=f"It offers: {', '.join(board.devices)}.",
        )
    return board.devices


def _device(board: Destination, wanted: str, mode: Mode, processors: tuple[str, ...]) -> str:
    """The device as the board spells it, or a processor that it takes tests for."""
    processor = next((name for name in processors if name.lower() == wanted.lower()), None)
    if not board.try_on_cpu or processor is None or processor in board.devices:
        return offered_device(board, wanted)
    if mode is not Mode.TEST:
        raise DeviceNotOffered(
            f"On {processor} board {board.name!r} takes tests alone: a processor says nothing of "
            "a GPU's speed.",
            hint=f"Use the mode test, or one of its devices: {', '.join(board.devices)}.",
        )
    return processor
