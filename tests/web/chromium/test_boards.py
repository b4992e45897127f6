"""The home page and a board in a real browser: search, the chart of the trend, code beside it."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from kernelbot.boards.service import BoardEdit
from kernelbot.render.units import seconds_text
from tests.support.ranked import ranked
from tests.support.world import World
from tests.web.chromium.conftest import DESKTOP, PHONE, Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

both_themes = pytest.mark.parametrize("dark", [False, True])
both_widths = pytest.mark.parametrize("size", [DESKTOP, PHONE])


def chart_of(page: Page, query: str = "") -> None:
    """Open the board, and wait for its chart."""
    page.goto(f"/board/sort{query}")
    page.locator("#trend").scroll_into_view_if_needed()
    expect(page.locator("#trend-chart canvas")).to_be_visible()
    page.locator("#trend-chart .plot").scroll_into_view_if_needed()


def range_of(page: Page) -> str:
    """What the chart shows, as its pixels."""
    shown: str = page.locator("#trend-chart canvas").evaluate("one => one.toDataURL()")
    return shown


@pytest.mark.parametrize("script", [pytest.param(True, marks=pytest.mark.opens("/")), False])
@pytest.mark.sends("GET /")
def test_boards_are_searched_with_and_without_a_script(site: Site, script: bool) -> None:
    page = site.page(script=script)
    page.goto("/")
    page.get_by_label("Search boards").fill("python over")
    page.get_by_label("Search boards").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("1 board for")
    names = page.locator(".card h3").all_inner_texts()
    if script:
        assert [] == site.complaints(page)
    page.context.close()
    assert ["over"] == names


def test_a_deadline_counts_down(site: Site) -> None:
    page = site.page()
    page.goto("/board/sort")
    left = page.locator("[data-until]")
    expect(left).to_have_text(re.compile(r"^\d days \d\d:\d\d:\d\d left$"))
    first = left.inner_text()
    expect(left).not_to_have_text(first)
    page.context.close()


def test_what_happens_is_loaded_again_while_it_is_looked_at(site: Site) -> None:
    page = site.page()
    page.clock.install()
    page.goto("/")
    before = page.locator("#alive p").first.inner_text()
    world = site.live.world
    site.live.call(world.submit(content=b"# fake: accepted\n", devices=("CPU",)))
    page.clock.run_for(31_000)
    expect(page.locator("#alive p").first).not_to_have_text(before)
    page.context.close()


@both_themes
@both_widths
@pytest.mark.opens("/board/sort", "/board/sort/trend.json")
def test_the_chart_is_drawn_and_accessible(
    site: Site, size: tuple[int, int], dark: bool, tmp_path: Path
) -> None:
    page = site.page(site.live.world.ada, size=size, dark=dark)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    chart_of(page, "?log=true" if dark else "")
    expect(page.locator("#trend-picture")).to_be_hidden()
    expect(page.locator("#trend-chart .zone")).to_contain_text("Asia/Tokyo")
    wrong = site.complaints(page)
    page.screenshot(path=tmp_path / "chart.png", full_page=True)
    too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.context.close()
    assert ([], [], False) == (wrong, said, too_wide)


def test_the_keys_go_from_score_to_score_and_to_the_submission(site: Site) -> None:
    page = site.page(site.live.world.ada)
    chart_of(page)
    page.locator("#trend-chart .plot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".said-of-point")).to_contain_text(re.compile("ada: 3.00 ms .* to .* ms"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/submission/1$"))
    page.context.close()


def test_the_chart_writes_times_as_tables_do(site: Site) -> None:
    page = site.page()
    chart_of(page)
    times_s = [0.9996e-3, 0.9994e-3, 1234.0, 12.34, 99.96e-6, 1e-9, 0.25e-9]
    written = page.evaluate(
        """async (times) => {
          const loaded = performance.getEntriesByType("resource").map((one) => one.name);
          const { duration } = await import(loaded.find((name) => name.endsWith("/chart.js")));
          return times.map(duration);
        }""",
        times_s,
    )
    page.context.close()
    assert [seconds_text(one) for one in times_s] == written


def test_a_score_that_is_not_the_visitors_leads_nowhere(site: Site) -> None:
    page = site.page()
    chart_of(page)
    page.locator("#trend-chart .plot").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".said-of-point")).to_contain_text("submission 1")
    page.keyboard.press("Enter")
    links = page.locator(".said-of-point a").count()
    url = page.url
    page.context.close()
    assert (0, True) == (links, url.endswith("/board/sort"))


def test_a_click_on_a_score_opens_its_submission(site: Site) -> None:
    page = site.page(site.live.world.ada)
    chart_of(page)
    page.locator("#trend-chart .plot").focus()
    page.keyboard.press("ArrowRight")
    box = page.locator("#trend-chart .u-over").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2  # all were sent within a second
    found = None
    for down in range(0, int(box["height"]), 10):
        page.mouse.move(middle, box["y"] + down)
        if page.locator("#trend-chart .u-over.leads").count():
            found = box["y"] + down
            break
    assert found is not None
    page.mouse.click(middle, found)
    expect(page).to_have_url(re.compile("/submission/\\d+$"))
    page.context.close()


def test_the_chart_is_zoomed_by_dragging_keys_and_buttons(site: Site) -> None:
    page = site.page()
    chart_of(page)
    whole = range_of(page)
    box = page.locator("#trend-chart .u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.2 * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], middle, steps=5)
    page.mouse.up()
    dragged = range_of(page)
    page.locator("#trend-chart .plot").focus()
    page.keyboard.press("Escape")
    again = range_of(page)
    page.get_by_role("button", name="Zoom in").click()
    zoomed = range_of(page)
    page.get_by_role("button", name="Whole time").click()
    last = range_of(page)
    page.context.close()
    assert (False, True, False, True) == tuple(
        one == whole for one in (dragged, again, zoomed, last)
    )


@pytest.mark.opens("/board/sort/authors.json")
def test_names_are_completed(site: Site) -> None:
    page = site.page()
    page.goto("/board/sort")
    with page.expect_response(re.compile("authors.json")) as answered:
        page.get_by_label("Author").fill("BO")
    names = page.locator("#ranked-authors option")
    expect(names).to_have_count(1)
    value = names.get_attribute("value")
    page.context.close()
    assert (200, "bob") == (answered.value.status, value)


def test_the_picture_stays_if_the_library_can_not_be_loaded(site: Site) -> None:
    page = site.page()
    page.route("**/uplot.js", lambda route: route.abort())
    page.goto("/board/sort")
    page.locator("#trend").scroll_into_view_if_needed()
    expect(page.locator("#trend-picture")).to_be_visible()
    expect(page.locator("#trend-chart")).to_be_hidden()
    page.context.close()


def test_only_a_board_loads_the_library_of_charts(site: Site) -> None:
    page = site.page(site.live.world.ada)
    loaded: dict[str, bool] = {}
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    for path in ("/", "/board/sort/problem", "/board/sort/submit", "/submission/3", "/board/sort"):
        page.goto(path)
        if path == "/board/sort":
            chart_of(page)
        page.wait_for_load_state("networkidle")
        loaded[path] = any("uplot" in url for url in asked)
    page.context.close()
    assert {path: path == "/board/sort" for path in loaded} == loaded


@both_themes
@both_widths
def test_code_is_beside_the_ranking_with_before_and_after(
    site: Site, size: tuple[int, int], dark: bool, tmp_path: Path
) -> None:
    page = site.page(site.live.world.admin, size=size, dark=dark)
    page.goto("/board/sort")
    page.get_by_role("link", name=re.compile("^Code of bob")).click()
    heading = page.locator("#code")
    expect(heading).to_contain_text("bob")
    expect(heading).to_be_in_viewport()
    wrong = site.complaints(page)
    page.screenshot(path=tmp_path / "code.png", full_page=True)
    too_wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.locator("a[rel=prev]").click()
    expect(heading).to_contain_text("ada")
    page.get_by_role("link", name="Close").click()
    expect(heading).to_have_count(0)
    page.context.close()
    assert ([], False) == (wrong, too_wide)


@both_themes
def test_a_board_that_ended_has_a_podium(site: Site, dark: bool) -> None:
    site.live.call(_ended_with_a_ranking(site.live.world))
    page = site.page(site.live.world.bob, dark=dark)
    page.goto("/board/past")
    expect(page.locator(".steps-of-podium li")).to_have_count(2)
    wrong = site.complaints(page)
    page.context.close()
    assert [] == wrong


async def _ended_with_a_ranking(world: World) -> None:
    """The board `past`, once: two authors are ranked on a device that the site's worker doesn't
    serve."""
    if any(one.name == "past" for one in await world.services.boards.list_boards(None)):
        return
    await world.board("past", devices=("H100",))
    for score_s, author in ((1e-3, world.ada), (2e-3, world.bob)):
        await ranked(world, score_s, author=author.user, device="H100", board="past")
    edit = BoardEdit(deadline=datetime.now(UTC) - timedelta(seconds=1))
    await world.services.boards.edit(world.admin.user, "past", edit)
