"""Logging in through a provider, in a browser or from a terminal, and linking identities."""

import asyncio
import hashlib
import secrets
import ssl
from dataclasses import dataclass, field

import httpx

from kernelbot.accounts import store as users
from kernelbot.accounts.logins import store as logins
from kernelbot.accounts.logins.model import DeviceLogin
from kernelbot.accounts.logins.providers import (
    LoginRules,
    Provider,
    ProviderPerson,
    fetch_person,
    login_url,
    new_verifier,
    refusal,
)
from kernelbot.accounts.model import NewToken, User
from kernelbot.accounts.permissions import require_unbanned
from kernelbot.accounts.registration import enter
from kernelbot.accounts.tokens import store as tokens
from kernelbot.accounts.tokens.model import Credential
from kernelbot.accounts.tokens.service import (
    SHORT_SESSION_LASTS_S,
    add_token,
    open_session,
    parent_of,
)
from kernelbot.accounts.tokens.text import token_hash
from kernelbot.domain.errors import (
    Conflict,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    SlowDown,
    UserError,
)
from kernelbot.domain.next_steps import Next
from kernelbot.moderation.audit import service as audit
from kernelbot.store.database import Database, WriteSession

_ATTEMPT_LASTS_S = 600.0
_DEVICE_LASTS_S = 900
LINK_LASTS_S = 600
_INTERVAL_S, _SLOWER_S = 2, 5  # the latter is RFC 8628's, 3.5
_SLACK_S = 0.5
"""How much closer than the interval two polls may arrive, because of the network."""
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels: no words; RFC 8628, 6.1


@dataclass(frozen=True)
class LoginStart:
    """What a login begins with. `browser` is a secret that this browser alone holds."""

    provider: str
    browser: str = field(repr=False)
    redirect_uri: str
    next_path: str
    invite: str | None = None
    linking: "Linking | None" = None


@dataclass(frozen=True)
class Linking:
    """Who gets another identity, and the session in which they asked for it."""

    user: User
    session: Credential


@dataclass(frozen=True)
class Return:
    """What a browser returns with; `current`: who it is logged in as."""

    provider: str
    browser: str = field(repr=False)
    state: str = field(repr=False)
    code: str = field(repr=False)
    current: User | None = None


@dataclass(frozen=True)
class Finished:
    """A login that succeeded, and the path to which the browser is sent."""

    login: NewToken
    next_path: str


class Logins:
    """Every secret is used once: a state, a code of a terminal."""

    def __init__(self, database: Database, rules: LoginRules) -> None:
        self._database = database
        self._providers = {provider.name: provider for provider in rules.providers}
        self.registration = rules.registration
        self._tls: ssl.SSLContext | None = None

    def providers(self) -> tuple[Provider, ...]:
        return tuple(self._providers.values())

    async def begin(self, start: LoginStart) -> str:
        """The provider's page, to which the browser goes. Raises `NotFound`, and `NotAllowed` for
        linking in a session that may not."""
        provider = self._provider(start.provider)
        state, verifier = secrets.token_urlsafe(), new_verifier()
        attempt = logins.LoginAttempt(
            code_verifier=verifier,
            redirect_uri=start.redirect_uri,
            next_path=start.next_path,
            invite=start.invite,
            linking_user_id=start.linking.user.id if start.linking else None,
        )
        key = logins.AttemptKey(_hash(state), _hash(start.browser), provider.name)
        async with self._database.write() as session:
            if start.linking is not None:
                await _require_lasting(session, start.linking)
            await logins.create_attempt(session, key, attempt, lasts_s=_ATTEMPT_LASTS_S)
        return login_url(provider, state=state, verifier=verifier, redirect_uri=start.redirect_uri)

    async def finish(self, back: Return) -> Finished:
        """Log in the person who returned, or link their identity to the account that asked for it.

        Raises `UserError` for a state that is unknown, used, too old or of another browser;
        `NotAllowed` if nobody may register, `Conflict` for an identity of someone else's;
        `Unavailable` when the provider is down.
        """
        provider = self._provider(back.provider)
        key = logins.AttemptKey(_hash(back.state), _hash(back.browser), provider.name)
        async with self._database.write() as session:
            attempt = await logins.pop_attempt(session, key)
        if attempt is None:
            raise UserError(
                "This login is over, was used already, or began in another browser.",
                next_step=Next.LOG_IN,
            )
        person = await fetch_person(
            provider,
            code=back.code,
            verifier=attempt.code_verifier,
            redirect_uri=attempt.redirect_uri,
            tls=await self._trusted(),
        )
        async with self._database.write() as session:
            await users.lock_identities(session)
            if attempt.linking_user_id is None:
                user = await enter(
                    session, self.registration, provider.name, person, attempt.invite
                )
            else:
                user = await _link(session, provider, person, attempt, back.current)
            login = await open_session(session, user, None)
        return Finished(login, attempt.next_path)

    async def _trusted(self) -> ssl.SSLContext:
        """Made at the first login and kept: reading the certificates of all authorities takes 30 ms
        of a processor, which is spent in a thread, so that others are answered meanwhile."""
        if self._tls is None:
            self._tls = await asyncio.to_thread(httpx.create_ssl_context)
        return self._tls

    def refused(self, provider: str, error: str, description: str) -> UserError:
        """What a browser is told that comes back with a refusal instead of a code; the log has the
        provider's own words. Raises `NotFound`."""
        return refusal(self._provider(provider), error, description)

    async def open_with(self, token: str) -> NewToken:
        """A browser's session for the owner of a token. It ends with the token; logging out leaves
        the token valid. Raises `NotAuthenticated`."""
        async with self._database.write() as session:
            user = await users.by_token(session, token_hash(token))
            if user is None:
                raise NotAuthenticated(
                    "This token isn't valid here.", hint="Was it copied whole, and not revoked?"
                )
            parent_id = await parent_of(session, user, Credential(token))
            return await open_session(session, user, parent_id)

    async def open_for_organiser(self, organiser: User, made_with: Credential) -> NewToken:
        """A short session for who showed ADMIN_TOKEN. It ends with that value of it."""
        async with self._database.write() as session:
            parent_id = await parent_of(session, organiser, made_with)
            subject, detail = f"user:{organiser.id}", {"with": "ADMIN_TOKEN"}
            await audit.record(session, organiser, "session.open", subject, detail)
            return await open_session(session, organiser, parent_id, lasts_s=SHORT_SESSION_LASTS_S)

    async def begin_device(self) -> DeviceLogin:
        """For a terminal: a secret to poll with, and a code that a person types in a browser.

        Raises `NotFound` if nobody can log in with a browser.
        """
        if not self._providers:
            raise NotFound(
                "This server has no login with Discord or GitHub.",
                hint="Ask its organisers for a token.",
            )
        device_code, letters = secrets.token_urlsafe(), _user_code()
        async with self._database.write() as session:
            await logins.create_device_login(
                session,
                _hash(device_code),
                letters,
                lasts_s=float(_DEVICE_LASTS_S),
                interval_s=_INTERVAL_S,
            )
        return DeviceLogin(device_code, letters, _DEVICE_LASTS_S, _INTERVAL_S)

    async def approve_device(
        self, user: User, user_code: str, made_with: Credential | None = None
    ) -> None:
        """Log in the terminal that shows this code as the user, with a token that ends as one of
        `Tokens.create`. Raises `UserError`."""
        letters = "".join(c for c in user_code.upper() if c in _LETTERS)
        wanted = f"{letters[:4]}-{letters[4:]}"
        async with self._database.write() as session:
            parent_id = await parent_of(session, user, made_with)
            if not await logins.approve_device(session, wanted, user.id, parent_id):
                raise UserError(
                    "No terminal waits with this code.",
                    hint="Look at the terminal again, or begin again there.",
                )

    async def poll_device(self, device_code: str) -> NewToken | None:
        """The token, once; None while nobody has approved. Raises `NotFound` if the time is over
        or the token was fetched, `SlowDown` for a terminal that polls too often: from then on it
        must wait longer between two polls; `Conflict` if the account has too many tokens."""
        device_hash = _hash(device_code)
        async with self._database.write() as session:
            polled = await logins.poll_device(
                session, device_hash, slack_s=_SLACK_S, more_s=_SLOWER_S
            )
        if polled is not None and polled.too_early:
            raise SlowDown(
                f"Ask every {polled.interval_s} seconds from now on.",
                retry_after_s=float(polled.interval_s),
                hint="",
            )
        if polled is not None and polled.waits:
            return None
        async with self._database.write() as session:
            approved = await logins.pop_device_login(session, device_hash)
            if approved is None:
                raise NotFound("This login is over.", next_step=Next.LOG_IN)
            user = await _approver(session, approved)
            issued = await add_token(session, user, "terminal", approved.parent_id)
            return NewToken(user, issued.token)

    async def make_link(self, user: User, made_with: Credential | None) -> str:
        """The secret of a link that logs one browser in as the user, once, within `LINK_LASTS_S`.
        The session ends as one that `open_with` opens. Raises `NotAuthenticated`, and `NotAllowed`
        for ADMIN_TOKEN, whose sessions are short."""
        if made_with is not None and made_with.of_settings:
            raise NotAllowed(
                "ADMIN_TOKEN makes no links.", hint="Type it on the login page of the browser."
            )
        secret, letters = secrets.token_urlsafe(), _user_code()
        async with self._database.write() as session:
            parent_id = await parent_of(session, user, made_with)
            await logins.create_device_login(
                session,
                _link_hash(secret),
                letters,
                lasts_s=float(LINK_LASTS_S),
                interval_s=_INTERVAL_S,
            )
            await logins.approve_device(session, letters, user.id, parent_id)
        return secret

    async def link_owner(self, secret: str) -> User:
        """Whom the link would log in. Raises `NotFound` if it was used, or is too old."""
        async with self._database.read() as session:
            user_id = await logins.link_owner(session, _link_hash(secret))
            user = await users.by_id(session, user_id) if user_id is not None else None
        if user is None:
            raise _no_link()
        return user

    async def open_link(self, secret: str) -> NewToken:
        """A browser's session for the owner of the link, which can't be used again. Raises
        `NotFound`."""
        async with self._database.write() as session:
            taken = await logins.pop_device_login(session, _link_hash(secret))
            if taken is None:
                raise _no_link()
            return await open_session(session, await _approver(session, taken), taken.parent_id)

    def _provider(self, name: str) -> Provider:
        found = self._providers.get(name)
        if found is None:
            known = ", ".join(provider.title for provider in self._providers.values())
            raise NotFound(
                f"There is no login with {name!r} here.",
                hint=f"There is: {known}." if known else "Ask the organisers for a token.",
            )
        return found


async def _link(
    session: WriteSession,
    provider: Provider,
    person: ProviderPerson,
    attempt: logins.LoginAttempt,
    current: User | None,
) -> User:
    if current is None or current.id != attempt.linking_user_id:
        raise UserError("You are no longer logged in as the one who began.", next_step=Next.LOG_IN)
    require_unbanned(current)
    owner = await users.by_identity(session, provider.name, person.subject)
    if owner is not None and owner.id != current.id:
        raise Conflict(
            f"This {provider.title} account belongs to someone else here.",
            hint="Log in with it to see which account that is.",
        )
    await users.add_identity(session, current.id, provider=provider.name, subject=person.subject)
    return current


async def _approver(session: WriteSession, approved: logins.Approved) -> User:
    user = await users.by_id(session, approved.user_id)
    assert user is not None, "what they approved would have gone with them"
    return user


async def _require_lasting(session: WriteSession, linking: Linking) -> None:
    """An identity is a way in that lasts, so a session that a token opened may add one only if the
    token lasts too, and is the only way in as yet. Raises `NotAllowed`."""
    parent_id = await parent_of(session, linking.user, linking.session)
    if parent_id is None:
        return
    if await tokens.ends_by_itself(session, parent_id):
        raise NotAllowed(
            "You are logged in with a token that ends by itself, and an identity would not.",
            hint="Log in with another token, or with Discord or GitHub.",
        )
    if await users.identities(session, linking.user.id):
        raise NotAllowed(
            "You are logged in with a token, and the account has an identity.",
            hint="Log in with that one to link another.",
        )


def _user_code() -> str:
    letters = "".join(secrets.choice(_LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def _no_link() -> NotFound:
    return NotFound("This link was used already, or is too old.", next_step=Next.LOG_IN)


def link_path(secret: str) -> str:
    """The path of the page that a link's secret opens."""
    return f"/auth/open?link={secret}"


def _link_hash(secret: str) -> bytes:
    """Another hash than that of a terminal's secret, so that neither can be used as the other: no
    text's UTF-8 begins with this byte."""
    return hashlib.sha256(b"\xff" + secret.encode("utf-8", "surrogatepass")).digest()


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
