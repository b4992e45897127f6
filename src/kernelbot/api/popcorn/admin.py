"""What organisers do: boards and any submission. Each route is opened by ADMIN_TOKEN alone."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Organiser
from kernelbot.api.popcorn.models import AnySubmission, BoardOpened, SubmissionShown
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.api.popcorn.submissions import details
from kernelbot.domain.types import Visibility
from kernelbot.schemas.common import BIGINT_MAX, Text

router = APIRouter(prefix="/admin", tags=["popcorn"], route_class=PopcornRoute)

SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]


class NewDevBoard(BaseModel):
    """A problem folder's name. Other keys are passed over, as those clients expect."""

    directory: Text
    visibility: Visibility = Visibility.PUBLIC


@router.post("/leaderboards", responses=ERRORS)
async def popcorn_open_board(
    services: ServicesDep, organiser: Organiser, body: NewDevBoard
) -> BoardOpened:
    """A board `{directory}-dev` from a problem folder under PROBLEM_DEV_DIR, open for a year."""
    board = await services.problem_folders.open_board(organiser, body.directory, body.visibility)
    return BoardOpened(leaderboard=board.name)


@router.get("/submissions/{submission_id}", responses=ERRORS)
async def popcorn_any_submission(
    services: ServicesDep, organiser: Organiser, submission_id: SubmissionId
) -> SubmissionShown:
    """Anybody's submission, with its code and every run."""
    submission = await services.submissions.get(organiser, submission_id)
    shown = details(submission, None)
    item = AnySubmission(submission_id=submission.id, user_name=submission.author, **dict(shown))
    return SubmissionShown(submission=item)
