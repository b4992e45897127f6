"""A board's page of duels, and those on a submission's page."""

from tests.support.ranked import ranked
from tests.web.conftest import Front


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
