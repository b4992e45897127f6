"""OAuth 2 with Discord and GitHub: the code flow with PKCE (RFC 7636, S256), in three requests."""

import base64
import hashlib
import re
import secrets
import ssl
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
import structlog

from kernelbot.accounts.logins.model import Registration
from kernelbot.domain.errors import Unavailable, UserError
from kernelbot.domain.next_steps import Next

_TIMEOUT_S = 10.0
_MOST_WORDS = 200
_ERROR_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OURS = frozenset(
    (
        "application_suspended",
        "incorrect_client_credentials",
        "invalid_client",
        "invalid_scope",
        "redirect_uri_mismatch",
        "unauthorized_client",
    )
)
"""Errors that nobody can mend by logging in again."""
log = structlog.get_logger()


@dataclass(frozen=True)
class Provider:
    """A provider's OAuth addresses, and our application there."""

    name: str
    """In identities and URLs: `github`."""
    title: str
    """For people: `GitHub`."""
    client_id: str
    client_secret: str = field(repr=False)
    authorize_url: str
    token_url: str
    user_url: str
    scope: str
    name_key: str
    """Where the user's answer holds their name."""


@dataclass(frozen=True)
class ProviderPerson:
    """Who someone is at a provider. `subject` never changes, `name` may."""

    subject: str
    name: str


@dataclass(frozen=True)
class LoginRules:
    """The login providers, and who may log in for the first time."""

    providers: tuple[Provider, ...] = ()
    registration: Registration = Registration.OPEN


def github(
    client_id: str,
    client_secret: str,
    *,
    url: str = "https://github.com",
    api_url: str = "https://api.github.com",
) -> Provider:
    """GitHub, or a self-hosted instance. Who someone is needs no scope."""
    return Provider(
        name="github",
        title="GitHub",
        client_id=client_id,
        client_secret=client_secret,
        authorize_url=f"{url}/login/oauth/authorize",
        token_url=f"{url}/login/oauth/access_token",
        user_url=f"{api_url}/user",
        scope="",
        name_key="login",
    )


def discord(
    client_id: str,
    client_secret: str,
    *,
    url: str = "https://discord.com",
    token_url: str | None = None,
) -> Provider:
    """Discord. `token_url` None: the one under `url`."""
    return Provider(
        name="discord",
        title="Discord",
        client_id=client_id,
        client_secret=client_secret,
        authorize_url=f"{url}/oauth2/authorize",
        token_url=token_url or f"{url}/api/oauth2/token",
        user_url=f"{url}/api/users/@me",
        scope="identify",
        name_key="username",
    )


def new_verifier() -> str:
    """A PKCE code verifier: 256 random bits as 43 characters."""
    return secrets.token_urlsafe()


def login_url(provider: Provider, *, state: str, verifier: str, redirect_uri: str) -> str:
    """The provider's page on which the person consents."""
    challenge = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(challenge).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    if provider.scope:
        query["scope"] = provider.scope
    return f"{provider.authorize_url}?{urlencode(query)}"


async def fetch_person(
    provider: Provider, *, code: str, verifier: str, redirect_uri: str, tls: ssl.SSLContext
) -> ProviderPerson:
    """The person who logged in with `code`. `tls`: whose certificates are trusted. Raises
    `UserError` if the provider doesn't accept the code, `Unavailable` if the provider can't be
    reached or its answer can't be read."""
    form = {
        "grant_type": "authorization_code",
        "client_id": provider.client_id,
        "client_secret": provider.client_secret,
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    accept = {"Accept": "application/json"}
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, headers=accept, verify=tls) as client:
            token = await client.post(provider.token_url, data=form)
            access = _field(provider, token, "access_token")
            bearer = {"Authorization": f"Bearer {access}"}
            user = await client.get(provider.user_url, headers=bearer)
            subject = _field(provider, user, "id")
            return ProviderPerson(subject, _field(provider, user, provider.name_key))
    except httpx.HTTPError as error:
        raise _down(provider) from error


def _field(provider: Provider, response: httpx.Response, key: str) -> str:
    if response.is_server_error or response.status_code == 404:
        raise _unusable(provider, response, key)
    try:
        body: Any = response.json()
    except ValueError:
        raise _unusable(provider, response, key) from None
    if not isinstance(body, dict):
        raise _unusable(provider, response, key)
    # GitHub refuses a code with 200 and `error`, Discord with 400; a token both with a `message`.
    if response.is_error or "error" in body:
        words = _text(body.get("error_description")) or _text(body.get("message"))
        raise refusal(provider, _text(body.get("error")), words)
    value = body.get(key)
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise _unusable(provider, response, key)
    return str(value)


def refusal(provider: Provider, error: str, description: str) -> UserError:
    """The error for a provider that said no: its words are for the log, and its error's name, if it
    looks like one, is for the person, too. Some of them are mistakes in our application's settings
    there."""
    log.warning(
        "login_refused",
        provider=provider.name,
        error=printable(error),
        description=printable(description),
    )
    named = f": {error}" if _ERROR_NAME.fullmatch(error) else ""
    hint = "Tell the organisers, whose log has more." if error in _OURS else "Log in again."
    return UserError(f"{provider.title} did not accept the login{named}.", hint=hint)


def printable(text: str) -> str:
    """A stranger's words on one line, and not too many."""
    return ascii(text[:_MOST_WORDS])[1:-1]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _unusable(provider: Provider, response: httpx.Response, key: str) -> Unavailable:
    """What its answer is, is for the log: the address in the settings may be wrong. But for what
    may hold a token, in a form that isn't ours."""
    has_token = key == "access_token" and response.is_success
    log.warning(
        "login_unanswered",
        provider=provider.name,
        url=str(response.url.copy_with(query=None)),
        status=response.status_code,
        kind=printable(response.headers.get("Content-Type", "")),
        answer="" if has_token else printable(response.text),
    )
    return _down(provider)


def _down(provider: Provider) -> Unavailable:
    return Unavailable(
        f"{provider.title} can't confirm who you are just now.", next_step=Next.TRY_AGAIN
    )
