"""The pages in a real browser: whatever people do, with and without a mouse, script or light."""

import importlib.util
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from kernelbot.accounts.model import NewToken
from kernelbot.platform.distribution import CLIENT_VERSION, wheel_name
from kernelbot.platform.downloads.service import HARNESS_NAME
from kernelbot.protocol import Mode
from tests.support.judging import fought
from tests.support.preflights import compiled, mi300x_report
from tests.support.ranked import ranked
from tests.support.workers import finished
from tests.web.chromium.conftest import DESKTOP, PHONE, Site

pytestmark = pytest.mark.exhaustive  # test_workbench.py has one in Chromium at each run

PATHS = (
    "/",
    "/board/sort",
    "/board/over",
    "/board/sort/problem",
    "/board/sort/duels",
    "/board/sort/submit",
    "/submission/3",
    "/submission/3/diff?before=1",
    "/auth/account",
    "/submissions",
    "/auth/device",
    "/client/",
    "/harness/",
)
drawn = pytest.mark.skipif(
    importlib.util.find_spec("vl_convert") is None, reason="charts are an extra"
)


def ada(site: Site) -> NewToken:
    return site.live.world.ada


@pytest.mark.opens(*PATHS)
def test_every_page_is_accessible_and_no_page_complains(site: Site) -> None:
    page = site.page(ada(site))
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {}
    for path in (*PATHS, "/nothing"):
        page.goto(path)
        if found := site.complaints(page):
            wrong[path] = found
    page.context.close()
    expected = "Failed to load resource: the server responded with a status of 404 (Not Found)"
    assert ({}, [expected]) == (wrong, said)


@pytest.mark.opens("/docs", "/docs/{group}")
def test_the_pages_of_the_api_are_accessible(site: Site) -> None:
    page = site.page()
    page.goto("/docs")
    wrong = site.complaints(page)
    page.get_by_role("link", name="reviews", exact=True).click()
    page.get_by_role("heading", name="reviews", level=1).wait_for()
    assert [] == wrong + site.complaints(page)
    page.context.close()


@drawn
@pytest.mark.opens(
    "/board/sort/trend.svg",
    "/board/sort/trend.png",
    "/board/sort/roofline.svg",
    "/board/sort/badge.svg",
    "/board/sort/card.png",
    "/static/x/icon.svg",
)
@pytest.mark.sends("GET /board/sort")
def test_pictures_can_be_seen(site: Site) -> None:
    page = site.page(script=False)  # with it the trend is a chart
    page.goto("/board/sort")
    for picture in page.locator("img").all():
        picture.scroll_into_view_if_needed()
        _expect_to_be_drawn(picture)
    page.get_by_label("Author").fill("bob")
    page.get_by_label("Logarithmic axis").check()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("img", name=re.compile("the scores of bob"))).to_have_count(1)
    for path in ("trend.png", "badge.svg", "card.png"):
        answer = page.goto(f"/board/sort/{path}")
        assert answer is not None
        assert answer.ok
    page.context.close()


def _expect_to_be_drawn(picture: Locator) -> None:
    picture.evaluate("one => one.decode()")
    assert picture.evaluate("one => one.naturalWidth > 0")


@pytest.mark.opens("/harness/SHA256SUMS")
def test_the_hash_of_the_harness_can_be_read(site: Site) -> None:
    page = site.page()
    page.goto("/harness/SHA256SUMS")
    assert HARNESS_NAME in page.content()
    page.context.close()


@pytest.mark.opens("/records.atom", "/board/sort/records.atom")
def test_feeds_can_be_read(site: Site) -> None:
    page = site.page()
    for path in ("/records.atom", "/board/sort/records.atom"):
        page.goto(path)
        assert "records" in page.content()
    page.context.close()


@pytest.mark.opens(
    "/board/sort/starter/Python",
    "/board/sort/file/reference.py",
    "/board/sort/trend.csv",
    "/board/sort/standings.csv",
    "/submission/1/code",
    "/submission/1/signed",
    "/submission/1/file/1/profile.0.txt",
    "/client/x.whl",
    f"/harness/{'0' * 64}/{HARNESS_NAME}",
)
def test_files_are_downloaded(site: Site) -> None:
    world = site.live.world
    made = site.live.call(
        world.submit(content=b"# fake: accepted\n", mode=Mode.PROFILE, devices=("CPU",))
    )
    site.live.call(finished(world, made.id))
    page = site.page(ada(site))
    names = []
    for path, links in (
        ("/board/sort", ("CSV", "All as CSV")),
        ("/board/sort/problem", ("Download the starter", "Download reference.py")),
        (f"/submission/{made.id}", ("Download", "Signed document", "profile.0.txt")),
        ("/client/", (wheel_name(CLIENT_VERSION),)),
        ("/harness/", (HARNESS_NAME,)),
    ):
        page.goto(path)
        for link in links:
            with page.expect_download() as begun:
                page.get_by_role("link", name=link, exact=True).click()
            names.append(begun.value.suggested_filename)
    page.context.close()
    assert [
        "trend.csv",
        "sort-H100.csv",
        "sort.py",
        "reference.py",
        "fast.py",
        f"submission-{made.id}.json",
        "profile.0.txt",
        wheel_name(CLIENT_VERSION),
        HARNESS_NAME,
    ] == names


def test_dark_pages_can_be_read(site: Site) -> None:
    page = site.page(ada(site), dark=True)
    wrong = {}
    for path in PATHS:
        page.goto(path)
        if found := site.complaints(page, ("color-contrast",)):
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


def test_what_a_terminal_needs_is_copied_with_one_click(site: Site) -> None:
    page = site.page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.context.close()
    assert f"kernelbot login {site.live.url}" in copied.splitlines()


def test_tables_of_a_report_fit_a_phone(site: Site) -> None:
    world = site.live.world
    sent = site.live.call(world.submit(content=b"# fake: accepted 0.2 0.1 0.3\n", devices=("CPU",)))
    site.live.call(finished(world, sent.id))
    page = site.page(ada(site), size=PHONE)
    page.goto(f"/submission/{sent.id}")
    expect(page.get_by_role("heading", name="Your earlier ones on this board")).to_be_visible()
    expect(page.get_by_role("region", name="Timings of leaderboard").first).to_be_visible()
    cut = page.locator(".scroll").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML)"
    )
    page.context.close()
    assert [] == cut


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("path", ["/", "/client/"])
def test_the_button_that_copies_covers_nothing(
    site: Site, path: str, size: tuple[int, int]
) -> None:
    page = site.page(size=size)
    page.goto(path)
    commands = page.locator(".copied")
    expect(commands.get_by_role("button").first).to_be_visible()
    pairs = [
        [one.locator(part).bounding_box() for part in ("pre", "button")] for one in commands.all()
    ]
    page.context.close()
    ends = [(text["x"] + text["width"], button["x"]) for text, button in pairs if text and button]
    assert len(pairs) == len(ends)
    assert [] == [(end, begin) for end, begin in ends if end > begin]


def test_times_are_in_the_visitors_zone_and_in_utc_without_a_script(site: Site) -> None:
    pages = site.page(), site.page(script=False)
    told = []
    for page in pages:
        page.goto("/board/over")
        told.append(page.locator(".facts time").inner_text())
        page.context.close()
    assert [False, True] == ["UTC" in text for text in told]


@pytest.mark.opens("/board/sort/duels/1")
def test_a_duel_is_read_by_workload(site: Site) -> None:
    world = site.live.world
    site.live.call(ranked(world, 1.9e-3, author=world.bob.user, device="H100", relative_error=0.1))
    site.live.call(fought(world, (1.02, 1.01, 1.03), "H100"))
    page = site.page(world.bob)
    page.goto("/board/sort/duels")
    page.get_by_role("link", name="By workload").click()
    cells = page.locator("main tbody td").all_inner_texts()
    assert ["workload 0", "1.02 s", "1.00 s", "1.020", "1.010 to 1.030", "B", "6"] == cells
    assert [] == site.complaints(page)
    page.context.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.opens("/submission/{number}")
def test_all_figures_of_kernels_for_an_amd_gpu_are_in_sight(
    site: Site, size: tuple[int, int]
) -> None:
    world = site.live.world
    site.live.call(compiled(world, b"a = 1\n", mi300x_report(96), "H100"))
    sent = site.live.call(compiled(world, b"a = 2\n", mi300x_report(128, 64), "H100"))
    page = site.page(ada(site), size=size)
    page.goto(f"/submission/{sent.id}")
    table = page.get_by_role("region", name="Kernels for MI300X")
    assert not table.evaluate("one => one.scrollWidth > one.clientWidth")
    assert [] == site.complaints(page)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    page.context.close()
