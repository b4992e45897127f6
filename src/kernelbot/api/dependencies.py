"""What the routers' functions depend on: who asks, and the services that answer."""

import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response
from fastapi.routing import APIRoute

from kernelbot.accounts.model import User
from kernelbot.accounts.permissions import require_admin, require_creator
from kernelbot.accounts.tokens.model import Credential
from kernelbot.api.answers import RenderedAnswers
from kernelbot.api.attempts import failures_of
from kernelbot.api.late_fields import build_when_used
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAuthenticated, TooManyRequests
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.domain.next_steps import Next
from kernelbot.schemas.common import NAME_MAX
from kernelbot.services import Services

build_when_used()  # here: each module of routes loads this one before it declares any
_WEB, _CLI = "X-Web-Auth-Id", "X-Popcorn-Cli-Id"
WAYS_IN = {
    "HTTPBearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token: `kernelbot user create NAME`.",
    },
    "WebAuth": {"type": "apiKey", "in": "header", "name": _WEB},
    "CliAuth": {"type": "apiKey", "in": "header", "name": _CLI},
}
"""How a token is sent, for OpenAPI. Not as dependencies: each is resolved for every request, and
three that read one header each cost as much as a question to the database."""
BELONGS_TO = "kernelbot.belongs_to"
"""In a request's state, how our server counts the connections of each account: a function of the
account's id, False if there are too many."""
_CONNECTIONS_AGAIN_S = 5.0


async def services(request: Request) -> Services:
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


async def settings(request: Request) -> ApiSettings:
    found = request.app.state.settings
    assert isinstance(found, ApiSettings)
    return found


def answers_of(request: Request) -> RenderedAnswers:
    """The application's cache of answers."""
    found = request.app.state.answers
    assert isinstance(found, RenderedAnswers)
    return found


ServicesDep = Annotated[Services, Depends(services)]
SettingsDep = Annotated[ApiSettings, Depends(settings)]


async def shown(request: Request) -> Credential | None:
    """What the request shows; None: no token. ADMIN_TOKEN counts as `Authorization: Bearer`."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    bearer = credentials.strip() if scheme.lower() == "bearer" else ""
    organisers = (await settings(request)).admin_credential(bearer.encode("latin-1", "replace"))
    token = bearer or request.headers.get(_WEB) or request.headers.get(_CLI)
    return organisers or (Credential(token) if token else None)


def count_connection(request: Request, account_id: int) -> None:
    """It is the account's connection from now on. Raises `TooManyRequests` if it is being answered
    on too many."""
    belongs_to = request.scope.get("state", {}).get(BELONGS_TO)
    if belongs_to is not None and not belongs_to(account_id):
        raise TooManyRequests(
            "Your account has too many connections at once.",
            retry_after_s=_CONNECTIONS_AGAIN_S,
            hint="Close event streams and downloads that you no longer need.",
        )


async def maybe_viewer(request: Request) -> User | None:
    """Who asks; None without a token. ADMIN_TOKEN is the organiser's. Raises `NotAuthenticated`
    for an unknown token: a wrong token never counts as no token."""
    found = await shown(request)
    return await owner_of(request, found) if found else None


async def owner_of(request: Request, credential: Credential) -> User:
    """Whose token it is. Wrong ones are counted: from an address that sent too many, ADMIN_TOKEN
    isn't taken either, so that nobody finds it by trying. Raises `NotAuthenticated`,
    `TooManyRequests`."""
    users = (await services(request)).users
    if credential.of_settings:
        failures_of(request).check(request)
        return await users.organiser()
    with wrong_tokens_counted(request):
        user = await users.authenticate(credential.text)
    count_connection(request, user.id)
    return user


async def viewer_again(request: Request) -> Callable[[], Awaitable[User]]:
    """Asks again whose token the request showed, for answers that last; that counts neither as a
    connection nor as a wrong token. What it gives raises `NotAuthenticated` once the token has
    ended."""
    users, credential = (await services(request)).users, await shown(request)
    if credential is None or credential.of_settings:
        return users.organiser
    return partial(users.authenticate, credential.text)


@contextlib.contextmanager
def wrong_tokens_counted(request: Request) -> Iterator[None]:
    """Count `NotAuthenticated` in the block as a wrong token; raises `TooManyRequests` instead of
    it for an address that sent too many."""
    try:
        yield
    except NotAuthenticated as error:
        raise failures_of(request).note(request, error) from None


async def viewer(request: Request) -> User:
    """Who asks. Raises `NotAuthenticated` without a token."""
    found = await maybe_viewer(request)
    if found is None:
        raise NotAuthenticated("This needs a token.", next_step=Next.LOG_IN)
    return found


class AllowedFirst(APIRoute):
    """A route with large bodies, which are read only from those who may send them. Otherwise a body
    would be in memory and parsed before the route's own dependencies are checked."""

    @staticmethod
    def require(actor: User) -> None:
        """Raises `NotAllowed` for everybody else."""
        raise NotImplementedError

    @staticmethod
    async def who(request: Request) -> User:
        """Who asks. Raises `NotAuthenticated`."""
        return await viewer(request)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's function, after a check of who asks."""
        handle = super().get_route_handler()

        async def asking_first(request: Request) -> Response:
            self.require(await self.who(request))
            return await handle(request)

        return asking_first


class CreatorsFirst(AllowedFirst):
    """For those who may create boards."""

    require = staticmethod(require_creator)


class AdminsFirst(AllowedFirst):
    """For admins."""

    require = staticmethod(require_admin)


Shown = Annotated[Credential | None, Depends(shown)]
MaybeViewer = Annotated[User | None, Depends(maybe_viewer)]
Viewer = Annotated[User, Depends(viewer)]
ViewerAgain = Annotated[Callable[[], Awaitable[User]], Depends(viewer_again)]
"""Only beside a `Viewer`, or another who has shown a token."""

PUBLIC: dict[str, list[dict[str, list[str]]]] = {"security": [{}]}
"""`openapi_extra` of a route with a `MaybeViewer`: it says that no token is needed."""

BoardName = Annotated[str, Path(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
UserId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
Limit = Annotated[int, Query(ge=1, le=100, description="How many rows.")]
