"""Links to results, for their authors' programs."""

from fastapi import APIRouter

from kernelbot.api.dependencies import ServicesDep, SubmissionId, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.errors import NotFound
from kernelbot.submissions.sharing.model import ResultLink
from kernelbot.submissions.sharing.schemas import NewResultLink

router = APIRouter(prefix="/submissions", tags=["submissions"])


@router.get("/{submission_id}/link", responses=documented(401, 403, 404, 422, 503))
async def show_link(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> ResultLink:
    """The link by which the asker shows the submission's result."""
    found = await services.sharing.link(viewer, submission_id)
    if found is None:
        raise NotFound(f"Submission {submission_id} is shown by no link.")
    return found


@router.put("/{submission_id}/link", responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
async def put_link(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId, body: NewResultLink
) -> ResultLink:
    """Show the result to whoever has a link, or change what the link shows. For its author."""
    return await services.sharing.share(viewer, submission_id, shows_code=body.shows_code)


@router.delete(
    "/{submission_id}/link", status_code=204, responses=documented(401, 403, 404, 422, 503)
)
async def delete_link(services: ServicesDep, viewer: Viewer, submission_id: SubmissionId) -> None:
    """End the link at once; also if there is none. A new one has another secret."""
    await services.sharing.stop(viewer, submission_id)
