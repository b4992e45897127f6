"""Leaderboards and their problems."""

import re
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import organises, require_creator, require_organiser
from kernelbot.boards import store as boards
from kernelbot.boards.model import (
    Board,
    BoardProblem,
    Destination,
    NamedBoard,
    OwnedBoard,
    ProblemDefinition,
    Visibility,
)
from kernelbot.boards.problem_hashes import problem_hashes
from kernelbot.catalog.bounds import check_bounds
from kernelbot.catalog.competition import DEADLINE_YEARS, DEADLINE_YEARS_TEXT
from kernelbot.catalog.single_reference import problem_of
from kernelbot.domain.bounds import Keep
from kernelbot.domain.errors import Conflict, DeviceNotOffered, NotFound, UserError
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.protocol import HarnessKind, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.store.database import Database, ReadSession
from kernelbot.submissions.source import source_text

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?")
"""ASCII, since existing clients put names into tables and paths as they are."""


@dataclass(frozen=True)
class BoardEdit:
    """What to change of a board. `deadline` None: the deadline is removed."""

    visibility: Visibility | None = None
    deadline: datetime | Keep | None = Keep.KEEP
    reveal_code: bool | None = None
    """Whether everyone who sees the board may read its code after the deadline."""
    fixed_seed: bool | None = None
    """Whether all secret runs share one seed."""
    refuse_unavailable: bool | None = None
    """Whether submissions for a device that takes no jobs are refused; else they wait."""
    try_on_cpu: bool | None = None
    """Whether tests are also taken for processors that the board doesn't offer."""


class Boards:
    """Boards are found by name, in upper or lower case."""

    def __init__(self, database: Database, devices: tuple[DeviceConfig, ...]) -> None:
        self._database = database
        self._devices = tuple(device.spec for device in devices)

    async def create(
        self,
        creator: User,
        definition: ProblemDefinition,
        *,
        name: str,
        deadline: datetime | None = None,
        visibility: Visibility = Visibility.PUBLIC,
        devices: tuple[str, ...] | None = None,
    ) -> Board:
        """Open a board. `devices` None: those the definition names that are configured here.

        Raises `NotAllowed` for competitors, `Conflict` when the name is taken, `UserError` for
        an unusable name, an unknown device, or none left, `InvalidProblem`.
        """
        require_creator(creator)
        check_name(name)
        check_bounds(definition)
        if deadline is not None:
            _check_deadline(deadline)
        chosen = self._choose_devices(definition, devices)
        hashes = problem_hashes(definition)
        async with self._database.write() as session:
            board_id = await boards.create(
                session,
                definition,
                hashes,
                name=name,
                creator_id=creator.id,
                visibility=visibility,
                deadline=deadline,
                devices=chosen,
            )
            if board_id is None:
                raise _name_conflict(name)
            created = await boards.by_name(session, name)
            assert created is not None
            detail = {"problem": created.board.problem, "devices": ", ".join(chosen)}
            await audit.record(session, creator, "board.create", f"board:{name}", detail)
        return created.board

    async def check_reference(
        self, creator: User, name: str, file_name: str, content: bytes
    ) -> ProblemDefinition:
        """The problem of a reference file, if the creator may open a board of this name with it.

        Raises as `create_from_reference`.
        """
        require_creator(creator)
        check_name(name)
        definition = problem_of(name, file_name, source_text(content))
        check_bounds(definition)
        async with self._database.read() as session:
            if await boards.by_name(session, name) is not None:
                raise _name_conflict(name)
        return definition

    async def create_from_reference(
        self,
        creator: User,
        *,
        name: str,
        file_name: str,
        content: bytes,
        deadline: datetime,
        devices: tuple[str, ...],
    ) -> Board:
        """Open a board from one reference file (`catalog.single_reference`). Raises as `create`
        and `devices_for`, and `InvalidSubmission` for what isn't text."""
        definition = await self.check_reference(creator, name, file_name, content)
        able = {device.lower() for device in self.devices_for(definition)}
        unable = [device for device in devices if device.lower() not in able]
        lang = definition.spec.lang
        if lang.vendor is not None and unable:
            raise UserError(
                f"{unable[0]!r} can't run {lang.label}.",
                hint=f"Choose devices with an {lang.vendor.upper()} GPU.",
            )
        return await self.create(creator, definition, name=name, deadline=deadline, devices=devices)

    def devices_for(self, definition: ProblemDefinition) -> tuple[str, ...]:
        """The configured devices that can judge the problem: for CUDA those of NVIDIA. Raises
        `UserError` if there is none."""
        vendor = definition.spec.lang.vendor
        found = tuple(one.name for one in self._devices if vendor in (None, one.vendor))
        if not found:
            raise UserError(
                "No device here can judge this problem.",
                hint="Ask the operator to configure one with an NVIDIA GPU.",
            )
        return found

    async def list_boards(self, viewer: User | None, *, guild_id: int | None = None) -> list[Board]:
        """Boards the viewer may see, newest first. None: a stranger, who sees public ones.
        `guild_id`: only those that the Discord guild is about."""
        hidden: set[int] = set()
        async with self._database.read() as session:
            found = await visible_boards(session, viewer)
            if guild_id is not None:
                hidden = await boards.hidden_in(session, guild_id)
        return [one.board for one in found if one.board.id not in hidden]

    async def organised(self, actor: User) -> list[Board]:
        """Boards that the actor organises, newest first. Raises `NotAllowed` for competitors."""
        require_creator(actor)
        async with self._database.read() as session:
            found = await boards.all_boards(session, viewer_id=actor.id)
        return [one.board for one in found if organises(actor, one.creator_id)]

    async def get_organised(self, actor: User, name: str) -> Board:
        """One board that the actor organises. Raises `NotFound` if they can't even see it, else
        `NotAllowed`."""
        async with self._database.read() as session:
            return await organised_board(session, actor, name)

    async def get(self, viewer: User | None, name: str) -> Board:
        """One board. Raises `NotFound`, also if the viewer may not see it."""
        async with self._database.read() as session:
            return await visible_board(session, viewer, name)

    async def edit(self, actor: User, name: str, edit: BoardEdit) -> Board:
        """Change what is given. Raises `NotFound`, `NotAllowed`, `UserError`."""
        if isinstance(edit.deadline, datetime):
            _check_deadline(edit.deadline)
        async with self._database.write() as session:
            shown = await organised_board(session, actor, name)
            await boards.lock(session, shown.id)
            before = await organised_board(session, actor, shown.name)  # others may have changed it
            after = _edited(before, edit)
            _check_tries(after, edit)
            await boards.edit(session, after)
            detail = _changes(before, after)
            await audit.record(session, actor, "board.edit", f"board:{before.name}", detail)
        return after

    def tried_on(self, board: NamedBoard) -> tuple[str, ...]:
        """The processors that the board doesn't offer and takes tests for."""
        if not board.try_on_cpu:
            return ()
        names = (device.name for device in self._devices if device.vendor is Vendor.CPU)
        return tuple(name for name in names if name not in board.devices)

    async def problem(self, viewer: User | None, name: str) -> BoardProblem:
        """A board's statement and starter files. Raises `NotFound`."""
        async with self._database.read() as session:
            board = await visible_board(session, viewer, name)
            definition = await boards.definition(session, board.problem_version_id)
        return BoardProblem(
            board=board.name,
            problem=board.problem,
            description=definition.description,
            lang=definition.spec.lang,
            submission_name=definition.spec.submission_name,
            templates=definition.templates,
            leaderboard=board,
            spec=definition.spec,
        )

    def _choose_devices(
        self, definition: ProblemDefinition, wanted: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        by_lower = {one.name.lower(): one.name for one in self._devices}
        known = ", ".join(by_lower.values()) or "none"
        if wanted is None:
            chosen = [by_lower[d.lower()] for d in definition.devices if d.lower() in by_lower]
            if not chosen:
                raise UserError(
                    f"None of the problem's devices ({', '.join(definition.devices) or 'none'}) "
                    f"is configured here.",
                    hint=f"Name some of: {known}.",
                )
        else:
            unknown = [name for name in wanted if name.lower() not in by_lower]
            if unknown or not wanted:
                raise UserError(
                    f"There is no device named {unknown[0]!r} here."
                    if unknown
                    else "A board needs at least one device.",
                    hint=f"Configured devices: {known}.",
                )
            chosen = [by_lower[name.lower()] for name in wanted]
        return tuple(dict.fromkeys(chosen))


async def find_board(session: ReadSession, viewer: User | None, name: str) -> OwnedBoard:
    """The board of that name with its creator and the sizes of its rankings, if the viewer may see
    it; else raises `NotFound`."""
    viewer_id = viewer.id if viewer else None
    found = None
    if "\x00" not in name:
        found = await boards.by_name(session, name, viewer_id=viewer_id)
    if found is None or not may_see(viewer, found):
        raise no_board(name)
    return found


async def visible_boards(session: ReadSession, viewer: User | None) -> list[OwnedBoard]:
    """Every board that the viewer may see, the newest first."""
    found = await boards.all_boards(session, viewer_id=viewer.id if viewer else None)
    return [one for one in found if may_see(viewer, one)]


async def visible_board(session: ReadSession, viewer: User | None, name: str) -> Board:
    """The board of that name if the viewer may see it; else raises `NotFound`."""
    return (await find_board(session, viewer, name)).board


async def sees_board(session: ReadSession, viewer: User | None, name: str) -> bool:
    """Whether the viewer may see the board of that name."""
    try:
        await find_board(session, viewer, name)
    except NotFound:
        return False
    return True


async def organised_board(session: ReadSession, actor: User, name: str) -> Board:
    """The board of that name if the actor organises it. Raises `NotFound` if they can't even see
    it, else `NotAllowed`."""
    found = await find_board(session, actor, name)
    require_organiser(actor, found.board.name, found.creator_id)
    return found.board


def may_see(viewer: User | None, found: OwnedBoard | Destination) -> bool:
    """Everyone sees public boards; closed ones are for their creator, admins and the invited."""
    if found.visibility == Visibility.PUBLIC:
        return True
    return viewer is not None and (organises(viewer, found.creator_id) or found.invited)


def offered_device(board: Board | Destination, device: str | None) -> str:
    """The device as the board spells it, found in upper or lower case; None: its first. Raises
    `DeviceNotOffered`."""
    offered = {name.lower(): name for name in board.devices}
    chosen = board.devices[0] if device is None else offered.get(device.lower())
    if chosen is None:
        raise DeviceNotOffered(
            f"Board {board.name!r} doesn't offer {device!r}.",
            hint=f"It offers: {', '.join(board.devices)}.",
        )
    return chosen


def no_board(name: str) -> NotFound:
    """The error for a board that doesn't exist, or that the asker may not see."""
    return NotFound(f"There is no board named {name!r}.", next_step=Next.LIST_BOARDS)


def no_submission(submission_id: int) -> NotFound:
    """The error for a submission that doesn't exist, or is on a board that the asker can't see."""
    return NotFound(f"There is no submission {submission_id}.", next_step=Next.LIST_SUBMISSIONS)


def _name_conflict(name: str) -> Conflict:
    return Conflict(f"There is already a board named {name!r}.", next_step=Next.CHOOSE_ANOTHER_NAME)


def check_name(name: str) -> None:
    """Raises `UserError` for what can't be a board's name."""
    if not _NAME.fullmatch(name):
        raise UserError(
            "A board's name has 1 to 64 of A-Z a-z 0-9 _ . - and begins and ends with a letter "
            "or digit.",
            next_step=Next.CHOOSE_ANOTHER_NAME,
        )


def _edited(before: Board, edit: BoardEdit) -> Board:
    changes = {name: value for name, value in vars(edit).items() if value is not None}
    changes["deadline"] = before.deadline if edit.deadline is Keep.KEEP else edit.deadline
    return replace(before, **changes)


def _check_tries(board: Board, edit: BoardEdit) -> None:
    """Raises `UserError` if tests can't be taken for a processor."""
    if edit.try_on_cpu and board.harness is HarnessKind.SCRIPT:
        raise UserError(
            f"The problem of {board.name!r} is judged by a script of its own, which needs the "
            "board's devices: it can't be tried on a processor."
        )


def _changes(before: Board, after: Board) -> audit.Detail:
    names = [field.name for field in fields(BoardEdit)]
    both = {name: (getattr(before, name), getattr(after, name)) for name in names}
    return {
        name: f"{_shown(was)} -> {_shown(now)}" for name, (was, now) in both.items() if was != now
    }


def _shown(value: Visibility | datetime | bool | None) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%F %R} UTC"
    return "none" if value is None else str(value).lower()


def _check_deadline(deadline: datetime) -> None:
    if deadline.tzinfo is None:
        raise UserError("A deadline needs a time zone.", hint="End it with +00:00 for UTC.")
    if deadline.year not in DEADLINE_YEARS:
        raise UserError(
            f"A deadline is {DEADLINE_YEARS_TEXT}.", hint="Without one a board never ends."
        )
