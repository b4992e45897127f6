"""How long a login may take, how long what it opens is valid, and how often a terminal may ask."""

import re
from collections.abc import Awaitable, Callable
from typing import LiteralString

import pytest

from kernelbot.accounts.logins import service, store
from kernelbot.accounts.logins.service import Logins, LoginStart
from kernelbot.accounts.model import NewToken
from kernelbot.accounts.tokens.model import Credential
from kernelbot.domain.errors import NotAllowed, NotFound
from tests.accounts.site import Site
from tests.support.world import World

START = LoginStart("github", "browser", "http://test/back", "/")
ADMIN_TOKEN = Credential("a token of the settings", of_settings=True)
ATTEMPTS: LiteralString = "login_attempts"
DEVICES: LiteralString = "device_logins"
TOKENS: LiteralString = "tokens"


@pytest.mark.parametrize(
    ("begin", "table", "lasts_s"),
    [
        (lambda logins, _: logins.begin(START), ATTEMPTS, 600),
        (lambda logins, _: logins.begin_device(), DEVICES, 900),
        (lambda logins, ada: logins.make_link(ada.user, None), DEVICES, 600),
        (lambda logins, ada: logins.open_with(ada.token), TOKENS, 30 * 86_400),
        (lambda logins, ada: logins.open_for_organiser(ada.user, ADMIN_TOKEN), TOKENS, 12 * 3600),
    ],
)
async def test_each_lasts_so_long(
    site: Site,
    world: World,
    begin: Callable[[Logins, NewToken], Awaitable[object]],
    table: LiteralString,
    lasts_s: int,
) -> None:
    await begin(site.services.logins, world.ada)
    async with world.database.read() as session:
        row = await session.one(
            f"SELECT extract(epoch FROM max(expires_at) - now())::float8 AS left_s FROM {table}"
        )
    assert row is not None
    assert lasts_s - 60 < row["left_s"] <= lasts_s


async def test_a_terminal_is_told_how_long_its_code_is_valid_and_how_often_to_ask(
    site: Site,
) -> None:
    begun = await site.services.logins.begin_device()
    assert (900, 2) == (begun.expires_in_s, begun.interval_s)
    assert re.fullmatch("[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}", begun.user_code)


@pytest.mark.parametrize(("ago_s", "too_early"), [(1.4, True), (1.5, True), (1.6, False)])
async def test_a_poll_may_come_half_a_second_early(
    site: Site, world: World, ago_s: float, too_early: bool
) -> None:
    begun = await site.services.logins.begin_device()
    async with world.database.write() as session:
        await session.do(
            "UPDATE device_logins SET polled_at = now() - make_interval(secs => %(ago_s)s)",
            {"ago_s": ago_s},
        )
        polled = await store.poll_device(
            session,
            service._hash(begun.device_code),
            slack_s=service._SLACK_S,
            more_s=service._SLOWER_S,
        )
    assert polled is not None
    assert (too_early, 7 if too_early else 2) == (polled.too_early, polled.interval_s)


async def test_a_session_of_the_admin_token_makes_no_links(site: Site, world: World) -> None:
    with pytest.raises(NotAllowed, match=r"^ADMIN_TOKEN makes no links\.$"):
        await site.services.logins.make_link(world.admin.user, ADMIN_TOKEN)


async def test_an_unknown_provider_is_answered_with_those_that_there_are(
    site: Site, world: World
) -> None:
    hints = []
    for logins in (site.services.logins, world.services.logins):
        with pytest.raises(NotFound, match=r"^There is no login with 'sso' here\.$") as caught:
            logins.refused("sso", "access_denied", "")
        hints.append(caught.value.hint)
    assert ["There is: GitHub, Discord.", "Ask the organisers for a token."] == hints
