import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from kernelbot.accounts.model import Role
from kernelbot.accounts.tokens.model import Credential
from kernelbot.domain.errors import (
    Banned,
    Conflict,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    UserError,
)
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


async def test_the_account_of_a_running_servers_machine_stays_an_admin(world: World) -> None:
    users, admin = world.services.users, world.admin.user
    signed_in = await users.sign_in("op", Role.ADMIN, token_name="serve on port 1")
    number = signed_in.user.id
    for deed in (
        lambda: users.set_role(admin, number, Role.CREATOR),
        lambda: users.ban(admin, number),
        lambda: world.services.deletion.delete_user(admin, number, force=True),
    ):
        with pytest.raises(Conflict, match=r"^Commands on the server's own machine act as this"):
            await deed()
    assert (await users.set_role(admin, number, Role.ADMIN)).role is Role.ADMIN
    assert [] == await users.identities(signed_in.user)
    with pytest.raises(NotFound):
        await users.unlink(signed_in.user, "machine", f"{number}:serve on port 1")
    await users.sign_out(signed_in.token)
    assert (await users.set_role(admin, number, Role.CREATOR)).role is Role.CREATOR


async def test_a_tokens_name_alone_makes_nobody_the_servers_account(world: World) -> None:
    users, admin = world.services.users, world.admin.user
    other = await users.create("other", Role.ADMIN)
    signed_in = await users.sign_in("op", Role.ADMIN, token_name="serve on port 1")
    await users.sign_in("ada", Role.ADMIN, token_name="serve on port 1")
    await world.services.tokens.create(other.user, "serve on port 1")
    for user in (other.user, world.ada.user):
        assert (await users.ban(admin, user.id)).banned_at is not None
    assert signed_in.user == await users.authenticate(signed_in.token)


async def test_the_organisers_account_has_another_name_if_that_one_is_taken(world: World) -> None:
    await world.services.users.create("Organiser")
    made = await world.services.users.organiser()
    again = await world.services.users.organiser()
    assert re.fullmatch("organiser-[0-9a-f]{16}", made.name)
    assert (Role.ADMIN, made) == (made.role, again)


async def test_people_are_listed_in_pages_by_their_numbers(world: World) -> None:
    people = [world.admin.user, world.ada.user, world.bob.user]
    list_users = world.services.users.list_users
    assert people == await list_users(world.admin.user)
    assert people[:2] == await list_users(world.admin.user, limit=2)
    assert people[1:] == await list_users(world.admin.user, after_id=world.admin.user.id)


@pytest.mark.parametrize("number", [0, 2**63, 10**9])
async def test_a_number_that_nobody_has_is_not_found(world: World, number: int) -> None:
    users, admin = world.services.users, world.admin.user
    for deed in (
        users.get(admin, number),
        users.set_role(admin, number, Role.CREATOR),
        users.rename(admin, number, "x"),
        users.ban(admin, number),
    ):
        with pytest.raises(NotFound, match=f"^There is no user {number}.$"):
            await deed


async def test_what_an_admin_changes_is_returned_as_it_is_now(world: World) -> None:
    users, admin, number = world.services.users, world.admin.user, world.ada.user.id
    role = (await users.set_role(admin, number, Role.CREATOR)).role
    banned = (await users.ban(admin, number)).banned_at
    assert (Role.CREATOR, False) == (role, banned is None)
    assert (await users.unban(admin, number)) == await users.get(admin, number)


async def test_no_admin_is_left_by_nobody(world: World) -> None:
    """Of an admin who is none any more when the change is written."""
    async with world.database.write() as session:
        await session.do("UPDATE users SET role = 'competitor'")
        await session.do(
            "UPDATE users SET role = 'admin' WHERE id = %(id)s", {"id": world.ada.user.id}
        )
    for change in (
        world.services.users.set_role(world.admin.user, world.ada.user.id, Role.CREATOR),
        world.services.users.ban(world.admin.user, world.ada.user.id),
    ):
        with pytest.raises(Conflict, match=r"^Nobody would be an admin any more\.$"):
            await change


async def test_people_are_looked_up_and_made_by_admins(world: World) -> None:
    users, ada = world.services.users, world.ada.user
    for deed in (
        users.create("eve", actor=ada),
        users.find(ada, "bob"),
        users.get(ada, ada.id),
        users.with_identities(ada, "github", ["7"]),
    ):
        with pytest.raises(NotAllowed):
            await deed


async def test_an_operator_has_a_name_like_others(world: World) -> None:
    with pytest.raises(UserError, match="A user name has 1 to 64"):
        await world.services.users.sign_in("a\nb", Role.ADMIN, token_name="serve")


async def linked(world: World, *subjects: str) -> None:
    """Identities of ada's."""
    async with world.database.write() as session:
        for subject in subjects:
            await session.do(
                "INSERT INTO identities VALUES ('github', %(subject)s, %(id)s)",
                {"subject": subject, "id": world.ada.user.id},
            )


async def subjects(world: World) -> list[str]:
    return [one.subject for one in await world.services.users.identities(world.ada.user)]


async def test_the_platforms_own_identity_is_not_shown_or_unlinked(world: World) -> None:
    organiser = await world.services.users.organiser()
    assert [] == await world.services.users.identities(organiser)
    for provider, subject in (("kernelbot", "ADMIN_TOKEN"), ("github", "7"), ("a", "\x00")):
        with pytest.raises(NotFound) as refused:
            await world.services.users.unlink(organiser, provider, subject)
        assert f"Your account isn't linked to {provider}:{subject}." == str(refused.value)


async def test_the_last_identity_stays_unless_a_token_lasts(world: World) -> None:
    unlink = world.services.users.unlink
    await linked(world, "7", "8")
    await world.services.users.sign_out(world.ada.token)
    await unlink(world.ada.user, "github", "7")
    with pytest.raises(Conflict, match=r"^It is the only way into your account\.$"):
        await unlink(world.ada.user, "github", "8")
    assert ["8"] == await subjects(world)
    await world.services.tokens.create(world.ada.user, "lasts")
    await unlink(world.ada.user, "github", "8")
    assert [] == await subjects(world)


async def test_a_banned_person_unlinks_nothing(world: World) -> None:
    """Else they could register again."""
    await linked(world, "7")
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await world.services.users.unlink(banned, "github", "7")


async def test_a_token_is_renewed_from_now_on(world: World) -> None:
    await world.services.users.renew(world.ada.token, 3600.0)
    ends_at = await world.services.tokens.ends_at(Credential(world.ada.token))
    assert ends_at is not None
    assert timedelta(minutes=58) < ends_at - datetime.now(UTC) <= timedelta(hours=1)


async def test_an_authors_page_is_shown_as_they_chose(world: World) -> None:
    users, ada = world.services.users, world.ada.user
    before = await users.author_page(ada)
    chosen = replace(before, private=not before.private)
    assert chosen == await users.set_author_page(ada, chosen) == await users.author_page(ada)
