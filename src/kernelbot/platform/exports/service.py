"""Submissions of chosen boards as a file, or as a dataset for others."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import is_admin, require_admin, require_organiser
from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.rules import has_ended
from kernelbot.boards.service import no_board, visible_boards
from kernelbot.domain.errors import Conflict, KernelbotError, Unavailable, UserError
from kernelbot.domain.scratch import scratch_folder
from kernelbot.moderation.audit import service as audit
from kernelbot.platform.exports import store as exports
from kernelbot.platform.exports.card import CardFile
from kernelbot.platform.exports.csv_file import CsvFile, csv_file
from kernelbot.platform.exports.huggingface import upload
from kernelbot.platform.exports.model import ExportChoice, Exported, ExportFormat, ExportRules
from kernelbot.platform.exports.parquet import ParquetFile, parquet_file
from kernelbot.store.database import Database

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.parquet")
_DAILY = "submissions.parquet"
_AT_ONCE, _WAITING = 2, 8
"""Exports of one process; each keeps a connection and a processor busy for most of its time."""
_WRITERS: dict[
    ExportFormat, Callable[[Path, bytes], AbstractContextManager[ParquetFile | CsvFile]]
] = {ExportFormat.PARQUET: parquet_file, ExportFormat.CSV: csv_file}


class Exports:
    """Exports of a board for its organisers, of all boards for admins."""

    def __init__(self, database: Database, rules: ExportRules | None = None) -> None:
        self._database = database
        self._rules = rules or ExportRules()
        self._running = asyncio.Semaphore(_AT_ONCE)
        self._asked = 0

    @property
    def hub(self) -> str | None:
        """The dataset that uploads go to; None: none is configured."""
        return self._rules.repository if self._rules.token else None

    async def to_file(
        self,
        actor: User,
        choice: ExportChoice,
        file: Path,
        form: ExportFormat = ExportFormat.PARQUET,
    ) -> Exported:
        """Write a file. Raises `NotFound` for a board that isn't there, `NotAllowed`,
        `Unavailable` if pyarrow is missing for Parquet."""
        boards = await self._choose(actor, choice)
        count = await self._write(boards, file, form)
        done = Exported(str(file), tuple(board.name for board in boards), count)
        await self._record(actor, "export.file", done)
        return done

    async def to_hub(
        self, actor: User, choice: ExportChoice, name: str, *, private: bool = True
    ) -> Exported:
        """Upload a Parquet file of this name to the configured dataset. A creator's goes into a
        folder of their own, so that it can replace only their own files.

        Raises as `to_file` and `hub.upload`; `UserError` for a name that doesn't end in .parquet;
        `Conflict` for a public upload while one of the boards still runs, or is a closed board.
        """
        if not _NAME.fullmatch(name):
            raise UserError("The file's name must be plain and end in .parquet.")
        boards = await self._choose(actor, choice)
        if not private:
            _check_public(boards, datetime.now(UTC))
        with scratch_folder("kernelbot-export-") as folder:
            file = folder / name
            count = await self._write(boards, file, ExportFormat.PARQUET)
            path = name if is_admin(actor) else f"creator-{actor.id}/{name}"
            names = tuple(board.name for board in boards)
            about = CardFile(path, names, count, f"{datetime.now(UTC):%Y-%m-%d}")
            where = await asyncio.to_thread(upload, self._rules, file, about, private=private)
        done = Exported(where, names, count)
        await self._record(actor, "export.hub", done, private=private)
        return done

    async def daily(self, actor: User) -> Exported | None:
        """The day's private upload of all boards; None: it isn't due, or another process does it.

        If it fails it is due again in an hour, and if this process ends meanwhile, in three. Raises
        as `to_hub`.
        """
        async with self._database.write() as session:
            await exports.key(session)
            if not await exports.claim_daily(session):
                return None
        try:
            done = await self.to_hub(actor, ExportChoice(), _DAILY)
        except KernelbotError:
            async with self._database.write() as session:
                await exports.try_again(session)
            raise
        async with self._database.write() as session:
            await exports.daily_done(session)
        return done

    async def _choose(self, actor: User, choice: ExportChoice) -> list[Board]:
        """The chosen boards, the oldest first; all boards if none is chosen."""
        if choice == ExportChoice():
            require_admin(actor)
        async with self._database.read() as session:
            seen = {one.board.id: one for one in reversed(await visible_boards(session, actor))}
        ids = {one.board.name.lower(): one.board.id for one in seen.values()}
        missing = [name for name in choice.names if name.lower() not in ids]
        missing += [str(number) for number in choice.ids if number not in seen]
        if missing:
            raise no_board(missing[0])
        chosen = {*choice.ids, *(ids[name.lower()] for name in choice.names)} or set(seen)
        found = [one for number, one in seen.items() if number in chosen]
        for one in found:
            require_organiser(actor, one.board.name, one.creator_id)
        return [one.board for one in found]

    async def _write(self, boards: Sequence[Board], file: Path, form: ExportFormat) -> int:
        ids, after_id = [board.id for board in boards], 0
        async with self._turn():
            with _WRITERS[form](file, await self._key()) as writer:
                # A connection for each batch: an export of an hour doesn't hold one all the time.
                while True:
                    async with self._database.read() as session:
                        rows, after_id = await exports.batch(session, ids, after_id)
                    if not rows:
                        return writer.rows
                    await asyncio.to_thread(writer.write, rows)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Hold a slot of the few exports that run at a time. Raises `Unavailable` if many wait."""
        if self._asked >= _AT_ONCE + _WAITING:
            raise Unavailable(
                "Many exports are being made just now.", hint="Try again in some minutes."
            )
        self._asked += 1
        try:
            async with self._running:
                yield
        finally:
            self._asked -= 1

    async def _key(self) -> bytes:
        if self._rules.key is not None:
            return self._rules.key.encode()
        async with self._database.write() as session:
            return await exports.key(session)

    async def _record(
        self, actor: User, action: str, done: Exported, *, private: bool | None = None
    ) -> None:
        detail: audit.Detail = {
            "boards": ", ".join(done.boards)[:1000],
            "submissions": done.submissions,
            "private": private,
        }
        async with self._database.write() as session:
            await audit.record(session, actor, action, f"export:{Path(done.where).name}", detail)


def _check_public(boards: Sequence[Board], now: datetime) -> None:
    still_open = [board.name for board in boards if not has_ended(board.deadline, now)]
    if still_open:
        raise Conflict(
            f"Board {still_open[0]!r} is still open, so its code isn't public yet.",
            hint="Wait for its deadline, or make the upload private.",
        )
    closed = [board.name for board in boards if board.visibility is Visibility.CLOSED]
    if closed:
        raise Conflict(
            f"Board {closed[0]!r} is for its members only.", hint="Make the upload private."
        )
