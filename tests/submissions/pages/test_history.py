"""One's own submissions."""

import pytest

from kernelbot.submissions.pages import history
from tests.support.front import Front
from tests.support.ranked import ranked


async def test_a_person_sees_their_own_with_place_and_score(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    texts = [(await one.get("/submissions")).text for one in (front.ada, front.bob)]
    shown = [f'href="/submission/{number}"', "1.00 ms", "medal-1", "/board/sort?author=ada"]
    assert [] == [one for one in shown if one not in texts[0]]
    assert "There are none" in texts[1]


async def test_a_shared_place_is_written_as_in_the_ranking(front: Front) -> None:
    await front.world.board()
    number = await ranked(front.world, 1e-3)
    await ranked(front.world, 1e-3, author=front.world.bob.user)
    texts = [(await front.ada.get(path)).text for path in ("/submissions", f"/submission/{number}")]
    assert [True, True] == [">=1</span>" in text for text in texts]


async def test_pages_continue_where_the_one_before_ended(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "ROWS", 2)
    await front.world.board()
    for _ in range(3):
        await front.world.submit()
    first = (await front.ada.get("/submissions?board=sort")).text
    path = first.split('rel="next"')[1].split('href="')[1].split('"')[0].replace("&amp;", "&")
    second = (await front.ada.get(path)).text
    assert ("/submission/2" in first, "/submission/1" in first) == (True, False)
    assert ("/submission/2" in second, "/submission/1" in second) == (False, True)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (f"before_id={10**18}", 200),
        (f"before_id={10**30}", 422),
        ("board=<script>", 200),
        ("board=%00", 422),
    ],
)
async def test_a_query_from_nowhere_is_a_page(front: Front, query: str, status: int) -> None:
    answer = await front.ada.get(f"/submissions?{query}")
    assert (status, False) == (answer.status_code, "<script>" in answer.text)


async def test_a_stranger_logs_in_first(front: Front) -> None:
    assert 303 == (await front.stranger.get("/submissions")).status_code
