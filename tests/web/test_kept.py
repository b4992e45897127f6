"""Pages that are kept are never older than what they show, and never someone else's."""

from datetime import UTC, datetime, timedelta

from kernelbot.boards.service import BoardEdit
from tests.support.front import Front
from tests.support.ranked import ranked


async def test_a_page_shows_who_came_since_it_was_kept(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 2e-3)
    before = (await front.stranger.get("/board/sort")).text
    await ranked(front.world, 1e-3, author=front.world.bob.user)
    after = (await front.stranger.get("/board/sort")).text
    assert [False, True] == ["<bdi>bob</bdi>" in text for text in (before, after)]


async def test_a_page_kept_for_a_stranger_is_not_that_of_an_author(front: Front) -> None:
    await front.world.board()
    await ranked(front.world, 2e-3)
    people = (front.stranger, front.ada, front.bob, front.ada, front.stranger)
    texts = [(await one.get("/board/sort")).text for one in people]
    assert [False, True, False, True, False] == ['class="me"' in text for text in texts]


async def test_a_problem_kept_shows_the_boards_new_deadline(front: Front) -> None:
    await front.world.board()
    before = (await front.stranger.get("/board/sort/problem")).text
    edit = BoardEdit(deadline=datetime.now(UTC) + timedelta(days=5, minutes=1))
    await front.world.services.boards.edit(front.world.admin.user, "sort", edit)
    after = (await front.stranger.get("/board/sort/problem")).text
    assert ("no deadline" in before, "5 days left" in after) == (True, True)
