import pytest

from kernelbot.accounts.model import Role
from kernelbot.domain.errors import NotAllowed
from tests.support.world import World


async def entries(world: World, **wanted: str | int) -> list[tuple[str, str, str]]:
    found = await world.services.audit.list_entries(world.admin.user, **wanted)  # type: ignore[arg-type]  # tests pass what it takes
    return [(entry.actor, entry.action, entry.subject) for entry in found]


async def test_what_organisers_do_is_logged_newest_first(world: World) -> None:
    await world.services.users.ban(world.admin.user, world.ada.user.id, "copied")
    await world.services.platform.pause(world.admin.user)
    expected = [
        ("root", "platform.pause", "platform"),
        ("root", "user.ban", f"user:{world.ada.user.id}"),
    ]
    assert expected == await entries(world)


async def test_the_log_keeps_the_detail(world: World) -> None:
    await world.services.users.set_role(world.admin.user, world.ada.user.id, Role.CREATOR)
    found = await world.services.audit.list_entries(world.admin.user)
    assert {"name": "ada", "before": "competitor", "after": "creator"} == found[0].detail


async def test_what_failed_is_not_logged(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.platform.pause(world.ada.user)
    assert [] == await entries(world)


async def test_a_noun_stands_for_its_verbs(world: World) -> None:
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    await world.services.users.unban(world.admin.user, world.ada.user.id)
    await world.services.platform.pause(world.admin.user)
    assert ["user.unban", "user.ban"] == [
        action for _, action, _ in await entries(world, action="user")
    ]


async def test_the_log_continues_by_number(world: World) -> None:
    await world.services.users.ban(world.admin.user, world.ada.user.id)
    await world.services.users.ban(world.admin.user, world.bob.user.id)
    newest = (await world.services.audit.list_entries(world.admin.user, limit=1))[0]
    ids = [
        entry.id
        for entry in await world.services.audit.list_entries(world.admin.user, before_id=newest.id)
    ]
    assert (1, True) == (len(ids), ids[0] < newest.id)


async def test_only_admins_read_the_log(world: World) -> None:
    with pytest.raises(NotAllowed):
        await world.services.audit.list_entries(world.ada.user)


async def test_a_board_that_was_made_is_logged(world: World) -> None:
    await world.board()
    assert ("board.create", "board:sort") in [
        (action, subject) for _, action, subject in await entries(world)
    ]
