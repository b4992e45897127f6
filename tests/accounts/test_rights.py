"""Who may do what, by role, ban and whose board it is."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kernelbot.accounts.logins.providers import ProviderPerson
from kernelbot.accounts.model import Role, User
from kernelbot.accounts.permissions import (
    is_admin,
    organises,
    require_admin,
    require_creator,
    require_organiser,
    require_unbanned,
)
from kernelbot.accounts.registration import _names
from kernelbot.domain.errors import Banned, KernelbotError, NotAllowed

NOW = datetime(2031, 2, 3, tzinfo=UTC)
MINE, OTHERS = 1, 2


def person(role: Role, *, banned: bool = False) -> User:
    return User(MINE, "ada", role, NOW, NOW if banned else None)


@pytest.mark.parametrize(
    ("who", "admin", "mine", "others"),
    [
        (None, False, False, False),
        (person(Role.COMPETITOR), False, False, False),
        (person(Role.CREATOR), False, True, False),
        (person(Role.ADMIN), True, True, True),
        (person(Role.CREATOR, banned=True), False, False, False),
        (person(Role.ADMIN, banned=True), False, False, False),
    ],
)
def test_who_is_an_admin_and_who_organises(
    who: User | None, admin: bool, mine: bool, others: bool
) -> None:
    assert (admin, mine, others) == (is_admin(who), organises(who, MINE), organises(who, OTHERS))


def refused(check: Callable[[User], None], who: User) -> tuple[type[KernelbotError], str] | None:
    """What a check raises."""
    try:
        check(who)
    except KernelbotError as error:
        return type(error), str(error)
    return None


BANNED = (Banned, "This account is banned.")


@pytest.mark.parametrize(
    ("check", "competitor", "creator", "banned"),
    [
        (require_unbanned, None, None, BANNED),
        (
            require_admin,
            (NotAllowed, "Only an admin may do this."),
            (NotAllowed, "Only an admin may do this."),
            BANNED,
        ),
        (require_creator, (NotAllowed, "Only creators and admins open boards."), None, BANNED),
        (
            lambda who: require_organiser(who, "sort", MINE),
            (NotAllowed, "Only the organisers of 'sort' may do this."),
            None,
            BANNED,
        ),
    ],
)
def test_what_is_said_to_who_may_not(
    check: Callable[[User], None], competitor: object, creator: object, banned: object
) -> None:
    people = (person(Role.COMPETITOR), person(Role.CREATOR), person(Role.ADMIN, banned=True))
    assert [competitor, creator, banned] == [refused(check, who) for who in people]
    assert None is refused(check, person(Role.ADMIN))


@pytest.mark.parametrize(
    ("given", "shown", "stem"),
    [
        ("ada", "ada", "ada"),
        (" a\x00d\u202ea\n", "ada", "ada"),
        ("\x00", "someone", "someone"),
        ("x" * 64, "x" * 64, "x" * 47),
        ("x" * 65, "x" * 64, "x" * 47),
        ("x" * 46 + " y", "x" * 46 + " y", "x" * 46),
    ],
)
def test_a_providers_name_is_made_a_name_here_and_tried_with_numbers(
    given: str, shown: str, stem: str
) -> None:
    first, *numbered, last = _names(ProviderPerson("7", given))
    assert (shown, [f"{stem}-{number}" for number in range(2, 10)]) == (first, numbered)
    assert (stem, 16) == (last[:-17], len(bytes.fromhex(last[-16:])) * 2)
    assert max(map(len, (first, *numbered, last))) <= 64
