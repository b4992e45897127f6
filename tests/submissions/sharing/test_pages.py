"""A result's page, its picture, and the form of its author."""

import asyncio
import struct

import pytest
import structlog
from structlog.testing import capture_logs

from kernelbot.api import middleware
from tests.boards.pages.test_charts import drawn
from tests.support.front import Front, csrf_for
from tests.support.ranked import ranked


async def shared(front: Front, **fields: str) -> tuple[str, str]:
    """The path of a submission of ada's, and that of its link."""
    await front.world.board()
    made = await ranked(front.world, 1e-3, says="# <script>alert(1)</script>")
    sent = await front.ada.post(f"/submission/{made}/share", data={**csrf_for(front.ada), **fields})
    assert (303, f"/submission/{made}#share") == (sent.status_code, sent.headers["location"])
    link = await front.world.services.sharing.link(front.world.ada.user, made)
    assert link is not None
    return f"/submission/{made}", link.path


async def test_a_link_is_a_page_for_everybody_with_open_graph(front: Front) -> None:
    _, path = await shared(front)
    answer = await front.stranger.get(path)
    shown = [
        '<meta property="og:title" content="1.00 ms on sort, CPU">',
        f'<meta property="og:url" content="http://test{path}">',
        "ada, place 1 of 1",
        '<meta name="robots" content="noindex">',
    ]
    assert (200, []) == (answer.status_code, [one for one in shown if one not in answer.text])


async def test_a_shared_place_is_shown_as_one(front: Front) -> None:
    _, path = await shared(front)
    await ranked(front.world, 1e-3, author=front.world.bob.user)
    text = (await front.stranger.get(path)).text
    assert [True, True] == [one in text for one in ("ada, place =1 of 2", ">=1</span> of 2")]


async def test_the_code_is_there_if_its_author_says_so_and_is_text(front: Front) -> None:
    submission, path = await shared(front)
    without = (await front.stranger.get(path)).text
    await front.ada.post(f"{submission}/share", data={**csrf_for(front.ada), "shows_code": "true"})
    with_it = (await front.stranger.get(path)).text
    assert [False, True] == ["score_s" in text for text in (without, with_it)]
    assert "<script>alert" not in with_it


async def test_the_author_sees_the_link_and_ends_it(front: Front) -> None:
    submission, path = await shared(front)
    seen = f"http://test{path}" in (await front.ada.get(submission)).text
    await front.ada.post(f"{submission}/unshare", data=csrf_for(front.ada))
    after = await front.ada.get(submission)
    assert (True, False, True, 404) == (
        seen,
        path in after.text,
        "Make a link" in after.text,
        (await front.stranger.get(path)).status_code,
    )


async def test_others_find_no_form(front: Front) -> None:
    submission, _ = await shared(front)
    assert 'id="share"' not in (await front.admin.get(submission)).text
    refused = await front.admin.post(f"{submission}/share", data=csrf_for(front.admin))
    forged = await front.ada.post(f"{submission}/share", data={"csrf": "x"})
    assert (403, 403) == (refused.status_code, forged.status_code)


# Each run has test_charts_become_pictures_in_one_process (drawing/test_drawing.py) (test_embeds.py)
@pytest.mark.exhaustive
@drawn
async def test_the_card_is_a_picture_of_the_size_that_is_named(front: Front) -> None:
    _, path = await shared(front)
    answer = await front.stranger.get(f"{path}/card.png")
    assert "image/png" == answer.headers["content-type"]
    assert (1200, 630) == struct.unpack(">II", answer.content[16:24])


async def test_colours_are_found_for_its_author_as_much_as_for_one_person(front: Front) -> None:
    _, path = await shared(front, shows_code="true")
    texts, go_on = front.app.state.texts, asyncio.Event()

    async def fetch() -> tuple[bytes, bytes]:
        await go_on.wait()
        raise EOFError

    waiting = [
        asyncio.create_task(
            texts._answers.ask(texts._colours, key, fetch, 60, asker=front.world.ada.user.id)
        )
        for key in "abc"
    ]
    await asyncio.sleep(0)
    meanwhile = (await front.stranger.get(path)).text
    go_on.set()
    await asyncio.gather(*waiting, return_exceptions=True)
    later = (await front.stranger.get(path)).text
    assert [False, True] == ['<span class="n">score_s' in text for text in (meanwhile, later)]


@drawn
async def test_others_ask_each_time_whether_the_card_is_still_there(front: Front) -> None:
    submission, path = await shared(front)
    first = await front.stranger.get(f"{path}/card.png")
    tag = {"If-None-Match": first.headers["etag"]}
    same = await front.stranger.get(f"{path}/card.png", headers=tag)
    await front.ada.post(f"{submission}/unshare", data=csrf_for(front.ada))
    ended = await front.stranger.get(f"{path}/card.png", headers=tag)
    assert ("public, max-age=0, must-revalidate", 304, 404) == (
        first.headers["cache-control"],
        same.status_code,
        ended.status_code,
    )


@drawn
async def test_cards_of_links_take_no_room_of_boards_charts(front: Front) -> None:
    _, path = await shared(front)
    await front.stranger.get(f"{path}/card.png")
    pictures = front.app.state.pictures
    assert (0, 1) == (len(pictures.kept._kept), len(pictures.of_links._kept))


async def test_the_log_doesnt_have_the_secret(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = await shared(front)
    with capture_logs() as logs:
        monkeypatch.setattr(middleware, "log", structlog.get_logger())
        for one in (path, f"{path}/card.png"):
            await front.stranger.get(one)
    told = [line["path"] for line in logs if line["event"] == "request"]
    assert ["/result/...", "/result/.../card.png"] == told


async def test_what_is_no_link_is_a_page_that_says_so(front: Front) -> None:
    for path in ("/result/x", "/result/x/card.png", "/result/..%2f..", "/result/"):
        assert 404 == (await front.stranger.get(path)).status_code
