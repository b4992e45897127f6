"""Problems by sync, as organisers with the existing client ask for it."""

from fastapi import APIRouter
from pydantic import BaseModel, StrictBool

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Organiser
from kernelbot.api.popcorn.models import Ok
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.boards.model import Visibility
from kernelbot.boards.sync.model import SyncAction, SyncOptions
from kernelbot.schemas.common import Text
from kernelbot.schemas.models import Answer

router = APIRouter(prefix="/admin", tags=["popcorn"], route_class=PopcornRoute)


class SyncBody(BaseModel):
    """What to sync from. No repository: the server's PROBLEMS_REPO; no branch: its default."""

    repository: Text | None = None
    branch: Text | None = None
    force: StrictBool = False
    problem_set: Text | None = None
    visibility: Visibility = Visibility.PUBLIC


class Skipped(Answer):
    """A board that stays as it is."""

    name: str
    reason: str


class Failed(Answer):
    """A board, or a file, that can't be synced."""

    name: str
    error: str


class Synced(Ok):
    """What happened to each board."""

    created: list[str]
    updated: list[str]
    skipped: list[Skipped]
    errors: list[Failed]


@router.post("/update-problems", responses=ERRORS)
async def popcorn_update_problems(
    services: ServicesDep, organiser: Organiser, body: SyncBody
) -> Synced:
    """Make and update boards from the competition files of a git repository."""
    options = SyncOptions(
        force=body.force, problem_set=body.problem_set, visibility=body.visibility
    )
    outcome = await services.sync.from_repository(
        organiser, body.repository or None, body.branch or None, options
    )
    return Synced(
        created=[item.board for item in outcome.with_action(SyncAction.CREATE)],
        updated=[item.board for item in outcome.with_action(SyncAction.UPDATE)],
        skipped=[
            Skipped(name=item.board, reason=item.reason)
            for item in outcome.with_action(SyncAction.SKIP)
        ],
        errors=[
            Failed(name=item.board, error=item.reason)
            for item in outcome.with_action(SyncAction.ERROR)
        ],
    )
