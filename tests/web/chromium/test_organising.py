"""The organisers' pages in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect

from tests.support.problem_sets import commit_all, write_competition, write_problem
from tests.support.world import World
from tests.support.zips import zipped
from tests.web.chromium.conftest import PHONE, Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

HERE = "/organise/board/sort"
PATHS = (
    "/organise",
    "/organise/new",
    HERE,
    "/organise/board/over",
    f"{HERE}/invites",
    f"{HERE}/webhooks",
    f"{HERE}/webhooks/1",
    f"{HERE}/rejudges",
    "/organise/submissions",
    "/organise/submission/3",
    "/organise/held",
    "/organise/queue",
    "/organise/people",
    "/organise/people/2",
    "/organise/statistics",
    "/organise/sync",
    "/organise/audit",
)


@pytest.fixture(scope="module", autouse=True)
def _things_on_the_pages(site: Site) -> None:
    world, admin = site.live.world, site.live.world.admin.user
    site.live.call(world.services.webhooks.create(admin, "https://ci.example.org/", board="sort"))
    site.live.call(world.services.invites.create(admin, ("sort",), 2))


@pytest.mark.opens(*PATHS)
def test_every_page_is_accessible_and_no_page_complains(site: Site) -> None:
    page = site.page(site.live.world.admin)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {}
    for path in PATHS:
        page.goto(path)
        if found := site.complaints(page):
            wrong[path] = found
    page.context.close()
    assert ({}, []) == (wrong, said)


@pytest.mark.parametrize("dark", [False, True])
def test_pages_fit_a_phone_and_can_be_read(site: Site, dark: bool) -> None:
    page = site.page(site.live.world.admin, size=PHONE, dark=dark)
    wrong = {}
    for path in PATHS:
        page.goto(path)
        too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        if too_wide or site.complaints(page, ("color-contrast",)):
            wrong[path] = too_wide
    page.context.close()
    assert {} == wrong


def test_the_navigation_can_be_read_on_a_phone(site: Site) -> None:
    page = site.page(site.live.world.admin, size=PHONE)
    page.goto("/organise")
    cut = page.locator(".top nav a").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
    )
    page.context.close()
    assert [] == cut


@pytest.mark.sends(f"POST {HERE}/limits")
def test_settings_are_saved_with_the_keyboard_alone(site: Site) -> None:
    page = site.page(site.live.world.admin, script=False)
    page.goto(HERE)
    page.get_by_label("Ranked submissions").focus()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("It is saved.")
    expect(page.get_by_label("Ranked submissions")).to_have_value("7")
    page.context.close()


async def _measure(world: World) -> None:
    """Measure again what is rejudged; the site's worker doesn't serve the device."""
    async with world.database.write() as session:
        for change in (
            "UPDATE runs SET state = 'dispatched' WHERE rejudge_id IS NOT NULL",
            """UPDATE runs SET state = 'finished', verdict = 'accepted', finished_at = now(),
                score_s = 0.001 WHERE rejudge_id IS NOT NULL""",
            "UPDATE rejudges SET finished_at = now()",
        ):
            await session.do(change)
        await session.one("SELECT rebuild_standings()")


@pytest.mark.opens(f"{HERE}/rejudges/1")
@pytest.mark.sends(f"POST {HERE}/rejudges")
def test_a_rejudge_is_followed_to_its_end(site: Site) -> None:
    page = site.page(site.live.world.admin)
    page.goto(f"{HERE}/rejudges")
    page.get_by_role("button", name="Rejudge").click()
    page.wait_for_url(re.compile(r"/rejudges/\d+$"))
    page.evaluate("window.stayed = true")
    expect(page.get_by_role("status")).to_contain_text("0 of 2 measured")
    site.live.call(_measure(site.live.world))
    expect(page.get_by_role("status")).to_contain_text("Done")
    expect(page.get_by_text("accepted")).to_have_count(2)
    assert page.evaluate("window.stayed")
    assert [] == site.complaints(page)
    page.context.close()


@pytest.mark.sends(f"POST {HERE}/rejudges/1/end")
def test_a_rejudge_is_ended_before_its_time(site: Site) -> None:
    page = site.page(site.live.world.admin)
    page.goto(f"{HERE}/rejudges")
    page.get_by_role("button", name="Rejudge").click()
    page.get_by_role("button", name="End the rejudge").click()
    expect(page.get_by_role("status")).to_contain_text("It was ended")
    expect(page.get_by_role("button", name="End the rejudge")).to_have_count(0)
    assert [] == site.complaints(page)
    page.context.close()


@pytest.mark.sends("POST /organise/sync/archive/plan", "POST /organise/sync/archive/apply")
def test_boards_come_from_an_archive(site: Site, tmp_path: Path) -> None:
    write_problem(tmp_path, "from-zip")
    write_competition(tmp_path, "from-zip")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    content = zipped(*((str(path.relative_to(tmp_path)), path.read_bytes()) for path in files))
    file: FilePayload = {"name": "set.zip", "mimeType": "application/zip", "buffer": content}
    page = site.page(site.live.world.admin)
    page.goto("/organise/sync")
    form = page.get_by_role("region", name="From an archive")
    form.locator("[type=file]").set_input_files(file)
    form.get_by_role("button", name="Show the plan").click()
    page.get_by_label("The archive again").set_input_files(file)
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Apply 1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Synced")
    assert [] == site.complaints(page)
    page.context.close()


@pytest.mark.sends("POST /organise/sync/plan", "POST /organise/sync/apply")
def test_boards_come_from_git(site: Site, tmp_path: Path) -> None:
    write_problem(tmp_path, "from-git", description="<script>alert(1)</script>")
    write_competition(tmp_path, "from-git")
    commit_all(tmp_path)
    page = site.page(site.live.world.admin)
    page.goto("/organise/sync")
    form = page.get_by_role("region", name="From git")
    form.get_by_label("Repository").fill(f"file://{tmp_path}")
    form.get_by_label("Who sees new boards").select_option("closed")
    form.get_by_role("button", name="Show the plan").click()
    assert [] == site.complaints(page)
    page.get_by_role("button", name="Apply 1").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Synced")
    assert [] == site.complaints(page)
    page.get_by_role("link", name="To the boards").click()
    expect(page.get_by_role("row", name="from-git")).to_contain_text("by invite")
    page.context.close()
