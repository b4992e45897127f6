"""What the routers' functions depend on: who asks, and the services that answer."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response
from fastapi.routing import APIRoute

from kernelbot.api.answers import Answers
from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAuthenticated
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.domain.types import User
from kernelbot.schemas.common import NAME_MAX
from kernelbot.services import Services
from kernelbot.services.permissions import require_admin, require_creator

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


async def services(request: Request) -> Services:
    """The services this application was made with."""
    found = request.app.state.services
    assert isinstance(found, Services)
    return found


async def settings(request: Request) -> ApiSettings:
    """The settings this application was made with."""
    found = request.app.state.settings
    assert isinstance(found, ApiSettings)
    return found


def answers_of(request: Request) -> Answers:
    """This application's cache of answers."""
    found = request.app.state.answers
    assert isinstance(found, Answers)
    return found


ServicesDep = Annotated[Services, Depends(services)]
SettingsDep = Annotated[ApiSettings, Depends(settings)]


async def maybe_viewer(request: Request) -> User | None:
    """Who asks; None without a token. ADMIN_TOKEN is the organiser's. Raises `NotAuthenticated`
    for an unknown token: a wrong token never counts as no token."""
    users = (await services(request)).users
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    bearer = credentials.strip() if scheme.lower() == "bearer" else ""
    if bearer and (await settings(request)).opens_admin(bearer):
        return await users.organiser()
    token = bearer or request.headers.get(_WEB) or request.headers.get(_CLI)
    return await users.authenticate(token) if token else None


async def viewer(request: Request) -> User:
    """Who asks. Raises `NotAuthenticated` without a token."""
    found = await maybe_viewer(request)
    if found is None:
        raise NotAuthenticated(
            "This needs a token.",
            hint="Send it as `Authorization: Bearer TOKEN`; `kernelbot login URL TOKEN` keeps it.",
        )
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


MaybeViewer = Annotated[User | None, Depends(maybe_viewer)]
Viewer = Annotated[User, Depends(viewer)]

PUBLIC: dict[str, list[dict[str, list[str]]]] = {"security": [{}]}
"""`openapi_extra` of a route with a `MaybeViewer`: it says that no token is needed."""

BoardName = Annotated[str, Path(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
UserId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
Limit = Annotated[int, Query(ge=1, le=100, description="How many rows.")]
