"""People: oneself, and new ones."""

from fastapi import APIRouter

from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.errors import NotAllowed
from kernelbot.domain.types import Role
from kernelbot.schemas.users import NewUser, NewUserView, UserView

router = APIRouter(prefix="/users", tags=["users"])


@router.get("/me", responses=documented(401, 503))
async def show_me(viewer: Viewer) -> UserView:
    """Whose token this is."""
    return UserView.of(viewer)


@router.post("", status_code=201, responses=documented(400, 401, 403, 409, 413, 422, 503))
async def create_user(services: ServicesDep, viewer: Viewer, body: NewUser) -> NewUserView:
    """Make an account and its first token, which is shown this once. For admins."""
    if viewer.role is not Role.ADMIN:
        raise NotAllowed("Only an admin makes accounts.")
    return NewUserView.of_token(await services.users.create(body.name, body.role))
