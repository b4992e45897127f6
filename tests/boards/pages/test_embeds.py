"""Badges, feeds and cards: what other sites show."""

import struct
from xml.etree import ElementTree

import pytest

from kernelbot.boards.model import Visibility
from tests.boards.pages.test_charts import drawn
from tests.support.front import Front
from tests.support.problems import sort_problem
from tests.support.ranked import ranked

ATOM = "{http://www.w3.org/2005/Atom}"
EMBEDS = ("/board/sort/badge.svg", "/board/sort/records.atom", "/board/sort/card.png")


async def entries(front: Front, path: str = "/records.atom") -> list[str]:
    """The titles of a feed."""
    feed = ElementTree.fromstring((await front.stranger.get(path)).content)
    return [entry.findtext(f"{ATOM}title") or "" for entry in feed.findall(f"{ATOM}entry")]


async def test_the_badge_names_the_leader(front: Front) -> None:
    await front.world.board()
    empty = await front.stranger.get("/board/sort/badge.svg")
    await ranked(front.world, 2e-3)
    await ranked(front.world, 1e-3, author=front.world.bob.user)
    answer = await front.stranger.get("/board/sort/badge.svg")
    titles = [ElementTree.fromstring(one.content)[0].text for one in (empty, answer)]
    assert ["sort: nobody yet", "sort: 1.00 ms bob"] == titles
    assert "image/svg+xml" == answer.headers["content-type"]


async def test_a_feed_has_the_records_the_newest_first(front: Front) -> None:
    await front.world.board(devices=("CPU", "H100"))
    for score_s in (3e-3, 4e-3, 2e-3):
        await ranked(front.world, score_s)
    await ranked(front.world, 1e-3, device="H100", author=front.world.bob.user)
    expected = [
        "bob: 1.00 ms on sort, H100",
        "ada: 2.00 ms on sort, CPU",
        "ada: 3.00 ms on sort, CPU",
    ]
    assert [expected, expected] == [
        await entries(front),
        await entries(front, "/board/sort/records.atom"),
    ]


async def test_a_feeds_entries_have_ids_and_times_of_their_own(front: Front) -> None:
    await front.world.board()
    for score_s in (3e-3, 2e-3):
        await ranked(front.world, score_s)
    text = (await front.stranger.get("/records.atom")).content
    feed = ElementTree.fromstring(text)
    found = [entry.findtext(f"{ATOM}id") for entry in feed.findall(f"{ATOM}entry")]
    assert (2, text) == (len(set(found)), (await front.ada.get("/records.atom")).content)
    assert (feed.findtext(f"{ATOM}updated") or "").endswith("Z")


async def test_an_empty_feed_is_a_feed(front: Front) -> None:
    assert [] == await entries(front)


@pytest.mark.parametrize("path", [*EMBEDS, "/board/nothing/badge.svg", "/board/%00/badge.svg"])
async def test_a_closed_board_says_nothing_to_anybody(front: Front, path: str) -> None:
    await front.world.services.boards.create(
        front.world.admin.user,
        sort_problem(),
        name="sort",
        devices=("CPU",),
        visibility=Visibility.CLOSED,
    )
    answers = [await one.get(path) for one in (front.stranger, front.admin)]
    assert True is all(one.status_code in (404, 422) for one in answers)
    assert [] == await entries(front)
    assert "og:" not in (await front.admin.get("/board/sort")).text


async def test_hostile_names_are_text(front: Front) -> None:
    await front.world.board()
    name = "\"'><script>alert(1)</script>&amp;"
    author = (await front.world.services.users.create(name)).user
    await ranked(front.world, 1e-3, author=author)
    badge = await front.stranger.get("/board/sort/badge.svg")
    page = await front.stranger.get("/board/sort")
    (title,) = await entries(front)
    assert (f"{name}: 1.00 ms on sort, CPU", False, False) == (
        title,
        "<script" in badge.text,
        "<script>alert" in page.text,
    )
    ElementTree.fromstring(badge.content)


@pytest.mark.parametrize("path", ["/board/sort/badge.svg", "/records.atom"])
async def test_anybody_may_keep_them_and_ask_whether_they_changed(front: Front, path: str) -> None:
    await front.world.board()
    first = await front.stranger.get(path)
    tag = {"If-None-Match": f'"x", W/{first.headers["etag"]}'}
    same = await front.stranger.get(path, headers=tag)
    await ranked(front.world, 1e-3)
    changed = await front.stranger.get(path, headers=tag)
    assert ("public, max-age=300", 304, b"", 200) == (
        first.headers["cache-control"],
        same.status_code,
        same.content,
        changed.status_code,
    )


async def test_a_board_says_what_a_link_to_it_shows(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    text = (await front.stranger.get("/board/sort")).text
    shown = [
        '<meta property="og:url" content="http://test/board/sort">',
        'content="ada leads with 1.00 ms on CPU, 1 author ranked."',
        'href="/board/sort/records.atom"',
        'href="/records.atom"',
    ]
    assert [] == [one for one in shown if one not in text]


@drawn
@pytest.mark.parametrize("scores", [(), (2e-3, 1e-3)])
async def test_a_card_is_a_picture_of_the_size_that_other_sites_show(
    front: Front, scores: tuple[float, ...]
) -> None:
    await front.world.board()
    for score_s in scores:
        await ranked(front.world, score_s)
    answer = await front.stranger.get("/board/sort/card.png")
    assert ("image/png", (1200, 630)) == (
        answer.headers["content-type"],
        struct.unpack(">II", answer.content[16:24]),
    )


@drawn
async def test_the_card_changes_with_the_ranking(front: Front) -> None:
    await front.world.board()
    before = await front.stranger.get("/board/sort/card.png")
    await ranked(front.world, 1e-3)
    after = await front.stranger.get("/board/sort/card.png")
    assert before.content != after.content
