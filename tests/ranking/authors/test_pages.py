"""`/author/ID` in a browser, its feed, and the setting on the account's page."""

from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest

from tests.boards.pages.test_embeds import ATOM, entries
from tests.support.front import Front, csrf_for
from tests.support.ranked import ranked

HOSTILE = [
    "a'; echo x",
    "a/b",
    "..",
    "%2F",
    "x<script>alert(1)</script>",
    "\u05d0\u05d1\u05d2 12",
    "?#&",
]


async def opened(front: Front, name: str = "ada") -> str:
    """Ada, who has that name, on a board; her page's path."""
    await front.world.board()
    await ranked(front.world, 1e-3)
    ada = front.world.ada.user
    await front.world.services.users.rename(front.world.admin.user, ada.id, name)
    return f"/author/{ada.id}"


async def test_a_page_shows_boards_activity_and_history(front: Front) -> None:
    text = (await front.stranger.get(await opened(front))).text
    shown = ["<bdi>ada</bdi>", "1.00 ms", "/board/sort?device=CPU", 'class="day-1"', "scores.atom"]
    assert [] == [one for one in shown if one not in text]


async def test_a_shared_place_is_written_as_in_the_ranking(front: Front) -> None:
    path = await opened(front)
    await ranked(front.world, 1e-3, author=front.world.bob.user)
    async with front.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 s'")
    text = (await front.stranger.get(path)).text
    in_medals, in_boards = (
        text.partition(f'id="{part}"')[2].partition("</section>")[0]
        for part in ("medals", "boards")
    )
    assert [True, True] == [">=1</span>" in part for part in (in_medals, in_boards)]


async def renamed(front: Front, name: str) -> None:
    """Ada, from now on."""
    users = front.world.services.users
    await users.rename(front.world.admin.user, front.world.ada.user.id, name)


@pytest.mark.exhaustive  # each run has test_a_feed_with_any_name_is_xml
async def test_any_name_leads_to_its_page_and_is_only_text_there(front: Front) -> None:
    path = await opened(front)
    for name in HOSTILE:
        await renamed(front, name)
        found = await front.stranger.get(f"/author?{urlencode({'name': name})}")
        text = (await front.stranger.get(path)).text
        assert (303, path, name) == (found.status_code, found.headers["location"], name)
        assert "<script>alert" not in text


async def test_a_feed_with_any_name_is_xml(front: Front) -> None:
    path = await opened(front)
    for name in HOSTILE:
        await renamed(front, name)
        feed = ElementTree.fromstring((await front.stranger.get(f"{path}/scores.atom")).content)
        assert f"Scores of {name}" == feed.findtext(f"{ATOM}title")


async def test_a_ranking_leads_to_its_authors(front: Front) -> None:
    path = await opened(front, HOSTILE[0])
    assert f'<a href="{path}">' in (await front.stranger.get("/board/sort")).text


async def test_podiums_lead_to_authors_by_their_numbers(front: Front) -> None:
    link = f'<span class="who"><a href="{await opened(front, HOSTILE[0])}">'
    home = (await front.stranger.get("/")).text
    async with front.world.database.write() as session:
        await session.do("UPDATE leaderboards SET deadline = now() - interval '1 s'")
    board = (await front.stranger.get("/board/sort")).text
    assert [True, True] == [link in text for text in (home, board)]


@pytest.mark.parametrize("path", ["/author/0", "/author/9999", "/author?name=nobody"])
async def test_who_is_not_there_is_a_page_that_says_so(front: Front, path: str) -> None:
    answer = await front.stranger.get(path)
    assert answer.status_code in (404, 422)
    assert "<h1>" in answer.text


async def test_a_page_is_made_private_and_shown_again(front: Front) -> None:
    path = await opened(front)
    told = [(await front.stranger.get(path)).status_code]
    for private in ({"private": "true"}, {}):
        await front.ada.post("/auth/author-page", data={**csrf_for(front.ada), **private})
        told.append((await front.stranger.get(path)).status_code)
        told.append((await front.stranger.get(f"{path}/scores.atom")).status_code)
    assert [200, 404, 404, 200, 200] == told


async def test_a_private_page_is_to_others_as_if_nobody_had_the_number(front: Front) -> None:
    path = await opened(front)
    await front.ada.post("/auth/author-page", data={**csrf_for(front.ada), "private": "true"})
    private, nobodys = [await front.bob.get(one) for one in (path, "/author/9999")]
    assert nobodys.text.replace("/author/9999", path) == private.text
    assert "or they keep their page private" in private.text


async def test_a_private_page_says_so_to_its_author_and_has_no_feed(front: Front) -> None:
    path = await opened(front)
    await front.ada.post("/auth/author-page", data={**csrf_for(front.ada), "private": "true"})
    text = (await front.ada.get(path)).text
    assert ("Only you and admins" in text, "scores.atom" in text) == (True, False)


async def test_a_forged_form_changes_nothing(front: Front) -> None:
    path = await opened(front)
    refused = await front.ada.post("/auth/author-page", data={"private": "true"})
    assert (403, 200) == (refused.status_code, (await front.stranger.get(path)).status_code)


async def test_readers_of_the_feed_ask_each_time_whether_it_is_still_there(front: Front) -> None:
    path = await opened(front)
    first = await front.stranger.get(f"{path}/scores.atom")
    assert "public, max-age=0, must-revalidate" == first.headers["cache-control"]


async def test_the_feed_has_scores_that_everybody_sees(front: Front) -> None:
    path = await opened(front)
    await ranked(front.world, 5e-4)
    feed = f"{path}/scores.atom"
    assert ["ada: 500 µs on sort, CPU", "ada: 1.00 ms on sort, CPU"] == await entries(front, feed)
