import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from kernelbot.accounts.logins.model import Registration
from kernelbot.accounts.logins.providers import LoginRules
from kernelbot.accounts.model import Role
from kernelbot.domain.errors import NotAllowed
from kernelbot.guilds.model import GuildChannels, GuildMember
from kernelbot.server.wiring import open_services
from kernelbot.services import Services
from tests.support.world import DEVICES, World, open_world

PLACES = GuildChannels(admin_role_id=11, creator_role_id=12)
EVE = GuildMember(1, 42, "eve", frozenset({1}))


async def test_a_member_gets_an_account_once(world: World) -> None:
    guilds = world.services.guilds
    first, second = await asyncio.gather(guilds.acting(EVE), guilds.acting(EVE))
    renamed = await guilds.acting(replace(EVE, name="eva"))
    assert {("eve", Role.COMPETITOR)} == {(one.name, one.role) for one in (first, second, renamed)}
    assert first.id == second.id == renamed.id


async def test_a_name_that_is_taken_or_strange_is_changed(world: World) -> None:
    guilds = world.services.guilds
    taken = await guilds.acting(replace(EVE, name="ada"))
    strange = await guilds.acting(replace(EVE, user_id=43, name="\x00\n "))
    assert ("ada-2", "someone") == (taken.name, strange.name)


@pytest.mark.parametrize(
    ("role_ids", "role"),
    [
        ({11}, Role.ADMIN),
        ({12}, Role.CREATOR),
        ({11, 12}, Role.ADMIN),
        ({13}, Role.COMPETITOR),
        (set(), Role.COMPETITOR),
    ],
)
async def test_roles_in_the_guild_count_while_the_member_has_them(
    world: World, role_ids: set[int], role: Role
) -> None:
    guilds = world.services.guilds
    await guilds.set_places(1, PLACES)
    acting = await guilds.acting(replace(EVE, role_ids=frozenset(role_ids)))
    without = await guilds.acting(EVE)
    elsewhere = await guilds.acting(replace(EVE, guild_id=2, role_ids=frozenset(role_ids)))
    assert (role, Role.COMPETITOR, Role.COMPETITOR) == (acting.role, without.role, elsewhere.role)


async def test_an_accounts_own_role_counts_everywhere(world: World) -> None:
    guilds = world.services.guilds
    eve = await guilds.acting(EVE)
    await world.services.users.set_role(world.admin.user, eve.id, Role.ADMIN)
    assert (await guilds.acting(EVE)).role is Role.ADMIN


async def test_a_banned_admin_acts_as_a_competitor(world: World) -> None:
    guilds = world.services.guilds
    await guilds.set_places(1, PLACES)
    member = replace(EVE, role_ids=frozenset({11}))
    eve = await guilds.acting(member)
    await world.services.users.ban(world.admin.user, eve.id)
    banned = await guilds.acting(member)
    assert (Role.COMPETITOR, True) == (banned.role, banned.banned_at is not None)


@pytest.mark.parametrize("registration", [Registration.CLOSED, Registration.INVITE])
async def test_where_nobody_may_register_only_known_people_act(
    database_url: str, registration: Registration
) -> None:
    async with open_world(database_url) as world:
        eve = await world.services.guilds.acting(EVE)
    async with open_world_again(database_url, registration) as services:
        assert eve.id == (await services.guilds.acting(EVE)).id
        with pytest.raises(NotAllowed):
            await services.guilds.acting(replace(EVE, user_id=77))


@contextlib.asynccontextmanager
async def open_world_again(url: str, registration: Registration) -> AsyncIterator[Services]:
    """The services over a database in which there is a world already."""
    async with open_services(url, DEVICES, login_rules=LoginRules((), registration)) as core:
        yield core.services


async def test_places_are_kept(world: World) -> None:
    guilds = world.services.guilds
    assert await guilds.places(5) is None
    await guilds.set_places(5, PLACES)
    await guilds.set_places(5, replace(PLACES, forum_id=3))
    assert replace(PLACES, forum_id=3) == await guilds.places(5)
