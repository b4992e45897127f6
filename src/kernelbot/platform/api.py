"""The whole platform: pausing it, and the log of what organisers did."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.accounts.schemas import Reason
from kernelbot.api.dependencies import PUBLIC, Limit, MaybeViewer, ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.moderation.audit.schemas import AuditPage
from kernelbot.platform.model import PlatformState
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(tags=["platform"])

Word = Annotated[str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")]


@router.get("/platform", responses=documented(401, 503), openapi_extra=PUBLIC)
async def show_platform(services: ServicesDep, _viewer: MaybeViewer) -> PlatformState:
    """Whether submissions are taken just now."""
    return await services.platform.state()


@router.post("/platform/pause", responses=documented(400, 401, 403, 413, 422, 503))
async def pause_platform(services: ServicesDep, viewer: Viewer, body: Reason) -> PlatformState:
    """Accept no more submissions, also after a restart; everyone who tries is told the reason.
    What was accepted before is judged. For admins."""
    return await services.platform.pause(viewer, body.reason)


@router.post("/platform/resume", responses=documented(401, 403, 503))
async def resume_platform(services: ServicesDep, viewer: Viewer) -> PlatformState:
    """Accept submissions again. For admins."""
    return await services.platform.resume(viewer)


@router.get("/audit", responses=documented(401, 403, 422, 503))
async def list_audit(
    services: ServicesDep,
    viewer: Viewer,
    subject: Word = None,
    actor: Word = None,
    action: Word = None,
    limit: Limit = PAGE_ROWS,
    before_id: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
) -> AuditPage:
    """What organisers did, the newest first; `action` may be a noun alone (`user`). For admins."""
    found = await services.audit.list_entries(
        viewer, subject=subject, actor=actor, action=action, before_id=before_id, limit=limit
    )
    return AuditPage(entries=found, next_before_id=found[-1].id if len(found) == limit else None)
