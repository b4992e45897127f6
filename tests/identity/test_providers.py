import pytest

from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.identity.providers import Provider, discord, fetch_person, github, login_url
from tests.fakes.oauth_provider import fake_provider

RFC_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


def test_the_challenge_is_that_of_the_standards_example() -> None:
    url = login_url(github("id", "s"), state="s", verifier=RFC_VERIFIER, redirect_uri="http://x/")
    assert "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&" in url


def test_a_token_url_of_its_own_is_asked() -> None:
    assert "http://t/" == discord("id", "s", token_url="http://t/").token_url


def test_a_secret_is_not_shown() -> None:
    assert "hush" not in repr(github("id", "hush"))


async def ask(provider: Provider) -> object:
    return await fetch_person(provider, code="c", verifier="v", redirect_uri="http://x/")


async def test_nobody_at_the_address_is_reported() -> None:
    with pytest.raises(Unavailable):
        await ask(github("id", "s", url="http://127.0.0.1:9", api_url="http://127.0.0.1:9"))


async def test_a_wrong_secret_is_refused() -> None:
    with fake_provider("discord") as fake, pytest.raises(UserError):
        await ask(discord("id", "wrong", url=fake.url))


async def test_another_kind_of_server_is_reported() -> None:
    with fake_provider("discord") as fake, pytest.raises(Unavailable):
        await ask(discord("id", "s", token_url=f"{fake.url}/nothing-here"))
