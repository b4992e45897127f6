"""Syncing: boards from the competition files of a repository, an archive or a folder."""

import asyncio
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin
from kernelbot.boards import store as boards
from kernelbot.boards.model import ProblemDefinition
from kernelbot.boards.problem_hashes import ProblemHashes, problem_hashes
from kernelbot.boards.rules import has_ended
from kernelbot.boards.service import check_name
from kernelbot.boards.sync import store as sync
from kernelbot.boards.sync.model import (
    ArchiveOutcome,
    SyncAction,
    SyncItem,
    SyncOptions,
    SyncOutcome,
)
from kernelbot.boards.sync.store import SyncedBoard
from kernelbot.catalog import git
from kernelbot.catalog.archive import unpack
from kernelbot.catalog.competition import Competition, CompetitionProblem
from kernelbot.catalog.problem_sets import ProblemSet, SetEntry, read_sets
from kernelbot.domain.errors import Conflict, UserError
from kernelbot.domain.scratch import scratch_folder
from kernelbot.moderation.audit import service as audit
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.store.database import Database, ReadSession, WriteSession

Bring = Callable[[Path], tuple[Path, str | None]]
"""Brings problems below a fresh folder; returns where they are and of which commit."""


@dataclass(frozen=True)
class _Wanted:
    """A board as its competition file asks for it, before the database is read."""

    listed: CompetitionProblem
    competition: Competition
    definition: ProblemDefinition
    hashes: ProblemHashes
    devices: tuple[str, ...]


@dataclass(frozen=True)
class _Step:
    """What happens to a board. `wanted` None: nothing can."""

    item: SyncItem
    wanted: _Wanted | None = None
    before: SyncedBoard | None = None


class Sync:
    """For admins. Everything is read and checked first; then all boards change in one
    transaction, those without mistakes even if others have some."""

    def __init__(
        self,
        database: Database,
        devices: tuple[DeviceConfig, ...],
        default_repository: str | None = None,
    ) -> None:
        self._database = database
        self._devices = tuple(device.spec.name for device in devices)
        self._default = default_repository

    @property
    def default(self) -> str | None:
        """The configured repository, without its password; None: none is."""
        return git.without_password(self._default) if self._default else None

    async def from_repository(
        self,
        actor: User,
        repository: str | None = None,
        ref: str | None = None,
        options: SyncOptions | None = None,
    ) -> SyncOutcome:
        """A branch, tag or commit (None: the default branch) of a git repository (None: that of
        PROBLEMS_REPO). Raises as `catalog.git.fetch`, and `InvalidProblem` without competitions.
        """
        require_admin(actor)
        source = repository or self._default
        if source is None:
            raise UserError("No repository is named.", hint="Name one, or set PROBLEMS_REPO.")
        url = git.repository_url(source)
        over = threading.Event()

        def bring(folder: Path) -> tuple[Path, str | None]:
            commit = git.fetch(url, ref, folder, over=over)
            return folder / "checkout", commit

        shown = git.without_password(source)
        try:
            return await self._sync(actor, shown, bring, options or SyncOptions())
        finally:
            over.set()  # the thread outlives a request that is cancelled

    async def from_archive(
        self, actor: User, archive: BinaryIO, name: str, options: SyncOptions | None = None
    ) -> ArchiveOutcome:
        """A zip or tar.gz file. Raises `InvalidProblem` as `catalog.archive.unpack`, `Conflict` if
        the plan was made of another."""
        require_admin(actor)
        wanted = options or SyncOptions()
        digest = await asyncio.to_thread(_sha256, archive)
        if wanted.archive not in (None, digest):
            raise Conflict(
                "This isn't the archive that the plan was made of, so nothing was done.",
                hint="Choose the same file, or look at the plan of this one first.",
            )

        def bring(folder: Path) -> tuple[Path, str | None]:
            unpack(archive, folder)
            return folder, None

        outcome = await self._sync(actor, name, bring, wanted)
        return ArchiveOutcome(**vars(outcome), archive=digest)

    async def from_folder(
        self, actor: User, folder: Path, options: SyncOptions | None = None
    ) -> SyncOutcome:
        """A folder on this machine's disk."""
        require_admin(actor)
        return await self._sync(
            actor, str(folder), lambda _: (folder, None), options or SyncOptions()
        )

    async def _sync(
        self, actor: User, source: str, bring: Bring, options: SyncOptions
    ) -> SyncOutcome:
        sets, commit = await asyncio.to_thread(_bring, bring, options.problem_set)
        if options.dry_run:
            async with self._database.read() as reading:
                steps = await self._plan(reading, sets, options)
        else:
            async with self._database.write(unhurried=True) as session:
                names = [entry.listed.name for found in sets for entry in found.entries]
                await sync.lock(session, names)
                steps = await self._plan(session, sets, options)
                outcome = _outcome(source, commit, sets, steps, applied=True)
                if options.plan not in (None, outcome.digest):
                    raise Conflict(
                        "Something has changed since the plan was shown, so nothing was done.",
                        hint="Look at the new plan first.",
                    )
                await _apply(session, actor, steps, options)
                await audit.record(session, actor, "problems.sync", source, _detail(outcome))
        return _outcome(source, commit, sets, steps, applied=not options.dry_run)

    async def _plan(
        self, session: ReadSession, sets: tuple[ProblemSet, ...], options: SyncOptions
    ) -> list[_Step]:
        steps: list[_Step] = []
        seen: dict[str, str] = {}
        for found in sets:
            if found.competition is None:
                steps.append(_error(found.file, found.file, found.error or ""))
                continue
            for entry in found.entries:
                lower = entry.listed.name.lower()
                if lower in seen:
                    reason = f"{seen[lower]} lists a board of that name too"
                    steps.append(_error(entry.listed.name, found.competition.name, reason))
                    continue
                seen[lower] = found.file
                steps.append(await self._step(session, found.competition, entry, options))
        # If only one file was read, another may list them under the same competition.
        dropped = [] if options.problem_set else await _dropped(session, sets, set(seen))
        return [*steps, *dropped]

    async def _step(
        self, session: ReadSession, competition: Competition, entry: SetEntry, options: SyncOptions
    ) -> _Step:
        name = entry.listed.name
        if entry.definition is None:
            return _error(name, competition.name, entry.error or "")
        try:
            check_name(name)
            hashes = problem_hashes(entry.definition)
        except UserError as error:
            return _error(name, competition.name, str(error))
        here = {device.lower(): device for device in self._devices}
        named = entry.definition.devices
        devices = tuple(dict.fromkeys(here[d.lower()] for d in named if d.lower() in here))
        wanted = _Wanted(entry.listed, competition, entry.definition, hashes, devices)
        before = await sync.board(session, name)
        action, reason = _decide(wanted, before, options, datetime.now(UTC))
        return _Step(SyncItem(action, name, competition.name, reason), wanted, before)


async def _dropped(
    session: ReadSession, sets: tuple[ProblemSet, ...], listed: set[str]
) -> list[_Step]:
    """Boards that a competition no longer lists: they stay, and are reported."""
    competitions = dict.fromkeys(found.competition.name for found in sets if found.competition)
    reason = "not listed any more; it stays until somebody deletes it: kernelbot board delete"
    return [
        _Step(SyncItem(SyncAction.SKIP, board, name, reason))
        for name in competitions
        for board in await sync.boards_of(session, name)
        if board.lower() not in listed
    ]


def _outcome(
    source: str,
    commit: str | None,
    sets: tuple[ProblemSet, ...],
    steps: list[_Step],
    *,
    applied: bool,
) -> SyncOutcome:
    warnings = dict.fromkeys(warning for found in sets for warning in found.warnings)
    items = tuple(step.item for step in steps)
    return SyncOutcome(source, commit, applied, items, warnings=tuple(warnings))


def _sha256(archive: BinaryIO) -> str:
    """The digest of the whole file. Blocks."""
    archive.seek(0)
    found = hashlib.file_digest(archive, "sha256")  # type: ignore[arg-type]  # files can read into
    return found.hexdigest()


def _bring(bring: Bring, only: str | None) -> tuple[tuple[ProblemSet, ...], str | None]:
    with scratch_folder("kernelbot-sync-") as folder:
        root, commit = bring(folder)
        return read_sets(root, only=only), commit


def _error(board: str, competition: str, reason: str) -> _Step:
    return _Step(SyncItem(SyncAction.ERROR, board, competition, reason))


def _decide(
    wanted: _Wanted, before: SyncedBoard | None, options: SyncOptions, now: datetime
) -> tuple[SyncAction, str]:
    if not wanted.devices:
        named = ", ".join(wanted.definition.devices) or "it names none"
        return SyncAction.SKIP, f"none of its devices is configured here ({named})"
    if before is None:
        return SyncAction.CREATE, f"on {', '.join(wanted.devices)}"
    if before.competition != wanted.competition.name and not options.force:
        owner = f"of {before.competition!r}" if before.competition else "made by hand"
        return SyncAction.SKIP, f"there is a board of that name, {owner}; use force to take it over"
    changes = _changes(wanted, before)
    if not changes:
        return SyncAction.SKIP, "unchanged"
    deadline = wanted.listed.deadline
    over = has_ended(before.board.deadline, now)
    if over and has_ended(deadline, now) and not options.force:
        return SyncAction.SKIP, "its deadline has passed; use force to change it all the same"
    return SyncAction.UPDATE, ", ".join(changes)


def _new_version(before: SyncedBoard) -> str:
    """What it does to the ranking, and how to measure the best again."""
    what = "a new version of the problem"
    if not before.scores:
        return what
    leave = "1 score leaves" if before.scores == 1 else f"{before.scores} scores leave"
    again = " and ".join(
        f"kernelbot board rejudge {before.board.name} --device {device}"
        for device in before.board.devices
    )
    return f"{what} ({leave} the ranking; to measure the best again on it, afterwards: {again})"


def _devices(wanted: _Wanted, before: SyncedBoard) -> str:
    """The devices that a board will have, and what becomes of the rankings of those that it
    loses."""
    what = f"devices: {', '.join(wanted.devices)}"
    gone = [device for device in before.board.devices if device not in wanted.devices]
    if not gone:
        return what
    them = "it" if len(gone) == 1 else "them"
    return (
        f"{what} (no longer {', '.join(gone)}: the scores there leave the ranking, and come back"
        f" with rejudges and duels once a sync offers {them} again)"
    )


def _has_other_text(wanted: _Wanted, before: SyncedBoard) -> bool:
    """Whether more than the list of devices has changed of what is for people."""
    if before.content_hash == wanted.hashes.content:
        return False
    with_that_list = replace(wanted.definition, devices=before.named)
    return before.content_hash != problem_hashes(with_that_list).content


def _changes(wanted: _Wanted, before: SyncedBoard) -> list[str]:
    board = before.board
    judged = before.judging_hash != wanted.hashes.judging
    named = before.named != wanted.definition.devices
    return [
        what
        for what, differs in (
            (_new_version(before), judged),
            ("the text", not judged and _has_other_text(wanted, before)),
            (_devices(wanted, before), board.devices != wanted.devices),
            ("the devices that it names", named and not judged and board.devices == wanted.devices),
            (
                f"the deadline: {_moment(board.deadline)} -> {_moment(wanted.listed.deadline)}",
                board.deadline != wanted.listed.deadline,
            ),
            ("who reads code", board.reveal_code != wanted.competition.reveal_code),
            ("the secret seeds", board.fixed_seed != wanted.competition.fixed_seed),
            ("the competition", before.competition != wanted.competition.name),
        )
        if differs
    ]


def _moment(deadline: datetime | None) -> str:
    return "none" if deadline is None else f"{deadline.astimezone(UTC):%F %R} UTC"


async def _apply(
    session: WriteSession, actor: User, steps: list[_Step], options: SyncOptions
) -> None:
    changing = [s for s in steps if s.item.action in (SyncAction.CREATE, SyncAction.UPDATE)]
    await sync.lock_rankings(session, [step.before.board.id for step in changing if step.before])
    for step in sorted(changing, key=lambda step: step.before.board.id if step.before else 0):
        assert step.wanted is not None, "only what was read changes anything"
        await _apply_one(session, actor, step.wanted, step.before, options)
        if step.before is not None:
            subject = f"board:{step.before.board.name}"
            await audit.record(session, actor, "board.sync", subject, {"changed": step.item.reason})


async def _apply_one(
    session: WriteSession,
    actor: User,
    wanted: _Wanted,
    before: SyncedBoard | None,
    options: SyncOptions,
) -> None:
    competition = wanted.competition
    if before is None:
        name = wanted.listed.name
        board_id = await boards.create(
            session,
            wanted.definition,
            wanted.hashes,
            name=name,
            creator_id=actor.id,
            visibility=options.visibility,
            deadline=wanted.listed.deadline,
            devices=wanted.devices,
        )
        if board_id is None:  # somebody has made it by hand since it was looked up
            raise Conflict(f"A board named {name!r} was made meanwhile.", hint="Sync again.")
        detail: audit.Detail = {
            "problem": wanted.definition.spec.name,
            "devices": ", ".join(wanted.devices),
            "competition": competition.name,
        }
        await audit.record(session, actor, "board.create", f"board:{name}", detail)
    else:
        board_id = before.board.id
        await sync.update(
            session,
            board_id,
            problem_version_id=await boards.add_version(session, wanted.definition, *wanted.hashes),
            description=wanted.definition.description,
            deadline=wanted.listed.deadline,
            devices=wanted.devices,
        )
    competition_id = await sync.competition(
        session, competition.name, competition.description, competition.deadline
    )
    await sync.assign(
        session,
        board_id,
        competition_id,
        reveal_code=competition.reveal_code,
        fixed_seed=competition.fixed_seed,
    )


def _detail(outcome: SyncOutcome) -> audit.Detail:
    counts = {action.value: len(outcome.with_action(action)) for action in SyncAction}
    return {**counts, "commit": outcome.commit}
