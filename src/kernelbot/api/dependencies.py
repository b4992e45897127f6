"""Who asks, and what answers: what the routers' functions take."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from kernelbot.api.settings import ApiSettings
from kernelbot.domain.errors import NotAuthenticated
from kernelbot.domain.types import User
from kernelbot.schemas.common import BIGINT_MAX, NAME_MAX
from kernelbot.services import Services

_bearer = HTTPBearer(auto_error=False, description="A token: `kernelbot user create NAME`.")
_web = APIKeyHeader(name="X-Web-Auth-Id", auto_error=False, scheme_name="WebAuth")
_cli = APIKeyHeader(name="X-Popcorn-Cli-Id", auto_error=False, scheme_name="CliAuth")


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


ServicesDep = Annotated[Services, Depends(services)]
SettingsDep = Annotated[ApiSettings, Depends(settings)]


async def maybe_viewer(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    web: Annotated[str | None, Security(_web)],
    cli: Annotated[str | None, Security(_cli)],
) -> User | None:
    """Who asks; None without a token. ADMIN_TOKEN is the organiser's. Raises `NotAuthenticated`
    for a token nobody has: a wrong token is never silently a stranger."""
    # Asked for here and not declared: each dependency is resolved for every request.
    users = (await services(request)).users
    if bearer and (await settings(request)).opens_admin(bearer.credentials):
        return await users.organiser()
    token = bearer.credentials if bearer else web or cli
    return None if token is None else await users.authenticate(token)


async def viewer(found: Annotated[User | None, Depends(maybe_viewer)]) -> User:
    """Who asks. Raises `NotAuthenticated` without a token."""
    if found is None:
        raise NotAuthenticated(
            "This needs a token.",
            hint="Send it as `Authorization: Bearer TOKEN`; `kernelbot login URL TOKEN` keeps it.",
        )
    return found


class KnownFirst(APIRoute):
    """A route of large bodies, which are read for those alone who have a token: a body is in
    memory before a route's own dependencies are asked."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The route's function, after a look at who asks."""
        handle = super().get_route_handler()

        async def asking_first(request: Request) -> Response:
            given = await _bearer(request), await _web(request), await _cli(request)
            await viewer(await maybe_viewer(request, *given))
            return await handle(request)

        return asking_first


MaybeViewer = Annotated[User | None, Depends(maybe_viewer)]
Viewer = Annotated[User, Depends(viewer)]

PUBLIC: dict[str, list[dict[str, list[str]]]] = {"security": [{}]}
"""`openapi_extra` of a route that a `MaybeViewer` asks: it says that no token is fine too."""

BoardName = Annotated[str, Path(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
UserId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]
Limit = Annotated[int, Query(ge=1, le=100, description="How many rows.")]
