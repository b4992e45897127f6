"""Who changes identities, or who is an admin, waits for others who do: of two, one would undo what
the other does, or not see it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kernelbot.accounts import store as users
from kernelbot.accounts.model import Role
from kernelbot.store.database import WriteSession
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.world import World

Deed = Callable[[World], Awaitable[object]]


async def unlink(world: World) -> None:
    await world.services.users.unlink(world.ada.user, "github", "7")


async def set_role(world: World) -> None:
    await world.services.users.set_role(world.admin.user, world.ada.user.id, Role.CREATOR)


async def delete(world: World) -> None:
    await world.services.deletion.delete_user(world.admin.user, world.ada.user.id)


@pytest.mark.parametrize(
    ("lock", "deed"),
    [
        (users.lock_identities, unlink),
        (users.lock_identities, lambda world: world.services.users.organiser()),
        (users.lock_admins, set_role),
        (users.lock_admins, delete),
    ],
)
async def test_who_changes_them_waits(
    world: World, lock: Callable[[WriteSession], Awaitable[None]], deed: Deed
) -> None:
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO identities VALUES ('github', '7', %(id)s)", {"id": world.ada.user.id}
        )
    async with world.database.write() as session:
        await lock(session)
        doing = asyncio.ensure_future(deed(world))
        await until_there_is(session, WAITS_FOR_A_LOCK)
    await doing
