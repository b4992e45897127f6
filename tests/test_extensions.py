"""What lives beside the core comes with its package, and goes with it."""

from contextlib import AsyncExitStack
from importlib.metadata import entry_points
from pathlib import Path

import httpx
import pytest

from kernelbot.domain import entry_points as groups
from kernelbot.domain.errors import UserError
from kernelbot.extensions import installed
from kernelbot.server.wiring import open_services
from kernelbot.web.site import close_site, create_site
from tests.support import packages
from tests.support.front import browser_of, session_of
from tests.support.workers import finished, quick_settings, working
from tests.support.world import DEVICES, World

GROUP = "kernelbot.extensions"
THEIRS = """
from fastapi import APIRouter
from kernelbot.api.dependencies import ServicesDep
from kernelbot.extensions import Download, Extension

routes = APIRouter()
pages = APIRouter(prefix="/submission", include_in_schema=False)

class Counting:
    def __init__(self, database):
        self.database = database

    async def count(self):
        async with self.database.read() as session:
            found = await session.one("SELECT count(*) AS people FROM users")
            return found["people"]

@routes.get("/counted")
async def counted(services: ServicesDep) -> int:
    return await services.extension(Counting).count()

@pages.get("/{number}/counted")
async def page(number: int) -> str:
    return f"of {number}"

class Theirs(Extension):
    routes = (routes,)
    pages = (pages,)
    downloads = (Download("<Counts>", "counted", "All counts", "See `wc -l`."),)

    @classmethod
    def service(cls, database):
        return Counting(database)
"""


@pytest.fixture
async def judged(world: World, tmp_path: Path) -> int:
    """The number of a submission with a result."""
    await world.board()
    async with working(quick_settings(tmp_path / "data"), world.database.url):
        sent = await world.submit(content=b"# fake: accepted 0.5 0.4 0.6\n")
        await finished(world, sent.id)
    return sent.id


async def answers(world: World, *paths: str) -> list[httpx.Response]:
    """What a site that was built just now answers ada's browser."""
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_services(world.database.url, DEVICES))
        site = create_site(core.services)
        stack.push_async_callback(close_site, site)
        session = await session_of(world, world.ada)
        browser = await stack.enter_async_context(browser_of(site, session))
        return [await browser.get(path) for path in paths]


async def test_a_package_of_somebody_elses_brings_routes_pages_and_its_service(
    world: World, judged: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages.install(
        monkeypatch, tmp_path, module=THEIRS, group=GROUP, entry="theirs = their_package:Theirs"
    )
    paths = ("/api/v1/counted", f"/submission/{judged}/counted", f"/submission/{judged}")
    counted, page, submission = await answers(world, *paths)
    assert ("3", f'"of {judged}"') == (counted.text, page.text)
    link = f'<a href="/submission/{judged}/counted" download>All counts</a>'
    for part in (link, "&lt;Counts&gt;", "See <code>wc -l</code>."):
        assert part in submission.text


# Each run has test_a_package_of_somebody_elses_brings_routes_pages_and_its_service.
@pytest.mark.exhaustive
async def test_without_its_package_there_is_nothing_of_it(
    world: World, judged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ("/api/v1/signing-keys", f"/submission/{judged}/signed", f"/submission/{judged}")
    installed_codes = [one.status_code for one in await answers(world, *paths)]

    def others(group: str) -> object:
        return () if group == GROUP else entry_points(group=group)

    monkeypatch.setattr(groups, "installed_entry_points", others)
    without = await answers(world, *paths)
    assert [200, 200, 200] == installed_codes
    assert [404, 404, 200] == [one.status_code for one in without]
    assert "signed" not in without[-1].text


def test_a_package_that_is_broken_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages.install(
        monkeypatch, tmp_path, module="", group=GROUP, entry="theirs = their_package:Theirs"
    )
    with pytest.raises(UserError, match=r"The extension 'theirs' can't be loaded from .*Attribute"):
        installed()
