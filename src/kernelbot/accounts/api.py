"""People: oneself, and for admins everyone."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from kernelbot.accounts.answers import AccountList, IdentityList
from kernelbot.accounts.model import AuthorPage, Me, NewAccount, User
from kernelbot.accounts.schemas import AuthorPageChange, NewUser, Reason, RoleChange
from kernelbot.api.dependencies import Limit, ServicesDep, Shown, UserId, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(prefix="/users", tags=["users"])

Word = Annotated[str, Path(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]
_REFUSALS = documented(400, 401, 403, 404, 409, 413, 422, 503)


@router.get("/me", responses=documented(401, 503))
async def show_me(services: ServicesDep, viewer: Viewer, credential: Shown) -> Me:
    """The account that the token belongs to, and when the token ends."""
    ends_at = None if credential is None else await services.tokens.ends_at(credential)
    return Me(viewer.id, viewer.name, viewer.role, viewer.created_at, ends_at)


@router.get("/me/identities", responses=documented(401, 503))
async def list_identities(services: ServicesDep, viewer: Viewer) -> IdentityList:
    """The asker's identities at login providers."""
    return IdentityList(identities=await services.users.identities(viewer))


@router.delete(
    "/me/identities/{provider}/{subject}",
    status_code=204,
    responses=documented(401, 403, 404, 409, 422, 503),
)
async def unlink_identity(
    services: ServicesDep, viewer: Viewer, provider: Word, subject: Word
) -> None:
    """Remove an identity from the asker's account; not the last one, unless there is a token that
    doesn't expire."""
    await services.users.unlink(viewer, provider, subject)


@router.get("/me/author-page", responses=documented(401, 503))
async def show_author_page(services: ServicesDep, viewer: Viewer) -> AuthorPage:
    """How the asker's page as an author is shown."""
    return await services.users.author_page(viewer)


@router.put("/me/author-page", responses=documented(400, 401, 413, 422, 503))
async def change_author_page(
    services: ServicesDep, viewer: Viewer, body: AuthorPageChange
) -> AuthorPage:
    """Make the asker's page as an author private, or show it to others."""
    return await services.users.set_author_page(viewer, AuthorPage(body.private))


@router.get("", responses=documented(401, 403, 422, 503))
async def list_users(
    services: ServicesDep,
    viewer: Viewer,
    search: Annotated[
        str | None,
        Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$", description="Part of a name."),
    ] = None,
    limit: Limit = PAGE_ROWS,
    after_id: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
) -> AccountList:
    """Accounts in the order of their numbers. For admins."""
    found = await services.users.list_users(viewer, search=search, limit=limit, after_id=after_id)
    return AccountList(users=found, next_after_id=found[-1].id if len(found) == limit else None)


@router.post("", status_code=201, responses=documented(400, 401, 403, 409, 413, 422, 503))
async def create_user(services: ServicesDep, viewer: Viewer, body: NewUser) -> NewAccount:
    """Create an account and its first token, which is in this answer only. For admins."""
    return (await services.users.create(body.name, body.role, actor=viewer)).account


@router.put("/{user_id}/role", responses=_REFUSALS)
async def change_role(
    services: ServicesDep, viewer: Viewer, user_id: UserId, body: RoleChange
) -> User:
    """Change someone else's role. For admins."""
    return await services.users.set_role(viewer, user_id, body.role)


@router.put("/{user_id}/ban", responses=_REFUSALS)
async def ban_user(services: ServicesDep, viewer: Viewer, user_id: UserId, body: Reason) -> User:
    """Ban someone from submitting and from every ranking. For admins."""
    return await services.users.ban(viewer, user_id, body.reason)


@router.delete("/{user_id}/ban", responses=documented(401, 403, 404, 409, 422, 503))
async def unban_user(services: ServicesDep, viewer: Viewer, user_id: UserId) -> User:
    """End a ban; what counted before counts again. For admins."""
    return await services.users.unban(viewer, user_id)
