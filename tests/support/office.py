"""A site with somebody who makes boards, and their browser."""

from dataclasses import dataclass

import httpx
import pytest

from kernelbot.accounts.model import NewToken, Role
from kernelbot.boards.model import Board
from tests.support.front import Front, csrf_for
from tests.support.problems import sort_problem


@dataclass
class Office:
    """The front, with a creator (`maker`) who organises the board `sort`; on `other` the admin."""

    front: Front
    maker_token: NewToken
    maker: httpx.AsyncClient
    board: Board

    async def post(
        self, path: str, browser: httpx.AsyncClient | None = None, /, **form: str
    ) -> httpx.Response:
        """Send a form of ours, as the maker unless somebody else is named."""
        browser = browser or self.maker
        return await browser.post(path, data={**csrf_for(browser), **form})

    async def admin_posts(self, path: str, /, **form: str) -> httpx.Response:
        """Send a form of ours as the admin."""
        return await self.post(path, self.front.admin, **form)


@pytest.fixture
async def office(front: Front) -> Office:
    """A board of the maker's, and one of the admin's."""
    world = front.world
    maker = await world.services.users.create("maker", Role.CREATOR)
    board = await world.services.boards.create(
        maker.user, sort_problem(), name="sort", devices=("CPU",)
    )
    await world.board("other")
    return Office(front, maker, await front.browser(maker), board)
