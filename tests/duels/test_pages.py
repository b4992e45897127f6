"""A board's page of duels, and those on a submission's page."""

from kernelbot.render.duels import NOT_BY_WORKLOAD
from tests.support.front import Front
from tests.support.judging import fought
from tests.support.ranked import ranked


async def test_a_board_without_duels_says_so(front: Front) -> None:
    await front.world.board()
    assert "There was none here yet" in (await front.stranger.get("/board/sort/duels")).text


async def test_everybody_reads_who_is_dueled_and_nobody_a_source(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 1e-3, relative_error=0.1, says="secret_source")
    number = await ranked(front.world, 0.95e-3, relative_error=0.1, says="secret_source")
    board = (await front.stranger.get("/board/sort/duels")).text
    own = (await front.ada.get(f"/submission/{number}")).text
    assert (True, False) == ("<bdi>ada</bdi>" in board, "secret_source" in board)
    assert {True} == {"It waits for its turn." in page for page in (board, own)}
    assert "too close to tell" in own


async def test_a_number_from_nowhere_is_a_page(front: Front) -> None:
    await front.world.board()
    found = {q: (await front.stranger.get(f"/board/sort/duels?before_id={q}")) for q in ("0", "1")}
    assert {"0": 422, "1": 200} == {q: answer.status_code for q, answer in found.items()}


async def test_by_workload_it_is_shown_to_who_may_see_both(front: Front) -> None:
    await front.world.board()
    for score_s in (1e-3, 0.95e-3):
        await ranked(front.world, score_s, relative_error=0.1)
    await fought(front.world, (0.5, 0.498, 0.502))
    link = "/board/sort/duels/1"
    assert f'href="{link}"' in (await front.stranger.get("/board/sort/duels")).text
    pages = [(await one.get(link)).text for one in (front.ada, front.bob, front.stranger)]
    assert [True] * 3 == ["(ratio 0.500, 0.498 to 0.502)." in page for page in pages]
    assert [True, False, False] == ["0.498 to 0.502</td>" in page for page in pages]
    assert [False, True, True] == [NOT_BY_WORKLOAD in page for page in pages]
    assert {"workload 0"} == {one for one in ("workload 0", "size: 10000") if one in pages[0]}


async def test_a_duel_that_there_is_not_is_a_page(front: Front) -> None:
    await front.world.board()
    found = [await front.stranger.get(f"/board/sort/duels/{one}") for one in ("1", "x", "0")]
    assert [404, 422, 422] == [answer.status_code for answer in found]
