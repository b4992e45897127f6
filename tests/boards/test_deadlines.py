from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import BoardClosed, NotAllowed
from kernelbot.protocol import Mode
from kernelbot.submissions.model import NewSubmission
from tests.support.problems import CORRECT
from tests.support.world import World

NEW = NewSubmission("sort", (), Mode.LEADERBOARD, "fast.py", CORRECT)
YESTERDAY = datetime.now(UTC) - timedelta(days=1)


@pytest.fixture
async def over(world: World) -> World:
    """A board whose deadline was yesterday."""
    await world.board()
    await world.services.boards.edit(world.admin.user, "sort", BoardEdit(deadline=YESTERDAY))
    return world


async def test_after_the_deadline_nothing_is_taken(over: World) -> None:
    with pytest.raises(BoardClosed):
        await over.submit()


async def test_an_admin_lets_someone_in_late(over: World) -> None:
    taken = await over.services.submissions.submit(over.ada.user, NEW, late_by=over.admin.user)
    assert "ada" == taken.author


async def test_letting_someone_in_late_is_logged(over: World) -> None:
    taken = await over.services.submissions.submit(over.ada.user, NEW, late_by=over.admin.user)
    newest = (await over.services.audit.list_entries(over.admin.user))[0]
    assert ("submission.late", f"submission:{taken.id}") == (newest.action, newest.subject)


async def test_nobody_lets_himself_in_late(over: World) -> None:
    with pytest.raises(NotAllowed):
        await over.services.submissions.submit(over.ada.user, NEW, late_by=over.ada.user)


async def test_a_moved_deadline_opens_the_board_again(over: World) -> None:
    await over.services.boards.edit(over.admin.user, "sort", BoardEdit(deadline=None))
    assert "sort" == (await over.submit()).board


async def test_what_is_not_given_stays(over: World) -> None:
    edit = BoardEdit(visibility=Visibility.CLOSED)
    board = await over.services.boards.edit(over.admin.user, "sort", edit)
    assert (YESTERDAY, Visibility.CLOSED) == (board.deadline, board.visibility)


async def test_the_log_says_what_an_edit_has_changed(over: World) -> None:
    edit = BoardEdit(deadline=datetime(2031, 2, 3, tzinfo=UTC), reveal_code=True)
    await over.services.boards.edit(over.admin.user, "sort", edit)
    newest = (await over.services.audit.list_entries(over.admin.user))[0]
    expected = {
        "deadline": f"{YESTERDAY:%F %R} UTC -> 2031-02-03 00:00 UTC",
        "reveal_code": "false -> true",
    }
    assert ("board.edit", expected) == (newest.action, newest.detail)


async def test_only_organisers_edit(over: World) -> None:
    with pytest.raises(NotAllowed):
        await over.services.boards.edit(over.ada.user, "sort", BoardEdit(deadline=None))
