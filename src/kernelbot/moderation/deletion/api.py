"""What is deleted."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import BoardName, ServicesDep, SubmissionId, UserId, Viewer
from kernelbot.api.errors import documented
from kernelbot.moderation.deletion.schemas import Deleted
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(tags=["organisers"])

Force = Annotated[bool, Query(description="Also with submissions.")]


@router.delete("/boards/{board}", responses=documented(401, 403, 404, 409, 422, 503))
async def delete_board(
    services: ServicesDep, viewer: Viewer, board: BoardName, force: Force = False
) -> Deleted:
    """Delete a board. For its organisers."""
    count = await services.deletion.delete_board(viewer, board, force=force)
    return Deleted(submissions=count)


@router.delete("/boards/{board}/submissions", responses=documented(401, 403, 404, 422, 503))
async def delete_submissions_of(
    services: ServicesDep,
    viewer: Viewer,
    board: BoardName,
    user: Annotated[str, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")],
) -> Deleted:
    """Delete all of one person's submissions on a board. For its organisers."""
    count = await services.deletion.delete_submissions_of(viewer, board, user)
    return Deleted(submissions=count)


@router.delete("/users/me", responses=documented(401, 403, 404, 409, 422, 503))
async def delete_me(services: ServicesDep, viewer: Viewer, force: Force = False) -> Deleted:
    """Delete the asker's own account with its submissions. This can't be undone."""
    count = await services.deletion.delete_user(viewer, viewer.id, force=force)
    return Deleted(submissions=count)


@router.delete("/users/{user_id}", responses=documented(401, 403, 404, 409, 422, 503))
async def delete_user(
    services: ServicesDep, viewer: Viewer, user_id: UserId, force: Force = False
) -> Deleted:
    """Delete someone's account. The boards that they made become the asker's. For admins."""
    count = await services.deletion.delete_user(viewer, user_id, force=force)
    return Deleted(submissions=count)


@router.delete("/submissions/{submission_id}", responses=documented(401, 403, 404, 422, 503))
async def delete_submission(
    services: ServicesDep, viewer: Viewer, submission_id: SubmissionId
) -> Deleted:
    """Delete a submission of the asker, or any on a board that they organise. The ranking moves
    up."""
    await services.deletion.delete_submission(viewer, submission_id)
    return Deleted(submissions=1)
