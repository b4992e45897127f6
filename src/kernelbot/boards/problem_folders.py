"""Boards created from a folder on the server's disk, for people who write problems."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kernelbot.accounts.model import Role, User
from kernelbot.boards.model import Board, Visibility
from kernelbot.boards.service import Boards
from kernelbot.catalog.problem import load_problem
from kernelbot.catalog.sources import TASK_FILE
from kernelbot.domain.errors import NotAllowed, UserError
from kernelbot.domain.next_steps import Next

LIFETIME = timedelta(days=365)
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,58}")
"""One part of a path, and with `-dev` still a board's name."""


class ProblemFolders:
    """The folders under PROBLEM_DEV_DIR. Nothing outside is ever read as a problem."""

    def __init__(self, boards: Boards, root: Path) -> None:
        self._boards = boards
        self._root = root

    async def names(self) -> list[str]:
        return await asyncio.to_thread(self._names)

    def _names(self) -> list[str]:
        found = (path.parent.name for path in self._root.glob(f"*/{TASK_FILE}"))
        return sorted(name for name in found if _FOLDER.fullmatch(name))

    async def open_board(
        self, creator: User, directory: str, visibility: Visibility = Visibility.PUBLIC
    ) -> Board:
        """A board `{directory}-dev` with the devices that its task.yml names, open for a year.

        Raises `NotAllowed` for competitors, `UserError` for a folder that isn't there,
        `InvalidProblem`, and `Conflict` when there is such a board.
        """
        if creator.role == Role.COMPETITOR:
            raise NotAllowed("Only creators and admins open boards.", next_step=Next.ASK_ADMIN)
        folder = self._root / directory if _FOLDER.fullmatch(directory) else None
        if folder is None or not await asyncio.to_thread((folder / TASK_FILE).is_file):
            raise UserError(
                f"There is no problem folder named {directory!r}.",
                hint=f"Name a folder with a {TASK_FILE} under the server's PROBLEM_DEV_DIR.",
            )
        loaded = await asyncio.to_thread(load_problem, folder)
        return await self._boards.create(
            creator,
            loaded.definition,
            name=f"{directory}-dev",
            deadline=datetime.now(UTC) + LIFETIME,
            visibility=visibility,
        )
