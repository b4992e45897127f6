import pytest

from kernelbot.domain.errors import Conflict, NotAllowed, NotFound, UserError
from tests.support.world import World


async def test_an_account_gets_another_name(world: World) -> None:
    users, ada = world.services.users, world.ada.user
    assert "Ada" == (await users.rename(world.admin.user, ada.id, "Ada")).name
    assert "countess" == (await users.rename(world.admin.user, ada.id, "countess")).name
    newest = (await world.services.audit.list_entries(world.admin.user))[0]
    assert ("user.rename", {"before": "Ada", "after": "countess"}) == (newest.action, newest.detail)


async def test_names_that_cannot_be(world: World) -> None:
    users, admin = world.services.users, world.admin.user
    with pytest.raises(Conflict):
        await users.rename(admin, world.ada.user.id, "BOB")
    with pytest.raises(UserError, match="1 to 64"):
        await users.rename(admin, world.ada.user.id, " x")
    for unknown in (0, 10**6, 2**70):
        with pytest.raises(NotFound):
            await users.rename(admin, unknown, "x")
    with pytest.raises(NotAllowed):
        await users.rename(world.bob.user, world.ada.user.id, "x")
