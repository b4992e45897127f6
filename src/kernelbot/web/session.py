"""A browser's cookies, and how its forms are distinguished from forged ones."""

import hashlib
import hmac
import re
import secrets
from typing import Annotated

from fastapi import Cookie, Depends, Form, Request, Response

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAllowed, NotAuthenticated
from kernelbot.domain.types import User

SESSION = "kernelbot_session"
"""Holds a token. The API doesn't read it, so no other site can use it there."""
BROWSER = "kernelbot_login"
"""Holds the secret that binds a login to the browser in which it began."""
ACCOUNT = "/auth/account"
_SESSION_S = 30 * 24 * 3600
_LOGIN_S = 600
_LOCAL_PATH = re.compile(r"/(?:[A-Za-z0-9_.~%-][A-Za-z0-9_.~%/-]*)?")


class Session:
    """A logged-in browser."""

    def __init__(self, user: User, token: str) -> None:
        self.user = user
        self.token = token

    @property
    def csrf(self) -> str:
        """The secret in our forms that other sites can't know."""
        return csrf_of(self.token)


async def maybe_session(
    services: ServicesDep, token: Annotated[str | None, Cookie(alias=SESSION)] = None
) -> Session | None:
    """The browser's session; None if there is none, or it is no longer valid."""
    if not token:
        return None
    try:
        return Session(await services.users.authenticate(token), token)
    except NotAuthenticated:
        return None


MaybeSession = Annotated[Session | None, Depends(maybe_session)]


async def session_needed(session: MaybeSession) -> Session:
    """The browser's session. Raises `NotAuthenticated`, which leads a browser to the login page."""
    if session is None:
        raise NotAuthenticated("You are not logged in.", hint="Log in.")
    return session


NeededSession = Annotated[Session, Depends(session_needed)]


async def posted_session(
    session: MaybeSession, csrf: Annotated[str, Form(max_length=100)] = ""
) -> Session:
    """The session of a form of ours. Raises `NotAuthenticated`, `NotAllowed` for a form that
    came from elsewhere."""
    if session is None:
        raise NotAuthenticated("You are no longer logged in.", hint="Log in again.")
    check_csrf(csrf, session.csrf)
    return session


PostedSession = Annotated[Session, Depends(posted_session)]


def csrf_of(secret: str) -> str:
    """What the forms of the browser with this cookie hold."""
    return hashlib.sha256(b"csrf:" + secret.encode()).hexdigest()


def check_csrf(sent: str, expected: str) -> None:
    """Raises `NotAllowed` for a form that isn't from a page of ours in this browser."""
    if not hmac.compare_digest(sent.encode("utf-8", "replace"), expected.encode()):
        raise NotAllowed("This form is out of date.", hint="Go back, reload and try again.")


def keep_session(response: Response, token: str, *, secure: bool) -> None:
    """Log the browser in."""
    _keep(response, SESSION, token, _SESSION_S, path="/", secure=secure)


def keep_browser(response: Response, secret: str, *, secure: bool) -> None:
    """Bind a login that begins to this browser."""
    _keep(response, BROWSER, secret, _LOGIN_S, path="/auth", secure=secure)


def _keep(
    response: Response, name: str, value: str, lasts_s: int, *, path: str, secure: bool
) -> None:
    response.set_cookie(
        name, value, max_age=lasts_s, path=path, secure=secure, httponly=True, samesite="lax"
    )


def new_secret() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(32)


def is_secure(request: Request, settings: ApiSettings) -> bool:
    """Whether the browser reaches us by https."""
    return settings.base_url(request).startswith("https:")


def local_path(path: str) -> str:
    """A path of this server; anything that could lead elsewhere becomes the account page."""
    return path if _LOCAL_PATH.fullmatch(path) else ACCOUNT
