import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from kernelbot.accounts.tokens import store as tokens
from kernelbot.accounts.tokens.model import Credential, IssuedToken, TokenKind
from kernelbot.accounts.tokens.store import TokenToStore
from kernelbot.domain.errors import Banned, Conflict, NotAuthenticated, NotFound, UserError
from tests.support.postgres import WAITS_FOR_A_LOCK, until_there_is
from tests.support.world import World


async def made(
    world: World, name: str, made_with: str, expires_at: datetime | None = None
) -> IssuedToken:
    """A token of ada's that this one of hers, or this session, makes."""
    return await world.services.tokens.create(
        world.ada.user, name, expires_at=expires_at, made_with=Credential(made_with)
    )


async def end(world: World, name: str) -> None:
    """As if the time of the token of this name had come."""
    async with world.database.write() as session:
        await session.do("UPDATE tokens SET expires_at = now() WHERE name = %(n)s", {"n": name})


async def opened(world: World, *texts: str, kind: TokenKind = TokenKind.TOKEN) -> list[str]:
    """Whom these open, or that they open nothing."""
    found = []
    for text in texts:
        try:
            found.append((await world.services.users.authenticate(text, kind)).name)
        except NotAuthenticated:
            found.append("nothing")
    return found


async def test_a_new_token_opens_the_account(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    assert world.ada.user == await world.services.users.authenticate(issued.token)


async def test_tokens_are_listed_by_name(world: World) -> None:
    await world.services.tokens.create(world.ada.user, "laptop")
    found = await world.services.tokens.list_tokens(world.ada.user)
    assert ["laptop", "first"] == [token.name for token in found]


async def test_a_revoked_token_opens_nothing(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    await world.services.tokens.revoke(world.ada.user, issued.id)
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(issued.token)


async def test_a_revoked_token_is_listed_no_more(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    await world.services.tokens.revoke(world.ada.user, issued.id)
    assert ["first"] == [
        token.name for token in await world.services.tokens.list_tokens(world.ada.user)
    ]


async def test_nobody_revokes_another_ones_token(world: World) -> None:
    issued = await world.services.tokens.create(world.ada.user, "laptop")
    with pytest.raises(NotFound):
        await world.services.tokens.revoke(world.bob.user, issued.id)


async def test_a_token_expires(world: World) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    issued = await world.services.tokens.create(world.ada.user, "brief", expires_at=soon)
    assert world.ada.user == await world.services.users.authenticate(issued.token)
    await end(world, "brief")
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(issued.token)


async def test_a_token_from_the_past_is_refused(world: World) -> None:
    with pytest.raises(UserError, match="can't expire in the past"):
        await world.services.tokens.create(world.ada.user, "old", expires_at=datetime.now(UTC))


async def test_a_token_has_an_end_that_everybody_can_read_or_none(world: World) -> None:
    create = world.services.tokens.create
    last = datetime(9000, 12, 31, 23, 59, tzinfo=UTC)
    assert await create(world.ada.user, "long", expires_at=last)
    with pytest.raises(UserError, match="after the year 9000"):
        await create(world.ada.user, "longer", expires_at=last + timedelta(minutes=1))


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\x00", "x" * 101])
async def test_unusable_names_of_tokens_are_refused(world: World, name: str) -> None:
    with pytest.raises(UserError, match="A token's name has 1 to 100"):
        await world.services.tokens.create(world.ada.user, name)


@pytest.mark.parametrize("name", ["x", "x" * 100])
async def test_the_shortest_and_the_longest_name_of_a_token(world: World, name: str) -> None:
    assert name == (await world.services.tokens.create(world.ada.user, f" {name}\n")).name


async def test_there_is_an_end_to_tokens_beside_which_sessions_dont_count(world: World) -> None:
    for _ in range(3):
        await world.services.logins.open_with(world.ada.token)
    for number in range(99):
        await world.services.tokens.create(world.ada.user, f"n{number}")
    with pytest.raises(Conflict, match="There are 100 tokens already"):
        await world.services.tokens.create(world.ada.user, "one too many")


async def test_of_two_made_at_once_one_may_be_too_many(world: World) -> None:
    for number in range(98):
        await world.services.tokens.create(world.ada.user, f"n{number}")
    last = TokenToStore(world.ada.user.id, "last", b"l" * 32)
    async with world.database.write() as session:
        assert await tokens.add(session, last, max_tokens=100)
        making = asyncio.ensure_future(world.services.tokens.create(world.ada.user, "more"))
        await until_there_is(session, WAITS_FOR_A_LOCK)
    with pytest.raises(Conflict, match="There are 100 tokens already"):
        await making


async def test_a_banned_person_makes_no_token(world: World) -> None:
    banned = await world.services.users.ban(world.admin.user, world.ada.user.id)
    with pytest.raises(Banned):
        await world.services.tokens.create(banned, "laptop")


async def test_a_token_goes_with_its_account(world: World) -> None:
    async with world.database.write() as session:
        await session.do("DELETE FROM users WHERE id = %(id)s", {"id": world.bob.user.id})
    with pytest.raises(NotAuthenticated):
        await world.services.users.authenticate(world.bob.token)


async def test_what_a_token_makes_ends_when_it_is_revoked(world: World) -> None:
    child = await made(world, "child", world.ada.token)
    grandchild = await made(world, "grandchild", child.token)
    session = await world.services.logins.open_with(grandchild.token)
    other = await made(world, "other", world.ada.token)
    await world.services.tokens.revoke(world.ada.user, child.id)
    texts = (child.token, grandchild.token, other.token)
    assert ["nothing", "nothing", "ada"] == await opened(world, *texts)
    assert ["nothing"] == await opened(world, session.token, kind=TokenKind.SESSION)
    listed = await world.services.tokens.list_tokens(world.ada.user)
    assert ["other", "first"] == [token.name for token in listed]


async def test_what_a_token_makes_ends_when_its_time_is_over(world: World) -> None:
    brief = await made(world, "brief", world.ada.token, datetime.now(UTC) + timedelta(days=1))
    child = await made(world, "child", brief.token)
    grandchild = await made(world, "grandchild", child.token)
    later = await made(world, "later", child.token, datetime.now(UTC) + timedelta(days=9))
    session = await world.services.logins.open_with(grandchild.token)
    ends = [one.expires_at for one in (brief, child, grandchild, later)]
    before = await opened(world, child.token, grandchild.token, later.token)
    await end(world, "brief")
    after = await opened(world, child.token, grandchild.token, later.token)
    assert ([brief.expires_at] * 4, ["ada"] * 3, ["nothing"] * 3) == (ends, before, after)
    assert ["nothing"] == await opened(world, session.token, kind=TokenKind.SESSION)


async def test_what_is_made_in_a_session_ends_with_what_opened_it(world: World) -> None:
    opener = await made(world, "opener", world.ada.token)
    session = await world.services.logins.open_with(opener.token)
    child = await made(world, "child", session.token)
    await world.services.users.sign_out(session.token)
    logged_out = await opened(world, child.token)
    await world.services.tokens.revoke(world.ada.user, opener.id)
    assert (["ada"], ["nothing"]) == (logged_out, await opened(world, child.token))


async def test_a_token_that_has_ended_makes_none(world: World) -> None:
    brief = await made(world, "brief", world.ada.token)
    await world.services.users.sign_out(brief.token)
    with pytest.raises(NotAuthenticated):
        await made(world, "child", brief.token)


async def test_a_token_revoked_while_it_makes_others_leaves_none(world: World) -> None:
    parent = await made(world, "parent", world.ada.token)
    asked = [made(world, f"n{number}", parent.token) for number in range(8)]
    revoking = world.services.tokens.revoke(world.ada.user, parent.id)
    done = await asyncio.gather(*asked[:4], revoking, *asked[4:], return_exceptions=True)
    texts = [one.token for one in done if isinstance(one, IssuedToken)]
    assert ["nothing"] * len(texts) == await opened(world, *texts)


async def test_a_session_is_no_token_and_a_token_no_session(world: World) -> None:
    session = await world.services.logins.open_with(world.ada.token)
    token = world.ada.token
    assert ["nothing", "ada"] == await opened(world, session.token, token)
    kind = TokenKind.SESSION
    assert ["ada", "nothing"] == await opened(world, session.token, token, kind=kind)
    with pytest.raises(NotAuthenticated):
        await world.services.logins.open_with(session.token)


async def test_of_many_sessions_the_oldest_make_way(world: World) -> None:
    logins = world.services.logins
    texts = [(await logins.open_with(world.ada.token)).token for _ in range(52)]
    alive = await opened(world, *texts, kind=TokenKind.SESSION)
    assert ["nothing"] * 2 + ["ada"] * 50 == alive


async def test_a_token_that_ends_with_another_is_no_lasting_way_in(world: World) -> None:
    async with world.database.write() as session:
        await session.do(
            "INSERT INTO identities VALUES ('github', '7', %(id)s)", {"id": world.ada.user.id}
        )
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    brief = await world.services.tokens.create(world.ada.user, "brief", expires_at=tomorrow)
    await made(world, "child", brief.token)
    await world.services.users.sign_out(world.ada.token)
    with pytest.raises(Conflict):
        await world.services.users.unlink(world.ada.user, "github", "7")


async def test_a_token_says_when_it_or_what_made_it_ends(world: World) -> None:
    soon = datetime.now(UTC) + timedelta(days=3)
    short = await made(world, "short", world.ada.token, soon)
    child = await made(world, "child", short.token)
    texts = (world.ada.token, short.token, child.token, "unknown")
    ends_at = world.services.tokens.ends_at
    found = [await ends_at(Credential(text)) for text in texts]
    assert [None, soon, soon, None] == found
    assert await ends_at(Credential(short.token, of_settings=True)) is None
