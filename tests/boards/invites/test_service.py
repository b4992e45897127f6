import asyncio
import re

import pytest

from kernelbot.accounts.model import Role, User
from kernelbot.boards.invites.service import _codes
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import Banned, NotAllowed, NotFound, UserError
from tests.support.world import World

CLOSED = BoardEdit(visibility=Visibility.CLOSED)


@pytest.fixture
async def closed(world: World) -> World:
    """Two closed boards."""
    for name in ("sort", "scan"):
        await world.board(name)
        await world.services.boards.edit(world.admin.user, name, CLOSED)
    return world


async def invite(world: World, *boards: str) -> str:
    return (await world.services.invites.create(world.admin.user, boards)).codes[0]


async def _creator_of_sort(world: World) -> User:
    carl = (await world.services.users.create("carl", Role.CREATOR)).user
    async with world.database.write() as session:
        await session.do(
            "UPDATE leaderboards SET creator_id = %(id)s WHERE name = 'sort'", {"id": carl.id}
        )
    return carl


async def test_strangers_find_no_closed_board(closed: World) -> None:
    with pytest.raises(NotFound):
        await closed.services.boards.get(closed.ada.user, "sort")


async def test_strangers_see_no_closed_standings(closed: World) -> None:
    with pytest.raises(NotFound):
        await closed.services.standings.page(closed.ada.user, "sort", None)


async def test_strangers_read_no_closed_statement(closed: World) -> None:
    with pytest.raises(NotFound):
        await closed.services.boards.problem(closed.ada.user, "sort")


async def test_strangers_submit_to_no_closed_board(closed: World) -> None:
    with pytest.raises(NotAllowed):
        await closed.submit()


async def test_an_invite_opens_every_one_of_its_boards(closed: World) -> None:
    await closed.services.invites.join(closed.ada.user, await invite(closed, "sort", "scan"))
    seen = await closed.services.boards.list_boards(closed.ada.user)
    assert ["scan", "sort"] == [board.name for board in seen]


async def test_an_invite_opens_no_other_board(closed: World) -> None:
    await closed.services.invites.join(closed.ada.user, await invite(closed, "scan"))
    with pytest.raises(NotFound):
        await closed.services.boards.get(closed.ada.user, "sort")


async def test_members_submit(closed: World) -> None:
    await closed.services.invites.join(closed.ada.user, await invite(closed, "sort"))
    assert "sort" == (await closed.submit()).board


async def test_members_see_standings(closed: World) -> None:
    await closed.services.invites.join(closed.ada.user, await invite(closed, "sort"))
    assert 0 == (await closed.services.standings.page(closed.ada.user, "sort", None)).total


async def test_joining_twice_is_as_good_as_once(closed: World) -> None:
    code = await invite(closed, "sort")
    first = await closed.services.invites.join(closed.ada.user, code)
    assert first == await closed.services.invites.join(closed.ada.user, code)


async def test_codes_are_taken_as_people_type_them(closed: World) -> None:
    code = await invite(closed, "sort")
    assert ("sort",) == await closed.services.invites.join(closed.ada.user, f" {code.lower()}\n")


async def test_an_invite_is_for_one_person(closed: World) -> None:
    code = await invite(closed, "sort")
    await closed.services.invites.join(closed.ada.user, code)
    with pytest.raises(UserError, match="someone else has used it"):
        await closed.services.invites.join(closed.bob.user, code)


@pytest.mark.parametrize(
    "code", ["", "nope", "a\x00", "'; DROP TABLE invites; --", "\ud800", "x" * 10_000]
)
async def test_other_words_open_nothing(closed: World, code: str) -> None:
    with pytest.raises(UserError, match="This invite isn't valid"):
        await closed.services.invites.join(closed.ada.user, code)


async def test_of_many_at_once_exactly_one_joins(closed: World) -> None:
    people = [(await closed.services.users.create(f"p{n}")).user for n in range(20)]
    code = await invite(closed, "sort")

    async def joins(person: User) -> bool:
        try:
            await closed.services.invites.join(person, code)
        except UserError:
            return False
        return True

    assert 1 == sum(await asyncio.gather(*(joins(person) for person in people)))


async def test_revoking_ends_the_membership(closed: World) -> None:
    code = await invite(closed, "sort")
    await closed.services.invites.join(closed.ada.user, code)
    was_claimed = await closed.services.invites.revoke(closed.admin.user, code)
    seen = await closed.services.boards.list_boards(closed.ada.user)
    assert (True, []) == (was_claimed, seen)


async def test_a_revoked_invite_opens_nothing(closed: World) -> None:
    code = await invite(closed, "sort")
    was_claimed = await closed.services.invites.revoke(closed.admin.user, code)
    with pytest.raises(UserError, match="This invite isn't valid"):
        await closed.services.invites.join(closed.ada.user, code)
    assert was_claimed is False


@pytest.mark.parametrize("role", [Role.COMPETITOR, Role.CREATOR])
async def test_strangers_revoke_an_invite_as_one_that_is_not_there(
    closed: World, role: Role
) -> None:
    stranger = (await closed.services.users.create("mallory", role)).user
    code = await invite(closed, "sort")
    said = []
    for tried in (code, "NO-SUCH-CODE"):
        with pytest.raises(NotFound) as refused:
            await closed.services.invites.revoke(stranger, tried)
        said.append((str(refused.value), refused.value.hint, refused.value.next_step))
    assert said[0] == said[1]
    assert ("sort",) == await closed.services.invites.join(closed.ada.user, code)


async def test_who_organises_one_of_an_invites_boards_alone_does_not_revoke_it(
    closed: World,
) -> None:
    carl = await _creator_of_sort(closed)
    with pytest.raises(NotAllowed):
        await closed.services.invites.revoke(carl, await invite(closed, "sort", "scan"))


async def test_who_organises_one_of_an_invites_boards_alone_learns_neither_code_nor_others(
    closed: World,
) -> None:
    carl = await _creator_of_sort(closed)
    own, both = await invite(closed, "sort"), await invite(closed, "sort", "scan")
    await closed.services.invites.join(closed.ada.user, both)
    found = await closed.services.invites.list_invites(carl, "sort")
    assert [(None, ("sort",), "ada"), (own, ("sort",), None)] == [
        (i.code, i.boards, i.claimed_by) for i in found
    ]
    seen = await closed.services.invites.list_invites(closed.admin.user, "sort")
    assert [both, own] == [i.code for i in seen]


async def test_revoking_twice_is_reported(closed: World) -> None:
    code = await invite(closed, "sort")
    await closed.services.invites.revoke(closed.admin.user, code)
    with pytest.raises(NotFound):
        await closed.services.invites.revoke(closed.admin.user, code)


async def test_ten_thousand_are_made_at_once(closed: World) -> None:
    made = await closed.services.invites.create(closed.admin.user, ("sort",), 10_000)
    found = await closed.services.invites.list_invites(closed.admin.user, "sort")
    assert set(made.codes) == {invite.code for invite in found}


@pytest.mark.parametrize("count", [0, 101])
async def test_an_invite_is_for_1_to_100_boards(closed: World, count: int) -> None:
    create, admin = closed.services.invites.create, closed.admin.user
    with pytest.raises(UserError, match=r"^An invite is for 1 to 100 boards\.$"):
        await create(admin, ("sort",) * count)
    assert ("sort",) == (await create(admin, ("sort",) * 100)).boards


async def test_a_code_is_four_groups_of_letters_that_nobody_mistakes(closed: World) -> None:
    letters = "[A-HJKMNP-TV-Z2-9]{5}"
    made = await closed.services.invites.create(closed.admin.user, ("sort",), 200)
    assert [] == [
        code for code in made.codes if not re.fullmatch(f"{letters}(-{letters}){{3}}", code)
    ]
    assert set("ABCDEFGHJKMNPQRSTVWXYZ23456789-") == set("".join(made.codes))


def test_a_key_makes_the_same_codes_after_an_upgrade() -> None:
    assert ("Q6FH9-D5GNF-BVZ7T-9TZ2P",) == _codes("1 1 sort", 1, key=KEY)


async def test_a_banned_organiser_revokes_nothing(closed: World) -> None:
    carl = await _creator_of_sort(closed)
    code = await invite(closed, "sort")
    banned = await closed.services.users.ban(closed.admin.user, carl.id)
    with pytest.raises(Banned):
        await closed.services.invites.revoke(banned, code)


async def test_invites_are_listed_in_pages(closed: World) -> None:
    codes = (await closed.services.invites.create(closed.admin.user, ("sort",), 3)).codes
    pages = [
        await closed.services.invites.list_invites(closed.admin.user, "sort", limit=2, offset=at)
        for at in (0, 2)
    ]
    assert ([2, 1], set(codes)) == (
        [len(page) for page in pages],
        {one.code for page in pages for one in page},
    )


@pytest.mark.parametrize("count", [0, -1, 10_001])
async def test_other_numbers_are_refused(closed: World, count: int) -> None:
    with pytest.raises(UserError, match="Between 1 and 10,000 invites"):
        await closed.services.invites.create(closed.admin.user, ("sort",), count)


async def test_invites_tell_who_used_them(closed: World) -> None:
    code = await invite(closed, "sort", "scan")
    await closed.services.invites.join(closed.ada.user, code)
    found = await closed.services.invites.list_invites(closed.admin.user, "scan")
    assert [(code, ("scan", "sort"), "ada")] == [(i.code, i.boards, i.claimed_by) for i in found]


async def test_unclaimed_ones_are_listed_apart(closed: World) -> None:
    used, unused = await invite(closed, "sort"), await invite(closed, "sort")
    await closed.services.invites.join(closed.ada.user, used)
    found = await closed.services.invites.list_invites(closed.admin.user, "sort", unclaimed=True)
    assert [unused] == [invite.code for invite in found]


async def test_creators_invite_to_their_own_boards_alone(closed: World) -> None:
    creator = (await closed.services.users.create("cleo", Role.CREATOR)).user
    with pytest.raises(NotFound):
        await closed.services.invites.create(creator, ("sort",))


async def test_a_banned_person_joins_nothing(closed: World) -> None:
    code = await invite(closed, "sort")
    banned = await closed.services.users.ban(closed.admin.user, closed.ada.user.id)
    with pytest.raises(Banned):
        await closed.services.invites.join(banned, code)


KEY = "k" * 43


async def test_what_is_asked_for_twice_with_one_key_is_made_once(closed: World) -> None:
    create, admin = closed.services.invites.create, closed.admin.user
    made = await asyncio.gather(*(create(admin, ("sort",), 3, key=KEY) for _ in range(2)))
    found = await closed.services.invites.list_invites(admin, "sort")
    log = await closed.services.audit.list_entries(admin, action="invite")
    assert (made[0], 3, 1) == (made[1], len(found), len(log))


async def test_a_key_makes_other_codes_for_other_wishes(closed: World) -> None:
    create = closed.services.invites.create
    other = (await closed.services.users.create("root-2", Role.ADMIN)).user
    codes = [
        code
        for actor, boards, count in (
            (closed.admin.user, ("sort",), 2),
            (closed.admin.user, ("sort",), 3),
            (closed.admin.user, ("scan",), 2),
            (closed.admin.user, ("sort", "scan"), 2),
            (other, ("sort",), 2),
        )
        for code in (await create(actor, boards, count, key=KEY)).codes
    ]
    assert 11 == len(set(codes))
