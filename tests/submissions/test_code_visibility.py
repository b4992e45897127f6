"""Who may read an author's code on a board."""

from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.boards.model import Board, Visibility
from kernelbot.protocol import HarnessKind, RankRule
from kernelbot.submissions.code_visibility import may_read_code

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PAST, LATER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


def a_user(number: int, role: Role = Role.COMPETITOR) -> User:
    return User(number, f"user{number}", role, NOW, None)


def a_board(deadline: datetime | None, *, reveal_code: bool) -> Board:
    return Board(
        "sort",
        "",
        "sort",
        1,
        HarnessKind.NATIVE,
        RankRule.LAST,
        ("CPU",),
        Visibility.PUBLIC,
        deadline,
        NOW,
        reveal_code,
        id=1,
    )


@pytest.mark.parametrize(
    ("viewer", "deadline", "reveal_code", "may"),
    [
        (None, PAST, True, False),
        (a_user(5), LATER, False, True),
        (a_user(7, Role.CREATOR), LATER, False, True),
        (a_user(7), LATER, False, False),
        (a_user(9, Role.ADMIN), LATER, False, True),
        (a_user(9), LATER, True, False),
        (a_user(9), PAST, False, False),
        (a_user(9), NOW, True, True),
        (a_user(9), None, True, False),
    ],
    ids=["nobody", "author", "creator", "no more", "admin", "before", "hidden", "after", "never"],
)
def test_an_authors_code_is_for_them_and_organisers_and_after_the_end_for_all(
    viewer: User | None, deadline: datetime | None, reveal_code: bool, may: bool
) -> None:
    board = a_board(deadline, reveal_code=reveal_code)
    assert may is may_read_code(viewer, board, 7, NOW, author_id=5)


def test_everybodys_is_for_organisers_alone() -> None:
    board = a_board(LATER, reveal_code=False)
    viewers = a_user(5), a_user(9, Role.ADMIN)
    found = [may_read_code(viewer, board, 7, NOW, author_id=None) for viewer in viewers]
    assert [False, True] == found
