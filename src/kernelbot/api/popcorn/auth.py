"""Who asks: an author by a token in a header of its own, the organiser by ADMIN_TOKEN."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from kernelbot.accounts.model import User
from kernelbot.accounts.tokens.model import Credential
from kernelbot.api.attempts import failures_of
from kernelbot.api.dependencies import ServicesDep, Shown, owner_of
from kernelbot.domain.errors import NotAuthenticated, UserError
from kernelbot.domain.ids import BIGINT_MAX

_web = APIKeyHeader(name="X-Web-Auth-Id", auto_error=False, scheme_name="WebAuth")
_cli = APIKeyHeader(name="X-Popcorn-Cli-Id", auto_error=False, scheme_name="CliAuth")
_bearer = HTTPBearer(auto_error=False, scheme_name="Organiser", description="ADMIN_TOKEN")


async def maybe_author(
    request: Request,
    web: Annotated[str | None, Security(_web)],
    cli: Annotated[str | None, Security(_cli)],
) -> User | None:
    """Who asks; None without a token. Raises `NotAuthenticated` for a token nobody has."""
    token = web or cli
    return None if not token else await owner_of(request, Credential(token))


async def author(found: Annotated[User | None, Depends(maybe_author)]) -> User:
    """Who asks. Raises `UserError` without a token, as those clients expect."""
    if found is None:
        raise UserError(
            "The header X-Popcorn-Cli-Id is missing.",
            hint="Put a line `cli_id: TOKEN` into ~/.popcorn.yaml.",
        )
    return found


async def author_again(
    services: ServicesDep,
    web: Annotated[str | None, Security(_web)],
    cli: Annotated[str | None, Security(_cli)],
) -> Callable[[], Awaitable[User]]:
    """Asks again whose token it is; what it gives raises `NotAuthenticated` once that has ended."""
    return partial(services.users.authenticate, web or cli or "")


async def organiser(
    request: Request,
    credential: Shown,
    _documented: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
) -> User:
    """The account that ADMIN_TOKEN stands for. Raises `NotAuthenticated`, `TooManyRequests`."""
    if credential is None or not credential.of_settings:
        error = NotAuthenticated(
            "This needs the organiser's token.",
            hint="Send `Authorization: Bearer TOKEN` with the server's ADMIN_TOKEN.",
        )
        raise failures_of(request).note(request, error) if credential else error
    return await owner_of(request, credential)


MaybeAuthor = Annotated[User | None, Depends(maybe_author)]
Author = Annotated[User, Depends(author)]
AuthorAgain = Annotated[Callable[[], Awaitable[User]], Depends(author_again)]
Organiser = Annotated[User, Depends(organiser)]


def account_number(given: str) -> int | None:
    """The number of an account's id as text; None if it isn't a number. A number that no account
    can have becomes the largest one."""
    if not given.isascii() or not given.isdigit():
        return None
    return int(given) if len(given) < len(str(BIGINT_MAX)) else BIGINT_MAX
