"""Errors as pages, for browsers; whoever didn't ask for HTML gets the API's answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import Scope

from kernelbot.api import errors as api_errors
from kernelbot.api.middleware import body_too_large
from kernelbot.domain.errors import KernelbotError, NotAuthenticated, Unavailable
from kernelbot.domain.next_steps import Next
from kernelbot.web.pages import Page, go, pages_of
from kernelbot.web.paths import login_path
from kernelbot.web.session import BrowserSession, maybe_session

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


@dataclass(frozen=True)
class Advice:
    """What to do next: a sentence, and the page that it speaks of."""

    sentence: str
    page: str = ""
    """The path of its route; empty: none. With a parameter (`{board}`) it isn't linked, since
    nobody knows which is meant."""

    @property
    def link(self) -> str:
        """Where the sentence leads; empty: nowhere."""
        return "" if "{" in self.page else self.page


ADVICE: dict[Next, Advice] = {
    Next.TRY_AGAIN: Advice("Try again in a moment."),
    Next.BEGIN_AGAIN: Advice("Go back, load the page again, and try once more."),
    Next.LOG_IN: Advice("Log in again.", "/auth/login"),
    Next.ASK_ADMIN: Advice("Ask an admin."),
    Next.ASK_ORGANISERS: Advice("Ask the organisers."),
    Next.CHOOSE_ANOTHER_NAME: Advice("Choose another name."),
    Next.NAME_BOARD: Advice("The home page lists the boards; each has a form.", "/"),
    Next.LIST_BOARDS: Advice("The home page lists the boards.", "/"),
    Next.LIST_SUBMISSIONS: Advice("One page lists all your submissions.", "/submissions"),
    Next.SHOW_SUBMISSION: Advice("Its page has all of it.", "/submission/{submission_id}"),
    Next.CANCEL_SUBMISSION: Advice("Wait for one, or cancel one on its page.", "/submissions"),
    Next.LIST_ARTIFACTS: Advice("Its page lists its files.", "/submission/{submission_id}"),
    Next.LIST_USERS: Advice("The page People lists the accounts.", "/organise/people"),
    Next.LIST_IDENTITIES: Advice("Your account page lists your identities.", "/auth/account"),
    Next.LIST_TOKENS: Advice("Your account page lists your tokens.", "/auth/account"),
    Next.REVOKE_TOKENS: Advice("Revoke some on your account page.", "/auth/account"),
    Next.LIST_INVITES: Advice(
        "The page of the board's invites lists them.", "/organise/board/{board}/invites"
    ),
    Next.LIST_WEBHOOKS: Advice(
        "The page of the board's webhooks lists them.", "/organise/board/{board}/webhooks"
    ),
    Next.DELETE_WEBHOOKS: Advice(
        "Delete some on the pages of the board's webhooks.", "/organise/board/{board}/webhooks"
    ),
    Next.REPLACE_WEBHOOK: Advice(
        "If its secret is lost, delete it first, on its page.",
        "/organise/board/{board}/webhooks/{number}",
    ),
    Next.ENABLE_WEBHOOK: Advice(
        "Enable it first, on its page.", "/organise/board/{board}/webhooks/{number}"
    ),
    Next.SHOW_WEBHOOK_LOG: Advice(
        "Its page has its messages.", "/organise/board/{board}/webhooks/{number}"
    ),
    Next.LIST_SIGNING_KEYS: Advice("The platform shows its keys.", "/api/v1/signing-keys"),
    Next.CHANGE_CHAT_SETTINGS: Advice("In Discord, /admin settings changes that."),
    Next.MIGRATE_DATABASE: Advice("Tell the organisers."),
    Next.FORCE: Advice("Say that they are to be deleted as well."),
}
"""What to do next, for those in a browser."""


def advice_of(error: KernelbotError) -> Advice:
    """What to do next about an error, with an empty sentence if there is nothing."""
    return Advice(error.hint) if error.next_step is None else ADVICE[error.next_step]


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
    advice = Advice("Go back and send a smaller file.")
    return page(
        "error.html", status=413, title=_TITLES[413], message=detail, advice=advice, code=413
    )


def wants_page(request: Request) -> bool:
    """Whether a browser asks for something to show. The API's own paths always answer JSON."""
    asks = "text/html" in request.headers.get("accept", "")
    return asks and not request.url.path.startswith("/api/")


async def _shown(request: Request, error: Exception) -> Response:
    answer = await api_errors.response_to(request, error)
    if not wants_page(request):
        return answer
    if isinstance(error, NotAuthenticated) and request.method == "GET":
        return go(login_path(request.url.path))
    page = Page(pages_of(request), request, await _session(request))
    return _page(page, error, answer.status_code, answer.headers)


async def _session(request: Request) -> BrowserSession | None:
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
    message, advice = _error_text(error, status)
    title = _TITLES.get(status, "That didn't work")
    shown = page(
        "error.html", status=status, title=title, message=message, advice=advice, code=status
    )
    for name in ("allow", "retry-after"):
        if name in headers:
            shown.headers[name] = headers[name]
    return shown


def _error_text(error: Exception, status: int) -> tuple[str, Advice]:
    if isinstance(error, KernelbotError):
        return str(error), advice_of(error)
    if isinstance(error, RequestValidationError):
        return f"This address or form can't be read: {api_errors.sentence(error)}", Advice("")
    if isinstance(error, HTTPException) and status == HTTPStatus.NOT_FOUND:
        return "No page has this address.", ADVICE[Next.LIST_BOARDS]
    if isinstance(error, HTTPException):
        return f"{HTTPStatus(status).phrase}.", Advice("")
    logged = Advice("It is logged, so we can find it.")
    return "The request was fine; please try again later.", logged
