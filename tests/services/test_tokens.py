from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.domain.errors import Banned, Conflict, NotAuthenticated, NotFound, UserError
from tests.support.world import World


async def test_a_new_token_opens_the_account(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    assert world.ada.user == await world.services.users.authenticate(issued.text)


async def test_tokens_are_listed_by_name(world: World) -> None:
    await world.services.tokens.create(world.ada.user, "laptop")
    found = await world.services.tokens.list_tokens(world.ada.user)
    assert ["laptop", "first"] == [token.name for token in found]


async def test_a_revoked_token_opens_nothing(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    await world.services.tokens.revoke(world.ada.user, issued.token.id)
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(issued.text)


async def test_a_revoked_token_is_listed_no_more(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    await world.services.tokens.revoke(world.ada.user, issued.token.id)
    assert ["first"] == [
        token.name for token in await world.services.tokens.list_tokens(world.ada.user)
    ]


async def test_nobody_revokes_another_ones_token(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    with pytest.raises(NotFound):
        await world.services.tokens.revoke(world.bob.user, issued.token.id)


async def test_a_token_expires(world: World) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.2)
    issued = await world.services.tokens.create(world.ada.user, "brief", expires_at=soon)
    async with world.database.read() as session:
        await session.one("SELECT pg_sleep(0.3)")
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(issued.text)


async def test_a_token_from_the_past_is_refused(world: World) -> None:
    with pytest.raises(UserError):
        await world.services.tokens.create(world.ada.user, "old", expires_at=datetime.now(UTC))


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00", "x" * 101])
async def test_unusable_names_of_tokens_are_refused(world: World, name: str) -> None:
    with pytest.raises(UserError):
        await world.services.tokens.create(world.ada.user, name)


async def test_there_is_an_end_to_tokens(world: World) -> None:
    for number in range(99):
        await world.services.tokens.create(world.ada.user, f"n{number}")
    with pytest.raises(Conflict):
        await world.services.tokens.create(world.ada.user, "one too many")


async def test_a_banned_person_makes_no_token(world: World) -> None:
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await world.services.tokens.create(banned, "laptop")


async def test_a_token_goes_with_its_account(world: World) -> None:
    async with world.database.write() as session:
        await session.do("DELETE FROM users WHERE id = %(id)s", {"id": world.bob.user.id})
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(world.bob.token)
