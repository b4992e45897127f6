"""Authors, followed boards, shared results and the guide in a real browser."""

import importlib.util

import pytest
from playwright.sync_api import Page, expect

from tests.web.chromium.conftest import DESKTOP, PHONE, Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

drawn = pytest.mark.skipif(
    importlib.util.find_spec("vl_convert") is None, reason="charts are an extra"
)
GUIDE = ("/guide", "/guide/reference/verdicts", "/guide/explanation/trusting-a-number")


def author_path(site: Site) -> str:
    """Ada's."""
    return f"/author/{site.live.world.ada.user.id}"


def share(site: Site, page: Page) -> str:
    """Share a result of ada's with its code, if it isn't yet; the link's path."""
    page.goto("/submission/3")
    form = page.get_by_role("region", name="Show it to others")
    form.get_by_label("With the code").check()
    form.get_by_role("button").first.click()
    expect(page.get_by_role("button", name="End the link")).to_be_visible()
    link = page.get_by_role("link", name="Look at it").get_attribute("href")
    assert link is not None
    return link


@pytest.mark.opens("/author/1", "/author", "/author/1/scores.atom")
def test_an_author_is_reached_from_a_ranking_and_is_accessible(site: Site) -> None:
    wrong = []
    for size, dark in ((DESKTOP, False), (PHONE, True)):
        page = site.page(site.live.world.bob, size=size, dark=dark)
        page.goto("/board/sort")
        page.get_by_role("link", name="ada", exact=True).click()
        expect(page.get_by_role("heading", name="ada", level=1)).to_be_visible()
        wrong += site.complaints(page)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page.goto("/author?name=ADA")
        expect(page.get_by_role("heading", name="ada", level=1)).to_be_visible()
        page.goto(f"{author_path(site)}/scores.atom")
        assert "Scores of ada" in page.content()
        page.context.close()
    assert [] == wrong


@pytest.mark.sends(
    "POST /author/1/follow",
    "POST /author/1/unfollow",
    "POST /board/sort/follow",
    "POST /board/sort/unfollow",
)
def test_an_author_and_a_board_are_followed_without_a_script(site: Site) -> None:
    page = site.page(site.live.world.bob, script=False)
    for path in (author_path(site), "/board/sort"):
        page.goto(path)
        page.get_by_role("button", name="Follow", exact=True).click()
        expect(page.get_by_role("button", name="Unfollow")).to_be_visible()
    page.goto("/following")
    expect(page.get_by_role("link", name="ada").first).to_be_visible()
    for name in ("Unfollow ada", "Unfollow sort"):
        page.goto("/following")
        page.get_by_role("button", name=name).click()
    page.goto("/following")
    expect(page.get_by_text("Nothing yet")).to_be_visible()
    page.context.close()


@pytest.mark.opens("/following")
def test_what_is_followed_is_accessible(site: Site) -> None:
    world = site.live.world
    site.live.call(world.services.following.follow_board(world.bob.user, "sort"))
    site.live.call(world.services.following.follow_author(world.bob.user, world.ada.user.id))
    page = site.page(world.bob)
    page.goto("/following")
    wrong = site.complaints(page)
    page.context.close()
    site.live.call(world.services.following.unfollow_board(world.bob.user, "sort"))
    site.live.call(world.services.following.unfollow_author(world.bob.user, world.ada.user.id))
    assert [] == wrong


@pytest.mark.sends("POST /auth/author-page")
def test_a_page_is_made_private_and_shown_again(site: Site) -> None:
    page = site.page(site.live.world.ada)
    for button, status in (("Make it private", 404), ("Show it to others", 200)):
        page.goto("/auth/account")
        page.get_by_role("button", name=button).click()
        stranger = site.page()
        answer = stranger.goto(author_path(site))
        assert answer is not None
        assert status == answer.status
        stranger.context.close()
    page.context.close()


@drawn
@pytest.mark.opens("/result/x", "/result/x/card.png")
@pytest.mark.sends("POST /submission/1/share", "POST /submission/1/unshare")
def test_a_result_is_shown_by_a_link_until_it_ends(site: Site) -> None:
    page = site.page(site.live.world.ada)
    link = share(site, page)
    wrong = []
    for size, dark in ((DESKTOP, False), (PHONE, True)):
        stranger = site.page(size=size, dark=dark)
        stranger.goto(link)
        expect(stranger.get_by_role("heading", name="ada")).to_be_visible()
        wrong += site.complaints(stranger)
        assert not stranger.evaluate("document.documentElement.scrollWidth > innerWidth")
        picture = stranger.goto(f"{link}/card.png")
        assert picture is not None
        assert picture.ok
        stranger.context.close()
    page.get_by_role("button", name="End the link").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    gone = page.goto(link)
    assert gone is not None
    assert ([], 404) == (wrong, gone.status)
    page.context.close()


@pytest.mark.opens("/guide", "/guide/reference/verdicts")
def test_the_guide_is_accessible_and_as_wide_as_the_screen(site: Site) -> None:
    wrong, too_wide = [], []
    for size, dark in ((DESKTOP, False), (PHONE, True)):
        page = site.page(size=size, dark=dark)
        for path in GUIDE:
            page.goto(path)
            wrong += site.complaints(page)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                too_wide.append(path)
        page.context.close()
    assert ([], []) == (wrong, too_wide)
