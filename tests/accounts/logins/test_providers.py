from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from structlog.testing import capture_logs

from kernelbot.accounts.logins.providers import (
    Provider,
    discord,
    fetch_person,
    github,
    login_url,
    refusal,
)
from kernelbot.domain.errors import Unavailable, UserError
from tests.fakes.oauth_provider import CLIENT_ID, CLIENT_SECRET, DESCRIPTIONS, fake_provider

RFC_VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


def test_the_challenge_is_that_of_the_standards_example() -> None:
    url = login_url(github("id", "s"), state="s", verifier=RFC_VERIFIER, redirect_uri="http://x/")
    assert "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&" in url


def test_a_token_url_of_its_own_is_asked() -> None:
    assert "http://t/" == discord("id", "s", token_url="http://t/").token_url


def test_a_secret_is_not_shown() -> None:
    assert "hush" not in repr(github("id", "hush"))


async def ask(provider: Provider) -> object:
    return await person_with(provider, "c")


async def person_with(provider: Provider, code: str) -> object:
    return await fetch_person(
        provider,
        code=code,
        verifier=RFC_VERIFIER,
        redirect_uri="http://x/",
        tls=httpx.create_ssl_context(),
    )


async def test_nobody_at_the_address_is_reported() -> None:
    with pytest.raises(Unavailable):
        await ask(github("id", "s", url="http://127.0.0.1:9", api_url="http://127.0.0.1:9"))


async def test_a_wrong_secret_is_refused() -> None:
    with fake_provider("discord") as fake, pytest.raises(UserError):
        await ask(discord("id", "wrong", url=fake.url))


@pytest.mark.parametrize("dialect", ["github", "discord"])
@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ("access_denied", "Log in again."),
        ("bad_verification_code", "Log in again."),
        ("incorrect_client_credentials", "Tell the organisers, whose log has more."),
        ("redirect_uri_mismatch", "Tell the organisers, whose log has more."),
    ],
)
async def test_a_refusal_names_its_reason_and_the_log_has_the_providers_words(
    dialect: str, error: str, hint: str
) -> None:
    with fake_provider(dialect) as fake, capture_logs() as logged:
        fake.refuses = error
        at_github = github("id", "s", url=fake.url, api_url=fake.url)
        provider = at_github if dialect == "github" else discord("id", "s", url=fake.url)
        with pytest.raises(UserError) as told:
            await ask(provider)
    (line,) = logged
    assert (f"login: {error}." in str(told.value), hint) == (True, told.value.hint)
    assert (line["event"], line["error"]) == ("login_refused", error)
    assert line["description"] == DESCRIPTIONS.get(error, "The request was refused.")


def test_a_refusal_of_strange_words_is_on_one_line_and_shows_nobody_but_the_log() -> None:
    with capture_logs() as logged:
        told = refusal(github("id", "s"), "<b>call\n\x1b[31m", "\u202e" * 9999)
    assert str(told) == "GitHub did not accept the login."
    assert logged[0]["error"] == "<b>call\\n\\x1b[31m"
    assert len(logged[0]["description"]) == 200 * len("\\u202e")


@pytest.mark.parametrize("dialect", ["github", "discord"])
async def test_a_refused_token_has_the_providers_words_in_the_log(dialect: str) -> None:
    with fake_provider(dialect) as fake, capture_logs() as logged:
        fake.revokes = True
        keys = (CLIENT_ID, CLIENT_SECRET)
        at_github = github(*keys, url=fake.url, api_url=fake.url)
        provider = at_github if dialect == "github" else discord(*keys, url=fake.url)
        address = login_url(provider, state="s", verifier=RFC_VERIFIER, redirect_uri="http://x/")
        back = fake.authorize(dict(parse_qsl(urlsplit(address).query)))
        code = dict(parse_qsl(urlsplit(back).query))["code"]
        with pytest.raises(UserError):
            await person_with(provider, code)
    assert [("login_refused", "401: Unauthorized")] == [
        (line["event"], line["description"]) for line in logged
    ]


async def test_another_kind_of_server_is_reported_and_what_it_answers_is_in_the_log() -> None:
    with fake_provider("discord") as fake, capture_logs() as logged, pytest.raises(Unavailable):
        await ask(discord("id", "s", token_url=f"{fake.url}/nothing-here"))
    assert [("login_unanswered", f"{fake.url}/nothing-here", 404, "{}")] == [
        (line["event"], line["url"], line["status"], line["answer"]) for line in logged
    ]


async def test_a_token_in_a_form_that_is_not_ours_is_not_in_the_log() -> None:
    with fake_provider("github") as fake, capture_logs() as logged:
        fake.answers_forms = True
        provider = github(CLIENT_ID, CLIENT_SECRET, url=fake.url, api_url=fake.url)
        address = login_url(provider, state="s", verifier=RFC_VERIFIER, redirect_uri="http://x/")
        back = fake.authorize(dict(parse_qsl(urlsplit(address).query)))
        code = dict(parse_qsl(urlsplit(back).query))["code"]
        with pytest.raises(Unavailable):
            await person_with(provider, code)
    (token,) = fake.tokens
    assert [("login_unanswered", "application/x-www-form-urlencoded")] == [
        (line["event"], line["kind"]) for line in logged
    ]
    assert token not in str(logged)
