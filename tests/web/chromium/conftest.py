"""A real browser before a real server with a worker, one of each for all tests of a module."""

import shutil
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from kernelbot.accounts.logins.providers import LoginRules, discord, github
from kernelbot.accounts.model import NewToken
from kernelbot.platform.exports.model import ExportRules
from kernelbot.protocol import DeviceSpec, Floor, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.web.session import SESSION
from tests.fakes.hub import TOKEN, FakeHub, fake_hub
from tests.fakes.oauth_provider import CLIENT_ID, CLIENT_SECRET, FakeProvider, fake_provider
from tests.support.live import LiveServer, live_server
from tests.support.postgres import TestServer
from tests.support.problems import sort_problem
from tests.support.ranked import ranked
from tests.support.workers import quick_settings, worker_process
from tests.support.world import DEVICES, World
from tests.web.chromium.seen import Seen

ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""By preference: the first draws pages alike and has no windows and menus, which took 0.4 of all
processor time of these tests."""
DESKTOP, PHONE = (1200, 800), (390, 780)


@dataclass(frozen=True)
class Site:
    """A server with the boards `sort`, of which the worker judges new submissions for the CPU, and
    `over`. People log in at `provider`, and organisers export to `hub`."""

    live: LiveServer
    browser: Browser
    provider: FakeProvider
    hub: FakeHub
    seen: Seen

    def page(
        self,
        token: NewToken | None = None,
        *,
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        script: bool = True,
    ) -> Page:
        """An empty page of a browser of its own, which `close` ends with its context; logged in if
        there is a token."""
        context: BrowserContext = self.browser.new_context(
            base_url=self.live.url,
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            timezone_id="Asia/Tokyo",
            locale="en-GB",
        )
        if token is not None:
            login = self.live.call(self.live.world.services.logins.open_with(token.token))
            context.add_cookies([{"name": SESSION, "value": login.token, "url": self.live.url}])
        context.set_default_timeout(60_000)
        page = context.new_page()
        self.seen.watch(page)
        return page

    def wait_until_told(self, page: Page, form: str) -> None:
        """Wait until the browser has told that it sent the form: it may show the answer before, and
        tells nothing of a page that is closed."""
        for _ in range(1200):
            if not self.seen.unkept((), (form,)):
                return
            page.wait_for_timeout(50)

    def complaints(self, page: Page, rules: tuple[str, ...] = ()) -> list[str]:
        """What axe says of the page as it is, by these rules or all. Axe brings a script of its
        own, which only tests can make a page run."""
        options = {"runOnly": list(rules)} if rules else None
        found = Axe().run(page, options=options).response["violations"]
        if not rules:
            self.seen.examine(page)
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Hold each test to what it says that it opens and sends."""
    site = pyfuncitem.funcargs.get("site")
    if not isinstance(site, Site):
        return (yield)
    site.seen.forget()
    result = yield
    opens, sends = (
        chain.from_iterable(mark.args for mark in pyfuncitem.iter_markers(name))
        for name in ("opens", "sends")
    )
    assert [] == site.seen.unkept(opens, sends)
    return result


@pytest.fixture(scope="module")
def site(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """What tests submit is judged by the fake host. It ends with its module: while it lives, it
    has an event loop of its own in this thread, so that no test may be a coroutine."""
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if chromium is None:
        pytest.fail("Chromium isn't installed: run scripts/system-packages.", pytrace=False)
    settings = quick_settings(tmp_path_factory.mktemp("worker"))
    with ExitStack() as stack:
        providers = [stack.enter_context(fake_provider(name)) for name in ("github", "discord")]
        hub = stack.enter_context(fake_hub())
        url = stack.enter_context(postgres.database())
        live = stack.enter_context(
            live_server(
                url, _login_rules(*providers), devices=_devices(), export_rules=_export_rules(hub)
            )
        )
        stack.enter_context(worker_process(settings, url))
        playwright = stack.enter_context(sync_playwright())
        expect.set_options(timeout=60_000)  # five seconds by default
        browser = stack.enter_context(
            playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        )
        live.call(_fill(live.world))
        yield Site(live, browser, providers[0], hub, Seen(live.url))


def _login_rules(at_github: FakeProvider, at_discord: FakeProvider) -> LoginRules:
    who = CLIENT_ID, CLIENT_SECRET
    return LoginRules(
        (github(*who, url=at_github.url, api_url=at_github.url), discord(*who, url=at_discord.url))
    )


def _export_rules(hub: FakeHub) -> ExportRules:
    return ExportRules(token=TOKEN, repository="kernels/all", endpoint=hub.url)


def _devices() -> tuple[DeviceConfig, ...]:
    """As everywhere, but the H100 has peaks, so that there is a roofline."""
    peaks = DeviceSpec("H100", Vendor.NVIDIA, "90a", peak_flops=1e11, peak_bytes_per_s=4e9)
    return tuple(
        replace(one, spec=peaks) if one.spec.name == peaks.name else one for one in DEVICES
    )


async def _fill(world: World) -> None:
    boards = world.services.boards
    deadline = datetime.now(UTC) + timedelta(days=9)
    for name in ("sort", "over"):
        problem = sort_problem(name)
        spec = replace(problem.spec, floors=(Floor(4e6, 2e6),))
        await boards.create(
            world.admin.user,
            replace(problem, spec=spec),
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
