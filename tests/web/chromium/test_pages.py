"""The pages in a real browser: whatever people do, with and without a mouse, script or light."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from kernelbot.domain.types import NewToken
from tests.web.chromium.conftest import DESKTOP, PHONE, Site

PATHS = (
    "/",
    "/board/sort",
    "/board/over",
    "/board/sort/problem",
    "/board/sort/submit",
    "/submission/3",
    "/submission/3/diff?before=1",
    "/auth/account",
    "/submissions",
    "/auth/device",
    "/nothing",
)
"""Without `/docs`, which is so long that axe takes half a minute for it."""


def ada(site: Site) -> NewToken:
    return site.live.world.ada


def complaints(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """What axe says of the page as it is, by these rules or all. Axe brings a script of its own,
    which only tests can make a page run."""
    found = Axe().run(page, options={"runOnly": list(rules)} if rules else None)
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found.response["violations"]]


def test_every_page_is_accessible_and_no_page_complains(site: Site) -> None:
    page = site.page(ada(site))
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {}
    for path in PATHS:
        page.goto(path)
        if found := complaints(page):
            wrong[path] = found
    page.context.close()
    expected = "Failed to load resource: the server responded with a status of 404 (Not Found)"
    assert ({}, [expected]) == (wrong, said)


def test_dark_pages_can_be_read(site: Site) -> None:
    page = site.page(ada(site), dark=True)
    wrong = {}
    for path in PATHS:
        page.goto(path)
        if found := complaints(page, ("color-contrast",)):
            wrong[path] = found
    page.context.close()
    assert {} == wrong


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_every_page_is_as_wide_as_the_screen_and_has_a_picture(
    site: Site, size: tuple[int, int], dark: bool, tmp_path: Path
) -> None:
    page = site.page(ada(site), size=size, dark=dark)
    too_wide = []
    for number, path in enumerate((*PATHS, "/docs")):
        page.goto(path)
        page.screenshot(path=tmp_path / f"{number}.png")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            too_wide.append(path)
    page.context.close()
    assert ([], len(PATHS) + 1) == (too_wide, len(list(tmp_path.glob("*.png"))))


def test_nothing_is_loaded_from_another_host(site: Site) -> None:
    page = site.page(ada(site))
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(re.sub(r"^(\w+://[^/]+).*", r"\1", request.url)))
    for path in PATHS:
        page.goto(path)
    page.context.close()
    assert {site.live.url} == hosts


def test_times_are_in_the_visitors_zone_and_in_utc_without_a_script(site: Site) -> None:
    pages = site.page(), site.page(script=False)
    told = []
    for page in pages:
        page.goto("/board/over")
        told.append(page.locator(".facts time").inner_text())
        page.context.close()
    assert [False, True] == ["UTC" in text for text in told]


def test_a_token_opens_the_account_and_logging_out_ends_it(site: Site) -> None:
    page = site.page(script=False)
    page.goto("/auth/login?next=/board/sort")
    page.get_by_label("Token").fill(site.live.world.bob.token)
    page.get_by_role("button", name="Log in with a token").click()
    expect(page).to_have_url(f"{site.live.url}/board/sort")
    page.get_by_role("link", name="bob").first.click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="Log in").first).to_be_visible()
    page.context.close()


def test_a_token_is_made_shown_once_and_revoked(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/auth/account")
    page.get_by_label("Name of a new token").fill("<b>laptop</b>")
    page.get_by_role("button", name="Make a token").click()
    assert page.locator("pre").first.inner_text().startswith("kb_")
    page.get_by_role("link", name="Back to the account").click()
    assert "kb_" not in page.content()
    row = page.locator("tr", has_text="<b>laptop</b>")
    row.get_by_role("button").click()
    expect(page.locator("tr", has_text="<b>laptop</b>")).to_have_count(0)
    page.context.close()


def test_the_keyboard_alone_submits_and_the_page_follows_it_live(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/board/sort/submit")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.get_by_label("Test").focus()
    page.keyboard.press("Space")
    page.get_by_label("H100").focus()
    page.keyboard.press("Space")
    page.get_by_label("CPU").focus()
    page.keyboard.press("Space")
    page.get_by_label("File name").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("mine.py")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Code")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("# fake: sleep 1 accepted")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/submission/\d+$"))
    expect(page.get_by_text(re.compile("Waiting|Being judged"))).to_be_visible()
    expect(page.locator(".big")).to_have_text(re.compile("Accepted"))
    page.context.close()


def test_two_authors_follow_their_submissions_at_once(site: Site) -> None:
    world = site.live.world
    pages = [site.page(token) for token in (world.ada, world.bob)]
    code = b"# fake: sleep 0.5 wrong_answer\n"
    for page, token in zip(pages, (world.ada, world.bob), strict=True):
        made = site.live.call(world.submit(token.user, content=code, devices=("CPU",)))
        page.goto(f"/submission/{made.id}")
    for page in pages:
        expect(page.locator(".big")).to_have_text(re.compile("Wrong answer"))
        page.context.close()


def test_a_page_follows_without_a_script(site: Site) -> None:
    page = site.page(ada(site), script=False)
    made = site.live.call(
        site.live.world.submit(content=b"# fake: sleep 0.5 accepted\n", devices=("CPU",))
    )
    page.goto(f"/submission/{made.id}")
    expect(page.locator(".big")).to_have_text(re.compile("Accepted"), timeout=20_000)
    page.context.close()


def test_a_draft_is_kept_until_its_author_begins_again(site: Site) -> None:
    page = site.page(ada(site))
    page.goto("/board/sort/submit")
    editor = page.get_by_label("Code")
    starter = editor.input_value()
    editor.fill("# <script> my draft")
    page.goto("/board/sort")
    page.goto("/board/sort/submit")
    assert "# <script> my draft" == editor.input_value()
    page.get_by_role("button", name="Begin again").click()
    page.reload()
    assert starter == editor.input_value()
    page.context.close()


def test_a_session_revoked_in_another_tab_leads_to_the_login_page(site: Site) -> None:
    world = site.live.world
    token = site.live.call(world.services.tokens.create(world.bob.user, "this browser"))
    page = site.page(NewToken(world.bob.user, token.text))
    page.goto("/auth/account")
    site.live.call(world.services.users.sign_out(token.text))
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Please log in")).to_be_visible()
    page.goto("/auth/account")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    page.context.close()
