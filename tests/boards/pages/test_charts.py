"""The trend of a board as a picture and as numbers."""

import csv
import importlib.util
import io
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from kernelbot.protocol import DeviceSpec, Floor, Vendor
from kernelbot.runs.devices.model import DeviceConfig
from kernelbot.server.wiring import open_services
from kernelbot.web.site import close_site, create_site
from tests.support.front import Front, browser_of
from tests.support.problems import sort_problem
from tests.support.ranked import ranked
from tests.support.world import World

drawn = pytest.mark.skipif(
    importlib.util.find_spec("vl_convert") is None, reason="charts are an extra"
)


# Each run has test_charts_become_pictures_in_one_process (drawing/test_drawing.py)
@pytest.mark.exhaustive
async def test_the_numbers_are_the_records_and_the_chosen_authors(front: Front) -> None:
    await front.world.board()
    for score_s in (3e-3, 4e-3, 2e-3):
        await ranked(front.world, score_s)
    await ranked(front.world, 2.5e-3, author=front.world.bob.user)
    answer = await front.stranger.get("/board/sort/trend.csv?author=BOB&author=nobody")
    rows = list(csv.reader(io.StringIO(answer.text)))[1:]
    assert [
        ("record", "ada", 3e-3),
        ("record", "ada", 2e-3),
        ("author", "bob", 2.5e-3),
    ] == [(series, author, float(score)) for series, author, _, score in rows]


async def test_a_new_record_is_in_the_numbers_at_once(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 3e-3)
    before = await front.stranger.get("/board/sort/trend.csv")
    await ranked(front.world, 1e-3)
    after = await front.stranger.get("/board/sort/trend.csv")
    assert [2, 3] == [len(one.text.splitlines()) for one in (before, after)]


async def test_a_name_that_a_spreadsheet_would_run_is_text(front: Front) -> None:
    await front.world.board()
    formula = await front.world.services.users.create("=1+1")
    await ranked(front.world, 1e-3, author=formula.user)
    assert "'=1+1" in (await front.stranger.get("/board/sort/trend.csv")).text


# Each run has test_charts_become_pictures_in_one_process (drawing/test_drawing.py) (test_embeds.py)
@pytest.mark.exhaustive
@drawn
@pytest.mark.parametrize(
    ("path", "starts"),
    [
        ("trend.svg?author=ada&log=true", b"<svg"),
        ("trend.png?theme=dark", b"\x89PNG"),
    ],
)
async def test_the_trend_is_a_picture(front: Front, path: str, starts: bytes) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    answer = await front.stranger.get(f"/board/sort/{path}")
    again = await front.stranger.get(f"/board/sort/{path}")
    assert (200, starts) == (answer.status_code, answer.content[: len(starts)])
    assert answer.content == again.content


async def test_without_scores_there_is_nothing_to_draw(front: Front) -> None:
    await front.world.board()
    assert 404 == (await front.stranger.get("/board/sort/trend.svg")).status_code


async def test_a_server_without_charts_says_so(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    front.app.state.pictures.drawing.available = False
    answer = await front.stranger.get("/board/sort/trend.svg")
    assert (503, True) == (answer.status_code, "the extra `charts`" in answer.text)


async def test_without_work_or_peaks_there_is_no_roofline(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    page = await front.stranger.get("/board/sort")
    answer = await front.stranger.get("/board/sort/roofline.svg")
    assert (404, False) == (answer.status_code, "Roofline" in page.text)


# Each run has test_charts_become_pictures_in_one_process (drawing/test_drawing.py)
@pytest.mark.exhaustive
@drawn
async def test_the_leaders_place_below_the_roof_is_drawn_and_said(world: World) -> None:
    peaks = DeviceSpec("CPU", Vendor.CPU, peak_flops=1e11, peak_bytes_per_s=4e9)
    definition = sort_problem()
    spec = replace(definition.spec, floors=(Floor(4e6, 2e6),))
    await world.services.boards.create(
        world.admin.user, replace(definition, spec=spec), name="sort", devices=("CPU",)
    )
    await ranked(world, 1e-3)
    device = DeviceConfig(peaks, ("local",))
    async with AsyncExitStack() as stack:
        core = await stack.enter_async_context(open_services(world.database.url, (device,)))
        site = create_site(core.services)
        stack.push_async_callback(close_site, site)
        browser = await stack.enter_async_context(browser_of(site))
        page = await browser.get("/board/sort")
        picture = await browser.get("/board/sort/roofline.svg?theme=dark")
    assert "4e+09 operations per second with 2 for each byte of memory: 50.0 %" in page.text
    assert (200, b"<svg") == (picture.status_code, picture.content[:4])
