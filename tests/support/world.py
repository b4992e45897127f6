"""The services over a real database, with the people and things that tests need."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from kernelbot.accounts.logins.providers import LoginRules
from kernelbot.accounts.model import NewToken, Role, User
from kernelbot.boards.model import Board, ProblemDefinition
from kernelbot.boards.problem_hashes import problem_hashes
from kernelbot.boards.store import add_version
from kernelbot.platform.exports.model import ExportRules
from kernelbot.protocol import DeviceSpec, Mode, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.wiring import open_services
from kernelbot.services import Services
from kernelbot.store.database import Database
from kernelbot.submissions.model import NewSubmission, Submission
from tests.support.kept_sessions import sessions_kept
from tests.support.problems import CORRECT, sort_problem

DEVICES = (
    DeviceConfig(DeviceSpec("CPU", Vendor.CPU), ("local",), 2),
    DeviceConfig(DeviceSpec("H100", Vendor.NVIDIA, "90a"), ("local",), 1),
)


@dataclass
class World:
    """Services, their database, an admin, and two competitors."""

    database: Database
    services: Services
    admin: NewToken
    ada: NewToken
    bob: NewToken

    async def board(self, name: str = "sort", devices: tuple[str, ...] = ("CPU",)) -> Board:
        """An open board for sorting."""
        return await self.services.boards.create(
            self.admin.user, sort_problem(name), name=name, devices=devices
        )

    async def change_problem(self, problem: ProblemDefinition) -> None:
        """All boards have this version from now on; their rankings aren't made anew."""
        async with self.database.write() as session:
            version = await add_version(session, problem, *problem_hashes(problem))
            await session.do("UPDATE leaderboards SET problem_version_id = %(id)s", {"id": version})

    async def submit(
        self,
        author: User | None = None,
        *,
        board: str | None = "sort",
        mode: Mode = Mode.LEADERBOARD,
        content: bytes = CORRECT,
        file_name: str = "fast.py",
        devices: tuple[str, ...] = (),
    ) -> Submission:
        """A submission of ada's, unless someone else is named."""
        new = NewSubmission(board, devices, mode, file_name, content)
        return await self.services.submissions.submit(author or self.ada.user, new)


@asynccontextmanager
async def open_world(
    url: str,
    login_rules: LoginRules | None = None,
    *,
    devices: tuple[DeviceConfig, ...] = DEVICES,
    export_rules: ExportRules | None = None,
) -> AsyncIterator[World]:
    """A world in the database, which must have the schema."""
    async with AsyncExitStack() as stack:
        with sessions_kept():
            core = await stack.enter_async_context(
                open_services(url, devices, login_rules=login_rules, export_rules=export_rules)
            )
        create = core.services.users.create
        yield World(
            core.database,
            core.services,
            await create("root", Role.ADMIN),
            await create("ada"),
            await create("bob"),
        )
