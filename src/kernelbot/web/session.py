"""A browser's cookies, and how its forms are distinguished from forged ones."""

import hashlib
import hmac
import re
import secrets
from typing import Annotated

from fastapi import Depends, Form, Request, Response

from kernelbot.accounts.model import User
from kernelbot.accounts.tokens.model import Credential, TokenKind
from kernelbot.api.dependencies import count_connection, services
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAllowed, NotAuthenticated
from kernelbot.domain.next_steps import Next

SESSION = "kernelbot_session"
"""Holds a session's text. The API doesn't read it, so no other site can use it there."""
BROWSER = "kernelbot_login"
"""Holds the secret that binds logins and the login form to this browser."""
ACCOUNT = "/auth/account"
_SESSION_S = 30 * 24 * 3600
_BROWSER_S = 24 * 3600
_SECRET = re.compile(r"[\w-]{43}", re.ASCII)
_LOCAL_PATH = re.compile(r"/(?:[A-Za-z0-9_.~%-][A-Za-z0-9_.~%/-]*)?")


class BrowserSession:
    def __init__(self, user: User, token: str) -> None:
        self.user = user
        self.token = token

    @property
    def csrf(self) -> str:
        """The secret in our forms that other sites can't know."""
        return csrf_of(self.token)

    @property
    def credential(self) -> Credential:
        """What is made in the session is made with this."""
        return Credential(self.token)


async def maybe_session(request: Request) -> BrowserSession | None:
    """The browser's session; None if there is none, or it is no longer valid."""
    token = _cookie(request, SESSION)
    if not token:
        return None
    try:
        users = (await services(request)).users
        return BrowserSession(await users.authenticate(token, TokenKind.SESSION), token)
    except NotAuthenticated:
        return None


async def counted_session(
    request: Request, session: Annotated[BrowserSession | None, Depends(maybe_session)]
) -> BrowserSession | None:
    """The session, as `maybe_session` finds it; the connection is its account's. Raises
    `TooManyRequests`."""
    if session is not None:
        count_connection(request, session.user.id)
    return session


MaybeSession = Annotated[BrowserSession | None, Depends(counted_session)]


async def session_needed(session: MaybeSession) -> BrowserSession:
    """The browser's session. Raises `NotAuthenticated`, which leads a browser to the login page."""
    if session is None:
        raise NotAuthenticated("You are not logged in.", next_step=Next.LOG_IN)
    return session


NeededSession = Annotated[BrowserSession, Depends(session_needed)]


async def posted_session(
    session: MaybeSession, csrf: Annotated[str, Form(max_length=100)] = ""
) -> BrowserSession:
    """The session of a form of ours. Raises `NotAuthenticated`, `NotAllowed` for a form that
    came from elsewhere."""
    if session is None:
        raise NotAuthenticated("You are no longer logged in.", next_step=Next.LOG_IN)
    check_csrf(csrf, session.token)
    return session


PostedSession = Annotated[BrowserSession, Depends(posted_session)]


def csrf_of(secret: str) -> str:
    """What the forms of the browser with this secret in its cookie hold."""
    return hashlib.sha256(b"csrf:" + secret.encode()).hexdigest()


def check_csrf(sent: str, secret: str) -> None:
    """Raises `NotAllowed` for a form that isn't from a page of ours in the browser with this secret
    in its cookie. Without one nobody can tell: the empty secret's value is known to everybody."""
    expected = csrf_of(secret).encode()
    if not secret or not hmac.compare_digest(sent.encode("utf-8", "replace"), expected):
        raise NotAllowed("This form is out of date.", next_step=Next.BEGIN_AGAIN)


def browser_secret(request: Request) -> str:
    """The secret that this browser alone holds; empty if it has none, or none of ours."""
    found = _cookie(request, BROWSER)
    return found if _SECRET.fullmatch(found) else ""


def keep_session(request: Request, response: Response, token: str) -> None:
    _keep(request, response, SESSION, token, _SESSION_S)
    _forget(request, response, BROWSER)


def keep_browser(request: Request, response: Response, secret: str) -> None:
    """Bind what begins now to this browser."""
    _keep(request, response, BROWSER, secret, _BROWSER_S)


def forget_session(request: Request, response: Response) -> None:
    _forget(request, response, SESSION)


def _cookie(request: Request, name: str) -> str:
    return request.cookies.get(cookie_name(request, name), "")


def _keep(request: Request, response: Response, name: str, value: str, lasts_s: int) -> None:
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=lasts_s,
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="lax",
    )


def _forget(request: Request, response: Response, name: str) -> None:
    """With the same attributes: a browser takes no cookie of a `__Host-` name without them."""
    response.delete_cookie(
        cookie_name(request, name),
        path="/",
        secure=_is_secure(request),
        httponly=True,
        samesite="lax",
    )


def cookie_name(request: Request, name: str) -> str:
    """The name that the cookie has here. By https it is one that no other host of the domain, and
    nobody on the way by http, can set."""
    return f"__Host-{name}" if _is_secure(request) else name


def _is_secure(request: Request) -> bool:
    settings = request.app.state.settings
    assert isinstance(settings, ApiSettings)
    return settings.base_url(request).startswith("https:")


def new_secret() -> str:
    """256 random bits."""
    return secrets.token_urlsafe()


def local_path(path: str) -> str:
    """A path of this server; anything that could lead elsewhere becomes the account page."""
    return path if _LOCAL_PATH.fullmatch(path) else ACCOUNT
