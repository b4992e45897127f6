"""What organisers set: the platform's pause, bans, visibility, limits, invites."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictInt

from kernelbot.accounts.model import User
from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Author, Organiser, account_number
from kernelbot.api.popcorn.models import (
    Accepting,
    BanSet,
    InviteItem,
    InviteList,
    InviteRevoked,
    InvitesMade,
    Joined,
    LimitItem,
    LimitList,
    LimitRemoved,
    LimitSet,
    VisibilitySet,
)
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.boards.limits.model import LimitCategory, RateLimit
from kernelbot.boards.model import Visibility
from kernelbot.boards.service import BoardEdit
from kernelbot.domain.errors import UserError
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.schemas.common import Text
from kernelbot.services import Services

router = APIRouter(tags=["popcorn"], route_class=PopcornRoute)

BoardNames = Annotated[list[Text], Field(min_length=1, max_length=100)]


class JoinBody(BaseModel):
    """An invite's code."""

    code: Text = Field(min_length=1)


class InvitesBody(BaseModel):
    """Boards, as a list or a single one, and how many invites to them."""

    leaderboards: BoardNames | None = None
    leaderboard: Text | None = None
    count: Annotated[StrictInt, Field(ge=1, le=10_000)] = 1

    def boards(self) -> tuple[str, ...]:
        """The boards named. Raises `UserError` if none is."""
        if self.leaderboards:
            return tuple(self.leaderboards)
        if self.leaderboard:
            return (self.leaderboard,)
        raise UserError("No board is named.", hint="Send `leaderboards` or `leaderboard`.")


class VisibilityBody(BaseModel):
    """Who is to see a board."""

    visibility: Visibility


class LimitBody(BaseModel):
    """How many submissions of a category an author may make in an hour; 0: none."""

    mode_category: LimitCategory
    max_submissions_per_hour: Annotated[StrictInt, Field(ge=0, le=BIGINT_MAX)]


@router.post("/admin/start", responses=ERRORS)
async def popcorn_start(services: ServicesDep, organiser: Organiser) -> Accepting:
    """Accept submissions again, also after a restart."""
    state = await services.platform.resume(organiser)
    return Accepting(accepts_jobs=state.accepts_jobs)


@router.post("/admin/stop", responses=ERRORS)
async def popcorn_stop(services: ServicesDep, organiser: Organiser) -> Accepting:
    """Accept no more submissions, also after a restart; what was accepted is still judged."""
    state = await services.platform.pause(organiser)
    return Accepting(accepts_jobs=state.accepts_jobs)


@router.post("/admin/ban/{user_id}", responses=ERRORS)
async def popcorn_ban(services: ServicesDep, organiser: Organiser, user_id: str) -> BanSet:
    """Keep someone from submitting and from the rankings."""
    user = await services.users.ban(organiser, await _user_id(services, organiser, user_id))
    return BanSet(user_id=str(user.id), banned=user.banned_at is not None)


@router.delete("/admin/ban/{user_id}", responses=ERRORS)
async def popcorn_unban(services: ServicesDep, organiser: Organiser, user_id: str) -> BanSet:
    """End a ban."""
    user = await services.users.unban(organiser, await _user_id(services, organiser, user_id))
    return BanSet(user_id=str(user.id), banned=user.banned_at is not None)


@router.post("/admin/leaderboards/{board}/visibility", responses=ERRORS)
async def popcorn_set_visibility(
    services: ServicesDep, organiser: Organiser, board: str, body: VisibilityBody
) -> VisibilitySet:
    """Open a board to everybody, or close it to all but its members."""
    changed = await services.boards.edit(organiser, board, BoardEdit(visibility=body.visibility))
    return VisibilitySet(leaderboard=changed.name, visibility=changed.visibility)


@router.get("/admin/leaderboards/{board}/rate-limits", responses=ERRORS)
async def popcorn_limits(services: ServicesDep, organiser: Organiser, board: str) -> LimitList:
    """The limits that are set."""
    found = await services.limits.list_limits(organiser, board)
    return LimitList(
        leaderboard=board, rate_limits=[LimitItem.from_domain(limit) for limit in found]
    )


@router.put("/admin/leaderboards/{board}/rate-limits", responses=ERRORS)
async def popcorn_set_limit(
    services: ServicesDep, organiser: Organiser, board: str, body: LimitBody
) -> LimitSet:
    """Set or change a limit."""
    wanted = RateLimit(body.mode_category, body.max_submissions_per_hour)
    return LimitSet(
        rate_limit=LimitItem.from_domain(await services.limits.set(organiser, board, wanted))
    )


@router.delete("/admin/leaderboards/{board}/rate-limits/{mode_category}", responses=ERRORS)
async def popcorn_remove_limit(
    services: ServicesDep, organiser: Organiser, board: str, mode_category: LimitCategory
) -> LimitRemoved:
    """Remove a limit."""
    await services.limits.remove(organiser, board, mode_category)
    return LimitRemoved(leaderboard=board, mode_category=mode_category)


@router.post("/admin/invites", responses=ERRORS)
async def popcorn_make_invites(
    services: ServicesDep, organiser: Organiser, body: InvitesBody
) -> InvitesMade:
    """New invites, each for one person and all of the boards."""
    made = await services.invites.create(organiser, body.boards(), body.count)
    return InvitesMade(leaderboards=list(made.boards), codes=list(made.codes))


@router.get("/admin/leaderboards/{board}/invites", responses=ERRORS)
async def popcorn_invites(services: ServicesDep, organiser: Organiser, board: str) -> InviteList:
    """The invites that open a board, and who has claimed them."""
    found = await services.invites.list_invites(organiser, board)
    return InviteList(invites=[InviteItem.from_domain(invite) for invite in found])


@router.delete("/admin/invites/{code}", responses=ERRORS)
async def popcorn_revoke_invite(
    services: ServicesDep, organiser: Organiser, code: str
) -> InviteRevoked:
    """Revoke an invite; who claimed it is no longer a member."""
    return InviteRevoked(code=code, was_claimed=await services.invites.revoke(organiser, code))


@router.post("/user/join", responses=ERRORS)
async def popcorn_join(services: ServicesDep, author: Author, body: JoinBody) -> Joined:
    """Claim an invite. Repeated by the same person, the answer is the same."""
    return Joined(leaderboards=list(await services.invites.join(author, body.code)))


async def _user_id(services: Services, organiser: User, given: str) -> int:
    """The number of an account. A number is never read as a name, since anybody may choose that."""
    number = account_number(given)
    return (await services.users.find(organiser, given)).id if number is None else number
