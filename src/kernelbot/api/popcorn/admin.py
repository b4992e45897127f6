"""What organisers do: boards and any submission. Every route needs ADMIN_TOKEN."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from kernelbot.api.dependencies import ServicesDep
from kernelbot.api.popcorn.auth import Organiser
from kernelbot.api.popcorn.models import (
    AnySubmission,
    BoardDeleted,
    BoardOpened,
    StatsShown,
    SubmissionDeleted,
    SubmissionIds,
    SubmissionsDeleted,
    SubmissionShown,
    stats_values,
)
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.api.popcorn.submissions import details
from kernelbot.boards.model import Visibility
from kernelbot.domain.errors import NotFound
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.schemas.common import NAME_MAX, Text

router = APIRouter(prefix="/admin", tags=["popcorn"], route_class=PopcornRoute)

SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]


class NewDevBoard(BaseModel):
    """A problem folder's name. Other keys are ignored, as those clients expect."""

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


@router.delete("/submissions/{submission_id}", responses=ERRORS)
async def popcorn_delete_submission(
    services: ServicesDep, organiser: Organiser, submission_id: SubmissionId
) -> SubmissionDeleted:
    """Delete anybody's submission; the ranking moves up."""
    await services.deletion.delete_submission(organiser, submission_id)
    return SubmissionDeleted(submission_id=submission_id)


@router.delete("/submissions", responses=ERRORS)
async def popcorn_delete_submissions_of(
    services: ServicesDep,
    organiser: Organiser,
    leaderboard_id: Annotated[int, Query(ge=1, le=BIGINT_MAX)],
    user_name: Annotated[str, Query(min_length=1, max_length=NAME_MAX)],
) -> SubmissionsDeleted:
    """Delete all of a person's submissions on a board."""
    boards = await services.boards.list_boards(organiser)
    board = next((board.name for board in boards if board.id == leaderboard_id), None)
    if board is None:
        raise NotFound(f"There is no board with the id {leaderboard_id}.")
    count = await services.deletion.delete_submissions_of(organiser, board, user_name)
    return SubmissionsDeleted(
        leaderboard_id=leaderboard_id, user_name=user_name, deleted_submissions=count
    )


@router.delete("/leaderboards/{board}", responses=ERRORS)
async def popcorn_delete_board(
    services: ServicesDep, organiser: Organiser, board: str, force: bool = False
) -> BoardDeleted:
    """Delete a board. With submissions only by force, which deletes them too."""
    await services.deletion.delete_board(organiser, board, force=force)
    return BoardDeleted(leaderboard=board, force=force)


@router.get("/leaderboards/{board}/submissions", responses=ERRORS)
async def popcorn_board_submissions(
    services: ServicesDep,
    organiser: Organiser,
    board: str,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    offset: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
) -> SubmissionIds:
    """The ids of a board's submissions, the newest first."""
    ids = await services.submission_lists.on_board(organiser, board, limit=limit, offset=offset)
    return SubmissionIds(leaderboard=board, limit=limit, offset=offset, submission_ids=ids)


@router.get("/stats", responses=ERRORS)
async def popcorn_stats(
    services: ServicesDep,
    organiser: Organiser,
    last_day_only: bool = False,
    leaderboard_name: Annotated[str | None, Query(max_length=NAME_MAX)] = None,
) -> StatsShown:
    """How much was submitted and judged, of everything or of one board."""
    found = await services.statistics.show(
        organiser, board=leaderboard_name, last_day=last_day_only
    )
    return StatsShown(stats=stats_values(found))
