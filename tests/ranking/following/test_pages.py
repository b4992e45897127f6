"""Following with a browser."""

from tests.support.front import Front, csrf_for
from tests.support.ranked import ranked


async def test_a_board_and_an_author_are_followed_by_their_pages(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3)
    author = f"/author/{front.world.ada.user.id}"
    for path in ("/board/sort", author):
        sent = await front.bob.post(f"{path}/follow", data=csrf_for(front.bob))
        assert (303, path) == (sent.status_code, sent.headers["location"])
        assert "Unfollow" in (await front.bob.get(path)).text
    text = (await front.bob.get("/following")).text
    shown = ["1.00 ms", "record", '<a href="/board/sort">', f'<a href="{author}">', "scores.atom"]
    assert [] == [one for one in shown if one not in text]


async def test_it_ends_by_a_button(front: Front) -> None:
    await front.world.board()
    await front.bob.post("/board/sort/follow", data=csrf_for(front.bob))
    await front.bob.post("/board/sort/unfollow", data=csrf_for(front.bob))
    assert "Nothing yet" in (await front.bob.get("/following")).text


async def test_it_needs_an_account_and_a_form_of_ours(front: Front) -> None:
    await front.world.board()
    refused = await front.bob.post("/board/sort/follow", data={"csrf": "forged"})
    stranger = await front.stranger.get("/following")
    assert (403, 303) == (refused.status_code, stranger.status_code)
    assert "Follow</button>" not in (await front.stranger.get("/board/sort")).text
