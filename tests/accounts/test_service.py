import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.domain.errors import Conflict, NotAuthenticated, UserError
from tests.support.world import World


async def test_a_token_opens_its_account(world: World) -> None:
    assert await world.services.users.authenticate(world.ada.token) == world.ada.user


@pytest.mark.parametrize("token", ["", "kb_nope", "\x00", "\ud800", "x" * 100_000])
async def test_other_tokens_open_nothing(world: World, token: str) -> None:
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(token)


async def test_a_token_is_stored_as_a_hash_alone(world: World) -> None:
    with psycopg.connect(world.database.url) as connection:
        rows = connection.execute("SELECT t::text FROM tokens t").fetchall()
    assert not any(world.ada.token in row[0] for row in rows)


@pytest.mark.parametrize("change", ["expires_at = now()", "revoked_at = now()"])
async def test_an_ended_token_opens_nothing(world: World, change: str) -> None:
    with psycopg.connect(world.database.url) as connection:
        connection.execute(f"UPDATE tokens SET {change}".encode())
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(world.ada.token)


async def test_names_are_taken_in_any_case(world: World) -> None:
    with pytest.raises(Conflict, match="already a user named 'ADA'"):
        await world.services.users.create("ADA")


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "a\x00", "x" * 65, "\u202eada", "\ud800"])
async def test_unusable_names_are_refused(world: World, name: str) -> None:
    with pytest.raises(UserError, match="A user name has 1 to 64"):
        await world.services.users.create(name)


async def test_hostile_names_are_kept_as_they_are(world: World) -> None:
    created = await world.services.users.create("a'; echo x")
    assert created.user.name == "a'; echo x"


async def test_signing_in_twice_is_one_account(world: World) -> None:
    users = world.services.users
    first = await users.sign_in("op", Role.ADMIN, token_name="serve")
    second = await users.sign_in("op", Role.ADMIN, token_name="serve")
    assert (first.user, first.token != second.token) == (second.user, True)


async def test_signing_out_ends_one_token(world: World) -> None:
    users = world.services.users
    first = await users.sign_in("op", Role.ADMIN, token_name="serve")
    second = await users.sign_in("op", Role.ADMIN, token_name="serve")
    await users.sign_out(first.token)
    with pytest.raises(NotAuthenticated):
        await users.authenticate(first.token)
    assert await users.authenticate(second.token) == second.user
