"""A browser's cookies, and how its requests are distinguished from forged ones."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Cookie, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.errors import response_of, status_of
from kernelbot.api.login import pages
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import KernelbotError, NotAllowed, NotAuthenticated
from kernelbot.domain.types import User

SESSION = "kernelbot_session"
"""Holds a token. The API doesn't read it, so no other site can use it there."""
BROWSER = "kernelbot_login"
"""Holds the secret that binds a login to the browser in which it began."""
_SESSION_S = 30 * 24 * 3600
_LOGIN_S = 600
_LOCAL_PATH = re.compile(r"/(?:[A-Za-z0-9_.~%-][A-Za-z0-9_.~%/-]*)?")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Session:
    """A logged-in browser."""

    def __init__(self, user: User, token: str) -> None:
        self.user = user
        self.token = token

    @property
    def csrf(self) -> str:
        """The secret in our forms that other sites can't know."""
        return hashlib.sha256(b"csrf:" + self.token.encode()).hexdigest()


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


async def posted_session(
    session: MaybeSession, csrf: Annotated[str, Form(max_length=100)] = ""
) -> Session:
    """The session of a form of ours. Raises `NotAuthenticated`, `NotAllowed` for a form that
    came from elsewhere."""
    if session is None:
        raise NotAuthenticated("You are no longer logged in.", hint="Log in again.")
    if not hmac.compare_digest(csrf.encode(), session.csrf.encode()):
        raise NotAllowed("This form is out of date.", hint="Go back, reload and try again.")
    return session


PostedSession = Annotated[Session, Depends(posted_session)]


class PageRoute(APIRoute):
    """Errors of ours become pages for browsers, and stay JSON for everyone else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's function with its errors shown."""
        handle = super().get_route_handler()

        async def showing(request: Request) -> Response:
            try:
                return await handle(request)
            except KernelbotError as error:
                status = status_of(error)
                if "text/html" not in request.headers.get("accept", ""):
                    return response_of(error, status)
                return html(pages.problem(str(error), error.hint), status)

        return showing


def html(text: str, status: int = 200) -> HTMLResponse:
    """A page that isn't cached or framed and loads nothing."""
    return HTMLResponse(text, status_code=int(status), headers=_HEADERS)


def go(url: str) -> RedirectResponse:
    """Redirect the browser to `url` with a GET."""
    return RedirectResponse(url, status_code=303, headers=_HEADERS)


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
    return path if _LOCAL_PATH.fullmatch(path) else "/auth/account"
