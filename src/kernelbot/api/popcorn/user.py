"""An author's own submissions: listed, read, deleted."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from kernelbot.api.dependencies import ServicesDep, answers_of
from kernelbot.api.popcorn.auth import Author
from kernelbot.api.popcorn.models import SubmissionDeleted, SubmissionDetails, SubmissionItem
from kernelbot.api.popcorn.routing import ERRORS, PopcornRoute
from kernelbot.api.popcorn.submissions import details, done, listed
from kernelbot.api.popcorn.submit import queue_of
from kernelbot.domain.ids import BIGINT_MAX
from kernelbot.schemas.common import NAME_MAX
from kernelbot.schemas.values import to_json
from kernelbot.submissions.api.listing import listed_json
from kernelbot.submissions.model import Submission

router = APIRouter(prefix="/user", tags=["popcorn"], route_class=PopcornRoute)

SubmissionId = Annotated[int, Path(ge=1, le=BIGINT_MAX)]


@router.get("/submissions", response_model=list[SubmissionItem], responses=ERRORS)
async def popcorn_own_submissions(
    request: Request,
    services: ServicesDep,
    author: Author,
    leaderboard: Annotated[
        str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    offset: Annotated[int, Query(ge=0, le=BIGINT_MAX)] = 0,
) -> Response:
    """The asker's submissions, the newest first."""
    ask = services.submission_lists
    found = await ask.page_of_own(author, board=leaderboard, limit=limit, offset=offset)
    items = await listed_json(ask, found, answers_of(request).listed_popcorn, _encoded)
    return Response(b"[%b]" % b",".join(items), media_type="application/json")


def _encoded(submission: Submission) -> bytes:
    return to_json(SubmissionItem, listed(submission))


@router.get("/submissions/{submission_id}", responses=ERRORS)
async def popcorn_own_submission(
    services: ServicesDep, author: Author, submission_id: SubmissionId
) -> SubmissionDetails:
    """One submission: what clients poll until `done`, or until the job has failed."""
    submission = await services.submissions.get(author, submission_id)
    waiting = not done(submission) and submission.runs
    queue = await queue_of(services, submission.runs[0].device) if waiting else None
    return details(submission, queue)


@router.delete("/submissions/{submission_id}", responses=ERRORS)
async def popcorn_delete_own_submission(
    services: ServicesDep, author: Author, submission_id: SubmissionId
) -> SubmissionDeleted:
    """Delete one's own submission; its runs are stopped, and the ranking moves up."""
    await services.deletion.delete_submission(author, submission_id)
    return SubmissionDeleted(submission_id=submission_id)
