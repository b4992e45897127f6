"""A real browser before a real server with a worker, one of each for all tests of a module."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from kernelbot.domain.types import NewToken
from kernelbot.web.session import SESSION
from tests.support.live import LiveServer, live_server
from tests.support.postgres import TestServer
from tests.support.problems import sort_problem
from tests.support.ranked import ranked
from tests.support.workers import quick_settings, worker_process
from tests.support.world import World

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESKTOP, PHONE = (1200, 800), (390, 780)


@dataclass(frozen=True)
class Site:
    """A server with the boards `sort`, of which the worker judges new submissions, and `over`."""

    live: LiveServer
    browser: Browser

    def page(
        self,
        token: NewToken | None = None,
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        script: bool = True,
    ) -> Page:
        """An empty page of a browser of its own, which `close` ends with its context."""
        context: BrowserContext = self.browser.new_context(
            base_url=self.live.url,
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            timezone_id="Asia/Tokyo",
            locale="en-GB",
        )
        if token is not None:
            context.add_cookies([{"name": SESSION, "value": token.token, "url": self.live.url}])
        context.set_default_timeout(20_000)
        return context.new_page()


@pytest.fixture(scope="module")
def site(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """What tests submit is judged by the fake host. It ends with its module: while it lives, it
    has an event loop of its own in this thread, so that no test may be a coroutine."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.fail("Chromium isn't installed: run scripts/system-packages.", pytrace=False)
    settings = quick_settings(tmp_path_factory.mktemp("worker"))
    with (
        postgres.database() as url,
        live_server(url) as live,
        worker_process(settings, url),
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS)) as browser,
    ):
        live.call(_fill(live.world))
        yield Site(live, browser)


async def _fill(world: World) -> None:
    boards = world.services.boards
    deadline = datetime.now(UTC) + timedelta(days=9)
    for name in ("sort", "over"):
        await boards.create(
            world.admin.user,
            sort_problem(name),
            name=name,
            devices=("H100", "CPU"),
            deadline=deadline,
        )
    for score_s, author in ((3e-3, world.ada), (2e-3, world.bob), (1e-3, world.ada)):
        await ranked(world, score_s, author=author.user, device="H100")
    async with world.database.write() as session:
        await session.do(
            "UPDATE leaderboards SET deadline = now() - interval '1 day' WHERE name = 'over'"
        )
