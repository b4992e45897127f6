"""What the chart in the browser is drawn of."""

from typing import Any

import httpx
import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from tests.support.front import Front
from tests.support.ranked import ranked


async def asked(browser: httpx.AsyncClient, query: str = "author=bob") -> dict[str, Any]:
    answer = await browser.get(f"/board/sort/trend.json?{query}")
    assert (200, "application/json") == (answer.status_code, answer.headers["content-type"])
    found: dict[str, Any] = answer.json()
    return found


async def test_the_record_and_each_author_with_intervals(front: Front) -> None:
    await front.world.board()
    for score_s in (3e-3, 1e-3):
        await ranked(front.world, score_s)
    number = await ranked(front.world, 2e-3, author=front.world.bob.user)
    data = await asked(front.stranger)
    record, bob = data["record"], data["authors"][0]
    assert [("ada", 3e-3), ("ada", 1e-3)] == [
        (point["author"], point["score_s"]) for point in record["points"]
    ]
    point = bob["points"][0]
    assert ("bob", number, None) == (bob["name"], point["submission_id"], point["page"])
    low, high = point["ci95_s"]
    assert low < 2e-3 < high


async def test_points_lead_to_what_the_visitor_may_see(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    pages = [
        (await asked(browser))["record"]["points"][0]["page"]
        for browser in (front.stranger, front.bob, front.ada, front.admin)
    ]
    assert [None, None, f"/submission/{number}", f"/submission/{number}"] == pages


async def test_a_name_like_markup_stays_text(front: Front) -> None:
    await front.world.board()
    name = '<b>"x'
    author = await front.world.services.users.create(name)
    await ranked(front.world, 1e-3, author=author.user)
    data = await asked(front.stranger, "author=%3Cb%3E%22x")
    assert name == data["authors"][0]["name"] == data["record"]["points"][0]["author"]
    page = (await front.stranger.get("/board/sort")).text
    assert (False, True) == ("<b>" in page, '<option value="&lt;b&gt;&#34;x">' in page)


async def test_a_closed_board_has_no_numbers_for_strangers(front: Front) -> None:
    await front.world.board()
    edit = BoardEdit(visibility=Visibility.CLOSED)
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    for path in ("trend.json", "authors.json?beginning=a"):
        assert 404 == (await front.stranger.get(f"/board/sort/{path}")).status_code


@pytest.mark.parametrize(
    ("query", "expected"),
    [("beginning=A", ["ada"]), ("beginning=x", []), ("", []), ("beginning=%00", [])],
)
async def test_names_are_offered(front: Front, query: str, expected: list[str]) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    answer = await front.stranger.get(f"/board/sort/authors.json?{query}")
    assert {"names": expected} == answer.json()
