"""How much was submitted and judged."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import ServicesDep, Viewer
from kernelbot.api.errors import documented
from kernelbot.platform.statistics.model import Statistics
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(prefix="/stats", tags=["organisers"])


@router.get("", responses=documented(401, 403, 404, 422, 503))
async def show_statistics(
    services: ServicesDep,
    viewer: Viewer,
    board: Annotated[str | None, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")] = None,
    last_day: Annotated[bool, Query(description="Only of the last 24 hours.")] = False,
) -> Statistics:
    """Submissions and runs by device. Of a board for its organisers, of all for admins."""
    return await services.statistics.show(viewer, board=board, last_day=last_day)
