"""Authors' pages, for programs."""

from typing import Annotated

from fastapi import APIRouter, Query

from kernelbot.api.dependencies import PUBLIC, Limit, MaybeViewer, ServicesDep, UserId
from kernelbot.api.errors import documented
from kernelbot.domain.ids import BIGINT_MAX, PAGE_ROWS
from kernelbot.ranking.authors.model import Author
from kernelbot.schemas.common import NAME_MAX

router = APIRouter(prefix="/authors", tags=["authors"])

BeforeId = Annotated[
    int | None, Query(ge=1, le=BIGINT_MAX, description="Scores of earlier submissions alone.")
]


@router.get("", responses=documented(401, 404, 422, 503), openapi_extra=PUBLIC)
async def find_author(
    services: ServicesDep,
    viewer: MaybeViewer,
    name: Annotated[str, Query(max_length=NAME_MAX, pattern=r"^[^\x00-\x1f\x7f]+$")],
    limit: Limit = PAGE_ROWS,
    before_id: BeforeId = None,
) -> Author:
    """The author of this name, in upper or lower case. Names change; numbers don't."""
    author_id = await services.authors.named(viewer, name)
    return await services.authors.get(viewer, author_id, limit=limit, before_id=before_id)


@router.get("/{author_id}", responses=documented(401, 404, 422, 503), openapi_extra=PUBLIC)
async def show_author(
    services: ServicesDep,
    viewer: MaybeViewer,
    author_id: UserId,
    limit: Limit = PAGE_ROWS,
    before_id: BeforeId = None,
) -> Author:
    """An author on the boards that the asker may see: standings, the days on which scores that
    count were submitted, and these scores. Nobody without a standing there is an author."""
    return await services.authors.get(viewer, author_id, limit=limit, before_id=before_id)
