"""Errors as pages, for browsers; whoever didn't ask for HTML gets the API's answer."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from kernelbot.api import errors as api_errors
from kernelbot.api.middleware import body_too_large
from kernelbot.domain.errors import (
    KernelbotError,
    NotAuthenticated,
    TooManyRequests,
    Unavailable,
)
from kernelbot.web.pages import Page, go, pages_of
from kernelbot.web.paths import login_path
from kernelbot.web.session import Session, maybe_session

_TITLES = {
    401: "Please log in",
    403: "That isn't allowed",
    404: "There is nothing here",
    405: "That isn't possible here",
    413: "That is too large",
    429: "Too many at once",
    500: "Something broke on our side",
    503: "Not available just now",
}
_HINTS = {
    "kernelbot board list": "The home page lists the boards.",
    "kernelbot submission list": "Your account page lists your submissions.",
    "kernelbot login": "Log in again.",
    "kernelbot token": "Your account page lists your tokens.",
    "kernelbot user list": "The page People lists the accounts.",
    "kernelbot invite list": "The board's page lists its invites.",
    "kernelbot webhook delete": "If its secret is lost, delete that one first.",
    "kernelbot webhook enable": "Enable it first.",
    "kernelbot webhook": "The board's page lists its webhooks.",
    "kernelbot submission": "",
    "--name": "",
}
"""Hints that speak of the terminal, as they are here."""


def install(app: FastAPI) -> None:
    """Answer every error: browsers with a page, others as the API does."""
    for kind in (KernelbotError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _shown)
    app.add_exception_handler(Exception, _crashed)


def too_large(scope: Scope, detail: str) -> Response:
    """The answer to a body over the limit, which is refused before anything else is known."""
    request = Request(scope)
    if not wants_page(request):
        return body_too_large(scope, detail)
    page = Page(pages_of(request), request, None)
    hint = "Go back and send a smaller file."
    return page("error.html", status=413, title=_TITLES[413], message=detail, hint=hint, code=413)


def wants_page(request: Request) -> bool:
    """Whether a browser asks for something to show. The API's own paths always answer JSON."""
    asks = "text/html" in request.headers.get("accept", "")
    return asks and not request.url.path.startswith("/api/")


def hint_for_browser(hint: str) -> str:
    """A hint, without commands of the terminal."""
    return next((said for word, said in _HINTS.items() if word in hint), hint)


async def _shown(request: Request, error: Exception) -> Response:
    answer = await api_errors.response_to(request, error)
    if not wants_page(request):
        return answer
    if isinstance(error, NotAuthenticated) and request.method == "GET":
        return go(login_path(request.url.path))
    page = Page(pages_of(request), request, await _session(request))
    return _page(page, error, answer.status_code, answer.headers)


async def _session(request: Request) -> Session | None:
    """Who is logged in, as far as that can be known: what has failed may be the database."""
    try:
        return await maybe_session(request)
    except Unavailable:
        return None


async def _crashed(request: Request, error: Exception) -> Response:
    answer = await api_errors.response_to(request, error)
    if not wants_page(request):
        return answer
    # Without a session: what has failed may be the database.
    return _page(Page(pages_of(request), request, None), error, 500, answer.headers)


def _page(page: Page, error: Exception, status: int, headers: Mapping[str, str]) -> Response:
    message, hint = _said(error, status)
    title = _TITLES.get(status, "That didn't work")
    shown = page("error.html", status=status, title=title, message=message, hint=hint, code=status)
    for name in ("allow", "retry-after"):
        if name in headers:
            shown.headers[name] = headers[name]
    return shown


def _said(error: Exception, status: int) -> tuple[str, str]:
    if isinstance(error, TooManyRequests):
        later = f"Try again in {max(1, round(error.retry_after_s))} s."
        return str(error), hint_for_browser(error.hint) or later
    if isinstance(error, KernelbotError):
        return str(error), hint_for_browser(error.hint)
    if isinstance(error, RequestValidationError):
        return f"This address or form can't be read: {api_errors.sentence(error)}", ""
    if isinstance(error, HTTPException) and status == HTTPStatus.NOT_FOUND:
        return "No page has this address.", "The home page lists the boards."
    if isinstance(error, HTTPException):
        return f"{HTTPStatus(status).phrase}.", ""
    return "The request was fine; please try again later.", "It is logged, so we can find it."
