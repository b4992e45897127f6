"""What each role may do, banned or not."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.accounts.permissions import (
    is_admin,
    organises,
    require_admin,
    require_creator,
    require_organiser,
    require_unbanned,
)
from kernelbot.domain.errors import Banned, NotAllowed
from kernelbot.domain.next_steps import Next

AT = datetime(2026, 1, 1, tzinfo=UTC)


def a_user(role: Role, *, number: int = 7, banned: bool = False) -> User:
    return User(number, "ada", role, AT, AT if banned else None)


COMPETITOR, CREATOR, ADMIN = (a_user(role) for role in Role)
OTHER_CREATOR = a_user(Role.CREATOR, number=8)


@pytest.mark.parametrize(
    ("actor", "admin", "organiser"),
    [
        (None, False, False),
        (COMPETITOR, False, False),
        (CREATOR, False, True),
        (OTHER_CREATOR, False, False),
        (ADMIN, True, True),
        (a_user(Role.ADMIN, number=8), True, True),
        (a_user(Role.CREATOR, banned=True), False, False),
        (a_user(Role.ADMIN, banned=True), False, False),
    ],
)
def test_admins_and_its_creator_organise_a_board(
    actor: User | None, admin: bool, organiser: bool
) -> None:
    assert (admin, organiser) == (is_admin(actor), organises(actor, 7))


def of_board(actor: User) -> None:
    require_organiser(actor, "sort", 7)


CHECKS: list[tuple[Callable[[User], None], list[User], list[User], str]] = [
    (require_admin, [ADMIN], [COMPETITOR, CREATOR], "Only an admin may do this."),
    (
        of_board,
        [ADMIN, CREATOR],
        [COMPETITOR, OTHER_CREATOR],
        "Only the organisers of 'sort' may do this.",
    ),
    (require_creator, [ADMIN, CREATOR], [COMPETITOR], "Only creators and admins open boards."),
    (require_unbanned, [ADMIN, CREATOR, COMPETITOR], [], ""),
]


@pytest.mark.parametrize(("check", "allowed", "refused", "why"), CHECKS)
def test_who_may_not_is_told_why_and_whom_to_ask(
    check: Callable[[User], None], allowed: list[User], refused: list[User], why: str
) -> None:
    for actor in allowed:
        check(actor)
    for actor in refused:
        with pytest.raises(NotAllowed) as error:
            check(actor)
        assert (why, Next.ASK_ADMIN) == (str(error.value), error.value.next_step)


@pytest.mark.parametrize("check", [check for check, *_ in CHECKS])
@pytest.mark.parametrize("role", list(Role))
def test_a_banned_person_may_nothing(check: Callable[[User], None], role: Role) -> None:
    with pytest.raises(Banned, match=r"^This account is banned\.$") as error:
        check(a_user(role, banned=True))
    assert error.value.next_step is Next.ASK_ADMIN
